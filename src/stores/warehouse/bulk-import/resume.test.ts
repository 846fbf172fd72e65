// An import that ends anywhere and is begun again comes to the same, and holds what it may.
import { spawn } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder, imported, KeptFacts, recordOf } from './bulk-import.suite.ts';

const word = (n: number, chars: number) => `0x${n.toString(16).padStart(chars, '0')}`;
const BLOCKS = 12;
const FIRST = 100;

/** An export of blocks of three transactions, each with a call within, in three files. */
async function exported(folder: string, without: readonly string[] = []): Promise<string> {
  const files = join(folder, 'export');
  await mkdir(join(files, 'deeper'), { recursive: true });
  const blocks = ['number,hash,parent_hash,timestamp,transaction_count'];
  const traces = [
    'block_number,transaction_hash,from_address,to_address,value,trace_type,call_type,' +
      'subtraces,trace_address,error,status',
  ];
  const tokens = [
    'token_address,from_address,to_address,value,transaction_hash,log_index,block_number',
  ];
  for (let block = FIRST; block < FIRST + BLOCKS; block += 1) {
    // On a day after rewards and before withdrawals.
    blocks.push(`${block},${word(block, 64)},${word(block - 1, 64)},${1_670_000_000 + block},3`);
    for (let at = 0; at < 3; at += 1) {
      const tx = word(block * 10 + at, 64);
      const ends = `${word(at + 1, 40)},${word(at + 2, 40)}`;
      traces.push(`${block},${tx},${ends},7,call,call,1,,,1`);
      traces.push(`${block},${tx},${ends},8,call,call,0,0,,1`);
      tokens.push(
        `${word(9, 40)},${ends},5,${tx},0,${block}`,
        `${word(9, 40)},${ends},5,${tx},1,${block}`,
      );
    }
  }
  const kept = traces.filter((line) => !without.includes(line));
  await writeFile(join(files, 'blocks.csv'), `${blocks.join('\n')}\n`);
  await writeFile(join(files, 'traces.csv'), `${kept.join('\n')}\n`);
  await writeFile(join(files, 'deeper', 'tokens.csv'), `${tokens.join('\n')}\n`);
  return files;
}

const kinds = (store: KeptFacts) =>
  store.ranges.map(({ kind, from_block, to_block }) => `${kind} ${from_block}-${to_block}`);

describe('an import that is begun again', () => {
  test('comes to the same after the store fell silent at any of its parts', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const whole = new KeptFacts();
    const record = recordOf(await imported(whole, [files], { folder, chunkRows: 40 }));
    expect(whole.appends).toBeGreaterThan(3);
    for (const failAt of [1, 2, 4]) {
      const store = new KeptFacts();
      store.failAt = failAt;
      const first = await imported(store, [files], { folder, chunkRows: 40 });
      expect(first.outcome.outcome).toBe('unread');
      expect(store.ranges).toEqual([]);
      const again = await imported(store, [files], { folder, chunkRows: 40 });
      expect(recordOf(again)).toEqual(record);
      expect(store.served()).toEqual(whole.served());
      expect(store.ranges).toEqual(whole.ranges);
      // One part was written twice, none was left out, and nothing was begun anew.
      expect(store.appends).toBe(whole.appends + 1);
    }
  });

  test('changes nothing when it is done already, and leaves nothing lying about', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    recordOf(await imported(store, [files], { folder }));
    const before = store.served();
    expect(before).toHaveLength(BLOCKS * 3 * 4);
    recordOf(await imported(store, [files], { folder, chunkRows: 25 }));
    expect(store.served()).toEqual(before);
    expect(await readdir(join(folder, 'imports', 'under-way'))).toEqual([]);
  });

  test('that was stopped says so, and goes on', async () => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const store = new KeptFacts();
    const signal = AbortSignal.abort();
    const { outcome } = await imported(store, [files], { folder, signal });
    expect(outcome).toEqual({ outcome: 'stopped' });
    expect(store.transfers.size).toBe(0);
    expect(recordOf(await imported(store, [files], { folder })).transfers).toBe(BLOCKS * 3 * 4);
  });

  test('a second one beside it is refused', async () => {
    const { bulkImporter } = await import('./bulk-import.ts');
    const folder = await freshFolder();
    const files = await exported(folder);
    const run = bulkImporter(new KeptFacts(), join(folder, 'imports'));
    const order = { paths: [files], chain: 'ethereum', origin: 'observed' } as const;
    const asked = { ...order, declared: null, failed_excluded: false };
    const watch = { onNote: () => {}, onProgress: () => {}, signal: new AbortController().signal };
    const [first, second] = await Promise.all([run(asked, watch), run(asked, watch)]);
    expect(first.outcome).toBe('completed');
    expect(second).toMatchObject({ outcome: 'unread' });
  });
});

