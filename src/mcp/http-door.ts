// Serves the tools over HTTP, to clients of both revisions of MCP. Nothing is kept of a client
// between requests: each is answered by a server of its own, so that any process can answer any of
// them. Whoever has no key, or comes by a name that is not ours, learns nothing.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AccessGate } from '../access/gate.ts';
import { badField, Refusal } from '../contract/refusals.ts';
import {
  type Answers,
  contextUntil,
  describe,
  faultRefusal,
  type Log,
  reasonOf,
  refusalSaid,
  type WrittenAnswer,
} from '../transport/answer.ts';

import { compressResponse } from '../transport/compression.ts';
import type { HttpDoor } from '../transport/http.ts';

import { type AskTool, type ToolAnswer, type ToolCall, type Tools, toolServer } from './tools.ts';

/** The dependencies of the endpoint. */
export type McpDoor = {
  readonly tools: Tools;
  /** Holds the route of each tool, whether it is mounted or not. */
  readonly answers: Answers;
  readonly gate: AccessGate;
  /** The names by which this service is reached, beside those of its own machine. */
  readonly hosts: readonly string[];
  readonly version: string;
  readonly log: Log;
  /** Unix seconds. */
  readonly now: () => number;
  /** Time for reading history inside one call. */
  readonly budgetMs: number;
};

export const MCP_PATH = '/mcp';
/** The largest body: the arguments of a few calls. */
const BODY_BYTES_MAX = 64 * 1024;
/** Messages of one body, in those older revisions that take several. */
const BATCH_MAX = 16;
/** A list that never changes has nothing to subscribe to, and no stream stays open. */
const SUBSCRIPTIONS_MAX = 0;
const NO_JSON = 'content-type: expected application/json';
/** The name that a client of the older revisions is given with its handshake, and sends back. */
const CLIENT = 'mcp-session-id';
const handshake = z.object({ method: z.literal('initialize') });
const REQUEST_ID = 'x-request-id';

/** Makes the door of the tools. */
export function mcpDoor(parts: McpDoor): HttpDoor {
  const { tools, version, log } = parts;
  const calls = callsUnderWay();
  const hosts = [...localhostAllowedHostnames(), ...parts.hosts];
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      if (requestInfo === undefined) throw new Error('a request over HTTP has a request');
      return toolServer(tools, version, askAs(requestInfo, parts, calls));
    },
    { maxSubscriptions: SUBSCRIPTIONS_MAX, maxRequestBodySize: BODY_BYTES_MAX },
  );
  const fetch: typeof handler.fetch = async (request, given) => {
    const accepted = request.headers.get('accept-encoding');
    return compressResponse(await handler.fetch(request, given), accepted);
  };
  const answer = toNodeHandler(
    { fetch },
    {
      onerror: (fault) => log.error({ route: MCP_PATH, fault: describe(fault) }, 'fault'),
    },
  );
  return {
    path: MCP_PATH,
    bodyBytesMax: BODY_BYTES_MAX,
    admit: async (request) => wrongName(request, hosts) ?? (await noKey(request, parts.gate)),
    serve: async ({ id, request, body }, response) => {
      const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
      if (messages.length > BATCH_MAX) {
        return badField('body', `expected at most ${BATCH_MAX} messages at once`);
      }
      if (body === undefined && request.headers['content-type'] !== undefined) {
        return badField('body', 'expected valid JSON');
      }
      if (body === undefined) return new Refusal('wrong_content_type', { error: NO_JSON });
      const client = request.headers[CLIENT];
      if (typeof client === 'string') for (const one of messages) calls.giveUp(client, one);
      if (handshake.safeParse(body).success) response.setHeader(CLIENT, randomUUID());
      // Written over what the client sent: the log says of a call to which request it belongs.
      request.headers[REQUEST_ID] = id;
      await answer(Object.assign(request, { method: 'POST', url: MCP_PATH }), response, body);
      return null;
    },
  };
}

// A page of another site reaches a server on this machine by making its own name point here. The
// browser then sends that name; an address as Host cannot have been made to point anywhere.
function wrongName({ headers }: IncomingMessage, hosts: string[]): Refusal | null {
  const host = validateHostHeader(headers.host, hosts);
  const name = host.ok ? undefined : host.hostname;
  if (!host.ok && (name === undefined || isIP(name.replaceAll(/[[\]]/g, '')) === 0)) {
    const error = 'Host: expected a name of this service, as EXHIBIT_PUBLIC_URL says it.';
    return new Refusal('wrong_origin', { error });
  }
  if (validateOriginHeader(headers.origin, hosts).ok) return null;
  return new Refusal('wrong_origin', { error: 'Origin: expected none, or one of this service.' });
}

