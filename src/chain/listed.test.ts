import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SHARED_DATA } from '../testing/shared-data.ts';
import { equivalentForms, matchKey, parseAddress, parseKnownAddress } from './address.ts';

// Real rows: the addresses of one issue of the sanctions list, extracted independently.
const FILE = `${SHARED_DATA}/ofac/2025-03-04/reference_addresses.csv`;
const absent = !existsSync(FILE);
const COLUMNS = /,\d{4}-\d{2}-\d{2},([A-Z]+),(\S+)$/;

function rows(): { asset: string; address: string }[] {
  const lines = readFileSync(FILE, 'utf8').trimEnd().split('\n').slice(1);
  return lines.map((line) => {
    const [, asset, address] = COLUMNS.exec(line.trimEnd()) ?? [];
    if (asset === undefined || address === undefined) throw new TypeError(`row: ${line}`);
    return { asset, address };
  });
}

describe.skipIf(absent)('listed addresses (or skipped: no shared data)', () => {
  test('of 717 rows 34 are of other chains, and all but one are of a known form', () => {
    const others = rows().filter(({ address }) => parseAddress(address) === null);
    expect(rows()).toHaveLength(717);
    expect(others).toHaveLength(34);
    const otherChains = ['BCH', 'BTG', 'DASH', 'LTC', 'XMR', 'XRP', 'XVG', 'ZEC'];
    for (const { asset } of others) expect(otherChains).toContain(asset);
    const unknown = rows().filter(({ address }) => parseKnownAddress(address) === null);
    // A transaction's hash, which the publisher gives as an address.
    expect(unknown.map(({ asset, address }) => [asset, address.length])).toEqual([['XMR', 64]]);
  });

  test('currency codes are not chains: the form decides, whatever the code says', () => {
    const kinds = new Set(
      rows()
        .filter(({ asset }) => asset === 'USDT' || asset === 'XBT')
        .map(({ asset, address }) => `${asset} ${parseAddress(address)?.kind}`),
    );
    expect(kinds).toContain('USDT tron');
    expect(kinds).toContain('USDT evm');
    expect(kinds).toContain('XBT bitcoin');
  });

  test('no two of the 701 distinct addresses share a key, but for EVM ones in two cases', () => {
    const spellings = new Set(rows().map(({ address }) => address));
    const folded = [...spellings].map((text) =>
      text.startsWith('0x') ? text.toLowerCase() : text,
    );
    expect(spellings.size).toBe(701);
    expect(new Set([...spellings].map(matchKey))).toEqual(new Set(folded));
  });

  test('every row of a known form has forms that are other strings than the row', () => {
    for (const { address } of rows()) {
      const known = parseKnownAddress(address);
      if (known === null) continue;
      for (const form of equivalentForms(known)) {
        if (form.form !== 'eip55') expect(form.address).not.toBe(address);
      }
    }
  });
});
