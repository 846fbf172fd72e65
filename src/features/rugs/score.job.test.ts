// The scorer notes a run when it has ended: without a model, or with something silent, there is
// none, and the leaderboard stays unscored.

import { expect, test, vi } from 'vitest';
import { Read, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  LaunchScoring,
  PublishedModel,
  ScoredWallet,
  ScorerRun,
  WalletToScore,
} from '../../ports/rug-model.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { levelOf, NO_FATES, SMALL_MODEL } from '../../testing/rug-models.ts';
import { scoreOnce, scoreRounds } from './score.job.ts';

const SOURCE = { name: 'Memory', url: 'memory:', as_of: STILL_NOW, kind: 'table' } as const;
const say = <T, P extends string>(port: P, value: T) =>
  read(value, { port, source: { ...SOURCE, simulated: false } });

const MODEL: PublishedModel = {
  version: 'rug-1-abc',
  text: '',
  published_at: STILL_NOW,
  withdrawn: null,
  model: { ...SMALL_MODEL, card: { ...SMALL_MODEL.card, level: levelOf(0.7) } },
};
const DAY_S = 86_400;
const WALLETS = ['one', 'two', 'three'].map((name): WalletToScore => {
  const at = STILL_NOW - 60;
  return {
    chain: 'ethereum',
    address: evm(name),
    observed_at: at,
    unread: name === 'three' ? 'it was read in part' : null,
    record: { is_whole: name !== 'three', disowned: [] },
    launches: [
      {
        token: evm(`${name} new`),
        launched_at: at - DAY_S,
        liquidity_usd: 1,
        launched_with_usd: null,
        launched_with_ether: null,
        launched_with_unread: null,
        listed: true,
        seen: null,
      },
      {
        token: evm(`${name} old`),
        launched_at: at - 90 * DAY_S,
        liquidity_usd: 1,
        launched_with_usd: null,
        launched_with_ether: null,
        launched_with_unread: null,
        listed: true,
        seen: { as: name === 'one' ? 'died' : 'live', at },
      },
    ],
  };
});

function world(change: Partial<LaunchScoring> = {}) {
  const left = [...WALLETS];
  const committed: ScoredWallet[] = [];
  const runs: ScorerRun[] = [];
  const scoring: LaunchScoring = {
    due: async (chain, _version, most) => {
      const due = chain === 'ethereum' ? left : [];
      return say('launch_scoring', { wallets: due.slice(0, most), due: due.length });
    },
    commit: async (scored) => {
      left.shift();
      committed.push(scored);
      const flagged = scored.launches.filter(({ outcome }) => outcome === 'flagged').length;
      return say('launch_scoring', { flagged, retracted: 0 });
    },
    end: async (run) => {
      runs.push(run);
      return say('launch_scoring', true as const);
    },
    fates: async () => say('launch_scoring', NO_FATES),
    withdraw: async () => say('launch_scoring', 0),
    ...change,
  };
  const parts = {
    scoring,
    established: {
      among: async <T>() => say('established_tokens', new Set<T>() as ReadonlySet<T>),
    },
    inForce: async () => say('published_model', MODEL),
    now: () => STILL_NOW,
  };
  return { parts, committed, runs };
}

const running = () => new AbortController().signal;
const AWAY = why('store_unreadable', { what: 'The store', fault: 'it is away' });

test('everything that is due is scored by the model in force, and the run says how much', async () => {
  const { parts, committed, runs } = world();
  expect(await scoreOnce(parts, running())).toEqual([]);
  expect(committed.map(({ launches }) => launches.map(({ outcome }) => outcome))).toEqual([
    ['flagged'],
    ['passed'],
    ['unscored'],
  ]);
  expect(committed[0]).toMatchObject({
    model_version: 'rug-1-abc',
    observed_at: STILL_NOW - 60,
    on_record: [evm('one new'), evm('one old')],
  });
  expect(runs).toEqual([
    {
      chain: 'ethereum',
      began_at: STILL_NOW,
      model_version: 'rug-1-abc',
      wallets: 3,
      scored: 2,
      flagged: 1,
      suppressed: 0,
      unscored: 1,
      retracted: 0,
      waiting: 0,
    },
  ]);
});

