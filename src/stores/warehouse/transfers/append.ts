// Writes final facts, each once, whichever source comes first. Refuses facts of another fork than
// the held one. All of it may be written again.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { numberEqual, transferIdentity } from '../../../chain/transfer.ts';
import { enlist, slices, textOrEmpty } from '../../../evidence/measure.ts';
import type { ImportOrigin } from '../../../evidence/source.ts';
import type {
  AppendResult,
  BlockFact,
  Facts,
  HeldCreation,
  HeldRange,
  TransactionFact,
  TransferFact,
} from '../../../ports/indexing.ts';
import { type Call, hasRows, type Warehouse } from '../engine/executor.ts';

/** How long one statement that writes may take. */
export const WRITE: Call = { timeoutMs: 300_000 };
/** Blocks in one list of a statement. */
const BLOCKS_LISTED_MAX = 20_000;

/** Rows that are turned into bytes at once. */
const LINES_AT_ONCE = 1_000;

/** Writes rows to a table, nothing where there are none. */
export async function insertRows(
  warehouse: Warehouse,
  table: string,
  { columns, rows }: TableRows,
): Promise<void> {
  if (rows.length === 0) return;
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (const some of slices(rows, LINES_AT_ONCE)) {
      yield Buffer.from(some.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }
  }
  const bytes = lines();
  await warehouse.insert(table, { columns, format: 'JSONCompactEachRow', bytes }, WRITE);
}

/**
 * Writes final facts. Signers are written first, so that transfers of later batches find them. What
 * is followed is written whole or not at all: its blocks count as held.
 */
export async function appendFacts(
  warehouse: Warehouse,
  facts: Facts,
  standing: BlockStanding,
): Promise<AppendResult> {
  const kept = await leaveOtherForks(warehouse, facts, standing);
  const of_another_fork = facts.transfers.length - kept.transfers.length;
  const strangers = facts.blocks.length - kept.blocks.length + of_another_fork;
  if (standing.finality === FINALITY.followed && strangers > 0) {
    return { transfers: 0, creations: 0, of_another_fork: strangers };
  }
  await insertRows(warehouse, 'blocks', blockRows(kept.blocks, standing));
  await insertRows(warehouse, 'transactions', transactionRows(kept.transactions));
  const signed = withSigners(kept.transfers, kept.transactions);
  const rows = transferRows(signed, standing);
  await insertRows(warehouse, 'transfers', rows);
  const creations = creationRows(kept.creations, standing, 'creations');
  await insertRows(warehouse, 'creations', creations);
  await completeSigners(warehouse, kept.transactions, signed);
  return {
    transfers: rows.rows.length,
    creations: kept.creations.length,
    of_another_fork,
  };
}

const heldHash = z.tuple([z.coerce.number(), z.string()]);

/**
 * The facts without those of blocks for which another hash is held, or stands in the batch. A
 * header that was only imported says nothing against a chain that is followed.
 */
async function leaveOtherForks(
  warehouse: Warehouse,
  facts: Facts,
  { finality }: BlockStanding,
): Promise<Facts> {
  const hashes = new Map<string, string>();
  const numbers = new Map<ChainName, Set<number>>();
  for (const { chain, number } of facts.blocks) enlist(numbers, chain, number);
  for (const { chain, block, block_hash } of facts.transfers) {
    if (block_hash !== null) enlist(numbers, chain, block);
  }
  for (const [chain, known] of numbers) {
    for (const list of slices([...known], BLOCKS_LISTED_MAX)) {
      // The surest header comes last, and of equally sure ones always the same.
      const sql = `SELECT number, lower(hex(hash)) FROM blocks
        WHERE chain = '${chain}' AND number IN {numbers:Array(UInt64)}
        GROUP BY number, hash HAVING max(finality) >= ${finality}
        ORDER BY number, max(finality), hash`;
      const query = { ...WRITE, row: heldHash, tuples: true, params: { numbers: list } };
      for (const [number, hash] of await warehouse.query(sql, query)) {
        hashes.set(`${chain} ${number}`, hash);
      }
    }
  }
  for (const { chain, number, hash } of facts.blocks) {
    const key = `${chain} ${number}`;
    if (!hashes.has(key)) hashes.set(key, hashHex(hash));
  }
  const fits = (chain: ChainName, block: number, hash: string | null) => {
    const held = hashes.get(`${chain} ${block}`);
    return held === undefined || hash === null || held === hashHex(hash);
  };
  return {
    transfers: facts.transfers.filter((fact) => fits(fact.chain, fact.block, fact.block_hash)),
    creations: facts.creations.filter((fact) => fits(fact.chain, fact.block, fact.block_hash)),
    blocks: facts.blocks.filter(({ chain, number, hash }) => fits(chain, number, hash)),
    transactions: facts.transactions,
  };
}

