// Asks a service as its callers should: one that is overloaded says when to come again, and is
// asked again then. A test of overload itself uses `fetch`, which sees each refusal.

import { setTimeout as wait } from 'node:timers/promises';
import { MS_PER_S } from '../chain/time.ts';
import { REFUSALS } from '../contract/refusals.ts';

/** How often a request is sent at most; the last refusal is given back. */
export const SENDINGS_MAX = 60;

/** Sends a request, again as Retry-After says while nothing was decided for want of room. */
export async function fetchPatiently(url: string | URL, init?: RequestInit): Promise<Response> {
  for (let sent = 1; ; sent += 1) {
    const response = await fetch(url, init);
    const afterS = await comesAgainAfter(response);
    if (afterS === null || sent === SENDINGS_MAX) return response;
    await wait(afterS * MS_PER_S);
  }
}

/** After how many seconds who was refused for overload may come again; `null`: it was not. */
async function comesAgainAfter(response: Response): Promise<number | null> {
  const after = response.headers.get('retry-after');
  if (after === null || !/^\d{1,3}$/.test(after)) return null;
  if (response.status !== 503 && response.status !== 402) return null;
  return isOverload(response.status, await response.clone().text()) ? Number(after) : null;
}

/** Whether a refusal is that of an overloaded service: `overloaded`, or a key not looked up. */
export function isOverload(status: number, text: string): boolean {
  if (status === 503 && text.startsWith('<!')) return true;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return false;
  }
  if (status === 503) return REFUSALS.overloaded.body.safeParse(body).success;
  const unread = REFUSALS.credential.body.safeParse(body);
  return status === 402 && unread.success && unread.data.reason === 'store_unavailable';
}
