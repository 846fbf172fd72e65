// What do the rows of one block come to: which are transfers, which are none, which are refused?
// Only what succeeded moves anything. What a file cannot tell is said to be unknown, or refused.

import type { EvmChainName } from '../../chain/chain.ts';
import { collect, heldUnder, tally } from '../../evidence/measure.ts';
import type {
  BlockFact,
  HeldCreation,
  TransactionFact,
  TransferFact,
} from '../../ports/indexing/transfer-store.ts';
import { type Proof, proofOf } from './proof.ts';
import type { LateRefusal, StagedRow } from './scratch.ts';
import { FAILED_CREATE } from './staging-sql.ts';
import { withdrawalsOf } from './withdrawals.ts';

/** What the operator says of the files beside what they hold. */
type Said = { readonly chain: EvmChainName; readonly failed_excluded: boolean };

/** What the rows of a block come to. `proof` says what the rows prove to be whole. */
export type ValidatedBlock = {
  readonly transfers: readonly TransferFact[];
  readonly creations: readonly HeldCreation[];
  readonly blocks: readonly BlockFact[];
  readonly transactions: readonly TransactionFact[];
  readonly refused: readonly LateRefusal[];
  /** Rows that are no transfer, by a stable code. */
  readonly leftOut: ReadonlyMap<string, number>;
  readonly proof: Proof;
};

/** What a chain creates comes from here, as in token logs. */
const NULL_ADDRESS = `0x${'0'.repeat(40)}`;
const HASH = /^0x[0-9a-f]{64}$/;

type Block = {
  readonly chain: EvmChainName;
  readonly block: number;
  readonly block_time: number;
  readonly block_hash: string | null;
  readonly failedExcluded: boolean;
  readonly transfers: TransferFact[];
  readonly creations: HeldCreation[];
  readonly transactions: TransactionFact[];
  readonly refused: LateRefusal[];
  readonly leftOut: Map<string, number>;
};

/** What is known of a block beside its rows. */
type KnownOfBlock = {
  /** Datasets with rows refused before. */
  readonly refusedHere: ReadonlySet<string>;
  /** When it was made by a header held already, for rows that do not tell. */
  readonly time: number | undefined;
};

/** Validates all good rows of one block. */
export function validateBlock(
  rows: readonly StagedRow[],
  said: Said,
  known: KnownOfBlock,
): ValidatedBlock {
  const [first] = rows;
  if (first === undefined) throw new Error('A block of no rows is none.');
  const distinct = withoutRepeats(rows);
  const headers = distinct.filter(({ dataset }) => dataset === 'blocks');
  const [header] = headers;
  const time = header === undefined ? timeOf(rows, known) : header.time;
  const hash = (header === undefined ? rows : headers).find((one) => HASH.test(one.hash));
  const block: Block = {
    chain: said.chain,
    block: first.block,
    block_time: time,
    block_hash: hash === undefined ? null : hash.hash,
    failedExcluded: said.failed_excluded,
    transfers: [],
    creations: [],
    transactions: [],
    refused: [],
    leftOut: new Map<string, number>(),
  };
  const others = distinct.filter(({ dataset }) => dataset !== 'blocks');
  if (time < 0) for (const row of others) refuse(block, row, 'no_time');
  else validateRows(others, header, block);
  const spoilt = new Set([...known.refusedHere, ...block.refused.map(({ dataset }) => dataset)]);
  const { transfers, creations, transactions, refused, leftOut } = block;
  const blocks = headers.slice(0, 1).map((one) => blockFact(one, said.chain));
  const proof = proofOf(distinct, header, said.chain, spoilt);
  return { transfers, creations, blocks, transactions, refused, leftOut, proof };
}

/** Rows of two files that stand at one place are one row. */
function withoutRepeats(rows: readonly StagedRow[]): readonly StagedRow[] {
  const met = new Set<string>();
  return rows.filter((row) => {
    const { dataset, tx, path, trace, from, to, token, amount } = row;
    // Without a place, equal rows of one file may both have happened.
    const placed =
      path !== '' || ['traces', 'transactions', 'blocks', 'contracts'].includes(dataset);
    if (!placed) return true;
    const key = JSON.stringify(
      dataset === 'blocks' ? [dataset] : [dataset, tx, path, trace, from, to, token, amount],
    );
    if (met.has(key)) return false;
    met.add(key);
    return true;
  });
}

/** Whether any row of a block tells when it was made. */
export function hasTime(rows: readonly StagedRow[]): boolean {
  return rows.some(({ time }) => time >= 0);
}