/** Transfers that say who signed, as far as their own batch knows. */
function withSigners(
  transfers: readonly TransferFact[],
  transactions: readonly TransactionFact[],
): readonly TransferFact[] {
  if (transactions.length === 0) return transfers;
  const byHash = new Map(transactions.map((one) => [`${one.chain} ${one.tx_hash}`, one]));
  return transfers.map((fact) => {
    const signed = byHash.get(`${fact.chain} ${fact.tx_hash}`);
    if (signed === undefined) return fact;
    const initiator = fact.initiator === null ? signed.initiator : fact.initiator;
    return { ...fact, initiator, success: successBy(fact, signed.success) };
  });
}

/** A transaction that failed moved nothing; one that succeeded says so of its own value only. */
function successBy({ kind, success }: TransferFact, outcome: boolean | null): boolean | null {
  if (success !== null || outcome === null) return success;
  return kind === 'native' || !outcome ? outcome : null;
}

const KEY = `chain, block, tx_hash, place, kind, token, from_address, to_address, raw_amount, n`;

// Rows once more, with what is known of their transactions: they fall together with those held.
const completion = (chain: ChainName, blocks: string) => `
INSERT INTO transfers (${KEY}, block_time, block_hash, position, initiator, success,
  finality, observed)
SELECT ${KEY}, t_time, t_hash, t_position, if(t_initiator = '', signer, t_initiator),
  multiIf(t_success != 0, t_success, outcome = 1, 1, kind = 'native', outcome, 0),
  t_finality, t_observed
FROM (
  SELECT ${KEY}, max(block_time) AS t_time, max(block_hash) AS t_hash, max(position) AS t_position,
    max(initiator) AS t_initiator, max(success) AS t_success,
    max(finality) AS t_finality, max(observed) AS t_observed
  FROM transfers WHERE chain = '${chain}' AND block ${blocks} AND tx_hash != ''
  GROUP BY ${KEY}
) AS t INNER JOIN (
  SELECT tx_hash, max(initiator) AS signer, max(success) AS outcome
  FROM transactions WHERE chain = '${chain}' AND block ${blocks}
  GROUP BY tx_hash
) AS s USING tx_hash
WHERE t_initiator = '' OR (t_success = 0 AND (outcome = 1 OR (outcome = 2 AND kind = 'native')))`;

const LISTED = 'IN {blocks:Array(UInt64)}';

/**
 * Completes all transfers from a block to another one that do not know their signer by those that
 * are held: whatever brought the one and the other, and in whichever order.
 */
export async function completeBlocks(
  warehouse: Warehouse,
  chain: ChainName,
  fromBlock: number,
  toBlock: number,
): Promise<void> {
  const within = `BETWEEN ${fromBlock} AND ${toBlock}`;
  const some = (table: string, which: string) => `SELECT 1 FROM ${table}
    WHERE chain = '${chain}' AND block ${within} ${which} LIMIT 1`;
  const open = "AND tx_hash != '' AND (initiator = '' OR success = 0)";
  for (const sql of [some('transactions', ''), some('transfers', open)]) {
    if (!(await hasRows(warehouse, sql, WRITE))) return;
  }
  await warehouse.command(completion(chain, within), WRITE);
}

/**
 * Completes transfers of earlier batches by the signers of this one, and this one's by those of
 * earlier ones: so that the order of imports leaves no trace.
 */
