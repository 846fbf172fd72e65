// Watchlists: who screens what a membership watches, and where it is told what changed.

import { randomUUID } from 'node:crypto';
import { PLANS } from '../../access/plan.ts';
import { ENTITY_CHAINS } from '../../features/entities/wallet-entity.contract.ts';
import { rescreenRounds } from '../../features/watchlist/rescreen.job.ts';
import {
  unwatchAddress,
  watchAddress,
  watchlistChanges,
  watchlist as watchlistRoute,
} from '../../features/watchlist/watchlist.contract.ts';
import {
  unwatchAddressHandler,
  type WatchDesk,
  watchAddressHandler,
  watchlistChangesHandler,
  watchlistHandler,
} from '../../features/watchlist/watchlist.route.ts';
import type { Watchlist } from '../../ports/watchlist/watchlist.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { watchlistTable, watchScreeningTable } from '../../stores/control/watchlist.ts';
import { nowS, pause } from '../clock.ts';
import { type Base, feature, type OpenedRests, served } from '../feature.ts';
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
  routes: [
    served(watchlistRoute, (given: Given) => watchlistHandler(deskOf(given))),
    served(watchAddress, (given: Given) => watchAddressHandler(deskOf(given))),
    served(unwatchAddress, (given: Given) => unwatchAddressHandler(deskOf(given))),
    served(watchlistChanges, (given: Given) => watchlistChangesHandler(deskOf(given))),
  ],
});

const WATCHED_MAX = {
  analyst: PLANS.analyst.watched_addresses,
  desk: PLANS.desk.watched_addresses,
  enterprise: PLANS.enterprise.watched_addresses,
};

function deskOf({ watchlist }: Given): WatchDesk {
  return { watchlist, watchedMax: WATCHED_MAX };
}
