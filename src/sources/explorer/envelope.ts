// An explorer's errors come with HTTP 200, some as text where a list belongs, so that nothing is
// taken for rows but a list, and nothing for empty but the words of `empties.ts`.

import { z } from 'zod';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { explorerParams, rpcParams, type StateCall } from '../evm/state-facts-of-account.ts';
import { type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  type CallBudget,
  ProviderFault,
  type ProviderGuard,
  type ProviderTerms,
} from '../http/provider.ts';
import { removeSecrets, secretsIn } from '../http/secrets.ts';

/** The provider does not serve this chain to this deployment: it is one that is not read here. */
export class ChainRefused extends ProviderFault {
  constructor() {
    super('its plan refuses this chain', 'lasting');
    this.name = 'ChainRefused';
  }
}

/**
 * The provider's window of results ended: rows past it exist, and cannot be asked for. Where it
 * ends before any row was shown, it is a fault like any other.
 */
export class WindowEnded extends ProviderFault {
  constructor() {
    super('ended its window of results before the list', 'lasting');
    this.name = 'WindowEnded';
  }
}

/** The rows of one answer on every plan; the free plan gives no more, whatever the request. */
export const PAGE_ROWS = 1_000;

/** One page of a list. `pending`: the provider says that rows of it are still to come. */
export type ListPage = { readonly rows: readonly unknown[]; readonly pending: boolean };

const envelope = outsideBody({ status: z.string(), message: z.string(), result: z.unknown() });

/** Reads a page of a list. Throws `ProviderFault`, `ChainRefused` or `WindowEnded`. */
export function pageIn(action: ListAction, answer: unknown): ListPage {
  const read = envelope.safeParse(answer);
  if (!read.success) throw new ProviderFault('answered JSON of another shape', 'passing');
  const { status, message, result } = read.data;
  if ([message, result].some((one) => WINDOW_ENDED.test(String(one)))) throw new WindowEnded();
  if (status === PENDING) return { rows: listOf(result), pending: true };
  // A null is recorded beside the words alone, and never beside an “OK”.
  const nothing = Array.isArray(result) ? result.length === 0 : result === null && status === '0';
  if (nothing && saysEmpty(action, status, message)) return NOTHING;
  if (status !== '1') throw failure(message, result);
  const rows = listOf(result);
  if (rows.length === 0)
    throw new ProviderFault(`answered no rows with ${quote(message)}`, 'passing');
  return { rows, pending: false };
}

/** Etherscan says it as the message; others as the reason of a `NOTOK`. */
const WINDOW_ENDED = /^result window is too large/i;

/** Blockscout's word for a list of which some blocks' traces are not processed yet. */
const PENDING = '2';
const NOTHING: ListPage = { rows: [], pending: false };

/**
 * Reads what a question that is no list came to; `null` where the answer is in no envelope, since
 * a node's methods are passed on without one. Throws `ProviderFault` or `ChainRefused`.
 */
export function resultIn(answer: unknown): { readonly result: unknown } | null {
  const read = envelope.safeParse(answer);
  if (!read.success) return null;
  const { status, message, result } = read.data;
  if (status !== '1') throw failure(message, result);
  return { result };
}

const outcome = outsideBody({ result: z.unknown().optional(), error: z.unknown().optional() });

/** Reads the result of a node's method that an explorer passes on, as the wire has it. */
export function nodeResultIn(answer: unknown): unknown {
  // Limits and refusals come in the explorer's own envelope, whatever was asked.
  const own = envelope.safeParse(answer);
  if (own.success) throw failure(own.data.message, own.data.result);
  const read = outcome.safeParse(answer);
  if (!read.success) throw new ProviderFault('answered JSON of another shape', 'passing');
  const { error, result } = read.data;
  if (error !== undefined && error !== null) {
    throw new ProviderFault(
      `answered an error to a node's method: ${quote(textOf(error))}`,
      'passing',
    );
  }
  return result;
}

function listOf(result: unknown): readonly unknown[] {
  if (!Array.isArray(result)) {
    throw new ProviderFault(`answered ${quote(textOf(result))} where a list belongs`, 'passing');
  }
  return result;
}

/** Words by which a plan or a missing chain is told from a passing failure. */
const REFUSES_CHAIN: readonly RegExp[] = [
  // Etherscan's free plan on Base, BSC and others.
  /^free api access is not supported for this chain/i,
];
/** Words that the same question will not outlive. */
const LASTING = [
  /api ?key/i,
  /^missing or unsupported chainid/i,
  /invalid (action|address|module)/i,
  /missing or invalid action/i,
  /daily rate limit/i,
];

function failure(message: string, result: unknown): Error {
  const said = typeof result === 'string' && result !== '' ? result : message;
  if (REFUSES_CHAIN.some((words) => words.test(said))) return new ChainRefused();
  const named = said === message ? quote(message) : `${quote(message)}: ${quote(said)}`;
  const lasting = LASTING.some((words) => words.test(said)) && !/please use api key/i.test(said);
  return new ProviderFault(`answered ${named}`, lasting ? 'lasting' : 'passing');
}

/** What is quoted of a provider before its credentials are taken out, and after that. */
const QUOTED_CHARS_MAX = 2_000;
const FAULT_CHARS_MAX = 240;

/** The message of a provider, on one line. A fault shows it without credentials (`askExplorer`). */
function quote(text: string): string {
  return `“${text.slice(0, QUOTED_CHARS_MAX).replace(/\s+/g, ' ')}”`;
}

