// Both leaderboards: a quiet window, a table that nobody ever wrote and one that cannot be read are
// three different answers, and no list is empty where nobody knows.

import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { envelopeSchema } from '../../contract/route.ts';
import { type Partly, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type FlagWindow,
  type LaunchFlag,
  type LaunchWatch,
  type RugFlags,
  WATCHED_SOURCES,
  type WatchedSource,
} from '../../ports/rug-flags.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { rugFlagOf } from '../../testing/rug-worlds.ts';
import {
  memoryLaunchWatch,
  memoryRugFlags,
  SCORED,
  WATCHED,
} from '../../testing/twins/rug-flags.ts';
import { type ChartsView, launchCharts } from './launch-chart.route.tsx';
import {
  leaderboard,
  leaderboardHandler,
  leaderboardHtml,
  rugsLeaderboard,
  rugsLeaderboardHandler,
  viewWindow,
} from './leaderboard.route.tsx';

const ALICE = evm('alice');
const CAVEAT =
  'A score is the chance, from 0 to 1, that a launch dies within the horizon that the card of its ' +
  'model states, counted from the launch. Scored are new launches of wallets whose launches are ' +
  'collected here, on what was known when they were scored; whoever is missing from this list was ' +
  'not cleared by it.';
const QUIET = 'quiet_window: none of 12 launches scored in 24 hours (ethereum 12) is flagged.';
const NEVER =
  'never_scored: no scorer has ever written to the table of flags of this deployment; nothing ' +
  'was checked.';
const UNREAD = 'The table of flags could not be read: it is away.';
const PARTIAL =
  'scoring_partial: the last 24 hours were scored only in part: ethereum was last scored long ago.';

const GAP = why('scoring_partial', { hours: '24', gaps: 'ethereum was last scored long ago' });
const AWAY = why('store_unreadable', { what: 'The table of flags', fault: 'it is away' });
const SOURCE = { name: 'Rug scorer', url: 'memory:', as_of: STILL_NOW - 60 };
const ENTRY = {
  address: ALICE,
  chain: 'ethereum',
  score: 0.93,
  deployer_history: 'settled' as 'settled' | 'none' | null,
  first_flagged_at: '2026-09-24T10:00:00.000Z',
  last_scored_at: '2026-09-24T11:00:00.000Z',
  top_evidence: {
    feature: 'deployer_died_share',
    value: 0.9286,
    contribution: 1.75,
    statement: 'Of 14 earlier launches of its deployer 13 died.',
  },
  model_version: 'rug-1',
  model_card: '/api/models/rug/rug-1',
  token: evm(`a launch of ${ALICE}`),
  launches: 1,
};
const CHAIN_SHOWN = {
  ...SCORED,
  last_scored_at: '2026-09-24T11:59:00.000Z',
  model_card: '/api/models/rug/rug-1',
};

function held(flags: readonly LaunchFlag[], chains = [SCORED]): RugFlags {
  return memoryRugFlags({ chains, flags, simulated: false, as_of: STILL_NOW - 60 });
}

function inPart(whole: RugFlags, gap: Why = GAP): RugFlags {
  return {
    inWindow: async (windowS): Promise<Partly<FlagWindow, 'rug_flags'>> =>
      weaken(await whole.inWindow(windowS), gap),
  };
}

const AWAY_TABLE: RugFlags = { inWindow: async () => unread('rug_flags', AWAY) };
const NEVER_WRITTEN = held([], []);

type Query = { readonly limit?: number; readonly token?: string };

const ALL_WATCHED = memoryLaunchWatch(WATCHED);

async function hosted(rugFlags: RugFlags, query: Query = {}, launchWatch = ALL_WATCHED) {
  const handle = leaderboardHandler({ rugFlags, launchWatch });
  const input = { params: {}, query: { limit: query.limit }, body: undefined };
  const { signal } = new AbortController();
  const said = await handle(input, { now: stillClock(), signal }, { kind: 'nobody' });
  if (said instanceof Refusal) throw new Error('test: refused');
  const envelope = said.envelope(STILL_NOW);
  return envelopeSchema(leaderboard).parse(envelope);
}

type Deployed = { readonly simulated?: boolean; readonly launchWatch?: LaunchWatch };

async function rugs(rugFlags: RugFlags, query: Query = {}, deployed: Deployed = {}) {
  const { simulated = false, launchWatch = ALL_WATCHED } = deployed;
  const handle = rugsLeaderboardHandler({ rugFlags, launchWatch, service: { simulated } });
  const input = { params: {}, query: { limit: query.limit, token: undefined }, body: undefined };
  const { signal } = new AbortController();
  const said = await handle(input, { now: stillClock(), signal }, { kind: 'nobody' });
  if (said instanceof Refusal) throw new Error('test: refused');
  const status = said.status as 200 | 503;
  return { status, body: rugsLeaderboard.responses[status].parse(said.body) };
}