async function completeSigners(
  warehouse: Warehouse,
  transactions: readonly TransactionFact[],
  transfers: readonly TransferFact[],
): Promise<void> {
  const open = transfers.filter(({ tx_hash, initiator, success }) => {
    return tx_hash !== null && (initiator === null || success === null);
  });
  const blocks = new Map<ChainName, Set<number>>();
  for (const { chain, block } of [...transactions, ...open]) enlist(blocks, chain, block);
  for (const [chain, known] of blocks) {
    const signers = `SELECT 1 FROM transactions WHERE chain = '${chain}' LIMIT 1`;
    if (transactions.length === 0 && !(await hasRows(warehouse, signers, WRITE))) continue;
    for (const list of slices([...known], BLOCKS_LISTED_MAX)) {
      await warehouse.command(completion(chain, LISTED), { ...WRITE, params: { blocks: list } });
    }
  }
}

// Converts facts into rows of the warehouse. Refuses a transfer without a position, and an address
// or amount that no row could hold.

/** A value of a row: big integers as text, and `null` for columns that take one. */
export type FactCell = string | number | boolean | null | readonly string[];

export type TableRows = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly FactCell[])[];
};

/** The origin of finality: the importer, or the followed chain. */
export const FINALITY = { imported: 1, followed: 2 } as const;

/** The standing of all facts of one batch. */
export type BlockStanding = {
  readonly origin: ImportOrigin;
  readonly finality: (typeof FINALITY)[keyof typeof FINALITY];
};

// The stored form of success: the better known of two is the greater.
const SUCCESS_UNKNOWN = 0;
const SUCCESS_FAILED = 1;
const SUCCESS_YES = 2;
const AMOUNT_END = 2n ** 256n;
/** The most bytes of an address, a token or a place: their length is one byte. */
const TEXT_CHARS_MAX = 120;

/** The columns that are written of a transfer, in `transfers` and `tip_transfers` alike. */
const TRANSFER_COLUMNS = [
  ...['chain', 'block', 'tx_hash_hex', 'place_hex', 'kind', 'token_hex', 'from_hex', 'to_hex'],
  ...['raw_amount', 'n', 'block_time', 'block_hash_hex', 'position', 'initiator_hex', 'success'],
  ...['finality', 'observed'],
] as const;

/** Transfers as rows, numbered among the equal ones of their transaction. */
export function transferRows(
  transfers: readonly TransferFact[],
  standing: BlockStanding,
): TableRows {
  const { finality, origin } = standing;
  const rows = numberFacts(transfers).map(({ fact, n }) => [
    fact.chain,
    fact.block,
    hashHex(fact.tx_hash),
    // The bytes that stand for a transaction where there is none.
    fact.tx_hash === null ? hashHex(fact.block_hash) + textHex(String(fact.position)) : '',
    fact.kind,
    addressHex(short(fact.token)),
    addressHex(short(fact.from)),
    addressHex(short(fact.to)),
    amount(fact.raw_amount),
    n,
    Math.floor(fact.block_time),
    hashHex(fact.block_hash),
    positionText(fact),
    addressHex(short(fact.initiator)),
    successCode(fact.success),
    finality,
    observedFlag(origin),
  ]);
  return { columns: TRANSFER_COLUMNS, rows };
}

/**
 * Equal rows at one position are one row. The others are put in the order of their positions, so
 * that their numbers do not hang on the order in which they came.
 */
function numberFacts(transfers: readonly TransferFact[]) {
  const placed = transfers.map((fact) => {
    return { fact, at: positionText(fact), identity: transferIdentity(fact) };
  });
  const seen = new Set<string>();
  const distinct = placed.filter(({ fact, at, identity }) => {
    if (fact.position === null) return true;
    const place = `${at} ${identity}`;
    const isNew = !seen.has(place);
    seen.add(place);
    return isNew;
  });
  distinct.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
  return numberEqual(distinct, ({ identity }) => identity).map(({ one: { fact }, n }) => {
    return { fact, n };
  });
}

function positionText({ position }: TransferFact): string {
  return position === null ? '' : String(position);
}

function amount(raw: bigint): string {
  if (raw < 0n || raw >= AMOUNT_END) throw new RangeError('an amount outside of 256 bits');
  return raw.toString();
}

function short(text: string | null): string | null {
  if (text === '' || (text !== null && text.length > TEXT_CHARS_MAX)) {
    throw new RangeError('an address that is empty or too long');
  }
  return text;
}

function successCode(success: boolean | null): number {
  switch (success) {
    case null:
      return SUCCESS_UNKNOWN;
    case true:
      return SUCCESS_YES;
    case false:
      return SUCCESS_FAILED;
  }
}

