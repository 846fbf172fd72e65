// The table of rules is used whole or not at all, and its version names its bytes.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { verdictRulesFile, verdictRulesOf } from './verdict-rules.ts';

const FILE = new URL('../../../registry/verdict-rules.csv', import.meta.url);
const TEXT = readFileSync(FILE, 'utf8');
const [HEADING = '', ...ROWS] = TEXT.trim().split('\n');
const folder = mkdtempSync(join(tmpdir(), 'exhibit-rules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('says', () => {
  test('the rules that ship', async () => {
    const table = await verdictRulesFile(FILE)();
    if (!(table instanceof Read)) throw new Error(table.why.reason);
    expect(table.value.version).toMatch(/^rules-1-[0-9a-f]{12}$/);
    const told = table.value.rules.map(({ name, verdict, confidence_basis, n }) => {
      return [name, verdict, confidence_basis, n];
    });
    expect(told).toEqual([
      ['direct_listing', 'avoid', 'assumed', null],
      ['flagged_row', 'avoid', 'assumed', null],
      ['launches_all_died', 'avoid', 'assumed', null],
      ['solana_all_died', 'avoid', 'assumed', null],
      ['rug_flag', 'avoid', 'assumed', null],
      ['issuer_freeze', 'avoid', 'assumed', null],
    ]);
  });
});

describe('is silent', () => {
  test('about a file that is not the one of SHA256SUMS, and a missing one', async () => {
    const path = join(folder, 'verdict-rules.csv');
    copyFileSync(new URL('SHA256SUMS', FILE), join(folder, 'SHA256SUMS'));
    copyFileSync(FILE, path);
    expect((await verdictRulesFile(path)()).checked).toBe(true);
    writeFileSync(path, TEXT.replace('990000', '990001'));
    expect(await verdictRulesFile(path)()).toHaveProperty('why.code', 'store_unreadable');
    writeFileSync(path, `${HEADING}\n`);
    expect(await verdictRulesFile(path)()).toHaveProperty('why.code', 'store_unreadable');
    rmSync(path);
    expect(await verdictRulesFile(path)()).toHaveProperty('why.code', 'store_unreadable');
  });
});

describe('refuses', () => {
  test.each([
    ['a verdict that there is not', /,avoid,/, ',buy,'],
    ['a key that never supports a verdict', 'sanctions.listed = true', 'cluster.linked = true'],
    ['history as support', 'sanctions.listed = true', 'funding.funded = true'],
    ['a test that is none', 'sanctions.listed = true', 'sanctions.listed'],
    ['another sign', 'sanctions.listed = true', 'sanctions.listed < 3'],
    ['a key that is none', 'sanctions.listed = true', 'Sanctions = true'],
    ['a key that is cited and none', 'sanctions.entries,', 'entries,'],
    [
      'a sentence with a key that it does not rest on',
      'entries of it: {sanctions.entries}',
      '{sanctions.uid}',
    ],
    ['a confidence of one or more', '990000', '1000000'],
    ['a confidence of nothing', '990000', '0'],
    ['a measured one without n', '990000,assumed,', '990000,measured,'],
    ['an assumed one with n', '990000,assumed,', '990000,assumed,12'],
    ['a source without a page', 'https://sanctionslist.ofac.treas.gov/', 'see the list'],
    ['no day of review', '2026-11-25', 'yesterday'],
  ])('%s', (_what, from, to) => {
    const [first = ''] = ROWS;
    expect(() => verdictRulesOf(`${HEADING}\n${first}\n`)).not.toThrow();
    const changed = first.replace(from, to);
    expect(changed).not.toBe(first);
    expect(() => verdictRulesOf(`${HEADING}\n${changed}\n`)).toThrow(/^line 2: /);
  });

  test('two rules of one name, and another heading', () => {
    const [first = ''] = ROWS;
    expect(() => verdictRulesOf(`${HEADING}\n${first}\n${first}\n`)).toThrow('same name');
    expect(() => verdictRulesOf(`${first}\n`)).toThrow('line 1');
  });
});
