// Transfer history. Stores and providers give raw history: a range of blocks looks like everything.
// A covered history was compared with the coverage of the chains, and answers use it alone.
// features/history/edge-rule.ts decides which transfers are edges.

import { type ChainName, type EvmChainName, isEvmChain } from '../chain/chain.ts';
import type { UnixSeconds } from '../chain/time.ts';
import type { TransferKind } from '../chain/transfer.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';
import type { TransferStorePort } from './indexing.ts';

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
  /** The signer of the transaction, or `null` if the source does not name it. Never guessed. */
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

/** A gap of an address's history: a chain, a kind, and a description of the held range. */
export type CoverageGap = {
  readonly chain: ChainName;
  readonly kind: TransferKind;
  readonly held: string;
};

/** Whence a history is: held here, or read live. */
export const HISTORY_PROVENANCES = ['warehouse', 'onchain'] as const;
export type HistoryProvenance = (typeof HISTORY_PROVENANCES)[number];

/**
 * The history of one address. `degree` is its number of distinct counterparties, without itself; in
 * a part, and over `degreeMax`, it is a lower bound. Over `degreeMax` the counterparties may be
 * left out, and are then counted over edges alone (`counts.ts`): the walk does not pass a hub.
 * Otherwise all of them are present.
 */
export type Neighbourhood = {
  readonly address: string;
  readonly degree: number;
  readonly counterparties: readonly Counterparty[];
  /** The ranges held of this address, none where nothing is; adjoining ones may come apart. */
  readonly coverage: readonly CoverageRange[];
  readonly provenance: HistoryProvenance;
};

/** The same, held against the chains. */
export type CoveredNeighbourhood = Neighbourhood & {
  /** The gaps on the chains of its kind; none in a complete reading. */
  readonly gaps: readonly CoverageGap[];
  /** The gaps of its NFTs there, which a complete reading may have. */
  readonly nft_gaps: readonly CoverageGap[];
  /** Where every transaction that it signed is among its transfers. */
  readonly signs_within: readonly CoverageRange[];
};

/**
 * Bounds of one look-up. What does not fit into them makes the address's reading a part. What moved
 * nothing and the address did not sign may come beside what they bound: it makes no edge.
 */
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
 * The history from a store or a provider. Even a complete reading covers only its ranges, so
 * nothing may be denied on it.
 */
export type RawHistory = HistoryOf<Neighbourhood, RawHistoryPort>;

/**
 * The history that answers are made from. A reading is complete only if every chain of the
 * address's kind that is read here, or was requested, is held in full to a fresh tip, and nothing
 * was left out.
 */
export type TransferHistory = HistoryOf<CoveredNeighbourhood, TransferHistoryPort> & {
  /** The values of some transfers: for a walk, which prices only the transfers that it shows. */
  readonly worths: Worths;
};

/** The value of a transfer. */
export type Worth = Required<Pick<HistoryTransfer, 'usd' | 'price_basis'>>;

/**
 * The values of these transfers, by transfer. A missing one is unpriced, whether no price is known
 * or none could be read: nothing is denied on it, so it is no reading.
 */
export type Worths = (
  transfers: readonly HistoryTransfer[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<HistoryTransfer, Worth>>;

/** Where no prices are known. */
export const UNPRICED: Worths = async () => new Map();

/** The signer of the transaction; the sender of an EVM transaction's own value signed it. */
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
    if (own === null) {
      const all = counterparties.flatMap(({ transfers }) => transfers);
      own = new Set(all.filter((one) => signerOf(one) === address).map(nameOf));
    }
    if (own.has(nameOf(transfer))) return true;
    const { chain, block } = transfer;
    const isWithin = signs_within.some((range) => {
      return range.chain === chain && range.from_block <= block && block <= range.to_block;
    });
    return isWithin ? false : null;
  };
}

function nameOf({ chain, tx }: HistoryTransfer): string {
  return `${chain} ${tx}`;
}

// The ring is every counterparty of every listed address, as far as the warehouse holds their
// histories. What a store tells of it is raw: only a ring that was held against the chains may deny
// that somebody dealt with a listed address. What no follower brings is read through explorers.

/** The name of the ring in readings and contracts. */
export type CounterpartyRingPort = 'counterparty_ring';
/** The name of the raw ring in readings; no contract rests on it. */
export type RawRingPort = 'raw_ring';

/** The request: addresses in the form that `parseAddress` gives. */
export type RingRequest = {
  readonly addresses: readonly string[];
  /** The listed addresses of their kind, and the chains that are read of it. */
  readonly listed: readonly string[];
  readonly chains: readonly ChainName[];
  /** The most transfers between one address and those who are listed. */
  readonly rowsMax: number;
  readonly signal: AbortSignal;
};

