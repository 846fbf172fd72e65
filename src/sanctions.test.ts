// The sanctions service from the publisher's wire to the port that answers: real server, real
// download, real reader in its own process, real store.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_S } from './chain/time.ts';
import { Part, Read, Unread } from './evidence/reading.ts';
import { publicationGate } from './features/sanctions/publication-gate.ts';
import { refreshSanctions } from './features/sanctions/refresh.job.ts';
import { said } from './ports/publication-store.suite.ts';
import type { Acceptance, Mirror } from './ports/sanctions.ts';
import { READER_VERSION } from './sources/ofac/publication.ts';
import {
  DOWNLOAD_LIMITS,
  fileMirror,
  httpMirror,
  listUserAgent,
  spoolIn,
} from './sources/ofac/publisher.ts';
import { diffPublications } from './stores/control/publications.ts';
import { type Snapshot, sanctionsSnapshot } from './stores/snapshots/sanctions.ts';
import { embeddedControl, publicationsIn, type TestStore } from './testing/control-store.ts';
import { readList } from './testing/list-reader.ts';
import { SANDBOX_PARTY, WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { type PublisherFault, type StartedPublisher, startPublisher } from './world/publisher.ts';
import { sdnXml, type WorldPublication } from './world/sdn-publication.ts';

const START = Date.UTC(2026, 10, 21, 12) / 1_000;
const FLOOR = 500;
const SIGNAL = new AbortController().signal;
const [LISTED] = SANDBOX_PARTY.addresses.map(({ address }) => address);
const ABSENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa';

const fresh = embeddedControl();
/** The result of each refresh of a test, shown if the test fails. */
const told: string[] = [];
let time = START;
const now = () => time;
let home: string;
let publisher: StartedPublisher;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'exhibit-test-sanctions-'));
  publisher = await startPublisher({ now });
});
afterAll(async () => {
  await publisher.close();
  await rm(home, { recursive: true });
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(told.join('\n'));
  told.length = 0;
  time = START;
  publisher.fault(null);
  publisher.publish(worldPublicationAt(START, WORLD_SEED));
});

function mirrorAt(url: URL): Mirror {
  const spool = spoolIn(join(home, 'spool'));
  if (url.protocol === 'file:') return fileMirror({ url, spool, now, obtained_at: null });
  const limits = { ...DOWNLOAD_LIMITS, dripWindowMs: 2_000, dripBytesMin: 1_024 };
  return httpMirror({ url, spool, userAgent: listUserAgent('0.1.0'), now, limits });
}

/** A service on a store, asking these addresses. */
function serviceOn(database: TestStore, urls: readonly URL[], maxAgeS: number | null) {
  const store = publicationsIn(database);
  const world = {
    publisher: { mirrors: urls.map(mirrorAt), kept: spoolIn(join(home, 'spool')).kept },
    reader: readList,
    readerVersion: READER_VERSION,
    gate: publicationGate(FLOOR),
    store,
  };
  const snapshot = sanctionsSnapshot({
    store,
    now,
    ticks: () => 0,
    maxAgeS,
    simulated: false,
    pollMs: 1_000,
    onFault: () => undefined,
    onBug: (error) => {
      throw error;
    },
  });
  return {
    snapshot,
    refresh: async (acceptance: Acceptance | null = null) => {
      await database.setClock(time);
      const outcome = await refreshSanctions(world, acceptance, SIGNAL);
      await snapshot.poll();
      told.push(JSON.stringify(outcome));
      return outcome;
    },
  };
}

async function hits({ list }: Snapshot, address = String(LISTED)) {
  const reading = await list.lookUp([address]);
  if (!(reading instanceof Read)) return null;
  return [...reading.value.found.values()].flat();
}

