// Reads approvals of an address, and their remaining amounts, from a node. One call covers the
// events of the whole chain: a node that takes only short ranges is silent here, since thousands of
// calls would be needed.

import { declaredEvent, encodedCall } from '../../chain/abi.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import {
  map,
  type Partly,
  part,
  type Reading,
  read,
  some,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ApprovalEvent,
  FreezeState,
  FreezingToken,
  IssuerFreezes,
  IssuerFreezesPort,
  Permit2,
  TokenApprovals,
  TokenApprovalsPort,
} from '../../ports/accounts.ts';
import { AMOUNT } from '../http/fetch.ts';
import { type JsonRpc, type RpcAnswer, RpcFault } from '../http/json-rpc.ts';
import { observation, readAnswer, tryReading, whyUnanswered } from '../http/provider.ts';
import { nodeRefusalOf } from './log-ranges.ts';
import { asker, type ChainNodes, namedBlocks, nodeProvider, topicOf } from './node-of-account.ts';
import { callWords, type StateAsk, StateFault } from './state-facts-of-account.ts';
import { LOG, type NodeLog, parseResult, quantity } from './wire.ts';

const PORT = 'token_approvals';
/** The most events that one answer may hold. */
const LOGS_MAX = 20_000;
const LOGS = LOG.array().max(LOGS_MAX);

/** Approvals through nodes. */
export function nodeApprovals(options: ChainNodes & { readonly permit2: Permit2 }): TokenApprovals {
  const { nodes, permit2, simulated, now } = options;
  const blockOf = namedBlocks(now);
  const askAt = async <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    work: (rpc: JsonRpc, block: number, permit2: readonly string[]) => Promise<T>,
  ): Promise<Partly<T, TokenApprovalsPort>> => {
    const rpc = nodes.get(chain);
    if (rpc === undefined) {
      return unread(PORT, why('not_configured', { what: `A node of ${chain}` }));
    }
    const registry = await permit2();
    if (!registry.checked) return registry;
    const provider = nodeProvider(rpc, signal, { simulated, now });
    const told = await readAnswer(PORT, provider, async () =>
      work(rpc, await blockOf(rpc, chain, signal), registry.value),
    );
    return simulated ? weaken(told, why('simulated')) : told;
  };
  return {
    chains: [...nodes.keys()],
    given: (chain, owner, signal) =>
      askAt(chain, signal, async (rpc, block, addresses) => {
        const blocks = { fromBlock: '0x0', toBlock: quantity(block) };
        const filter = { ...blocks, topics: approvalTopics(owner) };
        const logs = await logsUnder(rpc, filter, signal);
        return { events: newestApprovals(chain, owner, logs, addresses), to_block: block };
      }),
    left: ({ chain, way, token, spender }, owner, signal) =>
      askAt(chain, signal, async (rpc, block, addresses) => {
        const at = { ask: asker(rpc, signal), block, permit2: addresses, now: now() };
        return { raw_amount: await amountLeft({ way, token, spender, owner }, at), block };
      }),
  };
}

/** The logs that a node tells of; throws its refusal in words of ours. */
async function logsUnder(
  rpc: JsonRpc,
  filter: object,
  signal: AbortSignal,
): Promise<readonly NodeLog[]> {
  const answer = await rpc.call({ method: 'eth_getLogs', params: [filter] }, signal);
  if (!answer.ok) {
    const { kind } = nodeRefusalOf(answer.error);
    const range = kind === 'range' ? 'takes no range of so many blocks' : 'answered an error';
    throw new RpcFault(`${range} to eth_getLogs (${answer.error.code})`, 'failed');
  }
  const logs = parseResult(LOGS, answer.result, 'eth_getLogs');
  return logs.filter(({ removed }) => removed !== true);
}

// Decodes events that allow somebody to take an owner's tokens, and builds the calls for the
// remaining amounts. ERC-20 and ERC-721 have an event of one signature; with the item as a further
// topic it allows one item alone and does not count. An allowance of Permit2 is open only while the
// token lets Permit2 itself take it.

const APPROVAL = declaredEvent(
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
);
const APPROVAL_FOR_ALL = declaredEvent(
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
);
const PERMIT2_APPROVAL = declaredEvent([
  'event Approval(address indexed owner, address indexed token, address indexed spender,',
  'uint160 amount, uint48 expiration)',
]);
const PERMIT2_PERMIT = declaredEvent([
  'event Permit(address indexed owner, address indexed token, address indexed spender,',
  'uint160 amount, uint48 expiration, uint48 nonce)',
]);
const ALLOWANCE = 'function allowance(address owner, address spender) view returns (uint256)';
const IS_APPROVED =
  'function isApprovedForAll(address owner, address operator) view returns (bool)';
