// The anchoring contract, as a node of its chain tells it, and the transactions that call it.

import { z } from 'zod';
import { decodedResult, encodedCall } from '../../chain/abi.ts';
import { signTransaction } from '../../chain/signed-transaction.ts';
import type {
  AnchorChainPort,
  AnchorChainState,
  AnchoredRoots,
  LogRoot,
  MinedAnchor,
  SendingChain,
} from '../../ports/anchoring.ts';
import { ADDRESS, AMOUNT, BYTES, COUNT, outsideRow, WORD } from '../http/fetch.ts';
import { type JsonRpc, type RpcAnswer, RpcFault } from '../http/json-rpc.ts';
import { readAnswer } from '../http/provider.ts';
import { isRevert } from './node-of-account.ts';
import { quantity } from './wire.ts';

const PORT: AnchorChainPort = 'anchor_chain';
/** The interface of `solidity/ExhibitAnchor.sol`, which a contract tells of itself. */
const VERSION = 'exhibit-anchor/1';
const CONTRACT = {
  anchor: 'function anchor(bytes32 root, uint64 size)',
  rootOf: 'function rootOf(uint64 size) view returns (bytes32)',
  latestSize: 'function latestSize() view returns (uint64)',
  owner: 'function owner() view returns (address)',
  version: 'function version() view returns (string)',
} as const;

const BLOCK = outsideRow({ number: COUNT, hash: WORD, baseFeePerGas: AMOUNT });
const RECEIPT = outsideRow({
  transactionHash: WORD,
  blockHash: WORD,
  blockNumber: COUNT,
  status: COUNT,
});
/** The words with which geth, Erigon, Nethermind, Besu and anvil say that they hold it already. */
const KNOWN = /already known|known transaction|already imported|AlreadyKnown/i;

