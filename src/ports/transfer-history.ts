// Answers one question: with whom did these addresses exchange transfers, as far as history is held.
// It carries no judgement: which transfers count as edges is the walk's rule (`engines/proximity.ts`).

import type { ChainName } from '../chain/chain.ts';
import type { Partly, Reading } from '../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type TransferHistoryPort = 'transfer_history';

/** One transfer between the address asked about and a counterparty. Amounts are exact integers. */
export type HistoryTransfer = {
  readonly chain: ChainName;
  readonly kind: 'native' | 'internal' | 'token';
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly token: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly raw_amount: bigint;
  /** Decimal text, or `null` where it is unpriced. */
  readonly usd: string | null;
  /** Whether a price reading that was read says that the token has a market; `null`: not read. */
  readonly has_market: boolean | null;
  /** Who signed the transaction, or `null` where the source does not say. */
  readonly initiator: string | null;
  readonly success: boolean | null;
};

/** The transfers between one address and one counterparty, newest of each kind first. */
export type Counterparty = {
  readonly address: string;
  readonly transfers: readonly HistoryTransfer[];
  /** How many transfers there are in all; `transfers` holds at most the asked number of them. */
  readonly transfer_count: number;
};

/** The blocks of a chain whose history of this address is held in full. */
export type CoverageRange = {
  readonly chain: ChainName;
  readonly kind: 'native' | 'internal' | 'token';
  readonly from_block: number;
  readonly to_block: number;
  /** Unix seconds of `to_block`. */
  readonly to_time: number;
  /** True where `from_block` is the chain's first, or the address's proven first activity. */
  readonly from_first: boolean;
};

/** What is known of one address. `degree` is its number of distinct counterparties. */
export type Neighbourhood = {
  readonly address: string;
  readonly degree: number;
  readonly counterparties: readonly Counterparty[];
  readonly coverage: readonly CoverageRange[];
  readonly provenance: 'warehouse' | 'onchain';
};

/** Bounds of one look-up. */
export type NeighbourhoodLimits = {
  readonly rowsMax: number;
  readonly degreeMax: number;
  readonly transfersPerCounterpartyMax: number;
  readonly signal: AbortSignal;
};

/** Transfer history, whichever store or provider holds it. */
export type TransferHistory = {
  /** The chains whose native, token and internal transfers this deployment reads. */
  readonly chainsRead: () => Promise<Reading<readonly ChainName[], TransferHistoryPort>>;
  /** One batch for each hop: a reading for each address asked, in a map by address. */
  readonly neighbourhoods: (
    addresses: readonly string[],
    limits: NeighbourhoodLimits,
  ) => Promise<ReadonlyMap<string, Partly<Neighbourhood, TransferHistoryPort>>>;
};
