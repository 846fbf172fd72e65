// Watchlists: who screens what a membership watches, and where it is told what changed.

import { randomUUID } from 'node:crypto';
import { PLANS } from '../../access/plan.ts';
import { map } from '../../evidence/reading.ts';
import { ENTITY_CHAINS } from '../../features/entities/wallet-entity.contract.ts';
import { rescreenRounds } from '../../features/watchlist/rescreen.job.ts';
import { watchStream } from '../../features/watchlist/watch-stream.contract.ts';
import { watchStreamHandler } from '../../features/watchlist/watch-stream.route.ts';
import {
  unwatchAddress,
  watchAddress,
  watchlistChanges,
  watchlist as watchlistRoute,
} from '../../features/watchlist/watchlist.contract.ts';
import { watchlistMessage, watchlistShown } from '../../features/watchlist/watchlist.page.tsx';
import {
  unwatchAddressHandler,
  type WatchDesk,
  watchAddressHandler,
  watchlistChangesHandler,
  watchlistHandler,
} from '../../features/watchlist/watchlist.route.ts';
import {
  unwatchForm,
  type WatchlistShown,
  watchForm,
  watchlistPage,
} from '../../features/watchlist/watchlist-page.contract.ts';
import {
  unwatchFormHandler,
  type WatchPageDesk,
  watchFormHandler,
  watchlistPageHandler,
} from '../../features/watchlist/watchlist-page.route.ts';
import type { PageFacts } from '../../pages/layout.tsx';
import type { Watchlist } from '../../ports/watchlist/watchlist.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { watchlistTable, watchScreeningTable } from '../../stores/control/watchlist.ts';
import { nowS, pause } from '../clock.ts';
import {
  type Base,
  feature,
  type Members,
  type OpenedRests,
  type Service,
  served,
  shownPage,
  streamed,
} from '../feature.ts';
import { entities } from './entities.ts';
import { history } from './history.ts';
import { records } from './records.ts';
import { sanctions } from './sanctions.ts';
import { tables } from './tables.ts';

/** Seconds between two rounds. */
const ROUND_EACH_S = 5;

type Rested = OpenedRests<{
  tables: typeof tables;
  sanctions: typeof sanctions;
  history: typeof history;
  records: typeof records;
  entities: typeof entities;
}>;
type Given = { readonly watchlist: Watchlist };
type PageGiven = Given & { readonly members: Members };

export const watchlist = feature({
  name: 'watchlist',
  rests: { tables, sanctions, history, records, entities },
  open: ({ config, context, database, bus, log }: Base, opened: Rested) => {
    const rounds = {
      ports: {
        ...opened.tables.ports,
        ...opened.sanctions.ports,
        ...opened.history.ports,
        ...opened.entities.ports,
      },
      clusterChains: ENTITY_CHAINS,
      screening: watchScreeningTable(database, context, bus.callAll),
      versions: opened.records.ports.servedVersions,
      leases: leaseTable(database, randomUUID(), context),
      refresh: async () => {
        await Promise.all([opened.sanctions.services.sanctions.poll(), opened.tables.poll()]);
      },
      simulated: config.simulate,
      now: nowS,
      walkMs: config.liveBudgetMs,
      everyS: ROUND_EACH_S,
      sleep: pause,
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        log.warn({ code, reason }, 'watchlist: not screened'),
      onBug: (fault: unknown) => log.error({ fault: String(fault) }, 'watchlist: failed'),
    };
    return {
      ports: { watchlist: watchlistTable(database, context) },
      services: {},
      jobs: [{ name: 'watchlist', start: () => rescreenRounds(rounds) }],
    };
  },
  ports: {
    watchlist: {
      tag: 'watchlist',
      title: 'Watchlists',
      says: 'What a membership watches, and what changed of it',
      pages: true,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  streams: [
    streamed(watchStream, ({ watchlist, service }: Given & { readonly service: Service }) =>
      watchStreamHandler({ watchlist, onAppended: service.onCall }),
    ),
  ],
  routes: [
    served(watchlistRoute, (given: Given) => watchlistHandler(deskOf(given))),
    served(watchAddress, (given: Given) => watchAddressHandler(deskOf(given))),
    served(unwatchAddress, (given: Given) => unwatchAddressHandler(deskOf(given))),
    served(watchlistChanges, (given: Given) => watchlistChangesHandler(deskOf(given))),
  ],
  pages: [
    shownPage(watchlistPage, 'Watchlist', (given: PageGiven, facts) =>
      watchlistPageHandler(pageDesk(given), drawWatchlist(facts)),
    ),
    shownPage(watchForm, null, (given: PageGiven, facts) =>
      watchFormHandler(pageDesk(given), drawWatchlist(facts)),
    ),
    shownPage(unwatchForm, null, (given: PageGiven, facts) =>
      unwatchFormHandler(pageDesk(given), drawWatchlist(facts)),
    ),
  ],
});

function pageDesk({ watchlist, members }: PageGiven): WatchPageDesk {
  return {
    watchlist,
    planOf: async (id) =>
      map(await members.settings.memberships.find(id), (membership) => {
        if (membership === null) throw new Error('a session of a membership that is not there');
        return membership.plan;
      }),
    watchedMax: WATCHED_MAX,
  };
}

function drawWatchlist(facts: PageFacts) {
  return {
    whole: (shown: WatchlistShown) => watchlistShown(facts, shown),
    message: (title: string, why: string) => watchlistMessage(facts, title, why),
  };
}

const WATCHED_MAX = {
  analyst: PLANS.analyst.watched_addresses,
  desk: PLANS.desk.watched_addresses,
  enterprise: PLANS.enterprise.watched_addresses,
};

function deskOf({ watchlist }: Given): WatchDesk {
  return { watchlist, watchedMax: WATCHED_MAX };
}