export type AnchorContractOptions = {
  readonly rpc: JsonRpc;
  readonly chain_id: number;
  /** The address of the contract. */
  readonly contract: string;
  readonly sender: string;
  /** The private key of the sender, 32 bytes as `0x` hex; `null`: it is not here. */
  readonly key: string | null;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** The contract at an address, through a node of its chain. */
export function anchorContract(options: AnchorContractOptions): SendingChain {
  const { rpc, chain_id, contract, sender, key } = options;
  const ask = <T>(work: () => Promise<T>) => readAnswer(PORT, providerOf(options), work);
  return {
    chain_id,
    contract,
    sender,
    state: (signal) =>
      ask(async (): Promise<AnchorChainState> => {
        const answers = await rpc.batch(
          [
            { method: 'eth_chainId', params: [] },
            { method: 'eth_getBlockByNumber', params: ['finalized', false] },
            { method: 'eth_getBlockByNumber', params: ['latest', false] },
            { method: 'eth_maxPriorityFeePerGas', params: [] },
            { method: 'eth_getTransactionCount', params: [sender, 'latest'] },
            { method: 'eth_getTransactionCount', params: [sender, 'finalized'] },
            { method: 'eth_getBalance', params: [sender, 'latest'] },
            callOf(options, 'version', 'latest'),
            callOf(options, 'owner', 'latest'),
            callOf(options, 'latestSize', 'latest'),
          ],
          signal,
        );
        const [id, finalised, head, tip, nonce, settled, balance, ...told] = answers;
        checkChain(id, chain_id);
        return {
          finalised: resultIn(BLOCK, finalised, 'eth_getBlockByNumber').number,
          nonce: resultIn(COUNT, nonce, 'eth_getTransactionCount'),
          finalised_nonce: resultIn(COUNT, settled, 'eth_getTransactionCount'),
          balance_wei: resultIn(AMOUNT, balance, 'eth_getBalance'),
          base_fee_wei: resultIn(BLOCK, head, 'eth_getBlockByNumber').baseFeePerGas,
          tip_wei: resultIn(AMOUNT, tip, 'eth_maxPriorityFeePerGas'),
          contract: contractIn(told),
        };
      }),
    gasOf: (root, signal) =>
      ask(async () => {
        const transaction = { from: sender, to: contract, data: dataOf(root) };
        const params = [transaction];
        const answer = await rpc.call({ method: 'eth_estimateGas', params }, signal);
        if (!answer.ok && isRevert(answer.error)) return { refused: true } as const;
        return { gas: resultIn(AMOUNT, answer, 'eth_estimateGas') };
      }),
    sign:
      key === null
        ? null
        : (root, nonce, gas, fees) => {
            const call = { chain_id, to: contract, data: dataOf(root), nonce, gas, ...fees };
            return { ...fees, ...signTransaction(call, key) };
          },
    send: (raw, signal) =>
      ask(async () => {
        const answer = await rpc.call({ method: 'eth_sendRawTransaction', params: [raw] }, signal);
        if (answer.ok || !KNOWN.test(answer.error.message)) checkTaken(answer);
        return true as const;
      }),
    minedOf: (txs, signal) => ask(() => findMined(rpc, txs, signal)),
  };
}

/** The roots that a contract holds, through a node of its chain. */
export function anchoredRoots(
  options: Omit<AnchorContractOptions, 'sender' | 'key'>,
): AnchoredRoots {
  const { rpc, chain_id } = options;
  return {
    rootAt: (size, signal) =>
      readAnswer('anchors', providerOf(options), async () => {
        const finalised = { method: 'eth_getBlockByNumber', params: ['finalized', false] };
        const id = { method: 'eth_chainId', params: [] };
        const [chain, block] = await rpc.batch([id, finalised], signal);
        checkChain(chain, chain_id);
        const { number } = resultIn(BLOCK, block, 'eth_getBlockByNumber');
        const at = quantity(number);
        const calls = [callOf(options, 'version', at), callOf(options, 'rootOf', at, BigInt(size))];
        const [version, root] = await rpc.batch(calls, signal);
        if (valueIn('version', version) !== VERSION) {
          throw new RpcFault('has no anchoring contract at the address', 'terminal');
        }
        const held = resultIn(WORD, root, 'eth_call');
        return { root: held === NO_ROOT ? null : held, block: number };
      }),
  };
}

type Place = Pick<AnchorContractOptions, 'rpc' | 'contract' | 'simulated' | 'now'>;

function providerOf({ rpc, simulated, now }: Place) {
  return { name: `Node ${rpc.shown}`, url: rpc.shown, simulated, now };
}

function callOf(
  { contract }: Place,
  name: keyof typeof CONTRACT,
  block: string,
  ...values: unknown[]
) {
  const params = [{ to: contract, data: encodedCall(CONTRACT[name], values) }, block];
  return { method: 'eth_call', params };
}

const NO_ROOT = `0x${'0'.repeat(64)}`;

/** Why nodes do not take a transaction, by their words, which are not repeated. */
const REFUSALS: readonly (readonly [words: RegExp, says: string])[] = [
  [/insufficient (funds|balance)/i, 'the account cannot pay for it'],
  [/nonce too low|already used|old nonce/i, 'its nonce is used'],
  [/underpriced|fee too low|max fee per gas less/i, 'it pays too little'],
  [/gas limit|exceeds block gas/i, 'it takes too much gas'],
];

function checkTaken(answer: RpcAnswer): void {
  if (answer.ok) {
    resultIn(WORD, answer, 'eth_sendRawTransaction');
    return;
  }
  const { code, message } = answer.error;
  const known = REFUSALS.find(([words]) => words.test(message));
  const because = known === undefined ? `error ${code}` : known[1];
  throw new RpcFault(`did not take the transaction: ${because}`, 'failed');
}

function dataOf({ root, size }: LogRoot): string {
  return encodedCall(CONTRACT.anchor, [root, BigInt(size)]);
}

function checkChain(answer: RpcAnswer | undefined, chain_id: number): void {
  const id = resultIn(COUNT, answer, 'eth_chainId');
  if (id !== chain_id) throw new RpcFault(`is of chain ${id}, not of ${chain_id}`, 'terminal');
}

function resultIn<T>(schema: z.ZodType<T>, answer: RpcAnswer | undefined, method: string): T {
  const told = schema.safeParse(answer?.ok === true ? answer.result : undefined);
  if (told.success) return told.data;
  const code = answer?.ok === false ? ` (${answer.error.code})` : '';
  throw new RpcFault(`gave no usable answer to ${method}${code}`, 'failed');
}

/** The value of a view of the contract; `null`: what stands there has no such function. */
function valueIn(name: keyof typeof CONTRACT, answer: RpcAnswer | undefined): unknown {
  if (answer?.ok === false && isRevert(answer.error)) return null;
  return decodedResult(CONTRACT[name], resultIn(BYTES, answer, 'eth_call'));
}

function contractIn(told: readonly RpcAnswer[]): AnchorChainState['contract'] {
  const [version, owner, latest] = told;
  const sizes = z.bigint().max(BigInt(Number.MAX_SAFE_INTEGER));
  const size = sizes.safeParse(valueIn('latestSize', latest));
  const whose = ADDRESS.safeParse(valueIn('owner', owner));
  if (valueIn('version', version) !== VERSION || !size.success || !whose.success) return null;
  return { owner: whose.data, latest_size: Number(size.data) };
}

async function findMined(
  rpc: JsonRpc,
  txs: readonly string[],
  signal: AbortSignal,
): Promise<MinedAnchor | null> {
  const asked = txs.map((tx) => ({ method: 'eth_getTransactionReceipt', params: [tx] }));
  for (const answer of await rpc.batch(asked, signal)) {
    const receipt = resultIn(RECEIPT.nullable(), answer, 'eth_getTransactionReceipt');
    if (receipt === null) continue;
    // A receipt of a block that the chain has left is no receipt.
    const params = [quantity(receipt.blockNumber), false];
    const named = await rpc.call({ method: 'eth_getBlockByNumber', params }, signal);
    const block = resultIn(BLOCK.nullable(), named, 'eth_getBlockByNumber');
    if (block?.hash !== receipt.blockHash) continue;
    const { transactionHash: tx, blockNumber, status } = receipt;
    return { tx, block: blockNumber, ok: status === 1 };
  }
  return null;
}
