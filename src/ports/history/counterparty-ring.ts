// The ring is every counterparty of every listed address, as far as the warehouse holds their
// histories. What a store tells of it is raw: only a ring that was held against the chains may deny
// that somebody dealt with a listed address. What no follower brings is read through explorers.

import type { ChainName, EvmChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { TransferStorePort } from '../indexing/transfer-store.ts';
import type {
  Counterparty,
  CoverageRange,
  Gap,
  HistoryTransfer,
  RawHistoryPort,
} from './transfer-history.ts';

/** The name of the ring in readings and contracts. */
export type CounterpartyRingPort = 'counterparty_ring';
/** The name of the raw ring in readings; no contract rests on it. */
export type RawRingPort = 'raw_ring';

/** What is asked: addresses in the form that `parseAddress` gives. */
export type RingAsked = {
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

/** What is held of the listed addresses: of whole chains, and of single ones beside it. */
export type RingCoverage = {
  readonly ofChains: readonly CoverageRange[];
  readonly ofListed: ReadonlyMap<string, readonly CoverageRange[]>;
};

/** What is told of a ring. `coverage` was read before the transfers that it vouches for. */
export type HeldRing = { readonly meetings: Meetings; readonly coverage: RingCoverage };

/** What the ring lacks of one listed address; none lack where the ring is whole. */
export type RingGap = Gap & { readonly listed: string };

/** The same, held against the chains. */
export type MetRing = {
  readonly meetings: Meetings;
  readonly gaps: readonly RingGap[];
  /** Chains of which the NFTs of a listed address were not all read: no ring needs them. */
  readonly nft_gapped: readonly ChainName[];
};

type RingOf<T, P extends string> = {
  /** A ring is never older than the call: what the store held by then is in it. */
  readonly meet: (asked: RingAsked) => Promise<Partly<T, P>>;
};

/** The ring as a store tells it. */
export type RawRing = RingOf<HeldRing, RawRingPort>;

/**
 * The ring that answers are made from. It is whole only where each listed address is held on each
 * chain asked, from its first block to a fresh tip.
 */
export type CounterpartyRing = RingOf<MetRing, CounterpartyRingPort>;

/** One list of one address, from a block on. */
export type ListAsked = {
  readonly chain: EvmChainName;
  readonly address: string;
  readonly kind: TransferKind;
  readonly from_block: number;
};

/** What may be spent: calls, and the time that `signal` leaves. Each call is told. */
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
    asked: ListAsked,
    spending: ListSpending,
  ) => Promise<Reading<ListSlice, RawHistoryPort>>;
};

/** What the ring holds of one chain. */
export type RingChain = {
  readonly chain: ChainName;
  /** Listed addresses of its kind, and how many of them are held in full to a fresh tip. */
  readonly listed: number;
  readonly held_in_full: number;
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
  /** What is missing, listed address by listed address; nothing where the ring is whole. */
  readonly gaps: readonly RingGap[];
};

/** Progress in listed addresses. */
export type RingBuilding = (done: number, of: number) => void;

/** Who looks after the ring. Both bring it up to date; `rebuild` begins from nothing. */
export type RingKeeping = {
  readonly status: () => Promise<Reading<RingStatus, RawRingPort>>;
  readonly rebuild: (told: RingBuilding) => Promise<Reading<RingStatus, RawRingPort>>;
};

/** How the ring stood when it was last looked at; `null` before the first time. */
export type RingReport = {
  readonly as_of: UnixSeconds;
  readonly status: Reading<RingStatus, RawRingPort>;
} | null;

/** The name of the count of calls in readings. */
export type RingCallsPort = 'ring_calls';

/** A slice of a list as it was read. `source` is shown to people: a scheme and a host. */
export type ReadSlice = {
  readonly asked: ListAsked;
  readonly slice: ListSlice;
  readonly source: string;
};

/** Lists that are read slice by slice, and kept with their coverage. */
export type KeptLists = {
  readonly read: (
    asked: ListAsked,
    spending: ListSpending,
  ) => Promise<Reading<ReadSlice, RawHistoryPort>>;
  /** Keeps slices that were read; those of one list in the order of their blocks. */
  readonly keep: (slices: readonly ReadSlice[]) => Promise<Reading<true, TransferStorePort>>;
};

/** A list of a listed address that is not held to a fresh tip, with the first block to read. */
export type LackingList = ListAsked & {
  readonly chain: EvmChainName;
  readonly kind: TransferKind;
};

/** What there is to read: the lists that lack something, out of so many. */
export type RingLack = { readonly lacking: readonly LackingList[]; readonly of: number };

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
export type RingFillState = {
  readonly state:
    | 'waiting'
    | 'reading'
    | 'filled'
    | 'held_up'
    | 'budget_spent'
    | 'elsewhere'
    | 'off';
  readonly why: Why | null;
  readonly since: UnixSeconds;
  /** Lists of listed addresses: a chain and a kind each. */
  readonly lists_held: number;
  readonly lists: number;
  readonly calls_today: number;
  readonly calls_a_day: number;
};

/** Who reads them. `fill` makes a round, or waits for the one under way, and tells each step. */
export type RingFilling = {
  readonly state: () => RingFillState;
  readonly fill: (
    told: (state: RingFillState) => void,
    signal: AbortSignal,
  ) => Promise<RingFillState>;
};
