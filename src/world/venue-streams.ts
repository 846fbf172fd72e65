// Sockets of the simulated venues: who subscribes is sent what falls due, beside a heartbeat, and
// faults on demand. A real venue that is asked by a wrong route stays open and silent as well.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { StandInUpgrade } from './stand-in.ts';

/** The faults that the stream of a venue can be given. */
export const FEED_FAULTS = [
  'refused',
  'silent',
  'no-heartbeat',
  'no-acknowledgement',
  'closes',
  'garbage',
  'oversized',
  'flood',
] as const;
export type FeedFault = (typeof FEED_FAULTS)[number];

/** The words of a venue's stream. */
export type StreamWords = {
  readonly path: string;
  /** What a frame of a client is answered with; `null`: nothing. */
  readonly answer: (frame: Readonly<Record<string, unknown>>) => object | null;
  /** Whether an answered frame asks for the stream. */
  readonly subscribes: (frame: Readonly<Record<string, unknown>>) => boolean;
  readonly heartbeat: (nowMs: number) => object;
  /** What fell due in a time. */
  readonly due: (from: number, to: number) => readonly object[];
};

/** The stream of a venue on a server. */
export type StartedStream = {
  readonly upgrade: StandInUpgrade;
  readonly fault: (fault: FeedFault | null) => void;
  /** Closes every socket, as a venue does once a day. */
  readonly drop: () => void;
  readonly readers: () => number;
  readonly close: () => void;
};

const FRAME_BYTES_MAX = 100_000;
const OVERSIZED_CHARS = 4 * 2 ** 20;
const FLOOD_MESSAGES = 5_000;

/** Makes a stream that beats each `beatMs`; `nowMs` is the clock of the world. */
export function venueStream(
  words: StreamWords,
  { nowMs, beatMs }: { readonly nowMs: () => number; readonly beatMs: number },
): StartedStream {
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  const reading = new Set<WebSocket>();
  let fault: FeedFault | null = null;
  let told = nowMs();
  const beat = (): void => {
    const now = nowMs();
    const messages = words.due(told, now);
    told = now;
    if (fault === 'silent') return;
    const beats = fault === 'no-heartbeat' ? [] : [words.heartbeat(now)];
    for (const socket of reading) {
      for (const one of [...messages, ...beats]) socket.send(JSON.stringify(one));
    }
  };
  const timer = setInterval(beat, beatMs);
  const take = (socket: WebSocket, text: string): void => {
    const frame: unknown = JSON.parse(text);
    if (typeof frame !== 'object' || frame === null || fault === 'silent') return;
    const asked = { ...frame };
    const answer = words.answer(asked);
    if (answer !== null && fault !== 'no-acknowledgement') socket.send(JSON.stringify(answer));
    if (words.subscribes(asked)) reading.add(socket);
  };
  const open = (socket: WebSocket): void => {
    socket.on('close', () => reading.delete(socket));
    socket.on('message', (data) => take(socket, String(data)));
    if (fault === 'closes') socket.close();
    if (fault === 'garbage') socket.send('<html>');
    if (fault === 'oversized') socket.send(' '.repeat(OVERSIZED_CHARS));
    if (fault !== 'flood') return;
    const one = JSON.stringify(words.heartbeat(nowMs()));
    for (let n = 0; n < FLOOD_MESSAGES; n += 1) socket.send(one);
  };
  return {
    upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.url !== words.path || fault === 'refused') {
        socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, open);
    },
    fault: (next) => {
      fault = next;
    },
    drop: () => {
      for (const socket of server.clients) socket.terminate();
    },
    readers: () => reading.size,
    close: () => {
      clearInterval(timer);
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}
