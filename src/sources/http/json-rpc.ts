// A call is answered with a result or with the server's own error; whatever is neither (HTML, a
// missing answer, silence) is a fault and never a result. The client waits as long as the server
// tells it to.

import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import type { OnCallEnd } from '../../ports/providers.ts';
import { type Answered, exchange, jsonIn, outsideBody, outsideRow } from './fetch.ts';
import { FetchFault, originText } from './outbound-call.ts';
import { attempt, countCallOf, ProviderFault, retry } from './provider.ts';
import { UNWATCHED } from './provider-watch.ts';

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** The server's own error. `data` is as it came. */
export type RpcError = {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
};

export type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: RpcError };

/**
 * The server gave no usable answer. `too_large`: a smaller question may be answered; `terminal`:
 * asking again does not help.
 */
export class RpcFault extends ProviderFault {
  readonly kind: 'too_large' | 'failed' | 'stopped' | 'terminal';
  /** `again`: the same question may soon be answered, after so long where it is told. */
  constructor(
    fault: string,
    kind: RpcFault['kind'],
    again: { readonly waitMs: number | null } | null = null,
  ) {
    super(fault, again === null ? 'lasting' : 'passing', again === null ? null : again.waitMs);
    this.name = 'RpcFault';
    this.kind = kind;
  }
}

export type RpcLimits = {
  readonly deadlineMs: number;
  readonly bytesMax: number;
  readonly batchMax: number;
  /** The longest wait that a server may ask for; a longer one is a fault. */
  readonly waitMaxMs: number;
  readonly attemptsMax: number;
};

/** Limits for public nodes and one's own. A traced block may be very large. */
export const RPC_LIMITS: RpcLimits = {
  deadlineMs: 60_000,
  bytesMax: 192 * 1024 * 1024,
  batchMax: 16,
  waitMaxMs: 60_000,
  attemptsMax: 5,
};

export type JsonRpcOptions = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: RpcLimits;
  /** Resolves after so many milliseconds, or at once when the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called with the end of each exchange. The server's own error is an answer. */
  readonly onCallEnd?: OnCallEnd;
};

export type JsonRpc = {
  /** Scheme and host. */
  readonly shown: string;
  readonly call: (call: RpcCall, signal: AbortSignal) => Promise<RpcAnswer>;
  /** One answer for each call, in their order. Throws `RpcFault`, or `BudgetSpent` of an asker. */
  readonly batch: (calls: readonly RpcCall[], signal: AbortSignal) => Promise<RpcAnswer[]>;
  readonly close: () => void;
};

const SOCKETS_MAX = 8;
const IDLE_MS = 10_000;
const FIRST_WAIT_MS = 250;
const HTTP = { ok: 200, unauthorised: 401, forbidden: 403, tooLarge: 413, tooMany: 429 } as const;
const SERVER_FAULT = 500;
const RATE_CODES: ReadonlySet<number> = new Set([429, -32029]);
const RATE_TEXT = new RegExp(
  [
    ...['rate.?limit', 'too many requests', 'requests? per (second|minute|day)'],
    ...['compute units per second', 'throughput'],
  ].join('|'),
  'i',
);

const ERROR = outsideRow({ code: z.number(), message: z.string(), data: z.unknown().optional() });
const ANSWER = outsideBody({
  id: z.union([z.number(), z.null()]).optional(),
  result: z.unknown().optional(),
  error: ERROR.nullish(),
});
type Wire = z.infer<typeof ANSWER>;

/** Whether an error only asks to come back later. */
export function isRateLimit({ code, message }: RpcError): boolean {
  return RATE_CODES.has(code) || RATE_TEXT.test(message);
}

/** A client of one server. Batches that the server finds too large are halved, for good. */
export function jsonRpc(options: JsonRpcOptions): JsonRpc {
  const SomeAgent = options.url.protocol === 'https:' ? SecureAgent : PlainAgent;
  const agent = new SomeAgent({ keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS });
  const client = new Client(agent, options);
  return {
    shown: originText(options.url),
    call: async (call, signal) => only(await client.ask([call], signal)),
    batch: (calls, signal) => client.batch(calls, signal),
    close: () => agent.destroy(),
  };
}

function only(answers: readonly RpcAnswer[]): RpcAnswer {
  const [answer] = answers;
  if (answer === undefined) throw new TypeError('a call without an answer');
  return answer;
}

class Client {
  readonly #agent: PlainAgent;
  readonly #options: JsonRpcOptions;
  #batchSize: number;
  #nextId = 1;

  constructor(agent: PlainAgent, options: JsonRpcOptions) {
    this.#agent = agent;
    this.#options = options;
    this.#batchSize = options.limits.batchMax;
  }

