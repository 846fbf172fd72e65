// Answers one question: what does an explorer's answer say: rows, nothing, a failure, a refusal?
// Its errors come with HTTP 200, some as text where a list belongs, so that nothing is taken for
// rows but a list, and nothing for empty but the words of `empties.ts`.

import { z } from 'zod';
import { outsideBody, outsideRow } from '../http/forms.ts';
import { ProviderFault } from '../http/provider.ts';
import { type ListAction, saysEmpty } from './empties.ts';

/** The provider does not serve this chain to this deployment: it is one that is not read here. */
export class ChainRefused extends Error {
  constructor() {
    super('the provider refuses this chain');
    this.name = 'ChainRefused';
  }
}

/** The provider's window of results ended: rows past it exist, and cannot be asked for. */
export class WindowEnded extends Error {
  constructor() {
    super("the provider's window ended");
    this.name = 'WindowEnded';
  }
}

/** One page of a list. `pending`: the provider says that rows of it are still to come. */
export type ListPage = { readonly rows: readonly unknown[]; readonly pending: boolean };

const envelope = outsideBody({ status: z.string(), message: z.string(), result: z.unknown() });

/** Reads a page of a list. Throws `ProviderFault`, `ChainRefused` or `WindowEnded`. */
export function pageIn(action: ListAction, answer: unknown): ListPage {
  const { status, message, result } = enveloped(answer);
  if (/^result window is too large/i.test(message)) throw new WindowEnded();
  if (status === PENDING) return { rows: listOf(result), pending: true };
  const nothing = result === null || (Array.isArray(result) && result.length === 0);
  if (nothing && saysEmpty(action, status, message)) return NOTHING;
  if (status !== '1') throw failure(message, result);
  const rows = listOf(result);
  if (rows.length === 0)
    throw new ProviderFault(`answered no rows with ${quoted(message)}`, 'passing');
  return { rows, pending: false };
}

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
      `answered an error to a node's method: ${quoted(textOf(error))}`,
      'passing',
    );
  }
  return result;
}

function enveloped(answer: unknown): z.output<typeof envelope> {
  const read = envelope.safeParse(answer);
  if (!read.success) throw new ProviderFault('answered JSON of another shape', 'passing');
  return read.data;
}

function listOf(result: unknown): readonly unknown[] {
  if (!Array.isArray(result)) {
    throw new ProviderFault(`answered ${quoted(textOf(result))} where a list belongs`, 'passing');
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
  const named = said === message ? quoted(message) : `${quoted(message)}: ${quoted(said)}`;
  const lasting = LASTING.some((words) => words.test(said)) && !/please use api key/i.test(said);
  return new ProviderFault(`answered ${named}`, lasting ? 'lasting' : 'passing');
}

const SAID_CHARS_MAX = 160;
const CREDENTIAL_LIKE = /[A-Za-z0-9_-]{24,}/g;

/** What a provider said, short, and without what could be a key. */
function quoted(text: string): string {
  const plain = text.replace(/https?:\/\/\S+/g, '[address]').replace(CREDENTIAL_LIKE, '[…]');
  return `“${plain.replace(/\s+/g, ' ').slice(0, SAID_CHARS_MAX)}”`;
}

const worded = outsideRow({ message: z.string() });

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const read = worded.safeParse(value);
  return read.success ? read.data.message : typeof value;
}
