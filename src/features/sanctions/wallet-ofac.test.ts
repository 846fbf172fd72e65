import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import type { OtherListEntry } from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { LISTED, screen, screenData, screenRefusal, UNCHECKED } from '../../testing/ofac-screen.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { otherEntryOf } from '../../testing/twins/tables.ts';
import { listedEntry } from '../../testing/walked-world.ts';
import { WALK_LIMITS } from './walk.ts';
import { walletOfac } from './wallet-ofac.route.ts';

const SUBJECT = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const SUBJECT_EIP55 = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const SUBJECT_TRON = 'TN9HJXyVnHKK2EfX48gzLKrBK5mXqZHkHH';
const MIDDLE = '0x1111111111111111111111111111111111111abc';
const MONERO = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZbJ2ZYBZP5QoXF6Xx1B1kK9y8eFXn2BdZ7Yc9cQ';

const LIST_SOURCE = { name: 'OFAC SDN List', url: 'memory:', as_of: STILL_NOW - 60 };
const HISTORY_SOURCE = { name: 'Transfers in memory', url: 'memory:', as_of: STILL_NOW - 120 };
const LIST = {
  name: 'OFAC SDN List',
  published: '2026-09-20',
  addresses: 1,
  source: 'memory:',
  sha256: `${'0'.repeat(63)}2`,
  as_of: STILL_NOW - 60,
};
const FORMS = [
  { form: 'eip55', address: SUBJECT_EIP55, relation: 'same_account', listed: false },
  { form: 'tron_base58', address: SUBJECT_TRON, relation: 'same_key', listed: false },
];
const OTHER_CHAINS = ['arbitrum', 'base', 'bsc', 'polygon', 'hyperevm'];
const DIRECT =
  'A direct match against the published SDN list only; no other list was searched. It is a ' +
  'screen: a false is not a clearance.';
const NO_OTHER_LISTS =
  'No import of the table of other lists has completed on this deployment; nothing was checked.';
const GRAPH =
  'Proximity walks transfer history up to two hops; being near a listed address is a fact about ' +
  'the graph, not a designation, and no part of `sanctioned`.';
const CHAINS_LEFT = `Chains not examined: ${OTHER_CHAINS.join(', ')}.`;
const UNCHECKED_SENTENCE =
  'Proximity was not checked, and while it is not, a false is no negative result.';

