import { describe, expect, test } from 'vitest';
import { evm } from '../../testing/addresses.ts';
import { FileFault } from './fault.ts';
import { followTheMoneyRows, isFollowTheMoney } from './follow-the-money.ts';

const [A, B, C] = [evm('a'), evm('b'), evm('c')];

const holder = {
  id: 'NK-1',
  caption: 'Jane DOE',
  schema: 'Person',
  properties: { name: ['Doe, Jane', 'DOE J.'], topics: ['sanction'] },
};
const wallet = {
  id: 'w-1',
  caption: A,
  schema: 'CryptoWallet',
  first_seen: '2024-05-06T07:08:09',
  properties: { publicKey: [A, ` ${B} `], currency: ['ETH'], holder: ['NK-1'] },
};
const sanction = {
  id: 's-1',
  schema: 'Sanction',
  properties: {
    entity: ['NK-1'],
    authority: ['Council of the European Union'],
    program: ['EU-CYB'],
    startDate: ['2025-01-02'],
    sourceUrl: ['https://example.org/regulation'],
  },
};

/** What the rows of a file are, given as chunks that break lines and characters anywhere. */
async function rowsOf(text: string): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  const rows: unknown[] = [];
  const read = async function* () {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  };
  for await (const row of followTheMoneyRows(read)) {
    rows.push('problem' in row ? row : { line: row.line, ...Object.fromEntries(row.fields) });
  }
  return rows;
}

const lines = (...entities: readonly unknown[]) =>
  `${entities.map((one) => JSON.stringify(one)).join('\n')}\n`;

const FACTS = {
  entity: 'Doe, Jane',
  entity_type: 'Person',
  currency: 'ETH',
  programs: 'EU-CYB',
  entry_id: 'w-1',
  source_url: 'https://example.org/regulation',
  listed_at: '2025-01-02',
};

describe('says', () => {
  test('a row for each address of a wallet, its holder and sanction named before or after it', async () => {
    const rows = [
      { line: 2, address: A, ...FACTS },
      { line: 2, address: B, ...FACTS },
    ];
    expect(await rowsOf(lines(holder, wallet, sanction))).toEqual(rows);
    const after = await rowsOf(
      lines({ id: 'x', schema: 'Vessel', properties: {} }, wallet, sanction, holder),
    );
    expect(after).toEqual(rows);
  });

  test('the same where the wallet stands inside its holder, or the holder inside the wallet', async () => {
    const inner = { ...wallet, properties: { ...wallet.properties, holder: [] } };
    const nested = {
      ...holder,
      properties: { ...holder.properties, cryptoWallets: [inner], sanctions: [sanction] },
    };
    expect(await rowsOf(lines(nested))).toEqual([
      { line: 1, address: A, ...FACTS },
      { line: 1, address: B, ...FACTS },
    ]);
    const around = { ...holder, properties: { ...holder.properties, sanctions: [sanction] } };
    const outer = { ...wallet, properties: { ...wallet.properties, holder: [around] } };
    expect(await rowsOf(lines(outer))).toHaveLength(2);
    expect(await rowsOf(lines(outer))).toMatchObject([
      { entity: 'Doe, Jane', programs: 'EU-CYB' },
      {},
    ]);
  });

  test('a sanction that has ended, on the wallet itself, by its authority where no programme is named', async () => {
    const ended = {
      ...sanction,
      properties: {
        entity: ['w-1'],
        authority: ['OFSI'],
        startDate: ['2022'],
        endDate: ['2026-03-04T00:00:00'],
      },
    };
    expect(await rowsOf(lines(wallet, ended, holder))).toMatchObject([
      { programs: 'OFSI', listed_at: '2024-05-06', ended_at: '2026-03-04' },
      {},
    ]);
    // Of two sanctions one still stands.
    const both = await rowsOf(lines(wallet, ended, sanction, holder));
    expect(both[0]).not.toHaveProperty('ended_at');
  });

  test('an address whose holder the file does not name, or does not hold, with a note', async () => {
    const alone = {
      id: 'w-2',
      caption: 'Lazarus wallet',
      schema: 'CryptoWallet',
      properties: { publicKey: [C] },
    };
    expect(await rowsOf(lines(alone))).toEqual([
      {
        line: 1,
        address: C,
        entity: 'Lazarus wallet',
        entry_id: 'w-2',
        note: 'the file names no holder of this wallet',
      },
    ]);
    expect(await rowsOf(lines(wallet))).toMatchObject([
      { note: 'a holder of this wallet is not in the file' },
      {},
    ]);
  });

  test('is known by its first line, and no other file of JSON is taken for one', () => {
    expect(isFollowTheMoney(lines(holder).slice(0, 60))).toBe(true);
    expect(isFollowTheMoney('[{"schema": "Person"}]')).toBe(false);
    expect(isFollowTheMoney('{"address": "0x1", "entity": "x"}\n')).toBe(false);
  });
});

describe('refuses', () => {
  test('a file that ends in the middle of a line: what follows it is not known', async () => {
    const whole = lines(holder, wallet, sanction);
    await expect(rowsOf(whole.slice(0, -20))).rejects.toBeInstanceOf(FileFault);
    await expect(rowsOf(whole.trimEnd())).resolves.toHaveLength(2);
  });

  test('a line that is no entity and a wallet without an address, and reads the rest', async () => {
    const empty = { ...wallet, properties: { publicKey: [' '] } };
    expect(await rowsOf(`nonsense\n${lines(empty, holder, wallet, sanction)}`)).toMatchObject([
      { line: 1, problem: 'not an entity' },
      { line: 2, problem: 'a wallet without an address' },
      { line: 4, address: A },
      { line: 4, address: B },
    ]);
  });
});
