// The twin of the launch corpus and of its months: in memory, planted and silent.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { launchCorpus } from '../../features/tables/launches.ts';
import type { Launch, LaunchCorpus, LaunchMonth, LaunchMonths } from '../../ports/launches.ts';
import { addressNamed } from '../addresses.ts';
import { type Dated, memorySource, PLANTED } from './dated.ts';
import { memoryTable } from './tables.ts';

/** The contents of a memory. `null`: no import of the table has completed. */
export type MemoryCorpus = Dated & { readonly launches: readonly Launch[] | null };

/** The Solana launch corpus in memory. */
export function memoryLaunchCorpus({ launches, ...dated }: MemoryCorpus): LaunchCorpus {
  return memoryTable(launchCorpus, launches, dated);
}

/** The counts in memory. `as_of` is Unix seconds. */
export function memoryLaunchMonths(months: readonly LaunchMonth[], as_of: number): LaunchMonths {
  const source = memorySource('Launches on record', 'table', { as_of, simulated: false });
  const origin = { port: 'launch_months', source } as const;
  return { newest: async () => read(months, origin) };
}

export function silentLaunches(cause: Why): { readonly launchCorpus: LaunchCorpus } {
  const corpus = unread('launch_corpus', cause);
  return { launchCorpus: { lookUp: async () => corpus } };
}

/** The launches that a world may plant. */
export type PlantedLaunches = {
  readonly launchers?: readonly string[];
  /** Wallets that made a launch which waits to be settled. */
  readonly waiting?: readonly string[];
};

/** The launches of a world: those of somebody else beside what is planted. */
export function plantedCorpus({ launchers = [], waiting = [] }: PlantedLaunches): Launch[] {
  return [
    ...[...launchers, addressNamed('solana', 'launcher elsewhere')].map((one) =>
      launchBy(one, true),
    ),
    ...waiting.map((one) => launchBy(one, null)),
  ];
}

export function plantedLaunches(planted: PlantedLaunches) {
  return {
    launchCorpus: memoryLaunchCorpus({ ...PLANTED, launches: plantedCorpus(planted) }),
    launchMonths: memoryLaunchMonths([], PLANTED.as_of),
  };
}

/** A launch; `null`: whether it is listed is not known yet. */
function launchBy(deployer: string, listed_after_window: boolean | null) {
  const settled = listed_after_window !== null;
  return {
    mint: addressNamed('solana', `${settled ? '' : 'waiting '}mint of ${deployer}`),
    deployer,
    listed_after_window,
    launched_at: PLANTED.as_of - 99 * 3_600,
    last_checked_at: PLANTED.as_of,
    settled,
  };
}
