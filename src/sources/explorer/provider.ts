// Answers one question: how is one chain's explorer asked, in which of the two dialects?
// It holds addresses that may carry a key: they are asked and never shown.

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { explorerParams, rpcParams, type StateCall } from '../evm/state-call.ts';
import type { JsonLimits } from '../http/fetch-json.ts';
import { shownAddress } from '../http/outbound-call.ts';
import { askJson, type CallBudget, type ProviderGuard } from '../http/provider.ts';

/** A question of one of the explorers: parameters of a GET, or a node's method by POST. */
type ExplorerQuestion = { readonly url: URL; readonly body: unknown };

/** One chain at one explorer. */
export type ExplorerChain = {
  readonly chain: EvmChainName;
  readonly name: 'Etherscan-compatible API' | 'Blockscout';
  /** Scheme and host. */
  readonly shown: string;
  readonly guard: ProviderGuard;
  /** A question of the account module and others, by its parameters. */
  readonly list: (params: Readonly<Record<string, string>>) => ExplorerQuestion;
  /** A node's method. */
  readonly node: (
    method: 'eth_blockNumber' | 'eth_getBlockByNumber' | 'eth_chainId',
    block: string | null,
  ) => ExplorerQuestion;
  /** A question of one account's state. */
  readonly state: (call: StateCall) => ExplorerQuestion;
  /** Whether it says of which chain it is; the other takes the chain's id with each question. */
  readonly tellsChainId: boolean;
};

/** The bounds of one answer of an explorer. */
const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 16 * 2 ** 20 };

/** Asks once and reads the answer under the guard, so that a limit is waited out. */
export function askExplorer<T>(
  { guard }: ExplorerChain,
  budget: CallBudget,
  question: ExplorerQuestion,
  read: (answer: unknown) => T,
): Promise<T> {
  return askJson({ ...question, guard, budget, limits: LIMITS }, read);
}

/** The explorer's fault on one chain, as a reason. */
export function explorerFailed({ name, shown, chain }: ExplorerChain, fault: string): Why {
  return why('provider_failed', { provider: `${name} ${shown}`, fault: `${fault} (${chain})` });
}

function withParams(url: URL, params: Readonly<Record<string, string>>): URL {
  const asked = new URL(url);
  for (const [name, value] of Object.entries(params)) asked.searchParams.set(name, value);
  return asked;
}

/** How an address and its guard are shared by the chains of one provider. */
type At = { readonly url: URL; readonly guard: ProviderGuard };

/**
 * A chain through an Etherscan-V2-compatible API. `url` is the whole endpoint, `…/v2/api`; one
 * guard serves all chains of it, since its plan counts them together.
 */
export function etherscanChain(
  chain: EvmChainName,
  { url, guard }: At,
  key: string | null,
): ExplorerChain {
  const id = { chainid: String(CHAINS[chain].chain_id), ...(key === null ? {} : { apikey: key }) };
  const list: ExplorerChain['list'] = (params) => {
    return { url: withParams(url, { ...id, ...params }), body: null };
  };
  return {
    chain,
    guard,
    list,
    name: 'Etherscan-compatible API',
    shown: shownAddress(url),
    node: (action, block) => {
      const tag = block === null ? null : { tag: block, boolean: 'false' };
      return list({ module: 'proxy', action, ...tag });
    },
    state: (call) => list(explorerParams(call)),
    tellsChainId: false,
  };
}

/** A chain through a Blockscout instance. `url` is its root; a query of it (a key) is kept. */
export function blockscoutChain(chain: EvmChainName, { url, guard }: At): ExplorerChain {
  const at = (path: string): URL => {
    const asked = new URL(url);
    asked.pathname = `${asked.pathname.replace(/\/+$/, '')}${path}`;
    return asked;
  };
  return {
    chain,
    guard,
    name: 'Blockscout',
    shown: shownAddress(url),
    list: (params) => ({ url: withParams(at('/api'), params), body: null }),
    node: (method, block) => {
      const params = block === null ? [] : [block, false];
      return { url: at('/api/eth-rpc'), body: { jsonrpc: '2.0', id: 1, method, params } };
    },
    state: (call) => {
      const { method } = call;
      const body = { jsonrpc: '2.0', id: 1, method, params: rpcParams(call) };
      return { url: at('/api/eth-rpc'), body };
    },
    tellsChainId: true,
  };
}
