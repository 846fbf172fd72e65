// How are the histories of listed addresses read through explorers, so that the ring becomes whole?
// Only where an explorer is the only source of them; what is read is kept with its coverage, and
// the ring is derived from what is kept.

import type { EvmChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ListAsked, ListSlice, ListSpending } from '../history/listed-histories.ts';
import type { RawHistoryPort } from '../history/transfer-history.ts';
import type { TransferStorePort } from './transfer-store.ts';

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
