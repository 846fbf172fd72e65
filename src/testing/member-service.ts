// The membership service of a test over a socket: the composed pages with the server's own guards,
// on a real store under a movable clock.

import { expect, onTestFinished } from 'vitest';
import { createGate } from '../access/gate.ts';
import { mountedPage } from '../compose/documents.ts';
import type { AnyFeature } from '../compose/feature.ts';
import { handlerOf } from '../compose/list.ts';
import { members as membersFeature } from '../features/access/feature.ts';
import { integrationPorts, integrations } from '../features/integrations/feature.ts';
import { providerWatch } from '../sources/http/provider-watch.ts';
import type { Mounted } from '../transport/answer.ts';
import type { FreshStore } from './control-store.ts';
import { gatedRoute } from './gated-route.ts';
import { createTestHttp } from './http-server.ts';
import { membersIn, WEBHOOK_SECRET } from './members.ts';
import { deliveryHeaders, membershipEvent } from './payment-platform.ts';
import { TEST_SERVICE } from './service.ts';

/** When the clock stands still first, Unix seconds. */
export const START = 1_790_000_000;
/** The membership of whoever is signed in, and another. */
export const MINE = 'mem_mine';
export const THEIRS = 'mem_theirs';
/** The code of a purchase. */
export const CODE = 'EX-5KQ2HT-9WNB7RLD-4XPM6CW';
const BASE = 'https://exhibit.example';
const FORM = 'application/x-www-form-urlencoded';

const FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };

/** Pages of other features that are served beside those of memberships, and their ports. */
export type MorePages = { readonly pages: AnyFeature['pages']; readonly given: object };

function mountOver(given: object, more: AnyFeature['pages']): Mounted[] {
  const pages = [...membersFeature.pages, ...integrations.pages, ...more];
  return [
    ...pages.map((page) => mountedPage(page, given, FACTS)),
    ...[...integrations.routes, ...membersFeature.routes].map(({ route }) => {
      return { route, handle: handlerOf(route.name, given) };
    }),
    gatedRoute,
  ];
}

async function listening(
  made: ReturnType<typeof membersIn>,
  mounted: readonly Mounted[],
  now: () => number,
): Promise<string> {
  const app = createTestHttp({
    mounted,
    gate: createGate({ ...made, durable: true }, now),
    sessions: made.browsers,
    refusalPage: ({ code }) => `<h1>${code}</h1>`,
    now,
  });
  onTestFinished(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}

type Headers = { readonly [name: string]: string };

/** Where nothing listens: a chat that is asked there is not reached. */
const NOWHERE = 'http://127.0.0.1:9/';
const NO_CHATS = { slack: NOWHERE, discord: NOWHERE, telegram: NOWHERE };

/**
 * Serves two memberships of the Analyst plan, asked by the fetch of a test; closes after it. Their
 * chats are at the roots that are given.
 */
export async function serveMembers(
  fresh: FreshStore,
  ask: typeof fetch,
  chatRoots = NO_CHATS,
  more: MorePages = { pages: [], given: {} },
) {
  const store = fresh();
  const asked: string[] = [];
  const database = {
    ...store,
    query: (...call: Parameters<typeof store.query>) => {
      asked.push(call[0]);
      return store.query(...call);
    },
  } as typeof store;
  let at = START;
  const now = () => at;
  const made = membersIn(database, now);
  for (const membership_id of [MINE, THEIRS]) {
    await made.memberships.record({ membership_id, plan: 'analyst', status: 'active', at });
  }
  const context = { simulated: false, nowMs: () => at * 1_000 };
  const chats = integrationPorts(
    { database, context, secrets: made.secrets, providers: providerWatch(() => at) },
    chatRoots,
    BASE,
  );
  const service = { ...TEST_SERVICE, base: () => BASE };
  const given = { ...more.given, members: made.members, chats, service };
  const origin = await listening(made, mountOver(given, more.pages), now);
  const send = async (method: string, path: string, headers: Headers = {}, body?: string) => {
    const sent = { method, headers, redirect: 'manual' as const };
    const reply = await ask(origin + path, body === undefined ? sent : { ...sent, body });
    const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? null;
    return { status: reply.status, headers: reply.headers, cookie, text: await reply.text() };
  };
  const post = (path: string, fields: object, more: Headers = {}) =>
    send(
      'POST',
      path,
      { origin, 'content-type': FORM, ...more },
      new URLSearchParams(Object.entries(fields)).toString(),
    );
  const linkOf = (id: string) => made.signIn.mintLink(id);
  /** A browser that is signed in: what it sends, and what its page says. */
  const browser = async (id = MINE) => {
    const { cookie } = await post('/activate', { link: linkOf(id) });
    if (cookie === null) throw new Error('not signed in');
    const page = async () => (await send('GET', '/settings', { cookie })).text;
    const token = /name="form_token" value="([\w-]+)"/.exec(await page())?.[1] ?? '';
    const act = (path: string, fields: object = {}) =>
      post(path, { ...fields, form_token: token }, { cookie });
    const key = async (name: string) => {
      const posted = await act('/settings/keys', { name });
      const shown = posted.headers.get('location');
      const created = shown === null ? posted : await send('GET', shown, { cookie });
      return { created, text: /sc_[0-9A-Za-z]{49}/.exec(created.text)?.[0] ?? '' };
    };
    return { cookie, token, page, act, key };
  };
  const use = (key: string) => send('GET', '/api/v1/probe', { authorization: `Bearer ${key}` });
  const later = (seconds: number) => {
    at += seconds;
  };
  const ofKey = { send, key: async (id: string) => (await (await browser(id)).key('Chats')).text };
  return {
    ...made,
    store,
    asked,
    origin,
    send,
    post,
    linkOf,
    browser,
    use,
    later,
    now,
    chats,
    member: (id = MINE) => memberOf(ofKey, id),
  };
}

type OfKey = {
  readonly send: (method: string, path: string, headers: Headers, body?: string) => Promise<Sent>;
  readonly key: (id: string) => Promise<string>;
};
type Sent = { readonly status: number; readonly text: string };

/** The client of a membership's key: the response, and its JSON. */
async function memberOf({ send, key }: OfKey, id: string) {
  const authorization = `Bearer ${await key(id)}`;
  return async (method: string, path: string, body?: object) => {
    const headers = { authorization };
    const asked =
      body === undefined
        ? send(method, path, headers)
        : send(
            method,
            path,
            { ...headers, 'content-type': 'application/json' },
            JSON.stringify(body),
          );
    const { status, text } = await asked;
    const said: unknown = JSON.parse(text === '' ? 'null' : text);
    return { status, said: Object(said) as { readonly [field: string]: unknown }, text };
  };
}

type Served = Awaited<ReturnType<typeof serveMembers>>;

/** A membership with a code, as a purchase leaves it. */
export async function buyMembership({ send, now }: Served, id = MINE): Promise<void> {
  const body = membershipEvent({ id, at: now() + 1, plan: 'plan_analyst', license_key: CODE });
  const signed = deliveryHeaders([WEBHOOK_SECRET], `msg_${id}`, now(), body);
  const headers = { 'content-type': 'application/json', ...signed };
  expect((await send('POST', '/webhooks/payments', headers, body)).status).toBe(200);
}

/** Every id of a key that a page names. */
export function idsIn(page: string): string[] {
  return [...page.matchAll(/\/settings\/keys\/(key_\w+)\/revoke/g)].map(([, id]) => String(id));
}