  async batch(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcAnswer[]> {
    const answers: RpcAnswer[] = [];
    while (answers.length < calls.length) {
      const some = calls.slice(answers.length, answers.length + this.#batchSize);
      const got = await attempt(RpcFault, () => this.ask(some, signal));
      if (!(got instanceof RpcFault)) answers.push(...got);
      else if (got.kind !== 'too_large' || some.length === 1) throw got;
      else this.#batchSize = Math.ceil(some.length / 2);
    }
    return answers;
  }

  /** Asks in one exchange, and again where the server only asks to wait. */
  ask(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcAnswer[]> {
    const { limits, sleep } = this.#options;
    const bounds = {
      retriesMax: limits.attemptsMax - 1,
      backoffMs: FIRST_WAIT_MS,
      waitMaxMs: limits.waitMaxMs,
      pause: async (ms: number) => {
        await sleep(ms, signal);
        if (signal.aborted) throw new RpcFault('the reading was stopped', 'stopped');
      },
      tooLong: ({ fault }: ProviderFault, waitMs: number) => {
        const asks = `asks to wait ${Math.ceil(waitMs / MS_PER_S)} s`;
        return new RpcFault(`${fault} and ${asks}`, 'failed');
      },
    };
    return retry(bounds, () => this.#countedExchange(calls, signal));
  }

  async #countedExchange(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcAnswer[]> {
    const { onCallEnd = UNWATCHED } = this.#options;
    countCallOf(signal);
    const answers = await attempt(RpcFault, () => this.#exchange(calls, signal));
    if (!(answers instanceof RpcFault)) {
      onCallEnd({ outcome: 'answered' });
      return answers;
    }
    const { fault } = answers;
    const isStopped = answers.kind === 'stopped' || signal.aborted;
    onCallEnd(isStopped ? { outcome: 'stopped' } : { outcome: 'failed', fault });
    throw answers;
  }

  async #exchange(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcAnswer[]> {
    const first = this.#nextId;
    this.#nextId += calls.length;
    const asked = calls.map((call, i) => ({ jsonrpc: '2.0', id: first + i, ...call }));
    const body = JSON.stringify(asked.length === 1 ? asked[0] : asked);
    const { url, headers, limits } = this.#options;
    let posted: Answered;
    try {
      posted = await exchange({
        url,
        headers,
        body,
        limits,
        signal,
        agent: this.#agent,
        call: 'reading',
      });
    } catch (error) {
      if (!(error instanceof FetchFault)) throw error;
      if (error.kind === 'failed') throw passing(error.fault, null);
      throw new RpcFault(error.fault, error.kind);
    }
    const { status, retryAfterMs } = posted;
    const text = posted.bytes.toString('utf8');
    if (status === HTTP.tooMany) throw passing(LIMITED, retryAfterMs);
    if (status === HTTP.tooLarge) throw new RpcFault('finds the request too large', 'too_large');
    const wires = wiresOf(text);
    if (wires === null) throw unusable(posted, text);
    const answers = matchAnswers(wires, first, calls.length, status);
    const limited = answers.some((one) => !one.ok && isRateLimit(one.error));
    if (limited) throw passing(LIMITED, retryAfterMs);
    return answers;
  }
}

const LIMITED = 'limits the rate of requests';

function passing(fault: string, waitMs: number | null): RpcFault {
  return new RpcFault(fault, 'failed', { waitMs });
}

/** The answers in a body, or `null` where it holds none. Providers send errors with any status. */
function wiresOf(text: string): readonly Wire[] | null {
  const body = jsonIn(text);
  if (body === undefined) return null;
  const parsed = z.array(ANSWER).safeParse(Array.isArray(body) ? body : [body]);
  if (!parsed.success) return null;
  // JSON of another kind, such as a gateway's own refusal, answers none of the calls.
  return parsed.data.some(({ id, error }) => id != null || error != null) ? parsed.data : null;
}

function unusable({ status, retryAfterMs }: Answered, text: string): RpcFault {
  if (status === HTTP.unauthorised || status === HTTP.forbidden) {
    return new RpcFault(`refused the credential (${status})`, 'terminal');
  }
  if (status >= SERVER_FAULT) return passing(`answered ${status}`, retryAfterMs);
  if (status !== HTTP.ok) return new RpcFault(`answered ${status}`, 'failed');
  // A body that begins as JSON and does not end as such was cut by somebody on the way.
  if (/^\s*[[{]/.test(text) && !/[\]}]\s*$/.test(text)) {
    return new RpcFault('cut its answer off', 'too_large');
  }
  return new RpcFault('answered something other than JSON-RPC', 'failed');
}

/** The answer of each call by its id. One error for a whole batch is that of a batch refused. */
function matchAnswers(
  wires: readonly Wire[],
  first: number,
  count: number,
  status: number,
): RpcAnswer[] {
  const byId = new Map<number, Wire>();
  for (const wire of wires) if (typeof wire.id === 'number') byId.set(wire.id, wire);
  const [single] = wires;
  if (byId.size < count && wires.length === 1 && single?.error != null) {
    const error = { ...single.error, data: single.error.data };
    if (count === 1 || isRateLimit(error)) return wires.map(() => ({ ok: false, error }));
    throw new RpcFault('refuses batches of this size', 'too_large');
  }
  return Array.from({ length: count }, (_, i) => {
    const wire = byId.get(first + i);
    if (wire === undefined) throw new RpcFault(`left a call without answer (${status})`, 'failed');
    if (wire.error != null) return { ok: false, error: { ...wire.error, data: wire.error.data } };
    if (!('result' in wire)) throw new RpcFault('answered neither result nor error', 'failed');
    return { ok: true, result: wire.result };
  });
}
