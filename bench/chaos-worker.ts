// Serves the simulated world again and again in one process, so that a start costs little: each in
// a folder of its own, which is fresh or a copy of one that was furnished.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningService, runService } from '../src/compose/run.ts';
import { FAULTS_FILE } from '../src/compose/world-faults.ts';
import { parseConfig } from '../src/config.ts';
import type { Calls } from '../src/testing/chaos-judge.ts';
import { type Demo, demo, furnishObserved, startObserved, untilReady } from './chaos-observed.ts';

/** What the service asks: the simulated world, or the same as if it were observed. */
export type World = 'simulated' | 'observed';

/** What the process is told: to start a service, to count its calls, or to stop it (`null`). */
export type ChaosOrder = ServiceOrder | 'count' | null;

export type ServiceOrder = {
  readonly folder: string;
  /** The furnished folder to begin with; `null`: nothing is held yet. */
  readonly from: string | null;
  readonly fault: string | null;
  readonly world: World;
  /** Where it listens. */
  readonly port: number;
  readonly settings: { readonly [name: string]: string };
};

const CREDENTIALS_FILE = 'demo-credentials.json';

let running: RunningService | null = null;
let outside: Awaited<ReturnType<typeof startObserved>> | null = null;

async function obey(order: ChaosOrder): Promise<Demo | Calls | null> {
  if (order === 'count') return outside === null ? {} : outside.calls();
  if (order === null) {
    await running?.stop();
    await outside?.close();
    running = null;
    outside = null;
    return null;
  }
  const { folder, from, fault, world, port, settings } = order;
  const data = join(folder, world);
  // A socket cannot be copied, and belongs to the process that made it.
  const filter = (path: string) => !path.includes('owner.d');
  if (from !== null) cpSync(join(from, world), data, { recursive: true, filter });
  mkdirSync(data, { recursive: true });
  if (fault !== null) writeFileSync(join(data, FAULTS_FILE), fault);
  if (world === 'observed') return startOverObserved(order, data);
  const faults = fault === null ? {} : { EXHIBIT_WORLD_FAULTS: fault };
  const env = { EXHIBIT_SIMULATE: 'true', EXHIBIT_PORT: String(port), EXHIBIT_DATA_DIR: folder };
  await start({ ...env, ...settings, ...faults }, folder);
  return demo.parse(JSON.parse(readFileSync(join(data, CREDENTIALS_FILE), 'utf8')));
}

async function start(env: { readonly [name: string]: string }, cwd: string): Promise<void> {
  const parsed = parseConfig(env, { cwd });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  running = await runService(parsed.config, ['serve', 'work']);
}

/** The same over what is observed; a folder without credentials is furnished. */
async function startOverObserved(
  { folder, port, settings }: ServiceOrder,
  data: string,
): Promise<Demo> {
  outside = await startObserved(data);
  const base_url = `http://127.0.0.1:${port}`;
  const own = { ...outside.settings, ...settings, EXHIBIT_PORT: String(port) };
  await start({ ...own, EXHIBIT_DATA_DIR: data }, folder);
  await untilReady(base_url);
  const file = join(data, CREDENTIALS_FILE);
  if (existsSync(file)) {
    return { ...demo.parse(JSON.parse(readFileSync(file, 'utf8'))), base_url };
  }
  const made = await furnishObserved(data, own, base_url);
  writeFileSync(file, JSON.stringify(made));
  return made;
}

process.on('message', ({ order }: { readonly order: ChaosOrder }) => {
  obey(order).then(
    (said) => process.send?.({ said, fault: null }),
    (fault: unknown) => {
      const text = fault instanceof Error ? String(fault.stack) : String(fault);
      process.send?.({ said: null, fault: text });
    },
  );
});
process.once('disconnect', () => process.exit(0));
