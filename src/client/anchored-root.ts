// Reads an anchored root through a node that the caller names: from the receipt of the anchoring
// transaction, in a block that the chain has and holds for final.

import * as Hash from 'ox/Hash';
import * as Hex from 'ox/Hex';
import { fieldOf } from '../contract/saved-file.ts';

/** Asks a node by JSON-RPC, and gives the `result`. It rejects where the node does not answer. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** The root that a final transaction anchored, or why there is none. */
export type ReadAnchor =
  | {
      readonly kind: 'anchored';
      readonly size: number;
      readonly root: Uint8Array;
      readonly block: number;
      /** The contract that told of it, in lower case. Whose it is, nothing here tells. */
      readonly contract: string;
    }
  /** The chain was read, and does not hold it. */
  | { readonly kind: 'absent'; readonly says: string }
  /** The chain was not read, or has not decided yet. */
  | { readonly kind: 'unread'; readonly says: string };

const ANCHORED = Hash.keccak256(Hex.fromString('Anchored(uint64,bytes32)'));
const QUANTITY = /^0x[0-9a-f]{1,13}$/;
const WORD = /^0x[0-9a-f]{64}$/;
const TRANSACTION = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** A node may have dropped it, and may also keep none that is so old. */
const UNKNOWN =
  'The node knows no such transaction: it was dropped, or is older than what it keeps.';

class NodeSilent extends Error {}

/** Reads what a transaction anchored. */
export async function readAnchor(
  ask: AskNode,
  { tx, chain_id }: { readonly tx: string; readonly chain_id: number },
): Promise<ReadAnchor> {
  if (!TRANSACTION.test(tx)) return { kind: 'absent', says: 'anchor_tx names no transaction.' };
  try {
    const id = quantityIn(await callNode(ask, 'eth_chainId', []), 'the chain');
    if (id !== chain_id) {
      return { kind: 'unread', says: `The node is of chain ${id}, and not of ${chain_id}.` };
    }
    const receipt = await callNode(ask, 'eth_getTransactionReceipt', [tx]);
    if (receipt === null) return { kind: 'unread', says: UNKNOWN };
    const block = quantityIn(fieldOf(receipt, 'blockNumber'), 'the block of the receipt');
    const final = await callNode(ask, 'eth_getBlockByNumber', ['finalized', false]);
    const finalised = quantityIn(fieldOf(final, 'number'), 'the finalised block');
    if (block > finalised) {
      return { kind: 'unread', says: `Block ${block} is not final: the chain is at ${finalised}.` };
    }
    const at = await callNode(ask, 'eth_getBlockByNumber', [`0x${block.toString(16)}`, false]);
    if (fieldOf(at, 'hash') !== fieldOf(receipt, 'blockHash')) {
      return { kind: 'unread', says: 'The node tells two blocks of one number.' };
    }
    return rootIn(receipt, { block, chain_id });
  } catch (fault) {
    if (!(fault instanceof NodeSilent)) throw fault;
    return { kind: 'unread', says: `The chain was not read: ${fault.message}.` };
  }
}

async function callNode(
  ask: AskNode,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  try {
    return await ask(method, params);
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : 'it failed';
    throw new NodeSilent(`${method}: ${reason}`, { cause: fault });
  }
}

function quantityIn(value: unknown, what: string): number {
  if (typeof value === 'string' && QUANTITY.test(value)) return Number(value);
  throw new NodeSilent(`the node tells no number of ${what}`);
}

function rootIn(
  receipt: unknown,
  { block, chain_id }: { readonly block: number; readonly chain_id: number },
): ReadAnchor {
  if (fieldOf(receipt, 'status') !== '0x1') {
    return { kind: 'absent', says: `The transaction failed on chain ${chain_id}.` };
  }
  const logs = fieldOf(receipt, 'logs');
  for (const log of Array.isArray(logs) ? logs : []) {
    const topics = fieldOf(log, 'topics');
    const [topic, indexed] = Array.isArray(topics) ? topics : [];
    const data = fieldOf(log, 'data');
    if (topic !== ANCHORED || typeof indexed !== 'string' || !WORD.test(indexed)) continue;
    if (typeof data !== 'string' || !WORD.test(data)) continue;
    const size = Number(BigInt(indexed));
    if (!Number.isSafeInteger(size)) continue;
    const address = fieldOf(log, 'address');
    const contract = typeof address === 'string' ? address.toLowerCase() : '';
    if (!ADDRESS.test(contract)) throw new NodeSilent('the node tells no contract of the event');
    return { kind: 'anchored', size, root: Hex.toBytes(data as Hex.Hex), block, contract };
  }
  return { kind: 'absent', says: `The transaction anchored no root on chain ${chain_id}.` };
}
