// An import that ends anywhere and is begun again comes to the same, and holds what it may.

import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { trialsOf } from '../../../testing/trials.ts';
import { lostAt } from '../engine/lost-writes.suite.ts';
import { warehouseHistory } from '../history/warehouse.ts';
import { transferStore } from '../transfers/store.ts';
import {
  emptied,
  freshFolder,
  imported,
  importedInto,
  KeptFacts,
  NOW,
  recordOf,
} from './bulk-import.suite.ts';
import { bulkImporter } from './bulk-import.ts';
import {
  BLOCKS,
  exported,
  exportedInHalves,
  heldIn,
  mustHoldWhatCounts,
  word,
} from './interrupted.suite.ts';

const CALL = { timeoutMs: 60_000 };
/** More writes than the import takes, and how many are passed over between two that are lost. */
const WRITES_MAX = 400;
const WRITES_STEP = trialsOf('EXHIBIT_IMPORT_LOST_EVERY', 16, 1);
const kinds = (store: KeptFacts) =>
  store.ranges.map(({ kind, from_block, to_block }) => `${kind} ${from_block}-${to_block}`);

describe('an import that is begun again', () => {
  test('comes to the same after the warehouse was lost at any of its writes', async () => {
    const warehouse = await freshWarehouse();
    const folder = await freshFolder();
    const files = await exportedInHalves(folder);
    const record = recordOf(await importedInto(warehouse, [files], { folder, blockRows: 40 }));
    const whole = await heldIn(warehouse);
    expect(whole.length).toBeGreaterThan(BLOCKS * 3 * 4);
    let points = 0;
    // Not each of them in every run: the engine needs a second for each import.
    for (let write = 1; write < WRITES_MAX; write += WRITES_STEP) {
      await emptied(warehouse);
      const lost = lostAt(warehouse, write, points % 2 === 0 ? 'after' : 'before');
      const first = await importedInto(lost, [files], { folder, blockRows: 40 });
      if (first.outcome.outcome === 'completed') break;
      points += 1;
      await mustHoldWhatCounts(warehouse);
      const again = await importedInto(warehouse, [files], { folder, blockRows: 40 });
      expect(recordOf(again)).toEqual(record);
      expect(await heldIn(warehouse)).toEqual(whole);
    }
    expect(points).toBeGreaterThan(2);
    await warehouse.close();
  }, 600_000);

  test('changes nothing when it is done already, and leaves nothing lying about', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    recordOf(await imported(store, [files], { folder }));
    const before = store.served();
    expect(before).toHaveLength(BLOCKS * 3 * 4);
    recordOf(await imported(store, [files], { folder, blockRows: 25 }));
    expect(store.served()).toEqual(before);
    expect(await readdir(join(folder, 'imports', 'under-way'))).toEqual([]);
    const sql = 'SELECT (SELECT count() FROM import_rows) + (SELECT count() FROM import_facts)';
    const row = z.tuple([z.coerce.number()]);
    const warehouse = await store.warehouse();
    expect(await warehouse.query(sql, { ...CALL, row, tuples: true })).toEqual([[0]]);
  });

  test('comes to the same whatever the order of its rows and files', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    recordOf(await imported(store, [files], { folder }));
    const before = store.served();
    for (const name of ['traces.csv', 'deeper/tokens.csv']) {
      const [heading, ...lines] = (await readFile(join(files, name), 'utf8')).trim().split('\n');
      const [odd, even] = [0, 1].map((rest) => lines.filter((_, at) => at % 2 === rest).reverse());
      const parts = [odd, even, lines].map((part) => `${[heading, ...(part ?? [])].join('\n')}\n`);
      for (const [at, text] of parts.entries()) {
        await writeFile(join(files, `${name.replace('/', '-')}-${at}.csv`), text);
      }
    }
    const shuffled = new KeptFacts();
    recordOf(await imported(shuffled, [files], { folder, blockRows: 25 }));
    expect(shuffled.served()).toEqual(before);
  });

  test('that was stopped says so, and goes on', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    const signal = AbortSignal.abort();
    const { outcome } = await imported(store, [files], { folder, signal });
    expect(outcome).toEqual({ outcome: 'stopped' });
    expect(store.transfers.length).toBe(0);
    expect(recordOf(await imported(store, [files], { folder })).transfers).toBe(BLOCKS * 3 * 4);
  });

  test('beside itself is refused, and beside another one comes to the same', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    const warehouse = await store.warehouse();
    const now = () => NOW;
    const into = { warehouse, store: transferStore(warehouse, now), now };
    const run = bulkImporter(into, join(folder, 'imports'), 25);
    const order = { chain: 'ethereum', origin: 'observed', declared: null } as const;
    const watch = { onNote: () => {}, onProgress: () => {}, signal: new AbortController().signal };
    const asked = (...paths: string[]) => run({ ...order, failed_excluded: false, paths }, watch);
    const [first, second, tokens, traces] = await Promise.all([
      ...[asked(files), asked(files)],
      ...[
        asked(join(files, 'deeper')),
        asked(join(files, 'traces.csv'), join(files, 'blocks.csv')),
      ],
    ]);
    const outcomes = [first, second].map((one) => one?.outcome).sort();
    expect(outcomes).toEqual(['completed', 'unread']);
    expect(traces?.outcome).toBe('completed');
    expect(tokens?.outcome).toBe('completed');
    await store.look();
    expect(store.served()).toHaveLength(BLOCKS * 3 * 4);
    expect(store.served().every(({ initiator }) => initiator !== null)).toBe(true);
  });

  test('of one row, or of none, comes to its end, and never past it or to no number', async () => {
    const heading = 'hash,nonce,from_address,to_address,value,block_number,block_timestamp';
    const sent = `${word(1, 64)},1,${word(1, 40)},${word(2, 40)},7,100,1670000100`;
    for (const lines of [[heading], [heading, sent]]) {
      const folder = await freshFolder();
      const path = join(folder, 'few.csv');
      await writeFile(path, `${lines.join('\n')}\n`);
      const store = new KeptFacts();
      const fractions: number[] = [];
      const into = await store.warehouse();
      const run = bulkImporter(
        { warehouse: into, store: transferStore(into, () => NOW), now: () => NOW },
        join(folder, 'imports'),
      );
      const order = { chain: 'ethereum', origin: 'observed', declared: null } as const;
      await run(
        { ...order, failed_excluded: false, paths: [path] },
        {
          onNote: () => undefined,
          onProgress: (progress) => {
            if (progress.phase === 'importing') fractions.push(progress.fraction);
          },
          signal: new AbortController().signal,
        },
      );
      expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
      expect(fractions.every((one) => one >= 0 && one <= 1)).toBe(true);
      expect(fractions.at(-1)).toBe(lines.length === 1 ? 0.5 : 1);
    }
  });

  test('makes its chain one of those that are read before it has written a row', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    const warehouse = await store.warehouse();
    const history = warehouseHistory(warehouse, () => NOW);
    const chains = async () => {
      const reading = await history.chainsRead();
      return reading.checked ? reading.value : reading.why;
    };
    expect(await chains()).toEqual([]);
    const seen: unknown[] = [];
    const looking = {
      ...warehouse,
      commandFile: async (...asked: Parameters<typeof warehouse.commandFile>) => {
        seen.push(await chains());
        await warehouse.commandFile(...asked);
      },
    };
    recordOf(await importedInto(looking, [files], { folder, chain: 'base' }));
    expect(seen).toEqual([['base'], ['base'], ['base']]);
  });
});

