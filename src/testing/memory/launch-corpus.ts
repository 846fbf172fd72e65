// What do these launches, held in memory, say as the Solana launch corpus?
// An adapter, not a mock: its readings are the real ones. It can be told to be never imported.

import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { LaunchCorpus, LaunchCount } from '../../ports/launches/launches.ts';
import type { Launch } from '../../ports/launches/table.ts';
import { CORPUS_TITLE, nothingSettled, ofWallets } from '../../stores/snapshots/launches.ts';

const PORT = 'launch_corpus';

/** What the memory holds. `null`: no import of the corpus has completed. */
export type MemoryCorpus = {
  readonly launches: readonly Launch[] | null;
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The Solana launch corpus in memory. */
export function memoryLaunchCorpus(held: MemoryCorpus): LaunchCorpus {
  const { launches } = held;
  const silent = (reason: Why): LaunchCorpus => ({ lookUp: async () => unread(PORT, reason) });
  if (launches === null) {
    return silent(why('table_never_imported', { what: 'the Solana launch corpus' }));
  }
  const byWallet = countLaunches(launches);
  const settled_launches = launches.filter((launch) => launch.settled).length;
  if (settled_launches === 0) return silent(nothingSettled());
  const source: Source = {
    name: CORPUS_TITLE,
    url: 'memory:',
    as_of: held.as_of,
    kind: 'table',
    simulated: held.simulated,
  };
  return {
    lookUp: async (wallets) =>
      read({ settled_launches, found: ofWallets(byWallet, wallets) }, { port: PORT, source }),
  };
}

/** The settled launches of each wallet that has any, counted. */
export function countLaunches(launches: Iterable<Launch>): Map<string, LaunchCount> {
  const byWallet = new Map<string, LaunchCount>();
  for (const { deployer, settled, listed_after_window } of launches) {
    if (!settled) continue;
    const known = byWallet.get(deployer);
    const died = listed_after_window === false ? 1 : 0;
    byWallet.set(deployer, {
      deployer,
      launches_settled: known === undefined ? 1 : known.launches_settled + 1,
      died: known === undefined ? died : known.died + died,
    });
  }
  return byWallet;
}
