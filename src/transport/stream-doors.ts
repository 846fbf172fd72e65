// An open stream leaves by a WebSocket, or by its twin of server-sent events.

import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { WebSocketServer } from 'ws';
import type { AnyStreamRoute, Sendable } from '../contract/stream.ts';
import type { Door, StreamEnd, StreamLimits } from './stream-reader.ts';

/** The codes that a WebSocket is closed with (RFC 6455, 7.4.1, and the registry of IANA). */
const CLOSE_CODES: { readonly [end in StreamEnd]: number } = {
  source_ended: 1000,
  reader_left: 1000,
  lifetime: 1000,
  going_away: 1001,
  bad_protocol: 1002,
  no_pong: 1002,
  credential: 1008,
  too_many_frames: 1008,
  frame_too_large: 1009,
  fault: 1011,
  lagged: 1013,
};
/** The delay before a browser reconnects after its events ended. */
const RETRY_MS = 2_000;

/** The callbacks of a connection. */
export type Ears = {
  /** Text of a client; `null` for a binary frame. */
  readonly frame: (text: string | null) => void;
  readonly pong: () => void;
  /** The client broke the protocol, or the socket broke; the door closes by itself. */
  readonly broken: (end: StreamEnd) => void;
  readonly closed: () => void;
};

/** Opens WebSockets: without compression, and with a bound on what a client sends at once. */
export function websocketDoors({ frameBytesMax, closeMs }: StreamLimits) {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    // No sub-protocol is spoken, and what stood there is not said again.
    handleProtocols: () => false,
  });
  /** Answers a request to upgrade; `begin` is told the door when it is open. */
  return (
    request: IncomingMessage,
    { socket, head, response }: Upgrading,
    headers: { readonly [name: string]: string },
    begin: (door: Door) => Ears,
  ): void => {
    const add = (lines: string[]) => {
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    };
    response.detachSocket(socket);
    // Both are done before `handleUpgrade` returns, so that nobody else's handshake is met.
    server.once('headers', add);
    server.handleUpgrade(request, socket, head, (ws) => {
      const ears = begin({
        stream: socket,
        bytesOf: (message) => message.frame(),
        ping: () => ws.ping(),
        close: (end) => {
          ws.close(CLOSE_CODES[end], end);
          destroyLate(socket, closeMs);
        },
        destroy: () => ws.terminate(),
      });
      ws.on('pong', ears.pong);
      ws.on('message', (data, isBinary) => ears.frame(isBinary ? null : String(data)));
      ws.on('close', ears.closed);
      // The library then closes with the code of the fault.
      ws.on('error', (fault) => {
        ears.broken(endOf(fault));
        destroyLate(socket, closeMs);
      });
    });
    server.off('headers', add);
  };
}

// A reader that does not read does not answer a closing either.
function destroyLate(ending: Socket | ServerResponse, closeMs: number): void {
  const late = setTimeout(() => ending.destroy(), closeMs);
  ending.once('close', () => clearTimeout(late));
}

function endOf(fault: Error): StreamEnd {
  const code = 'code' in fault ? fault.code : null;
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return 'frame_too_large';
  return typeof code === 'string' && code.startsWith('WS_ERR_') ? 'bad_protocol' : 'reader_left';
}

/** The head of a response of events. */
export const EVENTS_HEADERS: { readonly [name: string]: string } = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that gather an answer before they pass it on are asked not to.
  'x-accel-buffering': 'no',
};

/** Opens a stream of server-sent events. */
export function eventsDoor(
  response: ServerResponse,
  headers: { readonly [name: string]: string },
  { closeMs }: StreamLimits,
): Door {
  response.writeHead(200, { ...headers, ...EVENTS_HEADERS });
  response.write(`retry: ${RETRY_MS}\n\n`);
  return {
    stream: response,
    bytesOf: (message) => message.event(),
    ping: null,
    close: () => {
      response.end();
      destroyLate(response, closeMs);
    },
    destroy: () => response.destroy(),
  };
}