test.each([
  [3, 1],
  [1, 3],
])('of three wallets %i at a time cost %i looks, and none waits', async (atOnce, looks) => {
  const { parts, committed, runs } = world();
  let asked = 0;
  const due: LaunchScoring['due'] = async (chain, by) => {
    asked += 1;
    return parts.scoring.due(chain, by, atOnce);
  };
  await scoreOnce({ ...parts, scoring: { ...parts.scoring, due } }, running());
  expect([committed.length, asked, runs[0]?.waiting]).toEqual([3, looks, 0]);
});

test('without a model, and where anything is silent, no run is noted and the reason is told', async () => {
  const missing = unread('published_model', why('model_not_published'));
  const { parts, runs } = world();
  const without = { ...parts, inForce: async () => missing };
  expect(await scoreOnce(without, running())).toMatchObject([
    { chain: null, why: { code: 'model_not_published' } },
  ]);
  const silent = [
    world({ due: async () => unread('launch_scoring', AWAY) }),
    world({ commit: async () => unread('launch_scoring', AWAY) }),
    world({ end: async () => unread('launch_scoring', AWAY) }),
  ];
  for (const { parts: away, runs: noted } of silent) {
    expect(await scoreOnce(away, running())).toMatchObject([{ chain: 'ethereum', why: AWAY }]);
    expect(noted).toEqual([]);
  }
  const established = { among: async () => unread('established_tokens', AWAY) };
  expect(await scoreOnce({ ...parts, established }, running())).toMatchObject([{ why: AWAY }]);
  expect(runs).toEqual([]);
});

test('a run that is stopped is not noted', async () => {
  const { parts, runs, committed } = world();
  await scoreOnce(parts, AbortSignal.abort());
  expect([runs, committed]).toEqual([[], []]);
});

test('a reason that lasts is told once, and what throws ends no later round', async () => {
  const told: string[] = [];
  const faults: unknown[] = [];
  let asked = 0;
  const { parts } = world();
  const missing = unread('published_model', why('model_not_published'));
  const job = scoreRounds({
    ...parts,
    inForce: async () => {
      asked += 1;
      if (asked === 2) throw new Error('test: a bug');
      return asked === 5 ? say('published_model', MODEL) : missing;
    },
    everyS: 1,
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    onNotScored: ({ why: { code } }) => void told.push(code),
    onBug: (fault) => void faults.push(fault),
  });
  await vi.waitFor(() => expect(asked).toBeGreaterThan(6));
  await job.stop();
  expect(told).toEqual(['model_not_published', 'model_not_published']);
  expect(faults).toHaveLength(1);
  expect(say('launch_scoring', 1)).toBeInstanceOf(Read);
});

test('a model whose settled flags died otherwise than its card expects flags nothing', async () => {
  const asked: string[] = [];
  const standing = [2, 1, 0];
  const { parts, committed } = world({
    fates: async () => say('launch_scoring', { ...NO_FATES, settled: 200, died: 150, unknown: 4 }),
    withdraw: async ({ reason }) => {
      asked.push(reason);
      return say('launch_scoring', Number(standing.shift()));
    },
  });
  expect(await scoreOnce(parts, running())).toEqual([]);
  const reason =
    'The flags of rug-1-abc were withdrawn: of its last 200 settled flags 150 died (75.0%, with ' +
    '4 more of which nobody saw it), and its card expects 87.0% to 96.0%.';
  expect(asked).toEqual([reason, reason, reason]);
  expect(committed.flatMap(({ launches }) => launches.map(({ outcome }) => outcome))).toEqual([
    'passed',
    'passed',
    'unscored',
  ]);
});

test('a model that was withdrawn flags nothing, whatever became of its flags since', async () => {
  const { parts, committed } = world();
  const withdrawn = { withdrawn_at: STILL_NOW, reason: 'They were withdrawn.' };
  const inForce = async () => say('published_model', { ...MODEL, withdrawn });
  expect(await scoreOnce({ ...parts, inForce }, running())).toEqual([]);
  expect(committed[0]?.launches).toMatchObject([{ outcome: 'passed' }]);
});
