// A service over a store of the tests, with what is asked about launches and its jobs, each of
// which runs once when a test says so, by a clock that the test moves.

import { onTestFinished } from 'vitest';
import { createGate } from './access/gate.ts';
import { deriveSecrets, mintKey } from './access/secret.ts';
import { mountedPage } from './compose/documents.ts';
import type { AnyFeature } from './compose/feature.ts';
import { CONTRACTS, FEATURES, handlerOf } from './compose/list.ts';
import { walker } from './features/deployers/walks.job.ts';
import { flagStreamHandler, flagStreamRoute } from './features/flag-stream/flag-stream.route.ts';
import { collectAccount } from './features/launches/collect.ts';
import { settleRound } from './features/launches/settle.ts';
import { scoreOnce } from './features/rugs/score.job.ts';
import { whyUnwatched } from './features/rugs/watch.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S, launchCorpus } from './features/tables/launches.ts';
import type { ChainFacts } from './ports/accounts.ts';
import type { WalkSources } from './ports/deployers.ts';
import type { LaunchFeed, LaunchListings } from './ports/launches.ts';
import type { PublishedModels } from './ports/rug-model.ts';
import { WATCHED_ACCOUNTS } from './sources/solana/launches.ts';
import { deployerRecordTable, deployerWalkTable } from './stores/control/deployers.ts';
import { tableStore } from './stores/control/imported-tables.ts';
import { LAUNCH_NOTES, launchCollectionTable } from './stores/control/launch-collection.ts';
import { launchScoringTable } from './stores/control/launch-scoring.ts';
import { launchWatchTable } from './stores/control/launch-watch.ts';
import { rugFlagTable } from './stores/control/rug-flags.ts';
import { rugModelTable } from './stores/control/rug-models.ts';
import { accessIn, type TestStore } from './testing/control-store.ts';
import { flagEventsIn } from './testing/flag-events.ts';
import { createTestHttp } from './testing/http-server.ts';
import { walletLaunchesIn } from './testing/imported-tables.ts';
import { REVIEWED_TOKENS } from './testing/launch-scores.ts';
import { TEST_SERVICE } from './testing/service.ts';
import type { Mounted } from './transport/answer.ts';
import { createSlots, type MountedStream } from './transport/stream.ts';
import { STREAM_LIMITS } from './transport/stream-reader.ts';
import { ALONE, type Body, readEvents, TOKENS } from './transport/stream-service.suite.ts';

const SECRETS = deriveSecrets('a root secret of the tests', null);
const [PUMP = ''] = WATCHED_ACCOUNTS;
const WALKED_FOR_S = 60;
/** The routes that are asked. */
const ASKED = [
  'leaderboard',
  'rugs_leaderboard',
  'deployer_record',
  'solana_deployer',
  'token_creator',
  'rug_model_card',
];
const PAGES = ['token_page', 'rug_model_page'];
const { signal } = new AbortController();

/** A clock that a test moves, in Unix seconds. */
export type LaunchClock = { at: number };

/** Who is asked about launches. */
export type LaunchSources = {
  readonly walk: WalkSources;
  readonly facts: ChainFacts;
  readonly feed: LaunchFeed;
  readonly listings: LaunchListings;
};

type Serving = {
  readonly clock: LaunchClock;
  readonly sources: LaunchSources;
  readonly inForce: PublishedModels['inForce'];
};

export type ServedLaunches = Awaited<ReturnType<typeof serveLaunches>>;

