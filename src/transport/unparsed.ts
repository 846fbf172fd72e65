// Answers one question: what is said to a client whose request could not be parsed at all.
// Node.js refuses it before there is a request: no route, no caller, no id.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { badInput, Refusal } from '../contract/refusals.ts';
import { type Answering, refusalSaid } from './answering.ts';
import { API_HEADERS } from './security-headers.ts';

/** Answers what the parser refused on a connection, and closes it. */
export function refuseUnparsed(
  error: { readonly code?: string },
  socket: Socket,
  { gate, meters }: Pick<Answering, 'gate' | 'meters'>,
): void {
  // An answer that is still due on this connection would be taken for this one's.
  const isDue = Reflect.get(socket, '_httpMessage') != null;
  if (error.code === 'ECONNRESET' || !socket.writable || isDue) {
    socket.destroy();
    return;
  }
  const refusal = refusalFor(error.code);
  meters.refused('unknown', refusal.code);
  // Nothing of the request is known, so that a key that it may hold is not either.
  const said = refusalSaid(refusal, gate === null ? null : gate.noFigures());
  const { status, bytes } = said;
  const closing = { connection: 'close', 'content-length': bytes.length };
  const lines = Object.entries({ ...API_HEADERS, ...said.headers, ...closing }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), bytes]));
}

function refusalFor(code: string | undefined): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal('head_too_large', { error: 'path and headers: at most 16 KiB together' });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal('body_too_large', { error: 'body: its chunk extensions are too large' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('too_slow', { error: 'request: expected whole within 30 seconds' });
    default:
      return badInput(['request: expected one of HTTP/1.1']);
  }
}
