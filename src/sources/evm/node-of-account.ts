// What does an EVM node say of an account's state?
// A node of another chain is no source, and an error of a node is silence; that a contract refuses
// a call is what the contract answers.

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Partly, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ChainFacts, ChainFactsPort } from '../../ports/accounts/chain-facts.ts';
import { factRead, factUnread, noFacts, readFacts } from '../../ports/accounts/readings.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { whyNodeSilent } from './node-questions.ts';
import { setByOf } from './set-by-node.ts';
import { rpcParams } from './state-call.ts';
import {
  authorityOf,
  balanceOf,
  codeOf,
  isToken,
  nonceOf,
  type StateAsk,
  StateFault,
  UNDELEGATED,
} from './state-facts-of-account.ts';

/** The node of one chain. */
type FactsNode = { readonly chain: EvmChainName; readonly rpc: JsonRpc };

type NodeFactsOptions = {
  readonly nodes: readonly FactsNode[];
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** geth, anvil and Erigon: 3, or -32000 with words; Nethermind and OpenEthereum: -32015. */
const REFUSED_CODES: ReadonlySet<number> = new Set([3, -32015]);
const REFUSED_WORDS =
  /revert|invalid opcode|stack (under|over)flow|out of gas|invalid jump|vm execution error/i;
const CHAIN_ID = /^0x[0-9a-f]{1,13}$/i;

/** Chain facts from nodes, one for each chain. */
export function nodeFacts(options: NodeFactsOptions): ChainFacts {
  const { nodes } = options;
  const known = new Set<EvmChainName>();
  const nodeOf = (chain: EvmChainName) => nodes.find((one) => one.chain === chain);
  const tell = <T>(node: FactsNode, signal: AbortSignal, work: () => Promise<T>) =>
    told(options, known, node, signal, work);
  return {
    stateChains: nodes.map(({ chain }) => chain),
    setBy: async (chain, account, { fact, address }, signal) => {
      const node = nodeOf(chain);
      if (node === undefined) return factUnread(noNodeOf(chain));
      return tell(node, signal, () => setByOf(node.rpc, { account, fact, address }, signal));
    },
    of: async (chain, address, wanted, signal) => {
      const node = nodeOf(chain);
      if (node === undefined) return noFacts(noNodeOf(chain));
      const { rpc } = node;
      const ask = asker(rpc, signal);
      const fact = <T>(work: () => Promise<T>) => tell(node, signal, work);
      return readFacts(
        {
          code: () => fact(() => codeOf(ask, address)),
          nonce: () => fact(() => nonceOf(ask, address)),
          balance_wei: () => fact(() => balanceOf(ask, address)),
          is_token: () => fact(() => isToken(ask, address)),
          authority: () =>
            fact(async () => {
              const { size } = await codeOf(ask, address);
              return size === 0 ? UNDELEGATED : authorityOf(ask, address);
            }),
        },
        wanted,
        rpc.shown,
      );
    },
  };
}

function noNodeOf(chain: EvmChainName): Why {
  return why('not_configured', { what: `A node of ${chain}` });
}

/** What a node tells, once it is known to be of its chain. */
async function told<T>(
  { simulated, now }: NodeFactsOptions,
  known: Set<EvmChainName>,
  node: FactsNode,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<Partly<T, ChainFactsPort>> {
  const { chain, rpc } = node;
  const { shown: url } = rpc;
  const source: Source = {
    name: `Node ${url}`,
    url,
    as_of: now(),
    kind: 'observation',
    simulated,
  };
  try {
    if (!known.has(chain)) await identify(node, signal);
    known.add(chain);
    return factRead(await work(), source);
  } catch (error) {
    return unread('chain_facts', whyNodeSilent(error, rpc, signal));
  }
}

/** Asks a node of the state of accounts; that a contract refuses a call is an answer. */
export function asker(rpc: JsonRpc, signal: AbortSignal): StateAsk {
  return async (call) => {
    const answer = await rpc.call({ method: call.method, params: rpcParams(call) }, signal);
    if (answer.ok) return { refused: false, result: answer.result };
    const { code, message } = answer.error;
    const refused = REFUSED_CODES.has(code) || REFUSED_WORDS.test(message);
    if (call.method === 'eth_call' && refused) return { refused: true };
    throw new RpcFault(`answered an error to ${call.method} (${code})`, 'failed');
  };
}

async function identify({ chain, rpc }: FactsNode, signal: AbortSignal): Promise<void> {
  const answer = await rpc.call({ method: 'eth_chainId', params: [] }, signal);
  const id = answer.ok ? answer.result : null;
  if (typeof id !== 'string' || !CHAIN_ID.test(id)) throw new StateFault('eth_chainId');
  const { chain_id } = CHAINS[chain];
  if (Number(id) === chain_id) return;
  throw new RpcFault(`is of chain ${Number(id)}, not of ${chain} (${chain_id})`, 'terminal');
}
