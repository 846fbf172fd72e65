import { randomUUID } from 'node:crypto';
import { planReader } from '../../access/plan.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type Members,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
  serveStream,
} from '../../compose/feature.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import { ENTITY_CHAINS } from '../../ports/entities.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { entities } from '../entities/feature.ts';
import { history } from '../history/feature.ts';
import { records } from '../records/feature.ts';
import { sanctions } from '../sanctions/feature.ts';
import { tables } from '../tables/feature.ts';
import { watchlistLocal } from './local.ts';
import { rescreenRounds } from './rescreen.job.ts';
import type { Watchlist } from './shapes.ts';
import { watchStream, watchStreamHandler } from './watch-stream.route.ts';
import {
  unwatchAddress,
  unwatchAddressHandler,
  unwatchForm,
  unwatchFormHandler,
  watchAddress,
  watchAddressHandler,
  watchForm,
  watchFormHandler,
  watchlistChanges,
  watchlistChangesHandler,
  watchlistHandler,
  watchlistPage,
  watchlistPageHandler,
  watchlistRoute,
} from './watchlist.route.tsx';
import { watchlistTable, watchScreeningTable } from './watchlist.store.ts';

const ROUND_EACH_S = 5;
/** A walk for which nobody waits has longer than one of a request. */
const WALK_MS = 45_000;

type Rested = OpenedRests<{
  tables: typeof tables;
  sanctions: typeof sanctions;
  history: typeof history;
  records: typeof records;
  entities: typeof entities;
}>;
type Ports = { readonly watchlist: Watchlist };
type PagePorts = Ports & { readonly members: Members };

export const watchlist = feature({
  name: 'watchlist',
  heading: 'Watched addresses',
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
      walkMs: WALK_MS,
      everyS: ROUND_EACH_S,
      sleep: pause,
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        log.warn({ code, reason }, 'watchlist: not screened'),
      onBug: (fault: unknown) => log.error({ fault: String(fault) }, 'watchlist: failed'),
    };
    return {
      ports: { watchlist: watchlistTable(database, context) },
      services: {},
      jobs: [
        {
          name: 'watchlist',
          start: (watch: WatchRun) => rescreenRounds({ ...rounds, watch }, 'tables'),
        },
        {
          name: 'watchlist walks',
          start: (watch: WatchRun) => rescreenRounds({ ...rounds, watch }, 'hops'),
        },
      ],
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
  local: watchlistLocal,
  streams: [
    serveStream(watchStream, ({ watchlist, service }: Ports & { readonly service: Service }) =>
      watchStreamHandler({ watchlist, onAppended: service.onCall }),
    ),
  ],
  routes: [
    serveRoute(watchlistRoute, watchlistHandler),
    serveRoute(watchAddress, watchAddressHandler),
    serveRoute(unwatchAddress, unwatchAddressHandler),
    serveRoute(watchlistChanges, watchlistChangesHandler),
  ],
  pages: [
    servePage(watchlistPage, 'Watchlist', (ports: PagePorts, facts) =>
      watchlistPageHandler(
        { ...ports, planOf: planReader(ports.members.settings.memberships) },
        facts,
      ),
    ),
    servePage(watchForm, null, (ports: PagePorts, facts) =>
      watchFormHandler({ ...ports, planOf: planReader(ports.members.settings.memberships) }, facts),
    ),
    servePage(unwatchForm, null, (ports: PagePorts, facts) =>
      unwatchFormHandler(
        { ...ports, planOf: planReader(ports.members.settings.memberships) },
        facts,
      ),
    ),
  ],
});
