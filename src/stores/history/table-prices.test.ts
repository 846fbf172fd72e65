import { expect, test } from 'vitest';
import { map, Part, Read, read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type PriceAsk,
  type Prices,
  type PriceTable,
  priceName,
  type ReadPrice,
} from '../../ports/history.ts';
import { tablePrices } from './table-prices.ts';

const NOW = Date.UTC(2026, 10, 21) / 1_000;
const DAY_S = 86_400;
const SIGNAL = new AbortController().signal;
const ORIGIN = {
  port: 'prices',
  source: { name: 'Prices', url: 'memory:', as_of: NOW, kind: 'table', simulated: false },
} as const;
const SILENT = unread('prices' as const, why('provider_failed', { provider: 'It', fault: 'x' }));
const ASK: PriceAsk = { chain: 'ethereum', token: null, at: NOW - 30 * DAY_S };
const OTHER: PriceAsk = { ...ASK, chain: 'base' };

/** A table in memory, and a source that counts what it is asked. */
function opened(rows: readonly ReadPrice[] = [], usdOf: (ask: PriceAsk) => string | null = two) {
  const held = new Map(rows.map((row) => [priceName(row.ask), row]));
  const asked: PriceAsk[] = [];
  const table: PriceTable = {
    held: async (asks) =>
      read(
        asks.flatMap((ask) => {
          const row = held.get(priceName(ask));
          return row === undefined ? [] : [{ ...row, ask }];
        }),
        ORIGIN,
      ),
    keep: async (told) => {
      for (const row of told) held.set(priceName(row.ask), row);
      return read(true as const, ORIGIN);
    },
  };
  const source: Prices = {
    historical: async (asks) => {
      asked.push(...asks);
      return read(
        asks.map((ask) => {
          const usd = usdOf(ask);
          return { ask, price: usd === null ? null : { usd, basis: 'the source' } };
        }),
        ORIGIN,
      );
    },
    markets: async () => SILENT,
  };
  const unkept: string[] = [];
  const options = { table, source, now: () => NOW, onUnkept: (why: string) => unkept.push(why) };
  return { table, options, asked, held, unkept };
}

const two = () => '2';
const broken = () => {
  throw new Error('x');
};

function row(ask: PriceAsk, usd: string, read_at: number): ReadPrice {
  return { ask, price: { usd, basis: 'the table' }, read_at };
}

async function pricesOf(prices: Prices, asks: readonly PriceAsk[] = [ASK]) {
  const told = rowsSeen(map(await prices.historical(asks, SIGNAL), (rows) => [...rows]));
  return told?.map(({ price }) => (price === null ? null : `${price.usd} by ${price.basis}`));
}

test('the table speaks first, and the source for what it does not hold, once', async () => {
  const { options, asked } = opened([row(ASK, '9', NOW)]);
  const prices = tablePrices(options);
  const both = ['9 by the table', '2 by the source'];
  expect(await pricesOf(prices, [ASK, OTHER])).toEqual(both);
  expect(await pricesOf(prices, [ASK, OTHER])).toEqual(both);
  expect(asked).toEqual([OTHER]);
});

test('a price read long ago is answered at once, and corrected by what the source says now', async () => {
  const { options, asked } = opened([row(ASK, '9', NOW - 8 * DAY_S)]);
  const prices = tablePrices(options);
  expect(await pricesOf(prices)).toEqual(['9 by the table']);
  await expect.poll(() => pricesOf(prices)).toEqual(['2 by the source']);
  expect(asked).toEqual([ASK]);
});

test('a source that no longer knows an old price, or is silent, takes nothing away', async () => {
  for (const usdOf of [() => null, broken]) {
    const { options, asked } = opened([row(ASK, '9', NOW - 8 * DAY_S)], usdOf);
    const prices = tablePrices(options);
    await pricesOf(prices);
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(await pricesOf(prices)).toEqual(['9 by the table']);
  }
});

test('while the table is silent nothing is priced: nobody knows what was corrected', async () => {
  const { options, asked } = opened();
  const silent = { ...options.table, held: async () => SILENT };
  const reading = await tablePrices({ ...options, table: silent }).historical([ASK], SIGNAL);
  expect(reading).toBeInstanceOf(Unread);
  expect(asked).toEqual([]);
});

test('without a source the table is all there is, and what it lacks was not read', async () => {
  const { options } = opened([row(ASK, '9', NOW - 8 * DAY_S)]);
  const prices = tablePrices({ ...options, source: null });
  expect(await prices.historical([ASK], SIGNAL)).toBeInstanceOf(Read);
  const reading = await prices.historical([ASK, OTHER], SIGNAL);
  expect(reading instanceof Part && reading.why.code).toBe('not_configured');
  expect(await pricesOf(prices, [ASK, OTHER])).toEqual(['9 by the table']);
});

test('the first answer has the digits that the table will give the second', async () => {
  const digits = `0.${'0'.repeat(10)}123456789`;
  const told = new Map([
    ['ethereum', digits],
    ['base', `0.${'0'.repeat(18)}9`],
    ['bsc', `1${'0'.repeat(20)}`],
  ]);
  const { options } = opened([], ({ chain }) => told.get(chain) ?? null);
  const asks = (['ethereum', 'base', 'bsc'] as const).map((chain) => ({ ...ASK, chain }));
  const held = digits.slice(0, 20);
  expect(await pricesOf(tablePrices(options), asks)).toEqual([`${held} by the source`, null, null]);
});

test('an answer does not wait for what could not be kept, and the operator is told', async () => {
  const { options, unkept } = opened();
  const full = { ...options.table, keep: async () => SILENT };
  expect(await pricesOf(tablePrices({ ...options, table: full }))).toEqual(['2 by the source']);
  await expect.poll(() => unkept).toEqual([SILENT.why.reason]);
});
