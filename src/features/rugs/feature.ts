// Rug flags: the model's scores of launches, and the leaderboards of the wallets behind them.

import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { map, Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { LaunchMonths } from '../../ports/launches.ts';
import { establishedTokens } from '../../sources/registry/registry-files.ts';
import { launchMonthTable } from '../../stores/control/launch-collection.ts';
import { launchScoringTable } from '../../stores/control/launch-scoring.ts';
import { launchWatchTable, type UnsetWatch } from '../../stores/control/launch-watch.ts';
import { rugFlagTable, SCORER_MAX_AGE_S } from '../../stores/control/rug-flags.ts';
import { rugModelFeature } from '../rug-model/feature.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S } from '../tables/launches.ts';
import { launchCharts, MONTHS_SHOWN } from './launch-chart.route.tsx';
import {
  type LeaderboardPorts,
  leaderboard,
  leaderboardHandler,
  leaderboardHtml,
  leaderboardPage,
  leaderboardScript,
  rugsLeaderboard,
  rugsLeaderboardHandler,
  viewWindow,
} from './leaderboard.route.tsx';

import { LIVE_SCRIPT } from './live-script.ts';

import { type NotScored, scoreRounds } from './score.job.ts';
import { WINDOW_S, watchOver } from './watch.ts';

const ESTABLISHED = new URL('../../../registry/established-tokens.csv', import.meta.url);

/** Seconds between two rounds of the scorer. */
const SCORED_EACH_S = 30;

/** The settings without which no source observes launches. */
function unsetWatch({ explorer, blockscout, solanaLaunches, venue }: Base['outside']): UnsetWatch {
  const hasExplorer = explorer !== null || blockscout.ethereum !== null;
  return {
    explorer: hasExplorer ? [] : ['EXHIBIT_EXPLORER_URL'],
    node: solanaLaunches === null ? ['EXHIBIT_RPC_SOLANA'] : [],
    venue: venue === null ? ['EXHIBIT_VENUE_URL'] : [],
  };
}

type Rested = OpenedRests<{ rugModel: typeof rugModelFeature }>;
type LeaderboardPagePorts = LeaderboardPorts & { readonly launchMonths: LaunchMonths };

export const rugs = feature({
  name: 'rugs',
  rests: { rugModel: rugModelFeature },
  open: ({ database, bus, context, log, outside }: Base, { rugModel: { services } }: Rested) => {
    const established = establishedTokens(ESTABLISHED);
    const rounds = {
      scoring: launchScoringTable(database, context, bus.callAll),
      established,
      inForce: services.model.published.inForce,
      now: nowS,
      everyS: SCORED_EACH_S,
      sleep: pause,
      onNotScored: ({ chain, why: { code, reason } }: NotScored) =>
        log.warn({ chain, code, reason }, 'rugs: not scored'),
      onBug: (fault: unknown) => log.error({ fault: String(fault) }, 'rugs: scoring failed'),
    };
    return {
      ports: {
        rugFlags: rugFlagTable(database, context, {
          listed: established,
          inForce: services.model.published.inForce,
        }),
        launchWatch: launchWatchTable(database, context, {
          inForce: services.model.published.inForce,
          unset: unsetWatch(outside),
          settles: { afterS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S },
        }),
        launchMonths: launchMonthTable(database, context),
      },
      services: {},
      jobs: [{ name: 'rugs', start: (watch: WatchRun) => scoreRounds({ ...rounds, watch }) }],
    };
  },
  routes: [
    serveRoute(leaderboard, (given: LeaderboardPorts) => leaderboardHandler(given)),
    serveRoute(rugsLeaderboard, (given: LeaderboardPorts) => rugsLeaderboardHandler(given)),
  ],
  ports: {
    rugFlags: {
      tag: 'rug_flags',
      title: 'Rug flags',
      says: 'Which launches the rug model flagged',
      pages: true,
      freshness: {
        kind: 'dated',
        ask: async (held) => {
          const window = await held.inWindow(WINDOW_S);
          const isNever = window instanceof Read && window.value.chains.length === 0;
          return isNever ? unread('rug_flags', why('never_scored')) : map(window, () => null);
        },
        maxAgeS: () => SCORER_MAX_AGE_S,
      },
    },
    launchWatch: {
      tag: 'launch_watch',
      title: 'Watch over launches',
      says: 'Whether launches were watched, so that a window without a flag is a quiet one',
      pages: false,
      freshness: {
        kind: 'dated',
        ask: async (held) => map(await watchOver(held), () => null),
        maxAgeS: () => WINDOW_S,
      },
    },
    launchMonths: {
      tag: 'launch_months',
      title: 'Launches by month',
      says: 'What became of the launches of each month',
      pages: false,
      freshness: { kind: 'shown_with', tag: 'deployer_records' },
    },
  },
  pages: [
    servePage(leaderboardPage, 'Leaderboard', (given: LeaderboardPagePorts, facts) => {
      return async (_input, { now }, caller) => {
        const [shown, months] = await Promise.all([
          viewWindow(given, now()),
          given.launchMonths.newest(MONTHS_SHOWN),
        ]);
        const charts = months.checked
          ? launchCharts(months.value, now())
          : { reason: months.why.reason };
        const html = leaderboardHtml(facts, shown, charts, caller.kind === 'session');
        return leaderboardPage.reply('reason' in shown && shown.isOutage ? 503 : 200, html);
      };
    }),
    servePage(leaderboardScript, null, (_given: unknown) => {
      return async () => leaderboardScript.reply(200, LIVE_SCRIPT);
    }),
  ],
});
