import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchKey } from '../../chain/address.ts';
import { DAY_S } from '../../chain/time.ts';
import { Part, type Partly, Read, Unread } from '../../evidence/reading.ts';
import {
  listOf,
  publicationStoreKeeps,
  refusalOf,
  row,
  said,
} from '../../ports/publication-store.suite.ts';
import type {
  ListChanges,
  ListChangesRequest,
  ListEntry,
  PublicationStore,
  PublishedList,
} from '../../ports/sanctions.ts';
import { NOW, type SuiteWorld, sanctionsListKeeps } from '../../ports/sanctions-list.suite.ts';
import { acceptPublication } from '../../testing/accepted.ts';
import {
  clockAt,
  embeddedControl,
  LIVE,
  onEachEngine,
  type TestStore,
} from '../../testing/control-store.ts';
import { freshPgliteDirectory, MIGRATIONS } from '../../testing/postgres.ts';
import { type Snapshot, sanctionsSnapshot } from '../snapshots/sanctions.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { diffPublications, listChangeStore, publicationStore } from './publications.ts';

const POLL_MS = 10;
const SOURCE = { key: 'a'.repeat(64), url: 'https://publisher.example' };

async function put(database: Database, { publications }: SuiteWorld): Promise<void> {
  const store = publicationStore(database, () => NOW);
  let instead_of: number | null = null;
  for (const [i, { published, checked_at, entries }] of publications.entries()) {
    const list = listOf(published, String(i + 1), entries);
    const source = SOURCE;
    const check = { at: checked_at, by: 'asked' } as const;
    const accepted = { accepted_at: checked_at, check, accepted_why: null, reader_version: 1 };
    said(await store.accept({ list, source, instead_of, ...accepted }));
    const { publication } = said(await store.inForce());
    instead_of = publication === null ? null : publication.id;
  }
}

function snapshotOf(database: Database, more: { maxAgeS: number | null; simulated: boolean }) {
  const faults: string[] = [];
  const snapshot = sanctionsSnapshot({
    ...more,
    store: publicationStore(database, () => NOW),
    now: () => NOW,
    ticks: () => 0,
    pollMs: POLL_MS,
    onFault: ({ reason }) => void faults.push(reason),
    onBug: (error) => {
      throw error;
    },
  });
  return { snapshot, faults };
}

onEachEngine((name, fresh) => {
  publicationStoreKeeps(name, async () => {
    const database = fresh();
    const store = publicationStore(database, () => NOW);
    return { store, setClock: database.setClock, close: async () => undefined };
  });

  sanctionsListKeeps(`the snapshot over ${name}`, async (world) => {
    const database = fresh();
    await database.setClock(NOW);
    await put(database, world);
    const { snapshot } = snapshotOf(database, world);
    await snapshot.start();
    return { list: snapshot.list, close: async () => snapshot.stop() };
  });
});

const WEEK = { maxAgeS: 7 * DAY_S, simulated: false };
const EVM = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const ABSENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
const FIRST = { published: '2026-11-12', checked_at: NOW - 60, entries: [row(EVM, '1')] };
const SECOND = { published: '2026-11-18', checked_at: NOW - 30, entries: [row(ABSENT, '2')] };

