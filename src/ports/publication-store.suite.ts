// The guarantees of every store of publications. Each adapter's test runs them.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_S } from '../chain/time.ts';
import { Read, type Reading } from '../evidence/reading.ts';
import type {
  Acceptable,
  HeldRefusal,
  ListEntry,
  PublicationStore,
  PublishedList,
} from './sanctions.ts';

const SOURCE = { key: 'a'.repeat(64), url: 'https://publisher.example' };
const OTHER_SOURCE = { key: 'b'.repeat(64), url: 'https://mirror.example' };
const NO_VALIDATORS = { etag: null, last_modified: null };
const VALIDATORS = { etag: '"1"', last_modified: 'Tue, 15 Sep 2026 14:00:00 GMT' };

/** The value of a reading that the promise needs to have been read. */
export function said<T>(reading: Reading<T, never>): T {
  if (reading instanceof Read) return reading.value;
  throw new Error(`not read: ${reading.why.reason}`);
}

/** A row for tests: an address of a party. */
export function row(address: string, uid: string, more: Partial<ListEntry> = {}): ListEntry {
  return {
    address,
    uid,
    currency: 'XBT',
    entity: `PARTY ${uid}`,
    type: 'Entity',
    programs: ['CYBER2', 'SDGT'],
    remarks: null,
    listed_on: '2026-01-15',
    note: null,
    ...more,
  };
}

/** A publication for tests. The digest stands for its bytes. */
export function listOf(
  published: string,
  digest: string,
  addresses: readonly ListEntry[],
): PublishedList {
  return {
    format: 'sdn_xml',
    published,
    sha256: digest.repeat(64).slice(0, 64),
    record_count: 10,
    parties: 10,
    distinct_addresses: new Set(addresses.map(({ address }) => address)).size,
    unparsed: 1,
    addresses,
  };
}

function acceptable(list: PublishedList, at: number, more: Partial<Acceptable> = {}): Acceptable {
  return {
    list,
    source: SOURCE,
    reader_version: 1,
    accepted_at: at,
    check: { at, by: 'asked' },
    accepted_why: null,
    instead_of: null,
    ...more,
  };
}

const FIRST = listOf('2026-09-15', '1', [
  row('0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD', '7', { currency: 'ETH', remarks: 'a "note"' }),
  row('12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h', '8'),
  row('12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h', '9', { currency: 'USDT', listed_on: null }),
]);
const SECOND = listOf('2026-09-23', '2', [row('12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h', '8')]);
const T1 = Date.UTC(2026, 8, 16) / 1_000;
const T2 = Date.UTC(2026, 8, 24) / 1_000;

/** A refusal for tests. The digest stands for its bytes. */
export function refusalOf(digest: string, more: Partial<HeldRefusal> = {}): HeldRefusal {
  return {
    sha256: digest.repeat(64).slice(0, 64),
    source_url: 'https://publisher.example',
    code: 'unknown_root',
    reason: 'its root element is "lists"',
    published: null,
    from_publisher: true,
    passing: false,
    acceptable: false,
    judged_by: 'reader 1',
    kept_as: null,
    first_at: T1,
    refused_at: T1,
    ...more,
  };
}

