// Flows of exchanges: what moved between labelled addresses and others in an hour that is held
// whole, and nothing of any other hour.

import { expect, test } from 'vitest';
import { homeChain } from '../../chain/chain.ts';
import { map, Read, type Reading, read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChainFlows, ChainFlowsPort, HourOfFlows } from '../../ports/chain-flows.ts';
import { CANDLE_MS, type SeriesKind, type SeriesStore } from '../../ports/series.ts';
import type { ExchangeLabel, ExchangeLabels, LabelLookUp } from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import { memorySeriesStore } from '../../testing/twins/series.ts';
import { exchangeAt, observeChains, whaleAmount } from './chain-flows.ts';

const HOUR = CANDLE_MS;
const NOW = Date.UTC(2026, 5, 1, 12, 10);
const LAST = Math.floor(NOW / HOUR) * HOUR - HOUR;
const SIGNAL = new AbortController().signal;
const [HOT, COLD, BOB, EVE] = [evm('hot'), evm('cold'), evm('bob'), evm('eve')];
const ETH = 10n ** 18n;
const source = { name: 'A', url: 'x:', as_of: 0, kind: 'table', simulated: false } as const;

const MOVED: HourOfFlows = {
  pairs: [
    { from: BOB, to: HOT, raw_amount: 400n * ETH, transfers: 3 },
    { from: HOT, to: BOB, raw_amount: 150n * ETH, transfers: 2 },
    { from: HOT, to: COLD, raw_amount: 9_000n * ETH, transfers: 1 },
    { from: BOB, to: EVE, raw_amount: 7n * ETH, transfers: 1 },
  ],
  large: [
    { tx: '0x1', index: 0, from: BOB, to: HOT, raw_amount: 400n * ETH, at: LAST / 1_000 + 60 },
  ],
};

function labelFor(address: string, chain: string | null): ExchangeLabel {
  return {
    address,
    chain,
    label: 'Example: hot',
    entity: 'Example',
    role: 'hot',
    confidence: 'web_crawl',
    clusterable: false,
    source: 'tests',
    source_url: null,
    first_seen: '2026-01-01',
  };
}
const FOUND = new Map([
  [HOT, [labelFor(HOT, 'ethereum')]],
  [COLD, [labelFor(COLD, null)]],
  [EVE, [labelFor(EVE, 'bsc')]],
]);
const LABELS: ExchangeLabels = {
  lookUp: async () =>
    read<LabelLookUp, 'exchange_labels'>(
      { table_rows: 3, found: FOUND },
      { port: 'exchange_labels', source },
    ),
};

type Hour = Reading<HourOfFlows, ChainFlowsPort>;
const NOT_HELD: Hour = unread(
  'chain_flows',
  why('flows_not_held', { chain: 'ethereum', from: 'a', to: 'b' }),
);

/** A chain of which only the last hour is held. */
const flows: ChainFlows = {
  hour: async (_, from) =>
    from * 1_000 === LAST ? read(MOVED, { port: 'chain_flows', source }) : NOT_HELD,
};

async function priced(store: SeriesStore = memorySeriesStore()): Promise<SeriesStore> {
  const candle = { open: '2500', high: '2600', low: '2400', close: '2550', volume: '1' };
  const hours = [LAST - HOUR, LAST];
  await store.add(
    { venue: 'bybit', series: 'candles', of: 'ETH' },
    hours.map((at) => ({ at, ...candle })),
    {
      covered: [{ from: LAST - HOUR, to: LAST + HOUR }],
      received_at: NOW,
      source: 'x',
      origin: 'observed',
    },
  );
  return store;
}

function partsOf(store: SeriesStore, over: Partial<Parameters<typeof observeChains>[0]> = {}) {
  const now = () => NOW / 1_000;
  return {
    flows,
    labels: LABELS,
    store,
    assets: ['ETH', 'DOGE'],
    origin: 'observed',
    now,
    reached: new Map<string, number>(),
    ...over,
  } as const;
}