/** Waits until a poll has shown what was asked for; the suite's own limit ends it otherwise. */
async function until(test: () => Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

async function lists(snapshot: Snapshot, address: string): Promise<boolean> {
  const reading = await snapshot.list.lookUp([address]);
  return reading instanceof Read && reading.value.found.size > 0;
}

describe('a snapshot', () => {
  const fresh = embeddedControl();
  const opened = async () => {
    const database = fresh();
    await database.setClock(NOW);
    return database;
  };

  test('two snapshots of one store both come to serve a new list by polling', async () => {
    const database = await opened();
    const one = snapshotOf(database, WEEK).snapshot;
    const two = snapshotOf(database, WEEK).snapshot;
    await Promise.all([one.start(), two.start()]);
    expect(one.loaded()).toBeNull();
    await put(database, { publications: [FIRST], ...WEEK });
    await until(async () => (await lists(one, EVM)) && (await lists(two, EVM)));
    await replaceList(database);
    await until(async () => (await lists(one, ABSENT)) && (await lists(two, ABSENT)));
    expect(await lists(one, EVM)).toBe(false);
    expect(await lists(two, EVM)).toBe(false);
    one.stop();
    two.stop();
  });

  async function replaceList(on: Database): Promise<void> {
    const store = publicationStore(on, () => NOW);
    const { publication } = said(await store.inForce());
    const instead_of = publication === null ? null : publication.id;
    const list = listOf(SECOND.published, '9', SECOND.entries);
    const more = { reader_version: 1, accepted_why: null, instead_of };
    const times = { accepted_at: NOW, check: { at: NOW, by: 'asked' } } as const;
    said(await store.accept({ list, source: SOURCE, ...more, ...times }));
  }

  test('a restart keeps the list: a new session on the directory serves it at once', async () => {
    const directory = await freshPgliteDirectory();
    const before = await openPglite(directory);
    await migrate(before, MIGRATIONS, LIVE);
    await before.transaction((session) => session.script(clockAt(NOW)));
    await put(before, { publications: [FIRST], ...WEEK });
    await before.close();
    const after = await openPglite(directory);
    const { snapshot } = snapshotOf(after, WEEK);
    await snapshot.start();
    snapshot.stop();
    expect(await lists(snapshot, EVM)).toBe(true);
    await after.close();
    await rm(dirname(directory), { recursive: true });
  });

  test('a silent store: the loaded list goes on answering and its clock stands', async () => {
    const database = await opened();
    await put(database, { publications: [FIRST], ...WEEK });
    let time = NOW;
    const faults: string[] = [];
    const snapshot = sanctionsSnapshot({
      ...WEEK,
      store: publicationStore(database, () => time),
      now: () => time,
      ticks: () => 0,
      pollMs: POLL_MS,
      onFault: ({ reason }) => void faults.push(reason),
      onBug: (error) => {
        throw error;
      },
    });
    await snapshot.poll();
    database.silence('gone');
    await snapshot.poll();
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^The store of the sanctions list could not be read: /);
    expect(await lists(snapshot, EVM)).toBe(true);
    expect(await snapshot.list.lookUp([ABSENT])).toBeInstanceOf(Read);
    time = NOW + 8 * DAY_S;
    expect(await snapshot.list.lookUp([ABSENT])).toBeInstanceOf(Part);
    const past = await snapshot.list.lookUpOn('2026-11-15', [EVM]);
    expect(past instanceof Unread && past.why.code).toBe('store_unreadable');
  });

  test('a store that never answered is named as that, not as a list never loaded', async () => {
    const database = fresh();
    database.silence('gone');
    const { snapshot } = snapshotOf(database, WEEK);
    await snapshot.poll();
    const reading = await snapshot.list.lookUp([EVM]);
    expect(reading instanceof Unread && reading.why.code).toBe('store_unreadable');
  });

  test('a list with fewer rows than recorded is not taken, the one before stays', async () => {
    const database = await opened();
    await put(database, { publications: [FIRST], ...WEEK });
    const { snapshot, faults } = snapshotOf(database, WEEK);
    await snapshot.poll();
    await replaceList(database);
    await database.query(
      'delete from sanctions_entries where publication_id in ' +
        '(select publication_id from sanctions_current)',
    );
    await snapshot.poll();
    expect(faults).toEqual([
      'The sanctions list could not be read: it holds 0 of 1 recorded addresses.',
    ]);
    expect(await lists(snapshot, EVM)).toBe(true);
  });

  test('the newest refusal is named while no list was ever loaded', async () => {
    const database = await opened();
    const store = publicationStore(database, () => NOW);
    const refused = { code: 'truncated', reason: 'it ends early' };
    await store.recordRefusal(refusalOf('5', refused));
    const { snapshot } = snapshotOf(database, WEEK);
    await snapshot.poll();
    const reading = await snapshot.list.lookUp([EVM]);
    expect(reading instanceof Unread && reading.why.reason).toBe(
      'No sanctions list has been loaded on this deployment (the newest file, from ' +
        'https://publisher.example, was refused as truncated: it ends early); nothing was checked.',
    );
  });
});

