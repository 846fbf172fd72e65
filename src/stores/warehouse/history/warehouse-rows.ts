// Which transfers does the warehouse hold of these addresses?
// One statement for all of them, over what is final and over the tip. Rows come packed (`sides` in
// migrations/warehouse says how), perhaps more than once; here each is taken once, newest first.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { addressHex, addressOf } from '../transfers/bytes.ts';
import { type Held, tipRows } from '../transfers/held.ts';
import { IS_KEPT } from '../transfers/kept-sides.ts';
import {
  DETAIL,
  type HeldTransfer,
  isFailed,
  newestFirst,
  type PackedSide,
  PEER,
  packedColumns,
  packedRow,
  type TokenNames,
  unpacked,
} from './packed-side.ts';

/** The most transfers that are read of one address; one that has more is known to have more. */
const ADDRESS_ROWS_MAX = 5_000;
/** The most rows of one statement: past it the addresses are asked in two. */
const QUERY_ROWS_MAX = 60_000;

/** The newest transfers of an address, and whether there are more. */
export type HeldRows = { readonly rows: readonly HeldTransfer[]; readonly more: boolean };

const NO_ROWS: HeldRows = { rows: [], more: false };

const SIDE = 'chain, addr, peer, id';
const ADDRESSES = '(SELECT unhex(arrayJoin({addresses:Array(String)})))';

// No condition names chains: the few there are cost less to look through than the column to read.
const FINAL = `sides WHERE addr IN ${ADDRESSES}`;

function bothOf(held: Held, what: string): string {
  const tip = tipOf(held);
  const final = `SELECT ${what} FROM ${FINAL}`;
  return tip === null ? final : `${final} UNION ALL SELECT ${what} FROM ${tip}`;
}

// `detail` holds success in its second byte (1 failed), and block and time in bytes 4 to 15.
// `since` may leave out what is older than some moment before the rows are put together.
function newestSql(held: Held, since: string): string {
  return `SELECT ${packedColumns('best')}
FROM (
  SELECT ${SIDE}, max(detail) AS best FROM (${bothOf(held, `${SIDE}, detail`)}) ${since}
  GROUP BY ${SIDE}
)
WHERE substring(best, 2, 1) != char(1) AND addr != peer
ORDER BY substring(best, 12, 4) DESC, substring(best, 4, 8) DESC, chain, peer, id
LIMIT ${ADDRESS_ROWS_MAX + 1}`;
}

/** The rows of the tip that count; `null` where there are none. */
function tipOf({ followed }: Held): string | null {
  const rows = tipRows(followed);
  return rows === null ? null : `tip_sides WHERE addr IN ${ADDRESSES} AND ${rows}`;
}

/** Few rows from many places: to read the address first, and then the rest, would cost more. */
const IN_ONE_STEP = 'SETTINGS optimize_move_to_prewhere = 0';

/** Reads the newest transfers of each address. */
export async function readRows(
  warehouse: Warehouse,
  held: Held,
  tokens: TokenNames,
  addresses: readonly string[],
  call: Call,
): Promise<Map<string, HeldRows>> {
  const params = { addresses: addresses.map((address) => addressHex(address)) };
  const query = { ...call, params, row: packedRow, tuples: true };
  const sql = `${bothOf(held, packedColumns('detail'))} LIMIT ${QUERY_ROWS_MAX + 1} ${IN_ONE_STEP}`;
  let packed = await warehouse.query(sql, query);
  if (packed.length > QUERY_ROWS_MAX) {
    const half = Math.ceil(addresses.length / 2);
    if (half < addresses.length) {
      const first = await readRows(warehouse, held, tokens, addresses.slice(0, half), call);
      const second = await readRows(warehouse, held, tokens, addresses.slice(half), call);
      return new Map([...first, ...second]);
    }
    packed = await warehouse.query(newestSql(held, ''), query);
  }
  return heldOf(addresses, packed, tokens);
}

/** Who is asked about: listed addresses, and those who may have dealt with them. */
export type Between = { readonly listed: readonly string[]; readonly peers: readonly string[] };

/**
 * Reads the transfers between listed addresses and others, final ones or those of the tip, under
 * the listed ones: those have few, where a hub among the others may have millions.
 */
