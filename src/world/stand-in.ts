import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The part of a server that is one stand-in: answers its paths, and says whether it did. */
export type StandIn = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The other part: takes a connection that is to become a socket of messages. */
export type StandInUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A server on a port of 127.0.0.1. */
type Started = { readonly origin: string; readonly close: () => Promise<void> };

/** The faults that every provider can be given: of its server or the way there, not its words. */
export const WIRE_FAULTS = [
  'missing',
  'unreachable',
  'busy',
  'empty',
  'cut',
  'stalled',
  'flapping',
] as const;
export type WireFault = (typeof WIRE_FAULTS)[number];

/** The fault of each server of this process, by its origin. */
const wireFaults = new Map<string, { fault: WireFault | null; requests: number }>();

/** Breaks the wire of the stand-in at a URL, or mends it (`null`). */
export function breakWire({ origin }: URL, fault: WireFault | null): void {
  const wire = wireFaults.get(origin.replace(/^ws:/, 'http:'));
  if (wire === undefined) throw new Error(`no stand-in listens at ${origin}`);
  wire.fault = fault;
}

/** How many requests reached the stand-in at a URL so far, on a broken wire too. */
export function requestsAt({ origin }: URL): number {
  const wire = wireFaults.get(origin);
  if (wire === undefined) throw new Error(`no stand-in listens at ${origin}`);
  return wire.requests;
}

/** Starts a server of one stand-in on a free port of 127.0.0.1. */
export async function startStandIn(part: StandIn, upgrade?: StandInUpgrade): Promise<Started> {
  const wire: { fault: WireFault | null; requests: number } = { fault: null, requests: 0 };
  const server = createServer((request, response) => {
    wire.requests += 1;
    if (isBroken(wire, response)) return;
    if (!part(request, response)) response.writeHead(404).end();
  });
  if (upgrade !== undefined) {
    server.on('upgrade', (request, socket, head) => {
      wire.requests += 1;
      const isWhole = wire.fault === null || (wire.fault === 'flapping' && wire.requests % 2 === 0);
      if (isWhole) upgrade(request, socket, head);
      else if (wire.fault !== 'stalled') socket.destroy();
    });
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  wireFaults.set(origin, wire);
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        wireFaults.delete(origin);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether the wire is broken at this request; then it has had its answer, or gets none. */
function isBroken(
  { fault, requests }: { readonly fault: WireFault | null; readonly requests: number },
  response: ServerResponse,
): boolean {
  const json = { 'content-type': 'application/json' };
  if (fault === null || (fault === 'flapping' && requests % 2 === 0)) return false;
  if (fault === 'unreachable') response.destroy();
  else if (fault === 'missing') response.writeHead(404, json).end('{"message":"Not Found"}');
  else if (fault === 'busy') response.writeHead(429, { ...json, 'retry-after': '1' }).end('{}');
  else if (fault === 'empty') response.writeHead(200, json).end();
  else if (fault === 'flapping') answerPage(response, 500);
  else if (fault === 'cut') {
    response.writeHead(200, { ...json, 'content-length': CUT_BYTES });
    response.write('[', () => response.destroy());
  }
  return true;
}

const CUT_BYTES = 1_000;

/** The page of a web server that cannot reach its upstream. */
export const BAD_GATEWAY_PAGE =
  '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>';

/** Answers with that page, under the status that it should have or under one that it should not. */
export function answerPage(response: ServerResponse, status: 200 | 500): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(BAD_GATEWAY_PAGE);
}

/** The body of a question, as text; what comes after a chunk past `charsMax` is not read. */
export async function bodyOf(request: IncomingMessage, charsMax: number): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > charsMax) break;
  }
  return text;
}

const DRIP_MS = 50;

/** One byte at a time, until the reader gives up. */
export function drip(response: ServerResponse, bytes: Buffer): void {
  let at = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(at, at + 1));
    at += 1;
  }, DRIP_MS);
  response.once('close', () => clearInterval(timer));
}

/** Whether a word of the configuration names one of these faults. */
export function isFault<F extends string>(faults: readonly F[], text: string): text is F {
  return faults.some((fault) => fault === text);
}
