import { describe, expect, test } from 'vitest';
import { memoryExchangeLabels } from '../../adapters/exchange-labels/memory.ts';
import { memorySanctionsList } from '../../adapters/sanctions-list/memory.ts';
import { memoryTransferHistory } from '../../adapters/transfer-history/memory.ts';
import { heldInFull, memoryTransfer } from '../../adapters/transfer-history/memory-transfers.ts';
import type { Envelope } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { envelopeSchema } from '../../contract/route.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ListEntry } from '../../ports/sanctions-list.ts';
import type { HistoryTransfer, TransferHistory } from '../../ports/transfer-history.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { walletOfac } from './wallet-ofac.contract.ts';
import { walletOfacHandler } from './wallet-ofac.ts';

const SUBJECT = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const SUBJECT_EIP55 = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const SUBJECT_TRON = 'TN9HJXyVnHKK2EfX48gzLKrBK5mXqZHkHH';
const MIDDLE = '0x1111111111111111111111111111111111111abc';
const LISTED = '0x2222222222222222222222222222222222222def';
const TOKEN = '0x3333333333333333333333333333333333333fed';
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const MONERO = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZbJ2ZYBZP5QoXF6Xx1B1kK9y8eFXn2BdZ7Yc9cQ';
const DAY_S = 86_400;

type World = {
  readonly listed?: readonly ListEntry[] | null;
  readonly checkedAgoS?: number;
  readonly transfers?: readonly HistoryTransfer[];
  /** `null`: no history is configured. */
  readonly history?: TransferHistory | null;
  readonly simulated?: boolean;
};

function entryOf(address: string, over: Partial<ListEntry> = {}): ListEntry {
  return {
    address,
    currency: 'ETH',
    entity: 'LAST, First',
    type: 'Individual',
    programs: ['CYBER2', 'DPRK3'],
    uid: '12345',
    remarks: null,
    listed_on: null,
    ...over,
  };
}

const silent = unread('transfer_history' as const, why('no_history'));
const NO_HISTORY: TransferHistory = {
  chainsRead: async () => silent,
  neighbourhoods: async (addresses) => new Map(addresses.map((address) => [address, silent])),
};

function portsOf(world: World) {
  const { listed = [entryOf(LISTED)], transfers = [], simulated = false } = world;
  const checked_at = STILL_NOW - (world.checkedAgoS ?? 60);
  const publications =
    listed === null
      ? []
      : [
          {
            published: '2026-09-10',
            checked_at: STILL_NOW - 10 * DAY_S,
            entries: [entryOf(LISTED)],
          },
          { published: '2026-09-20', checked_at, entries: listed },
        ];
  const held = memoryTransferHistory({
    chains: ['ethereum'],
    transfers,
    coverage: heldInFull('ethereum', STILL_NOW - 120),
    provenance: 'warehouse',
    as_of: STILL_NOW - 120,
    simulated,
  });
  const rules = { maxAgeS: 7 * DAY_S, simulated, now: stillClock() };
  return {
    sanctionsList: memorySanctionsList({ publications, ...rules }),
    exchangeLabels: memoryExchangeLabels({ labels: [], as_of: STILL_NOW, simulated }),
    transferHistory: world.history === undefined ? held : (world.history ?? NO_HISTORY),
  };
}

type Call = (
  input: { params: { address: string }; query: { on?: string }; body: undefined },
  asked: { now: () => number; signal: AbortSignal },
) => ReturnType<ReturnType<typeof walletOfacHandler>>;

async function answer(world: World, address: string, on?: string): Promise<Envelope | Refusal> {
  const handler = walletOfacHandler(portsOf(world)) as Call;
  const query = on === undefined ? {} : { on };
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const said = await handler({ params: { address }, query, body: undefined }, asked);
  if (said instanceof Refusal) return said;
  const envelope = said.envelope(STILL_NOW);
  envelopeSchema(walletOfac).parse(envelope);
  return envelope;
}

async function dataOf(world: World, address: string, on?: string): Promise<Shown> {
  const envelope = await answer(world, address, on);
  if (envelope instanceof Refusal || envelope.state !== 'ok') throw new Error('test: no data');
  return walletOfac.data.parse(envelope.data);
}
type Shown = ReturnType<typeof walletOfac.data.parse>;

async function refusedAs(world: World, address: string, on?: string): Promise<unknown> {
  const said = await answer(world, address, on);
  if (!(said instanceof Refusal)) throw new Error('test: not refused');
  return { status: said.status, body: said.body };
}

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
const GRAPH =
  'Proximity walks transfer history up to two hops; being near a listed address is a fact about ' +
  'the graph, not a designation, and no part of `sanctioned`.';
const CHAINS_LEFT = `Chains not examined: ${OTHER_CHAINS.join(', ')}.`;
const UNCHECKED_SENTENCE =
  'Proximity was not checked, and while it is not, a false is no negative result.';

