// Answers one question: what do the ports say of a world that is held in memory.
// Assembled from the memory adapter of each port; each passes the suite that its siblings pass.

import type { ExchangeLabels } from '../ports/exchange-labels.ts';
import type { LaunchCorpus } from '../ports/launch-corpus.ts';
import type { SanctionsList } from '../ports/sanctions-list.ts';
import type { TransferHistory } from '../ports/transfer-history.ts';
import { type MemoryLabels, memoryExchangeLabels } from './exchange-labels/memory.ts';
import { type MemoryCorpus, memoryLaunchCorpus } from './launch-corpus/memory.ts';
import { type MemoryListOptions, memorySanctionsList } from './sanctions-list/memory.ts';
import { type MemoryHistory, memoryTransferHistory } from './transfer-history/memory.ts';

/** What a world in memory holds, port by port. */
export type MemoryWorld = {
  readonly list: MemoryListOptions;
  readonly labels: MemoryLabels;
  readonly corpus: MemoryCorpus;
  readonly history: MemoryHistory;
};

/** The ports over a world in memory. */
export type MemoryPorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly launchCorpus: LaunchCorpus;
  readonly transferHistory: TransferHistory;
};

/** The ports over a world in memory. */
export function memoryPorts(world: MemoryWorld): MemoryPorts {
  return {
    sanctionsList: memorySanctionsList(world.list),
    exchangeLabels: memoryExchangeLabels(world.labels),
    launchCorpus: memoryLaunchCorpus(world.corpus),
    transferHistory: memoryTransferHistory(world.history),
  };
}
