// A block that files tell cut is never counted as held, however they tell it: by traces, by
// transactions, or under the header of another block.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BulkImportOrder } from '../../../ports/indexing.ts';
import { freshFolder, imported, KeptFacts, recordOf } from './bulk-import.suite.ts';

const word = (n: number, chars: number) => `0x${n.toString(16).padStart(chars, '0')}`;
/** Three blocks of three transactions, each with two calls within; the second of them is cut. */
const BLOCKS = [700, 701, 702] as const;
const CUT = 701;
const TXS = [0, 1, 2] as const;
/** Between the last reward and the first withdrawal. */
const TIME = 1_670_000_000;

type Row = Readonly<Record<string, string | number>>;
type Files = { readonly blocks: readonly Row[]; readonly rows: readonly Row[] };

const tx = (block: number, at: number) => word(block * 10 + at, 64);
const parties = (at: number) => ({
  from_address: word(at + 1, 40),
  to_address: word(at + 2, 40),
});
const headers: readonly Row[] = BLOCKS.map((number) => ({
  number,
  hash: word(number, 64),
  parent_hash: word(number - 1, 64),
  timestamp: TIME + number,
  transaction_count: TXS.length,
}));

const TRACED: Files = {
  blocks: headers,
  rows: BLOCKS.flatMap((block) =>
    TXS.flatMap((at) =>
      ['', '0', '0,0'].map((trace_address, depth) => ({
        block_number: block,
        transaction_hash: tx(block, at),
        ...parties(at),
        value: 5,
        trace_type: 'call',
        call_type: 'call',
        subtraces: depth === 2 ? 0 : 1,
        trace_address,
        error: '',
        status: 1,
      })),
    ),
  ),
};
const SENT: Files = {
  blocks: headers,
  rows: BLOCKS.flatMap((block) =>
    TXS.map((at) => ({
      hash: tx(block, at),
      nonce: at,
      block_hash: word(block, 64),
      block_number: block,
      transaction_index: at,
      ...parties(at),
      value: 5,
      gas: 1,
      gas_price: 1,
      input: '0x',
      receipt_status: 1,
    })),
  ),
};

const isCut = (row: Row) => row['block_number'] === CUT || row['number'] === CUT;
const withRows =
  (change: (rows: readonly Row[]) => readonly Row[]) =>
  ({ blocks, rows }: Files): Files => ({
    blocks,
    rows: [...rows.filter((row) => !isCut(row)), ...change(rows.filter(isCut))],
  });
const withHeader =
  (change: Row) =>
  ({ blocks, rows }: Files): Files => ({
    blocks: blocks.map((row) => (isCut(row) ? { ...row, ...change } : row)),
    rows,
  });
const altered = (at: number, change: Row) => (rows: readonly Row[]) =>
  rows.map((row, i) => (i === at ? { ...row, ...change } : row));
const without = (...places: number[]) =>
  withRows((rows) => rows.filter((_, at) => !places.includes(at)));

type Cut = readonly [what: string, files: Files, cut: (files: Files) => Files];

const CUTS: readonly Cut[] = [
  ['traces without the first root', TRACED, without(0)],
  ['traces without the first transaction', TRACED, without(0, 1, 2)],
  ['traces without a transaction in the middle', TRACED, without(3, 4, 5)],
  ['traces without the last transaction', TRACED, without(6, 7, 8)],
  ['traces without a call in the middle', TRACED, without(4)],
  ['traces without the innermost call', TRACED, without(5)],
  ['traces without the last call', TRACED, without(8)],
  ['no trace at all', TRACED, withRows(() => [])],
  ['traces of which one tells no number of calls', TRACED, withRows(altered(4, { subtraces: '' }))],
  ['traces of which one is refused', TRACED, withRows(altered(4, { value: '1.5' }))],
  [
    'a transaction’s traces in the place of another’s',
    TRACED,
    withRows((rows) => [...rows.slice(0, 3), ...rows.slice(0, 3), ...rows.slice(6)]),
  ],
  ['a header that counts one more', TRACED, withHeader({ transaction_count: TXS.length + 1 })],
  ['a header that counts nothing', TRACED, withHeader({ transaction_count: '' })],
  ['transactions without the first', SENT, without(0)],
  ['transactions without one in the middle', SENT, without(1)],
  ['transactions without the last', SENT, without(2)],
  ['a transaction without its status', SENT, withRows(altered(1, { receipt_status: '' }))],
  ['a transaction that is refused', SENT, withRows(altered(1, { from_address: '0x' }))],
  ['the header of another block', SENT, withHeader({ hash: word(9_999, 64) })],
];

async function csv(path: string, rows: readonly Row[]): Promise<string> {
  const columns = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => columns.map((name) => `"${String(row[name])}"`).join(','));
  await writeFile(path, `${[columns.join(','), ...lines].join('\n')}\n`);
  return path;
}

async function heldOf(files: Files, how: Partial<BulkImportOrder> = {}) {
  const folder = await freshFolder();
  const store = new KeptFacts();
  const paths = [
    await csv(join(folder, 'blocks.csv'), files.blocks),
    await csv(join(folder, 'rows.csv'), files.rows),
  ];
  const record = recordOf(await imported(store, paths, { folder, ...how }));
  const held = store.ranges.flatMap(({ kind, from_block, to_block }) =>
    BLOCKS.filter((block) => block >= from_block && block <= to_block).map(
      (block) => `${kind} ${block}`,
    ),
  );
  return { held: held.sort(), record };
}

describe('a cut block in files', () => {
  test('is none where nothing is cut: then all three are held', async () => {
    expect((await heldOf(TRACED)).held).toEqual([
      ...BLOCKS.map((block) => `internal ${block}`),
      ...BLOCKS.map((block) => `native ${block}`),
    ]);
    expect((await heldOf(SENT)).held).toEqual(BLOCKS.map((block) => `native ${block}`));
  });

  test.each(CUTS)('is not held: %s', async (_, files, cut) => {
    const { held } = await heldOf(cut(files));
    expect(held.filter((one) => one.endsWith(String(CUT)))).toEqual([]);
    expect(held).toContain('native 700');
    expect(held).toContain('native 702');
  });

  test('is not held of another chain, which its rows name', async () => {
    const rows = SENT.rows.map(({ hash, ...row }) => ({
      ...row,
      transaction_hash: String(hash),
      success: 'true',
      chain_id: isCut(row) ? 137 : 1,
    }));
    const { held, record } = await heldOf({ blocks: headers, rows });
    expect(held).toEqual(['native 700', 'native 702']);
    expect([...record.refused]).toEqual([['other_chain', TXS.length]]);
  });

  test('is not held on anybody’s word where a row of it is refused', async () => {
    const declared = { from_block: 700, to_block: 702 };
    const files = withRows(altered(4, { value: '1.5' }))(TRACED);
    const { held } = await heldOf(files, { declared });
    expect(new Set(held)).toEqual(
      new Set(['internal 700', 'internal 702', 'native 700', 'native 702']),
    );
  });
});
