// A stand-in for tests and the simulated world: it takes credentials of any good form, keeps what
// was posted, and has the faults of the platforms on demand, each in their own format.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerPage, bodyOf, startStandIn } from './stand-in.ts';

/** The faults that the platforms can be given. */
export const CHAT_FAULTS = [
  'rate-limited',
  'error500',
  'html',
  'revoked',
  'refused',
  'redirect',
  'timeout',
  'closes',
  'moved',
] as const;
export type ChatFault = (typeof CHAT_FAULTS)[number];

type Platform = 'slack' | 'discord' | 'telegram';

/** A post that a platform took. `to` is where it stands: nothing that opens anything. */
export type ChatCallMade = {
  readonly platform: Platform;
  readonly to: string;
  readonly body: unknown;
};

/** The parts of a request that an answer depends on. */
type ChatRequest = {
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string;
};
type Reply = { readonly status: number; readonly headers?: object; readonly body: string };

const RETRY_S = 2;
/** The id that a group has once it is a supergroup. */
export const MOVED_CHAT = -1_001_234_567_890;

const json = (status: number, body: unknown, headers: object = {}): Reply => {
  return {
    status,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  };
};
const words = (status: number, body: string, headers: object = {}): Reply => {
  return { status, body, headers: { 'content-type': 'text/html', ...headers } };
};

function fieldOf(body: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(Object(body))).get(name);
}

const SLACK_WEBHOOK = /^\/services\/(T\w+)\/(B\w+)\/\w+$/;

function slackReply(
  { path, body, authorization }: ChatRequest,
  fault: ChatFault | null,
): Reply | null {
  const isHook = SLACK_WEBHOOK.test(path);
  if (!isHook && path !== '/api/chat.postMessage' && path !== '/api/auth.test') return null;
  const limited = { 'retry-after': String(RETRY_S) };
  if (isHook) {
    if (fault === 'rate-limited') return words(429, 'rate_limited', limited);
    if (fault === 'revoked') return words(404, 'no_service');
    if (fault === 'refused') return words(400, 'invalid_payload');
    return words(200, 'ok');
  }
  const isKnown = /^Bearer xoxb-/.test(authorization) && fault !== 'revoked';
  if (fault === 'rate-limited') return json(429, { ok: false, error: 'ratelimited' }, limited);
  if (!isKnown) return json(200, { ok: false, error: 'invalid_auth' });
  if (path === '/api/auth.test') {
    const team = { team: 'Made-up Workspace', team_id: 'T0MADEUP' };
    return json(200, { ok: true, url: 'https://made-up.invalid/', user: 'exhibit', ...team });
  }
  if (fault === 'refused') return json(200, { ok: false, error: 'invalid_blocks' });
  return json(200, { ok: true, channel: fieldOf(body, 'channel'), ts: '1.000100', message: {} });
}

const DISCORD_WEBHOOK = /^\/api\/v10\/webhooks\/(\d+)\/[\w-]+$/;

function discordReply({ path, body }: ChatRequest, fault: ChatFault | null): Reply | null {
  const [, id] = DISCORD_WEBHOOK.exec(path.split('?')[0] ?? '') ?? [];
  if (id === undefined) return null;
  if (fault === 'revoked') return json(404, { message: 'Unknown Webhook', code: 10_015 });
  if (fault === 'rate-limited') {
    const said = { message: 'You are being rate limited.', retry_after: 1.337, global: false };
    return json(429, said, { 'retry-after': '2', 'x-ratelimit-scope': 'user' });
  }
  if (body === null) {
    const of = { guild_id: '1', channel_id: '1234567890', name: 'Made-up hook', avatar: null };
    return json(200, { id, type: 1, ...of, token: 'never-shown', application_id: null });
  }
  if (fault === 'refused') {
    return json(400, { message: 'Invalid Form Body', code: 50_035, errors: { embeds: {} } });
  }
  // Without waiting, what is dropped is not told.
  if (!path.endsWith('?wait=true')) return { status: 204, body: '' };
  return json(200, { id: '987654321', type: 0, channel_id: '1234567890', content: '' });
}

const TELEGRAM_CALL = /^\/bot(\d+:[\w-]+)\/(getMe|getChat|sendMessage)$/;

