// The sanctions list: its sources, the job that keeps it current, and the routes over it.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MS_PER_S } from '../../chain/time.ts';
import { readRecords } from '../../compose/address-records.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type Job,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { listGauges } from '../../compose/list-gauges.ts';
import type { Logger } from '../../compose/logger.ts';
import { VERSION } from '../../compose/version.ts';
import type { Config } from '../../config.ts';
import { map } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { atomFeed } from '../../pages/atom.ts';
import type { ListChanges, ReadList, RefreshOutcome } from '../../ports/sanctions.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { READER_VERSION } from '../../sources/ofac/publication.ts';
import {
  DOWNLOAD_LIMITS,
  fileMirror,
  httpMirror,
  listUserAgent,
  spoolIn,
} from '../../sources/ofac/publisher.ts';
import { sdnReader } from '../../sources/ofac/read-apart.ts';
import {
  diffPublications,
  listChangeStore,
  publicationStore,
} from '../../stores/control/publications.ts';
import { listOfFile, POLL_MS, sanctionsSnapshot } from '../../stores/snapshots/sanctions.ts';
import { tables } from '../tables/feature.ts';
import {
  changesFeed,
  listChangesFeed,
  listChangesPage,
  newestChanges,
  readChanges,
  removalsBy,
  sanctionsChanges,
  sanctionsChangesHandler,
  sanctionsChangesPage,
} from './changes.route.tsx';

import { sanctionsCheck } from './check.command.ts';
import { publicationGate } from './publication-gate.ts';
import { oneAtATime, type Refresher, refreshSanctions, scheduleRefresh } from './refresh.job.ts';
import {
  refusalAdvice,
  type SanctionsServices,
  sanctionsDiff,
  sanctionsExport,
  sanctionsImport,
  sanctionsRefresh,
  sanctionsStatus,
} from './sanctions.command.ts';

import { type OfacPorts, walletOfac, walletOfacHandler } from './wallet-ofac.route.ts';

type Rested = OpenedRests<{ tables: typeof tables }>;
type ChangesDependencies = { readonly sanctionsChanges: ListChanges };
type FeedDependencies = ChangesDependencies & { readonly service: Pick<Service, 'base'> };

export const sanctions = feature({
  name: 'sanctions',
  heading: 'The sanctions list',
  rests: { tables },
  open: ({ config, database, outside, log, providers }: Base, { tables: { services } }: Rested) => {
    const store = publicationStore(database, nowS);
    const spool = spoolIn(join(config.dataDir, 'spool', 'sanctions'));
    const { floor, userAgent: named } = config.sanctions;
    const userAgent = named === null ? listUserAgent(VERSION) : named;
    const mirrors = outside.mirrors.map((address) => {
      const url = new URL(address);
      if (url.protocol === 'file:') return fileMirror({ url, spool, now: nowS, obtained_at: null });
      const onCallEnd = providers.watch({
        name: 'List publisher',
        url: originText(url),
        ports: ['sanctions_list'],
        carries: null,
      });
      return httpMirror({ url, spool, userAgent, now: nowS, limits: DOWNLOAD_LIMITS, onCallEnd });
    });
    const publisher = { mirrors, kept: spool.kept };
    const reader = sdnReader();
    const gate = publicationGate(floor);
    const maxAgeS = maxAgeOf(config);
    const changes = listChangeStore(database, { simulated: config.simulate, now: nowS });
    const snapshot = sanctionsSnapshot({
      store,
      maxAgeS,
      simulated: config.simulate,
      now: nowS,
      ticks: () => performance.now() / MS_PER_S,
      pollMs: POLL_MS,
      onFault: ({ code, reason }) => log.warn({ code, reason }, 'sanctions list: not polled'),
      onBug: (fault) => log.error({ fault: String(fault) }, 'sanctions list: polling failed'),
    });
    const world = { publisher, reader, readerVersion: READER_VERSION, gate, store };
    const refresh = oneAtATime(async (acceptance, signal, from = publisher) => {
      const outcome = await refreshSanctions({ ...world, publisher: from }, acceptance, signal);
      await snapshot.poll();
      return outcome;
    });
    const importFile: SanctionsServices['sanctions']['importFile'] = (
      path,
      obtained_at,
      ...rest
    ) => {
      const file = fileMirror({ url: pathToFileURL(path), spool, now: nowS, obtained_at });
      return refresh(...rest, { mirrors: [file], kept: spool.kept });
    };
    const rules = { maxAgeS, simulated: config.simulate };
    return {
      ports: { sanctionsList: snapshot.list, sanctionsChanges: changes },
      services: {
        sanctions: {
          ...rules,
          store,
          list: snapshot.list,
          poll: snapshot.poll,
          refresh,
          importFile,
          reader,
          gate,
          lookUpIn: (read: ReadList) => listOfFile(read, rules, nowS),
          readRecords,
          diff: diffPublications,
        },
        otherLists: services.otherLists,
      },
      gauges: listGauges(snapshot),
      clocks: { sanctions_list: () => snapshot.watched()?.now ?? null },
      jobs: [refreshing({ refresh, changes }, config, log)],
      start: snapshot.start,
      close: snapshot.stop,
    };
  },
  routes: [
    serveRoute(walletOfac, (given: OfacPorts) => walletOfacHandler(given)),
    serveRoute(sanctionsChanges, (given: ChangesDependencies) =>
      sanctionsChangesHandler(given.sanctionsChanges),
    ),
  ],
  ports: {
    sanctionsList: {
      tag: 'sanctions_list',
      title: 'Sanctions list',
      says: 'Whether an address stands on the published list',
      pages: true,
      freshness: {
        kind: 'dated',
        ask: async (list) => map(await list.lookUp([]), (look) => look.list.published),
        notes: async (list) => map(await list.lookUp([]), (look) => look.list.age_notes),
        maxAgeS: maxAgeOf,
      },
    },
    sanctionsChanges: {
      tag: 'sanctions_changes',
      title: 'Changes of the sanctions list',
      says: 'What each list that came into force changed',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'sanctions_list' },
    },
  },
  pages: [
    servePage(
      listChangesPage,
      'List changes',
      ({ sanctionsChanges: log }: ChangesDependencies, facts) => {
        return async () => {
          const shown = await newestChanges(log);
          const status = 'reason' in shown ? 503 : 200;
          return listChangesPage.reply(status, sanctionsChangesPage(facts, shown));
        };
      },
    ),
    servePage(
      listChangesFeed,
      null,
      ({ sanctionsChanges: log, service }: FeedDependencies, { simulated }) => {
        return async () => {
          const found = await readChanges(log);
          if ('reason' in found) return listChangesFeed.reply(503, found.reason);
          const { files, changes } = found;
          if (files.length === 0) return listChangesFeed.reply(404, NO_FILE.reason);
          const feed = changesFeed(files, changes, simulated);
          return listChangesFeed.reply(200, atomFeed(service.base(), feed));
        };
      },
    ),
  ],
  commands: [
    sanctionsRefresh,
    sanctionsImport,
    sanctionsStatus,
    sanctionsDiff,
    sanctionsCheck,
    sanctionsExport,
  ],
});

