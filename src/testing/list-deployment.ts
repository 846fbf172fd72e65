// The real download, reader, gate, store and snapshot; a test moves the clocks.

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DAY_S } from '../chain/time.ts';
import { decide, map, Read, rowsSeen } from '../evidence/reading.ts';
import { publicationGate } from '../features/sanctions/publication-gate.ts';
import { refreshSanctions } from '../features/sanctions/refresh.job.ts';
import { said } from '../ports/publication-store.suite.ts';
import type { PublicationReader } from '../ports/sanctions.ts';
import {
  DOWNLOAD_LIMITS,
  fileMirror,
  httpMirror,
  listUserAgent,
  spoolIn,
} from '../sources/ofac/publisher.ts';
import { sanctionsSnapshot } from '../stores/snapshots/sanctions.ts';
import { WORLD_SEED, worldPublicationAt } from '../world/listed-parties.ts';
import type { StartedPublisher } from '../world/publisher.ts';
import type { WorldPublication } from '../world/sdn-publication.ts';
import { publicationsIn, type TestStore } from './control-store.ts';
import { readList } from './list-reader.ts';

const START = Date.UTC(2026, 10, 21, 12) / 1_000;
const WEEK_S = 7 * DAY_S;
const SIGNAL = new AbortController().signal;

/** The simulated list as an issue of a day, with some addresses of its own. */
export function issueOf(published: string, ...addresses: string[]): WorldPublication {
  const { parties } = worldPublicationAt(START, WORLD_SEED);
  const own = addresses.map((address, i) => ({
    uid: String(70_001 + i),
    programs: ['CYBER2'],
    type: 'Entity' as const,
    name: { last: `PARTY ${i}` },
    addresses: [{ currency: 'XBT', address }],
  }));
  return { published, parties: [...parties, ...own] };
}

/** The reader of a file, with its version. */
export type ListReader = { readonly read: PublicationReader; readonly version: number };

/** Its store, the folder of its files, the servers that it asks, and its own clock. */
type Deployment = {
  readonly database: TestStore;
  readonly home: string;
  readonly asked: readonly StartedPublisher[];
  readonly now: () => number;
};

/** A deployment that refreshes when it is told to, the store's clock then set to its own. */
export async function listDeployment({ database, home, asked, now }: Deployment) {
  const store = publicationsIn(database);
  const spool = spoolIn(await mkdtemp(join(home, 'spool-')));
  const mirrors = asked.map((one) => {
    const url = one.url('SDN.XML');
    const userAgent = listUserAgent('0.0.0');
    return httpMirror({ url, spool, userAgent, now, limits: DOWNLOAD_LIMITS });
  });
  const snapshot = sanctionsSnapshot({
    store,
    now,
    ticks: () => 0,
    maxAgeS: WEEK_S,
    simulated: false,
    pollMs: 1_000,
    onFault: () => undefined,
    onBug: (error) => {
      throw error;
    },
  });
  const gate = publicationGate(500);
  const refresh = async ({ read, version }: ListReader = { read: readList, version: 1 }) => {
    await database.setClock(now());
    const publishing = { mirrors, kept: spool.kept };
    const world = { publisher: publishing, reader: read, readerVersion: version, gate, store };
    const outcome = await refreshSanctions(world, null, SIGNAL);
    await snapshot.poll();
    return outcome;
  };
  const importFile = async (path: string, obtained_at: number | null) => {
    await database.setClock(now());
    const mirrors = [fileMirror({ url: pathToFileURL(path), spool, now, obtained_at })];
    const publishing = { mirrors, kept: spool.kept };
    const world = { publisher: publishing, reader: readList, readerVersion: 1, gate, store };
    const outcome = await refreshSanctions(world, null, SIGNAL);
    await snapshot.poll();
    return outcome;
  };
  const { list } = snapshot;
  return {
    store,
    refresh,
    importFile,
    snapshot,
    setClock: database.setClock,
    look: (address: string) => list.lookUp([address]),
    listed: async (address: string) => {
      const hit = decide(await list.lookUp([address]), ({ found }) => found.size > 0);
      return hit instanceof Read ? hit.value.found.size > 0 : null;
    },
    notes: async () => rowsSeen(map(await list.lookUp([]), (look) => look.list.age_notes)),
    inForce: async () => said(await store.inForce()),
  };
}
