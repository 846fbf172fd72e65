import { afterEach, describe, expect, test } from 'vitest';
import { basis, map, Part, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { PriceAsk, Prices } from '../../ports/history.ts';
import {
  PRICE_FAULTS,
  type PricePoint,
  type StartedPriceApi,
  startPriceApi,
} from '../../world/price-api.ts';
import { providerGuard } from '../http/provider.ts';
import { defillamaPrices } from './defillama.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const KEY = 'MARKER7f3a';
const SIGNAL = new AbortController().signal;
const KNOWN = `0x${'1'.repeat(40)}`;
const THIN = `0x${'2'.repeat(40)}`;
const FAR = `0x${'3'.repeat(40)}`;
const ZERO = `0x${'4'.repeat(40)}`;
const UNKNOWN = `0x${'5'.repeat(40)}`;
const EDGE = `0x${'6'.repeat(40)}`;
const BEYOND = `0x${'7'.repeat(40)}`;

const open: StartedPriceApi[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function priceOf(id: string, at: number): PricePoint | null {
  if (id === 'coingecko:ethereum') return { price: 3_000, timestamp: at };
  if (id.endsWith(KNOWN)) return { price: 1.5e-7, timestamp: at + 60, confidence: 0.99 };
  if (id.endsWith(THIN)) return { price: 2, timestamp: at, confidence: 0.42 };
  if (id.endsWith(FAR)) return { price: 2, timestamp: at - 4 * 3_600 };
  if (id.endsWith(EDGE)) return { price: 2, timestamp: at - 3_600 };
  if (id.endsWith(BEYOND)) return { price: 2, timestamp: at - 3_601 };
  return id.endsWith(ZERO) ? { price: 0, timestamp: at } : null;
}

async function started(over: Partial<Parameters<typeof defillamaPrices>[0]> = {}) {
  const api = await startPriceApi({ now: () => NOW, priceOf });
  open.push(api);
  const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 100, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const url = new URL(`http://user:${KEY}@${api.url.host}`);
  const now = () => NOW;
  const options = { url, guard, now, timeMs: 2_000, callsMax: 20, simulated: false, ...over };
  return { api, prices: defillamaPrices(options) };
}

function ask(token: string | null, at = NOW - 86_400): PriceAsk {
  return { chain: 'ethereum', token, at };
}

function told<T>(reading: Partly<readonly T[], 'prices'>): readonly T[] | null {
  return rowsSeen(map(reading, (list) => list));
}

async function priced(prices: Prices, asks: readonly PriceAsk[]) {
  const list = told(await prices.historical(asks, SIGNAL));
  return list === null ? null : list.map(({ price }) => price);
}

describe('a price', () => {
  test('is decimal text, with whence and of when it is', async () => {
    const { prices } = await started();
    const [price] = (await priced(prices, [ask(KNOWN)])) ?? [];
    expect(price?.usd).toBe('0.00000015');
    expect(price?.basis).toMatch(/^DefiLlama-compatible price of 2026-11-20T12:01:00/);
  });

  test('of a thin market says so', async () => {
    const { prices } = await started();
    const [price] = (await priced(prices, [ask(THIN)])) ?? [];
    expect(price?.basis).toContain('thin market (confidence 0.42)');
  });

  test('is of an hour around its time, both ends included', async () => {
    const { prices } = await started();
    const found = await priced(prices, [ask(EDGE), ask(BEYOND)]);
    expect(found?.map((one) => one?.usd)).toEqual(['2', undefined]);
  });

  test('is unread, and not none, where the source forgets all coins, and there once it knows them', async () => {
    const { api, prices } = await started();
    api.fault('forgets-all');
    const lost = await prices.historical([ask(KNOWN), ask(UNKNOWN)], SIGNAL);
    expect(lost instanceof Read ? null : lost.why.reason).toContain('a missing coin means nothing');
    api.fault(null);
    const found = await priced(prices, [ask(KNOWN), ask(UNKNOWN)]);
    expect(found?.map((one) => one?.usd)).toEqual(['0.00000015', undefined]);
  });

  test('is null, never zero, where there is none, none near, or a zero', async () => {
    const { prices } = await started();
    const asks = [UNKNOWN, FAR, ZERO].map((token) => ask(token));
    const reading = await prices.historical(asks, SIGNAL);
    expect(reading).toBeInstanceOf(Read);
    expect(told(reading)?.map(({ price }) => price)).toEqual([null, null, null]);
  });

  test('is asked for in batches, and kept', async () => {
    const { api, prices } = await started();
    const asks = Array.from({ length: 120 }, (_, i) =>
      ask(`0x${i.toString(16).padStart(40, '0')}`),
    );
    expect(await priced(prices, asks)).toHaveLength(120);
    expect(api.asked).toHaveLength(3);
    expect(await prices.historical(asks, SIGNAL)).toBeInstanceOf(Read);
    expect(api.asked).toHaveLength(3);
  });

  test('past the budget is not in the answer, which is then a part', async () => {
    const { prices } = await started({ callsMax: 1 });
    const asks = Array.from({ length: 60 }, (_, i) => ask(`0x${i.toString(16).padStart(40, '0')}`));
    const reading = await prices.historical(asks, SIGNAL);
    expect(reading instanceof Part && reading.why.code).toBe('call_budget');
    expect(told(reading)).toHaveLength(50);
  });
});

describe('a market', () => {
  test('is what the source that was read knows', async () => {
    const { prices } = await started();
    const coins = [KNOWN, UNKNOWN].map((token) => ({ chain: 'ethereum' as const, token }));
    const list = told(await prices.markets(coins, SIGNAL));
    expect(list?.map(({ has_market }) => has_market)).toEqual([true, false]);
  });
});

describe('what was kept at two times is as old as the oldest of it', () => {
  const older = { chain: 'ethereum', token: KNOWN } as const;
  const newer = { chain: 'ethereum', token: THIN } as const;
  const at = NOW - 86_400;
  const historical = (prices: Prices, coins: readonly (typeof older | typeof newer)[]) =>
    prices.historical(
      coins.map((coin) => ({ ...coin, at })),
      SIGNAL,
    );
  const markets = (prices: Prices, coins: readonly (typeof older | typeof newer)[]) =>
    prices.markets(coins, SIGNAL);

  test.each([
    ['prices', historical],
    ['markets', markets],
  ])('%s', async (_, asked) => {
    let now = NOW;
    const { api, prices } = await started({ now: () => now });
    await asked(prices, [older]);
    now = NOW + 600;
    await asked(prices, [newer]);
    now = NOW + 1_200;
    for (const coins of [
      [older, newer],
      [newer, older],
    ]) {
      const reading = await asked(prices, coins);
      expect(reading).toBeInstanceOf(Read);
      const dates = reading instanceof Read ? basis(reading).sources.map((one) => one.as_of) : [];
      expect(dates).toEqual([NOW]);
    }
    expect(api.asked).toHaveLength(2);
  });
});

describe('a fault of the source', () => {
  test.each(PRICE_FAULTS)('%s is silence about markets, never “no market”', async (fault) => {
    const { api, prices } = await started({ timeMs: 100 });
    api.fault(fault);
    const reading = await prices.markets([{ chain: 'ethereum', token: KNOWN }], SIGNAL);
    expect(reading).toBeInstanceOf(Unread);
    if (!(reading instanceof Unread)) throw new Error('read');
    expect(reading.why.reason).toContain(`http://${api.url.host}`);
    expect(reading.why.reason).not.toContain(KEY);
  });

  test.each(PRICE_FAULTS)('%s is silence about prices', async (fault) => {
    const { api, prices } = await started({ timeMs: 100 });
    api.fault(fault);
    expect(await prices.historical([ask(KNOWN)], SIGNAL)).toBeInstanceOf(Unread);
  });

  // A caller whose time is spent says nothing against the source.
  const answering = PRICE_FAULTS.filter((fault) => fault !== 'timeout');
  test.each(answering)('%s: after three failures the source is left alone', async (fault) => {
    const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 3 };
    const guard = providerGuard({ ...limits, restMs: 60_000 }, () => performance.now());
    const { api, prices } = await started({ guard });
    api.fault(fault);
    for (const token of [KNOWN, THIN, FAR, EDGE, BEYOND]) {
      const markets = await prices.markets([{ chain: 'ethereum', token }], SIGNAL);
      const values = await prices.historical([ask(token)], SIGNAL);
      expect([markets, values]).toEqual([expect.any(Unread), expect.any(Unread)]);
    }
    expect(api.asked).toHaveLength(limits.failuresMax);
  });

  test('a caller that hangs up reads nothing', async () => {
    const { prices } = await started();
    const reading = await prices.historical([ask(KNOWN)], AbortSignal.abort());
    expect(reading).toBeInstanceOf(Unread);
  });
});
