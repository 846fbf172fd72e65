// Answers one question: what came back of a request, within its time and its bounds?
// It repeats what a passing fault kept from being answered, and nothing else: a 402 or a 429 stays
// as long as its cause, and asking again in a loop would only be one more request.

/** A request, and the bounds of sending it. */
export type Sending = {
  readonly url: URL;
  readonly init: {
    readonly method: string;
    readonly headers: { readonly [name: string]: string };
    readonly body: string | null;
  };
  /** Whether it may reach the service twice, where nobody can tell that it arrived once. */
  readonly repeatable: boolean;
  /** The statuses that the route itself answers with: none of them is a fault. */
  readonly statuses: readonly number[];
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal | undefined;
};

/** What came back: a response read to its end, or why there is none. */
export type Received =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: Headers;
      readonly text: string;
    }
  | { readonly kind: 'none'; readonly code: 'network' | 'timeout' | 'too_large'; cause?: unknown };

/** A fault of the service that passes soon. */
const UNAVAILABLE = 503;
const BACKOFF_MS = 250;
const BACKOFF_MAX_MS = 5_000;
const MS_PER_S = 1_000;

/** Sends a request until it is answered, its attempts are used or its time is up. */
export async function send(sending: Sending): Promise<Received> {
  const { timeoutMs, signal: callers, retriesMax } = sending;
  const endMs = performance.now() + timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = callers === undefined ? timeout : AbortSignal.any([callers, timeout]);
  for (let attempt = 0; ; attempt += 1) {
    const received = await sendOnce(sending, signal, timeout);
    const waitMs = attempt < retriesMax ? waitAfter(received, sending, attempt) : null;
    if (waitMs === null || performance.now() + waitMs >= endMs) return received;
    await pause(waitMs, callers);
  }
}

async function sendOnce(
  { url, init, bytesMax, signal: callers }: Sending,
  signal: AbortSignal,
  timeout: AbortSignal,
): Promise<Received> {
  try {
    // A redirect is not followed: the key goes where it was meant to.
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const text = await textOf(response, bytesMax);
    if (text === null) return { kind: 'none', code: 'too_large' };
    return { kind: 'response', status: response.status, headers: response.headers, text };
  } catch (cause) {
    callers?.throwIfAborted();
    if (timeout.aborted) return { kind: 'none', code: 'timeout' };
    return { kind: 'none', code: 'network', cause };
  }
}

/** The body as text; `null` where it is longer than allowed, and the rest of it is not read. */
async function textOf(response: Response, bytesMax: number): Promise<string | null> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > bytesMax) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** How long to wait before the next attempt; `null`: there is none. */
function waitAfter(received: Received, sending: Sending, attempt: number): number | null {
  const backoffMs = Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MAX_MS);
  const jitterMs = (backoffMs / 2) * (1 + Math.random());
  if (received.kind === 'none') {
    return received.code === 'network' && sending.repeatable ? jitterMs : null;
  }
  const { status, headers } = received;
  if (status !== UNAVAILABLE || sending.statuses.includes(status)) return null;
  const askedS = wholeOf(headers, 'retry-after');
  return askedS === null ? jitterMs : askedS * MS_PER_S + jitterMs;
}

/** A header that holds a whole number; `null` for any other. */
export function wholeOf(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
