import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { problemText } from '../../contract/refusals.ts';
import { form, html, noBody } from '../../contract/reply.ts';
import {
  type Caller,
  type PlainHandler,
  plainRoute,
  type RequestContext,
  sessionOf,
} from '../../contract/route.ts';
import { rowsSeen, Unread } from '../../evidence/reading.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { FormToken } from '../../pages/words.tsx';
import {
  CHAT_PLATFORMS,
  type DeadLetter,
  DISPATCH_KINDS,
  type DispatchMessage,
  INTEGRATION_LIMITS,
  type Integration,
} from '../../ports/integrations.ts';
import {
  connectChat,
  type IntegrationPorts,
  targetFields,
  testChat,
  UNNAMED_KINDS,
} from './integrations.route.ts';

const SESSION = { surface: 'web', access: 'session' } as const;
const id = z.strictObject({ id: z.string().max(60) });
const ADDRESSES_CHARS_MAX = 12_000;

export const integrationsPage = plainRoute({
  ...SESSION,
  name: 'integrations_page',
  method: 'GET',
  path: '/settings/integrations',
  summary: 'The chats of the membership of this browser.',
  query: z.strictObject({ done: z.enum(['connected', 'removed']).optional() }),
  responses: { 200: html(), 503: html() },
});

export const connectForm = plainRoute({
  ...SESSION,
  name: 'connect_integration_form',
  method: 'POST',
  path: '/settings/integrations',
  summary: 'Connects a chat.',
  bodyBytesMax: 16_384,
  body: form(
    z.strictObject({
      platform: z.enum(CHAT_PLATFORMS),
      ...targetFields,
      // One that is ticked alone comes as a text.
      kinds: z.union([z.enum(DISPATCH_KINDS), z.array(z.enum(DISPATCH_KINDS))]).optional(),
      chains: z.union([z.enum(CHAIN_NAMES), z.array(z.enum(CHAIN_NAMES))]).optional(),
      /** One a line. */
      addresses: z.string().max(ADDRESSES_CHARS_MAX).optional(),
    }),
  ),
  responses: { 303: noBody(), 400: html(), 409: html(), 503: html() },
  headers: { 303: { location: 'The integrations.' } },
});