async function held(store: SeriesStore, series: SeriesKind, from = LAST) {
  const name = { venue: 'chain', series, of: 'ETH' } as const;
  const reading = await store.read(name, { from, to: LAST + HOUR }, { signal: SIGNAL });
  const rows = rowsSeen(map(reading, (value) => value.rows)) ?? [];
  return { reading, rows: rows.map(({ received_at: _, revision: __, ...row }) => row) };
}

test('an hour that is held is summed in coins and dollars, between exchanges nothing flows', async () => {
  const store = await priced();
  expect(await observeChains(partsOf(store), SIGNAL)).toBeNull();
  const { reading, rows } = await held(store, 'net_flow');
  expect(reading).toBeInstanceOf(Read);
  expect(rows).toEqual([
    {
      at: LAST,
      interval_s: 3_600,
      in_amount: '400',
      out_amount: '150',
      in_usd: '1000000',
      out_usd: '375000',
      transfers: 5,
    },
  ]);
  expect((await held(store, 'whale_transfers')).rows).toEqual([
    {
      at: LAST + 60_000,
      chain: 'ethereum',
      tx: '0x1',
      index: 0,
      from: BOB,
      to: HOT,
      amount: '400',
      usd: '1000000',
      from_label: null,
      to_label: 'Example',
    },
  ]);
});

test('an hour that is not held whole, or has no price, is a hole and no quiet hour', async () => {
  const store = await priced();
  await observeChains(partsOf(store), SIGNAL);
  const { reading } = await held(store, 'net_flow', LAST - HOUR);
  expect(rowsSeen(map(reading, ({ holes }) => holes))).toEqual([
    { from: LAST - HOUR, to: LAST, gone: false },
  ]);
  const unpriced = memorySeriesStore();
  expect(await observeChains(partsOf(unpriced), SIGNAL)).toBeNull();
  expect((await held(unpriced, 'net_flow')).reading).toBeInstanceOf(Unread);
});

test('hours that nobody can read keep rounds from none that can be read', async () => {
  const store = await priced();
  const from = LAST - 40 * HOUR;
  const candle = { at: from, open: '2500', high: '2500', low: '2500', close: '2500', volume: '1' };
  const observed = { received_at: NOW, source: 'x', origin: 'observed' as const };
  const covered = [{ from, to: from + HOUR }];
  const name = { venue: 'bybit', series: 'candles', of: 'ETH' } as const;
  await store.add(name, [candle], { ...observed, covered });
  // Forty hours of the chain were never imported; the one before them was.
  const hour: ChainFlows['hour'] = async (_, second) =>
    second * 1_000 === from ? read(MOVED, { port: 'chain_flows', source }) : NOT_HELD;
  const parts = partsOf(store, { flows: { hour } });
  for (let round = 0; round < 5; round += 1) await observeChains(parts, SIGNAL);
  expect((await held(store, 'net_flow', from)).rows).toMatchObject([{ at: from, transfers: 5 }]);
});

test('without labels, or where the warehouse does not answer, nothing is kept and it is told', async () => {
  const lost = why('store_unreadable', { what: 'The warehouse', fault: 'it is away' });
  for (const over of [
    { labels: { lookUp: async () => unread('exchange_labels', lost) } },
    { flows: { hour: async () => unread('chain_flows', lost) } },
  ] as const) {
    const store = await priced();
    expect(await observeChains(partsOf(store, over), SIGNAL)).toEqual(lost);
    expect((await held(store, 'net_flow')).reading).toBeInstanceOf(Unread);
    expect((await held(store, 'whale_transfers')).reading).toBeInstanceOf(Unread);
  }
});

test('a label counts on the chain that it names', () => {
  expect(exchangeAt({ found: FOUND }, 'ethereum', HOT)).toBe('Example');
  expect(exchangeAt({ found: FOUND }, 'bsc', HOT)).toBeNull();
  expect(exchangeAt({ found: FOUND }, 'bsc', COLD)).toBe('Example');
});

test('an asset has the chain whose own coin it is', () => {
  expect(['ETH', 'BNB', 'POL', 'HYPE', 'BTC', 'DOGE'].map(homeChain)).toEqual([
    ...['ethereum', 'bsc', 'polygon', 'hyperevm', null, null],
  ]);
  expect(whaleAmount('ethereum', '2500')).toBe(400n * ETH);
});
