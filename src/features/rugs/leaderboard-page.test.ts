// The page of the leaderboard: each kind of nothing looks its own way, each flag has its evidence
// in words, and a month without a launch on record is no zero.

import { expect, test } from 'vitest';
import { STILL_NOW } from '../../testing/clock.ts';
import { launchCharts, type ShownCharts } from './launch-chart.route.tsx';

import { leaderboardHtml } from './leaderboard.route.tsx';

const FACTS = { simulated: false, version: '0', links: [] };
const NO_CHARTS: ShownCharts = [];
const SCORED = {
  chain: 'ethereum',
  scored: 12,
  unscored: 0,
  waiting: 0,
  last_scored_at: '2026-09-24T11:59:00.000Z',
};
const WINDOW = {
  entries: [],
  total: 0,
  window_hours: 24,
  empty: { isQuiet: true, says: 'quiet_window: so it is.' },
  partial: null,
  suppressed: 0,
  scored: [SCORED],
  caveat: 'What it is not.',
};
const ENTRY = {
  address: '0xaaaa',
  chain: 'ethereum',
  score: 0.934,
  first_flagged_at: '2026-09-24T10:00:00.000Z',
  last_scored_at: '2026-09-24T11:00:00.000Z',
  top_evidence: {
    feature: 'died_share',
    value: 0.92857142,
    contribution: -1.75,
    statement: 'Of 14 earlier launches <of> its deployer 13 died.',
  },
  model_version: 'rug-1',
  token: '0xbbbb',
  launches: 2,
};

type Shown = Parameters<typeof leaderboardHtml>[1];
const html = (shown: Shown, charts: ShownCharts = NO_CHARTS) =>
  leaderboardHtml(FACTS, shown, charts);

test('a quiet window, a table never written and one not read are three pages', () => {
  const quiet = html(WINDOW);
  const never = html({
    ...WINDOW,
    empty: { isQuiet: false, says: 'never_scored: nobody looked.' },
    scored: [],
  });
  const unread = html({ reason: 'The table could not be read.' });
  expect(quiet).toContain('A quiet window');
  expect(quiet).toContain('quiet_window: so it is.');
  expect(never).toContain('Nothing was ever scored here');
  expect(never).toContain('This is no quiet day: nobody has looked.');
  expect(never).not.toContain('What was scored in');
  expect(unread).toContain('Nothing can be said of this window');
  expect(unread).toContain('The table could not be read.');
  for (const one of [never, unread]) expect(one).not.toContain('A quiet window');
});

test('a flag has its evidence in words and numbers, and leads to the record of its wallet', () => {
  const page = html({ ...WINDOW, entries: [ENTRY], total: 3, empty: null });
  for (const words of [
    'Of 14 earlier launches &lt;of> its deployer 13 died.',
    'href="/deployer/ethereum/0xaaaa"',
    '<strong>0.93</strong>',
    '2 launches flagged',
    '0.9286',
    '−1.75',
    '0xbbbb',
    'rug-1',
    '1 of 3 wallets',
  ]) {
    expect(page).toContain(words);
  }
});

test('a window that was scored in part says so above its flags', () => {
  const page = html({
    ...WINDOW,
    entries: [ENTRY],
    total: 1,
    empty: null,
    partial: 'scoring_partial: so it is.',
    suppressed: null,
  });
  expect(page).toContain('Scored in part.');
  expect(page).toContain('Established tokens left out: not known.');
});

test('the chart has a place for each month, a dash where nothing is on record, and a table', () => {
  const charts = launchCharts(
    [
      { chain: 'ethereum', month: '2026-09', listed: 4, died: 3, unchecked: 1 },
      { chain: 'ethereum', month: '2026-07', listed: 0, died: 0, unchecked: 2 },
      { chain: 'ethereum', month: '2020-01', listed: 9, died: 9, unchecked: 0 },
    ],
    STILL_NOW,
  );
  expect(charts.map(({ chain, months }) => [chain, months.length])).toEqual([['ethereum', 12]]);
  const [chart] = charts;
  expect(chart?.months.map(({ month }) => month).slice(-3)).toEqual([
    '2026-07',
    '2026-08',
    '2026-09',
  ]);
  expect(chart?.months.at(-2)?.counted).toBeNull();
  expect(chart?.months.at(-3)?.counted).toMatchObject({ listed: 0, share: null });
  const page = html(WINDOW, charts);
  expect(page.match(/<circle/g)).toHaveLength(1);
  expect(page.match(/none on record/g)).toHaveLength(10);
  expect(page).toContain('75.0%');
  expect(page).toContain('30.1% to 95.4%');
});

test('launches that could not be read are said to be so, and are no empty chart', () => {
  const unread = html(WINDOW, { reason: 'It is away.' });
  expect(unread).toContain('It is away.');
  expect(unread).not.toContain('No launch of the last twelve months');
  expect(html(WINDOW)).toContain('No launch of the last twelve months is on record here.');
});
