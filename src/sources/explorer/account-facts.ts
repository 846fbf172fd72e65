// Reads an address from an explorer: its state, its verified source, its creator. The explorer's
// errors come with HTTP 200; only the forms in recordings and documentation count as answers
// (`./empties.ts` has the empty ones).

import { z } from 'zod';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { present } from '../../evidence/measure.ts';
import { type Partly, part, read, type Unread, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import {
  type ChainFacts,
  type ChainFactsPort,
  type CreationFact,
  factRead,
  factUnread,
  noFacts,
  type Permit2,
  type Relays,
  readFacts,
  type TokenApprovals,
  type TokenApprovalsPort,
} from '../../ports/accounts.ts';
import {
  APPROVAL_TOPICS,
  amountLeft,
  approvalTopics,
  newestApprovals,
} from '../evm/approvals-node.ts';
import { newestSetting, settingTopic } from '../evm/node-of-account.ts';
import {
  balanceOf,
  codeOf,
  looksLikeToken,
  nonceOf,
  type StateAsk,
  StateFault,
} from '../evm/state-facts-of-account.ts';
import { ADDRESS, BYTES, COUNT, outsideRow, WORD } from '../http/fetch.ts';
import {
  type CallBudget,
  observation,
  tryReading,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import {
  askExplorer,
  type ExplorerChain,
  type ExplorersOfChains,
  explorerFailed,
  nodeResultIn,
  PAGE_ROWS,
  resultIn,
  saysNoCreation,
  saysNoLogs,
  saysUnverified,
} from './envelope.ts';

const PORT = 'chain_facts';

type ExplorerFactsOptions = ExplorersOfChains & { readonly relays: Relays };

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
      return withBudget({ timeMs, callsMax, signal }, (budget) =>
        tryReading(PORT, whyOf(at), async () => {
          const rows = await listEvents(at, { account, topic }, budget);
          // The oldest come first: of a list that is full the newest is not there.
          if (rows.length >= PAGE_ROWS) {
            return factUnread(why('row_cap', { address: account, limit: String(PAGE_ROWS) }));
          }
          return factRead(newestSetting(fact, address, rows), sourceOf(at, options));
        }),
      );
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
  const tell = <T>(work: () => Promise<T>): Promise<Partly<T, ChainFactsPort>> =>
    tryReading(PORT, whyOf(at), async () => factRead(await work(), source));
  return readFacts(
    {
      code: () => tell(() => codeOf(ask, address)),
      nonce: () => tell(() => nonceOf(ask, address)),
      balance_wei: () => tell(() => balanceOf(ask, address)),
      is_token: () => tell(() => looksLikeToken(ask, address)),
      verified_name: () => tell(() => askVerifiedName(at, address, budget)),
      creation: async () => {
        const relays = await options.relays();
        if (!relays.checked) return relays;
        return tell(() => creationOf(at, address, relays.value, budget));
      },
    },
    wanted,
    `${name} ${shown}`,
  );
}

function sourceOf(
  { name, shown: url }: ExplorerChain,
  { now, simulated }: Pick<ExplorersOfChains, 'now' | 'simulated'>,
): Source {
  return observation({ name, url, simulated }, now);
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
async function askVerifiedName(
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

/** One row of `getcontractcreation`. It may name the factory as the creator. */
export const creationRow = outsideRow({
  contractAddress: ADDRESS,
  contractCreator: ADDRESS,
  txHash: WORD,
  contractFactory: z.union([ADDRESS, z.literal('')]).nullish(),
  blockNumber: z.string().regex(/^\d+$/).nullish(),
});
export type CreationRow = z.output<typeof creationRow>;

const logged = outsideRow({ address: ADDRESS });
const signedTransaction = outsideRow({
  from: ADDRESS,
  to: z.union([ADDRESS, z.literal('')]).nullish(),
  logs: z.array(logged),
});
type SignedTransaction = z.output<typeof signedTransaction>;

/** A transaction as signed: Blockscout tells it itself, the other passes a node's word on. */
export async function askTransaction(
  at: ExplorerChain,
  txhash: string,
  budget: CallBudget,
): Promise<SignedTransaction> {
  const [module, action] = at.tellsChainId
    ? ['transaction', 'gettxinfo']
    : ['proxy', 'eth_getTransactionReceipt'];
  return askExplorer(at, budget, at.list({ module, action, txhash }), (answer) => {
    const told = at.tellsChainId ? resultIn(answer)?.result : nodeResultIn(answer);
    const read = signedTransaction.safeParse(told);
    if (!read.success) throw new StateFault(action);
    return read.data;
  });
}

const DELEGATED = 'an account that delegates (EIP-7702)';

type SignedCreation = Pick<CreationFact, 'creator' | 'relay' | 'factory'>;

/**
 * Says of rows who signed for each: a creation without a factory was signed by who is named, of
 * any other the transaction tells. It is asked for once.
 */
export function signatureReader(
  at: ExplorerChain,
  relays: ReadonlyMap<string, string>,
  budget: CallBudget,
): (row: CreationRow) => Promise<SignedCreation> {
  const asked = new Map<string, SignedTransaction>();
  const ask: StateAsk = (call) =>
    askExplorer(at, budget, at.state(call), (answer) => stateAnswer(at, answer));
  const delegated = new Map<string, boolean>();
  /** Whether the code of an account is a delegation of EIP-7702: others may have it act. */
  const isDelegated = async (account: string): Promise<boolean> => {
    const known = delegated.get(account);
    if (known !== undefined) return known;
    const { delegates_to } = await codeOf(ask, account);
    delegated.set(account, delegates_to !== null);
    return delegates_to !== null;
  };
  return async ({ contractCreator: named, contractFactory, txHash }) => {
    if (!at.tellsChainId && contractFactory === '') {
      return { creator: named, relay: null, factory: null };
    }
    const known = asked.get(txHash);
    const signed = known === undefined ? await askTransaction(at, txHash, budget) : known;
    asked.set(txHash, signed);
    const told = contractFactory == null || contractFactory === '' ? named : contractFactory;
    const factory = told === signed.from ? null : told;
    // A bundler may call an entry point by way of a contract of its own: its log is there.
    const called = [signed.to, ...signed.logs.map((log) => log.address)];
    const relay = present(called.map((one) => relays.get(String(one)) ?? null))[0];
    if (relay !== undefined) return { creator: null, relay, factory };
    // An account that delegates acts for its owner, whoever signed the transaction that calls it.
    const actors = new Set(present([signed.to === '' ? null : signed.to, factory]));
    actors.delete(signed.from);
    for (const account of factory === null ? [] : actors) {
      if (await isDelegated(account)) return { creator: null, relay: DELEGATED, factory };
    }
    return { creator: signed.from, relay: null, factory };
  };
}

/** The explorer knows of no creation, which is no proof that there was none. */
class NoCreation extends Error {}

async function creationOf(
  at: ExplorerChain,
  address: string,
  relays: ReadonlyMap<string, string>,
  budget: CallBudget,
): Promise<CreationFact> {
  const params = { module: 'contract', action: 'getcontractcreation', contractaddresses: address };
  const enveloped = await askExplorer(at, budget, at.list(params), (answer) => {
    if (saysNoCreation(answer)) throw new NoCreation();
    return resultIn(answer);
  });
  const rows = z.array(creationRow).safeParse(enveloped?.result);
  const row = rows.data?.find(({ contractAddress }) => contractAddress === address);
  if (row === undefined) throw new StateFault('getcontractcreation');
  const { txHash: tx, blockNumber: block } = row;
  const signed = await signatureReader(at, relays, budget)(row);
  return { ...signed, tx, block: block == null ? null : Number(block) };
}

const CHAIN_ID = /^0x[0-9a-f]{1,13}$/i;

/** Why the explorer is no source of this chain; `null` where it is one. */
async function identify(
  at: ExplorerChain,
  budget: CallBudget,
): Promise<Unread<ChainFactsPort> | null> {
  if (!at.tellsChainId) return null;
  return tryReading(PORT, whyOf(at), async () => {
    const id = await askExplorer(at, budget, at.node('eth_chainId', null), nodeResultIn);
    if (typeof id !== 'string' || !CHAIN_ID.test(id)) throw new StateFault('eth_chainId');
    const { chain_id } = CHAINS[at.chain];
    if (Number(id) === chain_id) return null;
    const fault = `is of another chain: its chain id is ${Number(id)}, not ${chain_id}`;
    return unread(PORT, explorerFailed(at, fault));
  });
}

/** Why a question has no answer; a bug is thrown on. */
function whyOf(at: ExplorerChain): (error: unknown) => Why {
  return (error) => {
    if (error instanceof NoCreation) {
      return why('creation_not_found', { source: `${at.name} ${at.shown}` });
    }
    return whyUnanswered(error, (fault) => explorerFailed(at, fault));
  };
}

// Reads approvals of an address, and their remaining amounts, from an explorer's event list. A full
// list may have left out newer ones: it is a part.

const APPROVALS_PORT = 'token_approvals';
type ExplorerApprovalsOptions = ExplorersOfChains & { readonly permit2: Permit2 };

type Addresses = readonly string[];
type CutValue<T> = { readonly value: T; readonly cut: boolean };

/** Approvals through explorers. Their calls are counted, so only the main chain is asked. */
export function explorerApprovals(options: ExplorerApprovalsOptions): TokenApprovals {
  const { now, timeMs, callsMax, simulated, permit2 } = options;
  const askAt = async <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    work: (at: ExplorerChain, budget: CallBudget, permit2: Addresses) => Promise<CutValue<T>>,
  ): Promise<Partly<T, TokenApprovalsPort>> => {
    const at = options.chains.find((one) => one.chain === chain);
    if (at === undefined) {
      return unread(APPROVALS_PORT, why('not_configured', { what: `An explorer of ${chain}` }));
    }
    const registry = await permit2();
    if (!registry.checked) return registry;
    const origin = { port: APPROVALS_PORT, source: sourceOf(at, options) } as const;
    return tryReading(APPROVALS_PORT, whyOf(at), async () => {
      const { value, cut } = await withBudget({ timeMs, callsMax, signal }, (budget) =>
        work(at, budget, registry.value),
      );
      if (cut)
        return part(value, origin, why('row_cap', { address: chain, limit: String(PAGE_ROWS) }));
      return simulated ? weaken(read(value, origin), why('simulated')) : read(value, origin);
    });
  };
  return {
    chains: [],
    given: (chain, owner, signal) =>
      askAt(chain, signal, async (at, budget, addresses) => {
        const [, topic1] = approvalTopics(owner);
        const lists = await Promise.all(
          APPROVAL_TOPICS.map((topic) => listEvents(at, { topic, topic1 }, budget)),
        );
        const events = newestApprovals(chain, owner, lists.flat(), addresses);
        const value = { events, to_block: null };
        return { value, cut: lists.some((rows) => rows.length >= PAGE_ROWS) };
      }),
    left: ({ chain, way, token, spender }, owner, signal) =>
      askAt(chain, signal, async (at, budget, addresses) => {
        const head = await askExplorer(at, budget, at.node('eth_blockNumber', null), nodeResultIn);
        const known = COUNT.safeParse(head);
        if (!known.success) throw new StateFault('eth_blockNumber');
        const block = known.data;
        const ask: StateAsk = (call) =>
          askExplorer(at, budget, at.state(call), (told) => stateAnswer(at, told));
        const how = { ask, block, permit2: addresses, now: now() };
        const raw_amount = await amountLeft({ way, token, spender, owner }, how);
        return { value: { raw_amount, block }, cut: false };
      }),
  };
}

// Lists events of one kind from an explorer, of one contract or about one account. A full list may
// have left out newer ones: callers compare it with `PAGE_ROWS`.

/** A number of a row. Etherscan writes zero as `0x`. */
export const LOG_NUMBER = z
  .string()
  .transform((text) => (text === '0x' ? '0x0' : text))
  .pipe(COUNT);
export const LOG_ROW = outsideRow({
  address: ADDRESS,
  // Blockscout fills up to four topics with null.
  topics: z.array(WORD.nullable()).transform((all) => all.filter((one) => one !== null)),
  data: BYTES,
  transactionHash: WORD,
  blockNumber: LOG_NUMBER,
  logIndex: LOG_NUMBER,
});
const ROWS = z.array(LOG_ROW).max(PAGE_ROWS);

/** The contract that logs, or the first argument of what it logs. */
type EventQuery =
  | { readonly topic: string; readonly account: string }
  | { readonly topic: string; readonly topic1: string };

/** The events with a first topic, from the oldest on. */
export async function listEvents(at: ExplorerChain, asked: EventQuery, budget: CallBudget) {
  const about =
    'account' in asked ? { address: asked.account } : { topic1: asked.topic1, topic0_1_opr: 'and' };
  const question = at.list({
    module: 'logs',
    action: 'getLogs',
    fromBlock: '0',
    toBlock: 'latest',
    topic0: asked.topic,
    ...about,
    page: '1',
    offset: String(PAGE_ROWS),
  });
  return askExplorer(at, budget, question, (answer) => {
    if (saysNoLogs(answer)) return [];
    const rows = ROWS.safeParse(resultIn(answer)?.result);
    if (!rows.success) throw new StateFault('getLogs');
    return rows.data;
  });
}