function timeOf(rows: readonly StagedRow[], { time: held }: KnownOfBlock): number {
  if (!hasTime(rows) && held !== undefined) return held;
  return rows.reduce((latest, { time }) => Math.max(latest, time), -1);
}

function blockFact(row: StagedRow, chain: EvmChainName): BlockFact {
  const parent_hash = HASH.test(row.parent) ? row.parent : null;
  return { chain, number: row.block, hash: row.hash, parent_hash, time: row.time };
}

function validateRows(
  rows: readonly StagedRow[],
  header: StagedRow | undefined,
  block: Block,
): void {
  const byTx = new Map<string, StagedRow[]>();
  for (const row of rows.filter(({ tx }) => tx !== '')) collect(byTx, row.tx, row);
  for (const [tx, ofTx] of byTx) validateTransaction(tx, ofTx, block);
  const outside = rows.filter(({ tx }) => tx === '');
  validateRewards(outside, block);
  for (const row of outside.filter(({ dataset }) => dataset === 'contracts')) {
    // Such a file names no creator: its rows repeat what a trace of a creation says.
    const told = block.creations.some(({ created }) => created === row.to);
    if (!told) refuse(block, row, 'no_creator');
  }
  if (header === undefined) return;
  const withdrawals = withdrawalsOf(header.withdrawals);
  if (withdrawals === null) return;
  for (const { index, address, amount } of withdrawals) {
    block.transfers.push(chainMade(block, header.hash, index, address, amount));
  }
}

type Transaction = {
  readonly tx: string;
  readonly initiator: string | null;
  /** What the rows of the transaction itself say of it: `null` where they do not. */
  readonly success: boolean | null;
};

function validateTransaction(tx: string, rows: readonly StagedRow[], block: Block): void {
  const of = (dataset: string) => rows.filter((row) => row.dataset === dataset);
  const [row] = of('transactions');
  const traces = of('traces');
  const root = traces.find(({ path, trace }) => path === '' && isMoving(trace));
  const told = [row, root].find((one) => one !== undefined && one.status !== -1);
  const signer = row === undefined ? root : row;
  const known: Transaction = {
    tx,
    initiator: signer === undefined ? null : signer.from,
    success: told !== undefined ? told.status === 1 : root === undefined ? null : true,
  };
  if (known.initiator !== null) {
    const { initiator, success } = known;
    block.transactions.push({
      chain: block.chain,
      tx_hash: tx,
      block: block.block,
      initiator,
      success,
    });
  }
  for (const one of of('token_transfers')) {
    block.transfers.push(transfer(block, known, one, { kind: 'token', success: true }));
  }
  validateTraces(traces, known, block);
  if (row !== undefined && root === undefined) validateSent(row, known, block);
  validateNative(of('native_transfers'), known, block, row !== undefined || root !== undefined);
  for (const one of of('contracts')) validateContract(one, known, block);
}

function isMoving(trace: string): boolean {
  return trace === 'call' || trace === 'create' || trace === 'suicide';
}

function validateTraces(traces: readonly StagedRow[], known: Transaction, block: Block): void {
  const failed = traces.filter(({ status }) => status === 0).map(({ path }) => path);
  for (const row of traces) {
    const isRoot = row.path === '';
    if (!isMoving(row.trace)) {
      tally(block.leftOut, `trace_${row.trace}`);
      continue;
    }
    const kind = isRoot ? 'native' : 'internal';
    if (failed.some((path) => isWithin(row.path, path)) || known.success === false) {
      tally(block.leftOut, 'failed');
      // It overrules a row of the same transfer that did not know.
      if (isRoot && row.to !== '') {
        block.transfers.push(transfer(block, known, row, { kind, success: false }));
      }
      continue;
    }
    block.transfers.push(transfer(block, known, row, { kind, success: true }));
    if (row.trace === 'create') block.creations.push(creation(block, row, known.initiator));
  }
}

/** Whether a trace is another one, or lies within it. */
function isWithin(path: string, ancestor: string): boolean {
  return ancestor === '' || path === ancestor || path.startsWith(`${ancestor}_`);
}

/** A transaction's own row, where no trace of it is there. */
function validateSent(row: StagedRow, known: Transaction, block: Block): void {
  if (known.success === false) tally(block.leftOut, 'failed');
  if (row.to === '') {
    tally(block.leftOut, 'created_address_not_told');
    return;
  }
  block.transfers.push(transfer(block, known, row, { kind: 'native', success: known.success }));
  if (row.trace === 'create' && known.success === true) {
    block.creations.push(creation(block, row, known.initiator));
  }
}

