import { describe, expect, test } from 'vitest';
import { matchKey } from '../../chain/address.ts';
import { DAY_S } from '../../chain/time.ts';
import { Part, type Partly, Read, Unread } from '../../evidence/reading.ts';
import { listOf, row } from '../../ports/publication-store.suite.ts';
import type {
  ListChanges,
  ListChangesRequest,
  PublicationStore,
  PublishedList,
} from '../../ports/sanctions.ts';
import { acceptedIn } from '../../testing/accepted.ts';
import { onEachEngine, type TestStore } from '../../testing/control-store.ts';
import { listChangeStore, publicationStore } from './publications.ts';

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
      await acceptedIn(store, FIRST, T);
      expect(await shown(log)).toEqual([]);
      expect(whole(await log.files({ ...EVER, limit: 9 }))).toEqual([
        {
          outcome: 'first',
          sha256: FIRST.sha256,
          source_url: expect.any(String),
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
      await acceptedIn(store, FIRST, T);
      await acceptedIn(store, SECOND, T + DAY_S);
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
        await acceptedIn(store, list, T + n * DAY_S);
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
      await acceptedIn(store, FIRST, T);
      await acceptedIn(store, SECOND, T + DAY_S);
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
      await acceptedIn(store, FIRST, T);
      const before = whole(await log.files({ ...EVER, limit: 9 }));
      const late = { ...SECOND, sha256: '3'.repeat(64) } satisfies PublishedList;
      expect(await acceptedIn(store, late, T, 9_999)).toBe('moved');
      // A row that the store refuses takes the whole acceptance with it.
      const broken = { ...SECOND, distinct_addresses: 0 };
      await expect(acceptedIn(store, broken, T)).rejects.toThrow();
      expect(whole(await log.files({ ...EVER, limit: 9 }))).toEqual(before);
      database.silence('it is down');
      expect(await log.newest(ALL)).toBeInstanceOf(Unread);
      database.silence(null);
    });
  });
});
