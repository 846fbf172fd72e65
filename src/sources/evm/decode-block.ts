// Answers one question: which transfers and creations are in a block, by all that its node told.
// With traces both kinds of coin transfer are known; with receipts only those of transactions. It
// refuses a block of which a transaction was told by neither.

import type { ChainName } from '../../chain/chain.ts';
import type { HeldCreation, TipBlock, TransferFact } from '../../ports/indexing/transfer-store.ts';
import { happened, NULL_ADDRESS, type TraceFrame } from './decode-traces.ts';
import { NodeFault } from './node-fault.ts';
import type { NodeBlock, NodeHeader, NodeReceipt } from './wire.ts';

/** How the execution of a block was told. */
export type Execution =
  | { readonly by: 'traces'; readonly frames: readonly TraceFrame[] }
  | { readonly by: 'receipts'; readonly receipts: readonly NodeReceipt[] };

type Coin = Pick<TransferFact, 'kind' | 'from' | 'to' | 'raw_amount' | 'initiator' | 'success'> & {
  readonly tx_hash: string | null;
  readonly position: number | string | null;
};
type Told = { readonly coins: Coin[]; readonly creations: HeldCreation[] };

/** A withdrawal's amount is told in gwei (EIP-4895). */
const WEI_PER_GWEI = 10n ** 9n;

/** A header as the store takes it. */
export function headerOf({
  number,
  hash,
  parentHash,
  timestamp,
}: NodeHeader): Omit<TipBlock, 'transfers' | 'creations'> {
  return { number, hash, parent_hash: parentHash, time: timestamp };
}

/** The block with its facts. `tokens` are its token transfers. */
export function decodeBlock(
  chain: ChainName,
  block: NodeBlock,
  tokens: readonly TransferFact[],
  execution: Execution,
): TipBlock {
  const told =
    execution.by === 'traces'
      ? byTraces(chain, block, execution.frames)
      : byReceipts(chain, block, execution.receipts);
  const coins = [...told.coins, ...byTheChain(block)].map((coin) =>
    coinTransfer(chain, block, coin),
  );
  return { ...headerOf(block), transfers: [...coins, ...tokens], creations: told.creations };
}

function coinTransfer(chain: ChainName, block: NodeBlock, coin: Coin): TransferFact {
  const { kind, from, to, raw_amount, initiator, success } = coin;
  const common = { chain, block: block.number, block_time: block.timestamp };
  const what = { kind, token: null, from, to, raw_amount, success, initiator };
  const { tx_hash, position } = coin;
  if (tx_hash !== null) return { ...common, ...what, tx_hash, block_hash: block.hash, position };
  if (position === null) throw new TypeError('a transfer without transaction and position');
  return { ...common, ...what, tx_hash, block_hash: block.hash, position };
}

function byTraces(chain: ChainName, block: NodeBlock, frames: readonly TraceFrame[]): Told {
  const roots = new Map(
    frames.filter((one) => one.path.length === 0).map((one) => [one.tx_hash, one]),
  );
  const initiators = new Map(block.transactions.map((one) => [one.hash, one.from]));
  const coins: Coin[] = [];
  const creations: HeldCreation[] = [];
  for (const { hash, from, to, value } of block.transactions) {
    const root = roots.get(hash);
    // Polygon's state sync is a transaction of nobody to nobody, and nothing of it is traced.
    const ofNobody = from === NULL_ADDRESS && to === NULL_ADDRESS;
    if (root === undefined && !ofNobody) throw new NodeFault('told no trace of a transaction');
    if (root?.failed === true && to != null) {
      coins.push(rootCoin({ hash, from, to, value }, false));
    }
  }
  let rewards = 0;
  for (const { tx_hash, path, type, from, to, value } of happened(frames)) {
    if (type === 'other') continue;
    if (tx_hash === null) {
      const place = { tx_hash, position: rewards, kind: 'internal' } as const;
      coins.push({ ...place, from, to, raw_amount: value, initiator: null, success: true });
      rewards += 1;
      continue;
    }
    const initiator = initiators.get(tx_hash);
    if (initiator === undefined) throw new NodeFault('told a trace of another block');
    const root = path.length === 0;
    const place = { tx_hash, position: root ? null : path.join('_') };
    const kind = root ? 'native' : 'internal';
    coins.push({ ...place, kind, from, to, raw_amount: value, initiator, success: true });
    if (type === 'create') creations.push(creation(chain, block, { tx_hash, from, to, initiator }));
  }
  return { coins, creations };
}

function byReceipts(chain: ChainName, block: NodeBlock, receipts: readonly NodeReceipt[]): Told {
  const byHash = new Map(receipts.map((one) => [one.transactionHash, one]));
  const coins: Coin[] = [];
  const creations: HeldCreation[] = [];
  for (const { hash, from, to, value } of block.transactions) {
    const receipt = byHash.get(hash);
    if (receipt === undefined) throw new NodeFault('told no receipt of a transaction');
    const success = receipt.status == null ? null : receipt.status === 1;
    const created = receipt.contractAddress;
    const target = to == null ? created : to;
    // A creation that failed went nowhere, though some receipts name where it would have been.
    if (target == null || (to == null && success === false)) continue;
    coins.push(rootCoin({ hash, from, to: target, value }, success));
    if (to == null && created != null && success === true) {
      const made = { tx_hash: hash, from, to: created, initiator: from };
      creations.push(creation(chain, block, made));
    }
  }
  return { coins, creations };
}

function rootCoin(
  tx: { readonly hash: string; from: string; to: string; value: bigint },
  success: boolean | null,
): Coin {
  const { hash: tx_hash, from, to, value: raw_amount } = tx;
  return {
    tx_hash,
    position: null,
    kind: 'native',
    from,
    to,
    raw_amount,
    initiator: from,
    success,
  };
}

/** What the chain itself gives: withdrawals, and what the OP stack makes for deposits. */
function byTheChain(block: NodeBlock): Coin[] {
  const given = { kind: 'internal', from: NULL_ADDRESS, success: true } as const;
  const coins: Coin[] = [];
  for (const { hash, from, mint } of block.transactions) {
    if (mint == null || mint === 0n) continue;
    const place = { tx_hash: hash, position: 'mint' };
    coins.push({ ...given, ...place, to: from, raw_amount: mint, initiator: from });
  }
  const withdrawals = block.withdrawals;
  if (withdrawals == null) return coins;
  for (const { index, address, amount } of withdrawals) {
    const place = { tx_hash: null, position: index };
    const raw_amount = amount * WEI_PER_GWEI;
    coins.push({ ...given, ...place, to: address, raw_amount, initiator: null });
  }
  return coins;
}

function creation(
  chain: ChainName,
  block: NodeBlock,
  made: { tx_hash: string; from: string; to: string; initiator: string },
): HeldCreation {
  return {
    chain,
    created: made.to,
    creator: made.from,
    initiator: made.initiator,
    tx_hash: made.tx_hash,
    block: block.number,
    block_hash: block.hash,
    block_time: block.timestamp,
  };
}
