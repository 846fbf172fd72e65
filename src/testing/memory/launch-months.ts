// Which counts of launches by month are in this memory?

import { read } from '../../evidence/reading.ts';
import type { LaunchMonth, LaunchMonths } from '../../ports/launches.ts';

/** The counts in memory. `as_of` is Unix seconds. */
export function memoryLaunchMonths(months: readonly LaunchMonth[], as_of: number): LaunchMonths {
  const source = { name: 'Launches on record', url: 'memory:', as_of, kind: 'table' } as const;
  const origin = { port: 'launch_months', source: { ...source, simulated: false } } as const;
  return { newest: async () => read(months, origin) };
}
