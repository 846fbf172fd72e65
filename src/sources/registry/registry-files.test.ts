// The reviewed list of established tokens is used whole or not at all, and each of its rows is an
// address as its chain writes it.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import { digestsOf, sealRegistry } from '../../testing/reviewed-files.ts';
import { memoryMixerRegistry } from '../../testing/twins/accounts.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/text-lines.ts';
import {
  establishedRows,
  establishedTokens,
  mixerRegistryFile,
  mixerRows,
} from './registry-files.ts';

const FILE = new URL('../../../registry/established-tokens.csv', import.meta.url);
const HEADING = 'symbol,chain,address,source,source_url,reviewed';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const GOOD = ['USDC', 'ethereum', USDC, 'A list', 'https://example.org/list', '2026-11-22'];

const lines = (...rows: (readonly string[])[]) =>
  [HEADING.split(','), ...rows].map((cells, i) => ({ line: i + 1, cells: [...cells] }));

test('the list that comes with the product names tokens of two chains, each of them once', async () => {
  const file = await csvTable(FILE);
  expect(establishedRows(file.lines).size).toBe(file.lines.length - 1);
  const listed = establishedTokens(FILE);
  const usdc = { chain: 'ethereum', token: USDC.toLowerCase() } as const;
  const sol = { chain: 'solana', token: 'So11111111111111111111111111111111111111112' } as const;
  const elsewhere = { ...usdc, chain: 'base' } as const;
  const found = await listed.among([usdc, sol, elsewhere]);
  expect(found.checked && [...found.value]).toEqual([usdc, sol]);
});

test('a row that is wrong in any cell refuses the whole file, by its line', () => {
  expect(establishedRows(lines(GOOD)).size).toBe(1);
  const wrong = [
    ['', 'ethereum', USDC],
    ['USDC', 'solana', USDC],
    ['USDC', 'nowhere', USDC],
    ['USDC', 'ethereum', USDC.toLowerCase()],
    ['USDC', 'ethereum', USDC.slice(0, -1)],
    ['USDC', 'ethereum', USDC, ''],
    ['USDC', 'ethereum', USDC, 'A list', 'http://example.org'],
    ['USDC', 'ethereum', USDC, 'A list', 'https://example.org', '2026-02-30'],
  ];
  for (const cells of wrong) {
    const row = GOOD.map((cell, i) => cells[i] ?? cell);
    expect(() => establishedRows(lines(GOOD, row)), row.join()).toThrow('line 3');
  }
  expect(() => establishedRows(lines(GOOD).slice(1))).toThrow('line 1');
});

test('each file that comes with the product is named by its digest, as `sha256sum *.csv` says it', () => {
  const folder = fileURLToPath(new URL('.', FILE));
  expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(digestsOf(folder));
});

test('a file without digests beside it is not used, and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-registry-'));
  const path = join(folder, 'tokens.csv');
  await writeFile(path, `${HEADING}\n${GOOD.join()}\n`);
  const unsealed = await establishedTokens(path).among([]);
  expect(unsealed instanceof Unread && unsealed.why.reason).toContain('SHA256SUMS');
  sealRegistry(folder);
  expect(await establishedTokens(path).among([])).toBeInstanceOf(Read);
  await rm(folder, { recursive: true });
});

test('a file that cannot be used leaves the list unread, never empty', async () => {
  const nowhere = establishedTokens(new URL('nowhere.csv', FILE));
  expect(await nowhere.among([])).toBeInstanceOf(Unread);
});

describe('mixers', () => {
  const HEADING =
    'protocol,chain,address,role,name,valid_from_block,source,source_url,second_source,reviewed';
  const POOL = '0x47CE0C6eD5B0Ce3d3A51fdb1C52DC66a7c3c2936';
  const ROW = `Tornado Cash,ethereum,${POOL},pool,1 ETH,9117720,A page,https://example.org/a,,2026-11-21`;

  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'exhibit-mixers-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe('the file of the registry', () => {
    test('gives each row with its sources, and null for what it leaves empty', () => {
      expect(mixerRows(`${HEADING}\n${ROW}\n`)).toEqual([
        {
          protocol: 'Tornado Cash',
          chain: 'ethereum',
          address: POOL.toLowerCase(),
          role: 'pool',
          name: '1 ETH',
          valid_from_block: 9_117_720,
          source: 'A page',
          source_url: 'https://example.org/a',
          second_source: null,
          reviewed: '2026-11-21',
        },
      ]);
    });

    test.each([
      ['another heading', ROW],
      ['a wrong checksum', `${HEADING}\n${ROW.replace('47CE', '47ce')}`],
      ['an address of the chain', `${HEADING}\n${ROW.replace(POOL, `0x${'0'.repeat(40)}`)}`],
      ['an unknown chain', `${HEADING}\n${ROW.replace('ethereum', 'solana')}`],
      ['an unknown role', `${HEADING}\n${ROW.replace('pool', 'well')}`],
      ['no source', `${HEADING}\n${ROW.replace('A page', '')}`],
      ['a link that is none', `${HEADING}\n${ROW.replace('https://example.org/a', 'a page')}`],
      ['no day of review', `${HEADING}\n${ROW.replace('2026-11-21', 'today')}`],
      ['a column too few', `${HEADING}\n${ROW.replace(',2026-11-21', '')}`],
      ['the same contract twice', `${HEADING}\n${ROW}\n${ROW}`],
    ])('is refused whole for %s', (_, text) => {
      expect(() => mixerRows(text)).toThrow(FileFault);
    });

    test('is one table, by address and chain', async () => {
      const file = join(folder, 'good.csv');
      await writeFile(file, `${HEADING}\n${ROW}\n${ROW.replace('ethereum', 'bsc')}\n`);
      sealRegistry(folder);
      const reading = await mixerRegistryFile(file).lookUp([POOL.toLowerCase(), '0x1']);
      expect(reading).toBeInstanceOf(Read);
      if (reading instanceof Read) {
        const rows = reading.value.found.get(POOL.toLowerCase());
        expect(rows?.map(({ chain }) => chain)).toEqual(['ethereum', 'bsc']);
        expect(reading.value.found.has('0x1')).toBe(false);
      }
    });

    test('that is missing or wrong is silence, never a registry without mixers', async () => {
      expect(await mixerRegistryFile(join(folder, 'none.csv')).lookUp([])).toBeInstanceOf(Unread);
      const file = join(folder, 'bad.csv');
      await writeFile(file, `${HEADING}\nnonsense\n`);
      const reading = await mixerRegistryFile(file).lookUp([]);
      expect(reading instanceof Unread && reading.why.reason).toContain('line 2');
      const never = memoryMixerRegistry({ rows: null, as_of: 0, simulated: false });
      expect(await never.lookUp([])).toBeInstanceOf(Unread);
    });
  });
});
