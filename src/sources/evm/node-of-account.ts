// Reads the state of an account from an EVM node. A node of another chain is no source, and an
// error of a node is silence; a contract's refusal of a call is an answer.

import { z } from 'zod';
import { declaredEvent } from '../../chain/abi.ts';
import { authorityOf as signedBy } from '../../chain/authorisation.ts';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Partly, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type ChainFacts,
  type ChainFactsPort,
  factUnread,
  noFacts,
  readFacts,
  type SetBy,
  type SetFact,
} from '../../ports/accounts.ts';
import { ADDRESS, BYTES, COUNT, outsideRow, WORD } from '../http/fetch.ts';
import { type JsonRpc, type RpcError, RpcFault } from '../http/json-rpc.ts';
import { type Provider, readAnswer } from '../http/provider.ts';
import {
  askAuthority,
  balanceOf,
  codeOf,
  looksLikeToken,
  nonceOf,
  rpcParams,
  type StateAsk,
  StateFault,
  UNDELEGATED,
} from './state-facts-of-account.ts';
import { LOG, parseResult, quantity } from './wire.ts';

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
    readFact(options, known, node, signal, work);
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
          is_token: () => fact(() => looksLikeToken(ask, address)),
          authority: () =>
            fact(async () => {
              const { size } = await codeOf(ask, address);
              return size === 0 ? UNDELEGATED : askAuthority(ask, address);
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

/** Reads a fact from a node, once the node is known to be of its chain. */
async function readFact<T>(
  options: NodeFactsOptions,
  known: Set<EvmChainName>,
  node: FactsNode,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<Partly<T, ChainFactsPort>> {
  const { chain, rpc } = node;
  const provider = nodeProvider(rpc, signal, options);
  const fact = await readAnswer('chain_facts', provider, async () => {
    if (!known.has(chain)) await identify(node, signal);
    known.add(chain);
    return work();
  });
  return options.simulated ? weaken(fact, why('simulated')) : fact;
}

/** Asks a node of the state of accounts; that a contract refuses a call is an answer. */
export function asker(rpc: JsonRpc, signal: AbortSignal): StateAsk {
  return async (call) => {
    const answer = await rpc.call({ method: call.method, params: rpcParams(call) }, signal);
    if (answer.ok) return { refused: false, result: answer.result };
    if (call.method === 'eth_call' && isRevert(answer.error)) return { refused: true };
    throw new RpcFault(`answered an error to ${call.method} (${answer.error.code})`, 'failed');
  };
}

/** Whether an error of `eth_call` is the contract's own refusal, and no failure of the node. */
export function isRevert({ code, message }: RpcError): boolean {
  return REFUSED_CODES.has(code) || REFUSED_WORDS.test(message);
}

async function identify({ chain, rpc }: FactsNode, signal: AbortSignal): Promise<void> {
  const answer = await rpc.call({ method: 'eth_chainId', params: [] }, signal);
  const id = answer.ok ? answer.result : null;
  if (typeof id !== 'string' || !CHAIN_ID.test(id)) throw new StateFault('eth_chainId');
  const { chain_id } = CHAINS[chain];
  if (Number(id) === chain_id) return;
  throw new RpcFault(`is of chain ${Number(id)}, not of ${chain} (${chain_id})`, 'terminal');
}

// Finds the transaction that made a fact of an account's state name an address, through a node. A
// contract's own events show it. A delegation (EIP-7702) leaves no event: halving finds the block
// in which the code appeared, and one of its transactions holds the authorisation.

/** The most events that one answer may hold. */
const LOGS_MAX = 2_000;
const LOGS = LOG.array().max(LOGS_MAX);
const HEX = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const AUTHORISATION = outsideRow({
  chainId: HEX,
  address: ADDRESS,
  nonce: HEX,
  yParity: HEX,
  r: HEX,
  s: HEX,
});
const BLOCK = outsideRow({
  transactions: z.array(
    outsideRow({ hash: WORD, authorizationList: z.array(AUTHORISATION).nullish() }),
  ),
});

type Setting = { readonly account: string; readonly fact: SetFact; readonly address: string };

/** The transaction; `null` where nothing on the chain names one. Throws faults of the node. */
export async function setByOf(
  rpc: JsonRpc,
  setting: Setting,
  signal: AbortSignal,
): Promise<SetBy | null> {
  const { account, fact, address } = setting;
  const topic = settingTopic(fact);
  if (topic === null) return findDelegation(rpc, setting, signal);
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: account, topics: [topic] };
  const result = await askNode(rpc, 'eth_getLogs', [filter], signal);
  const logs = parseResult(LOGS, result, 'eth_getLogs').filter(({ removed }) => removed !== true);
  return newestSetting(fact, address, logs);
}

async function findDelegation(
  rpc: JsonRpc,
  { account, address }: Setting,
  signal: AbortSignal,
): Promise<SetBy | null> {
  const code = `0xef0100${address.slice(2)}`;
  let without = -1;
  let within = parseResult(
    COUNT,
    await askNode(rpc, 'eth_blockNumber', [], signal),
    'eth_blockNumber',
  );
  while (within - without > 1) {
    const middle = Math.floor((without + within) / 2);
    const answer = await askNode(rpc, 'eth_getCode', [account, quantity(middle)], signal);
    if (parseResult(BYTES, answer, 'eth_getCode').toLowerCase() === code) within = middle;
    else without = middle;
  }
  const answer = await askNode(rpc, 'eth_getBlockByNumber', [quantity(within), true], signal);
  const block = BLOCK.safeParse(answer);
  if (!block.success) throw new StateFault('eth_getBlockByNumber');
  const found = block.data.transactions.find(({ authorizationList }) =>
    authorizationList?.some((one) => one.address === address && signedBy(one) === account),
  );
  return found === undefined ? null : { tx: found.hash, block: within };
}

async function askNode(
  rpc: JsonRpc,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await rpc.call({ method, params }, signal);
  if (answer.ok) return answer.result;
  throw new RpcFault(`answered an error to ${method} (${answer.error.code})`, 'failed');
}

// The events by which a contract's owner, admin, beacon or code changes.

/** Every form in which each event is declared: some index what others do not. */
const EVENTS: { readonly [F in SetFact]: readonly string[] } = {
  implementation: ['event Upgraded(address indexed next)', 'event Upgraded(address next)'],
  admin: [
    'event AdminChanged(address previous, address next)',
    'event AdminChanged(address indexed previous, address indexed next)',
  ],
  beacon: ['event BeaconUpgraded(address indexed next)'],
  owner: [
    'event OwnershipTransferred(address indexed previous, address indexed next)',
    'event OwnershipTransferred(address previous, address next)',
  ],
  delegates_to: [],
};

/** A log as it is needed here; hex in lower case. */
type SettingLog = {
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly logIndex: number;
};

/** The topic of the event that sets a fact; `null` where there is none. */
export function settingTopic(fact: SetFact): string | null {
  const [declared] = EVENTS[fact];
  return declared === undefined ? null : declaredEvent(declared).topic;
}

/** The newest of a contract's logs that made a fact name this address; `null` where none did. */
export function newestSetting(
  fact: SetFact,
  address: string,
  logs: readonly SettingLog[],
): SetBy | null {
  const events = EVENTS[fact].map((declared) => declaredEvent(declared));
  const own = logs.filter((log) =>
    events.some((event) => Reflect.get(Object(event.fieldsOf(log)), 'next') === address),
  );
  let newest: SettingLog | null = null;
  for (const log of own) {
    const isNewer =
      newest === null ||
      log.blockNumber > newest.blockNumber ||
      (log.blockNumber === newest.blockNumber && log.logIndex > newest.logIndex);
    if (isNewer) newest = log;
  }
  return newest === null ? null : { tx: newest.transactionHash, block: newest.blockNumber };
}

// Sends a few requests about one chain to a node at once, and recognises its faults. A node of
// another chain is no source; an unusable answer is thrown, and never hidden.

/**
 * A node behind others may not have the newest block yet: what is asked at a named block is asked
 * so many before it.
 */
const SETTLED_BLOCKS = 1;

/** For so long a block is named again, so that a request need not ask for one first. */
const KEPT_S = 10;

/** Nodes by chain, and how their answers are told. */
export type ChainNodes = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** Names a block at which the node can be asked. Throws where it is of another chain. */
export type NameBlock = (rpc: JsonRpc, chain: EvmChainName, signal: AbortSignal) => Promise<number>;

/** Names blocks, each for some seconds. `now` is Unix seconds. */
export function namedBlocks(now: () => number): NameBlock {
  const kept = new Map<JsonRpc, { readonly block: number; readonly at: number }>();
  return async (rpc, chain, signal) => {
    const known = kept.get(rpc);
    if (known !== undefined && now() - known.at < KEPT_S) return known.block;
    const block = await newestBlock(rpc, chain, signal);
    kept.set(rpc, { block, at: now() });
    return block;
  };
}

async function newestBlock(
  rpc: JsonRpc,
  chain: EvmChainName,
  signal: AbortSignal,
): Promise<number> {
  const calls = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ];
  const [id, head] = (await rpc.batch(calls, signal)).map((answer, i) => {
    const said = COUNT.safeParse(answer.ok ? answer.result : null);
    if (!said.success) throw new StateFault(String(calls[i]?.method));
    return said.data;
  });
  const { chain_id } = CHAINS[chain];
  if (id !== chain_id) {
    const fault = `is of chain ${String(id)}, not of ${chain} (${String(chain_id)})`;
    throw new RpcFault(fault, 'terminal');
  }
  return Math.max(0, Number(head) - SETTLED_BLOCKS);
}

/** A node as a provider; what it did not say in time is for want of time. */
export function nodeProvider(
  { shown }: JsonRpc,
  signal: AbortSignal,
  { simulated, now }: Pick<Provider, 'simulated' | 'now'>,
): Provider & Required<Pick<Provider, 'toReason'>> {
  const toReason = (fault: string) =>
    signal.aborted ? why('time_budget') : why('provider_failed', { provider: shown, fault });
  return { name: `Node ${shown}`, url: shown, simulated, now, toReason };
}

const WORD_DIGITS = 64;

/** An address as a topic of logs has it. */
export function topicOf(address: string): string {
  return `0x${address.slice(2).padStart(WORD_DIGITS, '0')}`;
}