export const testForm = plainRoute({
  ...SESSION,
  name: 'test_integration_form',
  method: 'POST',
  path: '/settings/integrations/{id}/test',
  summary: 'Posts a message to a connected chat.',
  params: id,
  body: form(z.strictObject({})),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const removeForm = plainRoute({
  ...SESSION,
  name: 'remove_integration_form',
  method: 'POST',
  path: '/settings/integrations/{id}/remove',
  summary: 'Removes a connected chat, with what waits for it.',
  params: id,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: { 303: { location: 'The integrations.' } },
});

/** A given-up dispatch, as the page shows it. */
export type LetterView = Pick<DeadLetter, 'id' | 'place' | 'platform' | 'dead_at' | 'reason'> & {
  readonly message: Omit<DispatchMessage, 'at' | 'simulated'>;
};

/** All that the page shows. */
export type IntegrationsView = {
  readonly form_token: string;
  /** The result of the last action, in a sentence. */
  readonly notice: { readonly text: string; readonly role: 'status' | 'alert' } | null;
  readonly integrations: readonly Integration[];
  /** How many there may be. */
  readonly max: number;
  readonly letters: { readonly read: readonly LetterView[] | null; readonly whole: boolean };
};

// The membership follows from the session alone.

const PATH = '/settings/integrations';
const NO_STORE =
  'Chats cannot be read or changed just now. This is a fault of the service; try again later.';
const UNKNOWN = 'This membership has no such chat.';

type Notice = IntegrationsView['notice'];

const DONE = {
  connected: 'The chat is connected. Test it, so that you know what arrives.',
  removed: 'The chat is removed, with what waited for it.',
} as const;

function requestBy(caller: Caller, { now, signal }: RequestContext) {
  return { membership_id: sessionOf(caller).membership_id, now, signal };
}

async function viewFor(
  { integrations }: IntegrationPorts,
  caller: Caller,
  notice: Notice,
): Promise<IntegrationsView | string> {
  const { membership_id, form_token } = sessionOf(caller);
  const [listed, dead] = await Promise.all([
    integrations.list(membership_id),
    integrations.deadLetters(membership_id),
  ]);
  if (!listed.checked) return listed.why.reason;
  if (dead instanceof Unread) return dead.why.reason;
  return {
    form_token,
    notice,
    integrations: listed.value,
    max: INTEGRATION_LIMITS.each,
    letters: { read: rowsSeen(dead), whole: dead.checked },
  };
}

/** @internal */
export function pageHandler(
  ports: IntegrationPorts,
  facts: PageFacts,
): PlainHandler<typeof integrationsPage> {
  return async ({ query: { done } }, _request, caller) => {
    const notice = done === undefined ? null : ({ text: DONE[done], role: 'status' } as const);
    const shown = await viewFor(ports, caller, notice);
    return typeof shown === 'string'
      ? integrationsPage.reply(503, chatsUnread(facts, shown))
      : integrationsPage.reply(200, integrationsShown(facts, shown));
  };
}

const NOT_CONNECTED = 'The chat was not connected';

/** @internal */
export function connectFormHandler(
  ports: IntegrationPorts,
  facts: PageFacts,
): PlainHandler<typeof connectForm> {
  const refuse = (status: 400 | 409 | 503, why: string) =>
    connectForm.reply(status, chatsMessage(facts, NOT_CONNECTED, why));
  return async ({ body }, request, caller) => {
    const { platform, kinds, chains, addresses, ...fields } = body;
    const lines = addresses === undefined ? undefined : linesOf(addresses);
    const bad = lines?.find((line) => parseAddress(line) === null);
    if (bad !== undefined) return refuse(400, 'Of the addresses at least one is none.');
    if (lines !== undefined && lines.length > INTEGRATION_LIMITS.addresses) {
      return refuse(400, `A rule names ${INTEGRATION_LIMITS.addresses} addresses at most.`);
    }
    const rules = { kinds: listOf(kinds), chains: listOf(chains), addresses: lines };
    const given = Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ''));
    const end = await connectChat(ports, requestBy(caller, request), platform, given, rules);
    if (end.outcome === 'bad_input') {
      return refuse(400, `${end.problems.map(problemText).join('. ')}.`);
    }
    if (end.outcome === 'refused') return refuse(409, end.why);
    if (end.outcome === 'unread') return refuse(503, NO_STORE);
    return connectForm.reply(303, undefined, { location: `${PATH}?done=connected` });
  };
}

/** The lines of a text, without those that hold nothing; `undefined`: there is none. */
function linesOf(text: string): readonly string[] | undefined {
  const lines = text.split(/\s+/).filter((line) => line !== '');
  return lines.length === 0 ? undefined : lines;
}

function listOf<T extends string>(given: T | readonly T[] | undefined): readonly T[] | undefined {
  return given === undefined || typeof given !== 'string' ? given : [given];
}

/** @internal */
export function testFormHandler(
  ports: IntegrationPorts,
  facts: PageFacts,
): PlainHandler<typeof testForm> {
  return async ({ params: { id } }, request, caller) => {
    const end = await testChat(ports, requestBy(caller, request), id);
    const title = 'The chat was not tested';
    if (end.outcome === 'unread') return testForm.reply(503, chatsMessage(facts, title, NO_STORE));
    if (end.outcome === 'unknown') return testForm.reply(404, chatsMessage(facts, title, UNKNOWN));
    const notice: Notice =
      end.reason === null
        ? { text: 'The platform took the test: look for it in the chat.', role: 'status' }
        : { text: end.reason, role: 'alert' };
    const shown = await viewFor(ports, caller, notice);
    return typeof shown === 'string'
      ? testForm.reply(503, chatsUnread(facts, shown))
      : testForm.reply(200, integrationsShown(facts, shown));
  };
}

/** @internal */
export function removeFormHandler(
  { integrations }: IntegrationPorts,
  facts: PageFacts,
): PlainHandler<typeof removeForm> {
  return async ({ params: { id } }, { now }, caller) => {
    const { membership_id } = sessionOf(caller);
    const removed = await integrations.remove(membership_id, id, now(), 'member');
    const title = 'The chat was not removed';
    if (removed instanceof Unread)
      return removeForm.reply(503, chatsMessage(facts, title, NO_STORE));
    if (!removed.value) return removeForm.reply(404, chatsMessage(facts, title, UNKNOWN));
    return removeForm.reply(303, undefined, { location: `${PATH}?done=removed` });
  };
}

