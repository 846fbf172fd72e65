// All of it is made inside the engine from numbers, so that every run has the same.

import { z } from 'zod';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';

/** Transfers of one statement while loading. */
const CHUNK = 500_000;
/** Transfers of one block. */
const BLOCK_TRANSFERS = 200;
const BLOCK_S = 12;
const ADDRESSES_PER_TRANSFER = 0.2;
/** Of a hundred ends of transfers, those that any address may be; the rest fall on few. */
const EVEN_SHARE = 72;
const SKEW = 6;
const CALL = { timeoutMs: 3_600_000 };
const MAX_HASH = '18446744073709551616.';

const TOKENS = 1_000;
/** One of so many token transfers moves nothing, one of so many names no signer. */
const ZERO_OF = 50;
const UNSIGNED_OF = 50;
/** One of so many tokens has no market. */
const WORTHLESS_OF = 7;

/** The parameters of a data set. */
export type Made = { readonly rows: number; readonly now: number };

/** The address of a number; the same for every size of data, so that hubs stay hubs. */
const address = (number: string) => `concat(SHA1(concat('a', toString(${number}))), '')`;

const tokenOf = (number: string) => `concat(SHA1(concat('k', toString(${number}))), '')`;

function party(salt: number, addresses: number): string {
  const u = (n: number) => `(sipHash64(number, ${salt}, ${n}) / ${MAX_HASH})`;
  const any = `sipHash64(number, ${salt}, 1) % 100 < ${EVEN_SHARE}`;
  return `toUInt64(${addresses} * if(${any}, ${u(2)}, pow(${u(3)}, ${SKEW})))`;
}

/** The last block of the data; its time is two minutes ago. */
export function lastBlock({ rows }: Made): number {
  return Math.ceil(rows / BLOCK_TRANSFERS);
}

/** Some transfers as rows of `transfers`: power-law parties, three kinds, a price for most. */
function transfersSql(made: Made, from: number, count: number): string {
  const addresses = Math.ceil(made.rows * ADDRESSES_PER_TRANSFER);
  const first = made.now - 120 - lastBlock(made) * BLOCK_S;
  return `SELECT 'ethereum' AS chain, intDiv(number, ${BLOCK_TRANSFERS}) + 1 AS block,
  concat(SHA256(concat('t', toString(intDiv(number, 2)))), '') AS tx_hash, '' AS place,
  multiIf(sipHash64(number, 9) % 10 < 6, 'token', sipHash64(number, 9) % 10 < 9, 'native',
    'internal') AS kind,
  if(kind = 'token',
    ${tokenOf(`toUInt64(${TOKENS} * pow(sipHash64(number, 10) / ${MAX_HASH}, 3))`)}, '') AS token,
  ${address(party(1, addresses))} AS from_address, ${address(party(2, addresses))} AS to_address,
  if(kind = 'token' AND sipHash64(number, 16) % ${ZERO_OF} = 0, 0,
    toUInt256(sipHash64(number, 11)) * (1 + sipHash64(number, 12) % 1000)) AS raw_amount, 0 AS n,
  toUInt32(${first} + block * ${BLOCK_S}) AS block_time,
  concat(SHA256(concat('b', toString(block))), '') AS block_hash,
  toString(number % 200) AS position,
  multiIf(kind = 'token' AND sipHash64(number, 17) % ${UNSIGNED_OF} = 0, '',
    sipHash64(number, 15) % 4 = 0, ${address(party(3, addresses))}, from_address) AS initiator,
  2 AS success,
  if(sipHash64(number, 13) % 3 = 0, '',
    concat('bench\\n', toString(sipHash64(number, 14) % 100000 / 100))) AS priced,
  1 AS finality, 1 AS observed
FROM numbers(${from}, ${count})`;
}

/** The columns of `transfersSql`, in its order. */
const TRANSFER_COLUMNS = `chain, block, tx_hash, place, kind, token, from_address,
  to_address, raw_amount, n, block_time, block_hash, position, initiator, success, priced,
  finality, observed`;

/** Small blocks, since a row of `sides` is made twice of each: it bounds the memory of a load. */
const LOAD_SETTINGS = `max_block_size = 65536, min_insert_block_size_rows = 250000,
  min_insert_block_size_bytes = 134217728, max_insert_threads = 1`;