const WATCH_SOURCE = { name: 'Watch over launches', url: 'memory:', as_of: STILL_NOW };
const whole = {
  state: 'ok',
  subject: 'leaderboard',
  sources: [SOURCE, WATCH_SOURCE],
  as_of: SOURCE.as_of,
  simulated: false,
};
const emptyData = {
  entries: [],
  count: 0,
  empty: true,
  empty_reason: QUIET,
  window_hours: 24,
  suppressed: 0,
  window_checked: true,
  window_reason: null,
  scored: [CHAIN_SHOWN],
  caveat: CAVEAT,
};
const rugsObject = {
  schema: 'rugs-leaderboard/1',
  state: 'ok',
  available: true,
  entries: [ENTRY],
  count: 1,
  empty: false,
  empty_reason: null,
  reason: null,
  window_hours: 24,
  generated_at: STILL_NOW,
  snapshot: { as_of: STILL_NOW - 60, age_s: 60 },
  served: { window: '24h', rows: 1 },
  suppressed: 0,
  simulated: false,
  caveat: CAVEAT,
};
const noSnapshot = {
  schema: 'rugs-leaderboard/1',
  state: 'no_snapshot',
  available: false,
  entries: [],
  count: 0,
  empty: true,
  empty_reason: null,
  reason: UNREAD,
  window_hours: 24,
  generated_at: STILL_NOW,
  simulated: false,
};

describe('GET /api/v1/leaderboard', () => {
  describe('says', () => {
    test('the flagged wallets, each with its strongest evidence', async () => {
      expect(await hosted(held([rugFlagOf(ALICE)]))).toEqual({
        ...whole,
        data: { ...emptyData, entries: [ENTRY], count: 1, empty: false, empty_reason: null },
      });
    });

    test('a quiet window, with how many launches were scored in it', async () => {
      expect(await hosted(held([]))).toEqual({ ...whole, data: emptyData });
    });

    test('that no scorer has ever written, and not that the window was looked at', async () => {
      const { sources, ...said } = (await hosted(NEVER_WRITTEN)) as { sources: unknown[] };
      expect(sources).toHaveLength(1);
      expect(said).toMatchObject({
        state: 'ok',
        data: { ...emptyData, empty_reason: NEVER, window_checked: false, scored: [] },
      });
    });

    test('how many established tokens were left out, beside an empty list too', async () => {
      const flag = rugFlagOf(ALICE, { is_listed_token: true });
      expect(await hosted(held([flag]))).toMatchObject({
        data: {
          entries: [],
          suppressed: 1,
          empty_reason: QUIET.replace('flagged.', 'flagged; established tokens left out: 1.'),
        },
      });
    });

    test('fifty wallets unless a limit is named', async () => {
      const many = Array.from({ length: 101 }, (_, i) => rugFlagOf(evm(`wallet ${i}`)));
      expect(await hosted(held(many))).toMatchObject({ data: { count: 50 } });
      expect(await hosted(held(many), { limit: 100 })).toMatchObject({ data: { count: 100 } });
      expect(await hosted(held(many), { limit: 1 })).toMatchObject({ data: { count: 1 } });
    });
  });

  describe('is silent', () => {
    test('where the table could not be read', async () => {
      const absent = { ...whole, state: 'not_deployed', sources: [], as_of: STILL_NOW };
      expect(await hosted(AWAY_TABLE)).toEqual({ ...absent, data: null, reason: UNREAD });
    });

    test('where the window was scored in part and holds no flag: it is no quiet one', async () => {
      expect(await hosted(inPart(held([])))).toMatchObject({
        state: 'not_deployed',
        data: null,
        reason: PARTIAL,
      });
    });

    test('of who is missing, where a window with flags was scored in part', async () => {
      expect(await hosted(inPart(held([rugFlagOf(ALICE)])))).toMatchObject({
        state: 'ok',
        data: {
          entries: [ENTRY],
          suppressed: null,
          window_checked: false,
          window_reason: PARTIAL,
        },
      });
    });
  });

  describe('refuses', () => {
    test('a limit outside of 1 to 100, and what it does not know', () => {
      for (const query of [{ limit: '0' }, { limit: '101' }, { limit: 'all' }, { page: '2' }]) {
        expect(leaderboard.query.safeParse(query).success, JSON.stringify(query)).toBe(false);
        expect(rugsLeaderboard.query.safeParse(query).success).toBe(false);
      }
      expect(leaderboard.query.parse({ limit: '100' })).toEqual({ limit: 100 });
    });
  });
});

