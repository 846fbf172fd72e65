import { expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Claim } from '../../evidence/claim.ts';
import { why } from '../../evidence/reasons.ts';
import type { OtherListEntry } from '../../ports/tables.ts';
import { evm, named } from '../../testing/addresses.ts';
import { type MemoryWorld, memoryPorts, silentPorts } from '../../testing/twins/ports.ts';
import { entryOf } from '../../testing/twins/sanctions.ts';
import { labelOf, otherEntryOf } from '../../testing/twins/tables.ts';
import { bulkScreen, type ScreenPorts } from './bulk-screen.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const NAMES = ['eu-fsf', 'uk-ofsi'] as const;
const STRANGER = evm('a stranger');
const NAMED = evm('named');
const LITERAL = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZb';
const TRON = named('tron', 'twice');
const TRON_AS_EVM = '0x267eaf316c8bb3c0246eff6649d7bc7de37c530c';

const on = (list: (typeof NAMES)[number], address: string, ended_at: string | null = null) => ({
  ...otherEntryOf(address),
  ended_at,
  source: list,
});

/** Tables of which all but the other lists are there. `null`: none was ever imported. */
function ports(
  entries: readonly OtherListEntry[] | null,
  lost: ReadonlyMap<string, number> = new Map(),
): ScreenPorts {
  const facts = { as_of: NOW - DAY_S, simulated: false };
  const list: MemoryWorld['list'] = {
    publications: [
      { published: '2026-11-20', checked_at: NOW - 60, entries: [entryOf(evm('on the SDN list'))] },
    ],
    maxAgeS: 7 * DAY_S,
    simulated: false,
    now: () => NOW,
  };
  const history: MemoryWorld['history'] = {
    transfers: [],
    coverage: [],
    chains: [],
    provenance: 'warehouse',
    ...facts,
  };
  return memoryPorts({
    list,
    history,
    labels: { labels: [labelOf(evm('labelled'), 'exemplar')], ...facts },
    corpus: { launches: [], ...facts },
    otherLists: { names: NAMES, entries, lost, ...facts },
  });
}

const UNREAD = silentPorts(why('store_unreadable', { what: 'The store', fault: 'it is down' }));

