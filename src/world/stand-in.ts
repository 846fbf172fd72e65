import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The part of a server that is one stand-in: answers its paths, and says whether it did. */
export type StandIn = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The other part: takes a connection that is to become a socket of messages. */
export type StandInUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A server on a port of 127.0.0.1. */
type Started = { readonly origin: string; readonly close: () => Promise<void> };

/** Starts a server of one stand-in on a free port of 127.0.0.1. */
export async function startStandIn(part: StandIn, upgrade?: StandInUpgrade): Promise<Started> {
  const server = createServer((request, response) => {
    if (!part(request, response)) response.writeHead(404).end();
  });
  if (upgrade !== undefined) server.on('upgrade', upgrade);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

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