/** The shape of a proximity of which nothing is said. */
const UNCHECKED = {
  checked: false,
  found: null,
  hops: null,
  path: null,
  hops_detail: null,
  entity: null,
  program: null,
  listed_address: null,
  hops_examined: null,
  nodes_examined: null,
  nodes_unread: 1,
  frontier_exhausted: null,
  node_budget_hit: null,
  hubs_not_expanded: null,
  hubs_not_expanded_count: null,
  edges_left_out: null,
  left_out_contacts: null,
  chains_examined: null,
  chains_not_examined: null,
  provenance: null,
  is_screen: true,
};

const HARMLESS = [memoryTransfer(1, SUBJECT, MIDDLE)];
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

describe('says', () => {
  test('that an address is not listed and no way to a listed one was found, over what', async () => {
    expect(await answer({ transfers: HARMLESS }, SUBJECT_EIP55)).toEqual({
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
          edges_left_out: { zero_value: 0, no_market_token: 0 },
          left_out_contacts: [],
          chains_examined: ['ethereum'],
          chains_not_examined: OTHER_CHAINS,
          provenance: 'warehouse',
        },
        caveat: `${DIRECT} ${GRAPH} ${CHAINS_LEFT}`,
      },
    });
  });

  test('the whole way to a listed address, hop by hop, and no designation of it', async () => {
    const { sanctioned, proximity, proximity_checked } = await dataOf({ transfers: PAID }, SUBJECT);
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
      nodes_examined: 2,
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
        usd: '2.5',
        at: '2026-01-01T00:00:02.000Z',
        direction: 'in',
        initiator: SUBJECT,
        initiated_by_subject: true,
        success: true,
      },
    ]);
  });

  test('a listed address with every row of the list under it, in whatever case it is asked', async () => {
    const listed = [
      entryOf(SUBJECT_EIP55),
      entryOf(SUBJECT, { currency: 'BSC', uid: '9', remarks: 'Linked To: X', programs: [] }),
    ];
    const { address, sanctioned, matches, equivalent_forms } = await dataOf({ listed }, SUBJECT);
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
      },
      {
        entity: 'LAST, First',
        type: 'Individual',
        programs: [],
        currency: 'BSC',
        listed_address: SUBJECT,
        uid: '9',
        remarks: 'Linked To: X',
      },
    ]);
    expect(equivalent_forms.map(({ listed: on }) => on)).toEqual([true, false]);
  });

  test('a listed equivalent form in its own field and in the caveat, never folded in', async () => {
    const data = await dataOf({ listed: [entryOf(SUBJECT_TRON)] }, SUBJECT);
    expect(data.sanctioned).toBe(false);
    expect(data.equivalent_forms.map(({ listed }) => listed)).toEqual([false, true]);
    expect(data.caveat).toContain(
      `Another form of the same key or account stands on the list: ${SUBJECT_TRON}.`,
    );
  });

  test('a text of no known form that stands on the list, and that it was compared as printed', async () => {
    const data = await dataOf({ listed: [entryOf(MONERO, { currency: 'XMR' })] }, MONERO);
    expect(data).toMatchObject({ address: MONERO, sanctioned: true, equivalent_forms: [] });
    expect(data.caveat).toContain('of no known address form and was compared as it is printed');
    expect(data.proximity.reason).toBe(
      'Transfer history of this kind of address (other) is not read by this deployment.',
    );
  });

  test('left-out contacts with a listed address, in the field and in the caveat', async () => {
    const poison = memoryTransfer(7, SUBJECT, LISTED, {
      ...{ kind: 'token', token: TOKEN, raw_amount: 0n, initiator: MIDDLE },
    });
    const data = await dataOf({ transfers: [poison] }, SUBJECT);
    expect(data.proximity.found).toBe(false);
    expect(data.proximity.edges_left_out).toEqual({ zero_value: 1, no_market_token: 0 });
    expect(data.proximity.left_out_contacts).toEqual([
      { chain: 'ethereum', tx: poison.tx, token: TOKEN, why: 'zero_value', listed_address: LISTED },
    ]);
    expect(data.caveat).toContain(
      `Transfers that the walk leaves out as unwanted touch listed addresses: 1, of ${LISTED}.`,
    );
  });

  test('of a past day what the list of that day held, and walks nothing', async () => {
    const data = await dataOf({ listed: [entryOf(SUBJECT)] }, SUBJECT, '2026-09-12');
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
    const today = await dataOf({ listed: [entryOf(SUBJECT)] }, SUBJECT, '2026-09-24');
    expect(today.sanctioned).toBe(true);
  });

  test('how old the list is, from a day on', async () => {
    const { caveat } = await dataOf({ checkedAgoS: 26 * 3_600 }, SUBJECT);
    expect(caveat).toContain('The list was last checked against its publisher 26 hours ago.');
  });

  test('a hit from a list past its age, with what it cannot say left null', async () => {
    const world = { listed: [entryOf(SUBJECT)], checkedAgoS: 8 * DAY_S, transfers: HARMLESS };
    const data = await dataOf(world, SUBJECT);
    expect(data.sanctioned).toBe(true);
    expect(data.equivalent_forms.map(({ listed }) => listed)).toEqual([true, null]);
    expect(data.proximity_checked).toBe(false);
    expect(data.proximity.reason).toMatch(/^The list was last checked 8 days ago/);
    expect(data.proximity.nodes_unread).toBeNull();
    expect(data.caveat).toContain('last checked against its publisher 8 days ago');
  });

  test('a way that was seen although the history is not held in full, and what is missing', async () => {
    const history = memoryTransferHistory({
      chains: ['ethereum'],
      transfers: PAID,
      coverage: [],
      provenance: 'warehouse',
      as_of: STILL_NOW - 120,
      simulated: false,
    });
    const { proximity, caveat } = await dataOf({ history }, SUBJECT);
    expect(proximity).toMatchObject({ checked: true, found: true, hops_examined: 0 });
    expect(proximity.left_out_contacts).toBeNull();
    expect(proximity.chains_examined).toBeNull();
    expect(proximity.nodes_unread).toBe(2);
    expect(caveat).toMatch(/found a way before it came to its end: partial_history: /);
  });

  test('on made-up data the way, labelled, and that proximity is not checked', async () => {
    const world = { transfers: PAID, simulated: true };
    const data = await dataOf(world, SUBJECT);
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
    const miss = await dataOf({ transfers: HARMLESS, simulated: true }, SUBJECT);
    expect(miss.proximity).toMatchObject({ checked: false, found: null, nodes_examined: null });
  });
});