function telegramReply({ path, body }: ChatRequest, fault: ChatFault | null): Reply | null {
  const [, , method] = TELEGRAM_CALL.exec(path) ?? [];
  if (method === undefined) return null;
  const fail = (code: number, description: string, parameters?: object) =>
    json(code, { ok: false, error_code: code, description, parameters });
  if (fault === 'revoked') return fail(401, 'Unauthorized');
  if (fault === 'rate-limited') {
    const said = `Too Many Requests: retry after ${RETRY_S}`;
    return fail(429, said, { retry_after: RETRY_S });
  }
  if (method === 'getMe') {
    const me = { id: 1, is_bot: true, first_name: 'Exhibit', username: 'exhibit_bot' };
    return json(200, { ok: true, result: me });
  }
  const chat = fieldOf(body, 'chat_id');
  if (method === 'getChat') {
    return json(200, { ok: true, result: { id: chat, type: 'group', title: 'Made-up group' } });
  }
  if (fault === 'refused') return fail(400, "Bad Request: can't parse entities");
  if (fault === 'moved' && String(chat) !== String(MOVED_CHAT)) {
    const said = 'Bad Request: group chat was upgraded to a supergroup chat';
    return fail(400, said, { migrate_to_chat_id: MOVED_CHAT });
  }
  return json(200, { ok: true, result: { message_id: 1, date: 1, chat: { id: chat } } });
}

const REPLIES = { slack: slackReply, discord: discordReply, telegram: telegramReply } as const;
const PLATFORMS = Object.keys(REPLIES) as Platform[];

/** Where what was posted stands: a webhook without its secret, a channel, a chat. */
function placeOf(path: string, body: unknown): string {
  const [, team, hook] = SLACK_WEBHOOK.exec(path) ?? [];
  const [, id] = DISCORD_WEBHOOK.exec(path.split('?')[0] ?? '') ?? [];
  if (team !== undefined) return `${team}/${hook}`;
  return id === undefined ? String(fieldOf(body, 'channel') ?? fieldOf(body, 'chat_id')) : id;
}

/** The stand-ins of all three, on one port of 127.0.0.1. */
export type StartedChats = {
  /** The root of each, as a setting has it. */
  readonly roots: { readonly [P in Platform]: string };
  /** The accepted posts, in order. */
  readonly posted: readonly ChatCallMade[];
  /** Every path that was asked, taken or not. */
  readonly asked: readonly string[];
  /** Has the platforms fail; a function is asked anew for each post. */
  readonly fault: (next: ChatFault | null | ((path: string) => ChatFault | null)) => void;
  /** Breaks off what hangs. */
  readonly drop: () => void;
  readonly close: () => Promise<void>;
};

const BODY_CHARS_MAX = 100_000;
const KEPT_MAX = 10_000;

/** Starts the stand-ins. `onPosted` is told of each post that a platform took. */
export async function startChats(
  onPosted: (made: ChatCallMade) => void = () => undefined,
): Promise<StartedChats> {
  let faultOf: (path: string) => ChatFault | null = () => null;
  const hanging = new Set<ServerResponse>();
  const posted: ChatCallMade[] = [];
  const asked: string[] = [];

  const answer = async (
    platform: Platform,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const path = String(request.url).slice(platform.length + 1);
    const text = await bodyOf(request, BODY_CHARS_MAX);
    const body: unknown = JSON.parse(text === '' ? 'null' : text);
    const fault = faultOf(path);
    if (asked.length < KEPT_MAX) asked.push(path);
    if (fault === 'timeout') return void hanging.add(response);
    if (fault === 'closes') return void request.socket.destroy();
    if (fault === 'error500') return answerPage(response, 500);
    if (fault === 'html') return answerPage(response, 200);
    if (fault === 'redirect') {
      return void response.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' }).end();
    }
    const authorization = String(request.headers.authorization);
    const reply = REPLIES[platform]({ path, body, authorization }, fault);
    if (reply === null) return void response.writeHead(404).end('{}');
    const isPost = !/auth\.test|getMe|getChat/.test(path) && body !== null;
    const isTaken = isPost && reply.status === 200 && !reply.body.includes('"ok":false');
    if (isTaken) {
      const made = { platform, to: placeOf(path, body), body };
      if (posted.length < KEPT_MAX) posted.push(made);
      onPosted(made);
    }
    response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
  };

  const { origin, close } = await startStandIn((request, response) => {
    const platform = PLATFORMS.find((one) => String(request.url).startsWith(`/${one}/`));
    if (platform === undefined) return false;
    void answer(platform, request, response);
    return true;
  });
  const rootOf = (platform: Platform) => `${origin}/${platform}`;
  return {
    roots: { slack: rootOf('slack'), discord: rootOf('discord'), telegram: rootOf('telegram') },
    posted,
    asked,
    fault: (next) => {
      faultOf = typeof next === 'function' ? next : () => next;
    },
    drop: () => {
      for (const response of hanging) response.destroy();
      hanging.clear();
    },
    close,
  };
}
