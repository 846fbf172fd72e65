// A webhook is always waited for: without, Discord answers 204 to what it then drops. Its markdown
// is escaped and nobody is mentioned, whatever a text holds.

import { z } from 'zod';
import type { ChatPost, ChatTarget, PostEnd, TargetFacts } from '../../ports/integrations.ts';
import { outsideRow } from '../http/fetch.ts';
import { removeSecrets } from '../http/secrets.ts';
import {
  type ChatAnswer,
  type ChatRoots,
  chatCall,
  later,
  layOut,
  oneLine,
  unexpectedEnd,
} from './exchange.ts';

type Discord = Extract<ChatTarget, { platform: 'discord' }>;

/** A description takes 4,096 characters; the link to a further page has the rest. */
const UNITS_MAX = 3_700;

// A backslash before any of them leaves the character itself, and links that are none of ours are
// no links.
function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|>#\-[\]()<:@.!+=/]/g, '\\$&');
}

export function discordMessage(post: ChatPost) {
  const { title, facts, caveat, foot } = layOut(post, {
    unitsMax: UNITS_MAX,
    escaped: escapeMarkdown,
  });
  const { more_link } = post;
  const more = more_link === null ? '' : `[${more_link.title}](${more_link.url})`;
  const description = [facts, caveat, more].filter((one) => one !== '').join('\n\n');
  const embed = { title, url: post.link, description, footer: { text: foot.replaceAll('\\', '') } };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

const taken = outsideRow({ id: z.string() });
const refused = outsideRow({ message: z.string(), code: z.number().optional() });
const limited = outsideRow({ retry_after: z.number().nonnegative() });
const hook = outsideRow({
  id: z.string(),
  name: z.string().nullable(),
  channel_id: z.string().nullable(),
});

/** Codes after which the webhook takes nothing any more: it is gone, or its token is. */
const BROKEN: ReadonlySet<number> = new Set([10_003, 10_015, 50_001, 50_013, 50_027]);

function endOf(answer: ChatAnswer, token: string): PostEnd {
  const { status, json, retry_after_s } = answer;
  if (status === 429) {
    const asked = limited.safeParse(json);
    const wait = asked.success ? Math.ceil(asked.data.retry_after) : retry_after_s;
    return later('answered 429: its rate limit is reached', wait);
  }
  const error = refused.safeParse(json);
  if (!error.success || error.data.code === undefined || status >= 500)
    return unexpectedEnd(answer);
  const message = removeSecrets(error.data.message, [token]);
  const fault = `said ${error.data.code}: ${oneLine(message, FAULT_CHARS_MAX)}`;
  if (BROKEN.has(error.data.code)) return { outcome: 'broken', fault };
  return status === 400 ? { outcome: 'refused', fault } : unexpectedEnd(answer);
}

const FAULT_CHARS_MAX = 100;
const API = ['api', 'v10', 'webhooks'] as const;

export async function postToDiscord(
  { webhook_id, webhook_token }: Discord,
  post: ChatPost,
  { discord: root }: ChatRoots,
  signal: AbortSignal,
): Promise<PostEnd> {
  const path = [...API, webhook_id, webhook_token];
  const body = discordMessage(post);
  const answer = await chatCall({ root, path, query: 'wait=true', body, signal });
  const isTaken = answer.status === 200 && taken.safeParse(answer.json).success;
  return isTaken ? { outcome: 'taken' } : endOf(answer, webhook_token);
}

export async function factsOfDiscord(
  { webhook_id, webhook_token }: Discord,
  { discord: root }: ChatRoots,
  signal: AbortSignal,
): Promise<TargetFacts> {
  const answer = await chatCall({
    root,
    path: [...API, webhook_id, webhook_token],
    body: null,
    signal,
  });
  const facts = hook.safeParse(answer.json);
  if (answer.status === 200 && facts.success) {
    const { name, channel_id } = facts.data;
    const place = `${name === null ? 'Webhook' : name} in channel ${channel_id}`;
    return { outcome: 'verified', place: oneLine(place, PLACE_CHARS_MAX) };
  }
  const end = endOf(answer, webhook_token);
  return end.outcome === 'broken' || end.outcome === 'later'
    ? end
    : later('did not say what the webhook is of', null);
}

const PLACE_CHARS_MAX = 120;
