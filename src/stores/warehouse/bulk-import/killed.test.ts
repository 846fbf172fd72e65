// A process that is killed while it imports leaves nothing that counts and is not there.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { trialsOf } from '../../../testing/trials.ts';
import { embeddedWarehouse } from '../engine/embedded.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import { freshFolder, freshWarehouse, importedInto, NOW, recordOf } from './bulk-import.suite.ts';
import { exportedInHalves, heldIn, mustHoldWhatCounts } from './interrupted.suite.ts';

/** At which writes a process is killed: a few in each run, all of them up to a number on demand. */
const KILLS = trialsOf('EXHIBIT_IMPORT_KILLS', 0, 40);
const KILLED_AT = KILLS > 0 ? Array.from({ length: KILLS }, (_, at) => at + 1) : [9, 24, 40];
/** How long they may take on a machine that does other things too: two minutes each. */
const KILLS_MS_MAX = KILLED_AT.length * 120_000;

/** A process that imports, and kills itself at one of its writes. */
const IMPORTER = `
const [dist, directory, files, at] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { embeddedWarehouse } = await load('stores/warehouse/engine/embedded.js');
const { transferStore } = await load('stores/warehouse/transfers/store.js');
const { bulkImporter } = await load('stores/warehouse/bulk-import/bulk-import.js');
const opened = await embeddedWarehouse(directory + '/store');
let writes = 0;
const counted = (work) => async (...asked) => {
  writes += 1;
  // In the midst of every other one, else before it.
  if (writes === Number(at)) {
    if (writes % 2 === 0) void work(...asked);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  }
  return work(...asked);
};
const { command, insert, commandFile } = opened;
const warehouse = { ...opened, command: counted(command), insert: counted(insert),
  commandFile: counted(commandFile) };
const now = () => ${NOW};
const into = { warehouse, store: transferStore(warehouse, now), now };
const run = bulkImporter(into, directory + '/imports', 40);
const order = { paths: [files], chain: 'ethereum', origin: 'observed', declared: null };
const signal = new AbortController().signal;
const watch = { onNote: () => {}, onProgress: () => {}, signal };
const outcome = await run({ ...order, failed_excluded: false }, watch);
await opened.close();
process.stdout.write(outcome.outcome);
process.exit(0);
`;
const DIST = new URL('../../../../dist/', import.meta.url).href;

/** Runs an import until it kills itself, or ends; answers what it said of its end. */
async function killedAt(directory: string, files: string, write: number): Promise<string> {
  const args = ['--input-type=module', '-e', IMPORTER, DIST, directory, files, String(write)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  for await (const piece of child.stdout) said += String(piece);
  return said;
}

describe('a process that imports is killed', () => {
  test(
    'at its writes: nothing counts that is not there, and the next one comes to the same',
    async () => {
      const files = await exportedInHalves(await freshFolder());
      const straight = await freshWarehouse();
      recordOf(
        await importedInto(straight, [files], { folder: await freshFolder(), blockRows: 40 }),
      );
      const whole = await heldIn(straight);
      await straight.close();
      for (const write of KILLED_AT) {
        const folder = await freshFolder();
        const opened = await embeddedWarehouse(join(folder, 'store'));
        await migrateWarehouse(opened, resolve('migrations/warehouse'), { simulated: false });
        await opened.close();
        const said = await killedAt(folder, files, write);
        const left = await embeddedWarehouse(join(folder, 'store'));
        await mustHoldWhatCounts(left);
        if (said !== 'completed') {
          recordOf(await importedInto(left, [files], { folder, blockRows: 40 }));
        }
        expect(await heldIn(left)).toEqual(whole);
        await left.close();
      }
    },
    KILLS_MS_MAX,
  );
});
