// Which launches of wallets were put into this memory? Those of the corpus, read like the store's.
// An adapter, not a mock: its readings are the real ones.

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { holdOutOf, ownSplit } from '../../features/launches/hold-out.ts';
import { LAUNCH_WINDOW_S } from '../../features/tables/launches.ts';
import {
  type Collection,
  type CorpusState,
  ENTRIES_MAX,
  type MintLaunch,
  type WalletLaunches,
} from '../../ports/deployers.ts';
import type { Launch } from '../../ports/launches.ts';
import type { MemoryCorpus } from './imported-tables.ts';

const PORT = 'wallet_launches';

/** What the memory holds beside the corpus. */
export type MemoryLaunches = MemoryCorpus & {
  /** Left out: nothing was collected, so that every launch came by import. */
  readonly collection?: Collection;
  /** The transactions of launches that were collected, by mint. */
  readonly signatures?: ReadonlyMap<string, string>;
};

/** The launches of wallets in memory. */
export function memoryWalletLaunches(held: MemoryLaunches): WalletLaunches {
  const { launches, as_of, simulated, collection = null, signatures } = held;
  const settled = launches?.filter((one) => one.settled);
  if (launches === null || settled === undefined || settled.length === 0) {
    const never = why('table_never_imported', { what: 'the Solana launch corpus' });
    const silent = unread(PORT, never);
    return { of: async () => silent, launchOf: async () => silent };
  }
  const split = ownSplit(settled);
  const corpus: CorpusState = {
    settled_launches: settled.length,
    collection,
    hold_out: split === null ? null : holdOutOf(settled, split, LAUNCH_WINDOW_S),
  };
  const name = 'Solana launch corpus';
  const source = { name, url: 'memory:', as_of, kind: 'table', simulated } as const;
  return {
    of: async (wallet) => {
      const own = settled
        .filter(({ deployer }) => deployer === wallet)
        .sort((a, b) => b.launched_at - a.launched_at || (a.mint < b.mint ? -1 : 1));
      const unsettled = launches.filter((one) => !one.settled && one.deployer === wallet);
      const waiting = unsettled.map(({ mint }) => mint);
      const died = own.filter(({ listed_after_window }) => listed_after_window === false).length;
      const entries = own.slice(0, ENTRIES_MAX).map((one) => {
        const { mint, launched_at, last_checked_at: settled_at } = one;
        const listed_after_window = one.listed_after_window === true;
        return { mint, launched_at, settled_at, listed_after_window };
      });
      const record = { corpus, settled: own.length, died, waiting, entries };
      return read(record, { port: PORT, source });
    },
    launchOf: async (mint) => {
      const found = launches.find((one) => one.mint === mint);
      const launch = found === undefined ? null : launchIn(found, signatures);
      return read({ corpus, launch }, { port: PORT, source });
    },
  };
}

function launchIn(
  { mint, deployer, launched_at }: Launch,
  signatures: ReadonlyMap<string, string> | undefined,
): MintLaunch {
  const signature = signatures?.get(mint);
  return { deployer, launched_at, signature: signature === undefined ? null : signature };
}
