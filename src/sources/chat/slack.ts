// Texts are plain ones, so that nothing in them is markup. A webhook answers words, and `ok` alone
// is one that it took; the interface of bots answers 200 whatever happened.

import { z } from 'zod';
import type { ChatPost, ChatTarget, PostEnd, TargetFacts } from '../../ports/integrations.ts';
import { outsideRow } from '../http/fetch.ts';
import {
  type ChatAnswer,
  type ChatRoots,
  chatCall,
  later,
  layOut,
  oneLine,
  unexpectedEnd,
} from './exchange.ts';

type Slack = Extract<ChatTarget, { platform: 'slack' }>;

/** A section takes 3,000 characters; facts and caveat stand in one each. */
const UNITS_MAX = 3_000;

// Slack keeps texts with these three escaped, plain ones too; left as they are they are control
// characters: `<!channel>` would call everybody.
const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

function escapeMrkdwn(text: string): string {
  return text.replace(/[&<>]/g, (one) => String(ESCAPES[one]));
}

/** The address of a link: its text ends at `>`, and its address at `|`. */
function address(url: string): string {
  return escapeMrkdwn(url.replaceAll('|', '%7C'));
}

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false }) as const;

/** Builds the message. Notifications show `text`. */
export function slackMessage(post: ChatPost) {
  const { title, facts, caveat, foot } = layOut(post, {
    unitsMax: UNITS_MAX,
    escaped: escapeMrkdwn,
  });
  const links = [`<${address(post.link)}|Open the page>`];
  const { more_link } = post;
  if (more_link !== null) {
    links.push(`<${address(more_link.url)}|${escapeMrkdwn(more_link.title)}>`);
  }
  return {
    text: title,
    blocks: [
      { type: 'section', text: plain(title) },
      ...(facts === '' ? [] : [{ type: 'section', text: plain(facts) }]),
      { type: 'section', text: plain(caveat) },
      {
        type: 'section',
        text: { type: 'mrkdwn', text: links.join(' · '), verbatim: true },
      },
      { type: 'context', elements: [plain(foot)] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** Answers after which the target takes nothing any more. */
const BROKEN: ReadonlySet<string> = new Set([
  'no_service',
  'no_active_hooks',
  'no_team',
  'team_disabled',
  'invalid_token',
  'action_prohibited',
  'posting_to_general_channel_denied',
  'channel_is_archived',
  'channel_not_found',
  'user_not_found',
  'not_in_channel',
  'is_archived',
  'restricted_action',
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'org_login_required',
  'ekm_access_denied',
]);
/** Answers about the message. */
const REFUSED: ReadonlySet<string> = new Set([
  'invalid_payload',
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
  'too_many_attachments',
]);

function endOf(error: string, answer: ChatAnswer): PostEnd {
  const fault = `said ${error}`;
  if (BROKEN.has(error)) return { outcome: 'broken', fault };
  if (REFUSED.has(error)) return { outcome: 'refused', fault };
  if (error === 'ratelimited' || error === 'rate_limited')
    return later(fault, answer.retry_after_s);
  return unexpectedEnd(answer);
}

const said = outsideRow({ ok: z.boolean(), error: z.string().max(100).optional() });
const botFacts = outsideRow({ ok: z.literal(true), team: z.string(), user: z.string() });

export async function postToSlack(
  target: Slack,
  post: ChatPost,
  { slack_hooks, slack_api }: ChatRoots,
  signal: AbortSignal,
): Promise<PostEnd> {
  const message = slackMessage(post);
  if ('webhook' in target) {
    const path = ['services', ...target.webhook.split('/')];
    const answer = await chatCall({ root: slack_hooks, path, body: message, signal });
    const text = answer.text.trim();
    if (answer.status === 200 && text === 'ok') return { outcome: 'taken' };
    return answer.status >= 500 ? unexpectedEnd(answer) : endOf(text, answer);
  }
  const answer = await chatCall({
    root: slack_api,
    path: ['api', 'chat.postMessage'],
    authorization: `Bearer ${target.bot_token}`,
    body: { channel: target.channel, ...message },
    signal,
  });
  return botEnd(answer);
}

function botEnd(answer: ChatAnswer): PostEnd {
  const parsed = said.safeParse(answer.json);
  if (!parsed.success || answer.status >= 500) return unexpectedEnd(answer);
  const { ok, error } = parsed.data;
  if (ok && answer.status === 200) return { outcome: 'taken' };
  return error === undefined ? unexpectedEnd(answer) : endOf(error, answer);
}

/** The facts of a bot's token. A webhook reveals nothing before a post. */
export async function factsOfSlack(
  target: Slack,
  { slack_api }: ChatRoots,
  signal: AbortSignal,
): Promise<TargetFacts> {
  if ('webhook' in target) {
    const [team, hook] = target.webhook.split('/');
    return { outcome: 'unknown', place: `Webhook ${hook} of workspace ${team}` };
  }
  const answer = await chatCall({
    root: slack_api,
    path: ['api', 'auth.test'],
    authorization: `Bearer ${target.bot_token}`,
    body: {},
    signal,
  });
  const facts = botFacts.safeParse(answer.json);
  if (facts.success) {
    const place = `${target.channel} of ${facts.data.team}, as ${facts.data.user}`;
    return { outcome: 'verified', place: oneLine(place, PLACE_CHARS_MAX) };
  }
  const end = botEnd(answer);
  return end.outcome === 'broken' ? end : later('did not say whose token it is', null);
}

const PLACE_CHARS_MAX = 120;
