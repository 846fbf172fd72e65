// Answers one question: where does the sanctions list come from, and who keeps it current.

import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { publicationGate } from '../../features/sanctions/publication-gate.ts';
import { refreshSanctions } from '../../features/sanctions/refresh.job.ts';
import { oneAtATime, type Refresher } from '../../features/sanctions/schedule.job.ts';
import type { PublicationStore } from '../../ports/sanctions/publication-store.ts';
import type { Gate, Mirror, PublicationReader } from '../../ports/sanctions/publisher.ts';
import { fileMirror } from '../../sources/ofac/file.ts';
import { DOWNLOAD_LIMITS, httpMirror } from '../../sources/ofac/http.ts';
import { sdnReader } from '../../sources/ofac/sdn-files.ts';
import { type Spool, spoolIn } from '../../sources/ofac/spool.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { publicationStore } from '../../stores/control/publications.ts';
import { POLL_MS, type Snapshot, sanctionsSnapshot } from '../../stores/snapshots/sanctions.ts';
import { nowS } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { USER_AGENT } from '../version.ts';

const MS_PER_S = 1_000;

/** The list as it is composed: what serves it, what holds it, and what refreshes it. */
export type SanctionsParts = {
  readonly store: PublicationStore;
  readonly snapshot: Snapshot;
  readonly refresh: Refresher;
  readonly reader: PublicationReader;
  readonly gate: Gate;
  /** Seconds; `null` where the limit is lifted. */
  readonly maxAgeS: number | null;
};

/** What composes the list. `mirrors` are whole URLs: the configured ones, or the simulated one. */
export type SanctionsOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly mirrors: readonly string[];
  readonly log: Logger;
};

/** Composes the list. Nothing is read before `snapshot.start`. */
export function sanctionsParts({
  config,
  database,
  mirrors,
  log,
}: SanctionsOptions): SanctionsParts {
  const { maxAge, floor } = config.sanctions;
  const maxAgeS = maxAge.kind === 'lifted' ? null : Math.floor(maxAge.ms / MS_PER_S);
  const store = publicationStore(database, nowS);
  const spool = spoolIn(join(config.dataDir, 'spool', 'sanctions'));
  const publisher = { mirrors: mirrors.map((url) => mirrorOf(new URL(url), spool)) };
  const reader = sdnReader();
  const gate = publicationGate(floor, nowS);
  const snapshot = sanctionsSnapshot({
    store,
    maxAgeS,
    simulated: config.simulate,
    now: nowS,
    pollMs: POLL_MS,
    onFault: ({ code, reason }) => log.warn({ code, reason }, 'sanctions list: not polled'),
    onBug: (fault) => log.error({ fault: String(fault) }, 'sanctions list: polling failed'),
  });
  const world = { publisher, reader, gate, store, now: nowS };
  const refresh = oneAtATime(async (acceptance, signal) => {
    const outcome = await refreshSanctions(world, acceptance, signal);
    await snapshot.poll();
    return outcome;
  });
  return { store, snapshot, refresh, reader, gate, maxAgeS };
}

function mirrorOf(url: URL, spool: Spool): Mirror {
  if (url.protocol === 'file:') return fileMirror({ url, spool, now: nowS });
  return httpMirror({ url, spool, userAgent: USER_AGENT, now: nowS, limits: DOWNLOAD_LIMITS });
}
