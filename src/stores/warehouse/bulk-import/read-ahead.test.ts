// A file is read while the blocks before it are written, and the fault of one ends the other.
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import { WarehouseUnavailable } from '../engine/executor.ts';
import {
  emptied,
  freshFolder,
  freshWarehouse,
  importedInto,
  recordOf,
} from './bulk-import.suite.ts';
import { heldIn, word } from './interrupted.suite.ts';

const HEADING =
  'token_address,from_address,to_address,value,transaction_hash,log_index,block_number,' +
  'block_timestamp';
const ROWS = 40;
const FILES = 3;
/** A step that never comes fails the test after this long. */
const WAIT_MS = 30_000;

let warehouse: EmbeddedWarehouse;
beforeAll(async () => {
  warehouse = await freshWarehouse();
});
beforeEach(() => emptied(warehouse));
afterAll(() => warehouse.close());

/** Files of token transfers, each of blocks behind those of the one before. */
async function inOrder(folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (let file = 0; file < FILES; file += 1) {
    const lines = Array.from({ length: ROWS }, (_, at) => {
      const number = file * ROWS + at;
      const ends = `${word(7, 40)},${word(number + 1, 40)},${word(number + 2, 40)}`;
      return `${ends},5,${word(number + 1, 64)},0,${number},${1_670_000_000 + number}`;
    });
    const path = join(folder, `part-${file}.csv`);
    await writeFile(path, `${[HEADING, ...lines].join('\n')}\n`);
    paths.push(path);
  }
  return paths;
}

type Watched = { readonly onRead?: () => Promise<void>; readonly onWrite?: () => Promise<void> };

/** The warehouse, which tells when a file is read and before transfers are written. */
function watched({ onRead, onWrite }: Watched): EmbeddedWarehouse {
  return {
    ...warehouse,
    commandFile: async (...asked) => {
      await onRead?.();
      await warehouse.commandFile(...asked);
    },
    command: async (sql, call) => {
      if (sql.startsWith('INSERT INTO transfers (')) await onWrite?.();
      await warehouse.command(sql, call);
    },
  };
}

test('the next file is being read before the blocks of the one before are written', async () => {
  const folder = await freshFolder();
  const paths = await inOrder(folder);
  let read = 0;
  let writes = 0;
  const onRead = async () => {
    read += 1;
  };
  // Were the files read one after the other, the first write would wait here in vain.
  const onWrite = async () => {
    writes += 1;
    const behind = Math.min(FILES, writes + 1);
    await vi.waitUntil(() => read >= behind, { timeout: WAIT_MS });
  };
  const into = watched({ onRead, onWrite });
  const record = recordOf(await importedInto(into, paths, { folder, blockRows: ROWS }));
  expect([record.transfers, writes]).toEqual([FILES * ROWS, FILES]);
});

test('a write that fails while the next file is read ends the import, which goes on to the same', async () => {
  const folder = await freshFolder();
  const paths = await inOrder(folder);
  recordOf(await importedInto(warehouse, paths, { folder: await freshFolder() }));
  const whole = await heldIn(warehouse);
  expect(whole).toHaveLength(FILES * ROWS * 3);
  await emptied(warehouse);
  let read = 0;
  const onRead = async () => {
    read += 1;
  };
  const onWrite = async () => {
    await vi.waitUntil(() => read === 2, { timeout: WAIT_MS });
    throw new WarehouseUnavailable('interrupted');
  };
  const { outcome } = await importedInto(watched({ onRead, onWrite }), paths, {
    folder,
    blockRows: ROWS,
  });
  expect(outcome).toMatchObject({
    outcome: 'unread',
    why: { reason: expect.stringContaining('The warehouse stopped before it had answered') },
  });
  recordOf(await importedInto(warehouse, paths, { folder, blockRows: ROWS }));
  expect(await heldIn(warehouse)).toEqual(whole);
});

test('a write or a read that finds no room beside the other is done again without it', async () => {
  const folder = await freshFolder();
  const paths = await inOrder(folder);
  recordOf(await importedInto(warehouse, paths, { folder: await freshFolder() }));
  const whole = await heldIn(warehouse);
  await emptied(warehouse);
  let [read, writes] = [0, 0];
  const onRead = async () => {
    read += 1;
    if (read === 3) throw new WarehouseUnavailable('overloaded');
  };
  const onWrite = async () => {
    writes += 1;
    if (writes > 1) return;
    await vi.waitUntil(() => read === 2, { timeout: WAIT_MS });
    throw new WarehouseUnavailable('overloaded');
  };
  const into = watched({ onRead, onWrite });
  const record = recordOf(await importedInto(into, paths, { folder, blockRows: ROWS }));
  expect([record.transfers, read, writes]).toEqual([FILES * ROWS, FILES + 1, FILES + 1]);
  expect(await heldIn(warehouse)).toEqual(whole);
});

test('a file that cannot be read is named, and the blocks being written meanwhile are whole', async () => {
  const folder = await freshFolder();
  const [first = '', second = ''] = await inOrder(folder);
  let read = 0;
  const onRead = async () => {
    read += 1;
    // Longer than it was: somebody still writes to it.
    if (read === 2) await appendFile(second, 'and more');
  };
  const onWrite = async () => {
    await vi.waitUntil(() => read === 2, { timeout: WAIT_MS });
  };
  const { outcome } = await importedInto(watched({ onRead, onWrite }), [first, second], {
    folder,
    blockRows: ROWS / 2,
  });
  expect(outcome).toMatchObject({
    outcome: 'unread',
    why: { reason: expect.stringContaining('part-1.csv') },
  });
  // A row under its transfer and under both addresses, of one half of the first file or of both.
  expect([(ROWS / 2) * 3, ROWS * 3]).toContain((await heldIn(warehouse)).length);
});
