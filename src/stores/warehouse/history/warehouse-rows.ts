// Reads the transfers of some addresses from the warehouse, and combines reads that run at once
// into one statement, over final rows and the tip. Rows come packed (`sides` in
// migrations/warehouse defines the packing, `../transfers/append.ts` writes it), perhaps more than
// once; here each is taken once, newest first.

import { z } from 'zod';
import { CHAIN_NAMES, CHAINS, type ChainName } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import { enlist } from '../../../evidence/measure.ts';
import type { HistoryTransfer } from '../../../ports/history.ts';
import { type Call, queryRow, type Warehouse } from '../engine/executor.ts';
import { addressHex, addressOf, hashOf, successOf } from '../transfers/append.ts';
import { IS_KEPT } from '../transfers/counts.ts';
import { type HeldBlocksOf, tipRows } from '../transfers/held.ts';

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

function bothOf(held: HeldBlocksOf, what: string): string {
  const tip = tipOf(held);
  const final = `SELECT ${what} FROM ${FINAL}`;
  return tip === null ? final : `${final} UNION ALL SELECT ${what} FROM ${tip}`;
}

// `detail` holds success in its second byte (1 failed), and block and time in bytes 4 to 15.
// `since` may leave out what is older than some moment before the rows are put together.
function newestSql(held: HeldBlocksOf, since: string): string {
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
function tipOf({ followed }: HeldBlocksOf): string | null {
  const rows = tipRows(followed);
  return rows === null ? null : `tip_sides WHERE addr IN ${ADDRESSES} AND ${rows}`;
}

function queryOf(addresses: readonly string[], call: Call) {
  return { ...call, params: paramsOf(addresses), row: packedRow, tuples: true } as const;
}

function paramsOf(addresses: readonly string[]) {
  return { addresses: addresses.map(addressHex) };
}

/** Few rows from many places: to read the address first, and then the rest, would cost more. */
const IN_ONE_STEP = 'SETTINGS optimize_move_to_prewhere = 0';

/** Reads the newest transfers of each address. */
export async function readRows(
  warehouse: Warehouse,
  held: HeldBlocksOf,
  tokens: TokenNames,
  addresses: readonly string[],
  call: Call,
): Promise<Map<string, HeldRows>> {
  const query = queryOf(addresses, call);
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
  return rowsByAddress(addresses, packed, tokens);
}

/** The addresses of a query: listed ones, and those that may have dealt with them. */
export type Between = { readonly listed: readonly string[]; readonly peers: readonly string[] };

/**
 * Reads the transfers between listed addresses and others, final ones or those of the tip, under
 * the listed ones: those have few, where a hub among the others may have millions.
 */
export async function readBetween(
  warehouse: Warehouse,
  held: HeldBlocksOf,
  tokens: TokenNames,
  { listed, peers }: Between,
  where: 'final' | 'tip',
  call: Call,
): Promise<Map<string, HeldRows>> {
  const query = queryOf(listed, call);
  const params = { ...query.params, peers: paramsOf(peers).addresses };
  const among = 'peer IN (SELECT unhex(arrayJoin({peers:Array(String)})))';
  const table = where === 'final' ? FINAL : tipOf(held);
  if (table === null) return new Map(listed.map((address) => [address, NO_ROWS]));
  const sql = `SELECT ${packedColumns('detail')} FROM ${table} AND ${among}
    LIMIT ${QUERY_ROWS_MAX + 1} ${IN_ONE_STEP}`;
  const packed = await warehouse.query(sql, { ...query, params });
  const isCut = packed.length > QUERY_ROWS_MAX;
  if (isCut && listed.length > 1) {
    const half = Math.ceil(listed.length / 2);
    const [first, second] = [listed.slice(0, half), listed.slice(half)];
    return new Map([
      ...(await readBetween(warehouse, held, tokens, { listed: first, peers }, where, call)),
      ...(await readBetween(warehouse, held, tokens, { listed: second, peers }, where, call)),
    ]);
  }
  const rows = await rowsByAddress(listed, packed, tokens);
  if (!isCut) return rows;
  return new Map(listed.map((address) => [address, cutRows(rows, address)]));
}

async function rowsByAddress(
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
    if (row[0] !== row[PEER] && !isFailed(row)) rows.push(unpack(row, tokens));
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
  const packed = await warehouse.query(SOME, queryOf([address], call));
  return cutRows(await rowsByAddress([address], packed, tokens), address);
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
  held: HeldBlocksOf,
  tokens: TokenNames,
  address: string,
  call: Call,
): Promise<HeldRows> {
  const query = queryOf([address], call);
  const moved = `substring(detail, 2, 1) != char(1) AND addr != peer`;
  const moments = `SELECT hex(${MOMENT}) FROM (${bothOf(held, 'addr, peer, detail')}) WHERE ${moved}
    ORDER BY ${MOMENT} DESC LIMIT 1 OFFSET ${ADDRESS_ROWS_MAX}`;
  const [from] = await warehouse.query(moments, { ...query, row: momentRow });
  const since = from === undefined ? '' : `WHERE ${MOMENT} >= unhex('${from[0]}')`;
  const packed = await warehouse.query(newestSql(held, since), query);
  return cutRows(await rowsByAddress([address], packed, tokens), address);
}

/** The query of payments to an address, and the maximum number of rows. */
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
  held: HeldBlocksOf,
  { chain, address, since, until, rowsMax }: PaidBetween,
  call: Call,
): Promise<HeldRows> {
  const query = queryOf([address], call);
  const params = { ...query.params, chain, since: timeHex(since), until: timeHex(until) };
  const sql = `SELECT ${packedColumns('best')}
    FROM (SELECT ${SIDE}, max(detail) AS best FROM (${bothOf(held, `${SIDE}, detail`)})
      GROUP BY ${SIDE})
    WHERE ${PAID} ORDER BY ${MOMENT.replaceAll('detail', 'best')}, peer, id LIMIT ${rowsMax + 1}`;
  const packed = await warehouse.query(sql, { ...query, params });
  const rows = packed.slice(0, rowsMax).map((row) => unpack(row, NAMELESS));
  return { rows, more: packed.length > rowsMax };
}

