// Who dealt with these listed addresses, by the rows of the warehouse?
// Rows are read by the parts that hold them, so that what was written since is read alone.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import {
  type Call,
  type Params,
  type Warehouse,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { addressHex } from '../transfers/bytes.ts';
import type { Parts } from '../transfers/written.ts';
import { FINGERPRINT_BYTES } from './fingerprints.ts';

/** The tables that hold transfers under their addresses: what is final, and the tip. */
export const RING_TABLES = ['sides', 'tip_sides'] as const;
type RingTable = (typeof RING_TABLES)[number];

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
/** Rows of one answer: chains times listed addresses. */
const ROWS_MAX = 100_000;
const ringRow = z.tuple([z.enum(CHAIN_NAMES), z.string(), z.string()]);
const countRow = z.tuple([z.coerce.number()]);

const LISTED = '(SELECT unhex(arrayJoin({listed:Array(String)})))';

/** What is read of a table: of some listed addresses all, or only what some parts hold. */
export type RingQuestion = {
  readonly table: RingTable;
  readonly listed: readonly string[];
  readonly parts: Parts | null;
};

/** Reads the ring of some listed addresses, page by page. A part that is gone has no rows. */
export async function* ringRows(
  warehouse: Warehouse,
  { table, listed, parts }: RingQuestion,
  call: Call,
): AsyncGenerator<readonly RingRow[]> {
  const names =
    parts === null ? null : [...parts.keys()].map((part) => part.slice(0, part.indexOf(' ')));
  const of = names === null ? '' : 'AND _part IN {parts:Array(String)}';
  const from = `${table} WHERE addr IN ${LISTED} ${of}`;
  const params = {
    listed: listed.map(addressHex),
    ...(names === null ? {} : { parts: names }),
  };
  const pages = await pagesOf(warehouse, from, params, parts, call);
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

/** In how many pages such rows come: few parts hold too little for two. */
async function pagesOf(
  warehouse: Warehouse,
  from: string,
  params: Params,
  parts: Parts | null,
  call: Call,
): Promise<number> {
  const most = parts === null ? null : [...parts.values()].reduce((sum, rows) => sum + rows, 0);
  if (most !== null && most <= PAGE_SIDES) return 1;
  const count = { ...call, params, row: countRow, tuples: true };
  const [counted] = await warehouse.query(`SELECT count() FROM ${from}`, count);
  if (counted === undefined) throw new RangeError('a count has one row');
  return Math.min(PAGES_MAX, Math.ceil(counted[0] / PAGE_SIDES));
}

/** A step that others' writes undid again and again. */
export function interrupted(): WarehouseUnavailable {
  return new WarehouseUnavailable('interrupted');
}
