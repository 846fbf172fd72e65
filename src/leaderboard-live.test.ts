// The live part of the leaderboard in a real browser: flags are shown as they are told, the token
// stays in memory, a lost stream is resumed without a loss, and texts are never markup.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mountedPage } from './compose/documents.ts';
import type { StreamHandler, StreamMessage } from './contract/stream.ts';
import { flagStreamRoute, memberFlags } from './features/flag-stream/flag-stream.route.ts';
import { rugs } from './features/rugs/feature.ts';
import { evm } from './testing/addresses.ts';
import { launchBrowser, NO_BROWSER } from './testing/browser.ts';
import { STILL_NOW, stillClock } from './testing/clock.ts';
import { createTestHttp } from './testing/http-server.ts';
import { rugFlagOf } from './testing/rug-worlds.ts';
import { memoryLaunchMonths } from './testing/twins/launches.ts';
import { memoryLaunchWatch, memoryRugFlags, SCORED, WATCHED } from './testing/twins/rug-flags.ts';
import { createSlots, type MountedStream } from './transport/stream.ts';
import { STREAM_LIMITS } from './transport/stream-reader.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const TOKEN = 'sct-of-the-tests';
const FACTS = { simulated: true, version: '0.0.0', links: [], explorers: new Map() };
const AT = '2026-09-24T12:00:00.000Z';

const of = {
  chain: 'ethereum',
  address: evm('told'),
  token: evm('made'),
  model_version: 'rug-1',
  model_card: '/api/models/rug/rug-1',
  simulated: true,
} as const;
const flag = { ...of, deployer_history: 'none', flagged_at: AT } as const;
const { event, welcome } = flagStreamRoute;
const told: StreamMessage<'flag_stream'>[] = [
  event('flag', 1, { ...flag, score: 0.97, evidence: '<img src=x> died.' }),
  event('retraction', 2, { ...of, retracts: 1, reason: 'It is gone.', retracted_at: AT }),
  event('flag', 3, { ...flag, score: 0.91, evidence: 'The third.' }),
];
const UNWATCHED = 'the venue is away';
const places: (number | null)[] = [];

/** The same of the members' stream, told once. */
const toMembers: StreamHandler<typeof memberFlags> = async ({ caller, since }) => {
  callers.push(caller.kind);
  const { event: say, welcome: greet } = memberFlags;
  const one = say('flag', 1, { ...flag, score: 0.97, evidence: 'To a member.' });
  let at = since === null ? 0 : since;
  const next = () => {
    if (at >= 1) return 'wait';
    at += 1;
    return one;
  };
  const replay = { from: null, to: null, oldest: 1 };
  const chosen = { chains: ['ethereum' as const], unknown_chains: [], unwatched: null };
  return {
    welcome: greet({ seq: at, replay, gap: null, ...chosen }),
    messages: { next, onMore: () => undefined },
    hear: () => null,
  };
};
const callers: string[] = [];
const SESSION = {
  kind: 'session',
  session_id: 'ses_1',
  membership_id: 'mem_1',
  form_token: 'token',
} as const;

/** The first reader is told two events and loses its stream; who resumes is told the rest. */
const handle: StreamHandler<typeof flagStreamRoute> = async ({ since }) => {
  places.push(since);
  const from = since === null ? 0 : since;
  const until = since === null ? 2 : 3;
  let at = from;
  const next = () => {
    const one = at < until ? told[at] : undefined;
    if (one === undefined) return since === null ? 'end' : 'wait';
    at += 1;
    return one;
  };
  const replay = { from: null, to: null, oldest: 1 };
  const chosen = { chains: ['ethereum' as const], unknown_chains: [], unwatched: UNWATCHED };
  return {
    welcome: welcome({ seq: from, replay, gap: null, ...chosen }),
    messages: { next, onMore: () => undefined },
    hear: () => null,
  };
};

