// What stores and providers tell is raw: of some blocks only it looks like all there is. A covered
// history is one that was held against the chains, and it alone is what answers are made from.
// Which transfers are edges is a rule of features/history/edge-rule.ts.

import { type ChainName, isEvmChain } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';

/** The name of covered history in readings and contracts. */
export type TransferHistoryPort = 'transfer_history';
/** The name of raw history in readings; no contract rests on it. */
export type RawHistoryPort = 'raw_history';

/**
 * One transfer between the address asked about and a counterparty, addresses in the form that
 * `parseAddress` gives. Amounts are exact integers.
 */
export type HistoryTransfer = {
  readonly chain: ChainName;
  readonly kind: TransferKind;
  /** The transaction; for what belongs to none (a withdrawal, a reward) its block's hash. */
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly token: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** Zero for an `nft`, which has an id in place of an amount. */
  readonly raw_amount: bigint;
  /** The id of an `nft`; absent for every other kind. */
  readonly token_id?: bigint;
  /**
   * Decimal text, or `null` where it is unpriced. No store and no provider of history tells it: it
   * is joined from the table of prices when an answer is made.
   */
  readonly usd: string | null;
  /** Whence and of when the price is; absent or `null` where that is not known. */
  readonly price_basis?: string | null;
  /**
   * Whether a price reading that was read says that the token has a market; `null`: not read. Only
   * `false` lets the walk leave a transfer out, so a silent price source is never `false`.
   */
  readonly has_market: boolean | null;
  /** Who signed the transaction, or `null` where the source does not say. Never guessed. */
  readonly initiator: string | null;
  /**
   * Where `initiator` is `null`: the address asked about, if its own transactions were read whole
   * and this is none of them, so that it is known not to have signed it.
   */
  readonly unsigned_by?: string;
  /** `null` where the source tells neither status nor trace. */
  readonly success: boolean | null;
};

/** The transfers between one address and one counterparty, newest first. */
export type Counterparty = {
  readonly address: string;
  readonly transfers: readonly HistoryTransfer[];
  /** How many transfers there are in all; `transfers` holds at most the asked number of them. */
  readonly transfer_count: number;
};

/** The blocks of a chain whose history of this address is held in full. */
export type CoverageRange = {
  readonly chain: ChainName;
  /** A chain that has no transfers of a kind covers that kind over its whole range. */
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  /** Unix seconds of `to_block`. */
  readonly to_time: number;
  /** True where `from_block` is the chain's first, or the address's proven first activity. */
  readonly from_first: boolean;
};

/** What is missing of an address's history: a chain, a kind, and in words what is held of it. */
export type Gap = { readonly chain: ChainName; readonly kind: TransferKind; readonly held: string };

/**
 * What is known of one address. `degree` is its number of distinct counterparties, itself left
 * out; in a part, and over `degreeMax`, it is the least that it can be. Over `degreeMax` the
 * counterparties may be left out, and are then counted over edges alone (`kept-sides.ts`): a hub is
 * not walked past. Else all of them are there.
 */
export type Neighbourhood = {
  readonly address: string;
  readonly degree: number;
  readonly counterparties: readonly Counterparty[];
  /** The ranges held of this address, none where nothing is; adjoining ones may come apart. */
  readonly coverage: readonly CoverageRange[];
  readonly provenance: 'warehouse' | 'onchain';
};

/** The same, held against the chains. */
export type CoveredNeighbourhood = Neighbourhood & {
  /** What is missing of it on the chains of its kind; none in a whole reading. */
  readonly gaps: readonly Gap[];
  /** What is missing of its NFTs there, which no reading needs to be whole. */
  readonly nft_gaps: readonly Gap[];
  /** Where every transaction that it signed is among its transfers. */
  readonly signs_within: readonly CoverageRange[];
};

