// What does an explorer say of an address: its state, its verified source, who made it?
// Its errors come with HTTP 200; nothing is taken for an answer but the forms that recordings and
// documentation show (`./empties.ts` has the empty ones).

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Partly, type Unread, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ChainFacts, ChainFactsPort, CreationFact } from '../../ports/accounts/chain-facts.ts';
import { factRead, factUnread, noFacts, readFacts } from '../../ports/accounts/readings.ts';
import { newestSetting, settingTopic } from '../evm/setting-events.ts';
import {
  balanceOf,
  codeOf,
  isToken,
  nonceOf,
  type StateAsk,
  StateFault,
} from '../evm/state-facts-of-account.ts';
import { outsideRow } from '../http/forms.ts';
import { type CallBudget, whyUnanswered, withBudget } from '../http/provider.ts';
import { saysNoCreation, saysUnverified } from './empties.ts';
import { ChainRefused, nodeResultIn, resultIn } from './envelope.ts';
import { eventsOf, PAGE_ROWS } from './logs.ts';
import { askExplorer, type ExplorerChain, explorerFailed } from './provider.ts';

const PORT = 'chain_facts';

/** What is asked, and what one request may spend on it. */
type ExplorerFactsOptions = {
  /** One for each chain; no two of the same. */
  readonly chains: readonly ExplorerChain[];
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
};

/** Chain facts through explorers. Their calls are counted, so only the main chain is asked. */
export function explorerFacts(options: ExplorerFactsOptions): ChainFacts {
  const known = new Set<EvmChainName>();
  return {
    stateChains: [],
    setBy: async (chain, account, { fact, address }, signal) => {
      const at = options.chains.find((one) => one.chain === chain);
      const topic = settingTopic(fact);
      if (at === undefined) {
        return factUnread(why('not_configured', { what: `An explorer of ${chain}` }));
      }
      if (topic === null) {
        return factUnread(why('fact_not_told', { source: at.name, fact: `who set ${fact}` }));
      }
      const { timeMs, callsMax } = options;
      return withBudget({ timeMs, callsMax, signal }, async (budget) => {
        try {
          const rows = await eventsOf(at, { account, topic }, budget);
          // The oldest come first: of a list that is full the newest is not there.
          if (rows.length >= PAGE_ROWS) {
            return factUnread(why('row_cap', { address: account, limit: String(PAGE_ROWS) }));
          }
          return factRead(newestSetting(fact, address, rows), sourceOf(at, options));
        } catch (error) {
          return unread(PORT, whyOf(error, at));
        }
      });
    },
    of: async (chain, address, wanted, signal) => {
      const at = options.chains.find((one) => one.chain === chain);
      if (at === undefined) {
        return noFacts(why('not_configured', { what: `An explorer of ${chain}` }));
      }
      const { timeMs, callsMax } = options;
      return withBudget({ timeMs, callsMax, signal }, async (budget) => {
        const identified = known.has(chain) ? null : await identify(at, budget);
        if (identified !== null) return noFacts(identified.why);
        known.add(chain);
        return factsAt(options, at, address, wanted, budget);
      });
    },
  };
}

async function factsAt(
  options: ExplorerFactsOptions,
  at: ExplorerChain,
  address: string,
  wanted: Parameters<ChainFacts['of']>[2],
  budget: CallBudget,
): Promise<ReturnType<typeof noFacts>> {
  const { name, shown } = at;
  const source = sourceOf(at, options);
  const ask: StateAsk = (call) =>
    askExplorer(at, budget, at.state(call), (answer) => stateAnswer(at, answer));
  const tell = async <T>(work: () => Promise<T>): Promise<Partly<T, ChainFactsPort>> => {
    try {
      return factRead(await work(), source);
    } catch (error) {
      return unread(PORT, whyOf(error, at));
    }
  };
  return readFacts(
    {
      code: () => tell(() => codeOf(ask, address)),
      nonce: () => tell(() => nonceOf(ask, address)),
      balance_wei: () => tell(() => balanceOf(ask, address)),
      is_token: () => tell(() => isToken(ask, address)),
      verified_name: () => tell(() => verifiedName(at, address, budget)),
      creation: () => tell(() => creationOf(at, address, budget)),
    },
    wanted,
    `${name} ${shown}`,
  );
}

function sourceOf(
  { name, shown }: ExplorerChain,
  { now, simulated }: ExplorerFactsOptions,
): Source {
  return { name, url: shown, as_of: now(), kind: 'observation', simulated };
}

const REFUSED_WORDS = /revert|invalid opcode|out of gas|vm execution error/i;
const DECIMAL = /^\d{1,78}$/;
const rpcError = outsideRow({ error: outsideRow({ message: z.string() }) });
const rpcErrorText = outsideRow({ error: z.string() });

