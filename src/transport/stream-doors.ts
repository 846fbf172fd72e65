// Answers one question: how does an open stream leave by a WebSocket, and how by its twin.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { StreamLimits } from './stream-limits.ts';
import type { Door, StreamEnd } from './stream-reader.ts';
import type { Upgrading } from './stream-upgrade.ts';

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
/** How soon a browser comes back after its events ended. */
const RETRY_MS = 2_000;

/** What a door hears. */
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

/** Opens a stream of server-sent events. */
export function eventsDoor(
  response: ServerResponse,
  headers: { readonly [name: string]: string },
  { closeMs }: StreamLimits,
): Door {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Proxies that gather an answer before they pass it on are asked not to.
    'x-accel-buffering': 'no',
  });
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