/** Bounds of one look-up. What does not fit into them makes the address's reading a part. */
export type NeighbourhoodLimits = {
  /** The most transfers of one address; one that has more is a part with the reason `row_cap`. */
  readonly rowsMax: number;
  readonly degreeMax: number;
  readonly transfersPerCounterpartyMax: number;
  /** The most transfers of the whole batch, addresses served in the order asked. */
  readonly batchRowsMax: number;
  /** Whether transfers are to be priced, as far as prices are known. */
  readonly valued?: boolean;
  /**
   * Whether it is only asked if a way leads past an address: then the counterparties of one that is
   * no hub may be left out, and its `degree` be the most that it can be.
   */
  readonly standingOnly?: boolean;
  /** Only these chains are asked about; without it, all that are read. */
  readonly chains?: readonly ChainName[];
  /** Once it is aborted, whatever was not read yet is unread with the reason `time_budget`. */
  readonly signal: AbortSignal;
};

/** Transfer history, whichever store or provider holds it: `N` of each address, under port `P`. */
export type HistoryOf<N, P extends string> = {
  /** The chains whose native, token and internal transfers this deployment reads. */
  readonly chainsRead: () => Promise<Reading<readonly ChainName[], P>>;
  /**
   * One batch for each hop: a reading for each address asked, in a map by address. Simulated
   * history is a part with the reason `simulated`, whatever else may be said of it.
   */
  readonly neighbourhoods: (
    addresses: readonly string[],
    limits: NeighbourhoodLimits,
  ) => Promise<ReadonlyMap<string, Partly<N, P>>>;
};

/**
 * What a store or a provider tells. Even a whole reading covers no more than the ranges in it say,
 * so that nothing may be denied on it.
 */
export type RawHistory = HistoryOf<Neighbourhood, RawHistoryPort>;

/**
 * What answers are made from. A reading is whole only where every chain of the address's kind that
 * is read here, or that was asked, is held in full to a fresh tip, and nothing was left out.
 */
export type TransferHistory = HistoryOf<CoveredNeighbourhood, TransferHistoryPort> & {
  /** What some of the transfers were worth: for a walk, which prices only what it shows. */
  readonly worths: Worths;
};

/** What a transfer was worth. */
export type Worth = Required<Pick<HistoryTransfer, 'usd' | 'price_basis'>>;

/**
 * What these transfers were worth, by transfer. One that is not there is unpriced, whether no
 * price is known or none could be read: nothing is denied on it, so it is no reading.
 */
export type Worths = (
  transfers: readonly HistoryTransfer[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<HistoryTransfer, Worth>>;

/** Where no prices are known. */
export const UNPRICED: Worths = async () => new Map();

/** Who signed the transaction; the sender of an EVM transaction's own value signed it. */
export function signerOf({ chain, kind, initiator, from }: HistoryTransfer): string | null {
  if (initiator !== null) return initiator;
  return kind === 'native' && isEvmChain(chain) ? from : null;
}

/** Whether an address signed the transaction; `null` where that is not known. */
export function isSignedBy(address: string, transfer: HistoryTransfer): boolean | null {
  const signer = signerOf(transfer);
  if (signer !== null) return signer === address;
  return transfer.unsigned_by === address ? false : null;
}

/**
 * Says of any transfer whether an address signed it, by the address's own history: also of one
 * between others.
 */
export function signingOf({
  address,
  counterparties,
  signs_within,
}: Omit<CoveredNeighbourhood, 'gaps'>): (transfer: HistoryTransfer) => boolean | null {
  let own: ReadonlySet<string> | null = null;
  return (transfer) => {
    const told = isSignedBy(address, transfer);
    if (told !== null) return told;
    if (own === null) own = new Set(counterparties.flatMap((one) => signedIn(address, one)));
    if (own.has(nameOf(transfer))) return true;
    const { chain, block } = transfer;
    const isWithin = signs_within.some((range) => {
      return range.chain === chain && range.from_block <= block && block <= range.to_block;
    });
    return isWithin ? false : null;
  };
}

function signedIn(
  address: string,
  { transfers }: CoveredNeighbourhood['counterparties'][number],
): string[] {
  return transfers.filter((one) => signerOf(one) === address).map(nameOf);
}

function nameOf({ chain, tx }: HistoryTransfer): string {
  return `${chain} ${tx}`;
}
