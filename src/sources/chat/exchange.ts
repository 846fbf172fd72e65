// Answers one question: what did a chat platform answer, as far as all of them answer alike?
// It is asked once: when to ask again is decided where it is kept what waits.

import { MS_PER_S } from '../../chain/time.ts';
import { type Read, type Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChatPort, PostEnd } from '../../ports/chat/chat-platforms.ts';
import { exchange } from '../http/fetch-json.ts';
import { jsonIn } from '../http/json-text.ts';
import { FetchFault } from '../http/outbound-call.ts';

/** Where a platform is; the path of a call is appended. Its own, or the operator's. */
export type ChatRoots = {
  readonly slack_hooks: URL;
  readonly slack_api: URL;
  readonly discord: URL;
  readonly telegram: URL;
};

/** A call: its body as JSON, or none where something is asked. */
type ChatCall = {
  readonly root: URL;
  /** Its segments; each is encoded, so that none can lead elsewhere. */
  readonly path: readonly string[];
  readonly query?: string;
  readonly authorization?: string;
  readonly body: object | null;
  readonly signal: AbortSignal;
};

/** An answer, whatever its status. */
export type ChatAnswer = {
  readonly status: number;
  readonly text: string;
  /** Where it is JSON. */
  readonly json: unknown;
  /** Seconds that it asked to wait in a header. */
  readonly retry_after_s: number | null;
};

const LIMITS = { deadlineMs: 10_000, bytesMax: 65_536 } as const;

/** Calls a platform. No redirect is followed. Throws `FetchFault` where it does not answer. */
export async function chatCall({
  root,
  path,
  query,
  body,
  ...call
}: ChatCall): Promise<ChatAnswer> {
  const url = new URL(root);
  const base = url.pathname.replace(/\/$/, '');
  url.pathname = `${base}/${path.map(segment).join('/')}`;
  if (query !== undefined) url.search = query;
  const { authorization, signal } = call;
  const headers = { accept: 'application/json', 'user-agent': 'exhibit' };
  const answer = await exchange({
    url,
    headers: authorization === undefined ? headers : { ...headers, authorization },
    body: body === null ? null : JSON.stringify(body),
    limits: LIMITS,
    signal,
    call: 'post',
  });
  const text = answer.bytes.toString('utf8');
  const wait = answer.retryAfterMs;
  return {
    status: answer.status,
    text,
    json: jsonIn(text),
    retry_after_s: wait === null ? null : Math.ceil(wait / MS_PER_S),
  };
}

// The token of a Telegram bot holds a colon, which a path may.
function segment(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':');
}

/** A wait that a platform asks for is kept up to here, in seconds. */
const WAIT_MAX_S = 3_600;

/** That a platform takes nothing now. */
export function later(fault: string, waitS: number | null): Extract<PostEnd, { outcome: 'later' }> {
  const wait_s = waitS === null ? null : Math.min(Math.max(0, waitS), WAIT_MAX_S);
  return { outcome: 'later', fault, wait_s };
}

/** What an answer means that is none of the platform's own. */
export function unexpected({ status, retry_after_s }: ChatAnswer): PostEnd {
  if (status === 429) return later('answered 429: its rate limit is reached', retry_after_s);
  if (status >= 300 && status < 400) return later(`redirected (${status})`, null);
  if (status >= 200 && status < 300) return later('answered something that it does not say', null);
  return later(`answered ${status}`, retry_after_s);
}

/** Asks, and has a platform that does not answer unread. */
export async function reached<T>(
  platform: string,
  ask: () => Promise<Read<T, ChatPort>>,
): Promise<Read<T, ChatPort> | Unread<ChatPort>> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof FetchFault)) throw error;
    return unread(
      'chat_platforms',
      why('provider_failed', { provider: platform, fault: error.fault }),
    );
  }
}
