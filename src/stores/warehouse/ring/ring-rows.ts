// Who dealt with these listed addresses, by the rows of the warehouse; was anything written since?
// The engine's own parts tell: every write is a new part, whoever made it, in this process or in
// another, so that no writer has to say that it wrote.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { addressHex } from '../transfers/bytes.ts';
import { FINGERPRINT_BYTES } from './fingerprints.ts';

/** The tables that hold transfers under their addresses: what is final, and the tip. */
export const RING_TABLES = ['sides', 'tip_sides'] as const;
type RingTable = (typeof RING_TABLES)[number];

/** What is written, at one moment. */
export type Mark = {
  readonly parts: { readonly [T in RingTable]: ReadonlySet<string> };
  /** How often all followed chains together were rolled back. */
  readonly rollbacks: number;
};

/** Counterparties of one listed address on one chain, as fingerprints in hexadecimal. */
export type RingRow = {
  readonly chain: ChainName;
  readonly listedHex: string;
  readonly fingerprintsHex: string;
};

/** Sides whose fingerprints one statement gives; more are asked in so many. */
const PAGE_SIDES = 250_000;
/** The last byte of a counterparty says in which page it is. */
const PAGES_MAX = 256;
/** Parts of a table: an engine refuses to write long before there are so many. */
const PARTS_MAX = 100_000;
/** Rows of one answer: chains times listed addresses. */
const ROWS_MAX = 100_000;
const MERGE_TREE = /MergeTree$/;

const markRow = z.tuple([z.enum([...RING_TABLES, 'rollbacks']), z.string()]);
const engineRow = z.tuple([z.string()]);
const ringRow = z.tuple([z.enum(CHAIN_NAMES), z.string(), z.string()]);
const countRow = z.tuple([z.coerce.number()]);

// A part of the same name is another one where its files differ: numbers begin anew in a table that
// was emptied and opened again.
const MARK = `SELECT table, concat(name, ' ', hash_of_all_files) FROM system.parts
WHERE active AND database = currentDatabase() AND table IN ('sides', 'tip_sides')
UNION ALL
SELECT 'rollbacks', toString(sum(most)) FROM (
  SELECT max(rollbacks) AS most FROM following GROUP BY chain)`;

/** Reads what is written now. */
export async function readMark(warehouse: Warehouse, call: Call): Promise<Mark> {
  const query = { ...call, row: markRow, tuples: true, rowsMax: PARTS_MAX };
  const parts = { sides: new Set<string>(), tip_sides: new Set<string>() };
  let rollbacks: number | null = null;
  for (const [what, told] of await warehouse.query(MARK, query)) {
    if (what === 'rollbacks') rollbacks = Number(told);
    else parts[what].add(told);
  }
  if (rollbacks === null) throw new RangeError('a sum has one row');
  return { parts, rollbacks };
}

/** Whether the parts of the tables are told here: those of a cluster lie on its nodes. */
export async function tellsParts(warehouse: Warehouse, call: Call): Promise<boolean> {
  const sql = `SELECT engine FROM system.tables
    WHERE database = currentDatabase() AND name IN ('sides', 'tip_sides')`;
  const engines = await warehouse.query(sql, { ...call, row: engineRow, tuples: true });
  return engines.length > 0 && engines.every(([engine]) => MERGE_TREE.test(engine));
}

const LISTED = '(SELECT unhex(arrayJoin({listed:Array(String)})))';

/** What is read of a table: of some listed addresses all, or only what some parts hold. */
export type RingQuestion = {
  readonly table: RingTable;
  readonly listed: readonly string[];
  readonly parts: readonly string[] | null;
};

/** Reads the ring of some listed addresses, page by page. A part that is gone has no rows. */
export async function* ringRows(
  warehouse: Warehouse,
  { table, listed, parts }: RingQuestion,
  call: Call,
): AsyncGenerator<readonly RingRow[]> {
  const names = parts === null ? null : parts.map((part) => part.slice(0, part.indexOf(' ')));
  const of = names === null ? '' : 'AND _part IN {parts:Array(String)}';
  const from = `${table} WHERE addr IN ${LISTED} ${of}`;
  const params = {
    listed: listed.map(addressHex),
    ...(names === null ? {} : { parts: names }),
  };
  const count = { ...call, params, row: countRow, tuples: true };
  const [counted] = await warehouse.query(`SELECT count() FROM ${from}`, count);
  if (counted === undefined) throw new RangeError('a count has one row');
  const pages = Math.min(PAGES_MAX, Math.ceil(counted[0] / PAGE_SIDES));
  for (let page = 0; page < pages; page += 1) {
    const sql = `SELECT toString(chain), lower(hex(addr)),
        hex(arrayStringConcat(groupUniqArray(right(peer, ${FINGERPRINT_BYTES}))))
      FROM ${from} AND addr != peer AND reinterpretAsUInt8(right(peer, 1)) % ${pages} = ${page}
      GROUP BY chain, addr`;
    const query = { ...call, params, row: ringRow, tuples: true, rowsMax: ROWS_MAX };
    const rows = await warehouse.query(sql, query);
    yield rows.map(([chain, listedHex, fingerprintsHex]) => ({
      chain,
      listedHex,
      fingerprintsHex,
    }));
  }
}

/** A step that others' writes undid again and again. */
export function interrupted(): WarehouseUnavailable {
  return new WarehouseUnavailable('interrupted');
}