describe.skipIf(NO_BROWSER !== null)(`the live part ${NO_BROWSER ?? 'in Chromium'}`, () => {
  let base = '';
  let browser: Browser;
  const given = {
    service: { base: () => base, simulated: true },
    rugFlags: memoryRugFlags({
      chains: [SCORED],
      flags: [rugFlagOf(evm('flagged'))],
      simulated: true,
      as_of: STILL_NOW,
    }),
    launchWatch: memoryLaunchWatch(WATCHED),
    launchMonths: memoryLaunchMonths([], STILL_NOW),
  };
  const app = createTestHttp({
    mounted: rugs.pages.map((one) => mountedPage(one, given, FACTS)),
    refusalPage: () => '',
    tokens: async ({ authorization, queryToken }) => {
      if (authorization === `Bearer ${TOKEN}` && queryToken === null) {
        return { outcome: 'opens', tier: 'pro', id: 'tok' };
      }
      return { outcome: 'unknown', reason: 'The token is not known here.' };
    },
    sessions: {
      authenticate: async (cookie) =>
        cookie === 'exhibit_session=mine'
          ? { outcome: 'opens', caller: SESSION, cookie: null }
          : { outcome: 'none', reason: 'You are not signed in.' },
    },
    streams: {
      mounted: [
        { route: flagStreamRoute, handle } as MountedStream,
        { route: memberFlags, handle: toMembers } as MountedStream,
      ],
      limits: STREAM_LIMITS,
      slots: createSlots(STREAM_LIMITS.connectionsMax, { hold: async () => ({ checked: false }) }),
      base: () => base,
    },
    now: stillClock(),
  });
  beforeAll(async () => {
    base = await app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  async function opened(javaScriptEnabled = true): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(`${base}/leaderboard`);
    return page;
  }
  async function watch(page: Page, token: string): Promise<void> {
    await page.fill('#live-token', token);
    await page.click('#live button');
  }

  test('without a script the flags are there, and nothing waits for one', async () => {
    const page = await opened(false);
    expect(await page.getByText('Of 14 earlier launches').isVisible()).toBe(true);
    expect(await page.locator('#live').isVisible()).toBe(false);
    await page.context().close();
  });

  test('a token that opens nothing is said to, and nothing is watched', async () => {
    const page = await opened();
    expect(await page.locator('#live-state').textContent()).toContain('Not watching');
    await watch(page, 'another');
    await page.getByText('The token opens nothing here.').waitFor();
    expect(await page.locator('#live button').textContent()).toBe('Watch');
    await page.context().close();
  });

  test('a member sees flags by the session alone: no token is asked for, sent or kept', async () => {
    const context = await browser.newContext();
    await context.addCookies([{ name: 'exhibit_session', value: 'mine', url: base }]);
    const page = await context.newPage();
    const asked: Promise<string | null>[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/leaderboard/events')) {
        asked.push(request.headerValue('authorization'));
      }
    });
    await page.goto(`${base}/leaderboard`);
    await page.getByText('To a member.').waitFor();
    expect(await page.locator('#live-token').count()).toBe(0);
    expect(await Promise.all(asked)).toEqual([null]);
    expect(callers).toEqual(['session']);
    await context.close();
  });

  test('nobody else reads it: without a session it is refused, and so is another site', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${base}/leaderboard/events`, { headers }).then(({ status }) => status);
    const own = { 'sec-fetch-site': 'same-origin' };
    expect(await ask(own)).toBe(401);
    const cookie = 'exhibit_session=mine';
    expect(await ask({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(403);
  });

  test('flags and retractions are shown, and a lost stream goes on where it was', async () => {
    const page = await opened();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await watch(page, TOKEN);
    await page.getByText('The third.').waitFor();
    const shown = await page.locator('#live-flags li').allTextContents();
    expect(shown).toHaveLength(3);
    expect(shown[1]).toContain('Flag taken back: It is gone.');
    expect(shown[2]).toContain('0.97 on ethereum, simulated');
    expect(shown[2]).toContain('<img src=x> died.');
    expect(await page.locator('#live-flags img').count()).toBe(0);
    const link = page.locator('#live-flags a').first();
    expect(await link.getAttribute('href')).toBe(`/deployer/ethereum/${evm('told')}`);
    expect(places).toEqual([null, 2]);
    expect(await page.locator('#live-state').textContent()).toMatch(
      /^Watching\. Last heard .* Launches may go unseen: the venue is away$/,
    );

    expect(asked.length).toBeGreaterThan(1);
    expect(asked.filter((url) => url.includes(TOKEN))).toEqual([]);
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(kept)).toBe('[{},{},""]');
    expect(page.url()).toBe(`${base}/leaderboard`);
    await page.click('#live button');
    expect(await page.locator('#live-state').textContent()).toContain('Not watching');
    await page.context().close();
  });
});
