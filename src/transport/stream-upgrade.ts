// Answers one question: how does a request to upgrade reach its route.
// A server that listens for upgrades is handed every one of them. Those that are for no stream of
// ours go on as the plain requests that they were without us, h2c offers of clients among them.

import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

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
