// The page of the state draws an hour in which nobody asked a provider as such, never as one in
// which it answered, and says since when a provider is silent, what rests on it, and which sources
// deny nothing now.

import { expect, test } from 'vitest';
import { HOUR_S } from '../../chain/time.ts';
import { why } from '../../evidence/reasons.ts';
import type { AnchoringReport } from '../../ports/anchoring.ts';
import type { ProviderReport } from '../../ports/providers.ts';
import { TEST_SERVICE } from '../../testing/service.ts';
import { healthHandler, healthRoute, statusHtml } from './health.route.tsx';

const NOW = 497_000 * HOUR_S;
const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const SOURCES = [{ tag: 'transfer_history', title: 'Transfer history', says: 'What was paid' }];
const IDLE = { from: NOW - HOUR_S, calls: null };
const NOT_ASKED: ProviderReport = {
  name: 'Explorer',
  url: 'https://explorer.example',
  ports: ['transfer_history', 'shown_with_another'],
  carries: null,
  state: 'not_asked',
  silent_since: null,
  fault: null,
  last_answered: null,
  watched_since: NOW - HOUR_S,
  hours: [IDLE, { ...IDLE, from: NOW }],
};
const SILENT: ProviderReport = {
  ...NOT_ASKED,
  state: 'silent',
  silent_since: NOW - HOUR_S,
  fault: 'answered 503',
  hours: [
    { from: NOW - 2 * HOUR_S, calls: { answered: 3, failed: 0, stopped: 0 } },
    { from: NOW - HOUR_S, calls: { answered: 1, failed: 2, stopped: 1 } },
    { from: NOW, calls: null },
  ],
};

const pageWith = (...providers: ProviderReport[]) => pageOf({ providers: () => providers });

type Facts = Partial<Parameters<typeof healthHandler>[0]>;

async function shownBy(service: Facts) {
  const ask = healthHandler({ ...TEST_SERVICE, ...service });
  const context = { now: () => NOW, signal: new AbortController().signal };
  const caller = { kind: 'nobody' } as const;
  const reply = await ask({ params: {}, query: {}, body: undefined }, context, caller);
  if (!('body' in reply)) throw new Error('test: no reply');
  return healthRoute.responses[200].parse(reply.body);
}

async function pageOf(service: Facts): Promise<string> {
  return statusHtml(FACTS, await shownBy(service), SOURCES, NOW);
}

test('what a root of the log waits for is told by its code, and never as nothing where nobody looked', async () => {
  const told = async (report: AnchoringReport) => {
    const service = { anchoring: () => report };
    return [(await shownBy(service)).anchoring, await pageOf(service)] as const;
  };
  const empty = why('anchor_purse_empty', { sender: '0xa', has: '1', needs: '9' });
  const [waiting, page] = await told({ state: 'looked', at: NOW - 5, whys: [empty] });
  expect(waiting).toEqual({ state: 'waiting', as_of: NOW - 5, waits_for: [empty] });
  expect(page).toContain('waiting. 0xa has 1 wei, and the transaction of a root may cost 9.');
  const [sending] = await told({ state: 'looked', at: NOW, whys: [] });
  expect(sending).toEqual({ state: 'sending', as_of: NOW, waits_for: [] });
  for (const state of ['off', 'elsewhere', 'not_looked'] as const) {
    const [unseen, drawn] = await told({ state });
    expect(unseen).toEqual({ state, as_of: null, waits_for: null });
    expect(drawn).not.toContain('as they fall due');
  }
});

test('a provider that nobody asked is drawn without an hour of answers', async () => {
  const page = await pageWith(NOT_ASKED);
  expect(page).toContain('<span class="state not_asked">not asked</span>');
  expect(page).toContain('Not asked in 2 hours.');
  expect(page).toMatch(/Watched since <time[^>]*>[^<]+<\/time>, 1 hour ago\./);
  expect(page.match(/class="idle"/g)).toHaveLength(2);
  expect(page).not.toMatch(/class="(answered|failed|stopped)"/);
  expect(page).toMatch(/Explorer<\/strong>.*https:\/\/explorer\.example.*>Transfer history</s);
});

test('a silent one says since when, why, and how each call of its day ended', async () => {
  const page = await pageWith(SILENT);
  expect(page).toMatch(/silent<\/span><span> since <time.*1 hour ago.*It answered 503\./s);
  expect(page).toContain('7 calls: 4 answered, 2 failed, 1 stopped. Not asked in 1 of 3 hours.');
  expect(page.match(/class="idle"/g)).toHaveLength(1);
});

test('sources that deny nothing now stand first, and apart from those within their age', async () => {
  const fresh = {
    state: 'fresh',
    as_of: NOW - HOUR_S,
    published: null,
    age_s: HOUR_S,
    max_age_s: 2 * HOUR_S,
    reason: null,
  } as const;
  const page = await pageOf({
    freshness: async () => ({
      transfer_history: fresh,
      prices: { ...fresh, state: 'stale', reason: 'It is too old.' },
      labels: { ...fresh, state: 'unreadable', as_of: null, reason: 'It is down.' },
    }),
  });
  const [, first = '', second = ''] = page.split('<caption>');
  expect(first).toMatch(/^Silent, frozen or past their age<.*>prices<.*>labels<.*It is down\./s);
  expect(second).toMatch(/^Held, and within their age<.*>Transfer history<.*>fresh</s);
  expect(first).not.toContain('Transfer history');
});