const HARMLESS = [memoryTransfer(1, SUBJECT, MIDDLE)];
describe('says', () => {
  test('that an address is not listed and that no way to a listed one was found', async () => {
    expect(await screen({ transfers: HARMLESS }, SUBJECT_EIP55)).toEqual({
      state: 'ok',
      subject: SUBJECT,
      sources: [LIST_SOURCE, HISTORY_SOURCE],
      as_of: STILL_NOW - 120,
      simulated: false,
      data: {
        address: SUBJECT,
        sanctioned: false,
        matches: [],
        list: LIST,
        equivalent_forms: FORMS,
        other_lists: null,
        other_lists_reason: NO_OTHER_LISTS,
        proximity_checked: true,
        proximity: {
          ...UNCHECKED,
          checked: true,
          reason: null,
          found: false,
          hops_examined: 2,
          nodes_examined: 1,
          nodes_unread: 0,
          frontier_exhausted: true,
          node_budget_hit: false,
          hubs_not_expanded: [],
          hubs_not_expanded_count: 0,
          hub_contacts: [],
          hub_contacts_count: 0,
          edges_left_out: { zero_value: 0, no_market_token: 0 },
          left_out_contacts: [],
          chains_examined: ['ethereum'],
          chains_not_examined: OTHER_CHAINS,
          nft_not_examined: OTHER_CHAINS,
          provenance: 'warehouse',
        },
        caveat: `${DIRECT} ${GRAPH} ${CHAINS_LEFT}`,
      },
    });
  });

  test('a listed address in whatever case, with every row of the list under it', async () => {
    const listed = [
      { ...listedEntry(SUBJECT_EIP55), uid: '12345' },
      {
        ...listedEntry(SUBJECT),
        currency: 'BSC',
        uid: '9',
        remarks: 'Linked To: X',
        note: null,
        programs: [],
      },
    ];
    const { address, sanctioned, matches, equivalent_forms } = await screenData(
      { listed },
      SUBJECT,
    );
    expect({ address, sanctioned }).toEqual({ address: SUBJECT, sanctioned: true });
    expect(matches).toEqual([
      {
        entity: 'LAST, First',
        type: 'Individual',
        programs: ['CYBER2', 'DPRK3'],
        currency: 'ETH',
        listed_address: SUBJECT_EIP55,
        uid: '12345',
        remarks: null,
        note: null,
      },
      {
        entity: 'LAST, First',
        type: 'Individual',
        programs: [],
        currency: 'BSC',
        listed_address: SUBJECT,
        uid: '9',
        remarks: 'Linked To: X',
        note: null,
      },
    ]);
    expect(equivalent_forms.map(({ listed: on }) => on)).toEqual([true, false]);
  });

  test('a listed equivalent form in its own field and in the caveat, never folded in', async () => {
    const data = await screenData({ listed: [listedEntry(SUBJECT_TRON)] }, SUBJECT);
    expect(data.sanctioned).toBe(false);
    expect(data.equivalent_forms.map(({ listed }) => listed)).toEqual([false, true]);
    expect(data.caveat).toContain(
      `Another form of the same key or account stands on the list: ${SUBJECT_TRON}.`,
    );
  });

  test('of a key hash every form on every chain, and the listed one of them', async () => {
    const asked = 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ';
    const listed = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    const data = await screenData({ listed: [listedEntry(listed)] }, asked);
    expect(data).toMatchObject({ address: asked, sanctioned: false, matches: [] });
    expect(data.equivalent_forms).toContainEqual({
      form: 'bitcoin_segwit',
      address: listed,
      relation: 'same_key',
      listed: true,
    });
    expect(data.equivalent_forms.filter((one) => one.listed !== false)).toHaveLength(1);
    expect(data.caveat).toContain(
      `Another form of the same key or account stands on the list: ${listed}.`,
    );
    expect(data.caveat).not.toContain('of no known address form');
  });

  test('an unlisted address of another chain by its own checksum, and nothing of a typo', async () => {
    const asked = 'LTC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KGMN4N9';
    const world = { listed: [listedEntry(SUBJECT)] };
    expect(await screenData(world, asked)).toMatchObject({
      address: asked.toLowerCase(),
      sanctioned: false,
    });
    const typo = await screenRefusal(world, asked.replace('W508', 'W588'));
    expect(typo.status).toBe(400);
  });

  test('a listed text of no known form, and that it was compared as printed', async () => {
    const data = await screenData(
      { listed: [{ ...listedEntry(MONERO), currency: 'XMR' }] },
      MONERO,
    );
    expect(data).toMatchObject({ address: MONERO, sanctioned: true, equivalent_forms: [] });
    expect(data.caveat).toContain('of no known address form and was compared as it is printed');
    expect(data.proximity.reason).toBe(
      'Transfer history of this kind of address (other) is not read by this deployment.',
    );
  });

  test('of a past day what the list of that day held, and walks nothing', async () => {
    const data = await screenData({ listed: [listedEntry(SUBJECT)] }, SUBJECT, '2026-09-12');
    expect(data.sanctioned).toBe(false);
    expect(data.list.published).toBe('2026-09-10');
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'The walk reads transfer history as it is today, so it was not made for a past day.',
    });
    expect(data.caveat).toBe(
      `${DIRECT} It is answered from the list that was the newest on 2026-09-12, of 2026-09-10. ` +
        `${GRAPH} ${UNCHECKED_SENTENCE}`,
    );
    const today = await screenData({ listed: [listedEntry(SUBJECT)] }, SUBJECT, '2026-09-23');
    expect(today.sanctioned).toBe(true);
  });

  test('how old the list is, from a day on', async () => {
    const { caveat } = await screenData({ checkedAgoS: 26 * 3_600 }, SUBJECT);
    expect(caveat).toContain('The list was last checked against its publisher 26 hours ago.');
  });

  test('a hit from a list past its age, with what it cannot say left null', async () => {
    const world = { listed: [listedEntry(SUBJECT)], checkedAgoS: 8 * DAY_S, transfers: HARMLESS };
    const data = await screenData(world, SUBJECT);
    expect(data.sanctioned).toBe(true);
    expect(data.equivalent_forms.map(({ listed }) => listed)).toEqual([true, null]);
    expect(data.proximity_checked).toBe(false);
    expect(data.proximity.reason).toMatch(/^The list was last checked 8 days ago/);
    expect(data.proximity.nodes_unread).toBeNull();
    expect(data.caveat).toContain('last checked against its publisher 8 days ago');
  });
});