/** A node's answer that the explorer passes on; a balance comes in an envelope, in decimals. */
export function stateAnswer(at: ExplorerChain, answer: unknown): Awaited<ReturnType<StateAsk>> {
  const error = rpcError.safeParse(answer);
  const text = rpcErrorText.safeParse(answer);
  const said = error.success ? error.data.error.message : text.success ? text.data.error : null;
  if (said !== null && REFUSED_WORDS.test(said)) return { refused: true };
  if (!at.tellsChainId) {
    const enveloped = resultIn(answer);
    if (enveloped !== null) {
      const { result } = enveloped;
      if (typeof result !== 'string' || !DECIMAL.test(result)) throw new StateFault('balance');
      return { refused: false, result: `0x${BigInt(result).toString(16)}` };
    }
  }
  return { refused: false, result: nodeResultIn(answer) };
}

const sourceRow = outsideRow({
  SourceCode: z.string().optional(),
  ContractName: z.string().optional(),
  ABI: z.string().optional(),
});

/** The name of the verified source; `null` only by the words for an unverified one. */
async function verifiedName(
  at: ExplorerChain,
  address: string,
  budget: CallBudget,
): Promise<string | null> {
  const params = { module: 'contract', action: 'getsourcecode', address };
  const enveloped = await askExplorer(at, budget, at.list(params), resultIn);
  const rows = z.tuple([sourceRow]).safeParse(enveloped?.result);
  if (!rows.success) throw new StateFault('getsourcecode');
  const [{ SourceCode, ContractName, ABI }] = rows.data;
  if (SourceCode !== undefined && SourceCode !== '' && ContractName !== undefined) {
    return ContractName;
  }
  if (saysUnverified(SourceCode, ABI)) return null;
  throw new StateFault('getsourcecode');
}

/** One row of `getcontractcreation`. */
export const creationRow = outsideRow({
  contractAddress: z.string(),
  contractCreator: z.string(),
  txHash: z.string().regex(/^0x[0-9a-f]{64}$/i),
  contractFactory: z.string().nullish(),
  blockNumber: z.string().regex(/^\d+$/).nullish(),
});

/** The explorer knows of no creation, which is no proof that there was none. */
class NoCreation extends Error {}

async function creationOf(
  at: ExplorerChain,
  address: string,
  budget: CallBudget,
): Promise<CreationFact> {
  const params = { module: 'contract', action: 'getcontractcreation', contractaddresses: address };
  const enveloped = await askExplorer(at, budget, at.list(params), (answer) => {
    if (saysNoCreation(answer)) throw new NoCreation();
    return resultIn(answer);
  });
  const rows = z.array(creationRow).safeParse(enveloped?.result);
  if (!rows.success) throw new StateFault('getcontractcreation');
  const row = rows.data.find(({ contractAddress }) => contractAddress.toLowerCase() === address);
  const creator = row === undefined ? null : parseEvmAddress(row.contractCreator);
  if (row === undefined || creator === null) throw new StateFault('getcontractcreation');
  const { contractFactory: factory, blockNumber: block } = row;
  return {
    creator,
    factory: factory == null || factory === '' ? null : parseEvmAddress(factory),
    tx: row.txHash.toLowerCase(),
    block: block == null ? null : Number(block),
  };
}

const CHAIN_ID = /^0x[0-9a-f]{1,13}$/i;

/** Why the explorer is no source of this chain; `null` where it is one. */
async function identify(
  at: ExplorerChain,
  budget: CallBudget,
): Promise<Unread<ChainFactsPort> | null> {
  if (!at.tellsChainId) return null;
  try {
    const id = await askExplorer(at, budget, at.node('eth_chainId', null), nodeResultIn);
    if (typeof id !== 'string' || !CHAIN_ID.test(id)) throw new StateFault('eth_chainId');
    const { chain_id } = CHAINS[at.chain];
    if (Number(id) === chain_id) return null;
    const fault = `is of another chain: its chain id is ${Number(id)}, not ${chain_id}`;
    return unread(PORT, explorerFailed(at, fault));
  } catch (error) {
    return unread(PORT, whyOf(error, at));
  }
}

/** Why a question has no answer; a bug is thrown on. */
export function whyOf(error: unknown, at: ExplorerChain): Why {
  if (error instanceof NoCreation) {
    return why('creation_not_found', { source: `${at.name} ${at.shown}` });
  }
  if (error instanceof ChainRefused) return explorerFailed(at, 'its plan refuses this chain');
  if (error instanceof StateFault) return explorerFailed(at, error.message);
  return whyUnanswered(error, (fault) => explorerFailed(at, fault));
}
