// Answers one question: which rows of a loaded list stand under these addresses.
// Synchronous and in memory: a bulk screen asks it for hundreds of addresses in one go.

import { type AddressKind, matchKey, parseAddress } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';

/** The rows of one publication by the key under which two spellings of an address meet. */
export type ListTable = ReadonlyMap<string, readonly ListEntry[]>;

/** Files the rows of a publication, every currency code alike. */
export function tableOf(entries: readonly ListEntry[]): ListTable {
  const table = new Map<string, ListEntry[]>();
  for (const entry of entries) collect(table, matchKey(entry.address), entry);
  return table;
}

/** The rows under some addresses, by their key. An address that is not listed has no key in it. */
export function rowsUnder(
  table: ListTable,
  addresses: readonly string[],
): ReadonlyMap<string, readonly ListEntry[]> {
  const found = new Map<string, readonly ListEntry[]>();
  for (const address of addresses) {
    const key = matchKey(address);
    const rows = table.get(key);
    if (rows !== undefined) found.set(key, rows);
  }
  return found;
}

const KINDS_KEPT = new WeakMap<ListTable, ReadonlyMap<AddressKind, readonly string[]>>();

/** The addresses of a list by their kind, worked out once for each list. */
export function addressesOf(table: ListTable): ReadonlyMap<AddressKind, readonly string[]> {
  const kept = KINDS_KEPT.get(table);
  if (kept !== undefined) return kept;
  const kinds = new Map<AddressKind, string[]>();
  for (const key of table.keys()) {
    const parsed = parseAddress(key);
    if (parsed !== null) collect(kinds, parsed.kind, parsed.address);
  }
  KINDS_KEPT.set(table, kinds);
  return kinds;
}

/** Distinct addresses as published. */
export function distinctAddresses(entries: readonly ListEntry[]): number {
  return new Set(entries.map(({ address }) => address)).size;
}