const PERMIT2_ALLOWANCE = 'function allowance(address owner, address token, address spender) view';

/** The first topics of every event that allows something; the second one is the owner. */
export const APPROVAL_TOPICS: readonly string[] = [
  APPROVAL,
  APPROVAL_FOR_ALL,
  PERMIT2_APPROVAL,
  PERMIT2_PERMIT,
].map(({ topic }) => topic);

/** The topics by which all events of an owner are asked for. */
export function approvalTopics(owner: string): readonly [events: readonly string[], owner: string] {
  return [APPROVAL_TOPICS, topicOf(owner)];
}

/** A log as approvals need it; hex in lower case. */
type ApprovalLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly logIndex: number;
};
type Allowed = Pick<ApprovalEvent, 'way' | 'token' | 'spender' | 'raw_amount'>;

/** The newest event of each way, token and spender, of logs of one owner. */
export function newestApprovals(
  chain: EvmChainName,
  owner: string,
  logs: readonly ApprovalLog[],
  permit2: readonly string[],
): ApprovalEvent[] {
  const ordered = [...logs].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
  const newest = new Map<string, ApprovalEvent>();
  for (const log of ordered) {
    const allowed = allowanceIn(log, owner, permit2);
    if (allowed === null) continue;
    const { blockNumber: block, transactionHash: tx } = log;
    const { way, token, spender, raw_amount } = allowed;
    const key = `${way} ${token} ${spender}`;
    newest.set(key, { chain, way, token, spender, raw_amount, tx, block });
  }
  return [...newest.values()];
}

function allowanceIn(log: ApprovalLog, owner: string, permit2: readonly string[]): Allowed | null {
  const units = APPROVAL.fieldsOf(log);
  if (units !== null) {
    if (units.owner !== owner) return null;
    const { spender, value: raw_amount } = units;
    return { way: 'allowance', token: log.address, spender, raw_amount };
  }
  const items = APPROVAL_FOR_ALL.fieldsOf(log);
  if (items !== null) {
    if (items.owner !== owner) return null;
    const raw_amount = items.approved ? null : 0n;
    return { way: 'operator', token: log.address, spender: items.operator, raw_amount };
  }
  // Anybody may log what only Permit2 means.
  const through = permit2.includes(log.address) ? permitIn(log) : null;
  if (through === null || through.owner !== owner) return null;
  const { token, spender, amount: raw_amount } = through;
  return { way: 'permit2', token, spender, raw_amount };
}

function permitIn(log: ApprovalLog) {
  const approval = PERMIT2_APPROVAL.fieldsOf(log);
  return approval === null ? PERMIT2_PERMIT.fieldsOf(log) : approval;
}

type AllowanceQuery = Pick<ApprovalEvent, 'way' | 'token' | 'spender'> & { readonly owner: string };
type LeftAt = {
  readonly ask: StateAsk;
  readonly block: number;
  readonly permit2: readonly string[];
  /** Unix seconds. */
  readonly now: number;
};

/** The remaining amount; `null`: every item. Throws if the contract does not answer. */
export async function amountLeft(
  { way, token, spender, owner }: AllowanceQuery,
  at: LeftAt,
): Promise<bigint | null> {
  if (way === 'operator') {
    const [isOpen] = await words(at, token, encodedCall(IS_APPROVED, [owner, spender]));
    if (isOpen === 0n) return 0n;
    if (isOpen === 1n) return null;
    throw new StateFault('eth_call');
  }
  const allowanceOf = async (one: string): Promise<bigint> => {
    const [left] = await words(at, token, encodedCall(ALLOWANCE, [owner, one]));
    return left;
  };
  if (way === 'allowance') return allowanceOf(spender);
  const data = encodedCall(PERMIT2_ALLOWANCE, [owner, token, spender]);
  let most = 0n;
  for (const through of at.permit2) {
    const [amount, expires] = await words(at, through, data);
    if (expires === undefined) throw new StateFault('eth_call');
    if (amount <= most || expires < BigInt(at.now)) continue;
    const lent = await allowanceOf(through);
    if (lent <= most) continue;
    most = amount;
    if (lent < amount) most = lent;
  }
  return most;
}

/** The words of an answer, the first of them at least. */
async function words(
  { ask, block }: LeftAt,
  address: string,
  data: string,
): Promise<readonly [bigint, ...bigint[]]> {
  const told = await callWords(ask, address, data, block);
  const [first, ...more] = told.map((one) => AMOUNT.parse(one));
  if (first === undefined) throw new StateFault('eth_call');
  return [first, ...more];
}

