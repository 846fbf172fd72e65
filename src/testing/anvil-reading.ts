// Read apart from the adapter and by other methods (each transaction by itself, its receipt and its
// call trace), so that the two agree only where both are right.

import { z } from 'zod';
import { type Anvil, CALL_FRAME, type CallFrame } from './anvil.ts';

/** Rows of text, in no particular order. */
type AnvilReading = { readonly transfers: string[]; readonly creations: string[] };

const BLOCK = z.object({
  hash: z.string(),
  transactions: z.array(
    z.object({
      hash: z.string(),
      from: z.string(),
      to: z.string().nullable(),
      value: z.string(),
    }),
  ),
});
const RECEIPT = z.object({
  status: z.string(),
  contractAddress: z.string().nullable(),
  logs: z.array(z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() })),
});
const SIGNATURE = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const MOVING = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];

/** One transfer as a row. */
export function transferRow(row: {
  readonly block_hash: string | null;
  readonly tx_hash: string | null;
  readonly kind: string;
  readonly token: string | null;
  readonly from: string;
  readonly to: string;
  readonly raw_amount: bigint;
}): string {
  const { block_hash, tx_hash, kind, token, from, to, raw_amount } = row;
  return [block_hash, tx_hash, kind, token, from, to, raw_amount].join(' ').toLowerCase();
}

/** Reads the whole chain from block 0. */
export async function readItself({ ask }: Anvil): Promise<AnvilReading> {
  const told: AnvilReading = { transfers: [], creations: [] };
  const head = Number(await ask('eth_blockNumber'));
  for (let number = 0; number <= head; number += 1) {
    const asked = await ask('eth_getBlockByNumber', `0x${number.toString(16)}`, true);
    const block = BLOCK.parse(asked);
    for (const tx of block.transactions) {
      const receipt = RECEIPT.parse(await ask('eth_getTransactionReceipt', tx.hash));
      if (receipt.status !== '0x1') continue;
      const at = { block_hash: block.hash, tx_hash: tx.hash };
      const to = tx.to === null ? String(receipt.contractAddress) : tx.to;
      const coin = { kind: 'native', token: null, from: tx.from, to };
      told.transfers.push(transferRow({ ...at, ...coin, raw_amount: BigInt(tx.value) }));
      if (tx.to === null) told.creations.push(`${tx.hash} ${tx.from} ${to}`.toLowerCase());
      for (const { address, topics, data } of receipt.logs) {
        const [signature, from, target] = topics;
        if (signature !== SIGNATURE || topics.length < 3) continue;
        const moved = { from: `0x${from?.slice(26)}`, to: `0x${target?.slice(26)}` };
        const what =
          topics.length === 3
            ? { kind: 'token', raw_amount: BigInt(data) }
            : { kind: 'nft', raw_amount: BigInt(String(topics[3])) };
        const token = { ...what, token: address };
        told.transfers.push(transferRow({ ...at, ...token, ...moved }));
      }
      const tracer = { tracer: 'callTracer' };
      const root = CALL_FRAME.parse(await ask('debug_traceTransaction', tx.hash, tracer));
      for (const called of inner(root)) addInner(told, at, called);
    }
  }
  return told;
}

/** The inner calls of a frame, at any depth, without failed ones and theirs. */
function inner({ calls }: CallFrame): CallFrame[] {
  if (calls === undefined) return [];
  return calls
    .filter(({ error }) => error === undefined)
    .flatMap((called) => [called, ...inner(called)]);
}

function addInner(
  told: AnvilReading,
  at: { readonly block_hash: string; readonly tx_hash: string },
  { type, from, to, value }: CallFrame,
): void {
  if (!MOVING.includes(type)) return;
  const amount = value === undefined ? 0n : BigInt(value);
  const moved = { kind: 'internal', token: null, from, to: String(to), raw_amount: amount };
  told.transfers.push(transferRow({ ...at, ...moved }));
  if (type.startsWith('CREATE')) told.creations.push(`${at.tx_hash} ${from} ${to}`.toLowerCase());
}
