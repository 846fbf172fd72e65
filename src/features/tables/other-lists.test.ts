import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import {
  IMPORTED_AT,
  importInto,
  onEachEngine,
  serveTable,
} from '../../testing/imported-tables.ts';
import { trialsOf } from '../../testing/trials.ts';
import { otherLists } from './other-lists.ts';

const judge = otherLists.judge({
  source: 'eu',
  source_url: 'https://example.org/list',
  otherwise: null,
  imported_at: IMPORTED_AT,
});

function judged(fields: { readonly [column: string]: string }) {
  return judge({ line: 2, fields: new Map(Object.entries(fields)) }, 'rows');
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-test-lists-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** Wallets of a large list, each beside its holder; a hundred thousand entities are 50,000. */
const WALLETS = trialsOf('EXHIBIT_TEST_WALLETS', 10_000, 50_000);
const wallets = (count: number, first = 0) =>
  Array.from({ length: count }, (_, n) => {
    const id = `w-${first + n}`;
    const properties = { publicKey: [evm(id)], currency: ['ETH'], holder: [`p-${first + n}`] };
    const person = {
      id: `p-${first + n}`,
      schema: 'Person',
      caption: `P ${first + n}`,
      properties: {},
    };
    const wallet = { id, schema: 'CryptoWallet', properties };
    return `${JSON.stringify(wallet)}\n${JSON.stringify(person)}\n`;
  }).join('');

describe('an entry of another list', () => {
  test('keeps an address of any form, also one that is known by no checksum of ours', () => {
    const monero = addressNamed('monero', 'listed');
    for (const address of [
      addressNamed('bitcoin_bech32', 'x').toUpperCase(),
      monero,
      'a-literal-7',
    ]) {
      expect(judged({ address })).toMatchObject({ row: { note: null, source: 'eu' } });
    }
    // Invisible characters and white space around what was published are no part of it.
    expect(judged({ address: `\u200b ${evm('x')} ` })).toMatchObject({
      row: { address: evm('x') },
    });
  });

  test('loses no address for what cannot be shown of its party', () => {
    expect(
      judged({ address: evm('x'), entity: 'a\u202eb', listed_at: 'once', source_url: 'ftp://x' }),
    ).toMatchObject({
      row: {
        address: evm('x'),
        entity: null,
        listed_at: null,
        source_url: 'https://example.org/list',
        note: 'cannot be shown as published: source_url, entity, listed_at',
      },
    });
    expect(judged({ entity: 'x' })).toMatchObject({ code: 'missing_field' });
    expect(judged({ address: 'two words' })).toMatchObject({ row: { address: 'twowords' } });
    expect(judged({ address: 'x'.repeat(129) })).toMatchObject({ code: 'bad_address' });
    expect(judged({ account: '12345', entity: 'x' })).toMatchObject({ code: 'account_only' });
  });
});

test('is dated by when the maker of its file saw it last, in whichever form that is written', () => {
  const dated = (seen_at: string) => judged({ address: evm('x'), seen_at });
  const at = Date.UTC(2025, 1, 3, 4, 5, 6) / 1_000;
  for (const text of [
    '2025-02-03T04:05:06',
    '2025-02-03 04:05:06.7',
    '2025-02-03T05:05:06+01:00',
  ]) {
    expect(dated(text), text).toMatchObject({ dated_at: at });
  }
  expect(dated('2025-02-03')).toMatchObject({ dated_at: Date.UTC(2025, 1, 3) / 1_000 });
  for (const text of ['2025', '2025-02-30T01:00:00', 'yesterday']) {
    expect(dated(text), text).toMatchObject({ dated_at: null });
  }
});

onEachEngine(({ empty }) => {
  test('answers list by list, each with its own import, and finds what each of them names', async () => {
    const store = await empty(otherLists);
    const eu = await fileOf('eu.ftm.json', wallets(3));
    const uk = await fileOf('uk.csv', `address,entity,programs\n${evm('w-1')},Somebody,UK-1\n`);
    await importInto(otherLists, store, { path: eu, source: 'eu' });
    await importInto(otherLists, store, { path: uk, source: 'uk' });
    const held = serveTable(otherLists, store);
    await held.poll();
    const look = await held.lookUp([evm('w-1')]);
    if (!(look instanceof Read)) throw new Error(look.why.reason);
    expect(look.value.lists.map(({ name, rows }) => [name, rows])).toEqual([
      ['eu', 3],
      ['uk', 1],
    ]);
    expect([...look.value.found.values()].flat()).toMatchObject([
      { source: 'eu', entity: 'P 1', entry_id: 'w-1' },
      { source: 'uk', entity: 'Somebody', programs: 'UK-1' },
    ]);
  });

  test('is as old as its file says, or as who imported it states, and tells whose word it is', async () => {
    const store = await empty(otherLists);
    const csv = `address,seen_at\n${evm('a')},2024-01-02\n${evm('b')},2024-05-29T01:02:03\n`;
    const path = await fileOf('dated.csv', csv);
    const undated = await fileOf('undated.csv', `address\n${evm('a')}\n`);
    const ahead = await fileOf('ahead.csv', `address,seen_at\n${evm('a')},2027-01-01\n`);
    const as_of = Date.UTC(2024, 0, 1) / 1_000;
    await importInto(otherLists, store, { path, source: 'eu' });
    await importInto(otherLists, store, { path, source: 'uk', as_of });
    await importInto(otherLists, store, { path: undated, source: 'fr' });
    await importInto(otherLists, store, { path: ahead, source: 'de' });
    const held = serveTable(otherLists, store);
    await held.poll();
    const look = await held.lookUp([]);
    if (!(look instanceof Read)) throw new Error(look.why.reason);
    const imported_at = IMPORTED_AT;
    expect(look.value.lists).toMatchObject([
      { name: 'eu', as_of: Date.UTC(2024, 4, 29, 1, 2, 3) / 1_000, dated_by: 'file', imported_at },
      { name: 'uk', as_of, dated_by: 'operator', imported_at },
      { name: 'fr', as_of: IMPORTED_AT, dated_by: 'import', imported_at },
      { name: 'de', as_of: IMPORTED_AT, dated_by: 'import', imported_at },
    ]);
  });

  test('takes a TagPack, which is as old as it says', async () => {
    const store = await empty(otherLists);
    const head =
      'title: Sanctioned\ncreator: Us\nlastmod: 2022-04-15\nabuse: sanction\ncurrency: ETH';
    const tags = `tags:\n- address: '${evm('a')}'\n  actor: group\n  label: The Group\n`;
    const path = await fileOf('pack.yaml', `${head}\nsource: https://example.org/p\n${tags}`);
    await importInto(otherLists, store, { path, source: 'pack' });
    const held = serveTable(otherLists, store);
    await held.poll();
    const look = await held.lookUp([evm('a')]);
    if (!(look instanceof Read)) throw new Error(look.why.reason);
    const as_of = Date.UTC(2022, 3, 15) / 1_000;
    expect(look.value.lists).toMatchObject([{ name: 'pack', as_of, dated_by: 'file' }]);
    expect([...look.value.found.values()].flat()).toMatchObject([
      { entity: 'group', note: 'The Group', programs: 'sanction', currency: 'ETH' },
    ]);
  });

  test('counts the rows with which an entry may be lost, and keeps each that says something else', async () => {
    const store = await empty(otherLists);
    const [a, b] = [evm('a'), evm('b')];
    const rows = [`${a},One,2020-01-01`, `${a},One,`, `${a},One,`, `${b},Two,`, ',Three,'];
    const path = await fileOf(
      'torn.csv',
      `address,programs,ended_at\n${rows.join('\n')}\n${b},x\n`,
    );
    const { outcome, refused } = await importInto(otherLists, store, { path, source: 'eu' });
    expect(outcome).toMatchObject({ record: { rows_accepted: 3, rows_refused: 3, rows_lost: 2 } });
    expect(refused.map(({ code }) => code).toSorted()).toEqual([
      'duplicate',
      'missing_field',
      'unreadable_row',
    ]);
    const held = serveTable(otherLists, store);
    await held.poll();
    const look = await held.lookUp([a]);
    if (!(look instanceof Read)) throw new Error(look.why.reason);
    expect(look.value.lists).toMatchObject([{ name: 'eu', rows: 3, rows_lost: 2 }]);
    expect(look.value.found.get(a)).toMatchObject([{ ended_at: '2020-01-01' }, { ended_at: null }]);
  });

  test('refuses a file that lost a fifth of the list in force, unless it is said to be whole', async () => {
    const store = await empty(otherLists);
    const whole = await fileOf('whole.ftm.json', wallets(10));
    const fewer = await fileOf('fewer.ftm.json', wallets(7));
    const into = (path: string, acceptSmaller = false) =>
      importInto(otherLists, store, { path, source: 'floor', acceptSmaller });
    expect((await into(whole)).outcome).toMatchObject({ outcome: 'completed' });
    expect((await into(fewer)).outcome).toEqual({
      outcome: 'too_few',
      rows_accepted: 7,
      rows_before: 10,
    });
    const inForce = await store.inForce();
    expect(
      inForce instanceof Read && inForce.value.find(({ source }) => source === 'floor'),
    ).toMatchObject({
      rows_accepted: 10,
    });
    expect((await into(fewer, true)).outcome).toMatchObject({ outcome: 'completed' });
    // Of the seven a fifth is one and two fifths: with six the file is taken, with five it is not.
    const [six, five] = [
      await fileOf('six.ftm.json', wallets(6)),
      await fileOf('5.ftm.json', wallets(5)),
    ];
    expect((await into(five)).outcome).toMatchObject({ outcome: 'too_few', rows_before: 7 });
    expect((await into(six)).outcome).toMatchObject({ outcome: 'completed' });
  });

  test(`takes ${2 * WALLETS} entities in, and says on its way how far it is`, async () => {
    const store = await empty(otherLists);
    const path = await fileOf('large.ftm.json', wallets(WALLETS));
    const { outcome, progress } = await importInto(otherLists, store, { path, source: 'large' });
    expect(outcome).toMatchObject({ outcome: 'completed', record: { rows_accepted: WALLETS } });
    expect(progress.length).toBeGreaterThan(WALLETS / 5_000);
  });
});