// Reads freezes from issuers' contracts through a node, all of a chain at one block, in one batch.
// An answer that is no yes or no (a contract that refuses, or does not exist) is silence of that
// token, and never “not frozen”.

const FREEZES_PORT = 'issuer_freezes';
type FreezeReading = Partly<FreezeState, IssuerFreezesPort>;
const YES = /^0x0{63}1$/;
const NO = /^0x0{64}$/;

/** The nodes by chain, and the tokens that are asked. */
type NodeFreezesOptions = ChainNodes & {
  readonly tokens: () => Promise<Reading<readonly FreezingToken[], IssuerFreezesPort>>;
};

/** Black lists of issuers through nodes. */
export function nodeFreezes({ nodes, tokens, simulated, now }: NodeFreezesOptions): IssuerFreezes {
  const blockOf = namedBlocks(now);
  return {
    chains: [...nodes.keys()],
    of: async (chain, address, signal) => {
      const registry = await tokens();
      if (!registry.checked) return registry;
      const own = registry.value.filter((one) => one.chain === chain);
      // Where no token is to be asked, that none holds anything frozen is what the registry says.
      if (own.length === 0) return map(registry, () => []);
      const rpc = nodes.get(chain);
      if (rpc === undefined)
        return unread(FREEZES_PORT, why('not_configured', { what: `A node of ${chain}` }));
      const provider = nodeProvider(rpc, signal, { simulated, now });
      const source = observation(provider, now);
      const toWhy = (error: unknown) => whyUnanswered(error, provider.toReason);
      return tryReading(FREEZES_PORT, toWhy, async () => {
        const block = await blockOf(rpc, chain, signal);
        const answers = await rpc.batch(
          own.map((token) => callOf(token, address, block)),
          signal,
        );
        const origin = { port: FREEZES_PORT, source } as const;
        const states = own.map(async (token, i): Promise<FreezeReading> => {
          const frozen = isFrozenIn(token, answers[i], source);
          if (!frozen.checked) return frozen;
          const at = { token, address, block, signal };
          const placed = frozen.value ? await freezeEvent(rpc, at, provider.toReason) : null;
          const state: FreezeState = { token, frozen: frozen.value, block, placed };
          return simulated ? part(state, origin, why('simulated')) : read(state, origin);
        });
        return some(await Promise.all(states));
      });
    },
  };
}

function callOf({ address: to, asks }: FreezingToken, address: string, block: number) {
  const data = encodedCall(`function ${asks} view returns (bool)`, [address]);
  return { method: 'eth_call', params: [{ to, data }, quantity(block)] };
}

/** The answer of the token; unread if it is neither yes nor no. */
function isFrozenIn(
  token: FreezingToken,
  answer: RpcAnswer | undefined,
  source: Source,
): Reading<boolean, IssuerFreezesPort> {
  const said = answer?.ok === true ? String(answer.result) : '';
  if (YES.test(said) || NO.test(said)) return read(YES.test(said), { port: FREEZES_PORT, source });
  const fault = `${token.symbol} gave no yes or no to ${token.asks}`;
  return unread(FREEZES_PORT, why('provider_failed', { provider: source.url, fault }));
}

type Frozen = {
  readonly token: FreezingToken;
  readonly address: string;
  readonly block: number;
  readonly signal: AbortSignal;
};

/** The newest event that put the address on the list; nothing rests on it but its own place. */
async function freezeEvent(
  rpc: JsonRpc,
  { token, address, block, signal }: Frozen,
  toReason: (fault: string) => Why,
): Promise<FreezeState['placed']> {
  const events = token.logs.map((one) => declaredEvent(`event ${one}`));
  const isIndexed = events.every(({ topics }) => topics > 1);
  const topics = [events.map(({ topic }) => topic), ...(isIndexed ? [topicOf(address)] : [])];
  const blocks = { fromBlock: '0x0', toBlock: quantity(block) };
  try {
    const logs = await logsUnder(rpc, { ...blocks, address: token.address, topics }, signal);
    const own = logs.filter((log) =>
      events.some((event) => Reflect.get(Object(event.fieldsOf(log)), 'account') === address),
    );
    const newest = own.reduce<NodeLog | null>(
      (last, one) => (last === null || one.blockNumber >= last.blockNumber ? one : last),
      null,
    );
    return newest === null ? null : { tx: newest.transactionHash, block: newest.blockNumber };
  } catch (error) {
    return whyUnanswered(error, toReason);
  }
}
