// Was anything written since? The engine's own parts tell: every write is a new part, whoever made
// it, in this process or in another, so that no writer has to say that it wrote.

import { z } from 'zod';
import type { Call, Warehouse } from '../engine/executor.ts';

/** The tables whose parts are told: those that hold sides, and those that hold what is recorded. */
const MARKED = ['sides', 'tip_sides', 'coverage', 'address_coverage', 'tokens'] as const;
type MarkedTable = (typeof MARKED)[number];

/** Parts of a table by their name and the hash of their files, each with its rows. */
export type Parts = ReadonlyMap<string, number>;

/** What is written, at one moment. */
export type Mark = {
  readonly parts: { readonly [T in MarkedTable]: Parts };
  /** How often all followed chains together were rolled back. */
  readonly rollbacks: number;
};

/** Parts of these tables: an engine refuses to write long before there are so many. */
const PARTS_MAX = 100_000;
const MERGE_TREE = /MergeTree$/;

const markRow = z.tuple([z.enum([...MARKED, 'rollbacks']), z.string(), z.coerce.number()]);
const engineRow = z.tuple([z.string()]);
const NAMES = MARKED.map((table) => `'${table}'`).join(', ');

// A part of the same name is another one where its files differ: numbers begin anew in a table that
// was emptied and opened again. How often a chain was rolled back only grows, so that the greatest
// of its rows is the one that holds.
const MARK = `SELECT table, concat(name, ' ', hash_of_all_files), rows FROM system.parts
WHERE active AND database = currentDatabase() AND table IN (${NAMES})
UNION ALL
SELECT 'rollbacks', '', sum(most) FROM (
  SELECT max(rollbacks) AS most FROM following GROUP BY chain)`;

/** Reads what is written now. */
export async function readMark(warehouse: Warehouse, call: Call): Promise<Mark> {
  const query = { ...call, row: markRow, tuples: true, rowsMax: PARTS_MAX };
  const parts = {
    sides: new Map<string, number>(),
    tip_sides: new Map<string, number>(),
    coverage: new Map<string, number>(),
    address_coverage: new Map<string, number>(),
    tokens: new Map<string, number>(),
  } satisfies Mark['parts'];
  let rollbacks: number | null = null;
  for (const [what, part, count] of await warehouse.query(MARK, query)) {
    if (what === 'rollbacks') rollbacks = count;
    else parts[what].set(part, count);
  }
  if (rollbacks === null) throw new RangeError('a sum has one row');
  return { parts, rollbacks };
}

/**
 * Tells whether the parts of the tables are told here: those of a cluster lie on its nodes. It is
 * asked once, since a table stays what it is.
 */
export function partsTold(warehouse: Warehouse): (call: Call) => Promise<boolean> {
  let told: boolean | null = null;
  return async (call) => {
    if (told === null) told = await tellsParts(warehouse, call);
    return told;
  };
}

async function tellsParts(warehouse: Warehouse, call: Call): Promise<boolean> {
  const sql = `SELECT engine FROM system.tables
    WHERE database = currentDatabase() AND name IN (${NAMES})`;
  const engines = await warehouse.query(sql, { ...call, row: engineRow, tuples: true });
  return engines.length === MARKED.length && engines.every(([engine]) => MERGE_TREE.test(engine));
}

/**
 * What is kept of what was read, for as long as the parts that it was read of are the same: nothing
 * yet. Past a size of `sizeMax` in all, everything is forgotten.
 */
export function keptByParts<V>(sizeMax: number) {
  const kept = new Map<string, V>();
  let parts: Parts = new Map();
  let epoch = 0;
  let size = 0;

  const clear = () => {
    kept.clear();
    size = 0;
  };
  return {
    /** Grows when the parts have changed. */
    epoch: () => epoch,
    /** Forgets what was read of other parts than these. */
    renew: (now: Parts): void => {
      if (isSame(now, parts)) return;
      parts = now;
      epoch += 1;
      clear();
    },
    of: (key: string): V | undefined => kept.get(key),
    /** Keeps what was read under an epoch, if it is still that one. */
    add: (key: string, value: V, ofSize: number, under: number): void => {
      if (under !== epoch) return;
      if (size + ofSize > sizeMax) clear();
      size += ofSize;
      kept.set(key, value);
    },
  };
}

/** Whether these are the same parts. */
export function isSame(a: Parts, b: Parts): boolean {
  return a === b || (a.size === b.size && [...a.keys()].every((one) => b.has(one)));
}
