import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { badInput, type InputProblem } from '../../contract/refusals.ts';
import { memberOf, type PlainHandler, plainRoute } from '../../contract/route.ts';
import { addressText, harmless, isoTime, oneOf, prose, words } from '../../contract/wire.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { rowsSeen, Unread } from '../../evidence/reading.ts';
import {
  CHAT_PLATFORMS,
  type ChatPlatform,
  type ChatPlatforms,
  type ChatTarget,
  DISPATCH_KINDS,
  INTEGRATION_LIMITS,
  type IntegrationStore,
  type Rules,
  type Sealed,
} from '../../ports/integrations.ts';

/** The kinds of a chat that names none. Signals and calls are many: one gets them by asking. */
export const UNNAMED_KINDS: readonly (typeof DISPATCH_KINDS)[number][] = ['flag', 'watch'];
const TEXT_CHARS_MAX = 300;

const HOSTED = { surface: 'integrations', access: 'analyst' } as const;
const BODY_BYTES_MAX = 16_384;
const problem = z.strictObject({ error: prose().min(1) });
const id = z.strictObject({ id: z.string().max(60) });
const text = z.string().trim().max(TEXT_CHARS_MAX).optional();

/** The fields of a rule. No `kinds`: `UNNAMED_KINDS`; another absent field is no limit. */
export const ruleFields = {
  kinds: z.array(z.enum(DISPATCH_KINDS)).min(1).readonly().optional(),
  chains: z.array(z.enum(CHAIN_NAMES)).min(1).readonly().optional(),
  addresses: z
    .array(addressText.refine((one) => parseAddress(one) !== null, 'expected addresses'))
    .min(1)
    .max(INTEGRATION_LIMITS.addresses)
    .readonly()
    .optional(),
};

const ruleForm = z.strictObject(ruleFields);
export type RuleFields = z.output<typeof ruleForm>;

/** The fields that connect each platform. */
export const targetFields = {
  webhook_url: text,
  bot_token: text,
  channel: text,
  webhook_id: text,
  webhook_token: text,
  chat_id: text,
};

const rules = z.strictObject({
  kinds: z.array(oneOf(DISPATCH_KINDS)).min(1),
  /** `null`: of every chain. */
  chains: z.array(oneOf(CHAIN_NAMES)).min(1).readonly().nullable(),
  /** `null`: about every address. */
  addresses: z.array(words()).min(1).readonly().nullable(),
});

const integration = z.strictObject({
  id: words(),
  platform: oneOf(CHAT_PLATFORMS),
  place: words(),
  rules,
  created_at: isoTime,
  verified: harmless(z.boolean(), 'it tells of the platform alone'),
  verified_at: isoTime.nullable(),
  broken_at: isoTime.nullable(),
  /** The fault that keeps the next dispatch from being delivered. */
  fault: words().nullable(),
  delivered_at: isoTime.nullable(),
  waiting: harmless(z.int().nonnegative(), 'it counts a queue'),
  dead_letters: harmless(z.int().nonnegative(), 'it counts a queue'),
});

const deadLetter = z.strictObject({
  integration_id: words(),
  platform: oneOf(CHAT_PLATFORMS),
  dispatch: z.int().positive(),
  title: words(),
  facts: z.array(words()).readonly(),
  caveat: prose(),
  url: words(),
  queued_at: isoTime,
  dead_at: isoTime,
  reason: words(),
});

