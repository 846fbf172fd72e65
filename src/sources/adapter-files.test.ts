// Every adapter of files, asked about a whole file and about the same file cut or replaced at many
// places: nothing that is not whole is read, and no adapter throws.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { Part, part, Read, read, Unread, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { type BitcoinBlock, BlocksFault } from '../ports/entities.ts';
import type { BrokenRow, RawRow } from '../ports/tables.ts';
import { bitcoinChain } from '../testing/bitcoin-chain.ts';
import { contract, NOW } from '../testing/canned-nodes.ts';
import { sealRegistry } from '../testing/reviewed-files.ts';
import { artefactText, SMALL_MODEL } from '../testing/rug-models.ts';
import { BAD_GATEWAY_PAGE } from '../world/stand-in.ts';
import { etlFiles } from './bitcoin/etl-files.ts';
import { localTableFiles } from './files/files.ts';
import { readModelFile } from './files/model-artefact.ts';
import { receiptsFolder } from './files/receipts-folder.ts';
import { fileMirror, spoolIn } from './ofac/publisher.ts';
import { CONTAINER_LIMITS, readPublication } from './ofac/read-publication.ts';
import * as registries from './registry/registry-files.ts';

const now = () => NOW;
const SIGNAL = new AbortController().signal;
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});
const BITCOIN = bitcoinChain(Array.from({ length: 8 }, () => []));
const registry = (name: string) => new URL(`../../registry/${name}.csv`, import.meta.url);
const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'exhibit-test-adapters-'));
  closing.push(() => rm(path, { recursive: true }));
  return path;
};

const BRIDGE_COLUMNS = 10;
const BRIDGE = {
  chain: 'ethereum',
  address: contract,
  protocol: 'across',
  name: 'Pool',
  role: 'token',
  valid_from_block: null,
  also_on: [],
  sources: ['docs'],
  reviewed: '2026-11-01',
  note: null,
} as const;
/** The rules of the feature in one: a row of other columns is refused. */
const bridges = (path: string) =>
  registries
    .fileBridgeRegistry(path, ([, ...lines]) => {
      const refused = lines.filter(({ cells }) => cells.length !== BRIDGE_COLUMNS);
      const code = 'unreadable_row';
      return {
        rows: lines.map(() => BRIDGE),
        refused: refused.map(({ line }) => ({ line, chain: '', address: '', code, reason: code })),
      };
    })
    .table();
const FILES: readonly (readonly [
  name: string,
  whole: string,
  ask: (path: string) => Promise<unknown>,
])[] = [
  ['mixers', csvOf('mixers'), (path) => registries.mixerRegistryFile(path).lookUp([])],
  ['issuers', csvOf('issuer-freezes'), (path) => registries.freezingTokensFile(path)()],
  ['Permit2', csvOf('permit2'), (path) => registries.permit2File(path)()],
  ['relays', csvOf('relays'), (path) => registries.relaysFile(path)()],
  ['launchpads', csvOf('launchpads'), (path) => registries.launchpadRegistry(path).among([])],
  [
    'established tokens',
    csvOf('established-tokens'),
    (path) => registries.establishedTokens(path).among([]),
  ],
  ['bridges', csvOf('bridge-contracts'), bridges],
  ['a model', artefactText(SMALL_MODEL), readModelFile],
];
function csvOf(name: string): string {
  return readFileSync(registry(name), 'utf8');
}