describe('is silent', () => {
  test('of proximity where no history is held, with the direct check complete', async () => {
    expect(await answer({ history: null }, SUBJECT)).toEqual({
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
        proximity_checked: false,
        proximity: {
          ...UNCHECKED,
          reason:
            'This deployment holds no transfer history and reads none live, so no path was looked for.',
        },
        caveat: `${DIRECT} ${GRAPH} ${UNCHECKED_SENTENCE}`,
      },
    });
  });

  test('of proximity where the address is a hub, with the direct check complete', async () => {
    const transfers = Array.from({ length: 5_001 }, (_, n) =>
      memoryTransfer(n, SUBJECT, `0x${(n + 2 ** 20).toString(16).padStart(40, '1')}`),
    );
    const data = await dataOf({ transfers, listed: [entryOf(SUBJECT)] }, SUBJECT);
    expect(data.sanctioned).toBe(true);
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'high_degree: no walk starts from a hub: 5001 counterparties, over 5000.',
    });
  });

  test('of proximity of an address on a chain that is not read', async () => {
    const data = await dataOf({}, BITCOIN);
    expect(data.address).toBe(BITCOIN);
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'Transfer history of this kind of address (bitcoin) is not read by this deployment.',
    });
  });

  test('while no list is loaded, also of a text that only the list could know', async () => {
    for (const address of [SUBJECT, MONERO]) {
      expect(await answer({ listed: null }, address)).toEqual({
        state: 'not_deployed',
        subject: address,
        sources: [],
        as_of: STILL_NOW,
        data: null,
        reason: 'No sanctions list has been loaded on this deployment; nothing was checked.',
      });
    }
  });

  test('of a miss on a list past its age, also of a text that only the list could know', async () => {
    for (const address of [SUBJECT, MONERO]) {
      expect(await answer({ checkedAgoS: 8 * DAY_S }, address)).toEqual({
        state: 'not_deployed',
        subject: address,
        sources: [],
        as_of: STILL_NOW,
        data: null,
        reason:
          'The list was last checked 8 days ago; past 7 days it can show a listing, not an absence.',
      });
    }
  });

  test('of a day that no held publication covers, naming those around it', async () => {
    const said = await answer({}, SUBJECT, '2026-09-18');
    expect(said).toMatchObject({ state: 'not_deployed', data: null });
    expect(!(said instanceof Refusal) && said.reason).toMatch(/2026-09-10.*2026-09-20/);
  });
});

describe('refuses', () => {
  test('a text that is no address and does not stand on the list, without repeating it', async () => {
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
      expect(await refusedAs({}, text), text).toEqual(refusal);
    }
  });

  test('a key whose letter case was lost, with the hint', async () => {
    const folded = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8'.toLowerCase().replace(/l/g, 'L');
    expect(await refusedAs({}, folded)).toEqual({
      status: 400,
      body: { error: 'address: not a 32-byte key; check its letter case' },
    });
  });

  test('a day that no calendar has, and one in the future', async () => {
    for (const on of ['2026-02-29', '2026-13-01', '0000-01-01']) {
      expect(await refusedAs({}, SUBJECT, on), on).toEqual({
        status: 400,
        body: { error: 'on: not a calendar day written YYYY-MM-DD' },
      });
    }
    expect(await refusedAs({}, SUBJECT, '2026-09-25')).toEqual({
      status: 400,
      body: { error: 'on: a day that is not in the future' },
    });
  });
});