describe('is silent', () => {
  test('of proximity where no history is held, with the direct check complete', async () => {
    expect(await screen({ noHistory: true }, SUBJECT)).toEqual({
      state: 'ok',
      subject: SUBJECT,
      sources: [LIST_SOURCE],
      as_of: STILL_NOW - 60,
      simulated: false,
      data: {
        address: SUBJECT,
        sanctioned: false,
        matches: [],
        list: LIST,
        equivalent_forms: FORMS,
        other_lists: null,
        other_lists_reason: NO_OTHER_LISTS,
        proximity_checked: false,
        proximity: {
          ...UNCHECKED,
          reason:
            'This deployment holds no transfer history and reads none live, so no path was ' +
            'looked for.',
        },
        caveat: `${DIRECT} ${GRAPH} ${UNCHECKED_SENTENCE}`,
      },
    });
  });

  test('while no list is loaded, also of a text of no known form', async () => {
    for (const address of [SUBJECT, MONERO]) {
      expect(await screen({ noList: true }, address)).toEqual({
        state: 'not_deployed',
        subject: address,
        sources: [],
        as_of: STILL_NOW,
        simulated: false,
        data: null,
        reason: 'No sanctions list has been loaded on this deployment; nothing was checked.',
      });
    }
  });

  test('of a miss on a list past its age, also of a text of no known form', async () => {
    for (const address of [SUBJECT, MONERO]) {
      expect(await screen({ checkedAgoS: 8 * DAY_S }, address)).toEqual({
        state: 'not_deployed',
        subject: address,
        sources: [],
        as_of: STILL_NOW,
        simulated: false,
        data: null,
        reason:
          'The list was last checked 8 days ago; past 7 days it can show a listing, not an ' +
          'absence.',
      });
    }
  });

  test('of a day that no held publication covers, naming those around it', async () => {
    const said = await screen({}, SUBJECT, '2026-09-18');
    expect(said).toMatchObject({ state: 'not_deployed', data: null });
    expect(!(said instanceof Refusal) && said.reason).toMatch(/2026-09-10.*2026-09-20/);
  });
});

describe('refuses', () => {
  test('a text that is no address and is not listed, without repeating it', async () => {
    const refusal = {
      status: 400,
      body: {
        error: 'address: form not recognised; nothing was checked',
        fields: [{ path: ['address'], says: 'form not recognised; nothing was checked' }],
      },
    };
    const cut = SUBJECT.slice(0, -1);
    for (const text of [
      'hello',
      cut,
      `${SUBJECT}0`,
      'a b',
      `0X${SUBJECT.slice(2)}`,
      'x'.repeat(128),
    ]) {
      expect(await screenRefusal({}, text), text).toEqual(refusal);
    }
  });

  test('a key whose letter case was lost, with the hint', async () => {
    const folded = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8'.toLowerCase().replace(/l/g, 'L');
    expect(await screenRefusal({}, folded)).toEqual({
      status: 400,
      body: {
        error: 'address: not a 32-byte key; check its letter case',
        fields: [{ path: ['address'], says: 'not a 32-byte key; check its letter case' }],
      },
    });
  });

  test('a day that no calendar has, and one in the future', async () => {
    for (const on of ['2026-02-29', '2026-13-01', '0000-01-01']) {
      const said = walletOfac.query.safeParse({ on }).error?.issues.map(({ message }) => message);
      expect(said).toContain('expected a day of the calendar, written YYYY-MM-DD');
    }
    expect(await screenRefusal({}, SUBJECT, '2026-09-25')).toEqual({
      status: 400,
      body: {
        error: 'on: a day that is not in the future',
        fields: [{ path: ['on'], says: 'a day that is not in the future' }],
      },
    });
  });
});

