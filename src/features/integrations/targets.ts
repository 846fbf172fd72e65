// Answers one question: what does a member give so that a chat can be posted to?
// Ids and tokens in the form that the platform gives them. An address is taken apart and its host
// compared; nothing of what was given is ever asked for as an address, or said again.

import type { ChatPlatform, ChatTarget } from '../../ports/chat/chat-platforms.ts';

/** What was given, as it was given. */
export type Given = {
  readonly webhook_url?: string | undefined;
  readonly bot_token?: string | undefined;
  readonly channel?: string | undefined;
  readonly webhook_id?: string | undefined;
  readonly webhook_token?: string | undefined;
  readonly chat_id?: string | undefined;
};

type Field = keyof Given;
type Form = { readonly pattern: RegExp; readonly expected: string };

const SLACK_PATH = /\/services\/(T[A-Z0-9]{2,20}\/B[A-Z0-9]{2,20}\/[A-Za-z0-9]{16,64})$/;

/** Where Slack's own webhooks are. */
const SLACK_HOOKS = 'https://hooks.slack.com';

const FORMS: { readonly [F in Exclude<Field, 'webhook_url' | 'bot_token'>]: Form } = {
  channel: {
    pattern: /^(#[\p{L}\p{N}_-]{1,80}|[CGD][A-Z0-9]{6,20})$/u,
    expected: 'the id of a channel, or its name after #',
  },
  webhook_id: { pattern: /^\d{15,22}$/, expected: 'the id of a webhook: its digits' },
  webhook_token: {
    pattern: /^[\w-]{40,100}$/,
    expected: 'the token of a webhook: what stands behind its id',
  },
  chat_id: {
    pattern: /^(-?\d{1,20}|@[A-Za-z]\w{3,63})$/,
    expected: 'the number of a chat, or the name of a channel after @',
  },
};
const SLACK_BOT: Form = { pattern: /^xoxb-[\w-]{10,250}$/, expected: 'the token of a bot: xoxb-…' };
const TELEGRAM_BOT: Form = {
  pattern: /^\d{5,15}:[\w-]{30,60}$/,
  expected: 'the token of a bot: its digits, a colon and what follows',
};

/** A target, or what was wrong with what was given, field by field. */
export type TargetOf =
  | { readonly target: ChatTarget }
  | { readonly problems: readonly [string, ...string[]] };

/** The target that was given. `slackRoot` is where webhooks of Slack are posted to here. */
export function targetOf(platform: ChatPlatform, given: Given, slackRoot: URL): TargetOf {
  if (platform === 'discord') {
    const { webhook_id, webhook_token } = given;
    const fields = { webhook_id, webhook_token };
    return made(given, fields, FORMS, (held) => ({ platform, ...held }));
  }
  if (platform === 'telegram') {
    const { bot_token, chat_id } = given;
    const forms = { bot_token: TELEGRAM_BOT, chat_id: FORMS.chat_id };
    return made(given, { bot_token, chat_id }, forms, (held) => ({ platform, ...held }));
  }
  if (given.webhook_url === undefined) {
    const { bot_token, channel } = given;
    if (bot_token === undefined && channel === undefined) {
      return { problems: ['body: expected webhook_url, or bot_token and channel'] };
    }
    const forms = { bot_token: SLACK_BOT, channel: FORMS.channel };
    return made(given, { bot_token, channel }, forms, (held) => ({ platform, ...held }));
  }
  const beside = namesBeside(given, ['webhook_url']);
  if (beside !== null) return { problems: [beside] };
  const webhook = slackWebhook(given.webhook_url, slackRoot);
  if (webhook === null) return { problems: [`webhook_url: expected ${SLACK_HOOKS}/services/T…`] };
  return { target: { platform, webhook } };
}

/** What of a webhook of Slack is no address; `null`: it is none of the platform. */
function slackWebhook(text: string, slackRoot: URL): string | null {
  if (!URL.canParse(text)) return null;
  const { origin, username, password, search, hash, pathname } = new URL(text);
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  if (!isPlain || (origin !== SLACK_HOOKS && origin !== slackRoot.origin)) return null;
  const prefix = origin === SLACK_HOOKS ? '' : slackRoot.pathname.replace(/\/$/, '');
  const found = SLACK_PATH.exec(pathname);
  if (found === null) return null;
  const [whole, webhook] = found;
  return webhook === undefined || pathname !== prefix + whole ? null : webhook;
}

function namesBeside(given: Given, wanted: readonly string[]): string | null {
  const others = Object.entries(given).filter(([name, value]) => {
    return value !== undefined && !wanted.includes(name);
  });
  return others.length === 0 ? null : `${others.map(([name]) => name).join(', ')}: not of this`;
}

function made<F extends string>(
  given: Given,
  fields: { readonly [N in F]: string | undefined },
  forms: { readonly [N in NoInfer<F>]: Form },
  target: (held: { readonly [N in F]: string }) => ChatTarget,
): TargetOf {
  const names = Object.keys(fields) as F[];
  const problems = names.flatMap((name) => {
    const value = fields[name];
    const { pattern, expected } = forms[name];
    return value !== undefined && pattern.test(value) ? [] : [`${name}: expected ${expected}`];
  });
  const beside = namesBeside(given, names);
  const [first, ...rest] = beside === null ? problems : [...problems, beside];
  if (first !== undefined) return { problems: [first, ...rest] };
  return { target: target(fields as { readonly [N in F]: string }) };
}
