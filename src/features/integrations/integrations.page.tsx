// Answers one question: which chats has a member, what are they told, and what did not reach them?

import { CHAIN_NAMES } from '../../chain/chain.ts';
import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { messagePage } from '../../pages/message.tsx';
import type {
  ShownIntegration as Integration,
  ShownLetter as Letter,
  ShownIntegrations as Shown,
} from './integrations-page.contract.ts';

const PATH = '/settings/integrations';
const TITLE = 'Chats';
const NAMES = { slack: 'Slack', discord: 'Discord', telegram: 'Telegram' } as const;
const KIND_WORDS: { readonly [kind: string]: string } = {
  flag: 'launches that the model flags',
  watch: 'changes of what you watch',
};

/** The page of the chats of a membership. */
export function integrationsShown(facts: PageFacts, shown: Shown): string {
  return page({ ...facts, title: TITLE, current: '/settings', children: <Whole shown={shown} /> });
}

/** A page that says one thing: what could not be read, or was not done, and why. */
export function chatsMessage(facts: PageFacts, title: string, why: string): string {
  const back = { path: PATH, text: 'Back to the chats' };
  return messagePage(facts, { title, why, current: '/settings', back });
}

/** A time to the minute. */
function moment(at: UnixSeconds): string {
  return `${formatIsoTime(at).slice(0, 16).replace('T', ' ')} UTC`;
}

function Whole({ shown }: { shown: Shown }) {
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

function Token({ token }: { token: string }) {
  return <input type="hidden" name="form_token" value={token} />;
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
          <Token token={token} />
          <button class="plain" type="submit">
            Test {NAMES[platform]}
          </button>
        </form>
        <details>
          <summary>Remove</summary>
          <form method="post" action={`${PATH}/${id}/remove`}>
            <Token token={token} />
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

function Letters({ letters: { read, whole } }: { letters: Shown['letters'] }) {
  return (
    <section aria-labelledby="dead">
      <h2 id="dead">What did not arrive</h2>
      {read === null ? (
        <p>{whole ? 'Nothing was given up in the last 30 days.' : 'It could not be read.'}</p>
      ) : (
        <>
          <p>{whole ? 'Given up in the last 30 days.' : `The newest ${read.length}.`}</p>
          {read.map((letter) => (
            <DeadLetter key={letter.id} letter={letter} />
          ))}
        </>
      )}
    </section>
  );
}

function DeadLetter({ letter }: { letter: Letter }) {
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
        <Token token={token} />
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
            <input type="checkbox" name="kinds" value={kind} checked /> {text}{' '}
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
