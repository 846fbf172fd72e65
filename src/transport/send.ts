// Sends answers, whole or in pieces, compressed for a client that takes it.

import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply } from 'fastify';
import { HTML_TYPE } from '../contract/reply.ts';
import { API_HEADERS, PAGE_HEADERS, type WrittenAnswer, type WrittenRest } from './answer.ts';

/** A body of fewer bytes stays as it is: it fits one packet. */
const COMPRESSED_BYTES_MIN = 1_024;
/** Above this, brotli costs more processor time than a link saves. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
/** Each piece is sent when it is there, so that a browser can draw it. */
const GZIP_PIECES = { flush: constants.Z_SYNC_FLUSH };
const BROTLI_PIECES = { ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH };
const TEXT_TYPE = /^(text\/|application\/[a-z.+-]*(json|xml|javascript)|image\/svg)/;
const NOT_MODIFIED = 304;
const ENCODED = 'Accept-Encoding';

type Encoding = 'br' | 'gzip';
type ReplyHeaders = WrittenAnswer['headers'];

const compressBytes = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** Sends a whole answer past the framework, whose own sending costs more than most answers. */
export function sendAnswer(reply: FastifyReply, said: WrittenAnswer): void {
  reply.hijack();
  const sent = { ...said, headers: varyByEncoding(said) };
  const encoding = encodingOf(reply.request.headers, sent);
  if (encoding === null) {
    write(reply, sent);
    return;
  }
  compressBytes[encoding](sent.bytes, encoding === 'br' ? BROTLI : {}).then(
    (bytes) => write(reply, { ...sent, headers: encodedHeaders(sent.headers, encoding), bytes }),
    () => reply.raw.destroy(),
  );
}

/** Sends an answer, or tells a client that holds it already that it does. */
export function sendIfNew(reply: FastifyReply, said: WrittenAnswer): void {
  const { 'if-none-match': held } = reply.request.headers;
  const { etag } = said.headers;
  const isHeld = said.status === 200 && typeof etag === 'string' && isNamed(held, etag);
  // Under this status the runtime sends the length and leaves out the bytes.
  sendAnswer(reply, isHeld ? { ...said, status: NOT_MODIFIED } : said);
}

function isNamed(held: string | undefined, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, '');
  if (held === undefined) return false;
  return held.split(',').some((tag) => ['*', strong(etag)].includes(strong(tag)));
}

/** Sends a page as it comes. Whoever hangs up ends it, and with it all that is still read. */
export async function sendInPieces(
  reply: FastifyReply,
  said: WrittenAnswer,
  { texts, end }: WrittenRest,
): Promise<void> {
  const { raw, request } = reply;
  const headers = varyByEncoding(said);
  const encoding = encodingOf(request.headers, { ...said, headers });
  const out = encoding === null ? raw : compressPieces(encoding, raw);
  try {
    raw.writeHead(said.status, {
      ...PAGE_HEADERS,
      'x-request-id': request.id,
      ...(encoding === null ? headers : encodedHeaders(headers, encoding)),
      ...closing(reply),
      // Proxies that gather an answer before they pass it on are asked not to.
      'x-accel-buffering': 'no',
    });
    out.write(said.bytes);
    for await (const text of texts) {
      if (raw.destroyed) return;
      if (!out.write(text)) await Promise.race([once(out, 'drain'), once(raw, 'close')]);
    }
    out.end();
  } finally {
    end();
  }
}

function compressPieces(encoding: Encoding, raw: ServerResponse): Writable {
  const through = encoding === 'br' ? createBrotliCompress(BROTLI_PIECES) : createGzip(GZIP_PIECES);
  through.pipe(raw);
  raw.once('close', () => through.destroy());
  return through;
}

function write(reply: FastifyReply, { status, headers, bytes }: WrittenAnswer): void {
  reply.raw.writeHead(status, {
    ...(headers['content-type'] === HTML_TYPE ? PAGE_HEADERS : API_HEADERS),
    'x-request-id': reply.request.id,
    ...headers,
    ...closing(reply),
    'content-length': bytes.length,
  });
  reply.raw.end(bytes);
}

// Of what the framework would add, only the closing of a connection is kept.
function closing(reply: FastifyReply) {
  return reply.hasHeader('connection') ? { connection: 'close' } : {};
}

function varyByEncoding({ headers, bytes }: WrittenAnswer): ReplyHeaders {
  if (!isCompressible(headers, bytes)) return headers;
  const { vary } = headers;
  return { ...headers, vary: vary === undefined ? ENCODED : `${String(vary)}, ${ENCODED}` };
}

function isCompressible(headers: ReplyHeaders, bytes: Buffer): boolean {
  return bytes.length >= COMPRESSED_BYTES_MIN && TEXT_TYPE.test(String(headers['content-type']));
}

/**
 * The encoding of an answer; `null`: as it is. A page of a session holds the token of its forms.
 * Beside a text that a stranger chose, the length of a compressed page would tell it (BREACH).
 */
function encodingOf(
  { 'accept-encoding': accepted, cookie }: IncomingHttpHeaders,
  { status, headers, bytes }: WrittenAnswer,
): Encoding | null {
  if (accepted === undefined || status === NOT_MODIFIED) return null;
  if (!isCompressible(headers, bytes)) return null;
  if (cookie !== undefined && String(headers['vary']).includes('Cookie')) return null;
  const encoding = negotiate(accepted, ['br', 'gzip', 'identity']);
  return encoding === 'br' || encoding === 'gzip' ? encoding : null;
}

// Other bytes have another name, unless the name is a weak one (RFC 9110, 8.8.3.3).
function encodedHeaders(headers: ReplyHeaders, encoding: Encoding): ReplyHeaders {
  const { etag } = headers;
  const named = etag === undefined ? headers : { ...headers, etag: `W/${String(etag)}` };
  return { ...named, 'content-encoding': encoding };
}
