// The page of the state draws an hour in which nobody asked a provider as such, never as one in
// which it answered, and says since when a provider is silent and what rests on it.

import { expect, test } from 'vitest';
import { HOUR_S } from '../../chain/time.ts';
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

async function pageWith(...providers: ProviderReport[]): Promise<string> {
  const ask = healthHandler({ ...TEST_SERVICE, providers: () => providers });
  const context = { now: () => NOW, signal: new AbortController().signal };
  const caller = { kind: 'nobody' } as const;
  const reply = await ask({ params: {}, query: {}, body: undefined }, context, caller);
  if (!('body' in reply)) throw new Error('test: no reply');
  const shown = healthRoute.responses[200].parse(reply.body);
  return statusHtml(FACTS, shown, SOURCES, NOW);
}

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