export const connectIntegration = plainRoute({
  ...HOSTED,
  name: 'connect_integration',
  method: 'POST',
  path: '/integrations/{chat_platform}/connect',
  summary: 'Connects a chat that is told of what happens; it is asked nothing and reads nothing.',
  bodyBytesMax: BODY_BYTES_MAX,
  params: z.strictObject({ chat_platform: z.enum(CHAT_PLATFORMS) }),
  body: z
    .strictObject({
      ...targetFields,
      chat_id: z.union([z.string().trim().max(TEXT_CHARS_MAX), z.int()]).optional(),
      rules: ruleForm.optional(),
    })
    .describe(
      'Of Slack `webhook_url`, or `bot_token` and `channel`; of Discord `webhook_id` and ' +
        '`webhook_token`; of Telegram `bot_token` and `chat_id`.',
    ),
  responses: {
    201: z
      .strictObject({
        id: words(),
        platform: oneOf(CHAT_PLATFORMS),
        place: words(),
        created_at: isoTime,
        verified: harmless(z.boolean(), 'it tells of the platform alone'),
        /** Why the platform did not verify it; `null` where it did. */
        reason: prose().nullable(),
      })
      .describe('Connected. What was not verified is, by the first test that is delivered.'),
    409: problem.describe('The membership is not active, or has as many as it may have.'),
    503: problem.describe('Nothing could be stored.'),
  },
});

export const testIntegration = plainRoute({
  ...HOSTED,
  name: 'test_integration',
  method: 'POST',
  path: '/integrations/{id}/test',
  summary: 'Posts a message to a connected chat.',
  params: id,
  responses: {
    200: z.strictObject({
      delivered: harmless(z.boolean(), 'it tells of the platform alone'),
      /** Why not; `null` where it was. */
      reason: prose().nullable(),
    }),
    404: problem.describe('The membership has no such integration.'),
    503: problem.describe('The integrations could not be read.'),
  },
});

export const listIntegrations = plainRoute({
  ...HOSTED,
  name: 'list_integrations',
  method: 'GET',
  path: '/integrations',
  summary: 'The connected chats of the membership, and what did not reach them.',
  responses: {
    200: z.strictObject({
      integrations: harmless(
        z.array(integration).max(INTEGRATION_LIMITS.each),
        'it is what was set up',
      ),
      dead_letters: harmless(
        z.array(deadLetter).max(INTEGRATION_LIMITS.dead_shown),
        'it tells of queues',
      ),
      /** Whether there are more than are listed; the newest are. */
      more_dead_letters: harmless(z.boolean(), 'it tells of queues'),
    }),
    503: problem.describe('The integrations could not be read.'),
  },
});

export const removeIntegration = plainRoute({
  ...HOSTED,
  name: 'remove_integration',
  method: 'DELETE',
  path: '/integrations/{id}',
  summary: 'Removes a connected chat, with what waits for it.',
  params: id,
  responses: {
    200: z.strictObject({ id: words(), removed: z.literal(true) }),
    404: problem.describe('The membership has no such integration.'),
    503: problem.describe('Nothing could be stored.'),
  },
});

const NO_STORE = {
  error: 'The integrations cannot be read or changed just now. Nothing was done; try again later.',
};
const UNKNOWN = { error: 'This membership has no such integration.' };

/** @internal */
export function connectHandler(desk: IntegrationPorts): PlainHandler<typeof connectIntegration> {
  return async ({ params: { chat_platform: platform }, body }, { now, signal }, caller) => {
    const { rules, chat_id, ...others } = body;
    const fields = chat_id === undefined ? others : { ...others, chat_id: String(chat_id) };
    const asked = { membership_id: memberOf(caller).membership_id, now, signal };
    const end = await connectChat(desk, asked, platform, fields, rules);
    if (end.outcome === 'bad_input') return badInput(end.problems);
    if (end.outcome === 'unread') return connectIntegration.reply(503, NO_STORE);
    if (end.outcome === 'refused') return connectIntegration.reply(409, { error: end.why });
    const { id, place, reason } = end;
    const created_at = formatIsoTime(end.created_at);
    const verified = reason === null;
    return connectIntegration.reply(201, { id, platform, place, created_at, verified, reason });
  };
}

/** @internal */
export function testHandler(desk: IntegrationPorts): PlainHandler<typeof testIntegration> {
  return async ({ params: { id } }, { now, signal }, caller) => {
    const end = await testChat(
      desk,
      { membership_id: memberOf(caller).membership_id, now, signal },
      id,
    );
    if (end.outcome === 'unread') return testIntegration.reply(503, NO_STORE);
    if (end.outcome === 'unknown') return testIntegration.reply(404, UNKNOWN);
    return testIntegration.reply(200, { delivered: end.reason === null, reason: end.reason });
  };
}