/**
 * By address, the listed ones that it exchanged transfers with, each with the transfers between the
 * two. Who is missing exchanged none with a listed address, as far as those are held.
 */
export type Meetings = ReadonlyMap<string, readonly Counterparty[]>;

/** The coverage of the listed addresses: whole chains, and single addresses beside them. */
export type RingCoverage = {
  readonly ofChains: readonly CoverageRange[];
  readonly ofListed: ReadonlyMap<string, readonly CoverageRange[]>;
};

/** The held ring. `coverage` was read before the transfers that it vouches for. */
export type HeldRing = { readonly meetings: Meetings; readonly coverage: RingCoverage };

/** A gap of the ring for one listed address; a complete ring has none. */
export type RingGap = CoverageGap & { readonly listed: string };

/** The same, held against the chains. */
export type MetRing = {
  readonly meetings: Meetings;
  readonly gaps: readonly RingGap[];
  /** Chains of which the NFTs of a listed address were not all read: no ring needs them. */
  readonly nft_gapped: readonly ChainName[];
};

type RingOf<T, P extends string> = {
  /** A ring is never older than the call: what the store held by then is in it. */
  readonly meet: (asked: RingRequest) => Promise<Partly<T, P>>;
};

/** The ring as a store tells it. */
export type RawRing = RingOf<HeldRing, RawRingPort>;

/**
 * The ring that answers are made from. It is whole only where each listed address is held on each
 * chain asked, from its first block to a fresh tip.
 */
export type CounterpartyRing = RingOf<MetRing, CounterpartyRingPort>;

/** One list of one address, from a block on. */
export type ListRequest = {
  readonly chain: EvmChainName;
  readonly address: string;
  readonly kind: TransferKind;
  readonly from_block: number;
};

/** The budget: calls, and the time that `signal` leaves. Each call is reported. */
export type ListSpending = {
  readonly callsMax: number;
  readonly signal: AbortSignal;
  readonly onCall: () => void;
};

/** All rows of a list from the block asked up to `to_block`, each of whole transactions. */
export type ListSlice = {
  readonly transfers: readonly HistoryTransfer[];
  readonly to_block: number;
  /** When `to_block` was made, or some time before. */
  readonly to_time: UnixSeconds;
  /** Whether `to_block` is the newest block that is settled. */
  readonly ended: boolean;
};

/** The lists of a deployment's providers. */
export type ListedHistories = {
  /** Which kinds are told in full, chain by chain; a list of any other kind is not asked for. */
  readonly kinds: ReadonlyMap<EvmChainName, readonly TransferKind[]>;
  readonly slice: (
    asked: ListRequest,
    spending: ListSpending,
  ) => Promise<Reading<ListSlice, RawHistoryPort>>;
};

/**
 * The state of the ring of a chain. `whole`: each listed address is held there in full; only then
 * is it known whom an address that is not walked past dealt with.
 */
export const RING_STATES = ['absent', 'half', 'whole'] as const;
export type RingExtent = (typeof RING_STATES)[number];

/** How far the ring of a chain is. */
export type RingReach = {
  readonly chain: ChainName;
  readonly state: RingExtent;
  /** Listed addresses of its kind, and how many of them are held in full to a fresh tip. */
  readonly listed: number;
  readonly held_in_full: number;
};

/** The contents of the ring for one chain. */
export type RingChain = RingReach & {
  /** Pairs of a counterparty and a listed address. */
  readonly pairs: number;
};

/** A ring that was brought up to date. `build_ms`: how long the last build from nothing took. */
export type RingStatus = {
  readonly listed: number;
  readonly pairs: number;
  readonly bytes: number;
  readonly build_ms: number | null;
  readonly chains: readonly RingChain[];
  /** The gaps, by listed address; none in a complete ring. */
  readonly gaps: readonly RingGap[];
};

/** Progress in listed addresses. */
export type RingBuilding = (done: number, of: number) => void;

/** The upkeep of the ring. `status` and `rebuild` update it; `rebuild` begins from nothing. */
export type RingKeeping = {
  readonly status: () => Promise<Reading<RingStatus, RawRingPort>>;
  readonly rebuild: (told: RingBuilding) => Promise<Reading<RingStatus, RawRingPort>>;
  /** How far it is by chain, as single addresses and chains are held. Nothing is built for it. */
  readonly reach: () => Promise<Reading<readonly RingReach[], RawRingPort>>;
};

/** The state of the ring at its last check; `null` before the first. */
export type RingReport = {
  readonly as_of: UnixSeconds;
  readonly status: Reading<RingStatus, RawRingPort>;
} | null;

/** The name of the count of calls in readings. */
export type RingCallsPort = 'ring_calls';