const TITLE = 'Chats';
const NAMES = { slack: 'Slack', discord: 'Discord', telegram: 'Telegram' } as const;
const KIND_WORDS: { readonly [kind: string]: string } = {
  flag: 'launches that the model flags',
  watch: 'changes of what you watch',
  signal: 'signals that say avoid, and their end',
  call: 'calls of our detectors on assets',
};

function integrationsShown(facts: PageFacts, shown: IntegrationsView): string {
  return page({ ...facts, title: TITLE, current: '/settings', children: <Whole shown={shown} /> });
}

function chatsUnread(facts: PageFacts, reason: string): string {
  return chatsMessage(facts, TITLE, `Your chats could not be read: ${reason}`);
}

function chatsMessage(facts: PageFacts, title: string, why: string): string {
  const back = { path: PATH, text: 'Back to the chats' };
  return messagePage(facts, { title, why, current: '/settings', back });
}

/** A time to the minute. */
function moment(at: UnixSeconds): string {
  return `${formatIsoTime(at).slice(0, 16).replace('T', ' ')} UTC`;
}

function Whole({ shown }: { shown: IntegrationsView }) {
  const { integrations, notice, max, form_token, letters } = shown;
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Where you are told of what happens. We post there and read nothing. That nothing is told
        says nothing about any address. <a href="/settings">Back to the settings</a>
      </p>
      {notice !== null && (
        <p class="notice" role={notice.role}>
          {notice.text}
        </p>
      )}
      <section aria-labelledby="connected">
        <h2 id="connected">Connected</h2>
        {integrations.length === 0 && <p class="nothing">You have connected no chat.</p>}
        <ul class="keys">
          {integrations.map((one) => (
            <Row key={one.id} shown={one} token={form_token} />
          ))}
        </ul>
      </section>
      <Letters letters={letters} />
      <section aria-labelledby="connect">
        <h2 id="connect">Connect a chat</h2>
        {integrations.length >= max ? (
          <p class="quiet">You have {max} chats, which is the most. Remove one first.</p>
        ) : (
          <Forms token={form_token} />
        )}
      </section>
    </>
  );
}

function rulesText({ kinds, chains, addresses }: Integration['rules']): string {
  const of = kinds.map((kind) => String(KIND_WORDS[kind])).join(' and ');
  const on = chains === null ? 'on every chain' : `on ${chains.join(', ')}`;
  const counted = addresses?.length === 1 ? '1 address' : `${addresses?.length} addresses`;
  const about = addresses === null ? '' : `, about ${counted}`;
  return `Is told of ${of}, ${on}${about}.`;
}

function Row({ shown, token }: { shown: Integration; token: string }) {
  const { id, platform, place, rules, verified_at, broken_at, fault, delivered_at } = shown;
  return (
    <li class="panel">
      <h3>
        {NAMES[platform]}: {place}
      </h3>
      <p>{rulesText(rules)}</p>
      <p class="quiet">
        {[
          verified_at === null ? 'Not verified yet' : `Verified ${moment(verified_at)}`,
          delivered_at === null ? 'nothing delivered yet' : `last told ${moment(delivered_at)}`,
          `${shown.waiting} waiting`,
        ].join(' · ')}
      </p>
      {fault !== null && (
        <p class="notice">
          <strong>
            {broken_at === null ? 'Delayed' : `Takes nothing since ${moment(broken_at)}`}:
          </strong>{' '}
          {fault}. What waits for 24 hours is given up.
        </p>
      )}
      <div class="actions">
        <form method="post" action={`${PATH}/${id}/test`}>
          <FormToken token={token} />
          <button class="plain" type="submit">
            Test {NAMES[platform]}
          </button>
        </form>
        <details>
          <summary>Remove</summary>
          <form method="post" action={`${PATH}/${id}/remove`}>
            <FormToken token={token} />
            <p>What waits for it goes with it. This cannot be undone.</p>
            <button class="danger" type="submit">
              Remove {place}
            </button>
          </form>
        </details>
      </div>
    </li>
  );
}

