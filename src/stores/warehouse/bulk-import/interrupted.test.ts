import { spawn } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BulkImportOrder } from '../../../ports/indexing.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { trialsOf } from '../../../testing/trials.ts';
import { type EmbeddedWarehouse, openEmbedded } from '../engine/embedded.ts';
import { WarehouseUnavailable } from '../engine/executor.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import {
  emptied,
  freshFolder,
  imported,
  importedInto,
  KeptFacts,
  NOW,
  recordOf,
} from './bulk-import.suite.ts';
import { exportedInHalves, heldIn, mustHoldWhatCounts, word } from './interrupted.suite.ts';

describe('cut files', () => {
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
    [
      'traces of which one tells no number of calls',
      TRACED,
      withRows(altered(4, { subtraces: '' })),
    ],
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
});

/** At which writes a process is killed: a few in each run, all of them up to a number on demand. */
const KILLS = trialsOf('EXHIBIT_IMPORT_KILLS', 0, 40);
const KILLED_AT = KILLS > 0 ? Array.from({ length: KILLS }, (_, at) => at + 1) : [9, 24, 40];
/** How long they may take on a machine that does other things too: two minutes each. */
const KILLS_MS_MAX = KILLED_AT.length * 120_000;

/** A process that imports, and kills itself at one of its writes. */
const IMPORTER = `
const [dist, directory, files, at] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { openEmbedded } = await load('stores/warehouse/engine/embedded.js');
const { transferStore } = await load('stores/warehouse/transfers/store.js');
const { bulkImporter } = await load('stores/warehouse/bulk-import/bulk-import.js');
const opened = await openEmbedded(directory + '/store');
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
        const opened = await openEmbedded(join(folder, 'store'));
        await migrateWarehouse(opened, resolve('migrations/warehouse'), { simulated: false });
        await opened.close();
        const said = await killedAt(folder, files, write);
        const left = await openEmbedded(join(folder, 'store'));
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

describe('read ahead', () => {
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
});