describe.each(FILES)('the file of %s', (_, text, ask) => {
  test('is read where it is whole, and nowhere else', async () => {
    const path = join(await folder(), 'file.csv');
    await writeFile(path, text);
    sealRegistry(dirname(path));
    expect(await ask(path)).toBeInstanceOf(Read);
    const lines = text.trimEnd().split('\n');
    for (const kept of [lines.length - 1, Math.floor(lines.length / 2)]) {
      // Each row of it is right: only the digest of the whole shows the cut.
      await writeFile(path, `${lines.slice(0, kept).join('\n')}\n`);
      expect(await ask(path), `cut after line ${kept}`).toBeInstanceOf(Unread);
    }
    const broken = [
      '',
      String(lines[0]).slice(0, 100),
      text.slice(0, -20),
      BAD_GATEWAY_PAGE,
      '{}',
      `${text}\n"`,
    ];
    for (const one of broken) {
      await writeFile(path, String(one));
      sealRegistry(dirname(path));
      expect(await ask(path), String(one).slice(0, 20)).toBeInstanceOf(Unread);
    }
  });
});

const TAG = { address: contract, label: 'Pool', source: 'https://example.org/a' };
const WALLET = {
  id: 'w',
  schema: 'CryptoWallet',
  properties: { publicKey: [contract], holder: ['p'] },
};
const HOLDER = { id: 'p', schema: 'Person', properties: { name: ['Somebody'] } };
const toLines = (rows: readonly unknown[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const TABLES = {
  'table.csv': `address,label,source\n${`${contract},Pool,"https://example.org/a"\n`.repeat(3)}`,
  'table.jsonl': toLines([TAG, TAG, TAG]),
  'table.json': JSON.stringify([TAG, TAG, TAG]),
  'entities.json': toLines([HOLDER, WALLET]),
  'pack.yaml': `title: A pack\ncurrency: ETH\ntags:\n- {address: "${contract}", label: "Pool"}\n`,
};
const HEADS = ['id: a', 'title: A case', 'date: 2026-10-02', 'description: Seen.'];
const ABOUT = [`subject: "${contract}"`, `deployer: "${contract}"`, 'kind: wallet'];
const HEAD_OF_RECEIPT = ['---', ...HEADS, ...ABOUT, 'status: published', '---', ''].join('\n');
const ETL = BITCOIN.etl();
const etlText = (lines: readonly string[]) => Buffer.from(`${lines.join('\n')}\n`);
const recording = (name: string) =>
  readFileSync(new URL(`./ofac/recordings/${name}`, import.meta.url));

type OnDisk = {
  readonly name: string;
  readonly files: Readonly<Record<string, Uint8Array | string>>;
  readonly ask: (folder: string, file: string) => Promise<unknown>;
  /**
   * The remainder of a file after a cut that its format cannot show, and the reason why it need
   * not.
   */
  readonly spared?: (left: string) => boolean;
};

const FAULT = why('file_unreadable', { fault: 'told' });
const ORIGIN = {
  port: 'table_file',
  source: { name: 'file', url: 'x:', as_of: NOW, kind: 'table', simulated: false },
} as const;

async function askTable(folder: string, file: string): Promise<unknown> {
  const opened = await localTableFiles().open(join(folder, file));
  if (!(opened instanceof Read)) return opened;
  const rows: (RawRow | BrokenRow)[] = [];
  for await (const batch of opened.value.rows()) {
    if (!(batch instanceof Read)) return batch;
    rows.push(...batch.value);
  }
  // An import names each row that is broken or lacks what it must have, and refuses a file of none.
  const isTold =
    rows.length === 0 || rows.some((row) => 'problem' in row || !row.fields.has('address'));
  return isTold ? part(rows, ORIGIN, FAULT) : read(rows, ORIGIN);
}

async function askEtl(folder: string): Promise<unknown> {
  const blocks: BitcoinBlock[] = [];
  try {
    for await (const one of etlFiles([folder]).blocks(SIGNAL)) blocks.push(one);
  } catch (error) {
    if (!(error instanceof BlocksFault)) throw error;
    return unread('entity_blocks', why('file_unreadable', { fault: error.fault }));
  }
  // A block that did not come whole is held as open, and one that did not come is not held.
  const all = blocks.length === BITCOIN.blocks.length && blocks.every(({ whole }) => whole);
  return all ? read(blocks, ORIGIN) : part(blocks, ORIGIN, FAULT);
}

async function askReceipts(folder: string): Promise<unknown> {
  const files = await receiptsFolder({ folder, simulated: false, now }).files();
  if (!(files instanceof Read)) return files;
  const isWhole = files.value.length > 0 && files.value.every(({ state }) => state === 'published');
  return isWhole ? files : part(files.value, ORIGIN, FAULT);
}

async function askMirror(folder: string, file: string): Promise<unknown> {
  const url = pathToFileURL(join(folder, file));
  const mirror = fileMirror({ url, spool: spoolIn(join(folder, 'spool')), now, obtained_at: null });
  const told = await mirror.deliver(null, SIGNAL);
  if (!told.checked || told.value.kind !== 'file') return told;
  const { path } = told.value.file;
  const list = await readPublication(path, { isKnownForm: () => true, limits: CONTAINER_LIMITS });
  return 'reason' in list
    ? unread('publisher', why('file_unreadable', { fault: list.code }))
    : told;
}

const ON_DISK: readonly OnDisk[] = [
  ...Object.entries(TABLES).map(([file, text]) => ({
    name: `the table ${file}`,
    files: { [file]: text },
    ask: askTable,
    // Lines that end are a shorter file of lines: an import holds the count against the one before.
    // The last cell of CSV may be empty.
    spared: (left: string) => text.startsWith(`${left.trimEnd()}\n`) || left.endsWith(',Pool,'),
  })),
  {
    name: 'files of bitcoin-etl',
    files: { 'blocks.json': etlText(ETL.blocks), 'transactions.json': etlText(ETL.transactions) },
    ask: askEtl,
  },
  {
    name: 'packed files of bitcoin-etl',
    files: {
      'blocks.json.gz': gzipSync(etlText(ETL.blocks)),
      'transactions.json.gz': gzipSync(etlText(ETL.transactions)),
    },
    ask: askEtl,
  },
  {
    name: 'a receipt of a folder',
    files: { 'a.md': `${HEAD_OF_RECEIPT}A text for people.\n` },
    ask: askReceipts,
    // All that a receipt is found by stands in its head; the text below it has no end of its own.
    spared: (left) => left.length > HEAD_OF_RECEIPT.length,
  },
  ...['sdn.xml', 'sdn-advanced.xml'].map((file) => ({
    name: `a mirror that is the file ${file}`,
    files: { [file]: recording(file) },
    ask: askMirror,
  })),
];
const CUTS = 97;

describe.each(ON_DISK)('on disk, $name', ({ files, ask, spared }) => {
  test.each(Object.keys(files))('is read where %s is whole, and nowhere else', async (file) => {
    const place = await folder();
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(place, name), bytes);
    expect(await ask(place, file)).toBeInstanceOf(Read);
    const bytes = Buffer.from(files[file] ?? '');
    const length = bytes.toString('latin1').trimEnd().length;
    const cuts = Array.from({ length: CUTS }, (_, i) => Math.floor((length * i) / CUTS));
    const broken = new Map<string, string | Buffer>([
      ...cuts.map((at) => [`cut after ${at} bytes`, bytes.subarray(0, at)] as const),
      ['HTML', BAD_GATEWAY_PAGE],
      ['an error', '{"error":{"code":-32603,"message":"Internal error"}}'],
      ['null', 'null\n'],
      ['an object without members', '{}\n'],
    ]);
    const wrong: string[] = [];
    for (const [damage, left] of broken) {
      if (left instanceof Buffer && spared?.(left.toString()) === true) continue;
      await writeFile(join(place, file), left);
      const told = await ask(place, file);
      if (!(told instanceof Part || told instanceof Unread)) wrong.push(damage);
    }
    await rm(join(place, file));
    const told = await ask(place, file);
    if (!(told instanceof Part || told instanceof Unread)) wrong.push('no file');
    expect(wrong).toEqual([]);
  });
});