/** A slice of a list as it was read. `source` is shown to people: a scheme and a host. */
export type ReadSlice = {
  readonly asked: ListRequest;
  readonly slice: ListSlice;
  readonly source: string;
};

/** Lists that are read slice by slice, and kept with their coverage. */
export type KeptLists = {
  readonly read: (
    asked: ListRequest,
    spending: ListSpending,
  ) => Promise<Reading<ReadSlice, RawHistoryPort>>;
  /** Keeps slices that were read; those of one list in the order of their blocks. */
  readonly keep: (slices: readonly ReadSlice[]) => Promise<Reading<true, TransferStorePort>>;
};

/** The lists of listed addresses that are not held to a fresh tip, out of so many. */
export type RingLack = { readonly lacking: readonly ListRequest[]; readonly of: number };

/** The calls that were made on a day, by every process of this deployment. Days are UTC. */
export type RingCalls = {
  readonly on: (day: string) => Promise<Reading<number, RingCallsPort>>;
  readonly add: (day: string, calls: number) => Promise<Reading<true, RingCallsPort>>;
};

/**
 * Where reading stands. `reading`: a round is under way; `filled`: nothing was left to read;
 * `held_up`: some lists could not be read, and are asked again; `budget_spent`: until tomorrow;
 * `elsewhere`: another process reads them; `waiting`: no round has begun; `off`: nobody reads them.
 */
export const RING_FILL_STATES = [
  'waiting',
  'reading',
  'filled',
  'held_up',
  'budget_spent',
  'elsewhere',
  'off',
] as const;
export type RingFillState = {
  readonly state: (typeof RING_FILL_STATES)[number];
  readonly why: Why | null;
  readonly since: UnixSeconds;
  /** Lists of listed addresses: a chain and a kind each. */
  readonly lists_held: number;
  readonly lists: number;
  readonly calls_today: number;
  readonly calls_a_day: number;
};

/** The reading ahead. `fill` runs a round, or waits for the running one, and reports each step. */
export type RingFilling = {
  readonly state: () => RingFillState;
  readonly fill: (
    told: (state: RingFillState) => void,
    signal: AbortSignal,
  ) => Promise<RingFillState>;
};

// A coin without a price is `null`, never zero; what could not be read is not in the answer.

/** The name of this port in readings. */
export type PricesPort = 'prices';

/** A coin of a chain: a token's contract or mint, or (`token` null) the chain's own coin. */
export type Coin = { readonly chain: ChainName; readonly token: string | null };

/** A coin at a time. */
export type PriceAsk = Coin & { readonly at: UnixSeconds };

/**
 * A price of one whole coin. `usd` is decimal text; `basis` says whence and of when it is, and
 * where its market is thin.
 */
export type Price = { readonly usd: string; readonly basis: string };

/** One question and its answer: `null` where the source was read and has no price near it. */
export type Priced = { readonly ask: PriceAsk; readonly price: Price | null };

/** Whether a price source that was read knows a price of a coin now. */
export type Market = { readonly coin: Coin; readonly has_market: boolean };

/**
 * A source of prices. An answer has a row for each question that was read; where some were not,
 * it is a part. The signal stops it at once.
 */
export type Prices = {
  readonly historical: (
    asks: readonly PriceAsk[],
    signal: AbortSignal,
  ) => Promise<Partly<readonly Priced[], PricesPort>>;
  readonly markets: (
    coins: readonly Coin[],
    signal: AbortSignal,
  ) => Promise<Partly<readonly Market[], PricesPort>>;
};

/** A price as it was read, at a time in Unix seconds. */
export type ReadPrice = {
  readonly ask: PriceAsk;
  readonly price: Price;
  readonly read_at: UnixSeconds;
};

/**
 * The table of prices that were read. Of two of one coin and time the one that was read last
 * stands, so that a correction is a row that is added.
 */
export type PriceTable = {
  /** The stored answers to these requests; a missing one has no row. */
  readonly held: (
    asks: readonly PriceAsk[],
    signal: AbortSignal,
  ) => Promise<Reading<readonly ReadPrice[], PricesPort>>;
  readonly keep: (rows: readonly ReadPrice[]) => Promise<Reading<true, PricesPort>>;
};

/** Prices are read by ten minutes, so that transfers near each other share one. */
const PRICE_STEP_S = 600;

/** The time by which the price of a time is read. */
export function priceTime(at: UnixSeconds): UnixSeconds {
  return Math.round(at / PRICE_STEP_S) * PRICE_STEP_S;
}

/** Coins and times that share a price share this name. */
export function priceName({ chain, token, at }: PriceAsk): string {
  return `${chain} ${token} ${priceTime(at)}`;
}