describe('says of other lists', () => {
  const now = { as_of: STILL_NOW - 5, simulated: false };
  const on = (entries: readonly OtherListEntry[]) => ({
    otherLists: { names: ['eu', 'uk'], entries: [...entries, ...ELSEWHERE], ...now },
  });
  const entry = { ...otherEntryOf(SUBJECT), source: 'eu' };
  const ELSEWHERE = ['eu', 'uk'].map((source) => ({ ...otherEntryOf(evm('elsewhere')), source }));

  test('each with its own date and source; a listing on one never makes it sanctioned', async () => {
    const { sanctioned, other_lists, caveat } = await screenData(on([entry]), SUBJECT);
    expect(sanctioned).toBe(false);
    expect(other_lists).toMatchObject([
      { list: 'eu', as_of: STILL_NOW - 5, rows: 2, checked: true, listed: true },
      { list: 'uk', checked: true, listed: false, matches: [] },
    ]);
    expect(other_lists?.[0]?.matches).toEqual([
      {
        listed_address: SUBJECT,
        currency: 'ETH',
        entity: 'Doe, Jane',
        entity_type: 'Person',
        programs: 'EU-CYB',
        entry_id: 'eu-1',
        source_url: null,
        listed_at: '2025-01-02',
        ended_at: null,
        note: null,
      },
    ]);
    expect(caveat).toContain('It stands on another list: eu.');
    expect(caveat).toContain('is no part of `sanctioned`');
  });

  test('an answer is as old as the oldest list that it rests on, of whatever authority', async () => {
    const asOf = async (as_of: number) => {
      const said = await screen({ otherLists: { ...on([entry]).otherLists, as_of } }, SUBJECT);
      return said instanceof Refusal ? null : said.as_of;
    };
    const old = STILL_NOW - 40 * 86_400;
    expect(await asOf(old)).toBe(old);
    expect(await asOf(STILL_NOW - 5)).toBe(STILL_NOW - 120);
  });

  test('another form of the same key in a field of its own, and an entry that has ended as ended', async () => {
    const tron = { ...otherEntryOf(SUBJECT_TRON), source: 'uk' };
    const ended = { ...entry, ended_at: '2026-01-02' };
    const { other_lists } = await screenData(on([tron, ended]), SUBJECT);
    expect(other_lists).toMatchObject([
      { listed: false, matches: [{ ended_at: '2026-01-02' }], equivalent_matches: [] },
      { listed: false, matches: [], equivalent_matches: [{ listed_address: SUBJECT_TRON }] },
    ]);
  });

  test('no absence of a list of which rows were refused, and what it lists all the same', async () => {
    const lost = new Map([['eu', 3]]);
    const world = { otherLists: { ...on([entry]).otherLists, lost } };
    const elsewhere = await screenData(world, evm('a stranger'));
    const reason = 'Refused at import: 3 rows of eu; that list can show a listing, not an absence.';
    expect(elsewhere.other_lists).toMatchObject([
      {
        list: 'eu',
        rows_lost: 3,
        checked: false,
        listed: null,
        matches: null,
        equivalent_matches: null,
        reason,
      },
      { list: 'uk', rows_lost: 0, checked: true, listed: false, matches: [], reason: null },
    ]);
    const { other_lists } = await screenData(world, SUBJECT);
    expect(other_lists?.[0]).toMatchObject({
      checked: false,
      listed: true,
      matches: [{ listed_address: SUBJECT }],
      equivalent_matches: null,
      reason,
    });
    // An entry that ended shows that it was listed, not that it is not.
    const ended = { ...on([{ ...entry, ended_at: '2026-01-02' }]).otherLists, lost };
    const past = await screenData({ otherLists: ended }, SUBJECT);
    expect(past.other_lists?.[0]).toMatchObject({
      listed: null,
      matches: [{ ended_at: '2026-01-02' }],
    });
  });

  test('a text of no known form that one of them holds; another is no address', async () => {
    const literal = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZb';
    const { sanctioned, other_lists, caveat } = await screenData(
      on([{ ...entry, address: literal }]),
      literal,
    );
    expect(sanctioned).toBe(false);
    expect(other_lists).toMatchObject([{ listed: true }, { listed: false }]);
    expect(caveat).toContain('compared as it is printed');
    expect(await screenRefusal(on([]), literal)).toMatchObject({ status: 400 });
  });

  test('why none was asked: none was imported, or the question is of a past day', async () => {
    const never = await screenData({}, SUBJECT);
    expect(never.other_lists).toBeNull();
    expect(never.other_lists_reason).toMatch(/other lists/);
    expect(never.caveat).toContain('no other list was searched');
    const past = await screenData(on([entry]), SUBJECT, '2026-09-10');
    expect(past.other_lists_reason).toMatch(/not asked for a past day/);
  });

  test('that another list names an address about which the SDN list cannot answer', async () => {
    const silent = await screen({ ...on([entry]), noList: true }, SUBJECT);
    expect(silent).toMatchObject({ state: 'not_deployed' });
    expect('reason' in silent && silent.reason).toContain('Another list names it: eu.');
  });
});