/** The stored success as it is told. */
export function successOf(code: number): boolean | null {
  if (code === SUCCESS_UNKNOWN) return null;
  return code === SUCCESS_YES;
}

/** The stored form of an origin: the better one of two is the greater. */
export function observedFlag(origin: ImportOrigin): number {
  return origin === 'observed' ? 1 : 0;
}

/** The stored origin as it is told. */
export function storedOrigin(stored: number): ImportOrigin {
  return stored === 1 ? 'observed' : 'simulated';
}

const CREATION_COLUMNS = [
  ...['chain', 'block', 'created_hex', 'creator_hex', 'tx_hash_hex', 'initiator_hex'],
  ...['block_hash_hex', 'block_time', 'observed'],
] as const;

/** Creations as rows of `tip_creations`, and with `finality` of `creations`. */
export function creationRows(
  creations: readonly HeldCreation[],
  { origin, finality }: BlockStanding,
  table: 'creations' | 'tip_creations',
): TableRows {
  const rows = creations.map((fact) => [
    fact.chain,
    fact.block,
    addressHex(short(fact.created)),
    addressHex(short(fact.creator)),
    hashHex(fact.tx_hash),
    addressHex(short(fact.initiator)),
    hashHex(fact.block_hash),
    Math.floor(fact.block_time),
    observedFlag(origin),
  ]);
  if (table === 'tip_creations') return { columns: CREATION_COLUMNS, rows };
  const columns = [...CREATION_COLUMNS, 'finality'];
  return { columns, rows: rows.map((row) => [...row, finality]) };
}

export function blockRows(blocks: readonly BlockFact[], { finality }: BlockStanding): TableRows {
  const rows = blocks.map(({ chain, number, hash, parent_hash, time }) => [
    ...[chain, number, hashHex(hash), hashHex(parent_hash), Math.floor(time), finality],
  ]);
  const columns = ['chain', 'number', 'hash_hex', 'parent_hash_hex', 'time', 'finality'];
  return { columns, rows };
}

/** The columns of a range that is held in full. */
export const COVERAGE_COLUMNS = [
  ...['chain', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'],
] as const;

/** Ranges that are held in full, as rows. */
export function coverageRows(ranges: readonly HeldRange[]): TableRows {
  const rows = ranges.map(({ chain, kind, from_block, to_block, source, origin, to_time }) => [
    ...[chain, kind, from_block, to_block, source, observedFlag(origin), Math.floor(to_time)],
  ]);
  return { columns: COVERAGE_COLUMNS, rows };
}

export function transactionRows(transactions: readonly TransactionFact[]): TableRows {
  const rows = transactions.map(({ chain, block, tx_hash, initiator, success }) => [
    ...[chain, block, hashHex(tx_hash), addressHex(short(initiator)), successCode(success)],
  ]);
  return { columns: ['chain', 'block', 'tx_hash_hex', 'initiator_hex', 'success'], rows };
}

// Writes and reads addresses and hashes in the warehouse. As bytes for chains that write bytes in
// hexadecimal (EVM), otherwise as text: nothing is decoded that could differ only in letter case.

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const HEX_PREFIX = '0x';
const ADDRESS_DIGITS = 40;
const HASH_DIGITS = 64;

/** The stored bytes of an address or a token in hexadecimal; empty for `null`. */
export function addressHex(address: string | null): string {
  const text = textOrEmpty(address);
  return EVM_ADDRESS.test(text) ? text.slice(HEX_PREFIX.length) : textHex(text);
}

/** The stored bytes of a hash in hexadecimal; empty for `null`. */
export function hashHex(hash: string | null): string {
  const text = textOrEmpty(hash);
  return HASH.test(text) ? text.slice(HEX_PREFIX.length) : textHex(text);
}

/** The bytes of a text in hexadecimal. */
export function textHex(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex');
}

/** The address or token whose stored bytes these are, in lower-case hexadecimal. */
export function addressOf(hex: string): string {
  return hex.length === ADDRESS_DIGITS ? HEX_PREFIX + hex : hexText(hex);
}

/** The hash whose stored bytes these are. */
export function hashOf(hex: string): string {
  return hex.length === HASH_DIGITS ? HEX_PREFIX + hex : hexText(hex);
}

function hexText(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}
