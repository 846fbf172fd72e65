import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { isSystemAddress } from '../../chain/address.ts';
import type { TableLine } from '../../ports/tables.ts';
import { SHIPPED_LABEL_COLUMNS, validateShippedLabels } from './labels.ts';

const TABLE = new URL('../../../registry/exchange-wallets.csv', import.meta.url);

const GOOD = {
  chain: 'ethereum',
  address: '0x2222222222222222222222222222222222222223',
  entity: 'Exemplar',
  label: 'Exemplar: Hot Wallet',
  role: 'hot',
  confidence: 'service_data',
  source: 'A pack',
  source_url: 'https://example.org/wallets',
  first_seen: '2022-11-16',
  reviewed: '2026-11-22',
};
type Row = { [C in (typeof SHIPPED_LABEL_COLUMNS)[number]]: string };

function table(...rows: Partial<Row>[]): readonly TableLine[] {
  const lines = rows.map((change) => {
    const row: Row = { ...GOOD, ...change };
    return SHIPPED_LABEL_COLUMNS.map((name) => row[name]);
  });
  return numbered([SHIPPED_LABEL_COLUMNS, ...lines]);
}

function numbered(lines: readonly (readonly string[])[]): readonly TableLine[] {
  return lines.map((cells, i) => ({ line: i + 1, cells }));
}

describe('the table that comes with the product', () => {
  const { rows, refused } = validateShippedLabels(numbered(parse(readFileSync(TABLE))));

  test('holds no row that the rules of an import refuse', () => {
    expect(refused).toEqual([]);
    expect(rows).toHaveLength(422);
  });

  test('names of each row a source with its page and day, and nobody’s address', () => {
    for (const row of rows) {
      expect(row.source).toMatch(/^GraphSense TagPacks: \S+\.yaml$/);
      expect(row.source_url).toMatch(/^https:/);
      expect(row.first_seen < row.reviewed).toBe(true);
      expect(isSystemAddress(row.address)).toBe(false);
    }
  });

  test('names one entity for each address, and links nobody by one', () => {
    const entities = new Map(rows.map(({ address, entity }) => [address, entity]));
    expect(rows.filter(({ address, entity }) => entities.get(address) !== entity)).toEqual([]);
    expect(rows.filter(({ clusterable }) => clusterable)).toEqual([]);
  });
});

describe('a row is refused', () => {
  test.each([
    ['system_address', { address: '0x0000000000000000000000000000000000000000' }],
    ['bad_address', { address: '0x12' }],
    ['wrong_form_for_chain', { chain: 'bitcoin' }],
    ['unknown_role', { role: 'vault' }],
    ['unknown_confidence', { confidence: 'certain' }],
    ['bad_link', { source_url: 'a page' }],
    ['bad_time', { first_seen: '2022-02-30' }],
    ['bad_time', { reviewed: 'today' }],
    ['bad_text', { source: 'x'.repeat(101) }],
    ['bad_text', { label: 'Hot\u202ewallet' }],
    ...SHIPPED_LABEL_COLUMNS.map((name) => ['missing_field', { [name]: ' ' }] as const),
  ] as const)('as %s: %o', (code, change) => {
    const { rows, refused } = validateShippedLabels(table(change));
    expect(rows).toEqual([]);
    expect(refused).toEqual([expect.objectContaining({ line: 2, code })]);
  });

  test('that repeats the address of an earlier one on its chain, in whatever case', () => {
    const capitals = GOOD.address.toUpperCase().replace('0X', '0x');
    const twice = table({}, { address: capitals }, { chain: 'bsc' });
    const { rows, refused } = validateShippedLabels(twice);
    expect(rows.map(({ chain }) => chain)).toEqual(['ethereum', 'bsc']);
    expect(refused).toMatchObject([{ line: 3, chain: 'ethereum', code: 'duplicate' }]);
  });

  test('with a value too few; another heading is no such table', () => {
    const short = [SHIPPED_LABEL_COLUMNS, Object.values(GOOD).slice(1)];
    expect(validateShippedLabels(numbered(short)).refused).toMatchObject([
      { line: 2, code: 'unreadable_row' },
    ]);
    expect(() => validateShippedLabels([])).toThrow(RangeError);
    expect(() => validateShippedLabels(numbered([['chain', 'address']]))).toThrow(RangeError);
  });
});
