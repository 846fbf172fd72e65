// Serves the simulated world again and again in one process, so that a start costs little: each in
// a folder of its own, which is fresh or a copy of one that was furnished.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type RunningService, runService } from '../src/compose/run.ts';
import { FAULTS_FILE } from '../src/compose/world-faults.ts';
import { parseConfig } from '../src/config.ts';

/** What the process is told: a service to start, or `null` to stop the one that runs. */
export type ChaosOrder = {
  readonly folder: string;
  /** The furnished folder to begin with; `null`: nothing is held yet. */
  readonly from: string | null;
  readonly fault: string | null;
  readonly settings: { readonly [name: string]: string };
} | null;

const demo = z.object({ base_url: z.string(), api_key: z.string(), stream_token: z.string() });
export type Demo = z.output<typeof demo>;

let running: RunningService | null = null;

async function obey(order: ChaosOrder): Promise<Demo | null> {
  if (order === null) {
    await running?.stop();
    running = null;
    return null;
  }
  const { folder, from, fault, settings } = order;
  const data = join(folder, 'simulated');
  // A socket cannot be copied, and belongs to the process that made it.
  const filter = (path: string) => !path.includes('owner.d');
  if (from !== null) cpSync(join(from, 'simulated'), data, { recursive: true, filter });
  mkdirSync(data, { recursive: true });
  if (fault !== null) writeFileSync(join(data, FAULTS_FILE), fault);
  const faults = fault === null ? {} : { EXHIBIT_WORLD_FAULTS: fault };
  const env = { EXHIBIT_SIMULATE: 'true', EXHIBIT_PORT: '0', EXHIBIT_DATA_DIR: folder };
  const parsed = parseConfig({ ...env, ...settings, ...faults }, { cwd: folder });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  running = await runService(parsed.config, ['serve', 'work']);
  return demo.parse(JSON.parse(readFileSync(join(data, 'demo-credentials.json'), 'utf8')));
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
