import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { IMPORTED_AT, importInto, keptTables } from '../../testing/imported-tables.ts';
import { isShowable, ROW_REFUSALS } from './import-rows.ts';
import { exchangeLabels } from './labels.ts';

const A = '0x1111111111111111111111111111111111111111';
const B = '0x2222222222222222222222222222222222222223';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-test-import-'));
});
afterAll(() => rm(folder, { recursive: true }));
const { empty, fallSilent } = keptTables();

/** Imports lines of JSON into an empty table; answers what it did and what is in force then. */
async function run(
  lines: readonly string[],
  {
    path = join(folder, 'labels.jsonl'),
    signal = new AbortController().signal,
    silent = false,
  } = {},
) {
  await writeFile(join(folder, 'labels.jsonl'), lines.join('\n'));
  const store = await empty(exchangeLabels);
  fallSilent(silent);
  const done = await importInto(exchangeLabels, store, { path }, { signal });
  const inForce = await store.inForce();
  return { ...done, inForce: inForce instanceof Read ? inForce.value.length : null };
}

const row = (address: string, more = {}) =>
  JSON.stringify({ address, entity: 'exemplar', ...more });
const many = (rows: number) =>
  Array.from({ length: rows }, (_, i) => row(`0x${(i + 1e6).toString(16).padStart(40, '5')}`));

describe('an import', () => {
  test('counts what was accepted and names what was refused, with its line', async () => {
    const twice = A.toUpperCase().replace('0X', '0x');
    const { outcome, refused } = await run([
      ...[row(A), 'not JSON', row(twice), row('nonsense'), row(B)],
    ]);
    expect(outcome).toMatchObject({
      outcome: 'completed',
      record: {
        table_name: 'exchange_labels',
        source: 'one',
        origin: 'observed',
        rows_accepted: 2,
        rows_refused: 3,
        rows_lost: 2,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        as_of: IMPORTED_AT,
        dated_by: 'import',
        started_at: IMPORTED_AT,
        completed_at: IMPORTED_AT,
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
  });

  test('names the columns that no row was read by, and none that one was', async () => {
    const more = { legal_basis: 'EU 1', label: 'Hot', 'odd\u0007name': 'x' };
    const { outcome } = await run([row(A, more), row(B, { page: '2' })]);
    expect(outcome).toMatchObject({ unread_columns: ['legal_basis', 'page'] });
    expect((await run([row(A), row(B)])).outcome).toMatchObject({ unread_columns: [] });
  });

  test('tells after each batch how far it came', async () => {
    expect((await run(many(1_001))).progress).toEqual([1_000, 1_001]);
  });

  test('is dated by the newest of its rows that the source dates', async () => {
    const { outcome } = await run([
      ...[row(A, { first_seen: '2024-05-01' }), row(B, { first_seen: '2023-01-01' }), row('T')],
    ]);
    const as_of = Date.UTC(2024, 4, 1) / 1_000;
    expect(outcome).toMatchObject({ record: { as_of, dated_by: 'file' } });
  });

  test('of which no row was accepted has failed, and keeps nothing', async () => {
    const { outcome, inForce } = await run([row('x')]);
    expect(outcome).toEqual({
      outcome: 'no_row_accepted',
      rows_refused: 1,
      refused: new Map([['bad_address', 1]]),
    });
    expect(inForce).toBe(0);
  });

  test('of a file without rows has failed', async () => {
    expect((await run([])).outcome).toMatchObject({ outcome: 'no_row_accepted' });
  });

  test('of a file that breaks off keeps nothing of what was read before', async () => {
    const { outcome, progress, inForce } = await run([...many(1_000), 'x'.repeat(200_000)]);
    expect(outcome).toMatchObject({
      outcome: 'unread',
      why: { reason: 'The file could not be read: a line is too long.' },
    });
    expect(progress).toEqual([1_000]);
    expect(inForce).toBe(0);
  });

  test('of a missing file is unread and begins nothing', async () => {
    const { outcome, inForce } = await run([], { path: join(folder, 'elsewhere.jsonl') });
    expect(outcome).toMatchObject({
      outcome: 'unread',
      why: { reason: 'The file could not be read: there is no such file.' },
    });
    expect(inForce).toBe(0);
  });

  test('into a store that falls silent is unread', async () => {
    const { outcome } = await run([row(A)], { silent: true });
    expect(outcome).toMatchObject({
      outcome: 'unread',
      why: { reason: 'The store of the exchange-wallet table could not be read: it is down.' },
    });
  });

  test('that is stopped keeps nothing', async () => {
    const { outcome, inForce } = await run([row(A)], { signal: AbortSignal.abort() });
    expect(outcome).toEqual({ outcome: 'stopped' });
    expect(inForce).toBe(0);
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
