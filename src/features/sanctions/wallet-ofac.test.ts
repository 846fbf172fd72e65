import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { screen, screenData, screenRefusal, UNCHECKED } from '../../testing/ofac-screen.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { listedEntry } from '../../testing/walked-world.ts';

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
      body: { error: 'address: form not recognised; nothing was checked' },
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
      body: { error: 'address: not a 32-byte key; check its letter case' },
    });
  });

  test('a day that no calendar has, and one in the future', async () => {
    for (const on of ['2026-02-29', '2026-13-01', '0000-01-01']) {
      expect(await screenRefusal({}, SUBJECT, on), on).toEqual({
        status: 400,
        body: { error: 'on: not a calendar day written YYYY-MM-DD' },
      });
    }
    expect(await screenRefusal({}, SUBJECT, '2026-09-25')).toEqual({
      status: 400,
      body: { error: 'on: a day that is not in the future' },
    });
  });
});
