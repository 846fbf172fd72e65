// What every store of publications promises. Run against each in its adapter's test.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read, type Reading } from '../../evidence/reading.ts';
import type { Acceptable, PublicationStore } from './publication-store.ts';
import type { PublishedList } from './publisher.ts';
import type { ListEntry } from './sanctions-list.ts';

const SOURCE = { key: 'a'.repeat(64), url: 'https://publisher.example' };
const OTHER_SOURCE = { key: 'b'.repeat(64), url: 'https://mirror.example' };
const NO_VALIDATORS = { etag: null, last_modified: null };

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
    validators: { etag: '"1"', last_modified: 'Tue, 15 Sep 2026 14:00:00 GMT' },
    accepted_at: at,
    checked_at: at,
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

/** Runs the promises. `fresh` gives an empty store each time it is called. */
export function publicationStoreKeeps(
  name: string,
  fresh: () => Promise<{ store: PublicationStore; close: () => Promise<void> }>,
): void {
  describe(`${name} keeps publications`, () => {
    let store: PublicationStore;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ store, close } = await fresh());
    });
    afterAll(() => close());

    test('an empty store has no list in force, none held and no refusal', async () => {
      expect(said(await store.inForce())).toEqual({ publication: null, newest_refusal: null });
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
        source_url: 'https://publisher.example',
        distinct_addresses: 2,
        parties: 10,
        record_count: 10,
        unparsed: 1,
        accepted_at: T1,
        accepted_why: null,
        checked_at: T1,
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

    test('a check moves the clock forward only, and keeps validators by source', async () => {
      const id = Number(said(await store.inForce()).publication?.id);
      const check = { publication_id: id, source: OTHER_SOURCE, validators: NO_VALIDATORS };
      await store.recordCheck({ ...check, checked_at: T1 + 60 });
      await store.recordCheck({ ...check, checked_at: T1 + 30 });
      expect(said(await store.inForce()).publication?.checked_at).toBe(T1 + 60);
      expect(said(await store.validators(id, SOURCE.key))).toEqual({
        etag: '"1"',
        last_modified: 'Tue, 15 Sep 2026 14:00:00 GMT',
      });
      expect(said(await store.validators(id, OTHER_SOURCE.key))).toEqual(NO_VALIDATORS);
      expect(said(await store.validators(id, 'c'.repeat(64)))).toBeNull();
    });

    test('what was judged against another list than the one in force changes nothing', async () => {
      const before = said(await store.inForce());
      const wrong = acceptable(SECOND, T2, { instead_of: null });
      expect(said(await store.accept(wrong))).toBe('moved');
      const check = { source: SOURCE, validators: NO_VALIDATORS, checked_at: T2 };
      expect(said(await store.recordCheck({ ...check, publication_id: 9_999 }))).toBe('moved');
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

    test('the newest refusal is remembered, once for each file and rule', async () => {
      const refusal = {
        sha256: '4'.repeat(64),
        source_url: 'https://publisher.example',
        code: 'truncated',
        reason: 'it ends before its root closes',
        refused_at: T1,
      };
      await store.recordRefusal(refusal);
      await store.recordRefusal({ ...refusal, code: 'not_xml', refused_at: T2 });
      await store.recordRefusal({ ...refusal, refused_at: T2 + 9 });
      expect(said(await store.inForce()).newest_refusal).toEqual({
        ...refusal,
        refused_at: T2 + 9,
      });
    });
  });
}
