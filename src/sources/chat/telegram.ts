// Messages go in Telegram's HTML, where three characters alone are escaped. A group that became a
// supergroup has another id, which its refusal names.

import { z } from 'zod';
import { present } from '../../evidence/measure.ts';
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

type Telegram = Extract<ChatTarget, { platform: 'telegram' }>;

/** A message takes 4,096 characters as they are shown; title, link and foot have the rest. */
const UNITS_MAX = 3_600;

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (one) => String(ESCAPES[one]));
}

export function telegramMessage(chatId: string, post: ChatPost) {
  const { title, facts, caveat, foot } = layOut(post, { unitsMax: UNITS_MAX, escaped: escapeHtml });
  const linkTo = (url: string, title: string) =>
    `<a href="${escapeHtml(url)}">${escapeHtml(title)}</a>`;
  const { more_link } = post;
  const more = more_link === null ? [] : [linkTo(more_link.url, more_link.title)];
  const link = [linkTo(post.link, 'Open the page'), ...more].join(' · ');
  const text = [`<b>${title}</b>`, facts, `<i>${caveat}</i>`, link, foot]
    .filter((part) => part !== '')
    .join('\n\n');
  return {
    chat_id: chatId,
    text,
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  };
}

const ok = outsideRow({ ok: z.literal(true) });
const failed = outsideRow({
  ok: z.literal(false),
  error_code: z.number().int(),
  description: z.string(),
  parameters: outsideRow({
    retry_after: z.number().nonnegative().optional(),
    migrate_to_chat_id: z.number().int().optional(),
  }).optional(),
});
const chat = outsideRow({
  ok: z.literal(true),
  result: outsideRow({ title: z.string().optional(), username: z.string().optional() }),
});
const bot = outsideRow({ ok: z.literal(true), result: outsideRow({ username: z.string() }) });

/** A chat that is not there, or from which the bot was put out. */
const NO_CHAT =
  /chat not found|chat_id is empty|group chat was deactivated|not enough rights|PEER_ID/i;

function endOf(answer: ChatAnswer, { bot_token }: Telegram): PostEnd {
  const error = failed.safeParse(answer.json);
  if (!error.success || answer.status >= 500) return unexpectedEnd(answer);
  const { error_code: code, description, parameters } = error.data;
  const words = removeSecrets(description, [bot_token]);
  const fault = `said ${code}: ${oneLine(words, FAULT_CHARS_MAX)}`;
  if (code === 429) {
    const wait = parameters?.retry_after;
    return later(fault, wait === undefined ? answer.retry_after_s : wait);
  }
  const moved = parameters?.migrate_to_chat_id;
  if (moved !== undefined) return { outcome: 'moved', chat_id: String(moved) };
  if (code === 401 || code === 403 || code === 404) return { outcome: 'broken', fault };
  if (code !== 400) return unexpectedEnd(answer);
  return { outcome: NO_CHAT.test(description) ? 'broken' : 'refused', fault };
}

const FAULT_CHARS_MAX = 100;

function callBot(
  method: string,
  { bot_token }: Telegram,
  { telegram: root }: ChatRoots,
  body: object,
  signal: AbortSignal,
): Promise<ChatAnswer> {
  return chatCall({ root, path: [`bot${bot_token}`, method], body, signal });
}

export async function postToTelegram(
  target: Telegram,
  post: ChatPost,
  roots: ChatRoots,
  signal: AbortSignal,
): Promise<PostEnd> {
  const body = telegramMessage(target.chat_id, post);
  const answer = await callBot('sendMessage', target, roots, body, signal);
  const isTaken = answer.status === 200 && ok.safeParse(answer.json).success;
  return isTaken ? { outcome: 'taken' } : endOf(answer, target);
}

/** The names of a bot and its chat. */
export async function factsOfTelegram(
  target: Telegram,
  roots: ChatRoots,
  signal: AbortSignal,
): Promise<TargetFacts> {
  const known = await callBot('getMe', target, roots, {}, signal);
  const who = bot.safeParse(known.json);
  if (!who.success) return notFacts(known, target);
  const answer = await callBot('getChat', target, roots, { chat_id: target.chat_id }, signal);
  const where = chat.safeParse(answer.json);
  if (!where.success) return notFacts(answer, target);
  const { title, username } = where.data.result;
  const [name] = present([title, username, target.chat_id]);
  const place = `${name}, as ${who.data.result.username}`;
  return { outcome: 'verified', place: oneLine(place, PLACE_CHARS_MAX) };
}

function notFacts(answer: ChatAnswer, target: Telegram): TargetFacts {
  const end = endOf(answer, target);
  return end.outcome === 'broken' || end.outcome === 'later'
    ? end
    : later('did not say which chat it is', null);
}

const PLACE_CHARS_MAX = 120;
