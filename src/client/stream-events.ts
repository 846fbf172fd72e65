// Answers one question: how are server-sent events read by `fetch`, which can send a header?

import { type Said, saidIn } from './stream-said.ts';

/** What the service answered instead of a stream. */
export type Refused = {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterS: number | null;
};

class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly refused: Refused;
  constructor(refused: Refused) {
    super(`refused with ${refused.status}`);
    this.refused = refused;
  }
}

/** The refusal that a fault stands for; `null` for any other. */
export function refusalIn(fault: unknown): Refused | null {
  return fault instanceof RefusedError ? fault.refused : null;
}

/** The longest event that is taken, and the longest body of a refusal. */
const EVENT_CHARS_MAX = 1024 * 1024;
const REFUSAL_CHARS_MAX = 64 * 1024;

/** The messages of a stream of events, until it ends; it rejects where it breaks or is refused. */
export async function* eventsOf(
  url: URL,
  token: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Said, void> {
  const headers = {
    accept: 'text/event-stream',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  // A redirect is not followed: the token goes where it was meant to.
  const response = await fetch(url, { headers, redirect: 'manual', signal });
  const { body, status } = response;
  const type = response.headers.get('content-type');
  if (status !== 200 || body === null || type?.startsWith('text/event-stream') !== true) {
    throw new RefusedError(await refusalOf(response));
  }
  let text = '';
  for await (const chunk of textOf(body)) {
    text += chunk.replaceAll('\r', '');
    let end = text.indexOf('\n\n');
    while (end !== -1) {
      const data = dataOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (data !== '') yield saidIn(data);
      end = text.indexOf('\n\n');
    }
    if (text.length > EVENT_CHARS_MAX) throw new Error('an event is longer than is taken');
  }
}

// Not every browser lets a body be walked by itself.
async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function dataOf(event: string): string {
  const lines = event.split('\n').filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).trimStart()).join('\n');
}

async function refusalOf(response: Response): Promise<Refused> {
  let text = '';
  if (response.body !== null) {
    for await (const chunk of textOf(response.body)) {
      text += chunk;
      if (text.length > REFUSAL_CHARS_MAX) break;
    }
  }
  const asked = response.headers.get('retry-after');
  const retryAfterS = asked !== null && /^\d{1,10}$/.test(asked) ? Number(asked) : null;
  return { status: response.status, body: bodyIn(text), retryAfterS };
}

// A proxy may refuse in words of its own.
function bodyIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    if (fault instanceof SyntaxError) return text;
    throw fault;
  }
}