describe('what is recorded as held in full', () => {
  test('coins of blocks whose every transaction and call is there; tokens on nobody’s word', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    recordOf(await imported(store, [await exported(folder)], { folder, blockRows: 30 }));
    expect(kinds(store)).toEqual(['native 100-111', 'internal 100-111']);
    expect(store.ranges[0]?.to_time).toBe(1_670_000_111);
  });

  test('not the block of which one call is missing', async () => {
    const folder = await freshFolder();
    const tx = word(1041, 64);
    const missing = `104,${tx},${word(2, 40)},${word(3, 40)},8,call,call,0,0,,1`;
    const files = await exported(folder, [missing]);
    const store = new KeptFacts();
    recordOf(await imported(store, [files], { folder }));
    expect(kinds(store)).toEqual([
      ...['native 100-103', 'internal 100-103', 'native 105-111', 'internal 105-111'],
    ]);
  });

  test('no block of files that are of another fork than the one held, declared or not', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const other = join(folder, 'other.csv');
    const heading = 'number,hash,parent_hash,timestamp,transaction_count';
    await writeFile(other, `${heading}\n104,${word(9_104, 64)},,1670000104,3\n`);
    recordOf(await imported(store, [other], { folder }));
    const declared = { from_block: 100, to_block: 111 };
    const done = await imported(store, [await exported(folder)], { folder, declared });
    // Its traces and tokens: twelve transfers of the block of which another header is held.
    expect(recordOf(done).of_another_fork).toBe(12);
    expect(kinds(store)).toEqual([
      ...['native 100-103', 'internal 100-103', 'native 105-111', 'internal 105-111'],
    ]);
    expect(store.transfers.some(({ block }) => block === 104)).toBe(false);
    expect(done.notes.join()).toContain('Another fork');
  });

  test('what the operator declares, but not the block of which a row was refused', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const bad = `${word(9, 40)},${word(1, 40)},${word(2, 40)},0.5,${word(1, 64)},0,106`;
    const path = join(files, 'more-tokens.csv');
    const heading = 'token_address,from_address,to_address,value,transaction_hash,log_index';
    await writeFile(path, `${heading},block_number\n${bad}\n`);
    const store = new KeptFacts();
    const declared = { from_block: 100, to_block: 111 };
    recordOf(await imported(store, [files], { folder, declared }));
    expect(kinds(store).filter((line) => line.startsWith('token'))).toEqual([
      ...['token 100-105', 'token 107-111'],
    ]);
    // A row that names no block may be of any: then no block is whole.
    await writeFile(path, `${heading},block_number\n${bad.replace(/106$/, '')}\n`);
    const other = new KeptFacts();
    recordOf(await imported(other, [files], { folder, declared }));
    expect(kinds(other)).not.toContainEqual(expect.stringContaining('token'));
  });

  test('coins that the operator declares, unless one transaction does not tell its success', async () => {
    const folder = await freshFolder();
    const sent = (block: number, status: string) =>
      `${word(block, 64)},1,${word(1, 40)},${word(2, 40)},7,${block},${1_670_000_000 + block},${status}`;
    const heading = 'hash,nonce,from_address,to_address,value,block_number,block_timestamp';
    const declared = { from_block: 100, to_block: 102 };
    const heldOf = async (name: string, statuses: readonly string[]) => {
      const path = join(folder, name);
      const lines = statuses.map((status, at) => sent(100 + at, status));
      await writeFile(path, `${[`${heading},receipt_status`, ...lines].join('\n')}\n`);
      const store = new KeptFacts();
      const { notes } = await imported(store, [path], { folder, declared });
      return { held: kinds(store), isNoted: notes.some((line) => line.startsWith('native: ')) };
    };
    const told = { held: ['native 100-102'], isNoted: false };
    expect(await heldOf('told.csv', ['1', '0', '1'])).toEqual(told);
    expect(await heldOf('untold.csv', ['1', '', '1'])).toEqual({ held: [], isNoted: true });
  });
});

