// The pages of the edge hold in a real browser with half a year of calls, with none, where the
// record or its candles were not read, and with a rule that parses or does not.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LINKS, webDocuments } from './compose/documents.ts';
import { CONTRACTS, handlerOf } from './compose/list.ts';
import { sharesFrom } from './evidence/random.ts';
import { why } from './evidence/reasons.ts';
import type { EdgePorts } from './features/edge/edge.route.ts';
import { DETECTOR_KINDS, DIRECTIONS, type EmittedCall } from './ports/emitted-calls.ts';
import { CANDLE_MS } from './ports/series.ts';
import { launchBrowser, lookAt, NO_BROWSER } from './testing/browser.ts';
import { noiseOpens } from './testing/edge-records.ts';
import { createTestHttp } from './testing/http-server.ts';
import { TEST_SERVICE } from './testing/service.ts';
import {
  emittedCallOf,
  memoryEmittedCalls,
  NOTHING_EMITTED,
  outcomeOf,
  plantedEmittedCalls,
  silentEmittedCalls,
} from './testing/twins/emitted-calls.ts';
import { memorySeriesStore } from './testing/twins/series.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOUR_S = 3_600;
const HOURS = 24 * 180;
const FIRST = Date.UTC(2026, 0, 5) / 1_000;
const PRICED: Readonly<Record<string, number>> = { BTC: 670, ETH: 19, DOGE: 0.0018 };
const HORIZON_H = 24;

type Said = { readonly says: readonly string[]; readonly never: readonly string[] };
type Market = Pick<EdgePorts, 'emittedCalls' | 'marketSeries'>;

/** Half a year of a few assets, each of another magnitude, with calls of every kind and end. */
async function startMarket(): Promise<Market> {
  const shares = sharesFrom(29);
  const marketSeries = memorySeriesStore();
  const calls: EmittedCall[] = [];
  for (const [asset, scale] of Object.entries(PRICED)) {
    const opens = noiseOpens(HOURS, shares).map((open) => open * scale);
    const span = { from: FIRST * 1_000, to: (FIRST + HOURS * HOUR_S) * 1_000 };
    const rows = opens.map((price, hour) => {
      const open = price.toPrecision(6);
      const same = { open, high: open, low: open, close: open };
      return { at: span.from + hour * CANDLE_MS, ...same, volume: '1' };
    });
    await marketSeries.add({ venue: 'hyperliquid', series: 'candles', of: asset }, rows, {
      covered: [span],
      received_at: span.to,
      source: 'a venue of the test',
      origin: 'observed',
    });
    for (let hour = 10; hour < HOURS - 2; hour += 1 + Math.floor(shares() * 40)) {
      const kind = DETECTOR_KINDS[Math.floor(shares() * 4)] ?? 'liq';
      const direction = DIRECTIONS[Math.floor(shares() * 2)] ?? 'long';
      const said = {
        kind,
        asset,
        direction,
        horizon_h: HORIZON_H,
        window: hour,
        conviction: (0.5 + shares() / 2).toFixed(3),
        emitted_at: FIRST + hour * HOUR_S - 1_800,
        price: Number(opens[hour]).toPrecision(6),
        detector_version: `${kind}-1`,
      };
      const [entry, exit] = [opens[hour], opens[hour + HORIZON_H]].map(Number);
      const moved = Number(exit) / Number(entry) - 1 + (direction === 'long' ? 0.004 : -0.004);
      const gross_return = (direction === 'long' ? moved : -moved).toFixed(6);
      const state =
        hour + HORIZON_H >= HOURS
          ? ({ state: 'open' } as const)
          : outcomeOf(said, { gross_return, entry: String(entry), exit: String(exit) });
      calls.push(emittedCallOf(said, state, calls.length));
    }
  }
  const ran = [{ from: FIRST, to: FIRST + HOURS * HOUR_S }];
  return {
    ...memoryEmittedCalls({
      changes: calls,
      versions: await versionsOf(),
      ran: { funding: ran, liq: ran, netflow: ran, whale: ran },
    }),
    marketSeries,
  };
}

async function versionsOf() {
  const told = await plantedEmittedCalls({ emitted: true }).emittedCalls.versions();
  if (!told.checked) throw new Error('test: no versions');
  return told.value.filter(({ version }) => version.endsWith('-1'));
}

const DOWN = why('timed_out', { what: 'The record of calls', limit: '5 s' });
const RULE = 'kind = funding and funding > 0.05%/8h and (asset in (BTC, ETH) or conviction >= 0.8)';
const WRONG = 'kind = funding and\nfunding > 0.05 %/day';

