import { expect, test } from 'vitest';
import { map, type Partly, Read, read, rowsSeen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Neighbourhood, Prices, RawHistory, RawHistoryPort } from '../../ports/history.ts';
import {
  fullCoverage,
  memoryTransfer,
  memoryTransferHistory,
} from '../../testing/twins/history.ts';
import { marketHistory, valuedHistory, worthsBy } from './priced-history.ts';

const [ALICE, BOB] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string];
const KNOWN = `0x${'7'.repeat(40)}`;
const UNKNOWN = `0x${'8'.repeat(40)}`;
const NOW = Date.UTC(2026, 10, 21) / 1_000;
const ORIGIN = {
  port: 'prices',
  source: { name: 'Prices', url: 'memory:', as_of: NOW, kind: 'table', simulated: false },
} as const;
const SILENCE = unread('prices' as const, why('provider_failed', { provider: 'It', fault: 'x' }));

const HISTORY = memoryTransferHistory({
  chains: ['ethereum'],
  transfers: [
    memoryTransfer(1, ALICE, BOB, { raw_amount: 1_500_000_000_000_000_000n }),
    memoryTransfer(2, ALICE, BOB, { kind: 'token', token: KNOWN, decimals: 6, raw_amount: 7n }),
    memoryTransfer(3, ALICE, BOB, { kind: 'token', token: UNKNOWN, decimals: 6 }),
    memoryTransfer(4, ALICE, BOB, { kind: 'token', token: KNOWN, decimals: null }),
  ],
  coverage: fullCoverage('ethereum', NOW),
  provenance: 'onchain',
  as_of: NOW,
  simulated: false,
});

const TELLING: Prices = {
  historical: async (asks) => {
    const price = { usd: '2.5', basis: 'a table' };
    return read(
      asks.map((ask) => ({ ask, price: ask.token === UNKNOWN ? null : price })),
      ORIGIN,
    );
  },
  markets: async (coins) =>
    read(
      coins.map((coin) => ({ coin, has_market: coin.token !== UNKNOWN })),
      ORIGIN,
    ),
};

async function rowsOf(history: RawHistory, over: { readonly valued?: boolean } = {}) {
  const limits = {
    rowsMax: 10,
    degreeMax: 10,
    transfersPerCounterpartyMax: 10,
    batchRowsMax: 10,
    signal: new AbortController().signal,
    ...over,
  };
  const readings = await history.neighbourhoods([ALICE], limits);
  const reading: Partly<Neighbourhood, RawHistoryPort> | undefined = readings.get(ALICE);
  expect(reading).toBeInstanceOf(Read);
  if (reading === undefined) throw new Error('no reading');
  const rows = rowsSeen(map(reading, ({ counterparties }) => counterparties));
  return [...(rows?.[0]?.transfers ?? [])].sort((a, b) => a.block - b.block);
}

async function told(prices: Prices) {
  const sorted = await rowsOf(valuedHistory(HISTORY, prices), { valued: true });
  return sorted.map(({ usd, has_market }) => [usd, has_market]);
}

test('a value is the exact amount times the price; without decimals there is none', async () => {
  expect(await told(TELLING)).toEqual([
    ['3.75', null],
    ['0.0000175', true],
    [null, false],
    [null, true],
  ]);
});

test('a silent price source leaves both unknown, and the history whole', async () => {
  const silent = { historical: async () => SILENCE, markets: async () => SILENCE };
  expect(await told(silent)).toEqual(Array.from({ length: 4 }, () => [null, null]));
});

test('only a question that asks for values is priced, and each value says whence it is', async () => {
  const history = valuedHistory(HISTORY, TELLING);
  expect((await rowsOf(history)).map(({ usd }) => usd)).toEqual([null, null, null, null]);
  const valued = await rowsOf(history, { valued: true });
  expect(valued.map(({ usd, price_basis }) => [usd, price_basis])).toEqual([
    ['3.75', 'a table'],
    ['0.0000175', 'a table'],
    [null, undefined],
    [null, undefined],
  ]);
});

test('a history that is kept learns of markets alone: what it was worth is joined later', async () => {
  const rows = await rowsOf(marketHistory(HISTORY, TELLING));
  expect(rows.map(({ usd, has_market }) => [usd, has_market])).toEqual([
    [null, null],
    [null, true],
    [null, false],
    [null, true],
  ]);
});

test('transfers near each other share one question, and each is told its own worth', async () => {
  const asked: number[] = [];
  const counting: Prices = {
    ...TELLING,
    historical: (asks, signal) => {
      asked.push(asks.length);
      return TELLING.historical(asks, signal);
    },
  };
  const coins = [1n, 3n].map((raw_amount, n) =>
    memoryTransfer(n, ALICE, BOB, { raw_amount: raw_amount * 10n ** 18n }),
  );
  const worths = await worthsBy(counting)(coins, new AbortController().signal);
  expect(asked).toEqual([1]);
  expect(coins.map((one) => worths.get(one)?.usd)).toEqual(['2.5', '7.5']);
});

test('an NFT is worth nothing that is told, even where its contract is a coin with a price', async () => {
  const nft = { kind: 'nft', token: KNOWN, decimals: 6, raw_amount: 0n, token_id: 7n } as const;
  const sent = memoryTransfer(1, ALICE, BOB, nft);
  const worths = await worthsBy(TELLING)([sent], new AbortController().signal);
  expect(worths.get(sent)).toBeUndefined();
});