describe('files that cannot be imported', () => {
  const reason = async (paths: readonly string[], folder: string) => {
    const { outcome } = await imported(new KeptFacts(), paths, { folder });
    return outcome.outcome === 'unread' ? outcome.why.reason : outcome.outcome;
  };

  test('unknown columns are named, beside those that were expected', async () => {
    const folder = await freshFolder();
    const path = join(folder, 'odd.csv');
    await writeFile(path, 'colour,size\nred,3\n');
    const said = await reason([path], folder);
    expect(said).toContain('Seen: colour, size.');
    expect(said).toContain('transaction_hash');
  });

  test('an address, a missing file, and a damaged one are each told as what they are', async () => {
    const folder = await freshFolder();
    expect(await reason(['https://example.org/a.csv'], folder)).toContain('this is an address');
    expect(await reason([join(folder, 'none.csv')], folder)).toContain('there is no such file');
    expect(await reason([join(folder, '*.none')], folder)).toContain('there is no file there');
    const json = join(folder, 'cut.json');
    await writeFile(json, '{"number":1,"hash":"0x","timestamp":1}\n{"number":2,"ha');
    expect(await reason([json], folder)).toContain('cut.json: not one JSON object on each line');
    const parquet = join(folder, 'cut.parquet');
    await writeFile(parquet, 'PAR1 and then nothing');
    expect(await reason([parquet], folder)).toContain('cut.parquet: the file cannot be read');
    const binary = join(folder, 'x.csv');
    await writeFile(binary, Buffer.from([1, 0, 2, 0]));
    expect(await reason([binary], folder)).toContain('x.csv: no Parquet, CSV or JSON lines');
  });

  test('links are followed and each file is read once, whatever its name', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const odd = join(folder, "it's {odd} *");
    await symlink(files, odd);
    await symlink(join(files, 'traces.csv'), join(files, 'again.csv'));
    const record = recordOf(await imported(new KeptFacts(), [odd, files], { folder }));
    expect(record.files.map(({ name }) => name).sort()).toEqual([
      'blocks.csv',
      'tokens.csv',
      'traces.csv',
    ]);
  });
});