describe.skipIf(NO_BROWSER !== null)(`the edge ${NO_BROWSER ?? 'in Chromium'}`, () => {
  let browser: Browser;
  let full = '';
  const closing: (() => Promise<unknown>)[] = [];

  async function serve(market: Market): Promise<string> {
    let base = '';
    const app = createTestHttp({
      mounted: [
        ...CONTRACTS.filter(({ name }) => name === 'edge_rules').map((route) => ({
          route,
          handle: handlerOf(route.name, market),
        })),
        ...webDocuments({
          routes: CONTRACTS,
          facts: { simulated: true, version: '0.0.0', links: LINKS, explorers: new Map() },
          given: {
            ...market,
            service: { ...TEST_SERVICE, base: () => base, simulated: true },
            members: { plans: [], signIn: {}, settings: {} },
            chats: {},
          },
          sources: [],
          base: () => base,
        }),
      ],
      refusalPage: () => '',
      sessions: { authenticate: async () => ({ outcome: 'none', reason: 'Nobody.' }) },
      now: () => FIRST + HOURS * HOUR_S,
      // The first question waits for its threads.
      budgetMs: 30_000,
    });
    closing.push(() => app.close());
    base = await app.listen({ host: '127.0.0.1', port: 0 });
    return base;
  }

  const look = (shots: string, base: string, path: string) =>
    lookAt(browser, { base, path, shots });
  /** Looks at a page that says something, and nothing that it could not know. */
  async function lookSaid(base: string, path: string, { says, never }: Said): Promise<void> {
    await look(`edge-${says[0]}`, base, path);
    const text = await (await fetch(base + path)).text();
    for (const one of says) expect(text).toContain(one);
    for (const one of never) expect(text).not.toContain(one);
  }

  beforeAll(async () => {
    browser = await launchBrowser();
    full = await serve(await startMarket());
  });
  afterAll(async () => {
    await browser.close();
    for (const close of closing) await close();
  });

  test.each([
    ['all', '/edge?days=200'],
    ['an asset', '/edge?asset=DOGE&days=200'],
    ['few', '/edge?kinds=liq&days=9'],
  ])('half a year of calls: %s', async (name, path) => {
    await look(`edge-${name}`, full, path);
  });

  test('each picture stands beside its table, and no more marks than can be told apart', async () => {
    const page = await browser.newPage();
    await page.goto(`${full}/edge?days=200`);
    expect(await page.locator('figure.plot svg[role="img"]').count()).toBe(4);
    expect(await page.locator('figure.plot details table').count()).toBe(4);
    expect(await page.locator('figure.plot .mark').count()).toBe(40);
    await page.close();
  });

  test('none that are kept: said of the filter, without a picture', async () => {
    await lookSaid(full, '/edge?asset=NOBODY', {
      says: ['No call on record is kept by this filter', 'The record reaches'],
      never: ['class="plot"', 'No call is on record here', '0.0%'],
    });
  });

  test('no call on record: said of the record, and of no market', async () => {
    const nothing = { ...memoryEmittedCalls(NOTHING_EMITTED), marketSeries: memorySeriesStore() };
    await lookSaid(await serve(nothing), '/edge', {
      says: ['No call is on record here. That says nothing about any market.'],
      never: ['class="plot"', 'The record reaches', '0.0%'],
    });
  });

  test('candles that were not read: no curve, and why', async () => {
    const market = { ...(await startMarket()), marketSeries: memorySeriesStore() };
    await lookSaid(await serve(market), '/edge?days=200', {
      says: ['were not read: equity, drawdown and the ratio of Sharpe are not measured'],
      never: ['No call is on record here'],
    });
  });

  test('a record that was not read', async () => {
    const market = { ...silentEmittedCalls(DOWN), marketSeries: memorySeriesStore() };
    const base = await serve(market);
    const told = await fetch(`${base}/edge`);
    expect(told.status).toBe(503);
    expect(await told.text()).toContain('The record of calls could not be read');
  });

  test.each([
    ['rules', ''],
    ['rules-parsed', `?rule=${encodeURIComponent(RULE)}`],
    ['rules-wrong', `?rule=${encodeURIComponent(WRONG)}`],
  ])('the editor of rules: %s', async (name, query) => {
    await look(name, full, `/edge/rules${query}`);
  });

  test('an error is told as one types, at its line and column', async () => {
    const page = await browser.newPage();
    await page.goto(`${full}/edge/rules`);
    const said = page.locator('#rule-said');
    await page.locator('#rule').fill(WRONG);
    await page.locator('#rule[aria-invalid="true"]').waitFor();
    expect(await said.textContent()).toMatch(/^Line 2, column 16: Found %\/day; expected "%", /);
    await page.locator('#rule').fill('kind = liq');
    await page.locator('#rule[aria-invalid="false"]').waitFor();
    expect(await said.textContent()).toBe('It parses as: kind = liq');
    await page.close();
  });
});
