import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { BRIDGE_CHAINS, BRIDGE_PROTOCOLS, BRIDGE_ROLES } from '../../ports/bridges.ts';
import type { TableLine } from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import {
  familyOf,
  movesAssets,
  REGISTRY_COLUMNS,
  registryIndex,
  validateRegistry,
} from './registry.ts';

const TABLE = new URL('../../../registry/bridge-contracts.csv', import.meta.url);
const CANDIDATES = join(SHARED_DATA, 'bridges/registry_candidates.csv');

function checksummed(text: string): string {
  const address = parseEvmAddress(text);
  return address === null ? text : checksumAddress(address);
}

const GOOD = {
  chain: 'ethereum',
  address: checksummed(evm('bridge')),
  protocol: 'hop',
  name: 'Bridge',
  role: 'lock',
  valid_from_block: '',
  also_on: '',
  sources: 'https://example.org/a',
  note: '',
  reviewed: '2026-01-02',
};
type Row = { [C in (typeof REGISTRY_COLUMNS)[number]]: string };

function table(...rows: Partial<Row>[]): readonly TableLine[] {
  const lines = rows.map((change) => {
    const row: Row = { ...GOOD, ...change };
    return REGISTRY_COLUMNS.map((name) => row[name]);
  });
  return numbered([REGISTRY_COLUMNS, ...lines]);
}

function numbered(lines: readonly (readonly string[])[]): readonly TableLine[] {
  return lines.map((cells, i) => ({ line: i + 1, cells }));
}

/** The lines of a file whose cells hold no line ends. */
function linesOf(path: string | URL): readonly TableLine[] {
  return numbered(parse(readFileSync(path)));
}

describe('a row is refused', () => {
  test.each([
    ['system_address', { address: '0x0000000000000000000000000000000000000000' }],
    ['system_address', { chain: 'polygon', address: '0x0000000000000000000000000000000000001010' }],
    ['bad_checksum', { address: evm('bridge') }],
    ['bad_checksum', { address: '0x12' }],
    ['unknown_chain', { chain: 'optimism' }],
    ['unknown_protocol', { protocol: 'axelar' }],
    ['unknown_role', { role: 'bridge' }],
    ['no_source', { sources: '' }],
    ['no_source', { sources: 'somebody said so' }],
    ['bad_review', { reviewed: '2026-02-30' }],
    ['bad_block', { valid_from_block: '-1' }],
    ['bad_text', { name: ' ' }],
    ['amm_pool', { name: 'USDC.e:l2SaddleSwap' }],
    ['token_contract', { name: 'USDC.e:l2HopBridgeToken' }],
    ['token_contract', { name: 'USDC.e:l2CanonicalBridge' }],
  ] as const)('as %s: %o', (code, change) => {
    const { rows, refused } = validateRegistry(table(change));
    expect(rows).toEqual([]);
    expect(refused).toEqual([expect.objectContaining({ line: 2, code })]);
  });

  test.each([
    ['token_contract', '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'],
    ['token_contract', '0xc2132d05d31c914a87c6611c10748aeb04b58e8f'],
    ['token_contract', '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619'],
    ['token_contract', '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'],
    ['amm_pool', '0x5c32143c8b198f392d01f8446b754c181224ac26'],
  ] as const)('as %s although it bears a good name and two sources: %s', (code, address) => {
    const sources = 'https://example.org/a; https://example.com/b';
    const change = { chain: 'polygon', address: checksummed(address), name: 'Bridge', sources };
    expect(validateRegistry(table(change)).refused).toEqual([expect.objectContaining({ code })]);
  });

  test('as a duplicate where chain, address and role are met again, and not for another role', () => {
    const { rows, refused } = validateRegistry(table({}, { name: 'Again' }, { role: 'router' }));
    expect(rows).toHaveLength(2);
    expect(refused).toEqual([expect.objectContaining({ line: 3, code: 'duplicate' })]);
  });

  test('and a file without these columns is no table', () => {
    expect(() => validateRegistry(numbered([['address', 'chain']]))).toThrow(RangeError);
  });
});

describe.skipIf(!existsSync(CANDIDATES))('candidates (or skipped: no shared data)', () => {
  // A skipped part is still looked through for its tests.
  const held = existsSync(CANDIDATES) ? linesOf(CANDIDATES) : numbered([['']]);
  const [heading, ...lines] = held.map(({ cells }) => cells);
  const column = (row: readonly string[], name: string) =>
    String(row[Number(heading?.indexOf(name))]);
  const asked = lines.map((row) => ({
    chain: column(row, 'chain'),
    address: checksummed(column(row, 'address')),
    protocol: column(row, 'protocol'),
    name: column(row, 'name'),
  }));

  test('of which every poisoned row is refused, whatever sources repeat it', () => {
    const { refused } = validateRegistry(table(...asked));
    const codes = new Map(refused.map(({ line, code }) => [asked[line - 2], code]));
    const codeOf = (test: (row: (typeof asked)[number]) => boolean) =>
      new Set(asked.filter(test).map((row) => codes.get(row)));
    expect(codeOf(({ protocol }) => protocol === 'axelar')).toEqual(new Set(['unknown_protocol']));
    expect(codeOf(({ address }) => /^0x0{36}/.test(address))).toEqual(new Set(['system_address']));
    const pool = (name: string) => name.endsWith('l2SaddleSwap');
    expect(codeOf(({ name, address }) => pool(name) && !/^0x0{36}/.test(address))).toEqual(
      new Set(['amm_pool']),
    );
    const token = /HopBridgeToken|CanonicalBridge/;
    expect(codeOf(({ name, address }) => token.test(name) && !/^0x0{36}/.test(address))).toEqual(
      new Set(['token_contract']),
    );
  });
});

describe('the table that is published', () => {
  const { rows, refused } = validateRegistry(linesOf(TABLE));

  test('has no row that is refused', () => {
    expect(refused).toEqual([]);
  });

  test('covers every chain, and each protocol on the chains where it is', () => {
    expect(new Set(rows.map(({ chain }) => chain))).toEqual(new Set(BRIDGE_CHAINS));
    expect(new Set(rows.map(({ protocol }) => protocol))).toEqual(new Set(BRIDGE_PROTOCOLS));
  });

  test('says of each row with one source that it has but one', () => {
    for (const { sources, note } of rows) {
      expect(sources.length === 1).toBe(note?.includes('one source only') === true);
    }
  });
});

describe('the index', () => {
  const { rows } = validateRegistry(table({ valid_from_block: '100' }));
  const index = registryIndex(rows);
  const address = evm('bridge');

  test('knows a contract from its first block on, on its chain alone', () => {
    expect(index.at('ethereum', address, 99)).toEqual([]);
    expect(index.at('ethereum', address, 100)).toHaveLength(1);
    expect(index.at('base', address, 100)).toEqual([]);
  });

  test('takes neither messengers nor pools of providers for what moves assets', () => {
    const [row] = rows;
    if (row === undefined) throw new Error('no row');
    const moving = BRIDGE_ROLES.filter((role) => movesAssets({ ...row, role }));
    expect(moving).toEqual(['liquidity', 'lock', 'router', 'token']);
  });

  test('puts the contracts of each asset into one family', () => {
    expect(familyOf({ name: 'L2 Bridge (USDC.e)' })).toBe('L2 Bridge');
    expect(familyOf({ name: 'SpokePool' })).toBe('SpokePool');
  });
});