describe('changes', () => {
  const T = Date.UTC(2026, 8, 16, 9) / 1_000;
  const A = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD';
  const B = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
  const C = 'made-up-literal';
  const EVER = { from: null, until: null };
  const ALL: ListChangesRequest = { ...EVER, beforeId: null, matchKey: null, limit: 100 };

  const FIRST = listOf('2026-09-15', '1', [row(A, '7'), row(B, '8'), row(C, '9')]);
  const SECOND = listOf('2026-09-16', '2', [
    row(A.toLowerCase(), '7', { programs: ['SDGT'], entity: null }),
    row(B, '5'),
    row('new', '5'),
  ]);

  function logOn(database: TestStore): { store: PublicationStore; log: ListChanges } {
    const log = listChangeStore(database, { simulated: false, now: () => T });
    return { store: publicationStore(database, () => T), log };
  }

  function whole<T>(reading: Partly<T, never>): T {
    if (reading instanceof Read) return reading.value;
    throw new Error(`not read to its end: ${reading.why.reason}`);
  }

  async function shown(log: ListChanges, more: Partial<ListChangesRequest> = {}) {
    const changes = whole(await log.newest({ ...ALL, ...more }));
    return changes.map(({ change, listing, before }) => [change, listing.address, before?.uid]);
  }

  onEachEngine((name, fresh) => {
    describe(`${name}: the log of changes`, () => {
      test('is unread while no list has come into force, and empty after the first', async () => {
        const { store, log } = logOn(fresh());
        expect(await log.newest(ALL)).toBeInstanceOf(Unread);
        expect(await log.files({ ...EVER, limit: 9 })).toBeInstanceOf(Unread);
        await acceptPublication(store, FIRST, T);
        expect(await shown(log)).toEqual([]);
        expect(whole(await log.files({ ...EVER, limit: 9 }))).toEqual([
          {
            outcome: 'first',
            sha256: FIRST.sha256,
            source: expect.any(String),
            at: T,
            published: '2026-09-15',
            before: null,
            counts: null,
            code: null,
            why: null,
          },
        ]);
      });

      test('tells each listing that a list added, took away, moved, or says otherwise', async () => {
        const { store, log } = logOn(fresh());
        await acceptPublication(store, FIRST, T);
        await acceptPublication(store, SECOND, T + DAY_S);
        expect(await shown(log)).toEqual([
          ['renamed', A.toLowerCase(), '7'],
          ['programmes_changed', A.toLowerCase(), '7'],
          ['moved', B, '8'],
          ['removed', C, undefined],
          ['added', 'new', undefined],
        ]);
        const [renamed] = whole(await log.newest(ALL));
        expect(renamed).toMatchObject({
          outcome: 'next',
          from: { published: '2026-09-15', sha256: FIRST.sha256 },
          to: { published: '2026-09-16', sha256: SECOND.sha256 },
          at: T + DAY_S,
          listing: { entity: null, programs: ['SDGT'], currencies: ['XBT'] },
          before: { entity: 'PARTY 7', programs: ['CYBER2', 'SDGT'] },
        });
      });

      test('says of a list that came back that it did, and counts what changed', async () => {
        const { store, log } = logOn(fresh());
        for (const [n, list] of [FIRST, SECOND, FIRST].entries()) {
          await acceptPublication(store, list, T + n * DAY_S);
        }
        const files = whole(await log.files({ ...EVER, limit: 9 }));
        const counts = { moved: 1, programmes_changed: 1, renamed: 1, added: 1, removed: 1 };
        expect(files.map(({ outcome, counts: of }) => [outcome, of])).toEqual([
          ['replayed', counts],
          ['next', counts],
          ['first', null],
        ]);
      });

      test('finds by address in each spelling, by day, and page by page', async () => {
        const { store, log } = logOn(fresh());
        await acceptPublication(store, FIRST, T);
        await acceptPublication(store, SECOND, T + DAY_S);
        expect(await shown(log, { matchKey: matchKey(A) })).toHaveLength(2);
        expect(await shown(log, { matchKey: 'nobody' })).toEqual([]);
        const day = { from: T + DAY_S, until: T + DAY_S + 1 };
        expect(whole(await log.newest({ ...ALL, ...day }))).toHaveLength(5);
        expect(whole(await log.newest({ ...ALL, ...EVER, until: T + DAY_S }))).toEqual([]);
        expect(whole(await log.files({ ...day, limit: 9 }))).toHaveLength(1);
        const page = await log.newest({ ...ALL, limit: 3 });
        expect(page).toBeInstanceOf(Part);
        const rest = await log.newest({ ...ALL, beforeId: 3, limit: 3 });
        expect(rest instanceof Read && rest.value.map(({ change }) => change)).toEqual([
          'removed',
          'added',
        ]);
      });

      test('holds nothing of a list that did not come into force', async () => {
        const database = fresh();
        const { store, log } = logOn(database);
        await acceptPublication(store, FIRST, T);
        const before = whole(await log.files({ ...EVER, limit: 9 }));
        const late = { ...SECOND, sha256: '3'.repeat(64) } satisfies PublishedList;
        expect(await acceptPublication(store, late, T, 9_999)).toBe('moved');
        // A row that the store refuses takes the whole acceptance with it.
        const broken = { ...SECOND, distinct_addresses: 0 };
        await expect(acceptPublication(store, broken, T)).rejects.toThrow();
        expect(whole(await log.files({ ...EVER, limit: 9 }))).toEqual(before);
        database.silence('it is down');
        expect(await log.newest(ALL)).toBeInstanceOf(Unread);
        database.silence(null);
      });
    });
  });
});