/** Loads the transfers, telling how many are there. */
export async function loadTransfers(
  warehouse: Warehouse,
  made: Made,
  onLoaded: (rows: number) => void,
): Promise<void> {
  for (let from = 0; from < made.rows; from += CHUNK) {
    const count = Math.min(CHUNK, made.rows - from);
    const rows = transfersSql(made, from, count);
    const sql = `INSERT INTO transfers (${TRANSFER_COLUMNS}) ${rows} SETTINGS ${LOAD_SETTINGS}`;
    await warehouse.command(sql, CALL);
    onLoaded(from + count);
  }
}

/** Says of each token whether it has a market, as read when the data were made. */
export async function loadTokens(warehouse: Warehouse, { now }: Made): Promise<void> {
  const sql = `INSERT INTO tokens (chain, token, symbol, decimals, has_market, read_at)
    SELECT 'ethereum', ${tokenOf('number')}, 'T', 18, number % ${WORTHLESS_OF} != 0, ${now}
    FROM numbers(${TOKENS})`;
  await warehouse.command(sql, CALL);
}

/** The bytes of the tokens without a market, in hexadecimal. */
export async function worthlessTokens(warehouse: Warehouse): Promise<readonly string[]> {
  const sql = 'SELECT lower(hex(token)) FROM tokens FINAL WHERE has_market = 0';
  const rows = await warehouse.query(sql, { ...CALL, row: startRow, tuples: true });
  return rows.map(([token]) => token);
}

/** A class of starts. `degree` is of transfers, which almost never repeat a pair here. */
type StartClass = 'low' | 'middle' | 'hub';

const DEGREES: Readonly<Record<StartClass, readonly [number, number]>> = {
  low: [3, 12],
  middle: [60, 400],
  hub: [5_001, 100_000_000],
};

const startRow = z.tuple([z.string()]);

/** Distinct addresses of a class, the same in each run. */
export async function startsOf(
  warehouse: Warehouse,
  of: StartClass,
  count: number,
): Promise<readonly string[]> {
  const [least, most] = DEGREES[of];
  // Low ones are sampled, or all addresses would have to be sorted.
  const sample = of === 'low' ? 'AND sipHash64(addr, 7) % 50 = 0' : '';
  const sql = `SELECT concat('0x', lower(hex(addr))) FROM (
      SELECT addr, count() AS sides FROM sides WHERE chain = 'ethereum' ${sample} GROUP BY addr
      HAVING sides BETWEEN ${least} AND ${most}
    ) ORDER BY sipHash64(addr, 8) LIMIT ${count}
    SETTINGS optimize_aggregation_in_order = 1`;
  const rows = await warehouse.query(sql, { ...CALL, row: startRow, tuples: true });
  return rows.map(([start]) => start);
}

/** The busiest addresses that are no hubs and together have so many counterparties. */
export async function busyAddresses(
  warehouse: Warehouse,
  counterparties: number,
): Promise<readonly string[]> {
  const sql = `SELECT concat('0x', lower(hex(addr))) FROM (
      SELECT addr, sum(sides) OVER (ORDER BY sides DESC, addr) - sides AS before FROM (
        SELECT addr, count() AS sides FROM sides WHERE chain = 'ethereum' GROUP BY addr
        HAVING sides BETWEEN 100 AND 100000
      )
    ) WHERE before < ${counterparties} ORDER BY before LIMIT 8000
    SETTINGS optimize_aggregation_in_order = 1`;
  const rows = await warehouse.query(sql, { ...CALL, row: startRow, tuples: true });
  return rows.map(([one]) => one);
}

/** Distinct addresses that stand on the list of the run; none of them is a hub. */
export async function listedAddresses(
  warehouse: Warehouse,
  count: number,
): Promise<readonly string[]> {
  const sql = `SELECT concat('0x', lower(hex(addr))) FROM (
      SELECT addr, count() AS sides FROM sides
      WHERE chain = 'ethereum' AND sipHash64(addr, 5) % 50 = 0 GROUP BY addr
      HAVING sides < 200
    ) ORDER BY sipHash64(addr, 6) LIMIT ${count}
    SETTINGS optimize_aggregation_in_order = 1`;
  const rows = await warehouse.query(sql, { ...CALL, row: startRow, tuples: true });
  return rows.map(([one]) => one);
}
