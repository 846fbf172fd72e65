// Which transfers does the warehouse hold of these addresses?
// One statement for all of them, over what is final and over the tip. Rows come packed (`sides` in
// migrations/warehouse says how), perhaps more than once; here each is taken once, newest first.

import { z } from 'zod';
import { CHAIN_NAMES, CHAINS, type ChainName } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { HistoryTransfer } from '../../ports/transfer-history.ts';
import { addressHex, addressOf, hashOf, hexText } from '../transfer-store/bytes.ts';
import { successOf } from '../transfer-store/fact-rows.ts';
import type { Held } from '../transfer-store/held.ts';
import type { Call, Warehouse } from '../warehouse/executor.ts';

/** The most transfers that are read of one address; one that has more is known to have more. */
export const ADDRESS_ROWS_MAX = 5_000;
/** The most rows of one statement: past it the addresses are asked in two. */
const QUERY_ROWS_MAX = 60_000;

/** A transfer as it is held under one of its addresses. */
export type HeldTransfer = {
  readonly peer: string;
  readonly observed: boolean;
  readonly transfer: HistoryTransfer;
};

/** The newest transfers of an address, and whether there are more. */
export type HeldRows = { readonly rows: readonly HeldTransfer[]; readonly more: boolean };

const NO_ROWS: HeldRows = { rows: [], more: false };

const SIDE = 'chain, addr, peer, id';
const ADDRESSES = '(SELECT unhex(arrayJoin({addresses:Array(String)})))';

const PACKED = (detail: string) =>
  `lower(hex(addr)), toUInt8(chain), lower(hex(peer)), lower(hex(id)), lower(hex(${detail}))`;

// No condition names chains: the few there are cost less to look through than the column to read.
const FINAL = `sides WHERE addr IN ${ADDRESSES}`;

function bothOf(held: Held, what: string): string {
  const tip = tipOf(held);
  const final = `SELECT ${what} FROM ${FINAL}`;
  return tip === null ? final : `${final} UNION ALL SELECT ${what} FROM ${tip}`;
}

// `detail` holds success in its second byte (1 failed), and block and time in bytes 4 to 15.
function newestSql(held: Held): string {
  return `SELECT ${PACKED('best')}
FROM (
  SELECT ${SIDE}, max(detail) AS best FROM (${bothOf(held, `${SIDE}, detail`)}) GROUP BY ${SIDE}
)
WHERE substring(best, 2, 1) != char(1) AND addr != peer
ORDER BY substring(best, 12, 4) DESC, substring(best, 4, 8) DESC, chain, peer, id
LIMIT ${ADDRESS_ROWS_MAX + 1}`;
}

/** The rows of the tip, up to the last block that is there; `null` where there is no tip. */
function tipOf({ followed }: Held): string | null {
  const chains = followed.flatMap(({ chain, tip_block }) =>
    tip_block === null ? [] : [`(chain = '${chain}' AND block <= ${tip_block})`],
  );
  if (chains.length === 0) return null;
  return `tip_sides WHERE addr IN ${ADDRESSES} AND (${chains.join(' OR ')})`;
}

/** The rows of some addresses as the warehouse gives them, in the order of the statement. */
type Packed = readonly [string, number, string, string, string];

function packedRow(row: unknown): Packed {
  if (Array.isArray(row)) {
    const [addr, chain, peer, id, detail]: unknown[] = row;
    if (
      typeof addr === 'string' &&
      typeof chain === 'number' &&
      typeof peer === 'string' &&
      typeof id === 'string' &&
      typeof detail === 'string'
    ) {
      return [addr, chain, peer, id, detail];
    }
  }
  throw new TypeError('a row of sides has another shape');
}

/** Reads the newest transfers of each address. */
export async function readRows(
  warehouse: Warehouse,
  held: Held,
  tokens: TokenNames,
  addresses: readonly string[],
  call: Call,
): Promise<Map<string, HeldRows>> {
  const params = { addresses: addresses.map((address) => addressHex(address)) };
  const query = { ...call, params, row: { parse: packedRow }, tuples: true };
  const sql = `${bothOf(held, PACKED('detail'))} LIMIT ${QUERY_ROWS_MAX + 1}`;
  let packed = await warehouse.query(sql, query);
  if (packed.length > QUERY_ROWS_MAX) {
    const half = Math.ceil(addresses.length / 2);
    if (half < addresses.length) {
      const first = await readRows(warehouse, held, tokens, addresses.slice(0, half), call);
      const second = await readRows(warehouse, held, tokens, addresses.slice(half), call);
      return new Map([...first, ...second]);
    }
    packed = await warehouse.query(newestSql(held), query);
  }
  return heldOf(addresses, packed, tokens);
}