describe('the last good list', () => {
  const faults: readonly [PublisherFault, kind: 'refused' | 'unreachable', code: string | null][] =
    [
      ['truncated', 'refused', 'truncated'],
      ['html', 'refused', 'not_xml'],
      ['empty-list', 'refused', 'no_addresses'],
      ['no-addresses', 'refused', 'no_addresses'],
      ['below-floor', 'refused', 'below_floor'],
      ['shrunk', 'refused', 'too_few_addresses'],
      ['undated', 'refused', 'no_publication_date'],
      ['older', 'refused', 'older_publication'],
      ['future', 'refused', 'future_publication'],
      ['renamed-namespace', 'refused', 'unknown_namespace'],
      ['renamed-root', 'refused', 'unknown_root'],
      ['enhanced', 'refused', 'enhanced_file'],
      ['delimited', 'refused', 'delimited_file'],
      ['forbidden', 'unreachable', null],
      ['not-found', 'unreachable', null],
      ['error500', 'unreachable', null],
      ['expired-link', 'unreachable', null],
      ['redirect-loop', 'unreachable', null],
      ['cut-connection', 'unreachable', null],
      ['slow', 'unreachable', null],
    ];
  describe.each(['SDN.XML', 'SDN_ADVANCED.ZIP'] as const)('of %s', (name) => {
    let service: ReturnType<typeof serviceOn>;
    beforeAll(async () => {
      service = serviceOn(fresh(), [publisher.url(name)], 7 * DAY_S);
      expect((await service.refresh()).kind).toBe('updated');
    });

    // The failure of a download does not depend on the file.
    const here = faults.filter(([, kind]) => name === 'SDN.XML' || kind === 'refused');
    test.each(here)('goes on answering through %s: %s', async (fault, kind, code) => {
      const { snapshot, refresh } = service;
      const before = snapshot.loaded();
      // There is a newer issue to be had, and the fault stands in its way.
      time = START + 3 * DAY_S;
      publisher.publish(worldPublicationAt(time, WORLD_SEED));
      publisher.fault(fault);
      const outcome = await refresh();
      expect(outcome).toMatchObject(code === null ? { kind } : { kind, code });
      expect(snapshot.loaded()).toEqual(before);
      expect((await hits(snapshot))?.map(({ uid }) => uid)).toEqual([SANDBOX_PARTY.uid]);
      expect(await hits(snapshot, ABSENT)).toEqual([]);
    });
  });

  // Without a last good list the file's age has nothing to be compared with.
  const atFirst = faults.filter(([fault]) => fault !== 'older');
  test.each(atFirst)('%s on a first start loads nothing and answers nothing', async (fault) => {
    const urls = [publisher.url('SDN_XML.ZIP')];
    const { snapshot, refresh } = serviceOn(fresh(), urls, null);
    publisher.fault(fault);
    await refresh();
    const reading = await snapshot.list.lookUp([String(LISTED)]);
    expect(reading instanceof Unread && reading.why.code).toBe('list_never_loaded');
  });

  test('a date that is not yet keeps no true list out', async () => {
    const urls = [publisher.url('SDN.XML')];
    const { snapshot, refresh } = serviceOn(fresh(), urls, null);
    publisher.fault('future');
    expect(await refresh()).toMatchObject({ kind: 'refused', acceptable: false });
    publisher.fault(null);
    expect((await refresh()).kind).toBe('updated');
    expect(await hits(snapshot)).toHaveLength(1);
  });

  test('the spool holds nothing but the few refused files kept aside', async () => {
    const names = await readdir(join(home, 'spool'));
    expect(names.sort()).toEqual(['held', 'refused']);
    expect((await readdir(join(home, 'spool', 'held'))).length).toBeLessThanOrEqual(2);
    expect((await readdir(join(home, 'spool', 'refused'))).length).toBeLessThanOrEqual(6);
  });
});