/** A frame of a client: one that the stream declares, or the message that says what is wrong. */
export type HeardFrame =
  | { readonly kind: 'ask'; readonly ask: { readonly type: string } }
  | { readonly kind: 'wrong'; readonly answer: Sendable };

/** Reads a frame by the declaration; `null` is a binary one. What was sent is never echoed. */
export function heardFrame(route: AnyStreamRoute, text: string | null): HeardFrame {
  const sent = text === null ? undefined : parseJson(text);
  const ask = route.frames.safeParse(sent);
  if (ask.success) return { kind: 'ask', ask: ask.data };
  const known = Object.keys(route.heard);
  const isKnown = known.some((type) => type === typeOf(sent));
  const answer = isKnown
    ? route.own.error('bad_frame', 'This frame does not have the fields that its type declares.')
    : route.own.error('unknown_frame', `Expected a JSON object whose type is ${known.join(', ')}.`);
  return { kind: 'wrong', answer };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined;
    throw fault;
  }
}

function typeOf(sent: unknown): unknown {
  return typeof sent === 'object' && sent !== null && 'type' in sent ? sent.type : undefined;
}

/** Whether one more frame may be heard now. */
export type FrameRate = (nowMs: number) => boolean;

const MS_PER_S = 1_000;

/** Lets so many frames pass at once, and so many more with each second. */
export function frameRate({
  framesAtOnceMax,
  framesPerSecondMax,
}: Pick<StreamLimits, 'framesAtOnceMax' | 'framesPerSecondMax'>): FrameRate {
  let left = framesAtOnceMax;
  let lastMs: number | null = null;
  return (nowMs) => {
    const passed = lastMs === null ? 0 : nowMs - lastMs;
    lastMs = nowMs;
    left = Math.min(framesAtOnceMax, left + (passed * framesPerSecondMax) / MS_PER_S);
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

// A server that listens for upgrades is handed every one of them. Those that are for no stream of
// ours go on as the plain requests that they were without us, h2c offers of clients among them.

/** A request to upgrade on its way through the framework. */
export type Upgrading = {
  readonly socket: Socket;
  readonly head: Buffer;
  /** Answers a refusal; it lets go of the socket before the upgrade. */
  readonly response: ServerResponse;
};

/** Finds what came with a request to upgrade; `undefined` for a plain one. */
export type FindUpgrading = (request: IncomingMessage) => Upgrading | undefined;

/** Routes the requests to upgrade on these paths like any other request. */
export function routeUpgrades(app: FastifyInstance, paths: ReadonlySet<string>): FindUpgrading {
  const held = new WeakMap<IncomingMessage, Upgrading>();
  app.server.on('upgrade', (request, socket, head) => {
    // The server listens on TCP alone.
    if (!(socket instanceof Socket)) throw new Error('an upgrade came from no socket');
    if (!isForStream(request, paths)) {
      socket.unshift(Buffer.concat([withoutUpgrade(request), head]));
      app.server.emit('connection', socket);
      return;
    }
    // Nobody else hears the faults of a socket that left the server.
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.end());
    held.set(request, { socket, head, response });
    app.server.emit('request', request, response);
  });
  return (request) => held.get(request);
}

/** The version of RFC 6455, and the form of a handshake's key there. */
export const WEBSOCKET_VERSION = '13';
const KEY = /^[+/0-9A-Za-z]{22}==$/;

// A broken handshake is for no stream: it is answered as a plain request is.
function isForStream({ method, url, headers }: IncomingMessage, paths: ReadonlySet<string>) {
  const [path] = url === undefined ? [] : url.split('?', 1);
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    path !== undefined &&
    paths.has(path) &&
    headers['sec-websocket-version'] === WEBSOCKET_VERSION &&
    KEY.test(String(headers['sec-websocket-key']))
  );
}

function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade')
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