function timeHex(time: number): string {
  return time.toString(16).padStart(TIME_HEX_DIGITS, '0');
}

/** Payments are held against their contracts, never against what a token is called. */
const NAMELESS: TokenNames = { learn: async () => undefined, of: () => UNKNOWN_TOKEN };

/** How many rows are held of an address, each perhaps more than once, and of made-up ones. */
export type SidesCounted = { readonly sides: number; readonly simulated: number };

const NO_SIDES: SidesCounted = { sides: 0, simulated: 0 };
const whole = z.coerce.number();
const sidesRow = z.tuple([z.string(), whole, whole]);

/** Counts the rows of addresses, final ones or those of the tip that count. */
export async function countSides(
  warehouse: Warehouse,
  of: 'final' | HeldBlocksOf,
  addresses: readonly string[],
  call: Call,
): Promise<ReadonlyMap<string, SidesCounted>> {
  const from = of === 'final' ? FINAL : tipOf(of);
  if (from === null) return new Map(addresses.map((address) => [address, NO_SIDES]));
  const params = paramsOf(addresses);
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
  held: HeldBlocksOf,
  address: string,
  call: Call,
): Promise<{ readonly degree: number; readonly transfers: number; readonly observed: boolean }> {
  const params = paramsOf([address]);
  const sql = `SELECT countIf(kept > 0), sum(sides), countIf(simulated > 0) FROM (
    SELECT peer, count() AS sides, countIf(${IS_KEPT}) AS kept,
      countIf(substring(detail, 1, 1) = char(0)) AS simulated
    FROM (${bothOf(held, 'chain, addr, peer, id, detail')})
    WHERE addr != peer GROUP BY peer LIMIT ${DEGREE_COUNTED_MAX})`;
  const query = { ...call, params, row: degreeRow };
  const [degree, transfers, simulated] = await queryRow(warehouse, sql, query);
  return { degree, transfers, observed: simulated === 0 };
}

