// The ring around the list of a deployment: what keeps it, and what reads its lists ahead.

import { MS_PER_S } from '../chain/time.ts';
import type { Config } from '../config.ts';
import type { Partly } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import type { RingFacts } from '../features/health/health.route.ts';
import { ringFilling } from '../features/indexing/ring-fill.job.ts';
import { keepFilling, keepRing } from '../features/indexing/ring-keep.job.ts';
import type { TransferHistory } from '../ports/history/transfer-history.ts';
import type { Leases } from '../ports/indexing/leases.ts';
import type { RingFilling } from '../ports/indexing/ring-filling.ts';
import type { RingKeeping } from '../ports/indexing/ring-keeping.ts';
import type { TransferStore } from '../ports/indexing/transfer-store.ts';
import type { Listed, SanctionsListPort } from '../ports/sanctions/sanctions-list.ts';
import { explorerLists } from '../sources/explorer/list-slices.ts';
import type { ExplorerChain } from '../sources/explorer/provider.ts';
import { ringGaps } from '../stores/history/covered-ring.ts';
import { keptLists } from '../stores/history/kept-lists.ts';
import { ringLack } from '../stores/history/ring-lack.ts';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import type { WarehouseRing } from '../stores/warehouse/ring/ring.ts';
import { ringCalls } from '../stores/warehouse/ring/ring-calls.ts';
import { ringKeeping } from '../stores/warehouse/ring/ring-keeping.ts';
import { nowS, pause } from './clock.ts';
import { type Job, originOf } from './feature.ts';
import type { Logger } from './logger.ts';

/** What a ring is kept from. */
type RingParts = {
  readonly config: Config;
  readonly warehouse: Warehouse;
  readonly store: TransferStore;
  readonly ring: WarehouseRing;
  readonly explorers: readonly ExplorerChain[];
  readonly leases: Leases;
  readonly log: Logger;
  readonly listed: () => Promise<Partly<Listed, SanctionsListPort>>;
  readonly chainsRead: TransferHistory['chainsRead'];
};

type KeptRing = {
  readonly keeping: RingKeeping;
  readonly filling: RingFilling;
  readonly facts: RingFacts;
  readonly jobs: readonly Job[];
};

/** Opens what keeps the ring; its jobs begin with the service. */
export function openRing(parts: RingParts): KeptRing {
  const { config, warehouse, store, ring, explorers, leases, listed, chainsRead, log } = parts;
  const tip = { now: nowS, tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S };
  const lists = explorerLists({ chains: explorers, now: nowS });
  const { kinds } = lists;
  const { lack, ...keeping } = ringKeeping({
    ring,
    listed,
    chainsRead,
    gapsOf: (coverage, asked) => ringGaps(coverage, asked, tip),
    lackOf: (coverage, asked) => ringLack(coverage, { ...asked, kinds }, tip),
    now: nowS,
    simulated: config.simulate,
  });
  const off = offBecause(config, explorers);
  const reading = {
    lists: keptLists({ lists, store, origin: originOf(config), now: nowS }),
    lack,
    calls: ringCalls(warehouse, nowS),
    callsADay: config.ringCallsADay,
    leases,
    now: nowS,
  };
  const filling = off === null ? ringFilling(reading) : neverFilled(off, config);
  const isReading = () => filling.state().state === 'reading';
  const onBug = (fault: unknown) => log.error({ fault: String(fault) }, 'ring: a turn failed');
  const again = { sleep: pause, onBug };
  const keeper = keepRing({ ...again, status: keeping.status, isReading, now: nowS });
  let fills = off !== null;
  const fill = () => {
    fills = true;
    return keepFilling(filling, again);
  };
  const keep: Job = { name: 'ring', role: 'serve', start: keeper.start };
  return {
    keeping,
    filling,
    facts: { report: keeper.report, filling: () => (fills ? filling.state() : null) },
    jobs: off === null ? [keep, { name: 'ring read ahead', start: fill }] : [keep],
  };
}

/** Why nobody reads ahead; `null` where this deployment does. */
function offBecause(config: Config, explorers: readonly ExplorerChain[]): Why | null {
  // Made-up history denies nothing, however much of it is held.
  if (config.simulate) return why('simulated');
  if (explorers.length === 0) return why('not_configured', { what: 'An explorer' });
  const what = 'Reading listed addresses ahead (EXHIBIT_RING_CALLS is 0)';
  return config.ringCallsADay === 0 ? why('not_configured', { what }) : null;
}

function neverFilled(because: Why, { ringCallsADay: calls_a_day }: Config): RingFilling {
  const none = { lists_held: 0, lists: 0, calls_today: 0, calls_a_day } as const;
  const state = { state: 'off', why: because, since: nowS(), ...none } as const;
  return { state: () => state, fill: async () => state };
}