/**
 * Rows of cryo's native_transfers tell neither the kind of call nor whether it succeeded, and
 * delegated calls repeat their caller's value: only the first of a transaction, which is the
 * transaction itself, can be taken.
 */
function validateNative(
  rows: readonly StagedRow[],
  known: Transaction,
  block: Block,
  isTold: boolean,
): void {
  const inOrder = [...rows].sort((a, b) => Number(a.path) - Number(b.path));
  for (const [at, row] of inOrder.entries()) {
    if (row.to === FAILED_CREATE) tally(block.leftOut, 'failed');
    else if (at === 0 && isTold) tally(block.leftOut, 'told_by_transaction');
    else if (at === 0) {
      const success = block.failedExcluded ? true : known.success;
      block.transfers.push(
        transfer(block, known, { ...row, path: '' }, { kind: 'native', success }),
      );
    } else if (row.amount === '0') tally(block.leftOut, 'zero_value_call');
    else refuse(block, row, 'call_kind_unknown');
  }
}

function validateContract(row: StagedRow, known: Transaction, block: Block): void {
  if (row.to === FAILED_CREATE || known.success === false) {
    tally(block.leftOut, 'failed');
    return;
  }
  if (block.creations.some(({ created }) => created === row.to)) return;
  // A create within a call that failed has its row too; only the transaction's own is certain.
  const own = row.from === row.initiator && known.success === true;
  if (own || block.failedExcluded) block.creations.push(creation(block, row, row.initiator));
  else refuse(block, row, 'success_unknown');
}

/** Block rewards belong to no transaction: their block's hash and their index stand for it. */
function validateRewards(rows: readonly StagedRow[], block: Block): void {
  const isReward = ({ dataset, trace }: StagedRow) =>
    trace === 'reward' || dataset === 'native_transfers';
  for (const row of rows) {
    if (row.dataset === 'traces' && row.trace !== 'reward') {
      tally(block.leftOut, `trace_${row.trace}`);
    }
  }
  const rewards = rows.filter(isReward);
  const numbered = rewards.every(({ dataset, path }) => dataset === 'traces' && path !== '');
  for (const [at, row] of rewards.entries()) {
    if (block.block_hash === null) refuse(block, row, 'no_block_hash');
    else {
      const index = numbered ? row.path : String(at);
      const amount = BigInt(row.amount);
      block.transfers.push(chainMade(block, block.block_hash, index, row.to, amount));
    }
  }
}

function chainMade(
  { chain, block, block_time }: Block,
  block_hash: string,
  position: string,
  to: string,
  raw_amount: bigint,
): TransferFact {
  const place = { tx_hash: null, block_hash, position, chain, block, block_time } as const;
  const moved = { kind: 'internal', token: null, from: NULL_ADDRESS, to, raw_amount } as const;
  return { ...place, ...moved, success: true, initiator: null };
}

function transfer(
  { chain, block, block_time, block_hash }: Block,
  known: Transaction,
  row: StagedRow,
  how: { readonly kind: TransferFact['kind']; readonly success: boolean | null },
): TransferFact {
  return {
    chain,
    block,
    block_time,
    block_hash,
    tx_hash: known.tx,
    position: row.path === '' || how.kind === 'native' ? null : row.path,
    kind: how.kind,
    token: how.kind === 'token' ? row.token : null,
    from: row.from,
    to: row.to,
    raw_amount: BigInt(row.amount),
    success: how.success,
    initiator: known.initiator,
  };
}

function creation(
  { chain, block, block_time, block_hash }: Block,
  row: StagedRow,
  initiator: string | null,
): HeldCreation {
  const place = { chain, block, block_hash, block_time } as const;
  return { ...place, created: row.to, creator: row.from, initiator, tx_hash: row.tx };
}

function refuse(block: Block, row: StagedRow, reason: string): void {
  const { dataset, tx, file, line } = row;
  block.refused.push({ dataset, block: row.block, tx, file, line, reason });
}

/** The rows of each block, in the order in which blocks are met. */
export function byBlock(rows: readonly StagedRow[]): ReadonlyMap<number, readonly StagedRow[]> {
  const blocks = new Map<number, StagedRow[]>();
  for (const row of rows) collect(blocks, row.block, row);
  return new Map([...blocks.keys()].map((block) => [block, heldUnder(blocks, block)]));
}
