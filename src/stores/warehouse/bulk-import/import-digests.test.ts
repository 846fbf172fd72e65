// Digests of imports by the rule that took each row through JavaScript: over files of each layout
// whose rows are drawn to collide, and over the shared samples. That rule proved the one in the
// engine for as long as both were kept.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { BulkImportOrder } from '../../../ports/indexing.ts';
import { DRAWN_SEEDS, randomFiles } from '../../../testing/drawn-files.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { SHARED_DATA } from '../../../testing/shared-data.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import { emptied, freshFolder, importedInto, recordOf } from './bulk-import.suite.ts';

/** Draws of files, of those that are kept; more of them with EXHIBIT_IMPORT_DRAWS. */
const DRAWS = Number(process.env['EXHIBIT_IMPORT_DRAWS'] ?? '2');
const KEPT = new URL('recordings/import-digests.txt', import.meta.url);
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

let warehouse: EmbeddedWarehouse;
beforeAll(async () => {
  warehouse = await freshWarehouse();
});
afterAll(() => warehouse.close());

const digestOf = (value: unknown) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** All that an import came to, by part: its record, its refusals, and each table of facts. */
async function importParts(
  paths: readonly string[],
  said: Partial<BulkImportOrder>,
  blockRows: number,
) {
  await emptied(warehouse);
  const folder = await freshFolder();
  const record = recordOf(await importedInto(warehouse, paths, { ...said, folder, blockRows }));
  const { rows, transfers, creations } = record;
  const parts: Record<string, unknown> = {
    counts: { rows, transfers, creations },
    refused: [...record.refused].sort(),
    refused_lines: await refusedLines(record.refused_file, record.files),
    left_out: [...record.left_out].sort(),
  };
  const row = z.array(z.unknown());
  for (const [table, columns] of Object.entries(DUMPS)) {
    const sql = `SELECT ${columns} FROM ${table} FINAL ORDER BY ALL`;
    parts[table] = await warehouse.query(sql, { ...CALL, row, tuples: true });
  }
  const digests = Object.fromEntries(
    Object.entries(parts).map(([part, value]) => [part, digestOf(value)]),
  );
  return { record, digests, transfers: z.array(row).parse(parts['transfers']) };
}

const line = z.object({ file: z.string(), row: z.number(), reason: z.string() });

/** The refused rows as their file tells them; file names are those of the files in their order. */
async function refusedLines(path: string | null, files: readonly { name: string }[]) {
  if (path === null) return [];
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return lines.map((text) => {
    const { file, row, reason } = line.parse(JSON.parse(text));
    return `${files.findIndex(({ name }) => name === file)} ${row} ${reason}`;
  });
}

/** The digests of a case, by part, as they are kept. */
async function keptDigests(name: string): Promise<Record<string, string>> {
  const [heading, ...cases] = (await readFile(KEPT, 'utf8')).trim().split('\n');
  const found = cases.map((text) => text.split('\t')).find(([first]) => first === name);
  if (heading === undefined || found === undefined) throw new Error(`no digests of ${name}`);
  return Object.fromEntries(
    heading
      .split('\t')
      .map((part, at): [string, string] => [part, String(found[at])])
      .slice(1),
  );
}

test.each(Array.from({ length: Math.min(DRAWS, DRAWN_SEEDS) }, (_, at) => at + 1))(
  'drawn files come to the same tables, refusals and coverage: draw %i',
  async (seed) => {
    const folder = await freshFolder();
    const { files, said, reasons } = randomFiles(seed);
    const paths: string[] = [];
    for (const [name, text] of files) {
      paths.push(join(folder, name));
      await writeFile(join(folder, name), text);
    }
    const { record, digests, transfers } = await importParts(paths, said, 300);
    expect(digests).toEqual(await keptDigests(`draw ${seed}`));
    for (const reason of reasons) expect([...record.refused.keys()]).toContain(reason);
    expect(transfers.length).toBeGreaterThan(100);
  },
  600_000,
);

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
  'a shared sample comes to the same: %s',
  async (name, paths) => {
    if (paths.length === 0) return;
    const { digests } = await importParts(paths, {}, 4_000);
    expect(digests).toEqual(await keptDigests(name));
  },
  600_000,
);
