// Answers one question: what changed between two publications, by address and entry uid.
// An address that passed to another entry is moved, never added and removed. Order of the two
// publications is the caller's: the first is the earlier one.

import { collect, heldUnder } from '../../evidence/measure.ts';
import type { ListedAddress } from './publication.ts';

/** An address under one entry, over all its currency codes. */
export type Listing = {
  readonly address: string;
  readonly uid: string;
  readonly entity: string;
  readonly type: string;
  readonly programs: readonly string[];
  readonly currencies: readonly string[];
};

/** A listing that stands in both under the same key, but not with the same words. */
export type Changed = { readonly from: Listing; readonly to: Listing };

/** Each list in the order of the publication that it comes from. */
export type PublicationDiff = {
  readonly added: readonly Listing[];
  readonly removed: readonly Listing[];
  /** The same address under another entry. */
  readonly moved: readonly Changed[];
  /** The same address and entry, under other programmes. */
  readonly programmes_changed: readonly Changed[];
  /** The same address and entry, under another name of the entry. */
  readonly renamed: readonly Changed[];
};

type Row = Omit<ListedAddress, 'type'> & { readonly type: string };
type Listed = { readonly addresses: readonly Row[] };

/** The differences from `a` to `b`. */
export function diffPublications(a: Listed, b: Listed): PublicationDiff {
  const before = listings(a);
  const after = listings(b);
  const lacking = [...before].filter(([key]) => !after.has(key)).map(([, found]) => found);
  const removed = new Set(lacking);
  const gone = byAddress(lacking);
  const added: Listing[] = [];
  const moved: Changed[] = [];
  const both: Changed[] = [];
  for (const [key, to] of after) {
    const from = before.get(key);
    if (from !== undefined) {
      both.push({ from, to });
      continue;
    }
    const earlier = heldUnder(gone, to.address).find((listing) => removed.has(listing));
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
  for (const row of addresses) collect(rows, JSON.stringify([row.address, row.uid]), row);
  return new Map([...rows].map(([key, under]) => [key, listing(under)]));
}

function listing(rows: readonly Row[]): Listing {
  const [row] = rows;
  if (row === undefined) throw new Error('a key without rows');
  const { address, uid, entity, type } = row;
  const programs = [...new Set(rows.flatMap((under) => under.programs))];
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  return { address, uid, entity, type, programs, currencies };
}

function byAddress(found: readonly Listing[]): Map<string, Listing[]> {
  const held = new Map<string, Listing[]>();
  for (const one of found) collect(held, one.address, one);
  return held;
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const held = new Set(b);
  return a.length === held.size && a.every((item) => held.has(item));
}

/** The two formats part a middle name differently: with a comma, or with a space. */
function nameKey(entity: string): string {
  return entity.replaceAll(',', '');
}