/** Reasons of a refusal that no other call with the same key can escape. */
const OPENS_NOTHING = ['no_credential', 'unknown_membership'];

// A plan that is too low and an allowance that is spent are for the calls to say: the list of the
// tools is free.
async function noKey(request: IncomingMessage, gate: AccessGate): Promise<Refusal | null> {
  const { authorization, 'x-service-membership': membership } = request.headers;
  const serviceMembership = typeof membership === 'string' ? membership : undefined;
  const search = new URL(String(request.url), 'http://any').search;
  const presented = { authorization, serviceMembership, search, origin: undefined };
  const said = await gate.admit({ ...presented, opensToPages: false }, 'analyst');
  if (said.kind === 'admitted' || !OPENS_NOTHING.includes(reasonOf(said.refusal))) return null;
  const wasSent = reasonOf(said.refusal) !== 'no_credential';
  const { body } = said.refusal;
  const reason = typeof body === 'object' && body !== null && 'error' in body ? body.error : '';
  return new Refusal(
    'unauthorized',
    { error: 'unauthorized', reason },
    { 'www-authenticate': wasSent ? 'Bearer error="invalid_token"' : 'Bearer' },
  );
}

/** Asks routes as whoever sent the request. Of a fault of ours, its id alone is said. */
function askAs({ headers }: Request, parts: McpDoor, calls: CallsUnderWay): AskTool {
  const id = String(headers.get(REQUEST_ID));
  const onBug = (fault: unknown): ToolAnswer => {
    parts.log.error({ request_id: id, route: MCP_PATH, fault: describe(fault) }, 'fault');
    return answerHeard(refusalSaid(faultRefusal(id), null));
  };
  return async ({ route: { name }, sent }, call) => {
    const underWay = calls.begin(headers.get(CLIENT), call.id, call.signal);
    const { asked, done } = contextUntil(underWay.signal, parts.now, parts.budgetMs);
    const startedMs = performance.now();
    try {
      const asking = parts.answers.get(name);
      if (asking === undefined) throw new Error(`${name}: nothing answers it`);
      const by = await asking.guard(credentialOf(headers), '', NO_BROWSER);
      if (by.kind === 'refused') return answerHeard(asking.refuse(by.refusal, null));
      const isGone = () => underWay.signal.aborted;
      return answerHeard(await asking.ask(sent, by, { id, startedMs, asked, isGone }));
    } catch (fault) {
      return onBug(fault);
    } finally {
      done();
      underWay.forget();
    }
  };
}

/** A tool is asked by a key, and never by a browser's session. */
const NO_BROWSER = { by: 'request', network: () => 'unknown' } as const;

function credentialOf(headers: Headers) {
  const own: { [name: string]: string } = {};
  for (const name of ['authorization', 'x-service-membership']) {
    const value = headers.get(name);
    if (value !== null) own[name] = value;
  }
  return own;
}

function answerHeard({ status, bytes }: WrittenAnswer): ToolAnswer {
  return { status, text: bytes.toString() };
}

// A client of today gives up a call by closing its connection. An older one posts a message of its
// own, under the name that its handshake was given; nothing is kept under a name but calls under
// way.

/** A call while it runs: what ends with it, and how to say that it came to its end. */
export type CallUnderWay = { readonly signal: AbortSignal; readonly forget: () => void };

/** The calls that run, by the name of their client and their id there. */
export type CallsUnderWay = {
  /** `client` is the name that its handshake was given; `null` where it had none. */
  readonly begin: (client: string | null, id: ToolCall['id'], gone: AbortSignal) => CallUnderWay;
  /** Ends what a message gives up; other messages, and names that nobody has, end nothing. */
  readonly giveUp: (client: string, message: unknown) => void;
};

const givenUp = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/** Makes a table without calls. */
export function callsUnderWay(): CallsUnderWay {
  const running = new Map<string, AbortController>();
  const keyOf = (client: string, id: ToolCall['id']) => JSON.stringify([client, id]);
  return {
    begin: (client, id, gone) => {
      if (client === null) return { signal: gone, forget: () => undefined };
      const key = keyOf(client, id);
      const own = new AbortController();
      running.set(key, own);
      const forget = () => {
        if (running.get(key) === own) running.delete(key);
      };
      return { signal: AbortSignal.any([gone, own.signal]), forget };
    },
    giveUp: (client, message) => {
      const parsed = givenUp.safeParse(message);
      if (parsed.success) running.get(keyOf(client, parsed.data.params.requestId))?.abort();
    },
  };
}