// Combines reads that run at the same time into one, so that each costs a part of a query. A query
// costs milliseconds whatever it returns. An aborted caller is released at once; a read without
// callers is not sent, or is stopped.

/** Loads some keys at once; it answers each, and stops when its signal says so. */
export type Load<V> = (
  keys: readonly string[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, V>>;

type CoalesceLimits = {
  /** How long the first of some reads waits for others, in milliseconds. */
  readonly waitMs: number;
  /** The most keys of one load. */
  readonly keysMax: number;
  /** From how many keys on a load is divided among those that could run beside it. */
  readonly divideFrom: number;
  /** Loads at once; what comes meanwhile goes together into the next. */
  readonly loadsMax: number;
};

type LoadRequest<V> = {
  readonly open: Set<string>;
  readonly got: Map<string, V>;
  readonly resolve: (got: ReadonlyMap<string, V>) => void;
  readonly reject: (fault: unknown) => void;
};

/** The same loading, coalesced. It rejects with the load's error, or with the signal's reason. */
export function coalesce<V>(load: Load<V>, limits: CoalesceLimits): Load<V> {
  const coalescer = new Coalescer(load, limits);
  return (keys, signal) => coalescer.ask(keys, signal);
}

class Coalescer<V> {
  readonly #load: Load<V>;
  readonly #limits: CoalesceLimits;
  /** The callers of each key that is not being loaded yet, first come first served. */
  readonly #queue = new Map<string, Set<LoadRequest<V>>>();
  readonly #running = new Set<(asked: LoadRequest<V>) => void>();
  #loads = 0;
  #timer: NodeJS.Timeout | undefined;
  #soon = false;

  constructor(load: Load<V>, limits: CoalesceLimits) {
    this.#load = load;
    this.#limits = limits;
  }

  ask(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, V>> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (keys.length === 0) return Promise.resolve(new Map<string, V>());
    return new Promise((resolve, reject) => {
      const leave = () => asked.reject(signal.reason);
      const end = () => {
        signal.removeEventListener('abort', leave);
        this.#drop(asked);
      };
      const asked: LoadRequest<V> = {
        open: new Set(keys),
        got: new Map(),
        resolve: (got) => {
          end();
          resolve(got);
        },
        reject: (fault) => {
          end();
          reject(fault);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      for (const key of asked.open) enlist(this.#queue, key, asked);
      this.#schedule();
    });
  }

  /** Takes a read out of the queue, and stops the loads for which nobody waits any more. */
  #drop(asked: LoadRequest<V>): void {
    for (const key of asked.open) {
      const waiting = this.#queue.get(key);
      if (waiting?.delete(asked) === true && waiting.size === 0) this.#queue.delete(key);
    }
    for (const stop of this.#running) stop(asked);
  }

  #schedule(): void {
    if (this.#loads >= this.#limits.loadsMax || this.#queue.size === 0) return;
    if (this.#queue.size >= this.#limits.keysMax) this.#start();
    else if (this.#timer === undefined && this.#loads > 0) {
      this.#timer = setTimeout(() => this.#start(), this.#limits.waitMs);
    } else if (this.#timer === undefined && !this.#soon) {
      // Where nothing is loaded, nobody else may come: only this turn of the loop is waited for.
      this.#soon = true;
      setImmediate(() => {
        this.#soon = false;
        this.#start();
      });
    }
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#loads >= this.#limits.loadsMax || this.#queue.size === 0) return;
    const { loadsMax, keysMax, divideFrom } = this.#limits;
    const share = Math.ceil(this.#queue.size / (loadsMax - this.#loads));
    const size = Math.min(keysMax, Math.max(divideFrom, share));
    const taken = new Map([...this.#queue].slice(0, size));
    for (const key of taken.keys()) this.#queue.delete(key);
    const waiting = new Set([...taken.values()].flatMap((each) => [...each]));
    const stop = new AbortController();
    const leave = (asked: LoadRequest<V>) => {
      if (waiting.delete(asked) && waiting.size === 0) stop.abort();
    };
    this.#running.add(leave);
    this.#loads += 1;
    const end = () => {
      this.#running.delete(leave);
      this.#loads -= 1;
      this.#start();
    };
    this.#load([...taken.keys()], stop.signal).then(
      (got) => {
        end();
        for (const [key, waiting] of taken) {
          const value = got.get(key);
          for (const asked of waiting) {
            if (value === undefined) asked.reject(new RangeError('a key was not loaded'));
            else if (asked.open.delete(key)) asked.got.set(key, value);
            if (asked.open.size === 0) asked.resolve(asked.got);
          }
        }
      },
      (fault: unknown) => {
        end();
        for (const asked of [...waiting]) asked.reject(fault);
      },
    );
    // The remaining keys are not new: they have waited.
    this.#start();
  }
}

// Decodes a packed row of `sides` into a transfer. The table's migration defines the packing; this
// is the only reader. Rows come by the ten thousand, so it reads by position and makes few strings.

/** A row: address, chain's number, peer, identity and detail, bytes in lower-case hexadecimal. */
export type PackedSide = readonly [string, number, string, string, string];

/** The places in a row. */
export const PEER = 2;
export const DETAIL = 4;

/** The columns of a packed row, with the expression that gives its detail. */
export function packedColumns(detail: string): string {
  const lowerHex = (column: string) => `lower(hex(${column}))`;
  return [lowerHex('addr'), 'toUInt8(chain)', ...['peer', 'id', detail].map(lowerHex)].join(', ');
}

/** Reads a row of those columns. */
export const packedRow = {
  parse(row: unknown): PackedSide {
    if (isPacked(row)) return row;
    throw new TypeError('a row of sides has another shape');
  },
};

function isPacked(row: unknown): row is PackedSide {
  if (!Array.isArray(row) || row.length !== 5) return false;
  const [addr, chain, peer, id, detail]: unknown[] = row;
  return (
    typeof addr === 'string' &&
    typeof chain === 'number' &&
    typeof peer === 'string' &&
    typeof id === 'string' &&
    typeof detail === 'string'
  );
}

/** The facts of tokens by their chain and bytes. */
export type TokenNames = {
  readonly learn: (rows: readonly PackedSide[]) => Promise<void>;
  readonly of: (
    chain: ChainName,
    tokenHex: string,
  ) => Pick<HistoryTransfer, 'symbol' | 'decimals' | 'has_market'>;
};

export const UNKNOWN_TOKEN = { symbol: null, decimals: null, has_market: null } as const;

/** A transfer as it is held under one of its addresses. */
export type HeldTransfer = {
  readonly peer: string;
  readonly observed: boolean;
  readonly transfer: HistoryTransfer;
  /** The identity beside chain and addresses: bytes in hexadecimal. */
  readonly id: string;
};

// Positions in hexadecimal digits, two to a byte.
const BYTE = 2;
const OUT_AT = 2;
const TX_LENGTH_AT = 4;
const TX_AT = 6;
const N_DIGITS = 4;
const SUCCESS_AT = 2;
const BLOCK_AT = 6;
const TIME_AT = 22;
const SIGNER_AT = 30;
const AFTER_SIGNER = 32;
const HASH_DIGITS = 64;

const KINDS: readonly (TransferKind | undefined)[] = [
  ...[undefined, 'native', 'internal', 'token', 'nft'],
] as const;
const KIND_MASK = 7;
const NO_TRANSACTION = 8;
const SIGNED_BY_SENDER = 1;
const SIGNED_BY_RECEIVER = 2;
const SIGNED_BY_ANOTHER = 3;

const CODE_0 = 48;
const CODE_9 = 57;
const CODE_A_LESS_10 = 87;
const NIBBLE = 16;

function nibbleAt(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code <= CODE_9 ? code - CODE_0 : code - CODE_A_LESS_10;
}

function byteAt(hex: string, at: number): number {
  return nibbleAt(hex, at) * NIBBLE + nibbleAt(hex, at + 1);
}

function numberAt(hex: string, from: number, until: number): number {
  let value = 0;
  for (let at = from; at < until; at += 1) value = value * NIBBLE + nibbleAt(hex, at);
  return value;
}

const CHAIN_CODES: readonly (ChainName | undefined)[] = [undefined, ...CHAIN_NAMES];

export function chainOf([, code]: PackedSide): ChainName {
  const chain = CHAIN_CODES[code];
  if (chain === undefined) throw new RangeError('a chain without a name');
  return chain;
}

/** The bytes of a row's token, empty for the chain's own coin. */
export function tokenOf(row: PackedSide): string {
  const id = row[3];
  const at = TX_AT + byteAt(id, TX_LENGTH_AT) * BYTE;
  return id.slice(at + BYTE, at + BYTE + byteAt(id, at) * BYTE);
}

/** Whether a row is of a transfer that failed, which is none. */
export function isFailed(row: PackedSide): boolean {
  return successOf(byteAt(row[DETAIL], SUCCESS_AT)) === false;
}

/** Puts the newest first; equally new ones are put in the order of what they are. */
export function newestFirst(a: HeldTransfer, b: HeldTransfer): number {
  const [x, y] = [a.transfer, b.transfer];
  return (
    y.at - x.at ||
    y.block - x.block ||
    compareText(x.chain, y.chain) ||
    compareText(a.peer, b.peer) ||
    compareText(a.id, b.id)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The transfer of a row. */
export function unpack(row: PackedSide, tokens: TokenNames): HeldTransfer {
  const [addr, , peer, id, detail] = row;
  const chain = chainOf(row);
  const flags = byteAt(id, 0);
  const kind = KINDS[flags & KIND_MASK];
  if (kind === undefined) throw new RangeError('a transfer of no kind');
  const txEnd = TX_AT + byteAt(id, TX_LENGTH_AT) * BYTE;
  const token = tokenOf(row);
  const amount = id.slice(txEnd + BYTE + token.length + N_DIGITS);
  const stored = amount === '' ? 0n : BigInt(`0x${amount}`);
  const [self, other] = [addressOf(addr), addressOf(peer)];
  const isOut = byteAt(id, OUT_AT) === 1;
  const [from, to] = isOut ? [self, other] : [other, self];
  const named = (flags & NO_TRANSACTION) === 0 ? txEnd : TX_AT + HASH_DIGITS;
  const { symbol, decimals, has_market } =
    token === '' ? { ...CHAINS[chain].native, has_market: null } : tokens.of(chain, token);
  const signer = byteAt(detail, SIGNER_AT);
  const signerEnd =
    signer === SIGNED_BY_ANOTHER
      ? AFTER_SIGNER + BYTE + byteAt(detail, AFTER_SIGNER) * BYTE
      : AFTER_SIGNER;
  const transfer: HistoryTransfer = {
    chain,
    kind,
    tx: hashOf(id.slice(TX_AT, named)),
    block: numberAt(detail, BLOCK_AT, TIME_AT),
    at: numberAt(detail, TIME_AT, SIGNER_AT),
    from,
    to,
    token: token === '' ? null : addressOf(token),
    symbol,
    decimals,
    has_market,
    ...(kind === 'nft' ? { raw_amount: 0n, token_id: stored } : { raw_amount: stored }),
    usd: null,
    initiator: initiatorOf(signer, from, to, detail, signerEnd),
    success: successOf(byteAt(detail, SUCCESS_AT)),
  };
  return { peer: other, observed: byteAt(detail, 0) === 1, transfer, id };
}

function initiatorOf(
  signer: number,
  from: string,
  to: string,
  detail: string,
  end: number,
): string | null {
  if (signer === SIGNED_BY_SENDER) return from;
  if (signer === SIGNED_BY_RECEIVER) return to;
  return signer === SIGNED_BY_ANOTHER ? addressOf(detail.slice(AFTER_SIGNER + BYTE, end)) : null;
}
