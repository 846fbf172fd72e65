// Answers one question: what changed between two publications, by address and entry uid.
// An address that passed to another entry is moved, never added and removed; one that is spelled
// otherwise and found as before did not change. Order of the two publications is the caller's.

import { matchKey } from '../../chain/address.ts';
import { collect, given, heldUnder } from '../../evidence/measure.ts';
import type {
  ChangedListing,
  ListDiff,
  Listing,
  PublishedList,
} from '../../ports/sanctions/publisher.ts';

type Listed = Pick<PublishedList, 'addresses'>;
type Row = Listed['addresses'][number];

/** The differences from `a` to `b`. */
export function diffPublications(a: Listed, b: Listed): ListDiff {
  const before = listings(a);
  const after = listings(b);
  const lacking = [...before].filter(([key]) => !after.has(key)).map(([, found]) => found);
  const removed = new Set(lacking);
  const gone = byAddress(lacking);
  const added: Listing[] = [];
  const moved: ChangedListing[] = [];
  const both: ChangedListing[] = [];
  for (const [key, to] of after) {
    const from = before.get(key);
    if (from !== undefined) {
      both.push({ from, to });
      continue;
    }
    const earlier = heldUnder(gone, matchKey(to.address)).find((listing) => removed.has(listing));
    if (earlier === undefined) {
      added.push(to);
      continue;
    }
    removed.delete(earlier);
    moved.push({ from: earlier, to });
  }
  return {
    added,
    removed: [...removed],
    moved,
    programmes_changed: both.filter(({ from, to }) => !sameSet(from.programs, to.programs)),
    renamed: both.filter(({ from, to }) => nameKey(from.entity) !== nameKey(to.entity)),
  };
}

function listings({ addresses }: Listed): Map<string, Listing> {
  const rows = new Map<string, Row[]>();
  for (const row of addresses) collect(rows, JSON.stringify([matchKey(row.address), row.uid]), row);
  return new Map([...rows].map(([key, under]) => [key, listing(under)]));
}

function listing(rows: readonly Row[]): Listing {
  const [row] = rows;
  if (row === undefined) throw new Error('a key without rows');
  const { address, uid, entity, type } = row;
  const said = rows.flatMap((under) => given(under.programs));
  const open = rows.some((under) => under.programs === null);
  const programs = open ? null : [...new Set(said)];
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  return { address, uid, entity, type, programs, currencies };
}

function byAddress(found: readonly Listing[]): Map<string, Listing[]> {
  const held = new Map<string, Listing[]>();
  for (const one of found) collect(held, matchKey(one.address), one);
  return held;
}

function sameSet(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  const held = new Set(b);
  return a.length === held.size && a.every((item) => held.has(item));
}

/** The two formats part a middle name differently: with a comma, or with a space. */
function nameKey(entity: string | null): string | null {
  return entity === null ? null : entity.replaceAll(',', '');
}
