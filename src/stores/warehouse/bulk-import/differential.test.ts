// The set-based rule accepts, refuses, numbers, leaves out and proves what the rule by rows did:
// over files of each layout whose rows are drawn to collide, and over the shared samples.
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BulkImportOrder } from '../../../ports/indexing/bulk-import.ts';
import { importByRows } from '../../../testing/imported-by-rows/by-rows.ts';
import { drawnFiles } from '../../../testing/imported-by-rows/drawn-files.ts';
import { SHARED_DATA } from '../../../testing/shared-data.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { transferStore } from '../transfers/store.ts';
import {
  emptied,
  freshFolder,
  freshWarehouse,
  importedInto,
  NOW,
  recordOf,
} from './bulk-import.suite.ts';

/** Draws of files; more of them with EXHIBIT_IMPORT_DRAWS. */
const DRAWS = Number(process.env['EXHIBIT_IMPORT_DRAWS'] ?? '2');
const CALL = { timeoutMs: 60_000 };
const DUMPS: Readonly<Record<string, string>> = {
  transfers: `block, lower(hex(tx_hash)), lower(hex(place)), kind, lower(hex(token)),
    lower(hex(from_address)), lower(hex(to_address)), toString(raw_amount), n, block_time,
    lower(hex(block_hash)), position, lower(hex(initiator)), success, finality, observed`,
  sides: 'lower(hex(addr)), lower(hex(peer)), lower(hex(id)), lower(hex(detail))',
  blocks: 'number, lower(hex(hash)), lower(hex(parent_hash)), time, finality',
  transactions: 'block, lower(hex(tx_hash)), lower(hex(initiator)), success',
  creations: `block, lower(hex(created)), lower(hex(creator)), lower(hex(tx_hash)),
    lower(hex(initiator)), lower(hex(block_hash)), block_time, finality, observed`,
  creators: 'block, lower(hex(addr)), lower(hex(created)), lower(hex(creator))',
  coverage: 'kind, from_block, to_block, source, observed, to_time',
};

let old: EmbeddedWarehouse;
let fresh: EmbeddedWarehouse;
beforeAll(async () => {
  old = await freshWarehouse();
  fresh = await freshWarehouse();
});
afterAll(async () => {
  await old.close();
  await fresh.close();
});

/** All that the tables of facts hold, each row once. */
async function dumpOf(warehouse: Warehouse): Promise<Record<string, readonly string[]>> {
  const dump: Record<string, readonly string[]> = {};
  const row = z.array(z.unknown());
  for (const [table, columns] of Object.entries(DUMPS)) {
    const sql = `SELECT ${columns} FROM ${table} FINAL ORDER BY ALL`;
    const rows = await warehouse.query(sql, { ...CALL, row, tuples: true });
    dump[table] = rows.map((one) => JSON.stringify(one));
  }
  return dump;
}

async function compared(
  paths: readonly string[],
  said: Partial<BulkImportOrder>,
  blockRows: number,
) {
  for (const one of [old, fresh]) await emptied(one);
  const folder = await freshFolder();
  const base = { chain: 'ethereum', origin: 'observed', declared: null } as const;
  const order: BulkImportOrder = { ...base, failed_excluded: false, ...said, paths };
  const store = transferStore(old, () => NOW);
  const expected = await importByRows(store, order, await freshFolder());
  const record = recordOf(await importedInto(fresh, paths, { ...said, folder, blockRows }));
  expect(record).toMatchObject({
    rows: expected.rows,
    transfers: expected.transfers,
    creations: expected.creations,
  });
  expect(Object.fromEntries(record.refused)).toEqual(Object.fromEntries(expected.refused));
  expect(Object.fromEntries(record.left_out)).toEqual(Object.fromEntries(expected.left_out));
  expect(await refusedLines(record.refused_file, record.files)).toEqual(expected.refusedLines);
  const [before, after] = [await dumpOf(old), await dumpOf(fresh)];
  for (const table of Object.keys(DUMPS))
    expect([table, after[table]]).toEqual([table, before[table]]);
  return { record, after };
}

const line = z.object({ file: z.string(), row: z.number(), reason: z.string() });

/** The refused rows as their file tells them; file names are those of the files in their order. */
async function refusedLines(path: string | null, files: readonly { name: string }[]) {
  if (path === null) return [];
  const { readFile } = await import('node:fs/promises');
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return lines.map((text) => {
    const { file, row, reason } = line.parse(JSON.parse(text));
    return `${files.findIndex(({ name }) => name === file)} ${row} ${reason}`;
  });
}

describe('the rule in the engine and the rule by rows', () => {
  test.each(Array.from({ length: DRAWS }, (_, at) => at + 1))(
    'come to the same tables, refusals and coverage: draw %i',
    async (seed) => {
      const folder = await freshFolder();
      const { files, said, reasons } = drawnFiles(seed);
      const paths: string[] = [];
      for (const [name, text] of files) {
        paths.push(join(folder, name));
        await writeFile(join(folder, name), text);
      }
      const { record, after } = await compared(paths, said, 300);
      for (const reason of reasons) expect([...record.refused.keys()]).toContain(reason);
      expect(after['transfers']?.length).toBeGreaterThan(100);
    },
    600_000,
  );
});

/** Each folder of samples that holds files of one import. */
function samples(): readonly (readonly [string, readonly string[]])[] {
  const jobs = join(SHARED_DATA, 'ethereum-etl');
  if (!existsSync(jobs)) return [['shared samples (skipped: no shared data)', []]];
  const traces = join(jobs, 'test_export_traces_job');
  const blocks = join(jobs, 'test_export_blocks_job');
  const stream = join(jobs, 'test_stream');
  const csv = (folder: string) => [join(folder, '*.csv')];
  const tokens = join(jobs, 'test_export_token_transfers_job/block_with_transfers');
  return [
    ...readdirSync(traces).map((name) => [name, csv(join(traces, name))] as const),
    ['blocks_with_transactions', csv(join(blocks, 'blocks_with_transactions_and_withdrawals'))],
    ['block_with_logs', [...csv(join(blocks, 'block_with_logs')), ...csv(tokens)]],
    ['token_transfers', csv(tokens)],
    ['stream', [join(stream, 'blocks_17173049_17173050')]],
    ['raphtory tokens', [join(SHARED_DATA, 'raphtory/token_transfers.csv')]],
    [
      'raphtory transactions',
      [join(SHARED_DATA, 'raphtory/transactions_03300000_03399999_small.csv.gz')],
    ],
  ];
}

test.each(samples())(
  'the two rules come to the same over a shared sample: %s',
  async (_, paths) => {
    if (paths.length > 0) await compared(paths, {}, 4_000);
  },
  600_000,
);