const time = (at: UnixSeconds | null): string | null => (at === null ? null : formatIsoTime(at));

/** @internal */
export function listHandler({
  integrations,
  base,
}: IntegrationPorts): PlainHandler<typeof listIntegrations> {
  return async (_input, _asked, caller) => {
    const membership_id = memberOf(caller).membership_id;
    const [listed, dead] = await Promise.all([
      integrations.list(membership_id),
      integrations.deadLetters(membership_id),
    ]);
    if (!listed.checked || dead instanceof Unread) return listIntegrations.reply(503, NO_STORE);
    return listIntegrations.reply(200, {
      integrations: listed.value.map((one) => ({
        ...one,
        rules: {
          ...one.rules,
          kinds: one.rules.kinds.filter((kind) => DISPATCH_KINDS.includes(kind)),
        },
        created_at: formatIsoTime(one.created_at),
        verified: one.verified_at !== null,
        verified_at: time(one.verified_at),
        broken_at: time(one.broken_at),
        delivered_at: time(one.delivered_at),
      })),
      dead_letters: listOrNone(rowsSeen(dead)).map(({ message, ...one }) => ({
        integration_id: one.integration_id,
        platform: one.platform,
        dispatch: one.dispatch,
        title: message.title,
        facts: message.facts,
        caveat: message.caveat,
        url: base + message.path,
        queued_at: formatIsoTime(one.queued_at),
        dead_at: formatIsoTime(one.dead_at),
        reason: one.reason,
      })),
      more_dead_letters: !dead.checked,
    });
  };
}

/** @internal */
export function removeHandler({
  integrations,
}: IntegrationPorts): PlainHandler<typeof removeIntegration> {
  return async ({ params: { id } }, { now }, caller) => {
    const removed = await integrations.remove(memberOf(caller).membership_id, id, now(), 'member');
    if (removed instanceof Unread) return removeIntegration.reply(503, NO_STORE);
    return removed.value
      ? removeIntegration.reply(200, { id, removed: true })
      : removeIntegration.reply(404, UNKNOWN);
  };
}

// The membership follows from the caller alone; credentials leave this file encrypted.

export type IntegrationPorts = {
  readonly integrations: IntegrationStore;
  readonly platforms: ChatPlatforms;
  readonly sealed: (target: ChatTarget, integrationId: string) => Sealed;
  readonly opened: (sealed: Sealed, integrationId: string) => ChatTarget | null;
  readonly mintId: () => string;
  /** Where webhooks of Slack are posted to here. */
  readonly slackRoot: URL;
  /** The start of links. */
  readonly base: string;
  readonly simulated: boolean;
};

type MemberRequest = {
  readonly membership_id: string;
  readonly now: () => UnixSeconds;
  readonly signal: AbortSignal;
};

function rulesOf(rules: RuleFields | undefined): Rules {
  if (rules === undefined) return { kinds: UNNAMED_KINDS, chains: null, addresses: null };
  const { kinds = UNNAMED_KINDS, chains, addresses } = rules;
  return {
    kinds: [...new Set(kinds)],
    chains: chains === undefined ? null : [...new Set(chains)],
    addresses: addresses === undefined ? null : [...new Set(addresses.map(comparedForm))],
  };
}

// Dispatches name addresses in the form in which they are compared.
function comparedForm(text: string): string {
  const parsed = parseAddress(text);
  if (parsed === null) throw new Error('a rule of something that is no address');
  return parsed.address;
}

/** The result of connecting. `reason`: why the platform did not verify the target. */
export type ConnectEnd =
  | {
      readonly outcome: 'connected';
      readonly id: string;
      readonly place: string;
      readonly created_at: UnixSeconds;
      readonly reason: string | null;
    }
  | { readonly outcome: 'bad_input'; readonly problems: readonly InputProblem[] }
  | { readonly outcome: 'refused'; readonly why: string }
  | { readonly outcome: 'unread' };

