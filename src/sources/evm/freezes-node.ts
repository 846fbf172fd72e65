// What do the contracts of issuers say of an address, as a node passes their answers on?
// All of a chain are asked at one block, in one batch. An answer that is no yes or no (a contract
// that refuses, or is not there) is silence of that token, and never “not frozen”.

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
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  FreezeState,
  FreezingToken,
  IssuerFreezes,
  IssuerFreezesPort,
} from '../../ports/accounts/issuer-freezes.ts';
import type { JsonRpc, RpcAnswer } from '../http/json-rpc.ts';
import { observation } from '../http/provider.ts';
import { namedBlocks, topicOf, whyNodeSilent } from './node-questions.ts';
import { LOG, type NodeLog, shaped } from './wire.ts';

const PORT = 'issuer_freezes';
const YES = /^0x0{63}1$/;
const NO = /^0x0{64}$/;
/** The most events of one list that an answer may hold. */
const LOGS_MAX = 20_000;
const LOGS = LOG.array().max(LOGS_MAX);

/** The nodes by chain, and the tokens that are asked. */
type NodeFreezesOptions = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly tokens: () => Promise<Reading<readonly FreezingToken[], IssuerFreezesPort>>;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
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
      if (rpc === undefined) return unread(PORT, why('not_configured', { what: nodeOf(chain) }));
      const { shown } = rpc;
      const source = observation({ name: `Node ${shown}`, url: shown, simulated }, now);
      try {
        const block = await blockOf(rpc, chain, signal);
        const answers = await rpc.batch(
          own.map((token) => callOf(token, address, block)),
          signal,
        );
        const states = own.map(async (token, i) => {
          const frozen = frozenIn(token, answers[i], source);
          if (!frozen.checked) return frozen;
          const at = { token, address, block, signal };
          const placed = frozen.value ? await placedBy(rpc, at, source) : null;
          const event = placed?.checked === true ? placed.value : null;
          return told({ token, frozen: frozen.value, block, placed: event }, source);
        });
        return some<FreezeState, IssuerFreezesPort>(await Promise.all(states));
      } catch (error) {
        return unread(PORT, whyNodeSilent(error, rpc, signal));
      }
    },
  };
}

function nodeOf(chain: EvmChainName): string {
  return `A node of ${chain}`;
}

function callOf({ address: to, asks }: FreezingToken, address: string, block: number) {
  const data = encodedCall(`function ${asks} view returns (bool)`, [address]);
  return { method: 'eth_call', params: [{ to, data }, `0x${block.toString(16)}`] };
}

/** What the token answered; unread where that is no yes and no no. */
function frozenIn(
  token: FreezingToken,
  answer: RpcAnswer | undefined,
  source: Source,
): Reading<boolean, IssuerFreezesPort> {
  const said = answer?.ok === true ? String(answer.result) : '';
  if (YES.test(said) || NO.test(said)) return read(YES.test(said), { port: PORT, source });
  const fault = `${token.symbol} gave no yes or no to ${token.asks}`;
  return unread(PORT, why('provider_failed', { provider: source.url, fault }));
}

function told(state: FreezeState, source: Source): Partly<FreezeState, IssuerFreezesPort> {
  const origin = { port: PORT, source } as const;
  return source.simulated ? part(state, origin, why('simulated')) : read(state, origin);
}

type Frozen = {
  readonly token: FreezingToken;
  readonly address: string;
  readonly block: number;
  readonly signal: AbortSignal;
};

/** The newest event that put the address on the list; nothing rests on it but its own place. */
async function placedBy(
  rpc: JsonRpc,
  { token, address, block, signal }: Frozen,
  source: Source,
): Promise<Reading<FreezeState['placed'], IssuerFreezesPort>> {
  const events = token.logs.map((one) => declaredEvent(`event ${one}`));
  const isIndexed = events.every(({ topics }) => topics > 1);
  const topics = [events.map(({ topic }) => topic), ...(isIndexed ? [topicOf(address)] : [])];
  const blocks = { fromBlock: '0x0', toBlock: `0x${block.toString(16)}` };
  const params = [{ ...blocks, address: token.address, topics }];
  try {
    const answer = await rpc.call({ method: 'eth_getLogs', params }, signal);
    const logs = shaped(LOGS, answer.ok ? answer.result : null, 'eth_getLogs');
    const own = logs.filter((log) =>
      events.some((event) => Reflect.get(Object(event.fieldsOf(log)), 'account') === address),
    );
    const newest = own.reduce<NodeLog | null>(
      (last, one) => (last === null || one.blockNumber >= last.blockNumber ? one : last),
      null,
    );
    const placed =
      newest === null ? null : { tx: newest.transactionHash, block: newest.blockNumber };
    return read(placed, { port: PORT, source });
  } catch (error) {
    return unread(PORT, whyNodeSilent(error, rpc, signal));
  }
}
