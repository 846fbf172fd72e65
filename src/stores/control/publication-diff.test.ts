import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListEntry } from '../../ports/sanctions.ts';
import { diffPublications } from './publications.ts';

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