describe('a day in the life of a list', () => {
  test('both formats of one issue list the same', async () => {
    const rows = [];
    for (const name of ['SDN_XML.ZIP', 'SDN_ADVANCED.XML'] as const) {
      const { snapshot, refresh } = serviceOn(fresh(), [publisher.url(name)], null);
      await refresh();
      const found = await hits(snapshot);
      rows.push(found?.map(({ listed_on: _day, remarks: _note, ...row }) => row));
    }
    expect(rows[0]).toEqual(rows[1]);
    expect(rows[0]).toHaveLength(1);
  });

  test('unchanged, newer, silent, too old, back: only checks move the clock', async () => {
    const { snapshot, refresh } = serviceOn(fresh(), [publisher.url('SDN_XML.ZIP')], 7 * DAY_S);
    await refresh();
    time = START + 3_600;
    const bodies = publisher.requests.filter(({ status }) => status === 200).length;
    expect(await refresh()).toMatchObject({ kind: 'unchanged', list: { checked_at: time } });
    expect(publisher.requests.filter(({ status }) => status === 200)).toHaveLength(bodies);

    time = START + 3 * DAY_S;
    publisher.publish(worldPublicationAt(time, WORLD_SEED));
    expect((await refresh()).kind).toBe('updated');

    publisher.fault('error500');
    time += 8 * DAY_S;
    expect((await refresh()).kind).toBe('unreachable');
    expect(await snapshot.list.lookUp([ABSENT])).toBeInstanceOf(Part);

    publisher.fault(null);
    expect((await refresh()).kind).toBe('unchanged');
    expect(await hits(snapshot, ABSENT)).toEqual([]);
  });

  test('a shrunk list is accepted by its digest, and what left is no longer listed', async () => {
    const database = fresh();
    const store = publicationsIn(database);
    const { snapshot, refresh } = serviceOn(database, [publisher.url('SDN.XML')], null);
    await refresh();
    publisher.fault('shrunk');
    const refused = await refresh();
    if (refused.kind !== 'refused') throw new Error(`not refused: ${refused.kind}`);
    expect(await hits(snapshot)).toHaveLength(1);
    expect((await refresh({ sha256: refused.sha256, why: 'seen' })).kind).toBe('updated');
    expect(await hits(snapshot)).toEqual([]);
    expect(said(await store.inForce()).publication?.accepted_why).toBe('seen');
  });

  test('the second mirror serves where the first fails, and is named as the source', async () => {
    const other = await startPublisher({ now });
    const urls = [publisher.url('SDN.XML'), other.url('SDN.XML')];
    const { snapshot, refresh } = serviceOn(fresh(), urls, null);
    publisher.fault('truncated');
    const outcome = await refresh();
    expect(outcome).toMatchObject({ kind: 'updated', list: { source: other.origin } });
    expect(outcome.tried[0]?.result).toMatch(/^refused as truncated: /);
    expect(snapshot.loaded()?.source_url).toBe(other.origin);
    await other.close();
  });

  test('a file is as old as its publication date, and its path is shown nowhere', async () => {
    const path = join(home, 'MARKER7f3a.xml');
    await writeFile(path, sdnXml(worldPublicationAt(START - 20 * DAY_S, WORLD_SEED)));
    const database = fresh();
    const store = publicationsIn(database);
    const { snapshot, refresh } = serviceOn(database, [pathToFileURL(path)], 7 * DAY_S);
    const outcome = await refresh();
    expect(outcome).toMatchObject({ kind: 'updated', list: { source: 'file:' } });
    expect((await refresh()).kind).toBe('unchanged');
    const reading = await snapshot.list.lookUp([String(LISTED), ABSENT]);
    expect(reading).toBeInstanceOf(Part);
    const shown = JSON.stringify([outcome, said(await store.held()), reading]);
    expect(shown).not.toContain('MARKER7f3a');
  });

  test('a change between two issues is told by what kind of change it is', async () => {
    const [first, second] = [issue('2026-11-18', 0), issue('2026-11-19', 1)];
    const lists = [];
    for (const publication of [first, second]) {
      publisher.publish(publication);
      const database = fresh();
      const store = publicationsIn(database);
      await serviceOn(database, [publisher.url('SDN_ADVANCED.XML')], null).refresh();
      const { publication: held } = said(await store.inForce());
      lists.push({ addresses: said(await store.entries(Number(held?.id))) });
    }
    const [a, b] = lists;
    if (a === undefined || b === undefined) throw new Error('a list is missing');
    const { added, removed, moved, programmes_changed } = diffPublications(a, b);
    expect(added.map(({ address }) => address)).toEqual(['added']);
    expect(removed.map(({ address }) => address)).toEqual(['removed']);
    expect(moved.map(({ from, to }) => [to.address, from.uid, to.uid])).toEqual([
      ['moved', '70001', '70002'],
    ]);
    expect(programmes_changed.map(({ to }) => [to.address, to.programs])).toEqual([
      ['kept', ['SDGT']],
    ]);
  });
});

/** An issue over the simulated one with four addresses of its own. */
function issue(published: string, step: 0 | 1): WorldPublication {
  const { parties } = worldPublicationAt(START, WORLD_SEED);
  const entry = (uid: string, programs: string[], addresses: string[]) => ({
    uid,
    programs,
    type: 'Entity' as const,
    name: { last: `PARTY ${uid}` },
    addresses: addresses.map((address) => ({ currency: 'XBT', address })),
  });
  const own =
    step === 0
      ? [entry('70001', ['CYBER2'], ['moved', 'removed']), entry('70003', ['CYBER2'], ['kept'])]
      : [entry('70002', ['CYBER2'], ['moved', 'added']), entry('70003', ['SDGT'], ['kept'])];
  return { published, parties: [...parties, ...own] };
}

describe('two processes on one store', () => {
  const database = fresh();

  test('one refreshes, the other serves the same list at its next poll', async () => {
    const worker = serviceOn(database, [publisher.url('SDN_XML.ZIP')], 7 * DAY_S);
    const server = serviceOn(database, [], 7 * DAY_S);
    await server.snapshot.poll();
    expect(await hits(server.snapshot)).toBeNull();
    expect((await worker.refresh()).kind).toBe('updated');
    await server.snapshot.poll();
    expect(server.snapshot.loaded()).toEqual(worker.snapshot.loaded());
    expect((await hits(server.snapshot))?.map(({ uid }) => uid)).toEqual([SANDBOX_PARTY.uid]);
    // The worker's later check reaches the server's clock too.
    time = START + 3_600;
    expect((await worker.refresh()).kind).toBe('unchanged');
    await server.snapshot.poll();
    expect(server.snapshot.loaded()?.checked_at).toBe(START + 3_600);
  });

  test('many refreshing at once leave one list and one check of it', async () => {
    time = START + 3 * DAY_S;
    publisher.publish(worldPublicationAt(time, WORLD_SEED));
    const services = Array.from({ length: 3 }, () =>
      serviceOn(database, [publisher.url('SDN_XML.ZIP')], null),
    );
    const outcomes = await Promise.all(services.map(({ refresh }) => refresh()));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['unchanged', 'unchanged', 'updated']);
    expect(said(await publicationsIn(database).held())).toHaveLength(2);
  });
});
