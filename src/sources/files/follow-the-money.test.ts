import { describe, expect, test } from 'vitest';
import { evm } from '../../testing/addresses.ts';
import { followTheMoneyRows, isFollowTheMoney } from './follow-the-money.ts';
import { FileFault } from './text-lines.ts';

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

/** The rows of a file, passed as chunks that break lines and characters anywhere. */
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

  test('the wallets that stand inside an entity at any place, and whom it stands inside', async () => {
    const free = { ...wallet, properties: { publicKey: [A, B], currency: ['ETH'] } };
    const owned = {
      id: 'o-1',
      schema: 'Ownership',
      caption: 'Ownership',
      properties: { asset: [{ id: 'c-1', schema: 'Asset', properties: { parent: [free] } }] },
    };
    const owner = {
      ...holder,
      properties: { ...holder.properties, ownershipOwner: [owned], sanctions: [sanction] },
    };
    const note =
      'the file names no holder of this wallet; it stands inside the entity that is named';
    expect(await rowsOf(lines(owner))).toEqual([
      { line: 1, address: A, ...FACTS, note },
      { line: 1, address: B, ...FACTS, note },
    ]);
    const beside = {
      ...holder,
      id: 'NK-2',
      properties: {
        associates: [{ ...holder, properties: { ...holder.properties, cryptoWallets: [free] } }],
      },
    };
    expect(await rowsOf(lines(beside, sanction))).toMatchObject([FACTS, FACTS]);
  });

  test('a wallet once that stands at several places, with all that is said of it at any', async () => {
    const stub = { id: 'w-1', schema: 'CryptoWallet', properties: {} };
    const other = { ...wallet, properties: { publicKey: [C], holder: ['NK-1'] } };
    const around = { ...holder, properties: { ...holder.properties, cryptoWallets: [stub] } };
    const rows = await rowsOf(lines(around, wallet, sanction, other));
    expect(rows).toEqual([A, B, C].map((address) => ({ line: 1, address, ...FACTS })));
  });

  test('an address whose file is careless in what is no address', async () => {
    const careless = {
      ...wallet,
      caption: 7,
      first_seen: 1_715_000_000,
      properties: { publicKey: A, holder: [null], currency: null },
    };
    expect(await rowsOf(lines(careless))).toEqual([
      { line: 1, address: A, entry_id: 'w-1', note: 'the file names no holder of this wallet' },
    ]);
  });

  test('when the maker of the file last saw a wallet, else when it last saw it change', async () => {
    const changed = { ...wallet, last_change: '2024-06-01T00:00:00' };
    expect(await rowsOf(lines(changed))).toMatchObject([{ seen_at: '2024-06-01T00:00:00' }, {}]);
    const seen = { ...changed, last_seen: '2025-02-03T04:05:06' };
    expect(await rowsOf(lines(seen))).toMatchObject([{ seen_at: '2025-02-03T04:05:06' }, {}]);
  });

  test('a wallet that is an account of a service, apart from one without an address', async () => {
    const account = { ...wallet, properties: { accountId: ['12345'], holder: ['NK-1'] } };
    expect(await rowsOf(lines(account, holder))).toMatchObject([{ line: 1, account: '12345' }]);
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
    const empty = { ...wallet, id: 'w-0', properties: { publicKey: [' '] } };
    expect(await rowsOf(`nonsense\n${lines(empty, holder, wallet, sanction)}`)).toMatchObject([
      { line: 1, problem: 'not an entity' },
      { line: 2, problem: 'a wallet without an address' },
      { line: 4, address: A },
      { line: 4, address: B },
    ]);
  });

  test('each wallet inside an entity that cannot be read, and reads the rest', async () => {
    const nameless = { schema: 'CryptoWallet', properties: { publicKey: [C] } };
    const around = {
      ...holder,
      properties: { cryptoWallets: [nameless, { ...wallet, id: 7 }, [wallet], wallet] },
    };
    const problem = 'what stands inside an entity is none itself';
    expect(await rowsOf(lines(around))).toMatchObject([
      { line: 1, problem },
      { line: 1, problem },
      { line: 1, problem },
      { address: A },
      { address: B },
    ]);
  });

  test('each address of a wallet that is no text, and reads the others', async () => {
    const mixed = { ...wallet, properties: { publicKey: [12, A, { key: B }, null] } };
    const problem = 'an address of a wallet is no text';
    expect(await rowsOf(lines(mixed))).toMatchObject([
      { line: 1, problem },
      { line: 1, problem },
      { line: 1, problem },
      { line: 1, address: A },
    ]);
  });

  test('a file whose entities stand deeper inside each other than is read', async () => {
    const wrapped = (depth: number) => {
      let one: unknown = wallet;
      for (let n = 0; n < depth; n += 1) {
        one = { id: `e-${n}`, schema: 'Company', properties: { parent: [one] } };
      }
      return rowsOf(lines(one));
    };
    await expect(wrapped(16)).resolves.toHaveLength(2);
    await expect(wrapped(17)).rejects.toThrow('over 16 deep');
  });
});
