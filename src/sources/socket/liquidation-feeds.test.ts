// Liquidations over sockets: what was heard between two heartbeats is read, a socket that is open
// and silent is unread, and no time without a heartbeat is covered.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { Read, type Reading, Unread } from '../../evidence/reading.ts';
import type { HeardLiquidations, MarketPort } from '../../ports/series.ts';
import { joinSpans } from '../../ports/series-coverage.ts';
import { startBinance } from '../../world/binance-api.ts';
import { startBybit } from '../../world/bybit-api.ts';
import type { DerivativesBook } from '../../world/derivatives-book.ts';
import { FEED_FAULTS } from '../../world/venue-streams.ts';
import { jsonIn } from '../http/fetch.ts';
import { SOCKET_BOUNDS } from './heard-socket.ts';
import { BINANCE_WORDS, BYBIT_WORDS, liquidationFeed } from './liquidation-feeds.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const BOUNDS = {
  ...SOCKET_BOUNDS,
  openMs: 5_000,
  heartbeatMs: 5_000,
  messagesASecondMax: 500,
  backoffMs: 5,
  backoffMaxMs: 20,
};

/** Waits for a whole state, however busy the machine is. */
const within = (state: () => void) => vi.waitFor(state, { timeout: 20_000, interval: 10 });

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
  });

type Hearing = {
  readonly readings: Reading<HeardLiquidations, MarketPort>[];
  readonly ends: (string | null)[];
};

/** Listens until the test ends. `late` is how long after its time a row may arrive. */
function hear(
  words: typeof BINANCE_WORDS,
  url: URL,
  { nowMs = Date.now, bounds = BOUNDS, lateMs = 0 } = {},
): Hearing {
  const heard: Hearing = { readings: [], ends: [] };
  const ended = new AbortController();
  const prompt = {
    ...words,
    plan: (assets: readonly string[]) => ({ ...words.plan(assets), lateMs }),
  };
  const feed = liquidationFeed(prompt, {
    url,
    bounds,
    flushMs: 5,
    simulated: false,
    nowMs,
    pause,
    onEnd: (fault) => heard.ends.push(fault),
  });
  const running = feed.listen(
    ['BTC', 'ETH'],
    async (told) => void heard.readings.push(told),
    ended.signal,
  );
  closing.push(async () => {
    ended.abort();
    await running;
  });
  return heard;
}

const rowsIn = ({ readings }: Hearing) =>
  readings.flatMap((one) => (one instanceof Read ? one.value.rows : []));
const coveredIn = ({ readings }: Hearing) =>
  joinSpans(readings.flatMap((one) => (one instanceof Read ? one.value.covered : [])));
const faultsIn = ({ readings }: Hearing) =>
  readings.flatMap((one) => (one instanceof Unread ? [one.why.reason] : []));

/** A book in which a long of BTC is liquidated at each question. */
const BOOK: DerivativesBook = {
  instruments: () => [],
  candles: () => [],
  settlements: () => [],
  interest: () => [],
  liquidations: (from, to) => {
    if (from === to) return [];
    const own = { asset: 'BTC', at: to, side: 'long', size: '2', price: '100.5' } as const;
    return [{ ...own, price_is: 'fill', notional: '201', nth: 0 }];
  },
};

const VENUES = [
  { name: 'Binance', words: BINANCE_WORDS, start: startBinance },
  { name: 'Bybit', words: BYBIT_WORDS, start: startBybit },
] as const;

async function open({ start }: (typeof VENUES)[number]) {
  const started = await start(BOOK, { nowMs: Date.now, beatMs: 10 });
  closing.push(started.close);
  return started;
}

describe.each(VENUES)('$name', (one) => {
  test('what is heard between heartbeats is read, and that time is covered', async () => {
    const { streamUrl } = await open(one);
    const heard = hear(one.words, streamUrl);
    await within(() => {
      expect(rowsIn(heard).length).toBeGreaterThan(5);
      expect(coveredIn(heard)).toHaveLength(1);
    });
    const [span] = coveredIn(heard);
    expect(Number(span?.to) - Number(span?.from)).toBeGreaterThan(0);
    expect(rowsIn(heard)[0]).toMatchObject({
      of: 'BTC',
      row: { side: 'long', size: '2', price: '100.5', notional: '201', nth: 0 },
    });
    expect(faultsIn(heard)).toEqual([]);
    expect(heard.ends).toContain(null);
  });

  test.each(FEED_FAULTS)('%s is unread, and covers nothing', async (fault) => {
    const { stream, streamUrl } = await open(one);
    stream.fault(fault);
    const isUnconfirmed = fault === 'silent' || fault === 'no-acknowledgement';
    const bounds = { ...BOUNDS, openMs: isUnconfirmed ? 500 : 5_000, heartbeatMs: 100 };
    const heard = hear(one.words, streamUrl, { bounds });
    await within(() => expect(faultsIn(heard).length).toBeGreaterThan(0));
    expect(coveredIn(heard)).toEqual([]);
    expect(faultsIn(heard)[0]).toMatch(WORDS[fault]);
    expect(faultsIn(heard).join()).not.toContain(streamUrl.pathname);
    expect(heard.ends.every((end) => end !== null)).toBe(true);
  });

  test('a venue that drops its sockets is subscribed to anew, and leaves a hole', async () => {
    const { stream, streamUrl } = await open(one);
    const heard = hear(one.words, streamUrl);
    await within(() => expect(coveredIn(heard)).toHaveLength(1));
    stream.drop();
    await within(() => expect(coveredIn(heard)).toHaveLength(2));
    expect(faultsIn(heard)[0]).toMatch(/closed the connection/);
    await within(() => expect(stream.readers()).toBe(1));
  });
});