const worded = outsideRow({ message: z.string() });

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const read = worded.safeParse(value);
  return read.success ? read.data.message : typeof value;
}

// Each row has the answer that shows it. Whatever else comes without rows is a failure: these
// APIs say their errors with HTTP 200, and an error must never pass for an empty history.

/** The lists that are read of an address. */
export type ListAction = 'txlist' | 'txlistinternal' | 'tokentx';

type Empty = { readonly status: '0' | '1'; readonly message: string };

const NO_TRANSACTIONS: Empty = { status: '0', message: 'No transactions found' };

/** The empty answers of each list, whose result is `[]`, or `null` with status 0. */
export const EMPTIES: Readonly<Record<ListAction, readonly Empty[]>> = {
  txlist: [
    // Etherscan V2, recorded 2023-12-19; docs.etherscan.io/api-reference/endpoint/txlist.
    NO_TRANSACTIONS,
    // Routescan's Etherscan-compatible API, recorded for an address that never sent.
    { status: '1', message: 'OK' },
  ],
  txlistinternal: [
    // Etherscan V2 and Routescan, recorded 2025-12-01.
    NO_TRANSACTIONS,
    // Blockscout, recorded on api.blockscout.com.
    { status: '0', message: 'No internal transactions found' },
  ],
  tokentx: [
    // Etherscan V2, recorded 2025-12-01.
    NO_TRANSACTIONS,
    // Blockscout, recorded on api.blockscout.com.
    { status: '0', message: 'No token transfers found' },
    // Routescan's Etherscan-compatible API, recorded for an address that never sent.
    { status: '1', message: 'OK' },
  ],
};

/** Whether an answer says that the explorer knows of no creation of the contract asked about. */
export function saysNoCreation(answer: unknown): boolean {
  const read = envelope.safeParse(answer);
  if (!read.success) return false;
  const { status, message, result } = read.data;
  // Etherscan V2, recorded for an account without code.
  if (status === '0' && message === 'No data found') return result === null;
  // Blockscout and Routescan, recorded for an account without code.
  return status === '1' && message === 'OK' && Array.isArray(result) && result.length === 0;
}

/** Whether an answer says that no log fits the question. */
export function saysNoLogs(answer: unknown): boolean {
  const read = envelope.safeParse(answer);
  if (!read.success) return false;
  const { status, message, result } = read.data;
  if (status !== '0' || !Array.isArray(result) || result.length > 0) return false;
  // Etherscan V2: docs.etherscan.io/api-reference/endpoint/getlogs; Blockscout: its API of logs.
  return message === 'No records found' || message === 'No logs found';
}

/** Whether `getsourcecode` says that it holds no verified source; `undefined`: no such field. */
export function saysUnverified(source: string | undefined, abi: string | undefined): boolean {
  // Etherscan V2: docs.etherscan.io/api-reference/endpoint/getsourcecode, status 1.
  if (abi === 'Contract source code not verified') return source === undefined || source === '';
  // Blockscout gives the address alone: its source, ContractView `prepare_source_code_contract`.
  return abi === undefined && source === undefined;
}

/** Whether an answer positively says that a list has nothing. */
export function saysEmpty(action: ListAction, status: string, message: string): boolean {
  return EMPTIES[action].some((one) => one.status === status && one.message === message);
}

// The addresses of explorers may carry a key: they are asked and never shown.

/** A question of one of the explorers: parameters of a GET, or a node's method by POST. */
type ExplorerQuestion = { readonly url: URL; readonly body: unknown };

export type ExplorerChain = {
  readonly chain: EvmChainName;
  readonly name: 'Etherscan-compatible API' | 'Blockscout';
  /** Scheme and host. */
  readonly shown: string;
  readonly guard: ProviderGuard;
  /** The credentials that its questions carry. */
  readonly secrets: readonly string[];
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

/** Explorers, one for each chain and no two of the same, and what one request may spend on them. */
export type ExplorersOfChains = ProviderTerms & { readonly chains: readonly ExplorerChain[] };

/** The bounds of one answer of an explorer. */
const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 16 * 2 ** 20 };

/** Asks once and reads the answer under the guard, so that a limit is waited out. */
export function askExplorer<T>(
  { guard, secrets }: ExplorerChain,
  budget: CallBudget,
  question: ExplorerQuestion,
  read: (answer: unknown) => T,
): Promise<T> {
  return askJson({ ...question, guard, budget, limits: LIMITS }, (answer) => {
    try {
      return read(answer);
    } catch (error) {
      throw error instanceof ProviderFault ? withoutSecrets(error, secrets) : error;
    }
  });
}

function withoutSecrets(told: ProviderFault, secrets: readonly string[]): ProviderFault {
  // Their words are ours alone, and their kind decides what is read on.
  if (told instanceof ChainRefused || told instanceof WindowEnded) return told;
  const fault = removeSecrets(told.fault, secrets).slice(0, FAULT_CHARS_MAX);
  if (fault === told.fault) return told;
  return new ProviderFault(fault, told.passing ? 'passing' : 'lasting', told.waitMs);
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

/** The address and guard that the chains of one provider share. */
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
    secrets: [...secretsIn(url), ...(key === null ? [] : [key])],
    list,
    name: 'Etherscan-compatible API',
    shown: originText(url),
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
    secrets: secretsIn(url),
    name: 'Blockscout',
    shown: originText(url),
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