const TOKEN = '0x3333333333333333333333333333333333333fed';
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const PAID = [
  memoryTransfer(1, SUBJECT, MIDDLE, { usd: '3000.5' }),
  memoryTransfer(2, LISTED, MIDDLE, {
    kind: 'token',
    token: TOKEN,
    symbol: 'USDX',
    decimals: 6,
    raw_amount: 2_500_001n,
    usd: '2.5',
    initiator: SUBJECT,
  }),
];

describe('says of proximity', () => {
  test('the whole way to a listed address, hop by hop, and no designation of it', async () => {
    const { sanctioned, proximity, proximity_checked } = await screenData(
      { transfers: PAID },
      SUBJECT,
    );
    expect(sanctioned).toBe(false);
    expect(proximity_checked).toBe(true);
    expect(proximity).toMatchObject({
      checked: true,
      reason: null,
      found: true,
      hops: 2,
      path: [SUBJECT, MIDDLE, LISTED],
      entity: 'LAST, First',
      program: 'CYBER2, DPRK3',
      listed_address: LISTED,
      hops_examined: 2,
      nodes_examined: 1,
      frontier_exhausted: true,
    });
    expect(proximity.hops_detail).toEqual([
      {
        from: SUBJECT,
        to: MIDDLE,
        chain: 'ethereum',
        tx: PAID[0]?.tx,
        token: null,
        symbol: 'ETH',
        amount: '1',
        raw_amount: '1000000000000000000',
        token_id: null,
        usd: '3000.5',
        at: '2026-01-01T00:00:01.000Z',
        direction: 'out',
        initiator: SUBJECT,
        initiated_by_subject: true,
        success: true,
      },
      {
        from: LISTED,
        to: MIDDLE,
        chain: 'ethereum',
        tx: PAID[1]?.tx,
        token: TOKEN,
        symbol: 'USDX',
        amount: '2.500001',
        raw_amount: '2500001',
        token_id: null,
        usd: '2.5',
        at: '2026-01-01T00:00:02.000Z',
        direction: 'in',
        initiator: SUBJECT,
        initiated_by_subject: true,
        success: true,
      },
    ]);
  });

  test('left-out contacts with a listed address, in the field and in the caveat', async () => {
    const poison = memoryTransfer(7, SUBJECT, LISTED, {
      kind: 'token',
      token: TOKEN,
      raw_amount: 0n,
      initiator: MIDDLE,
    });
    const data = await screenData({ transfers: [poison] }, SUBJECT);
    expect(data.proximity.found).toBe(false);
    expect(data.proximity.edges_left_out).toEqual({ zero_value: 1, no_market_token: 0 });
    expect(data.proximity.left_out_contacts).toEqual([
      { chain: 'ethereum', tx: poison.tx, token: TOKEN, why: 'zero_value', listed_address: LISTED },
    ]);
    expect(data.caveat).toContain(
      `Transfers that the walk leaves out as unwanted touch listed addresses: 1, of ${LISTED}.`,
    );
  });

  test('a way that was seen though history is not held in full, and what misses', async () => {
    const world = { transfers: PAID, history: { coverage: [] } };
    const { proximity, caveat } = await screenData(world, SUBJECT);
    expect(proximity).toMatchObject({ checked: true, found: true, hops_examined: 0 });
    // A party that was met is told; that nothing else was met rests on the whole walk.
    expect(proximity).toMatchObject({
      left_out_contacts: null,
      edges_left_out: null,
      hubs_not_expanded: null,
      hubs_not_expanded_count: null,
      hub_contacts: null,
      hub_contacts_count: null,
      node_budget_hit: null,
      frontier_exhausted: false,
      nodes_examined: 2,
    });
    expect(proximity.chains_examined).toBeNull();
    expect(proximity.nodes_unread).toBe(2);
    expect(caveat).toMatch(/found a way before it came to its end: partial_history: /);
  });

  test('on made-up data the way, labelled, and that proximity is not checked', async () => {
    const world = { transfers: PAID, simulated: true };
    const data = await screenData(world, SUBJECT);
    expect(data.sanctioned).toBe(false);
    expect(data.proximity_checked).toBe(false);
    expect(data.proximity).toMatchObject({
      checked: false,
      found: true,
      path: [SUBJECT, MIDDLE, LISTED],
      hops_examined: null,
      provenance: null,
    });
    expect(data.proximity.reason).toMatch(/^Simulated: /);
    expect(data.caveat).toMatch(/^Simulated: /);
    const miss = await screenData({ transfers: HARMLESS, simulated: true }, SUBJECT);
    expect(miss.proximity).toMatchObject({ checked: false, found: null, nodes_examined: null });
  });

  test('an amount of unknown decimals as the exact integer alone', async () => {
    const odd = memoryTransfer(1, SUBJECT, LISTED, {
      kind: 'token',
      token: TOKEN,
      raw_amount: 77n,
      initiator: null,
      success: null,
    });
    const { proximity } = await screenData({ transfers: [odd] }, SUBJECT);
    expect(proximity.hops_detail?.[0]).toMatchObject({
      symbol: null,
      amount: null,
      raw_amount: '77',
      token_id: null,
      usd: null,
      initiator: null,
      initiated_by_subject: false,
      success: null,
    });
  });

  test('hubs that were not walked past, largest first, as not looked at until the ring is whole', async () => {
    const hubs = [MIDDLE, TOKEN];
    const crowd = hubs.flatMap((hub, i) =>
      Array.from({ length: 4 + i }, (_, n) =>
        memoryTransfer(10 * i + n, hub, `0x${(n + 2 ** 20).toString(16).padStart(40, '1')}`),
      ),
    );
    const transfers = [...hubs.map((hub, n) => memoryTransfer(n, SUBJECT, hub)), ...crowd];
    const world = { transfers, limits: { ...WALK_LIMITS, degreeMax: 4 } } as const;
    const { proximity, proximity_checked, caveat } = await screenData(
      { ...world, ring: 'absent' },
      SUBJECT,
    );
    expect(proximity_checked).toBe(false);
    expect(proximity).toMatchObject({
      checked: false,
      reason:
        `hub_unread: too busy to walk past: ${MIDDLE} and 1 more. If they dealt with the ` +
        'list is unread: ring_unbuilt: the counterparties of listed addresses cannot be told: the ring is being ' +
        'built.',
      found: null,
      frontier_exhausted: null,
      nodes_unread: 2,
      hubs_not_expanded_count: 2,
      hubs_not_expanded: [
        { address: TOKEN, degree: 6, label: null },
        { address: MIDDLE, degree: 5, label: null },
      ],
    });
    expect(caveat).toContain('Addresses with too many counterparties were not walked past: 2.');
    const whole = await screenData({ ...world, ring: 'whole' }, SUBJECT);
    expect(whole.proximity).toMatchObject({ checked: true, found: false, hub_contacts: [] });
    const half = await screenData({ ...world, ring: 'half' }, SUBJECT);
    expect(half.proximity).toMatchObject({ checked: false, found: null, hub_contacts: null });
    expect(half.proximity.reason).toContain('ring_partial: listed addresses are held only in part');
  });
});