function Letters({ letters: { read, whole } }: { letters: IntegrationsView['letters'] }) {
  return (
    <section aria-labelledby="dead">
      <h2 id="dead">What did not arrive</h2>
      {read === null ? (
        <p>{whole ? 'Nothing was given up in the last 30 days.' : 'It could not be read.'}</p>
      ) : (
        <>
          <p>{whole ? 'Given up in the last 30 days.' : `The newest ${read.length}.`}</p>
          {read.map((letter) => (
            <DeadLetterShown key={letter.id} letter={letter} />
          ))}
        </>
      )}
    </section>
  );
}

function DeadLetterShown({ letter }: { letter: LetterView }) {
  const { message, place, platform, dead_at, reason } = letter;
  return (
    <details>
      <summary>
        {message.title} <span class="quiet">({moment(dead_at)})</span>
      </summary>
      <p>
        To {NAMES[platform]}, {place}. {reason}
      </p>
      <ul>
        {message.facts.map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      <p class="quiet">{message.caveat}</p>
      <p>
        <a href={message.path}>Open the page</a>
      </p>
    </details>
  );
}

type Field = { readonly name: string; readonly label: string; readonly secret?: true };
type Way = {
  readonly key: string;
  readonly platform: keyof typeof NAMES;
  readonly title: string;
  readonly fields: readonly Field[];
};

const WAYS: readonly Way[] = [
  {
    key: 'slack-webhook',
    platform: 'slack',
    title: 'Slack, by an incoming webhook',
    fields: [{ name: 'webhook_url', label: 'Webhook URL', secret: true }],
  },
  {
    key: 'slack-bot',
    platform: 'slack',
    title: 'Slack, by a bot',
    fields: [
      { name: 'bot_token', label: 'Bot token (xoxb-…)', secret: true },
      { name: 'channel', label: 'Channel: its id, or # and its name' },
    ],
  },
  {
    key: 'discord',
    platform: 'discord',
    title: 'Discord, by a webhook',
    fields: [
      { name: 'webhook_id', label: 'Webhook id: the digits in its URL' },
      { name: 'webhook_token', label: 'Webhook token: what stands behind them', secret: true },
    ],
  },
  {
    key: 'telegram',
    platform: 'telegram',
    title: 'Telegram, by a bot',
    fields: [
      { name: 'bot_token', label: 'Bot token', secret: true },
      { name: 'chat_id', label: 'Chat: its number, or @ and the name of a channel' },
    ],
  },
];

function Forms({ token }: { token: string }) {
  return (
    <>
      {WAYS.map((way) => (
        <ConnectForm key={way.key} way={way} token={token} />
      ))}
    </>
  );
}

function ConnectForm({ way, token }: { way: Way; token: string }) {
  const { key, platform, title, fields } = way;
  return (
    <details>
      <summary>{title}</summary>
      <form class="panel" method="post" action={PATH}>
        <FormToken token={token} />
        <input type="hidden" name="platform" value={platform} />
        {fields.map(({ name, label, secret }) => (
          <p class="field" key={name}>
            <label for={`${key}-${name}`}>{label}</label>
            <input
              id={`${key}-${name}`}
              name={name}
              type={secret === true ? 'password' : 'text'}
              maxLength={300}
              required
              autocomplete="off"
            />
          </p>
        ))}
        <Rules id={key} />
        <button type="submit">Connect {NAMES[platform]}</button>
      </form>
    </details>
  );
}

function Rules({ id }: { id: string }) {
  return (
    <>
      <fieldset>
        <legend>Tell of</legend>
        {Object.entries(KIND_WORDS).map(([kind, text]) => (
          <label key={kind}>
            <input
              type="checkbox"
              name="kinds"
              value={kind}
              checked={UNNAMED_KINDS.some((one) => one === kind)}
            />{' '}
            {text}{' '}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>On these chains; none ticked: on every chain</legend>
        {CHAIN_NAMES.map((chain) => (
          <label key={chain}>
            <input type="checkbox" name="chains" value={chain} /> {chain}{' '}
          </label>
        ))}
      </fieldset>
      <p class="field">
        <label for={`${id}-addresses`}>
          Only about these addresses, one a line; none: about all
        </label>
        <textarea id={`${id}-addresses`} name="addresses" rows={3} />
      </p>
    </>
  );
}