/**
 * An import in a process of its own. It tells each transfer that it has handed over, and hangs
 * where it is asked to: after the first file was read, or while its second part is written.
 */
const IMPORTER = `
const [entry, directory, files, hangAt] = process.argv.slice(1);
const { bulkImporter } = await import(entry);
const hang = () => new Promise(() => setInterval(() => {}, 1000));
const say = (line) => process.stdout.write(line + '\\n');
let appends = 0;
const appendImported = async ({ transfers }) => {
  appends += 1;
  for (const one of transfers) say(JSON.stringify([one.tx_hash, one.position, one.kind]));
  if (hangAt === 'write' && appends === 2) { say('hangs'); await hang(); }
  return { checked: true, value: { transfers: 0, creations: 0, of_another_fork: 0 } };
};
const onProgress = ({ phase }) => {
  if (hangAt !== phase) return;
  say('hangs');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
const order = { paths: [files], chain: 'ethereum', origin: 'observed', declared: null };
const blockTimes = async () => ({ checked: true, value: new Map() });
const run = bulkImporter({ appendImported, recordCoverage: hang, blockTimes }, directory, 40);
await run({ ...order, failed_excluded: false }, {
  onNote: say, onProgress, signal: new AbortController().signal,
});
`;
const BUILT = new URL(
  '../../../../dist/stores/warehouse/bulk-import/bulk-import.js',
  import.meta.url,
).href;

/** Starts an import, kills it where it hangs, and answers what it had handed over. */
async function killed(directory: string, files: string, hangAt: string): Promise<string[]> {
  const args = ['--input-type=module', '-e', IMPORTER, BUILT, directory, files, hangAt];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  for await (const piece of child.stdout) {
    said += String(piece);
    if (said.includes('hangs')) child.kill('SIGKILL');
  }
  expect(said).toContain('hangs');
  return said.split('\n').filter((line) => line.startsWith('['));
}

describe('a process that imports is killed', () => {
  test.each([
    ['while it reads the files', 'reading'],
    ['while it writes', 'write'],
  ])('%s: the next one goes on, and between them they hand over all', async (_, hangAt) => {
    const folder = await freshFolder();
    const files = await exported(folder);
    const before = await killed(join(folder, 'imports'), files, hangAt);
    const store = new KeptFacts();
    const record = recordOf(await imported(store, [files], { folder, chunkRows: 40 }));
    const after = store
      .served()
      .map((one) => JSON.stringify([one.tx_hash, one.position, one.kind]));
    expect(new Set([...before, ...after]).size).toBe(BLOCKS * 3 * 4);
    expect(record.transfers).toBe(BLOCKS * 3 * 4);
    // What was written and counted is not written again; the part under way is.
    const again = before.filter((line) => after.includes(line));
    expect(again.length).toBe(hangAt === 'write' ? before.length / 2 : 0);
    expect(kinds(store)).toEqual(['native 100-111', 'internal 100-111']);
  });
});

describe('what is recorded as held in full', () => {
  test('coins of blocks whose every transaction and call is there; tokens on nobody’s word', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    recordOf(await imported(store, [await exported(folder)], { folder, chunkRows: 30 }));
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
    store.ofAnotherFork = 1;
    const declared = { from_block: 100, to_block: 111 };
    const done = await imported(store, [await exported(folder)], { folder, declared });
    expect(recordOf(done).of_another_fork).toBe(1);
    expect(store.ranges).toEqual([]);
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