describe('is silent of proximity', () => {
  test('of proximity where the address is a hub, with the direct check complete', async () => {
    const transfers = Array.from({ length: 5_001 }, (_, n) =>
      memoryTransfer(n, SUBJECT, `0x${(n + 2 ** 20).toString(16).padStart(40, '1')}`),
    );
    const data = await screenData({ transfers, listed: [listedEntry(SUBJECT)] }, SUBJECT);
    expect(data.sanctioned).toBe(true);
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'high_degree: no walk starts from a hub: 5001 counterparties, over 5000.',
    });
  });

  test('of proximity of an address on a chain that is not read', async () => {
    const data = await screenData({}, BITCOIN);
    expect(data.address).toBe(BITCOIN);
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'Transfer history of this kind of address (bitcoin) is not read by this deployment.',
    });
  });

  test('of proximity where the node budget was hit, naming how many were met', async () => {
    const transfers = [...HARMLESS, memoryTransfer(2, SUBJECT, TOKEN)];
    const limits = { ...WALK_LIMITS, nodesMax: 1 };
    const world = { transfers, limits, ring: 'absent' } as const;
    const { proximity, proximity_checked } = await screenData(world, SUBJECT);
    expect(proximity_checked).toBe(false);
    expect(proximity).toEqual({
      ...UNCHECKED,
      reason: 'node_budget: the walk met 2 addresses, more than the 1 it may hold.',
    });
  });
});
