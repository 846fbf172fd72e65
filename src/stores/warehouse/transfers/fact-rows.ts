// Which rows of the warehouse are these facts?
// Refuses a transfer without a place, and an address or amount that no row could hold.

import { numberEqual, transferIdentity } from '../../../chain/transfer.ts';
import type { ImportOrigin } from '../../../evidence/source.ts';
import type {
  BlockFact,
  HeldCreation,
  TransactionFact,
  TransferFact,
} from '../../../ports/indexing/transfer-store.ts';
import { addressHex, hashHex, textHex } from './bytes.ts';

/** A value of a row: big integers as text, and `null` for columns that take one. */
export type FactCell = string | number | boolean | null | readonly string[];

/** Rows for one table. */
export type FactRows = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly FactCell[])[];
};

/** Who says that a fact is final: its importer, or the chain that is followed. */
export const FINALITY = { imported: 1, followed: 2 } as const;

/** What is said of all facts of one batch. */
export type BlockStanding = {
  readonly origin: ImportOrigin;
  readonly finality: (typeof FINALITY)[keyof typeof FINALITY];
};

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
): FactRows {
  const { finality, origin } = standing;
  const rows = numbered(transfers).map(({ fact, n }) => [
    fact.chain,
    fact.block,
    hashHex(fact.tx_hash),
    placeHex(fact),
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
    observed(origin),
  ]);
  return { columns: TRANSFER_COLUMNS, rows };
}

type Numbered = { readonly fact: TransferFact; readonly n: number };

/**
 * Equal rows at one position are one row. The others are put in the order of their positions, so
 * that their numbers do not hang on the order in which they came.
 */
function numbered(transfers: readonly TransferFact[]): Numbered[] {
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
  distinct.sort((a, b) => compareText(a.at, b.at));
  return numberEqual(distinct, ({ identity }) => identity).map(({ one: { fact }, n }) => {
    return { fact, n };
  });
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function positionText({ position }: TransferFact): string {
  return position === null ? '' : String(position);
}

/** The bytes that stand for a transaction where there is none. */
function placeHex(fact: TransferFact): string {
  if (fact.tx_hash !== null) return '';
  return hashHex(fact.block_hash) + textHex(String(fact.position));
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

/** How success is stored: the better known of two is the greater. */
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

/** How an origin is stored: the better one of two is the greater. */
export function observed(origin: ImportOrigin): number {
  return origin === 'observed' ? 1 : 0;
}

/** The stored origin as it is told. */
export function originOf(stored: number): ImportOrigin {
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
): FactRows {
  const rows = creations.map((fact) => [
    fact.chain,
    fact.block,
    addressHex(short(fact.created)),
    addressHex(short(fact.creator)),
    hashHex(fact.tx_hash),
    addressHex(short(fact.initiator)),
    hashHex(fact.block_hash),
    Math.floor(fact.block_time),
    observed(origin),
  ]);
  if (table === 'tip_creations') return { columns: CREATION_COLUMNS, rows };
  const columns = [...CREATION_COLUMNS, 'finality'];
  return { columns, rows: rows.map((row) => [...row, finality]) };
}

/** Headers as rows. */
export function blockRows(blocks: readonly BlockFact[], { finality }: BlockStanding): FactRows {
  const rows = blocks.map(({ chain, number, hash, parent_hash, time }) => [
    ...[chain, number, hashHex(hash), hashHex(parent_hash), Math.floor(time), finality],
  ]);
  const columns = ['chain', 'number', 'hash_hex', 'parent_hash_hex', 'time', 'finality'];
  return { columns, rows };
}

/** Signers as rows. */
export function transactionRows(transactions: readonly TransactionFact[]): FactRows {
  const rows = transactions.map(({ chain, block, tx_hash, initiator, success }) => [
    ...[chain, block, hashHex(tx_hash), addressHex(short(initiator)), successCode(success)],
  ]);
  return { columns: ['chain', 'block', 'tx_hash_hex', 'initiator_hex', 'success'], rows };
}
