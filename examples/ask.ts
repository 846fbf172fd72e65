// Asks the service over HTTP. Whatever goes wrong on the way is a failure with its reason, and
// never an empty answer: nobody may take "it did not answer" for "it found nothing".

const BASE_URL = process.env['BASE_URL'] ?? 'http://127.0.0.1:8080';
const API_KEY = process.env['API_KEY'];
const DEADLINE_MS = 30_000;

/** The body of an answer with status 200, or why there is none. */
export type Asked =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly reason: string };

/** Asks by GET, or by POST where there is a body to send. */
export async function ask(path: string, send?: object): Promise<Asked> {
  try {
    const response = await fetch(new URL(path, BASE_URL), {
      method: send === undefined ? 'GET' : 'POST',
      headers: {
        ...(API_KEY === undefined ? {} : { authorization: `Bearer ${API_KEY}` }),
        ...(send === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: send === undefined ? null : JSON.stringify(send),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const body: unknown = await response.json();
    if (response.status === 200) return { ok: true, body };
    // 400 names the field, 402 and 429 the key's own trouble: none says anything about an address.
    return { ok: false, reason: `${response.status}: ${textAt(body, 'error')}` };
  } catch (fault) {
    return { ok: false, reason: `no answer: ${fault instanceof Error ? fault.message : fault}` };
  }
}

/** The text of a field, or a note that there is none. */
export function textAt(body: unknown, field: string): string {
  const value = valueAt(body, field);
  return typeof value === 'string' ? value : 'no reason given';
}

/** The value of a field; `undefined` where there is no such field. */
export function valueAt(body: unknown, field: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, field) : undefined;
}
