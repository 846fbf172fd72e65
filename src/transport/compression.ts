// Compresses answers for clients that take it: whole ones at once, others piece by piece.

import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';

/** A body of fewer bytes stays as it is: it fits one packet. */
export const COMPRESSED_BYTES_MIN = 1_024;
/** Above this, brotli costs more processor time than a link saves. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
/** Each piece is sent when it is there, so that a browser can draw it. */
const GZIP_PIECES = { flush: constants.Z_SYNC_FLUSH };
const BROTLI_PIECES = { ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH };
/** The types of text, which compress well. */
export const TEXT_TYPE = /^(text\/|application\/[a-z.+-]*(json|xml|javascript)|image\/svg)/;
/** The request header by which answers vary. */
export const ENCODED = 'Accept-Encoding';

export type Encoding = 'br' | 'gzip';

const WHOLE = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** The encoding that a client takes best; `null`: as it is. */
export function encodingIn(accepted: string): Encoding | null {
  const encoding = negotiate(accepted, ['br', 'gzip', 'identity']);
  return encoding === 'br' || encoding === 'gzip' ? encoding : null;
}

/** Compresses a whole body. */
export function compressBytes(encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  return WHOLE[encoding](bytes, encoding === 'br' ? BROTLI : {});
}

/** Compresses pieces, each of which can be read when it is there. */
export function compressor(encoding: Encoding): Transform {
  return encoding === 'br' ? createBrotliCompress(BROTLI_PIECES) : createGzip(GZIP_PIECES);
}

/** The answer of a door that writes its own, compressed as others are. Events go piece by piece. */
export async function compressResponse(
  response: Response,
  accepted: string | null,
): Promise<Response> {
  const type = String(response.headers.get('content-type'));
  if (response.body === null || !TEXT_TYPE.test(type)) return response;
  const headers = new Headers(response.headers);
  headers.append('vary', ENCODED);
  headers.delete('content-length');
  const { status } = response;
  const encoding = accepted === null ? null : encodingIn(accepted);
  if (!type.startsWith('text/event-stream')) {
    const bytes = Buffer.from(await response.arrayBuffer());
    if (encoding === null || bytes.length < COMPRESSED_BYTES_MIN) {
      return new Response(bytes, { status, headers });
    }
    headers.set('content-encoding', encoding);
    const body = await compressBytes(encoding, bytes);
    return new Response(Uint8Array.from(body), { status, headers });
  }
  if (encoding === null) return new Response(response.body, { status, headers });
  headers.set('content-encoding', encoding);
  const through = compressor(encoding);
  const pieces = Readable.from(response.body as AsyncIterable<Uint8Array>);
  // A reader that hangs up ends both.
  pipeline(pieces, through, () => undefined);
  return new Response(Readable.toWeb(through) as ReadableStream, { status, headers });
}