async function heldOf(
  addresses: readonly string[],
  packed: readonly Packed[],
  tokens: TokenNames,
): Promise<Map<string, HeldRows>> {
  await tokens.learn(packed.map(([, chain, , id]) => [chainOf(chain), tokenHex(id)] as const));
  const byAddress = new Map<string, Map<string, Packed>>();
  for (const row of packed) {
    const [addr, chain, peer, id, detail] = row;
    const key = `${chain} ${peer} ${id}`;
    const known = byAddress.get(addr);
    if (known === undefined) {
      byAddress.set(addr, new Map([[key, row]]));
      continue;
    }
    const before = known.get(key);
    if (before === undefined || detail > before[DETAIL]) known.set(key, row);
  }
  return new Map(
    addresses.map((address) => {
      const known = byAddress.get(addressHex(address));
      return [address, known === undefined ? NO_ROWS : newest([...known.values()], tokens)];
    }),
  );
}

const DETAIL = 4;

/** The newest of an address's transfers, each of them there once; what failed is none. */
function newest(packed: readonly Packed[], tokens: TokenNames): HeldRows {
  const rows = packed.filter((row) => row[0] !== row[2] && !isFailed(row[DETAIL]));
  rows.sort(newestFirst);
  const more = rows.length > ADDRESS_ROWS_MAX;
  const kept = more ? rows.slice(0, ADDRESS_ROWS_MAX) : rows;
  return { rows: kept.map((row) => unpacked(row, tokens)), more };
}

function isFailed(detail: string): boolean {
  return successOf(byteAt(detail, 1)) === false;
}

