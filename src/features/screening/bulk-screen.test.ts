import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Claim } from '../../evidence/claim.ts';
import { weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { OtherListEntry } from '../../ports/tables.ts';
import { addressNamed, EVERY_FORM, evm } from '../../testing/addresses.ts';
import { type MemoryWorld, memoryPorts, silentPorts } from '../../testing/twins/ports.ts';
import { entryOf } from '../../testing/twins/sanctions.ts';
import { labelOf, otherEntryOf } from '../../testing/twins/tables.ts';
import { bulkScreen, type Screen, type ScreenPorts } from './bulk-screen.ts';
import type { ScreenResult } from './shapes.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'it is down' }));

const LISTED = '0x1111111111111111111111111111111111111111';
const LABELLED = '0x2222222222222222222222222222222222222223';
const LAUNCHER = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
const LISTED_WALLET = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8';
const LITERAL = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZb';
const STRANGER = '0x4444444444444444444444444444444444444445';
const STRANGE_WALLET = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

function entry(address: string, programs: readonly string[], uid = '1') {
  const facts = { currency: 'ETH', entity: 'LISTED PARTY', type: 'Entity' };
  return { address, ...facts, programs, uid, remarks: null, listed_on: null, note: null };
}

const HISTORY: MemoryWorld['history'] = {
  transfers: [],
  coverage: [],
  chains: [],
  provenance: 'warehouse',
  as_of: NOW,
  simulated: false,
};
/** A Solana address that lost its letter case. */
const CASELESS = 'ed9t3mnermenmfbe3s6aarivgbj4wv83i16u31bqghmf';

function ports(more: { checked_at?: number; silent?: readonly (keyof ScreenPorts)[] } = {}) {
  const checked_at = more.checked_at === undefined ? NOW - 60 : more.checked_at;
  const entries = [
    entry(LISTED, ['SDGT', 'CYBER2']),
    entry(LISTED.toUpperCase().replace('0X', '0x'), ['CYBER2', 'DPRK3'], '2'),
    entry(LISTED_WALLET, ['CYBER2']),
    entry(LITERAL, ['SDNTK']),
  ];
  const held = memoryPorts({
    list: {
      publications: [{ published: '2026-11-20', checked_at, entries }],
      maxAgeS: 7 * DAY_S,
      simulated: false,
      now: () => NOW,
    },
    labels: {
      labels: [
        {
          address: LABELLED,
          chain: 'ethereum',
          label: 'Exemplar: Hot Wallet 1',
          entity: 'exemplar',
          role: 'hot',
          confidence: 'service_data',
          clusterable: false,
          source: 'one',
          source_url: null,
          first_seen: '2026-01-15',
        },
      ],
      as_of: NOW,
      simulated: false,
    },
    corpus: {
      launches: ['a', 'b'].map((mint) => ({
        mint,
        deployer: LAUNCHER,
        launched_at: NOW - 3 * DAY_S,
        listed_after_window: mint === 'b',
        last_checked_at: NOW,
        settled: true,
      })),
      as_of: NOW,
      simulated: false,
    },
    history: HISTORY,
  });
  const silent = more.silent === undefined ? [] : more.silent;
  const silenced = Object.fromEntries(silent.map((port) => [port, SILENT[port]]));
  return { ...held, ...silenced };
}

/** A result as the client sees it: claims as their plain values. */
function plain(value: unknown): unknown {
  if (value instanceof Claim) return plain(value.shown);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

function screenedIn(screen: Screen) {
  if (screen.outcome !== 'screened') throw new Error(`not screened: ${screen.outcome}`);
  return screen;
}

async function resultsOf(addresses: readonly string[], asked: ScreenPorts = ports()) {
  return screenedIn(await screenOf(addresses, asked)).results.map(plain);
}

type Tables = Parameters<typeof bulkScreen>[2]['tables'];

function screenOf(addresses: readonly string[], asked: ScreenPorts, tables?: Tables) {
  return bulkScreen(addresses, asked, { now: NOW, tables });
}

const stateOf = (result: ScreenResult | undefined) => plain(result?.state);

describe('the three tables, each read or silent', () => {
  const NAMES = ['sanctionsList', 'exchangeLabels', 'launchCorpus'] as const;
  const combinations = Array.from({ length: 8 }, (_, bits) =>
    NAMES.filter((_name, i) => (bits & (1 << i)) !== 0),
  );

  test.each(combinations.map((silent) => [silent.join(' and ') || 'nothing', silent] as const))(
    'a listed address is listed, and a stranger is denied only by all that apply: %s silent',
    async (_name, silent) => {
      const screen = await screenOf(
        [LISTED, LISTED_WALLET, STRANGER, STRANGE_WALLET],
        ports({ silent }),
      );
      if (silent.length === 3) {
        expect(screen.outcome).toBe('silent');
        return;
      }
      const { results } = screenedIn(screen);
      const listRead = !silent.includes('sanctionsList');
      const [listed, wallet, stranger, strangeWallet] = results;
      for (const one of [listed, wallet]) {
        expect(stateOf(one)).toBe(listRead ? 'ok' : 'not_deployed');
        expect(plain(one?.sanctions?.listed)).toBe(listRead ? true : undefined);
        expect(plain(one?.checked.sanctions_list)).toBe(listRead);
      }
      const evmTables = silent.filter((name) => name !== 'launchCorpus');
      expect(stateOf(stranger)).toBe(
        evmTables.length === 0 ? 'insufficient_evidence' : 'not_deployed',
      );
      expect(stateOf(strangeWallet)).toBe(
        silent.length === 0 ? 'insufficient_evidence' : 'not_deployed',
      );
      expect(plain(strangeWallet?.checked)).toEqual({
        exchange_table: !silent.includes('exchangeLabels'),
        launch_corpus: !silent.includes('launchCorpus'),
        // Of a deployment that never took one in nothing is asked of other lists.
        other_lists: false,
        sanctions_list: listRead,
      });
      expect(plain(stranger?.checked)).toMatchObject({ launch_corpus: null });
    },
  );

  test('a record in one table is ok while the others are silent', async () => {
    const labelled = ports({ silent: ['sanctionsList', 'launchCorpus'] });
    expect(await resultsOf([LABELLED], labelled)).toMatchObject([
      { state: 'ok', exchange: { label: 'Exemplar: Hot Wallet 1' }, sanctions: null },
    ]);
    const launched = ports({ silent: ['sanctionsList', 'exchangeLabels'] });
    expect(await resultsOf([LAUNCHER], launched)).toMatchObject([
      { state: 'ok', launches: { answer: 'record', launches_settled: 2, died: 1 } },
    ]);
  });

  test('a corpus that has fallen behind tells of deaths, and denies nobody', async () => {
    const old = why('launch_collection_stale', { at: '2026-11-18T12:00:00.000Z' });
    const asked = ports();
    const launchCorpus: ScreenPorts['launchCorpus'] = {
      lookUp: async (wallets) => weaken(await asked.launchCorpus.lookUp(wallets), old),
    };
    const [held, stranger] = await resultsOf([LAUNCHER, STRANGE_WALLET], {
      ...asked,
      launchCorpus,
    });
    expect(held).toMatchObject({
      state: 'ok',
      launches: { answer: 'record', launches_settled: 2, died: 1 },
      checked: { launch_corpus: false },
    });
    expect(stranger).toMatchObject({
      state: 'not_deployed',
      launches: null,
      checked: { launch_corpus: false },
      reason: expect.stringContaining('past 48 hours a miss shows no absence'),
    });
  });

  test('a corpus that no address of the screen could stand in makes no answer', async () => {
    const silent = ports({ silent: ['sanctionsList', 'exchangeLabels'] });
    expect((await screenOf([STRANGER], silent)).outcome).toBe('silent');
  });

  test('the reason names each silent table with its own reason', async () => {
    const { results } = screenedIn(
      await screenOf([STRANGER], ports({ silent: ['exchangeLabels'] })),
    );
    expect(results[0]?.reason).toBe(
      'Could not be read: the exchange-wallet table (The store could not be read: it is down). ' +
        'Nothing was found in the rest, which is no negative.',
    );
  });
});

describe('a question that is limited to some tables', () => {
  const PORT = {
    sanctions_list: 'sanctionsList',
    exchange_table: 'exchangeLabels',
    launch_corpus: 'launchCorpus',
  } as const;
  const NAMES = ['sanctions_list', 'exchange_table', 'launch_corpus'] as const;
  const subsets = Array.from({ length: 7 }, (_, n) =>
    NAMES.filter((_name, i) => ((n + 1) & (1 << i)) !== 0),
  );
  const cells = subsets.flatMap((tables) =>
    [null, ...NAMES].map((silent) => [tables.join(' and '), silent, tables] as const),
  );

  test.each(cells)(
    '%s, with %s silent: only what was asked and read is denied',
    async (...cell) => {
      const [, silent, tables] = cell;
      const world = ports(silent === null ? {} : { silent: [PORT[silent]] });
      const screen = await screenOf([STRANGER, STRANGE_WALLET], world, tables);
      if (screen.outcome !== 'screened') {
        expect([screen.outcome, tables]).toEqual(['silent', [silent]]);
        return;
      }
      for (const [i, result] of screen.results.entries()) {
        const applies = (name: (typeof NAMES)[number]) => i === 1 || name !== 'launch_corpus';
        const asked = tables.filter(applies);
        const whole = asked.length > 0 && asked.every((name) => name !== silent);
        expect(stateOf(result)).toBe(whole ? 'insufficient_evidence' : 'not_deployed');
        for (const name of NAMES) {
          const read = asked.includes(name) ? name !== silent : null;
          expect([name, plain(result.checked[name])]).toEqual([name, read]);
        }
        const listRead = asked.includes('sanctions_list') && silent !== 'sanctions_list';
        expect(plain(result.sanctions?.listed)).toBe(listRead ? false : undefined);
        expect(plain(result.equivalent_forms)).toEqual(listRead ? [] : null);
      }
    },
  );

  test('asks no other table: a list alone screens where nothing else was ever imported', async () => {
    const alone = ports({ silent: ['exchangeLabels', 'launchCorpus'] });
    const { results, rests } = screenedIn(
      await screenOf([LISTED, STRANGER], alone, ['sanctions_list']),
    );
    expect(results.map(plain)).toMatchObject([
      { state: 'ok', sanctions: { listed: true }, checked: { exchange_table: null } },
      {
        state: 'insufficient_evidence',
        reason: expect.stringContaining('address: the sanctions list.'),
      },
    ]);
    expect(rests).toHaveLength(1);
  });

  test('a text that no table that was asked about could hold is malformed', async () => {
    expect(await screenOf(['no-known-form'], ports(), ['exchange_table'])).toMatchObject({
      outcome: 'misformed',
    });
  });
});

describe('a list past its maximum age', () => {
  const old = () => ports({ checked_at: NOW - 9 * DAY_S });

  test('still convicts, and does not acquit', async () => {
    const results = await resultsOf([LISTED, STRANGER], old());
    expect(results).toMatchObject([
      {
        state: 'ok',
        sanctions: { listed: true, list_published: '2026-11-20' },
        checked: { sanctions_list: true },
      },
      { state: 'not_deployed', sanctions: null, checked: { sanctions_list: false } },
    ]);
  });

  test('stands among the sources of an answer only where it convicted', async () => {
    const convicted = screenedIn(await screenOf([LISTED], old()));
    expect([convicted.rests.length, convicted.ageNotes?.length]).toEqual([2, 1]);
    const missed = screenedIn(await screenOf([STRANGER], old()));
    expect([missed.rests.length, missed.ageNotes]).toEqual([1, null]);
  });

  test('cannot tell a text of no known form from a listed one: that is no misform', async () => {
    expect(await resultsOf(['no-known-form', LITERAL], old())).toMatchObject([
      { kind: 'other', state: 'not_deployed' },
      { kind: 'other', state: 'ok', sanctions: { listed: true } },
    ]);
  });
});

describe('a text of no known form', () => {
  test('is screened where it stands literally on the list', async () => {
    expect(await resultsOf([LITERAL])).toMatchObject([
      { address: LITERAL, kind: 'other', state: 'ok', sanctions: { listed: true } },
    ]);
  });

  test('is malformed where a list that was read does not hold it; each is named', async () => {
    const asked = [STRANGER, 'no-known-form', CASELESS, 'a b', 'x'.repeat(129)];
    expect(await screenOf(asked, ports())).toEqual({
      outcome: 'misformed',
      misformed: [
        { index: 1, code: 'form_not_recognised' },
        { index: 2, code: 'solana_letter_case' },
        { index: 3, code: 'form_not_recognised' },
        { index: 4, code: 'form_not_recognised' },
      ],
    });
  });

  test('that no list could hold is malformed even while no list is read', async () => {
    const unread = ports({ silent: ['sanctionsList'] });
    expect(await screenOf(['no-known-form', 'tab\there', 'ümlaut'], unread)).toEqual({
      outcome: 'misformed',
      misformed: [
        { index: 1, code: 'form_not_recognised' },
        { index: 2, code: 'form_not_recognised' },
      ],
    });
    expect(await resultsOf(['no-known-form', STRANGER], unread)).toMatchObject([
      { kind: 'other', state: 'not_deployed', checked: { sanctions_list: false } },
      { kind: 'evm', state: 'not_deployed' },
    ]);
  });

  test('is held by no table of exchange wallets, which is not asked about it', async () => {
    const both = await resultsOf([LITERAL, LABELLED]);
    expect(both).toMatchObject([
      {
        checked: { exchange_table: null },
        unasked: { exchange_table: 'does_not_apply', launch_corpus: 'does_not_apply' },
      },
      { checked: { exchange_table: true }, unasked: { exchange_table: null } },
    ]);
    const unread = ports({ silent: ['sanctionsList'] });
    expect((await screenOf([LITERAL], unread)).outcome).toBe('silent');
  });
});

describe('results', () => {
  test('answer the addresses in order, with duplicates, each in its normal form', async () => {
    const bech32 = 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4';
    const upper = `0x${LABELLED.slice(2).toUpperCase()}`;
    const { results } = screenedIn(
      await screenOf([upper, LAUNCHER, bech32, LABELLED, LAUNCHER, upper], ports()),
    );
    expect(results.map(({ address, kind }) => [address, kind])).toEqual([
      [LABELLED, 'evm'],
      [LAUNCHER, 'solana'],
      [bech32.toLowerCase(), 'bitcoin'],
      [LABELLED, 'evm'],
      [LAUNCHER, 'solana'],
      [LABELLED, 'evm'],
    ]);
  });

  test('name every programme of every entry once', async () => {
    expect(await resultsOf([LISTED])).toMatchObject([
      { sanctions: { programs: ['SDGT', 'CYBER2', 'DPRK3'] } },
    ]);
  });

  test('are counted by their states', async () => {
    const { counts } = screenedIn(
      await screenOf(
        [LISTED, LISTED, STRANGER, STRANGE_WALLET],
        ports({ silent: ['launchCorpus'] }),
      ),
    );
    expect(counts).toEqual({ ok: 2, insufficient_evidence: 1, not_deployed: 1 });
  });
});

describe('equivalent forms', () => {
  async function resultsOf(addresses: readonly string[], asked: ScreenPorts) {
    const screen = await bulkScreen(addresses, asked, { now: NOW });
    if (screen.outcome !== 'screened') throw new Error(`not screened: ${screen.outcome}`);
    return screen.results.map(plain);
  }

  function withList(listed: readonly string[], checked_at = NOW - 60): ScreenPorts {
    const entries = listed.map((address) => ({ ...entryOf(address), programs: ['CYBER2'] }));
    const list: MemoryWorld['list'] = {
      publications: [{ published: '2026-11-20', checked_at, entries }],
      maxAgeS: 7 * DAY_S,
      simulated: false,
      now: () => NOW,
    };
    const labels = { labels: [], as_of: NOW, simulated: false };
    const corpus = { launches: [], as_of: NOW, simulated: false };
    return memoryPorts({ list, labels, corpus, history: HISTORY });
  }

  describe('an address of a form that the list uses', () => {
    const all = Object.values(EVERY_FORM);

    test('is screened in one batch with every other, and none is malformed', async () => {
      const capitals = all.filter((text) => /^(bc1|ltc1|zs1|q)/.test(text));
      const asked = [...all, ...capitals.map((text) => text.toUpperCase())];
      const results = await resultsOf(
        [...asked, `bitcoincash:${EVERY_FORM.bitcoin_cash}`],
        withList([STRANGER]),
      );
      expect(results).toHaveLength(all.length + capitals.length + 1);
      for (const result of results) {
        expect(result).toMatchObject({ sanctions: { listed: false }, equivalent_forms: [] });
      }
    });

    test.each(Object.entries(EVERY_FORM))(
      'is listed where the list holds it: %s',
      async (_, text) => {
        expect(await resultsOf([text], withList([text]))).toMatchObject([
          { address: text, state: 'ok', sanctions: { listed: true, programs: ['CYBER2'] } },
        ]);
      },
    );

    test('is listed in capitals, as QR codes have it, and is no Solana key', async () => {
      // Without a character that base58 lacks: 32 bytes, were it read as that.
      const text = 'ltc1qaa7vz9hk5lhfqvfj56c3vm53ndmrwu8vh4hj66';
      const capitals = text.toUpperCase();
      for (const asked of [text, capitals]) {
        expect(await resultsOf([asked], withList([text]))).toMatchObject([
          { address: text, kind: 'other', sanctions: { listed: true } },
        ]);
      }
    });
  });

  describe('another form of the same key or account', () => {
    const { bitcoin_segwit: listed, bitcoin_p2pkh: asked } = EVERY_FORM;
    const FORM = { form: 'bitcoin_segwit', address: listed, relation: 'same_key', listed: true };

    test('that is listed stands in its own field, and the address is not listed for it', async () => {
      expect(await resultsOf([asked, STRANGER], withList([listed]))).toMatchObject([
        { state: 'ok', sanctions: { listed: false, programs: [] }, equivalent_forms: [FORM] },
        { state: 'insufficient_evidence', sanctions: { listed: false }, equivalent_forms: [] },
      ]);
    });

    test('that is listed is told by a list past its age, of which nothing else is', async () => {
      const results = await resultsOf([asked, STRANGER], withList([listed], NOW - 9 * DAY_S));
      expect(results).toMatchObject([
        {
          state: 'ok',
          sanctions: null,
          equivalent_forms: [FORM],
          checked: { sanctions_list: false },
        },
        { state: 'not_deployed', sanctions: null, equivalent_forms: null },
      ]);
    });

    test('is looked for where the list is read, and denied nowhere else', async () => {
      const unread = { ...withList([listed]), sanctionsList: SILENT.sanctionsList };
      expect(await resultsOf([asked], unread)).toMatchObject([{ equivalent_forms: null }]);
    });

    test('of an EVM address is its Tron address, and the reverse', async () => {
      const { tron } = EVERY_FORM;
      const hex = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
      expect(await resultsOf([hex], withList([tron]))).toMatchObject([
        {
          sanctions: { listed: false },
          equivalent_forms: [{ form: 'tron_base58', address: tron }],
        },
      ]);
      expect(await resultsOf([tron], withList([hex]))).toMatchObject([
        { sanctions: { listed: false }, equivalent_forms: [{ form: 'evm_hex', address: hex }] },
      ]);
    });
  });
});

describe('other lists', () => {
  const NAMES = ['eu-fsf', 'uk-ofsi'] as const;
  const STRANGER = evm('a stranger');
  const NAMED = evm('named');
  const TRON = addressNamed('tron', 'twice');
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
        {
          published: '2026-11-20',
          checked_at: NOW - 60,
          entries: [entryOf(evm('on the SDN list'))],
        },
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
      { state: 'insufficient_evidence', other_lists: null, checked: { other_lists: false } },
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
    // A request without this question gets the same answer as before.
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
});