/** A result as the client sees it: claims as their plain values. */
function plain(value: unknown): unknown {
  if (value instanceof Claim) return plain(value.shown);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

type Tables = Parameters<typeof bulkScreen>[2]['tables'];

async function resultsOf(addresses: readonly string[], asked: ScreenPorts, tables?: Tables) {
  const screen = await bulkScreen(addresses, asked, { now: NOW, tables });
  if (screen.outcome !== 'screened') throw new Error(`not screened: ${screen.outcome}`);
  return screen.results.map(plain);
}

const nothing = (list: string) => ({
  list,
  listed: false,
  entity: null,
  equivalent_forms: [],
  as_of: NOW - DAY_S,
});

test('a listing elsewhere is a record, list by list, and never one of the SDN list', async () => {
  const results = await resultsOf([NAMED, STRANGER], ports([on('eu-fsf', NAMED)]));
  expect(results).toMatchObject([
    {
      state: 'ok',
      sanctions: { listed: false, programs: [] },
      other_lists: [
        { list: 'eu-fsf', listed: true, entity: 'Doe, Jane', as_of: NOW - DAY_S },
        nothing('uk-ofsi'),
      ],
      checked: { other_lists: true },
    },
    {
      state: 'insufficient_evidence',
      sanctions: { listed: false },
      other_lists: [nothing('eu-fsf'), nothing('uk-ofsi')],
      checked: { other_lists: true },
    },
  ]);
});

test('another form of the same account that a list names is a record, told as that', async () => {
  const [result] = await resultsOf([TRON], ports([on('uk-ofsi', TRON_AS_EVM)]));
  expect(result).toMatchObject({
    state: 'ok',
    equivalent_forms: [],
    other_lists: [
      nothing('eu-fsf'),
      {
        listed: false,
        entity: 'Doe, Jane',
        equivalent_forms: [{ address: TRON_AS_EVM, listed: true }],
      },
    ],
  });
});

test('an entry that has ended is a record that does not list', async () => {
  const ended = ports([on('eu-fsf', NAMED, '2026-11-20'), on('uk-ofsi', NAMED, '2026-11-22')]);
  expect(await resultsOf([NAMED], ended)).toMatchObject([
    {
      state: 'ok',
      other_lists: [{ listed: false, entity: 'Doe, Jane' }, { listed: true }],
    },
  ]);
});

test('a deployment without other lists answers as if there were none to ask', async () => {
  expect(await resultsOf([STRANGER], ports(null))).toMatchObject([
    { state: 'insufficient_evidence', other_lists: null, checked: { other_lists: null } },
  ]);
  const nothingRead = {
    ...ports(null),
    sanctionsList: UNREAD.sanctionsList,
    exchangeLabels: UNREAD.exchangeLabels,
  };
  const screen = await bulkScreen([STRANGER], nothingRead, { now: NOW });
  expect(screen).toMatchObject({ outcome: 'silent', why: { code: 'no_table_read' } });
  if (screen.outcome === 'silent') expect(screen.why.reason).not.toContain('other authorities');
});

test('other lists that were asked for by name and never imported are no answer', async () => {
  const alone = await bulkScreen([STRANGER], ports(null), { now: NOW, tables: ['other_lists'] });
  expect(alone.outcome).toBe('silent');
  const tables = ['sanctions_list', 'other_lists'] as const;
  expect(await resultsOf([STRANGER], ports(null), tables)).toMatchObject([
    { state: 'not_deployed', other_lists: null, checked: { other_lists: false } },
  ]);
});

test('other lists that cannot be read deny nothing, and the reason names them', async () => {
  const unread = { ...ports([]), otherLists: UNREAD.otherLists };
  expect(await resultsOf([STRANGER, evm('on the SDN list')], unread)).toMatchObject([
    {
      state: 'not_deployed',
      other_lists: null,
      checked: { other_lists: false, sanctions_list: true },
      reason: expect.stringContaining('the lists of other authorities (The store could not'),
    },
    { state: 'ok', sanctions: { listed: true }, checked: { other_lists: false } },
  ]);
  // A question that leaves them out does not wait for them.
  expect(await resultsOf([STRANGER], unread, ['sanctions_list'])).toMatchObject([
    { state: 'insufficient_evidence', checked: { other_lists: null } },
  ]);
});

test('a list of which rows were refused denies nothing, and lists whom it holds', async () => {
  const short = ports([on('eu-fsf', NAMED)], new Map([['eu-fsf', 1]]));
  const results = await resultsOf([NAMED, STRANGER, TRON], short);
  const reason =
    'Refused at import: 1 row of eu-fsf; that list can show a listing, not an absence.';
  const unlisted = { list: 'eu-fsf', listed: null, equivalent_forms: null, reason };
  expect(results).toMatchObject([
    {
      state: 'ok',
      other_lists: [{ list: 'eu-fsf', listed: true, equivalent_forms: null }, nothing('uk-ofsi')],
      checked: { other_lists: false },
    },
    {
      state: 'not_deployed',
      sanctions: { listed: false },
      other_lists: [unlisted, nothing('uk-ofsi')],
      checked: { other_lists: false, sanctions_list: true },
      reason: expect.stringContaining('(Refused at import: 1 row of eu-fsf'),
    },
    { state: 'not_deployed', other_lists: [unlisted, {}] },
  ]);
  // Who does not ask about it is answered as if it were not there.
  expect(await resultsOf([STRANGER], short, ['sanctions_list'])).toMatchObject([
    { state: 'insufficient_evidence', checked: { other_lists: null } },
  ]);
  // A text of no known form may stand in a row that was refused.
  expect(await resultsOf([LITERAL], short)).toMatchObject([{ state: 'not_deployed' }]);
});

test('other lists alone answer, where they were asked alone', async () => {
  const alone = { ...UNREAD, otherLists: ports([on('eu-fsf', NAMED)]).otherLists };
  expect(await resultsOf([NAMED, STRANGER], alone, ['other_lists'])).toMatchObject([
    { state: 'ok', sanctions: null, checked: { sanctions_list: null, other_lists: true } },
    { state: 'insufficient_evidence', sanctions: null, equivalent_forms: null },
  ]);
});

test('a text of no known form is malformed only where no list that was read holds it', async () => {
  const [held] = await resultsOf([LITERAL], ports([on('eu-fsf', LITERAL)]));
  expect(held).toMatchObject({ kind: 'other', state: 'ok', other_lists: [{ listed: true }, {}] });
  const asked = { now: NOW };
  const lacking = await bulkScreen([LITERAL], ports([on('eu-fsf', NAMED)]), asked);
  expect(lacking.outcome).toBe('misformed');
  const unread = { ...ports([]), otherLists: UNREAD.otherLists };
  expect(await resultsOf([LITERAL], unread)).toMatchObject([
    { kind: 'other', state: 'not_deployed', checked: { other_lists: false } },
  ]);
});