function maxAgeOf({ sanctions: { maxAge } }: Config): number | null {
  return maxAge.kind === 'lifted' ? null : Math.floor(maxAge.ms / MS_PER_S);
}

function refreshing(
  { refresh, changes }: { readonly refresh: Refresher; readonly changes: ListChanges },
  { sanctions }: Config,
  log: Logger,
): Job {
  const start: Job['start'] = (watch) =>
    scheduleRefresh({
      watch,
      refresh,
      intervalS: sanctions.refreshMs / MS_PER_S,
      random: Math.random,
      sleep: pause,
      onOutcome: (outcome) => {
        logOutcome(outcome, log);
        logRemovals(outcome, changes, log).catch((fault: unknown) =>
          log.error({ fault: String(fault) }, 'sanctions list: removals not read'),
        );
      },
      onBug: (fault) => log.error({ fault: String(fault) }, 'sanctions list: refresh failed'),
    });
  return { name: 'refresh', start };
}

function logOutcome(outcome: RefreshOutcome, log: Logger): void {
  if (outcome.kind === 'updated' || outcome.kind === 'unchanged') {
    const { published, addresses, sha256 } = outcome.list;
    log.info({ published, addresses, sha256 }, `sanctions list: ${outcome.kind}`);
    return;
  }
  const { reason } = outcome;
  if (outcome.kind === 'refused') {
    const { code, sha256, published, source } = outcome;
    const next = refusalAdvice(outcome, ['refresh']);
    log.warn({ code, reason, sha256, published, source, next }, 'sanctions list: refused');
    return;
  }
  log.warn({ code: 'unreachable', reason }, 'sanctions list: unreachable');
}

/** A line for each address that left the list, so that an alarm can be set on it. */
async function logRemovals(outcome: RefreshOutcome, changes: ListChanges, log: Logger) {
  if (outcome.kind !== 'updated') return;
  const read = await removalsBy(changes, outcome.list.sha256);
  if (typeof read === 'string') {
    log.warn({ reason: read }, 'sanctions list: removals not read');
    return;
  }
  const { removed, unnamed } = read;
  for (const { listing, to } of removed) {
    const { address, entity, uid, programs } = listing;
    const { published, sha256 } = to;
    log.warn({ address, entity, uid, programs, published, sha256 }, 'sanctions list: removed');
  }
  if (unnamed > 0) log.warn({ unnamed }, 'sanctions list: more were removed, see the change log');
}

/** Why a log of no file is no feed: a feed is as old as its newest entry. */
const NO_FILE = why('list_never_loaded', { detail: ' since its changes are kept' });
