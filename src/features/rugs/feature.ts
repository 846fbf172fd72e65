// Rug flags: what the model said of launches, and the leaderboards of the wallets behind them.

import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import type { LaunchMonths } from '../../ports/launches.ts';
import { establishedTokens } from '../../sources/registry/registry-files.ts';
import { launchMonthTable } from '../../stores/control/launch-collection.ts';
import { launchScoringTable } from '../../stores/control/launch-scoring.ts';
import type { UnsetWatch } from '../../stores/control/launch-watch.ts';
import { rugFlagTable } from '../../stores/control/rug-flags.ts';
import { rugModelFeature } from '../rug-model/feature.ts';
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

const ESTABLISHED = new URL('../../../registry/established-tokens.csv', import.meta.url);

/** Seconds between two rounds of the scorer. */
const SCORED_EACH_S = 30;

/** What is not set without which nobody watches the launches of a chain. */
function unsetWatch({ explorer, blockscout, solanaLaunches, venue }: Base['outside']): UnsetWatch {
  const listing = venue === null ? ['EXHIBIT_VENUE_URL'] : [];
  const hasExplorer = explorer !== null || blockscout.ethereum !== null;
  return {
    ethereum: [...(hasExplorer ? [] : ['EXHIBIT_EXPLORER_URL']), ...listing],
    solana: [...(solanaLaunches === null ? ['EXHIBIT_RPC_SOLANA'] : []), ...listing],
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
          unset: unsetWatch(outside),
        }),
        launchMonths: launchMonthTable(database, context),
      },
      services: {},
      jobs: [{ name: 'rugs', start: () => scoreRounds(rounds) }],
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
      freshness: { kind: 'per_answer', absence: () => null },
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
      return async (_input, { now }) => {
        const [shown, months] = await Promise.all([
          viewWindow(given.rugFlags, now()),
          given.launchMonths.newest(MONTHS_SHOWN),
        ]);
        const charts = months.checked
          ? launchCharts(months.value, now())
          : { reason: months.why.reason };
        const html = leaderboardHtml(facts, shown, charts);
        return leaderboardPage.reply('reason' in shown ? 503 : 200, html);
      };
    }),
    servePage(leaderboardScript, null, (_given: unknown) => {
      return async () => leaderboardScript.reply(200, LIVE_SCRIPT);
    }),
  ],
});
