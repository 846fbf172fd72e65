// The ports of a walk over a few transfers and a few listed addresses. A world of the memory
// adapters at one second, in which one chain is held in full by default; no deployment reads it.

import type {
  CounterpartyRing,
  HistoryTransfer,
  RingExtent,
  TransferHistory,
} from '../ports/history.ts';
import type { ListEntry, SanctionsList } from '../ports/sanctions.ts';
import type { ExchangeLabel, ExchangeLabels } from '../ports/tables.ts';
import { coveredHistory, coveredRing } from '../stores/history/covered.ts';
import { TIP_MAX_AGE_S } from './clock.ts';
import {
  fullCoverage,
  type MemoryHistory,
  memoryRing,
  memoryTransferHistory,
} from './twins/history.ts';
import { type MemoryPublication, memorySanctionsList } from './twins/sanctions.ts';
import { memoryExchangeLabels } from './twins/tables.ts';

const WEEK_S = 604_800;
const TIP_AGE_S = 120;
const CHECK_AGE_S = 60;

/** A world for walks. What is left out is as in a world that hides nothing. */
export type WalkedWorld = {
  /** Unix seconds. */
  readonly now: number;
  readonly transfers: readonly HistoryTransfer[];
  readonly listed: readonly ListEntry[];
  /** `null`: no table of labels was ever imported. */
  readonly labels: readonly ExchangeLabel[] | null;
  /** Replaces what else is known of the history: by default Ethereum alone, held in full. */
  readonly history?: Partial<MemoryHistory>;
  /** Seconds since the list was last checked; past a week it is too old. */
  readonly checkedAgoS?: number;
  /** Publications before the one in force. */
  readonly older?: readonly MemoryPublication[];
  readonly simulated?: boolean;
  /** The ring around the list: absent unless said, so that the walk goes address by address. */
  readonly ring?: RingExtent;
};

/** The ports that a walk reads. */
export type WalkedPorts = {
  readonly list: SanctionsList;
  readonly history: TransferHistory;
  readonly ring: CounterpartyRing;
  readonly labels: ExchangeLabels;
};

/** The ports over a world. */
export function walkedPorts(world: WalkedWorld): WalkedPorts {
  const { now, transfers, listed, labels } = world;
  const simulated = world.simulated === true;
  const ageS = world.checkedAgoS === undefined ? CHECK_AGE_S : world.checkedAgoS;
  const tip = { now: () => now, tipMaxAgeS: TIP_MAX_AGE_S };
  const held: MemoryHistory = {
    chains: ['ethereum'],
    transfers,
    coverage: fullCoverage('ethereum', now - TIP_AGE_S),
    provenance: 'warehouse',
    as_of: now - TIP_AGE_S,
    simulated,
    ...world.history,
  };
  const inForce = { published: '2026-09-20', checked_at: now - ageS, entries: listed };
  return {
    list: memorySanctionsList({
      publications: world.older === undefined ? [inForce] : [...world.older, inForce],
      maxAgeS: WEEK_S,
      simulated,
      now: () => now,
    }),
    labels: memoryExchangeLabels({ labels, as_of: now, simulated }),
    history: coveredHistory(memoryTransferHistory(held), tip),
    ring: coveredRing(memoryRing(held, world.ring === undefined ? 'absent' : world.ring), tip),
  };
}

/** A row of the list; the entry's uid is the end of its address. */
export function listedEntry(address: string): ListEntry {
  return {
    address,
    currency: 'ETH',
    entity: 'LAST, First',
    type: 'Individual',
    programs: ['CYBER2', 'DPRK3'],
    uid: address.slice(-4),
    remarks: null,
    listed_on: null,
    note: null,
  };
}