export async function readBetween(
  warehouse: Warehouse,
  held: Held,
  tokens: TokenNames,
  { listed, peers }: Between,
  where: 'final' | 'tip',
  call: Call,
): Promise<Map<string, HeldRows>> {
  const params = {
    addresses: listed.map((address) => addressHex(address)),
    peers: peers.map((address) => addressHex(address)),
  };
  const query = { ...call, params, row: packedRow, tuples: true };
  const among = 'peer IN (SELECT unhex(arrayJoin({peers:Array(String)})))';
  const table = where === 'final' ? FINAL : tipOf(held);
  if (table === null) return new Map(listed.map((address) => [address, NO_ROWS]));
  const sql = `SELECT ${packedColumns('detail')} FROM ${table} AND ${among}
    LIMIT ${QUERY_ROWS_MAX + 1} ${IN_ONE_STEP}`;
  const packed = await warehouse.query(sql, query);
  const isCut = packed.length > QUERY_ROWS_MAX;
  if (isCut && listed.length > 1) {
    const half = Math.ceil(listed.length / 2);
    const [first, second] = [listed.slice(0, half), listed.slice(half)];
    return new Map([
      ...(await readBetween(warehouse, held, tokens, { listed: first, peers }, where, call)),
      ...(await readBetween(warehouse, held, tokens, { listed: second, peers }, where, call)),
    ]);
  }
  const rows = await heldOf(listed, packed, tokens);
  if (!isCut) return rows;
  return new Map(listed.map((address) => [address, cutRows(rows, address)]));
}

async function heldOf(
  addresses: readonly string[],
  packed: readonly PackedSide[],
  tokens: TokenNames,
): Promise<Map<string, HeldRows>> {
  await tokens.learn(packed);
  const byAddress = new Map<string, Map<string, PackedSide>>();
  for (const row of packed) {
    const known = byAddress.get(row[0]);
    if (known === undefined) byAddress.set(row[0], new Map([[row[3], row]]));
    else addOnce(known, row);
  }
  return new Map(
    addresses.map((address) => {
      const known = byAddress.get(addressHex(address));
      return [address, known === undefined ? NO_ROWS : newest([...known.values()], tokens)];
    }),
  );
}

/**
 * Adds a row; of one that is there already the better known is kept. Identities of different peers
 * or chains are seldom equal, so they are looked for under the identity alone first.
 */
function addOnce(known: Map<string, PackedSide>, row: PackedSide): void {
  const [, chain, peer, id, detail] = row;
  const first = known.get(id);
  const isSame = first === undefined || (first[PEER] === peer && first[1] === chain);
  const key = isSame ? id : `${chain} ${peer} ${id}`;
  const before = isSame ? first : known.get(key);
  if (before === undefined || detail > before[DETAIL]) known.set(key, row);
}

/** The newest of an address's transfers, each of them there once; what failed is none. */
function newest(packed: readonly PackedSide[], tokens: TokenNames): HeldRows {
  const rows: HeldTransfer[] = [];
  for (const row of packed) {
    if (row[0] !== row[PEER] && !isFailed(row)) rows.push(unpacked(row, tokens));
  }
  rows.sort(newestFirst);
  const more = rows.length > ADDRESS_ROWS_MAX;
  return { rows: more ? rows.slice(0, ADDRESS_ROWS_MAX) : rows, more };
}

// In the order of the table, so that it ends as soon as it has enough.
const SOME = `SELECT ${packedColumns('detail')} FROM ${FINAL.replace('sides', 'sides FINAL')}
  AND substring(detail, 2, 1) != char(1) AND addr != peer LIMIT ${ADDRESS_ROWS_MAX}`;

/** Some transfers of an address that has very many, which are not read to find the newest. */
export async function readSome(
  warehouse: Warehouse,
  tokens: TokenNames,
  address: string,
  call: Call,
): Promise<HeldRows> {
  const params = { addresses: [addressHex(address)] };
  const query = { ...call, params, row: packedRow, tuples: true };
  return cutRows(await heldOf([address], await warehouse.query(SOME, query), tokens), address);
}

/** Rows of an address that has very many: there are more, however few of them were told apart. */
function cutRows(rows: ReadonlyMap<string, HeldRows>, address: string): HeldRows {
  const found = rows.get(address);
  return { ...(found === undefined ? NO_ROWS : found), more: true };
}

// Time and block of a side, as bytes in their order.
const MOMENT = 'concat(substring(detail, 12, 4), substring(detail, 4, 8))';
const momentRow = z.tuple([z.string()]);

/**
 * The newest transfers of an address that has very many. First the moment from which on there are
 * enough is looked for, in one column; then what is newer is read.
 */
export async function readNewest(
  warehouse: Warehouse,
  held: Held,
  tokens: TokenNames,
  address: string,
  call: Call,
): Promise<HeldRows> {
  const params = { addresses: [addressHex(address)] };
  const moved = `substring(detail, 2, 1) != char(1) AND addr != peer`;
  const moments = `SELECT hex(${MOMENT}) FROM (${bothOf(held, 'addr, peer, detail')}) WHERE ${moved}
    ORDER BY ${MOMENT} DESC LIMIT 1 OFFSET ${ADDRESS_ROWS_MAX}`;
  const [from] = await warehouse.query(moments, { ...call, params, row: momentRow, tuples: true });
  const since = from === undefined ? '' : `WHERE ${MOMENT} >= unhex('${from[0]}')`;
  const query = { ...call, params, row: packedRow, tuples: true };
  const packed = await warehouse.query(newestSql(held, since), query);
  return cutRows(await heldOf([address], packed, tokens), address);
}

