// Answers one question: what does a Solana node answer to a method?
// Each of its error codes means that something was not read; none of them is an empty answer.

import { z } from 'zod';
import type { JsonLimits } from '../http/fetch-json.ts';
import { outsideBody, outsideRow } from '../http/forms.ts';
import { askJson, type CallBudget, ProviderFault, type ProviderGuard } from '../http/provider.ts';
import { exactJson } from './exact-json.ts';

/** A node. `url` may carry a key: it is asked and never shown. */
export type SolanaNode = { readonly url: URL; readonly guard: ProviderGuard };

const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 16 * 2 ** 20 };

/** What the codes of a node mean (Agave's JSON-RPC server). */
const CODES: Readonly<Record<number, string>> = {
  [-32001]: 'the block was cleaned up',
  [-32004]: 'the block is not available',
  [-32005]: 'the node is unhealthy',
  [-32007]: 'the slot was skipped or is missing',
  [-32009]: 'the slot is missing in its long-term storage',
  [-32010]: 'the address is excluded from its index',
  [-32011]: 'it keeps no transaction history',
  [-32014]: 'the status is not available yet',
  [-32015]: 'the version of the transaction is not supported',
  [-32016]: 'it is behind the slot asked for',
  [-32019]: 'its long-term storage cannot be reached',
  [-32020]: 'it does not know the signature to go on from',
  [-32021]: 'it keeps no history of slots',
};
/** Codes after which the same question may soon be answered. */
const PASSING: ReadonlySet<number> = new Set([-32004, -32005, -32014, -32016, -32019]);

/** A node answered with an error; `code` is its own. */
export class NodeError extends ProviderFault {
  readonly code: number;
  constructor(method: string, code: number) {
    const meaning = CODES[code];
    const known = meaning === undefined ? '' : ` (${meaning})`;
    super(`answered error ${code} to ${method}${known}`, PASSING.has(code) ? 'passing' : 'lasting');
    this.name = 'NodeError';
    this.code = code;
  }
}

const answer = outsideBody({
  result: z.unknown().optional(),
  error: outsideRow({ code: z.number().int() }).nullish(),
});

/** Calls a method. Throws `NodeError`, `ProviderFault` or `BudgetSpent`. */
export async function called<T>(
  { url, guard }: SolanaNode,
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<T>,
  budget: CallBudget,
): Promise<T> {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  return askJson({ guard, budget, url, body, limits: LIMITS, parse: exactJson }, (told) => {
    const read = answer.safeParse(told);
    if (!read.success) throw shapeless(method);
    const { error, result } = read.data;
    if (error !== undefined && error !== null) throw new NodeError(method, error.code);
    const known = schema.safeParse(result);
    if (known.success) return known.data;
    throw shapeless(method);
  });
}

/** The main network's genesis: a node of any other is no source. */
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

/** Throws `ProviderFault` where the node is of another network. */
export async function checkMainnet(node: SolanaNode, budget: CallBudget): Promise<void> {
  const genesis = await called(node, 'getGenesisHash', [], z.string(), budget);
  if (genesis === MAINNET_GENESIS) return;
  throw new ProviderFault('is of another network: its genesis differs', 'lasting');
}

function shapeless(method: string): ProviderFault {
  return new ProviderFault(`answered JSON of another shape to ${method}`, 'passing');
}
