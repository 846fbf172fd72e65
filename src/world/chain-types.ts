/** A movement of value as an explorer's index holds it. Addresses in lower case. */
export type ExplorerRow = {
  readonly kind: 'native' | 'internal' | 'token';
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly token: {
    readonly address: string;
    readonly symbol: string | null;
    readonly decimals: number | null;
  } | null;
  /** `null` where the explorer does not tell. */
  readonly success: boolean | null;
  /** The contract that it made, which is its receiver too; left out where it made none. */
  readonly created?: string;
};

/** The chains that an explorer indexes, by EIP-155 id. */
export type ExplorerChains = {
  readonly headOf: (chainId: number) => number;
  readonly timeOf: (chainId: number, block: number) => number;
  /** The transfers of an address, oldest first. */
  readonly rowsOf: (chainId: number, address: string) => readonly ExplorerRow[];
  /** The transfers of a token, oldest first. */
  readonly rowsOfToken: (chainId: number, token: string) => readonly ExplorerRow[];
};

/** The simulated chains, as an explorer and as a node hold them. */
export type WorldChains = ExplorerChains & {
  /** The transfers of the blocks from one number to another, oldest first. */
  readonly rowsIn: (chainId: number, from: number, to: number) => readonly ExplorerRow[];
};
