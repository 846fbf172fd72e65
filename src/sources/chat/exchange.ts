// A platform is asked once: the queue of waiting messages decides when to ask again.

import { formatIsoTime, MS_PER_S } from '../../chain/time.ts';
import { type Read, type Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { ChatPort, ChatPost, PostEnd } from '../../ports/integrations.ts';
import type { CallOutcome, OnCallEnd } from '../../ports/providers.ts';
import { exchange, jsonIn } from '../http/fetch.ts';
import { FetchFault } from '../http/outbound-call.ts';
import { attempt } from '../http/provider.ts';

/**
 * Where a platform is; the path of a call is appended to `url`, its own or the operator's.
 * `onCallEnd` is called with the end of each call.
 */
export type ChatRoot = { readonly url: URL; readonly onCallEnd: OnCallEnd };

export type ChatRoots = {
  readonly slack_hooks: ChatRoot;
  readonly slack_api: ChatRoot;
  readonly discord: ChatRoot;
  readonly telegram: ChatRoot;
};

/** A call: its body as JSON, or none where something is asked. */
type ChatCall = {
  readonly root: ChatRoot;
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
  const url = new URL(root.url);
  const base = url.pathname.replace(/\/$/, '');
  // The token of a Telegram bot holds a colon, which a path may.
  const segments = path.map((text) => encodeURIComponent(text).replaceAll('%3A', ':'));
  url.pathname = `${base}/${segments.join('/')}`;
  if (query !== undefined) url.search = query;
  const { authorization, signal } = call;
  const headers = { accept: 'application/json', 'user-agent': 'exhibit' };
  const answer = await attempt(FetchFault, () =>
    exchange({
      url,
      headers: authorization === undefined ? headers : { ...headers, authorization },
      body: body === null ? null : JSON.stringify(body),
      limits: LIMITS,
      signal,
      call: 'post',
    }),
  );
  if (answer instanceof FetchFault) {
    const { fault } = answer;
    root.onCallEnd(signal.aborted ? { outcome: 'stopped' } : { outcome: 'failed', fault });
    throw answer;
  }
  root.onCallEnd(callEndOf(answer.status));
  const text = answer.bytes.toString('utf8');
  const wait = answer.retryAfterMs;
  return {
    status: answer.status,
    text,
    json: jsonIn(text),
    retry_after_s: wait === null ? null : Math.ceil(wait / MS_PER_S),
  };
}

/** A refusal is an answer: what was sent is at fault, and the platform is there. */
function callEndOf(status: number): CallOutcome {
  const isDown = status === 429 || status >= 500 || (status >= 300 && status < 400);
  return isDown ? { outcome: 'failed', fault: `answered ${status}` } : { outcome: 'answered' };
}

/** A wait that a platform asks for is kept up to here, in seconds. */
const WAIT_MAX_S = 3_600;

/** That a platform takes nothing now. */
export function later(fault: string, waitS: number | null): Extract<PostEnd, { outcome: 'later' }> {
  const wait_s = waitS === null ? null : Math.min(Math.max(0, waitS), WAIT_MAX_S);
  return { outcome: 'later', fault, wait_s };
}

/** The end of a post whose answer is none of the platform's own. */
export function unexpectedEnd({ status, retry_after_s }: ChatAnswer): PostEnd {
  if (status === 429) return later('answered 429: its rate limit is reached', retry_after_s);
  if (status >= 300 && status < 400) return later(`redirected (${status})`, null);
  if (status >= 200 && status < 300) return later('answered something that it does not say', null);
  return later(`answered ${status}`, retry_after_s);
}

/** Asks, and has a platform that does not answer unread. */
export async function readPlatform<T>(
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

// Facts give way, one by one and last first, and what is left out is counted; the title, the caveat
// and the link stay. Characters that are not seen, or that reorder what is, are taken out.

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Characters of one line before anything is escaped. */
const LINE_CHARS_MAX = 300;
/** Those of a title: what the platforms take in theirs, escapes included. */
const TITLE_CHARS_MAX = 100;

/** The limits and markup of a platform. */
export type MessageLayout = {
  /** UTF-16 units that facts and caveat may have together as they are sent. */
  readonly unitsMax: number;
  readonly escaped: (text: string) => string;
};

/** A message whose parts are escaped and short enough. */
export type LaidOut = {
  readonly title: string;
  readonly facts: string;
  readonly caveat: string;
  /** By whom, which dispatch, when. */
  readonly foot: string;
};

// Behind what begins a mention or holds an address together stands a word joiner: a platform would
// make a link of a text that is none of ours.
const LINKING = /[@.:/](?=[\p{L}/])/gu;

/** One line without anything unseen; what is cut says so. */
export function oneLine(text: string, charsMax = LINE_CHARS_MAX): string {
  const characters = [...text.replace(UNSEEN, ' ').trim()];
  if (characters.length <= charsMax) return characters.join('');
  return `${characters.slice(0, charsMax - 1).join('')}…`;
}

/** Lays a message out for a platform. */
export function layOut(post: ChatPost, { unitsMax, ...layout }: MessageLayout): LaidOut {
  const escapeText = (text: string): string => layout.escaped(text.replace(LINKING, '$&\u2060'));
  const { simulated } = post;
  const title = oneLine(simulated ? `Simulated: ${post.title}` : post.title, TITLE_CHARS_MAX);
  const said = simulated ? SIMULATED_CAVEAT + post.caveat : post.caveat;
  const caveat = escapeText(said.replace(UNSEEN, ' '));
  const lines = post.facts.map((fact) => escapeText(oneLine(fact)));
  let kept = lines.length;
  while (kept > 0 && factsText(lines, kept, escapeText).length + caveat.length > unitsMax)
    kept -= 1;
  return {
    title: escapeText(title),
    facts: factsText(lines, kept, escapeText),
    caveat,
    foot: escapeText(`Exhibit · dispatch ${post.dispatch} · ${formatIsoTime(post.at)}`),
  };
}

function factsText(
  lines: readonly string[],
  kept: number,
  escapeText: MessageLayout['escaped'],
): string {
  const left = lines.length - kept;
  const more = left === 0 ? [] : [escapeText(`${left} more: see the page.`)];
  return [...lines.slice(0, kept), ...more].join('\n');
}
