import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { RefusedRow } from '../../ports/tables/table-import.ts';
import { memoryLabelTable } from '../../testing/memory/label-table.ts';
import { type MemoryFile, memoryTableFiles } from '../../testing/memory/table-files.ts';
import { isShowable, ROW_REFUSALS } from './import-rows.ts';
import { labelImporter } from './labels.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const A = '0x1111111111111111111111111111111111111111';
const B = '0x2222222222222222222222222222222222222223';
const ORDER = {
  path: 'labels',
  source: 'one',
  source_url: null,
  role: null,
  origin: 'observed',
} as const;

function file(
  batches: MemoryFile['batches'],
  breaksOff: MemoryFile['breaksOff'] = null,
): MemoryFile {
  return { layout: 'rows', batches, breaksOff };
}

/** Imports a file in memory into an empty table. */
function world(labels: MemoryFile, signal = new AbortController().signal) {
  const { table, fallSilent } = memoryLabelTable();
  const refused: RefusedRow[] = [];
  const progress: number[] = [];
  const importFile = labelImporter({ files: memoryTableFiles({ labels }), table }, () => NOW);
  const watch = {
    onRefused: (row: RefusedRow) => void refused.push(row),
    onProgress: (rows: number) => void progress.push(rows),
    signal,
  };
  const inForce = async () => {
    const reading = await table.inForce();
    return reading instanceof Read ? reading.value.length : null;
  };
  return {
    run: (path: string = ORDER.path) => importFile({ ...ORDER, path }, watch),
    refused,
    progress,
    inForce,
    table,
    fallSilent,
  };
}

describe('an import', () => {
  test('counts what was accepted and names what was refused, with its line', async () => {
    const { run, refused, progress } = world(
      file([
        [{ address: A, entity: 'exemplar' }, 'not JSON'],
        [
          { address: A.toUpperCase().replace('0X', '0x'), entity: 'exemplar' },
          { address: 'nonsense', entity: 'exemplar' },
          { address: B, entity: 'exemplar' },
        ],
      ]),
    );
    const outcome = await run();
    expect(outcome).toMatchObject({
      outcome: 'completed',
      record: {
        table_name: 'exchange_labels',
        source: 'one',
        origin: 'observed',
        rows_accepted: 2,
        rows_refused: 3,
        sha256: 'b'.repeat(64),
        as_of: NOW,
        started_at: NOW,
        completed_at: NOW,
      },
      refused: new Map([
        ['unreadable_row', 1],
        ['bad_address', 1],
        ['duplicate', 1],
      ]),
    });
    expect(refused).toEqual([
      { line: 2, code: 'unreadable_row', reason: 'the row could not be read (not JSON)' },
      { line: 4, code: 'bad_address', reason: 'no EVM, Solana, Bitcoin or Tron address' },
      { line: 3, code: 'duplicate', reason: 'an earlier row of this file says the same' },
    ]);
    expect(progress).toEqual([2, 5]);
  });

  test('is dated by the newest of its rows that the source dates', async () => {
    const dated = (first_seen: string, address: string) => ({ address, entity: 'e', first_seen });
    const { run } = world(
      file([[dated('2024-05-01', A), dated('2023-01-01', B), { address: 'T', entity: 'e' }]]),
    );
    expect(await run()).toMatchObject({ record: { as_of: Date.UTC(2024, 4, 1) / 1_000 } });
  });

  test('of which no row was accepted has failed, and keeps nothing', async () => {
    const { run, inForce } = world(file([[{ address: 'x', entity: 'e' }]]));
    expect(await run()).toEqual({
      outcome: 'no_row_accepted',
      rows_refused: 1,
      refused: new Map([['bad_address', 1]]),
    });
    expect(await inForce()).toBe(0);
  });

  test('of a file without rows has failed', async () => {
    expect(await world(file([])).run()).toMatchObject({ outcome: 'no_row_accepted' });
  });

  test('of a file that breaks off keeps nothing of what was read before', async () => {
    const fault = why('file_unreadable', { fault: 'a line is too long' });
    const { run, inForce } = world(file([[{ address: A, entity: 'e' }]], fault));
    expect(await run()).toEqual({ outcome: 'unread', why: fault });
    expect(await inForce()).toBe(0);
  });

  test('of a missing file is unread and begins nothing', async () => {
    const { run, inForce } = world(file([]));
    expect(await run('elsewhere')).toMatchObject({
      outcome: 'unread',
      why: { reason: 'The file could not be read: there is no such file.' },
    });
    expect(await inForce()).toBe(0);
  });

  test('into a store that falls silent is unread', async () => {
    const { run, fallSilent } = world(file([[{ address: A, entity: 'e' }]]));
    const fault = why('store_unreadable', { what: 'The store', fault: 'it is down' });
    fallSilent(fault);
    expect(await run()).toEqual({ outcome: 'unread', why: fault });
  });

  test('that is stopped keeps nothing', async () => {
    const { run, inForce } = world(file([[{ address: A, entity: 'e' }]]), AbortSignal.abort());
    expect(await run()).toEqual({ outcome: 'stopped' });
    expect(await inForce()).toBe(0);
  });
});

test.each([
  ['Binance 14', true],
  ['Börse – 交易所', true],
  ['a'.repeat(11), false],
  ['tab\there', false],
  ['two\nlines', false],
  ['bell\u0007', false],
  ['right\u202eleft', false],
  ['zero\u200bwidth', false],
  ['broken \ufffd', false],
])('a text may be shown only as it is: %j', (text, fits) => {
  expect(isShowable(text, text.startsWith('aaa') ? 10 : 100)).toBe(fits);
});

test('every reason for refusing a row stands in the registry, in the same words', async () => {
  const sources = await readFile(join(import.meta.dirname, '../../../registry/SOURCES.md'), 'utf8');
  for (const [code, sentence] of Object.entries(ROW_REFUSALS)) {
    expect(sources).toContain(`| \`${code}\` | ${sentence} |`);
  }
});