const WORDS: { readonly [F in (typeof FEED_FAULTS)[number]]: RegExp } = {
  refused: /answered 503 to a socket/,
  silent: /did not confirm the subscription/,
  'no-heartbeat': /open and silent: no heartbeat within/,
  'no-acknowledgement': /did not confirm the subscription/,
  closes: /closed the connection/,
  garbage: /no JSON/,
  oversized: /a message over \d+ bytes/,
  flood: /sent over 500 messages in a second/,
};

/** A venue that says recorded messages to who subscribes, and nothing after them. */
async function recorded(file: string): Promise<URL> {
  const text = readFileSync(new URL(`./recordings/${file}.json`, import.meta.url), 'utf8');
  const messages = z.array(z.unknown()).parse(jsonIn(text));
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.once('message', () => {
      for (const one of messages) socket.send(JSON.stringify(one));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  closing.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return new URL(
    `ws://a:b@127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/x`,
  );
}

const AT = 1_795_250_000_000;

describe('recorded messages', () => {
  test('Binance: SELL closed a long, and contracts in coins are left out', async () => {
    const url = await recorded('force-orders');
    const heard = hear(BINANCE_WORDS, url, {
      nowMs: () => AT + 10_000,
      bounds: { ...BOUNDS, heartbeatMs: 30_000 },
      lateMs: 3_000,
    });
    await within(() => expect(coveredIn(heard)).toEqual([{ from: AT, to: AT + 7_000 }]));
    expect(rowsIn(heard)).toEqual([
      {
        of: 'BTC',
        row: {
          at: AT + 410,
          side: 'long',
          size: '0.250',
          price: '86001.50',
          price_is: 'fill',
          notional: '21500.375',
          nth: 0,
        },
      },
      {
        of: 'ETH',
        row: {
          at: AT + 899,
          side: 'short',
          size: '3.000',
          price: '3099.50',
          price_is: 'fill',
          notional: '9298.5',
          nth: 0,
        },
      },
    ]);
  });

  test('Bybit: Buy was a long, and two that say the same are two', async () => {
    const url = await recorded('all-liquidations');
    const heard = hear(BYBIT_WORDS, url, {
      nowMs: () => AT + 10_000,
      bounds: { ...BOUNDS, heartbeatMs: 30_000 },
      lateMs: 2_000,
    });
    await within(() => expect(coveredIn(heard)).toEqual([{ from: AT, to: AT + 8_000 }]));
    const long = {
      at: AT + 410,
      side: 'long',
      size: '0.250',
      price: '85950.10',
      price_is: 'bankruptcy',
      notional: '21487.525',
    };
    expect(rowsIn(heard).map(({ row }) => row)).toEqual([
      { ...long, nth: 0 },
      { ...long, nth: 1 },
      expect.objectContaining({ side: 'short', notional: '9333', nth: 0 }),
    ]);
  });

  test('a heartbeat that leaps leaves what lies between open', async () => {
    const url = await recorded('all-liquidations');
    const heard = hear(BYBIT_WORDS, url, {
      nowMs: () => AT + 10_000,
      bounds: { ...BOUNDS, openMs: 200, heartbeatMs: 200 },
    });
    await within(() => expect(faultsIn(heard).join()).toMatch(/open and silent/));
    expect(coveredIn(heard)).toEqual([]);
    expect(faultsIn(heard).join()).not.toContain('a:b');
  });

  test('a venue whose clock is off tells no time', async () => {
    const url = await recorded('force-orders');
    const heard = hear(BINANCE_WORDS, url, { nowMs: () => AT + 120_000 });
    await within(() => expect(faultsIn(heard)[0]).toMatch(/tells a time that is over 60 s off/));
    expect(coveredIn(heard)).toEqual([]);
  });
});