/** Serves over an empty store, until the test ends. */
export async function serveLaunches(store: TestStore, { clock, sources, inForce }: Serving) {
  await store.setClock(clock.at);
  const now = () => clock.at;
  const context = { simulated: false, nowMs: () => clock.at * 1_000 };
  const watch = launchWatchTable(store, context, {
    inForce,
    unset: { explorer: [], node: [], venue: [] },
    settles: { afterS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S },
  });
  const rugFlags = rugFlagTable(store, context, { listed: REVIEWED_TOKENS, inForce });
  const given = {
    service: TEST_SERVICE,
    rugFlags,
    launchWatch: watch,
    deployerRecords: deployerRecordTable(store, context, null),
    walletLaunches: walletLaunchesIn(store, now),
    chainFacts: sources.facts,
    publishedModels: rugModelTable(store, context),
    members: { reading: async () => ({ may: true, pay: async () => null }) },
  };
  const { keys, quota, memberships } = accessIn(store, context.nowMs);
  /** A member of that name, as whom the service is asked. */
  const joinAs = async (membership_id: string) => {
    await memberships.record({ membership_id, plan: 'analyst', status: 'active', at: clock.at });
    const member = mintKey({ kind: 'sc', membership_id }, SECRETS, clock.at);
    await keys.add(member.stored, 1);
    return `Bearer ${member.text}`;
  };
  const member = await joinAs('mem_1');
  const handle: unknown = flagStreamHandler(flagStreamRoute, {
    flagEvents: flagEventsIn(store),
    onAppended: () => () => undefined,
    unwatched: () => whyUnwatched({ rugFlags, launchWatch: watch }),
    watchEachMs: 50,
  });
  let base = '';
  const app = createTestHttp({
    mounted: mountsOver(given),
    gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, now),
    tokens: TOKENS,
    streams: {
      mounted: [{ route: flagStreamRoute, handle } as MountedStream],
      limits: STREAM_LIMITS,
      slots: createSlots(STREAM_LIMITS.connectionsMax, ALONE),
      base: () => base,
    },
    refusalPage: ({ status }) => String(status),
    now,
    budgetMs: 30_000,
  });
  base = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const get = async (path: string, authorization = member) =>
    (await fetch(base + path, { headers: { authorization } })).text();
  return {
    ...jobsOver(store, { clock, sources, inForce }),
    /** The clock of the service and its store goes on. */
    goOn: async (seconds: number) => {
      clock.at += seconds;
      await store.setClock(clock.at);
    },
    joinAs,
    get,
    /** What the stream tells a new reader, up to the first message that is meant. */
    readStream: async (isMeant: (one: Body) => boolean, query = '') => {
      const { until } = await readEvents(base, `token=pro-1${query}`, {}, '/sse/flags');
      return until((read) => read.some(isMeant));
    },
  };
}

function mountsOver(given: object): Mounted[] {
  const pages = (FEATURES as readonly AnyFeature[]).flatMap((feature) => feature.pages);
  const facts = { simulated: false, version: '0', links: [], explorers: new Map() };
  return [
    ...CONTRACTS.filter(({ name }) => ASKED.includes(name)).map((route): Mounted => {
      return { route, handle: handlerOf(route.name, given) };
    }),
    ...pages
      .filter(({ route }) => PAGES.includes(route.name))
      .map((page) => mountedPage(page, given, facts)),
  ];
}

/** The jobs of the service over a store, each run once. */
function jobsOver(store: TestStore, { clock, sources, inForce }: Serving) {
  const now = () => clock.at;
  const context = { simulated: false, nowMs: () => clock.at * 1_000 };
  const walks = deployerWalkTable(store, context);
  const limits = {
    contractsMax: 50,
    askedMax: 100,
    atOnce: 2,
    exitLiquidityUsd: 1_000,
    launchedWithMax: 5,
  };
  const walk = walker({ sources: sources.walk, walks, limits, now });
  const windows = { windowS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  const collection = launchCollectionTable(store, context, windows);
  const bounds = { transactionsMax: 500, stepMax: 5, attemptsMax: 1 };
  const scoring = launchScoringTable(store, context, () => undefined);
  return {
    /** Walks whoever is next, and tells who that was; `null`: nobody is due. */
    walkOnce: async (): Promise<string | null> => {
      const next = await walks.take(WALKED_FOR_S);
      if (!next.checked) throw new Error(next.why.reason);
      if (next.value !== null) await walk(next.value, signal);
      return next.value;
    },
    collect: async () => {
      await collectAccount({ feed: sources.feed, collection, limits: bounds }, PUMP, signal);
    },
    settle: () =>
      settleRound(
        {
          collection,
          listings: sources.listings,
          table: tableStore(store, launchCorpus, now, LAUNCH_NOTES),
          origin: 'observed',
          limits: { launchesMax: 100, atOnce: 2 },
          now,
        },
        signal,
      ),
    score: () => scoreOnce({ scoring, established: REVIEWED_TOKENS, inForce, now }, signal),
  };
}
