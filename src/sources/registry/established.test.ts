// The reviewed list of established tokens is used whole or not at all, and each of its rows is an
// address as its chain writes it.

import { expect, test } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { csvTable } from '../files/csv.ts';
import { establishedRows, establishedTokens } from './registry-files.ts';

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

test('a file that cannot be used leaves the list unread, never empty', async () => {
  const nowhere = establishedTokens(new URL('nowhere.csv', FILE));
  expect(await nowhere.among([])).toBeInstanceOf(Unread);
});