describe('GET /api/leaderboard/rugs', () => {
  describe('says', () => {
    test('the flagged wallets', async () => {
      const said = await rugs(held([rugFlagOf(ALICE)]));
      expect(said).toEqual({ status: 200, body: rugsObject });
    });

    test('a quiet day, which is ok and empty', async () => {
      const quiet = { entries: [], count: 0, empty: true, empty_reason: QUIET };
      expect(await rugs(held([]))).toEqual({
        status: 200,
        body: { ...rugsObject, ...quiet, served: { window: '24h', rows: 0 } },
      });
    });

    test('of a simulated world that it is simulated', async () => {
      const { body } = await rugs(held([rugFlagOf(ALICE)]), {}, { simulated: true });
      expect(body).toMatchObject({ simulated: true, caveat: expect.stringMatching(/^Simulated:/) });
    });
  });

  describe('is silent', () => {
    test('where the table could not be read', async () => {
      expect(await rugs(AWAY_TABLE)).toEqual({ status: 503, body: noSnapshot });
    });

    test('where no scorer has ever written: that is no quiet day', async () => {
      expect(await rugs(NEVER_WRITTEN)).toEqual({
        status: 503,
        body: { ...noSnapshot, empty_reason: NEVER, reason: NEVER },
      });
    });

    test('where the window was scored in part and holds no flag', async () => {
      const body = { ...noSnapshot, reason: PARTIAL };
      expect(await rugs(inPart(held([])))).toEqual({ status: 503, body });
    });

    test('of who is missing, where a window with flags was scored in part', async () => {
      const said = await rugs(inPart(held([rugFlagOf(ALICE)])));
      expect(said).toEqual({
        status: 200,
        body: { ...rugsObject, reason: PARTIAL, suppressed: null },
      });
    });
  });
});

// A window is a quiet one where it was watched: through every source, and to its end.

/** The watch with one source changed. */
function watchWith(source: WatchedSource, change: 'gap' | 'silent'): LaunchWatch {
  const gap = `it was away: ${source}`;
  if (change === 'gap') return memoryLaunchWatch({ ...WATCHED, gaps: { [source]: [gap] } });
  return {
    gapsOf: async (of, windowS) => {
      if (of !== source) return ALL_WATCHED.gapsOf(of, windowS);
      const fault = `the ${source} is away`;
      return unread('launch_watch', why('store_unreadable', { what: 'The watch', fault }));
    },
  };
}

test('a made-up window without a flag is no outage, and no quiet one either', async () => {
  const rugFlags = inPart(held([]), why('simulated'));
  const shown = await viewWindow({ rugFlags, launchWatch: ALL_WATCHED }, STILL_NOW);
  expect(shown).toEqual({ reason: why('simulated').reason, isOutage: false });
});

describe.each(WATCHED_SOURCES)('a window that was not watched through its %s', (source) => {
  const silent = watchWith(source, 'silent');
  const gap = watchWith(source, 'gap');
  const said = {
    gap: `scoring_partial: the last 24 hours were scored only in part: it was away: ${source}.`,
    silent: `The watch could not be read: the ${source} is away.`,
  };

  test.each([['gap', gap] as const, ['silent', silent] as const])(
    'is no quiet one on either leaderboard or the page: %s',
    async (kind, launchWatch) => {
      const reason = said[kind];
      const absent = { state: 'not_deployed', data: null, reason };
      expect(await hosted(held([]), {}, launchWatch)).toMatchObject(absent);
      expect(await rugs(held([]), {}, { launchWatch })).toMatchObject({
        status: 503,
        body: { state: 'no_snapshot', available: false, reason },
      });
      const ports = { rugFlags: held([]), launchWatch };
      expect(await viewWindow(ports, STILL_NOW)).toEqual({ reason, isOutage: true });
    },
  );

  test('still shows its flags, and says that others may be missing', async () => {
    const flags = held([rugFlagOf(ALICE)]);
    const shown = { entries: [ENTRY], suppressed: null, window_checked: false };
    expect(await hosted(flags, {}, gap)).toMatchObject({
      state: 'ok',
      data: { ...shown, window_reason: said.gap },
    });
    expect(await rugs(flags, {}, { launchWatch: silent })).toMatchObject({
      status: 200,
      body: { entries: [ENTRY], reason: said.silent },
    });
  });
});

test('the snapshot is as old as what was watched longest ago', async () => {
  const launchWatch = memoryLaunchWatch({ ...WATCHED, as_of: STILL_NOW - 7_200 });
  const { body } = await rugs(held([]), {}, { launchWatch });
  expect(body).toMatchObject({
    generated_at: STILL_NOW,
    snapshot: { as_of: STILL_NOW - 7_200, age_s: 7_200 },
  });
});

// The page of the leaderboard: each kind of nothing looks its own way, each flag has its evidence
// in words, and a month without a launch on record is no zero.

describe('leaderboard page', () => {
  const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
  const NO_CHARTS: ChartsView = [];
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
    deployer_history: 'none' as const,
    first_flagged_at: '2026-09-24T10:00:00.000Z',
    last_scored_at: '2026-09-24T11:00:00.000Z',
    top_evidence: {
      feature: 'died_share',
      value: 0.92857142,
      contribution: -1.75,
      statement: 'Of 14 earlier launches <of> its deployer 13 died.',
    },
    model_version: 'rug-1',
    model_card: '/api/models/rug/rug-1',
    token: '0xbbbb',
    launches: 2,
  };

  type Shown = Parameters<typeof leaderboardHtml>[1];
  const html = (shown: Shown, charts: ChartsView = NO_CHARTS) =>
    leaderboardHtml(FACTS, shown, charts, false);

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
      'died_share: 0.9286',
      '−1.75 in log-odds, −5.4 points of the score',
      'without such launches: the score rests on the launch itself',
      '<a href="/models/rug/rug-1">rug-1</a>',
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
});