const BY_A_TEST = 'The platform says nothing of a webhook before it is posted to: test it.';
const INACTIVE = 'This membership is not active: nothing can be connected.';
const FULL = `A membership has ${INTEGRATION_LIMITS.each} integrations at most. Remove one first.`;

/** @internal Connects a chat, verified where the platform can be asked without a post. */
export async function connectChat(
  desk: IntegrationPorts,
  { membership_id, now, signal }: MemberRequest,
  platform: ChatPlatform,
  given: TargetFields,
  rules: RuleFields | undefined,
): Promise<ConnectEnd> {
  const parsed = chatTargetOf(platform, given, desk.slackRoot);
  if ('problems' in parsed) return { outcome: 'bad_input', problems: parsed.problems };
  const { target } = parsed;
  const said = await desk.platforms.verify(target, signal);
  const facts = said instanceof Unread ? null : said.value;
  if (facts !== null && facts.outcome === 'broken') {
    return {
      outcome: 'bad_input',
      problems: [{ path: ['body'], says: `${platform} ${facts.fault}` }],
    };
  }
  const isVerified = facts !== null && facts.outcome === 'verified';
  const place = facts !== null && 'place' in facts ? facts.place : placeOf(target);
  const id = desk.mintId();
  const created_at = now();
  const stored = await desk.integrations.connect(
    {
      id,
      membership_id,
      platform,
      place,
      sealed: desk.sealed(target, id),
      rules: rulesOf(rules),
      created_at,
      verified_at: isVerified ? created_at : null,
    },
    'member',
  );
  if (stored instanceof Unread) return { outcome: 'unread' };
  if (stored.value.outcome === 'limit') return { outcome: 'refused', why: FULL };
  if (stored.value.outcome === 'no_membership') return { outcome: 'refused', why: INACTIVE };
  const connected = { outcome: 'connected', id, place, created_at } as const;
  if (said instanceof Unread) return { ...connected, reason: said.why.reason };
  if (isVerified) return { ...connected, reason: null };
  const { value } = said;
  return { ...connected, reason: 'fault' in value ? `The platform ${value.fault}.` : BY_A_TEST };
}

/** The name of a target about which the platform reported nothing. */
function placeOf(target: ChatTarget): string {
  if (target.platform === 'discord') return `Webhook ${target.webhook_id}`;
  if (target.platform === 'telegram') return `Chat ${target.chat_id}`;
  return 'channel' in target ? target.channel : 'A webhook';
}

/** The result of a test. `reason`: why it was not delivered. */
export type TestEnd =
  | { readonly outcome: 'tested'; readonly reason: string | null }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'unread' };

const TEST_CAVEAT =
  'That nothing is told here says nothing about any address: what is not flagged and what nobody ' +
  'watches is not told.';
const SEALED_AWAY = 'What it posts with cannot be opened any more: remove it, and connect it anew.';
/** A test is no dispatch of the queue, and has the number of none. */
const NO_DISPATCH = 0;

/** @internal Posts a message outside the queue, and notes what that showed. */
export async function testChat(
  desk: IntegrationPorts,
  { membership_id, now, signal }: MemberRequest,
  id: string,
): Promise<TestEnd> {
  const { integrations, platforms, simulated, base } = desk;
  const held = await integrations.sealedOf(membership_id, id);
  if (held instanceof Unread) return { outcome: 'unread' };
  if (held.value === null) return { outcome: 'unknown' };
  const target = desk.opened(held.value.sealed, id);
  if (target === null) return { outcome: 'tested', reason: SEALED_AWAY };
  const at = now();
  const post = {
    title: 'Exhibit is connected here',
    facts: ['This is a test. Dispatches come here as they happen, in order.'],
    caveat: TEST_CAVEAT,
    path: PATH,
    link: base + PATH,
    more_link: null,
    at,
    simulated,
    dispatch: NO_DISPATCH,
  };
  const said = await platforms.post(target, post, signal);
  if (said instanceof Unread) return { outcome: 'tested', reason: said.why.reason };
  const end = said.value;
  if (end.outcome === 'moved') {
    return { outcome: 'tested', reason: `The chat is ${end.chat_id} by now: connect it anew.` };
  }
  const fault = 'fault' in end ? `the platform ${end.fault}` : null;
  if (end.outcome === 'taken') await integrations.tried(id, { outcome: 'taken', at });
  if (end.outcome === 'broken' && fault !== null) {
    await integrations.tried(id, { outcome: 'broken', at, fault });
  }
  return { outcome: 'tested', reason: fault === null ? null : `Not delivered: ${fault}.` };
}