function newestFirst(a: Packed, b: Packed): number {
  return (
    compareText(digits(b[DETAIL], TIME_AT, SIGNER_AT), digits(a[DETAIL], TIME_AT, SIGNER_AT)) ||
    compareText(digits(b[DETAIL], BLOCK_AT, TIME_AT), digits(a[DETAIL], BLOCK_AT, TIME_AT)) ||
    a[1] - b[1] ||
    compareText(a[2], b[2]) ||
    compareText(a[3], b[3])
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** What is known of tokens by their chain and bytes. */
export type TokenNames = {
  readonly learn: (tokens: readonly (readonly [ChainName, string])[]) => Promise<void>;
  readonly of: (
    chain: ChainName,
    tokenHex: string,
  ) => Pick<HistoryTransfer, 'symbol' | 'decimals' | 'has_market'>;
};

const CHAIN_CODES = new Map<number, ChainName>(
  CHAIN_NAMES.map((chain, at) => [at + 1, chain] as const),
);
const KINDS: readonly (TransferKind | undefined)[] = [undefined, 'native', 'internal', 'token'];
const KIND_MASK = 7;
const NO_TRANSACTION = 8;
const HASH_DIGITS = 64;

function chainOf(code: number): ChainName {
  const chain = CHAIN_CODES.get(code);
  if (chain === undefined) throw new RangeError('a chain without a name');
  return chain;
}

function byteAt(hex: string, at: number): number {
  return Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
}

/** The digits from one byte to another. */
function digits(hex: string, from: number, until?: number): string {
  return hex.slice(from * 2, until === undefined ? undefined : until * 2);
}

const TX_AT = 3;

function tokenHex(id: string): string {
  const at = TX_AT + byteAt(id, TX_AT - 1);
  return digits(id, at + 1, at + 1 + byteAt(id, at));
}

function unpacked([addr, chainCode, peer, id, detail]: Packed, tokens: TokenNames): HeldTransfer {
  const chain = chainOf(chainCode);
  const flags = byteAt(id, 0);
  const kind = KINDS[flags & KIND_MASK];
  if (kind === undefined) throw new RangeError('a transfer of no kind');
  const isOut = byteAt(id, 1) === 1;
  const tokenAt = TX_AT + byteAt(id, TX_AT - 1);
  const place = digits(id, TX_AT, tokenAt);
  const token = tokenHex(id);
  const amountAt = tokenAt + 1 + token.length / 2 + NUMBER_BYTES;
  const amount = digits(id, amountAt);
  const [self, other] = [addressOf(addr), addressOf(peer)];
  const [from, to] = isOut ? [self, other] : [other, self];
  const known = detailOf(detail, from, to);
  const transfer: HistoryTransfer = {
    chain,
    kind,
    tx: hashOf((flags & NO_TRANSACTION) === 0 ? place : place.slice(0, HASH_DIGITS)),
    block: known.block,
    at: known.at,
    from,
    to,
    token: token === '' ? null : addressOf(token),
    ...(token === '' ? ownCoin(chain) : tokens.of(chain, token)),
    raw_amount: amount === '' ? 0n : BigInt(`0x${amount}`),
    usd: known.usd,
    initiator: known.initiator,
    success: known.success,
  };
  return { peer: other, observed: known.observed, transfer };
}

/** `n`, which tells equal rows apart and is not told. */
const NUMBER_BYTES = 2;

function ownCoin(chain: ChainName): ReturnType<TokenNames['of']> {
  const { symbol, decimals } = CHAINS[chain].native;
  return { symbol, decimals, has_market: null };
}

const BLOCK_AT = 3;
const TIME_AT = 11;
const SIGNER_AT = 15;
const SIGNED_BY_SENDER = 1;
const SIGNED_BY_RECEIVER = 2;
const SIGNED_BY_ANOTHER = 3;

function detailOf(detail: string, from: string, to: string) {
  const signer = byteAt(detail, SIGNER_AT);
  const signerEnd =
    signer === SIGNED_BY_ANOTHER ? SIGNER_AT + 2 + byteAt(detail, SIGNER_AT + 1) : SIGNER_AT + 1;
  return {
    observed: byteAt(detail, 0) === 1,
    success: successOf(byteAt(detail, 1)),
    block: Number.parseInt(digits(detail, BLOCK_AT, TIME_AT), 16),
    at: Number.parseInt(digits(detail, TIME_AT, SIGNER_AT), 16),
    initiator: initiatorOf(signer, digits(detail, SIGNER_AT + 2, signerEnd), from, to),
    usd: usdOf(digits(detail, signerEnd)),
  };
}

function initiatorOf(signer: number, other: string, from: string, to: string): string | null {
  if (signer === SIGNED_BY_SENDER) return from;
  if (signer === SIGNED_BY_RECEIVER) return to;
  return signer === SIGNED_BY_ANOTHER ? addressOf(other) : null;
}

function usdOf(priced: string): string | null {
  if (priced === '') return null;
  const usd = hexText(priced).split('\n')[1];
  return usd === undefined ? null : usd;
}

// In the order of the table, so that it ends as soon as it has enough.
const SOME = `SELECT ${PACKED('detail')} FROM ${FINAL.replace('sides', 'sides FINAL')}
  AND substring(detail, 2, 1) != char(1) AND addr != peer LIMIT ${ADDRESS_ROWS_MAX}`;

/** Some transfers of an address that has very many, which are not read to find the newest. */
export async function readSome(
  warehouse: Warehouse,
  tokens: TokenNames,
  address: string,
  call: Call,
): Promise<HeldRows> {
  const params = { addresses: [addressHex(address)] };
  const query = { ...call, params, row: { parse: packedRow }, tuples: true };
  const rows = await heldOf([address], await warehouse.query(SOME, query), tokens);
  const some = rows.get(address);
  return { ...(some === undefined ? NO_ROWS : some), more: true };
}

const whole = z.coerce.number();
const degreeRow = z.tuple([whole, whole, whole]);

/** Counterparties that are counted of one address; there may be more. */
const DEGREE_COUNTED_MAX = 1_000_000;

/**
 * How many counterparties an address has at least, whatever of it was only failures left out, and
 * whether all of what is held of it is observed.
 */
export async function readDegree(
  warehouse: Warehouse,
  held: Held,
  address: string,
  call: Call,
): Promise<{ readonly degree: number; readonly transfers: number; readonly observed: boolean }> {
  const params = { addresses: [addressHex(address)] };
  const sql = `SELECT countIf(failed = 0), sum(sides), countIf(simulated > 0) FROM (
    SELECT peer, count() AS sides, countIf(substring(detail, 2, 1) = char(1)) AS failed,
      countIf(substring(detail, 1, 1) = char(0)) AS simulated
    FROM (${bothOf(held, 'addr, peer, detail')})
    WHERE addr != peer GROUP BY peer LIMIT ${DEGREE_COUNTED_MAX})`;
  const query = { ...call, params, row: degreeRow, tuples: true };
  const [first] = await warehouse.query(sql, query);
  if (first === undefined) throw new RangeError('a count has one row');
  const [degree, transfers, simulated] = first;
  return { degree, transfers, observed: simulated === 0 };
}