/** What is asked of what an address was paid, and the most rows that are read of it. */
export type PaidBetween = {
  readonly chain: ChainName;
  readonly address: string;
  /** Unix seconds, both of them within. */
  readonly since: number;
  readonly until: number;
  readonly rowsMax: number;
};

// The second byte of `id` is 0 for what came in; the time stands in bytes 12 to 15 of `detail`.
const PAID = `chain = {chain:String} AND addr != peer AND substring(id, 2, 1) = char(0)
  AND substring(best, 2, 1) != char(1)
  AND substring(best, 12, 4) BETWEEN unhex({since:String}) AND unhex({until:String})`;
const TIME_HEX_DIGITS = 8;

/** The oldest of what an address was paid between two moments, and whether there is more. */
export async function readPaid(
  warehouse: Warehouse,
  held: Held,
  { chain, address, since, until, rowsMax }: PaidBetween,
  call: Call,
): Promise<HeldRows> {
  const params = {
    chain,
    addresses: [addressHex(address)],
    since: timeHex(since),
    until: timeHex(until),
  };
  const sql = `SELECT ${packedColumns('best')}
    FROM (SELECT ${SIDE}, max(detail) AS best FROM (${bothOf(held, `${SIDE}, detail`)})
      GROUP BY ${SIDE})
    WHERE ${PAID} ORDER BY ${MOMENT.replaceAll('detail', 'best')}, peer, id LIMIT ${rowsMax + 1}`;
  const packed = await warehouse.query(sql, { ...call, params, row: packedRow, tuples: true });
  const rows = packed.slice(0, rowsMax).map((row) => unpacked(row, NAMELESS));
  return { rows, more: packed.length > rowsMax };
}

function timeHex(time: number): string {
  return time.toString(16).padStart(TIME_HEX_DIGITS, '0');
}

/** Payments are held against their contracts, never against what a token is called. */
const NAMELESS: TokenNames = {
  learn: async () => undefined,
  of: () => ({ symbol: null, decimals: null, has_market: null }),
};

/** How many rows are held of an address, each perhaps more than once, and of made-up ones. */
export type SidesCounted = { readonly sides: number; readonly simulated: number };

const NO_SIDES: SidesCounted = { sides: 0, simulated: 0 };
const whole = z.coerce.number();
const sidesRow = z.tuple([z.string(), whole, whole]);

/** Counts the rows of addresses, final ones or those of the tip that count. */
export async function countSides(
  warehouse: Warehouse,
  of: 'final' | Held,
  addresses: readonly string[],
  call: Call,
): Promise<ReadonlyMap<string, SidesCounted>> {
  const from = of === 'final' ? FINAL : tipOf(of);
  if (from === null) return new Map(addresses.map((address) => [address, NO_SIDES]));
  const params = { addresses: addresses.map((address) => addressHex(address)) };
  const sql = `SELECT lower(hex(addr)), count(), countIf(substring(detail, 1, 1) = char(0))
    FROM ${from} GROUP BY addr ${IN_ONE_STEP}`;
  const rows = await warehouse.query(sql, { ...call, params, row: sidesRow, tuples: true });
  const counted = new Map(
    rows.map(([addr, sides, simulated]) => [addressOf(addr), { sides, simulated }]),
  );
  return new Map(
    addresses.map((address) => {
      const known = counted.get(address);
      return [address, known === undefined ? NO_SIDES : known];
    }),
  );
}

const degreeRow = z.tuple([whole, whole, whole]);

/** Counterparties that are counted of one address; there may be more. */
const DEGREE_COUNTED_MAX = 1_000_000;

/**
 * How many counterparties an address has at least over edges, and whether all of what is held of it
 * is observed.
 */
export async function readDegree(
  warehouse: Warehouse,
  held: Held,
  address: string,
  call: Call,
): Promise<{ readonly degree: number; readonly transfers: number; readonly observed: boolean }> {
  const params = { addresses: [addressHex(address)] };
  const sql = `SELECT countIf(kept > 0), sum(sides), countIf(simulated > 0) FROM (
    SELECT peer, count() AS sides, countIf(${IS_KEPT}) AS kept,
      countIf(substring(detail, 1, 1) = char(0)) AS simulated
    FROM (${bothOf(held, 'chain, addr, peer, id, detail')})
    WHERE addr != peer GROUP BY peer LIMIT ${DEGREE_COUNTED_MAX})`;
  const query = { ...call, params, row: degreeRow, tuples: true };
  const [first] = await warehouse.query(sql, query);
  if (first === undefined) throw new RangeError('a count has one row');
  const [degree, transfers, simulated] = first;
  return { degree, transfers, observed: simulated === 0 };
}