const PATH = '/settings/integrations';

// Ids and tokens in the form that the platform gives them. An address is taken apart and its host
// compared; nothing of what was given is ever asked for as an address, or said again.

/** The fields of a target, as they were given. */
export type TargetFields = {
  readonly webhook_url?: string | undefined;
  readonly bot_token?: string | undefined;
  readonly channel?: string | undefined;
  readonly webhook_id?: string | undefined;
  readonly webhook_token?: string | undefined;
  readonly chat_id?: string | undefined;
};

type Field = keyof TargetFields;
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
  | { readonly problems: readonly [InputProblem, ...InputProblem[]] };

/** The target that was given. `slackRoot` is where webhooks of Slack are posted to here. */
export function chatTargetOf(
  platform: ChatPlatform,
  given: TargetFields,
  slackRoot: URL,
): TargetOf {
  if (platform === 'discord') {
    const { webhook_id, webhook_token } = given;
    const fields = { webhook_id, webhook_token };
    return targetFrom(given, fields, FORMS, (held) => ({ platform, ...held }));
  }
  if (platform === 'telegram') {
    const { bot_token, chat_id } = given;
    const forms = { bot_token: TELEGRAM_BOT, chat_id: FORMS.chat_id };
    return targetFrom(given, { bot_token, chat_id }, forms, (held) => ({ platform, ...held }));
  }
  if (given.webhook_url === undefined) {
    const { bot_token, channel } = given;
    if (bot_token === undefined && channel === undefined) {
      const says = 'expected webhook_url, or bot_token and channel';
      return { problems: [{ path: ['body'], says }] };
    }
    const forms = { bot_token: SLACK_BOT, channel: FORMS.channel };
    return targetFrom(given, { bot_token, channel }, forms, (held) => ({ platform, ...held }));
  }
  const [first, ...rest] = namesBeside(given, ['webhook_url']);
  if (first !== undefined) return { problems: [first, ...rest] };
  const webhook = slackWebhook(given.webhook_url, slackRoot);
  if (webhook === null) {
    const says = `expected ${SLACK_HOOKS}/services/T…`;
    return { problems: [{ path: ['webhook_url'], says }] };
  }
  return { target: { platform, webhook } };
}

/** The parts of a Slack webhook; `null`: the address is none of the platform's. */
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

function namesBeside(given: TargetFields, wanted: readonly string[]): InputProblem[] {
  const others = Object.entries(given).filter(([name, value]) => {
    return value !== undefined && !wanted.includes(name);
  });
  return others.map(([name]) => ({ path: [name], says: 'not of this' }));
}

function targetFrom<F extends string>(
  given: TargetFields,
  fields: { readonly [N in F]: string | undefined },
  forms: { readonly [N in NoInfer<F>]: Form },
  target: (held: { readonly [N in F]: string }) => ChatTarget,
): TargetOf {
  const names = Object.keys(fields) as F[];
  const problems = names.flatMap((name) => {
    const value = fields[name];
    const { pattern, expected } = forms[name];
    const isFit = value !== undefined && pattern.test(value);
    return isFit ? [] : [{ path: [name], says: `expected ${expected}` }];
  });
  const [first, ...rest] = [...problems, ...namesBeside(given, names)];
  if (first !== undefined) return { problems: [first, ...rest] };
  return { target: target(fields as { readonly [N in F]: string }) };
}