/** An empty store under test, the hand that sets its clock, and its end. */
type FreshStore = {
  readonly store: PublicationStore;
  readonly setClock: (seconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Runs the promises. `fresh` gives an empty store each time it is called. */
export function publicationStoreKeeps(name: string, fresh: () => Promise<FreshStore>): void {
  checksAreKept(name, fresh);
  describe(`${name} keeps publications`, () => {
    let store: PublicationStore;
    let close: () => Promise<void>;
    beforeAll(async () => {
      const made = await fresh();
      ({ store, close } = made);
      await made.setClock(T2 + DAY_S);
    });
    afterAll(() => close());

    test('an empty store has no list in force, none held and no refusal', async () => {
      expect(said(await store.inForce())).toEqual({
        now: T2 + DAY_S,
        publication: null,
        superseded: null,
        newest_refusal: null,
        refusals: 0,
      });
      expect(said(await store.held())).toEqual([]);
    });

    test('an accepted publication is in force with every field as it was given', async () => {
      expect(said(await store.accept(acceptable(FIRST, T1)))).toBe('written');
      const { publication } = said(await store.inForce());
      expect(publication).toEqual({
        id: publication?.id,
        published: '2026-09-15',
        sha256: FIRST.sha256,
        format: 'sdn_xml',
        source_key: SOURCE.key,
        source_url: 'https://publisher.example',
        reader_version: 1,
        distinct_addresses: 2,
        parties: 10,
        record_count: 10,
        unparsed: 1,
        accepted_at: T1,
        accepted_why: null,
        checked_at: T1,
        checked_by: 'asked',
      });
      expect(said(await store.entries(Number(publication?.id)))).toEqual(FIRST.addresses);
    });

    test('rows are found under their key, whatever their code, and under no other', async () => {
      const id = Number(said(await store.inForce()).publication?.id);
      const keys = [
        '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd',
        '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h',
        '12qtd5bfwrsdnsazy76uve1xycgntojh9h',
      ];
      const found = said(await store.entriesUnder([id], keys));
      expect(found.map(({ match_key, entry }) => [match_key, entry.uid])).toEqual([
        [keys[0], '7'],
        [keys[1], '8'],
        [keys[1], '9'],
      ]);
      expect(said(await store.entriesUnder([id + 1000], keys))).toEqual([]);
    });

    test('a check moves the clock forward only', async () => {
      const id = Number(said(await store.inForce()).publication?.id);
      for (const at of [T1 + 60, T1 + 30]) {
        const check = { at, by: 'asked' } as const;
        await store.recordCheck({ publication_id: id, source: SOURCE, check });
      }
      expect(said(await store.inForce()).publication?.checked_at).toBe(T1 + 60);
    });

    test('of each source it knows what it gave last, when it was asked and to what end', async () => {
      const asked = { source: SOURCE, asked_at: T1, result: 'updated' };
      const other = { source: OTHER_SOURCE, asked_at: T1 + 5, result: 'it was silent' };
      await store.recordAsked(asked, { sha256: FIRST.sha256, validators: VALIDATORS });
      await store.recordAsked(other, null);
      expect(said(await store.lastServed(SOURCE.key))).toEqual({
        sha256: FIRST.sha256,
        validators: VALIDATORS,
      });
      expect(said(await store.lastServed(OTHER_SOURCE.key))).toBeNull();
      expect(said(await store.lastServed('c'.repeat(64)))).toBeNull();
      expect(said(await store.asked())).toEqual([other, asked]);
      // Silence leaves what is known of it; another file takes its place, validators and all.
      await store.recordAsked({ ...asked, asked_at: T1 + 9, result: 'silent' }, null);
      expect(said(await store.lastServed(SOURCE.key))?.validators).toEqual(VALIDATORS);
      await store.recordAsked(asked, { sha256: SECOND.sha256, validators: NO_VALIDATORS });
      expect(said(await store.lastServed(SOURCE.key))).toEqual({
        sha256: SECOND.sha256,
        validators: NO_VALIDATORS,
      });
    });

    test('what was judged against another list than the one in force changes nothing', async () => {
      const before = said(await store.inForce());
      const wrong = acceptable(SECOND, T2, { instead_of: null });
      expect(said(await store.accept(wrong))).toBe('moved');
      const check = { at: T2, by: 'asked' } as const;
      const late = { source: SOURCE, check, publication_id: 9_999 };
      expect(said(await store.recordCheck(late))).toBe('moved');
      expect(said(await store.inForce())).toEqual(before);
      expect(said(await store.held())).toHaveLength(1);
    });

    test('of two that replace one list at once, one is written and one has moved', async () => {
      const id = Number(said(await store.inForce()).publication?.id);
      const third = listOf('2026-09-23', '3', SECOND.addresses);
      const both = await Promise.all([
        store.accept(acceptable(SECOND, T2, { instead_of: id, accepted_why: 'delisting, seen' })),
        store.accept(acceptable(third, T2, { instead_of: id })),
      ]);
      expect(both.map(said).sort()).toEqual(['moved', 'written']);
      expect(said(await store.held())).toHaveLength(2);
    });

    test('every publication stays held, newest first, with its own last check', async () => {
      const held = said(await store.held());
      expect(held.map(({ published, checked_at }) => [published, checked_at])).toEqual([
        ['2026-09-23', T2],
        ['2026-09-15', T1 + 60],
      ]);
      const [, first] = held;
      expect(said(await store.entries(Number(first?.id)))).toEqual(FIRST.addresses);
    });

    test('a publication that is put back in force is the one that was held', async () => {
      const [now, first] = said(await store.held());
      const again = acceptable(FIRST, T2 + 5, { instead_of: Number(now?.id) });
      expect(said(await store.accept(again))).toBe('written');
      expect(said(await store.inForce()).publication?.id).toBe(first?.id);
      expect(said(await store.held())).toHaveLength(2);
    });

    test('what another reader makes of a held file takes the place of its rows', async () => {
      const { publication } = said(await store.inForce());
      const reread = { ...FIRST, addresses: [row('another', '7')], distinct_addresses: 1 };
      const instead_of = Number(publication?.id);
      await store.recordRefusal(refusalOf('1'));
      const again = { instead_of, reader_version: 2, check: null };
      expect(said(await store.accept(acceptable(reread, T2 + 6, again)))).toBe('written');
      const { publication: now, newest_refusal } = said(await store.inForce());
      // It is the same publication, checked when it was checked, and no longer a refused file.
      expect(now).toEqual({ ...publication, reader_version: 2, distinct_addresses: 1 });
      expect(said(await store.entries(instead_of))).toEqual(reread.addresses);
      expect(newest_refusal).toBeNull();
    });

    test('refusals are remembered once for each file and rule, with the first sight', async () => {
      await store.recordRefusal(refusalOf('4', { code: 'truncated' }));
      await store.recordRefusal(refusalOf('4', { refused_at: T2, first_at: T2 }));
      const again = { code: 'truncated', refused_at: T2 + 9, first_at: T2 + 9 };
      await store.recordRefusal(refusalOf('4', again));
      const newest = refusalOf('4', { ...again, first_at: T1 });
      expect(said(await store.inForce()).newest_refusal).toEqual(newest);
      expect(said(await store.refusalOf('4'.repeat(64)))).toEqual(newest);
      expect(said(await store.refusalOf('5'.repeat(64)))).toBeNull();
      expect(said(await store.refusals()).map(({ code }) => code)).toEqual([
        'truncated',
        'unknown_root',
      ]);
      // Those seen since the list in force was accepted, and not those before.
      expect(said(await store.inForce()).refusals).toBe(1);
    });
  });
}

function checksAreKept(name: string, fresh: () => Promise<FreshStore>): void {
  describe(`${name} knows whose word a check is`, () => {
    const newest = Date.UTC(2026, 8, 23) / 1_000;
    let world: FreshStore;
    beforeEach(async () => {
      world = await fresh();
      await world.setClock(T2);
    });
    afterEach(() => world.close());

    async function put(check: Acceptable['check']): Promise<number> {
      said(await world.store.accept(acceptable(SECOND, T2, { check })));
      return Number(said(await world.store.inForce()).publication?.id);
    }
    async function checked() {
      const { publication } = said(await world.store.inForce());
      return [publication?.checked_by, publication?.checked_at];
    }

    test('nobody’s: the list counts as checked on its own day, at the latest now', async () => {
      await put(null);
      expect(await checked()).toEqual(['own_date', newest]);
      await world.setClock(newest - 3_600);
      expect(await checked()).toEqual(['own_date', newest - 3_600]);
    });

    test('an operator’s, and the publisher’s where that is the later', async () => {
      const publication_id = await put({ at: newest + 60, by: 'obtained' });
      expect(await checked()).toEqual(['obtained', newest + 60]);
      const check = { at: newest + 90, by: 'asked' } as const;
      await world.store.recordCheck({ publication_id, source: OTHER_SOURCE, check });
      expect(await checked()).toEqual(['asked', newest + 90]);
      // The publisher vouches for it from then on.
      const { publication } = said(await world.store.inForce());
      expect(publication).toMatchObject({ source_url: OTHER_SOURCE.url });
    });

    test('a check ahead of the clock is none, and gives way to the next one', async () => {
      const publication_id = await put({ at: T2, by: 'asked' });
      const ahead = { at: T2 + 400 * DAY_S, by: 'asked' } as const;
      await world.setClock(ahead.at);
      await world.store.recordCheck({ publication_id, source: SOURCE, check: ahead });
      expect(await checked()).toEqual(['asked', ahead.at]);
      await world.setClock(T2 + DAY_S);
      expect(await checked()).toEqual(['asked', T2]);
      const check = { at: T2 + DAY_S, by: 'asked' } as const;
      await world.store.recordCheck({ publication_id, source: SOURCE, check });
      await world.setClock(T2 + 2 * DAY_S);
      expect(await checked()).toEqual(['asked', T2 + DAY_S]);
    });

    test('a newer refused file stands against the list from when it was first seen', async () => {
      const publication_id = await put({ at: T2, by: 'asked' });
      const standing = async () => said(await world.store.inForce()).superseded;
      await world.store.recordRefusal(refusalOf('6', { published: '2026-09-22' }));
      await world.store.recordRefusal(refusalOf('7', { published: null }));
      const [day] = [SECOND.published];
      const sameDay = { published: day, refused_at: T2 + 1 };
      await world.store.recordRefusal(refusalOf('8', { ...sameDay, from_publisher: false }));
      await world.store.recordRefusal(refusalOf('9', { ...sameDay, passing: true }));
      expect(await standing()).toBeNull();
      const first = { published: '2026-09-24', first_at: T2 + 60, refused_at: T2 + 60 };
      await world.store.recordRefusal(refusalOf('a', first));
      const second = { published: '2026-09-25', first_at: T2 + 90, refused_at: T2 + 90 };
      await world.store.recordRefusal(refusalOf('b', { ...second, from_publisher: false }));
      const { source_url, code } = refusalOf('b');
      const stands = { published: '2026-09-25', source_url, code, since: T2 + 60 };
      expect(await standing()).toEqual(stands);
      // One word of the publisher's is not enough: its servers do not change all at once.
      const at = T2 + 3_600;
      await world.setClock(T2 + 2 * DAY_S);
      const check = { publication_id, source: SOURCE };
      await world.store.recordCheck({ ...check, check: { at, by: 'asked' } });
      expect(await standing()).toEqual(stands);
      await world.store.recordCheck({ ...check, check: { at: T2 + DAY_S, by: 'asked' } });
      expect(await standing()).toBeNull();
    });

    test('the publisher’s other file of one day stands against it, until it is accepted', async () => {
      const instead_of = await put({ at: T2, by: 'asked' });
      const third = listOf(SECOND.published, '3', SECOND.addresses);
      const refused = { published: third.published, first_at: T1, refused_at: T2 + 1 };
      await world.store.recordRefusal(refusalOf('3', refused));
      expect(said(await world.store.inForce()).superseded).toMatchObject({ since: T1 });
      said(await world.store.accept(acceptable(third, T2 + 2, { instead_of })));
      expect(said(await world.store.inForce()).superseded).toBeNull();
    });
  });
}
