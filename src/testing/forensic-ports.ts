// A world of the memory adapters in which everything was read to its end unless said otherwise.

import type { MixerContract } from '../ports/accounts.ts';
import type { RegistryRow } from '../ports/bridges.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import type { FlaggedRow } from '../ports/rug-flags.ts';
import type { ListEntry } from '../ports/sanctions.ts';
import type { ExchangeLabel } from '../ports/tables.ts';
import { STILL_NOW } from './clock.ts';
import type { MemoryApproval, MemoryFact, MemoryFreezes } from './twins/accounts.ts';
import { fullCoverage } from './twins/history.ts';
import { type MemoryPorts, type MemoryWorld, memoryPorts } from './twins/ports.ts';

/** The planted facts; an absent one is a table or chain that was read without it. */
export type PlantedFacts = {
  readonly transfers?: readonly HistoryTransfer[];
  readonly listed?: readonly ListEntry[];
  readonly labels?: readonly ExchangeLabel[];
  readonly flagged?: readonly FlaggedRow[];
  readonly mixers?: readonly MixerContract[];
  readonly bridges?: readonly RegistryRow[];
  readonly facts?: readonly MemoryFact[];
  readonly frozen?: MemoryFreezes['frozen'];
  readonly approvals?: readonly MemoryApproval[];
  readonly history?: Partial<MemoryWorld['history']>;
  readonly simulated?: boolean;
};

const MINUTE_S = 60;
const WEEK_S = 604_800;

/** The ports over a planted world, bridges included. */
export function forensicPorts(planted: PlantedFacts): MemoryPorts {
  const simulated = planted.simulated === true;
  const dated = { as_of: STILL_NOW - MINUTE_S, simulated };
  const { transfers = [], listed = [], labels = [], flagged = [], mixers = [] } = planted;
  const { facts = [], history = {}, bridges = [], frozen = [], approvals = [] } = planted;
  const inForce = { published: '2026-09-20', checked_at: STILL_NOW - MINUTE_S, entries: listed };
  return memoryPorts({
    list: { publications: [inForce], maxAgeS: WEEK_S, simulated, now: () => STILL_NOW },
    labels: { ...dated, labels },
    corpus: { ...dated, launches: [] },
    history: {
      ...dated,
      chains: ['ethereum'],
      transfers,
      coverage: fullCoverage('ethereum', STILL_NOW - MINUTE_S),
      provenance: 'warehouse',
      ...history,
    },
    entities: { ...dated, clusters: [], examined: 'everyone' },
    facts: { ...dated, chains: ['ethereum'], facts },
    freezes: { ...dated, chains: ['ethereum'], frozen },
    approvals: { ...dated, chains: ['ethereum'], approvals },
    flagged: { ...dated, rows: flagged },
    deployers: { ...dated, records: [] },
    mixers: { ...dated, rows: mixers },
    bridges: { ...dated, rows: bridges },
  });
}
