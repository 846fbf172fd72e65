// Launches of Solana: the outcomes of a wallet's launches, and their collection.

import { HOUR_S } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import { type Base, feature, type Job, routeOrigin, serveRoute } from '../../compose/feature.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { WalletLaunches } from '../../ports/deployers.ts';
import { dexscreenerListings } from '../../sources/dexscreener/venue.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { providerGuard } from '../../sources/http/provider.ts';
import { solanaLaunchFeed, WATCHED_ACCOUNTS } from '../../sources/solana/launches.ts';
import { tableStore } from '../../stores/control/imported-tables.ts';
import { LAUNCH_NOTES, launchCollectionTable } from '../../stores/control/launch-collection.ts';
import { walletLaunchTable } from '../../stores/control/wallet-launches.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S, launchCorpus } from '../tables/launches.ts';
import {
  corpusEvaluate,
  corpusSettle,
  type LaunchServices,
  type SettleServices,
} from './evaluate.command.ts';
import { SPLIT_SHARE } from './hold-out.ts';
import { collectLaunches, settleLaunches } from './rounds.job.ts';

import { type SettleParts, settleRound } from './settle.ts';
import {
  type SolanaDeployerPorts,
  solanaDeployer,
  solanaDeployerHandler,
} from './solana-deployer.route.ts';

/** The limits of one request to the node or the venue. */
const QUESTION = { timeMs: 120_000, callsMax: 100 };
/** Calls a second that a public node takes (100 in ten seconds, 40 of one method). */
const NODE_CALLS_PER_S = 4;
const NODE_GUARD = { retriesMax: 3, backoffMs: 1_000, failuresMax: 10, restMs: 30_000 };
/** Calls a second by the venue's published plan, left in part to walks of deployers. */
const VENUE_CALLS_PER_S = 3;
const VENUE_GUARD = { retriesMax: 2, backoffMs: 1_000, failuresMax: 10, restMs: 30_000 };
const PAGES_MAX = 10;
const COLLECTING = { transactionsMax: 500, stepMax: 25, attemptsMax: 5 };
const COLLECT_EACH_MS = 20_000;
/** Settlements are imported at most so often: each import has the corpus loaded anew. */
const SETTLE_EACH_MS = 600_000;
const SETTLE_LIMITS = { launchesMax: 2_000, atOnce: 4 };
/** The simulated world moves while one watches. */
const SIMULATED_EACH_MS = 5_000;

type Services = LaunchServices & SettleServices;

export const launches = feature({
  name: 'launches',
  heading: 'Launches',
  open: (base: Base) => {
    const { database, context } = base;
    const options = { splitShare: SPLIT_SHARE };
    const { of, launchOf, heldOut } = walletLaunchTable(database, context, options);
    const walletLaunches: WalletLaunches = { of, launchOf };
    const settling = settlingOf(base);
    const services: Services = {
      evaluation: { heldOut },
      windowHours: LAUNCH_WINDOW_S / HOUR_S,
      settleRound: settling === null ? null : (signal) => settleRound(settling, signal),
    };
    return { ports: { walletLaunches }, services, jobs: jobsOf(base, settling) };
  },
  routes: [
    serveRoute(solanaDeployer, (given: SolanaDeployerPorts) => solanaDeployerHandler(given)),
  ],
  ports: {
    walletLaunches: {
      tag: 'wallet_launches',
      title: 'Launches of wallets',
      says: 'What a Solana wallet launched, and what became of it',
      pages: false,
      freshness: { kind: 'shown_with', tag: 'launch_corpus' },
    },
  },
  commands: [corpusSettle, corpusEvaluate],
});

function collectionOf({ database, context }: Base) {
  const windows = { windowS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  return launchCollectionTable(database, context, windows);
}

/** The job that settles launches; `null` without a configured venue. */
function settlingOf(base: Base): SettleParts | null {
  const { config, database, outside, providers } = base;
  const { venue, callsPerS } = outside;
  if (venue === null) return null;
  const rate = callsPerS === null ? VENUE_CALLS_PER_S : callsPerS;
  const url = new URL(venue);
  const onCallEnd = providers.watch({
    name: 'Venue',
    url: originText(url),
    ports: ['launch_corpus', 'wallet_launches'],
    carries: null,
  });
  const limits = { ...VENUE_GUARD, callsPerS: rate };
  const guard = providerGuard(limits, () => performance.now(), onCallEnd);
  const { simulate: simulated, exitLiquidityUsd } = config;
  const listings = dexscreenerListings({
    url,
    guard,
    chain: 'solana',
    now: nowS,
    ...QUESTION,
    simulated,
    exitLiquidityUsd,
  });
  const table = tableStore(database, launchCorpus, nowS, LAUNCH_NOTES);
  const origin = routeOrigin(config);
  const collection = collectionOf(base);
  return { collection, listings, table, origin, limits: SETTLE_LIMITS, now: nowS };
}

function jobsOf(base: Base, settling: SettleParts | null): Job[] {
  const { config, outside, log, providers } = base;
  const { simulate: simulated } = config;
  const rounds = {
    sleep: pause,
    onFailure: (what: string, { code, reason }: { code: string; reason: string }) =>
      log.warn({ what, code, reason }, 'launches: not read'),
    onBug: (fault: unknown) => log.error({ fault: String(fault) }, 'launches: a round failed'),
  };
  const jobs: Job[] = [];
  if (settling !== null) {
    const pollMs = simulated ? SIMULATED_EACH_MS : SETTLE_EACH_MS;
    const parts = { ...settling, ...rounds, pollMs };
    jobs.push({
      name: 'launch settlement',
      start: (watch: WatchRun) => settleLaunches({ ...parts, watch }),
    });
  }
  if (outside.solanaLaunches !== null) {
    const rate = outside.callsPerS === null ? NODE_CALLS_PER_S : outside.callsPerS;
    const url = new URL(outside.solanaLaunches);
    const onCallEnd = providers.watch({
      name: 'Node of solana',
      url: originText(url),
      ports: ['launch_corpus', 'wallet_launches'],
      carries: null,
    });
    const limits = { ...NODE_GUARD, callsPerS: rate };
    const guard = providerGuard(limits, () => performance.now(), onCallEnd);
    const feed = solanaLaunchFeed({
      url,
      guard,
      now: nowS,
      pagesMax: PAGES_MAX,
      ...QUESTION,
      simulated,
    });
    const parts = {
      ...rounds,
      feed,
      collection: collectionOf(base),
      accounts: WATCHED_ACCOUNTS,
      limits: COLLECTING,
      pollMs: simulated ? SIMULATED_EACH_MS : COLLECT_EACH_MS,
      onCollected: (account: string, launches: number, gaps: number) =>
        log.info({ account, launches, gaps }, 'launches: collected'),
    };
    jobs.push({
      name: 'launch collection',
      start: (watch: WatchRun) => collectLaunches({ ...parts, watch }),
    });
  }
  return jobs;
}
