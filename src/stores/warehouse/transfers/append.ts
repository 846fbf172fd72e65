// How are final facts written, each of them once, whichever source comes first?
// Refuses what belongs to another fork than the one held. All of it may be written again.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type {
  AppendResult,
  Facts,
  TransactionFact,
  TransferFact,
} from '../../../ports/indexing/transfer-store.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { hashHex } from './bytes.ts';
import {
  type BlockStanding,
  blockRows,
  creationRows,
  type FactRows,
  FINALITY,
  transactionRows,
  transferRows,
} from './fact-rows.ts';

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
  { columns, rows }: FactRows,
): Promise<void> {
  if (rows.length === 0) return;
  const bytes = linesOf(rows);
  await warehouse.insert(table, { columns, format: 'JSONCompactEachRow', bytes }, WRITE);
}

async function* linesOf(rows: FactRows['rows']): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < rows.length; at += LINES_AT_ONCE) {
    const lines = rows.slice(at, at + LINES_AT_ONCE).map((row) => `${JSON.stringify(row)}\n`);
    yield Buffer.from(lines.join(''));
  }
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
  const kept = await ofHeldFork(warehouse, facts, standing);
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
async function ofHeldFork(
  warehouse: Warehouse,
  facts: Facts,
  { finality }: BlockStanding,
): Promise<Facts> {
  const hashes = new Map<string, string>();
  const numbers = new Map<ChainName, Set<number>>();
  const met = (chain: ChainName, number: number) => {
    const known = numbers.get(chain);
    if (known === undefined) numbers.set(chain, new Set([number]));
    else known.add(number);
  };
  for (const { chain, number } of facts.blocks) met(chain, number);
  for (const { chain, block, block_hash } of facts.transfers) {
    if (block_hash !== null) met(chain, block);
  }
  for (const [chain, known] of numbers) {
    for (const list of slices([...known])) {
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
    const found = await warehouse.query(sql, { ...WRITE, row: one, tuples: true });
    if (found.length === 0) return;
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
  for (const { chain, block } of [...transactions, ...open]) {
    const known = blocks.get(chain);
    if (known === undefined) blocks.set(chain, new Set([block]));
    else known.add(block);
  }
  for (const [chain, known] of blocks) {
    if (transactions.length === 0 && !(await hasSigners(warehouse, chain))) continue;
    for (const list of slices([...known])) {
      await warehouse.command(completion(chain, LISTED), { ...WRITE, params: { blocks: list } });
    }
  }
}

const one = z.tuple([z.coerce.number()]);

async function hasSigners(warehouse: Warehouse, chain: ChainName): Promise<boolean> {
  const sql = `SELECT 1 FROM transactions WHERE chain = '${chain}' LIMIT 1`;
  return (await warehouse.query(sql, { ...WRITE, row: one, tuples: true })).length > 0;
}

function* slices(numbers: readonly number[]): Generator<number[]> {
  for (let at = 0; at < numbers.length; at += BLOCKS_LISTED_MAX) {
    yield numbers.slice(at, at + BLOCKS_LISTED_MAX);
  }
}