describe('differences', () => {
  const row = (address: string, uid: string, more: Partial<ListEntry> = {}): ListEntry => ({
    address,
    uid,
    currency: 'ETH',
    entity: `PARTY ${uid}`,
    type: 'Entity',
    programs: ['CYBER2'],
    remarks: null,
    listed_on: null,
    note: null,
    ...more,
  });
  const diff = (a: ListEntry[], b: ListEntry[]) =>
    diffPublications({ addresses: a }, { addresses: b });

  describe('a diff keeps apart', () => {
    test('added, removed, moved, changed programmes and renamed', () => {
      const before = [
        row('stays', '1'),
        row('goes', '1'),
        row('moves', '1'),
        row('programmes', '2'),
        row('renamed', '3', { entity: 'OLD, Name' }),
      ];
      const after = [
        row('stays', '1'),
        row('moves', '9'),
        row('programmes', '2', { programs: ['CYBER2', 'DPRK3'] }),
        row('renamed', '3', { entity: 'NEW, Name' }),
        row('comes', '1'),
      ];
      const found = diff(before, after);
      expect(found.added.map(({ address }) => address)).toEqual(['comes']);
      expect(found.removed.map(({ address }) => address)).toEqual(['goes']);
      expect(found.moved).toMatchObject([
        { from: { address: 'moves', uid: '1' }, to: { address: 'moves', uid: '9' } },
      ]);
      expect(found.programmes_changed).toMatchObject([
        { from: { programs: ['CYBER2'] }, to: { programs: ['CYBER2', 'DPRK3'] } },
      ]);
      expect(found.renamed).toMatchObject([{ from: { entity: 'OLD, Name' }, to: { uid: '3' } }]);
    });

    test('a second entry for an address is an addition; a stay beside it moves nothing', () => {
      const found = diff([row('a', '1')], [row('a', '1'), row('a', '2')]);
      expect(found.moved).toEqual([]);
      expect(found.added).toMatchObject([{ address: 'a', uid: '2' }]);
    });

    test('one of two entries moves, the other is removed', () => {
      const found = diff([row('a', '1'), row('a', '2')], [row('a', '3')]);
      expect(found.moved).toMatchObject([{ from: { uid: '1' }, to: { uid: '3' } }]);
      expect(found.removed).toMatchObject([{ uid: '2' }]);
    });

    test('nothing for order, repeated rows, currency codes or the comma in a name', () => {
      const before = [
        row('a', '1', { programs: ['X', 'Y'], entity: 'DOE, John, Quincy' }),
        row('a', '1', { currency: 'BSC', programs: ['X', 'Y'], entity: 'DOE, John, Quincy' }),
        row('b', '1'),
      ];
      const after = [
        row('b', '1'),
        row('a', '1', { programs: ['Y', 'X'], entity: 'DOE, John Quincy' }),
      ];
      const none = { added: [], removed: [], moved: [], programmes_changed: [], renamed: [] };
      expect(diff(before, after)).toEqual(none);
    });

    test('nothing for the letter case of an address that has none', () => {
      const printed = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD';
      const none = { added: [], removed: [], moved: [], programmes_changed: [], renamed: [] };
      expect(diff([row(printed, '1')], [row(printed.toLowerCase(), '1')])).toEqual(none);
    });

    test('what a file leaves open, as a change from what it said', () => {
      const said = row('a', '1');
      const open = row('a', '1', { entity: null, programs: null });
      const found = diff([said], [open]);
      expect(found.programmes_changed).toMatchObject([{ to: { programs: null } }]);
      expect(found.renamed).toMatchObject([{ to: { entity: null } }]);
      expect(diff([open], [open])).toMatchObject({ programmes_changed: [], renamed: [] });
    });

    test('letter case: base58 addresses that differ only in case are two addresses', () => {
      expect(diff([row('aB', '1')], [row('ab', '1')])).toMatchObject({
        added: [{ address: 'ab' }],
        removed: [{ address: 'aB' }],
        moved: [],
      });
    });
  });

  test('what one direction adds the other removes, and moves are moves both ways', () => {
    const rows = fc.array(
      fc.record({ address: fc.constantFrom('a', 'b', 'c'), uid: fc.constantFrom('1', '2', '3') }),
    );
    fc.assert(
      fc.property(rows, rows, (one, other) => {
        const a = one.map(({ address, uid }) => row(address, uid));
        const b = other.map(({ address, uid }) => row(address, uid));
        const there = diff(a, b);
        const back = diff(b, a);
        expect(back.removed.length).toBe(there.added.length);
        expect(back.added.length).toBe(there.removed.length);
        expect(back.moved.length).toBe(there.moved.length);
      }),
    );
  });
});
