// A server of the tests with one stream of ticks, and those who read it over real sockets.

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { z } from 'zod';
import { type AccessRule, plainRoute } from '../contract/route.ts';
import { TickLog, type TicksRoute, ticksHandler, ticksRoute } from '../testing/scratch-stream.ts';
import type { Guarding, Tokens } from './guard.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';
import { type CountedTogether, createSlots, type MountedStream } from './stream.ts';
import { STREAM_LIMITS, type StreamLimits } from './stream-reader.ts';

/** Tokens of the tests: `pro-1` is of the tier pro, and so on; `down` cannot be checked. */
export const TOKENS: Exclude<Tokens, 'anonymous'> = async ({ authorization, queryToken }) => {
  const text = authorization === undefined ? queryToken : authorization.replace('Bearer ', '');
  if (text === null || text === '') return { outcome: 'missing', reason: 'No token was sent.' };
  if (text === 'down') return { outcome: 'unreachable', reason: 'Tokens cannot be checked.' };
  const [tier] = text.split('-');
  if (tier !== 'free' && tier !== 'pro' && tier !== 'desk') {
    return { outcome: 'unknown', reason: 'The token is not known here.' };
  }
  return { outcome: 'opens', tier, id: text };
};

/** Of a process that reaches no other. */
export const ALONE: CountedTogether = { hold: async () => ({ checked: false }) };

/** The options of a test's stream. */
export type Serving = {
  readonly limits?: Partial<StreamLimits>;
  readonly together?: CountedTogether;
  readonly guarding?: Partial<Guarding>;
};

export type Given = Serving & {
  readonly access?: AccessRule;
  readonly heartbeat_s?: number;
  readonly keptMax?: number;
  readonly handle?: (route: TicksRoute, log: TickLog) => unknown;
};

/** Starts a server; it is closed after the test. */
export async function serveTicks(given: Given = {}) {
  const { access, heartbeat_s, keptMax = 10_000, handle = ticksHandler } = given;
  const route = ticksRoute(access, heartbeat_s);
  const log = new TickLog(route, keptMax);
  const stream = { route, handle: handle(route, log) } as MountedStream;
  return { ...(await serveStream(stream, given)), route, log };
}

/** Starts a server with one stream; it is closed after the test. */
export async function serveStream(stream: MountedStream, given: Serving = {}) {
  const { limits, together, guarding } = given;
  const meters = createMeters([]);
  const logged: string[] = [];
  const keep = (facts: object, message: string) => {
    logged.push(`${message} ${JSON.stringify(facts)}`);
  };
  const bounds = { ...STREAM_LIMITS, ...limits };
  const slots = createSlots(bounds.connectionsMax, together === undefined ? ALONE : together);
  let base = '';
  const app = createHttp({
    mounted: [{ route: plain, handle: async () => plain.reply(200, 'plain') }],
    gate: null,
    tokens: TOKENS,
    ...guarding,
    streams: { mounted: [stream], limits: bounds, slots, base: () => base },
    meters,
    log: { info: keep, warn: keep, error: keep },
    now: () => 1_790_000_000,
    budgetMs: 1_000,
    trustProxy: false,
  });
  base = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const port = Number(new URL(base).port);
  const metric = async (name: string): Promise<string[]> => {
    const lines = (await meters.registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith(name));
  };
  return { app, base, port, logged, metric };
}

const plain = plainRoute({
  name: 'plain',
  surface: 'web',
  method: 'GET',
  path: '/plain',
  summary: 'Of the tests.',
  access: 'open',
  responses: { 200: z.literal('plain') },
});

const bodySchema = z.looseObject({ type: z.string(), seq: z.number().optional() });
export type Body = z.output<typeof bodySchema>;

/** A reader over a WebSocket, and what it has read. */
export async function readSocket(
  base: string,
  query = 'token=pro-1',
  options: ClientOptions = {},
  path = '/ws/ticks',
) {
  const ws = new WebSocket(`${base.replace('http', 'ws')}${path}?${query}`, options);
  const read: Body[] = [];
  let told: () => void = () => undefined;
  ws.on('message', (data) => {
    read.push(bodySchema.parse(JSON.parse(String(data))));
    told();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
      told();
    });
  });
  ws.on('error', () => undefined);
  onTestFinished(() => ws.terminate());
  await once(ws, 'open');
  return { ws, read, closed, until: untilOf(read, (tell) => (told = tell)) };
}

// Waits for as many bodies as a test names, or for one that it describes.
function untilOf(read: readonly Body[], onTold: (tell: () => void) => void) {
  return (enough: (read: readonly Body[]) => boolean): Promise<readonly Body[]> =>
    new Promise((resolve) => {
      const look = () => {
        if (enough(read)) resolve(read);
      };
      onTold(look);
      look();
    });
}

/** A reader of server-sent events, and what it has read. */
export async function readEvents(
  base: string,
  query = 'token=pro-1',
  headers: { readonly [name: string]: string } = {},
  path = '/sse/ticks',
) {
  const sent = get(`${base}${path}?${query}`, { headers, agent: false });
  sent.on('error', () => undefined);
  onTestFinished(() => void sent.destroy());
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('no response');
  const read: Body[] = [];
  const raw: string[] = [];
  let told: () => void = () => undefined;
  let text = '';
  response.on('data', (chunk) => {
    text += String(chunk);
    const events = text.split('\n\n');
    text = events.slice(-1).join();
    for (const event of events.slice(0, -1)) {
      raw.push(event);
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) read.push(bodySchema.parse(JSON.parse(data)));
    }
    told();
  });
  response.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  const until = untilOf(read, (tell) => (told = tell));
  return { response, read, raw, ended, leave: () => sent.destroy(), until };
}

/** The numbers of the ticks that were read. */
export const ticksIn = (read: readonly Body[]) =>
  read.filter(({ type }) => type === 'tick').map(({ seq }) => seq);

/** Numbers from one to another. */
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Answers of a plain socket to what is written on it, until it closes. */
export async function ask(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

const HANDSHAKE = [
  'Host: tests',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** A request as a WebSocket's client writes it. */
export function handshake(path: string, headers: readonly string[] = []): string {
  return `${[`GET ${path} HTTP/1.1`, ...HANDSHAKE, ...headers].join('\r\n')}\r\n\r\n`;
}

/** A reader that opens a stream and then reads nothing. */
export async function openStalled(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  socket.write(handshake(path));
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** The status and the JSON body of a refused handshake. */
export async function refusedHandshake(
  port: number,
  path: string,
  headers: readonly string[] = [],
) {
  const answer = await ask(port, handshake(path, headers));
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) as unknown };
}
