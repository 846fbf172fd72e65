// Answers one question: what holds for every call of an outside address, however it is made.
// It ends in its time or when it is stopped, and a body ends at its cap. User info goes as a header
// and nowhere else, and no fault names any part of a URL.

/** The outside did not give a usable answer. `fault` is product text without any part of a URL. */
export class FetchFault extends Error {
  readonly fault: string;
  constructor(fault: string) {
    super(fault);
    this.name = 'FetchFault';
    this.fault = fault;
  }
}

/** A configured address as it may be shown: scheme and host, or `file:`. */
export function shownAddress(url: URL): string {
  return url.protocol === 'file:' ? 'file:' : `${url.protocol}//${url.host}`;
}

/** The address without its user info. */
export function bareAddress(url: URL): URL {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain;
}

/** The user info of an address as basic authorisation; no header where it has none. */
export function credentialOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

/** When a call ends, and what it is told then. */
type CallBounds = {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly late: () => FetchFault;
  readonly stopped: () => FetchFault;
  /** The fault that any other error means, or the error itself where it is a bug. */
  readonly asFault: (error: unknown) => unknown;
};

/** What ends a call early, with a fault: the call gets its signal. */
export type CallEnd = { readonly signal: AbortSignal; readonly end: (fault: FetchFault) => void };

/** Makes a call within its bounds. What ended it is told, and not what that broke. */
export async function boundedCall<T>(
  { deadlineMs, signal, late, stopped, asFault }: CallBounds,
  call: (ended: CallEnd) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = (fault: FetchFault): void => ended.abort(fault);
  const deadline = setTimeout(() => end(late()), deadlineMs);
  const stop = (): void => end(stopped());
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    ended.signal.throwIfAborted();
    return await call({ signal: ended.signal, end });
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : asFault(error);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', stop);
  }
}

/** The chunks of a body; once there are over `bytesMax` bytes it throws what `tooLarge` makes. */
export async function* cappedChunks(
  body: AsyncIterable<unknown>,
  bytesMax: number,
  tooLarge: (fault: string) => FetchFault,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a body gave text, not bytes');
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLarge(`sent over ${bytesMax} bytes`);
    yield chunk;
  }
}

/** A body as a whole, within its cap. */
export async function wholeBody(...of: Parameters<typeof cappedChunks>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of cappedChunks(...of)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What codes of the network mean in words. */
export const NETWORK_FAULTS: readonly (readonly [code: string, fault: string])[] = [
  ['ECONNREFUSED', 'refused the connection'],
  ['ENOTFOUND', 'its name was not found'],
  ['EAI_AGAIN', 'its name could not be looked up'],
  ['ECONNRESET', 'closed the connection early'],
  ['EPIPE', 'closed the connection early'],
  ['ETIMEDOUT', 'did not take the connection in time'],
];

const NETWORK = /^(HPE_|E[A-Z]+$|CERT_|ERR_TLS|ERR_SSL|UNABLE_|DEPTH_|SELF_SIGNED)/;

/** Whether a code is one of the network, of HTTP or of TLS: whatever else fails is a bug. */
export function isNetworkCode(code: string): boolean {
  return NETWORK.test(code);
}

/** The code of an error of the system's; empty where it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The fault that an error means by its code. Its message is dropped: it may hold a URL. */
export function faultByCode(
  error: unknown,
  faults: ReadonlyMap<string, string>,
  isOutside: (code: string) => boolean,
): unknown {
  if (error instanceof FetchFault) return error;
  const code = codeOf(error);
  const fault = faults.get(code);
  if (fault !== undefined) return new FetchFault(fault);
  return isOutside(code) ? new FetchFault(`the connection failed (${code})`) : error;
}
