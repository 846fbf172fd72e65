// Signs an answer for a client that asks for it: the bytes as they are sent, and the request that
// they answer. The signature's form is `contract/http-signature.ts`.

import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Headers } from '../contract/answer.ts';
import {
  answerSignature,
  contentDigest,
  readWish,
  type UnsignedReason,
} from '../contract/http-signature.ts';
import { describe, type Log, type WrittenAnswer } from './answer.ts';

/** The key in force, and what it signs for. */
export type AnswerSigning = {
  /** `null`: no key is in force, or none could be read. */
  readonly key: () => Promise<{
    readonly kid: string;
    readonly sign: (bytes: Uint8Array) => Uint8Array;
  } | null>;
  /** The start of the service's own URLs; without a final slash. Never what a client called it. */
  readonly base: () => string;
  /** Unix seconds. */
  readonly now: () => number;
};

/** The header that says why an answer carries no signature though one was asked for. */
const UNSIGNED = 'signature-unavailable';
const NO_CONTENT = Buffer.alloc(0);
const NOT_MODIFIED = 304;

/** Gives the headers of a signature over an answer as it leaves, or why there is none. */
export type SignAnswer = (said: WrittenAnswer) => Promise<Headers>;

/** Signs what a client under these paths asked to have signed; `null`: it asked for nothing. */
export function signerFor(
  request: IncomingMessage,
  paths: string,
  { signing, log }: { readonly signing?: AnswerSigning; readonly log: Pick<Log, 'error'> },
): SignAnswer | null {
  const isAsked = request.headers['accept-signature'] !== undefined;
  if (signing === undefined || !isAsked || request.url?.startsWith(paths) !== true) return null;
  return (said) =>
    signAnswer(signing, request, said).catch((fault) => {
      log.error({ fault: describe(fault) }, 'signing');
      return reasonHeaders('fault');
    });
}

async function signAnswer(
  { key, base, now }: AnswerSigning,
  request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  { status, headers, bytes }: WrittenAnswer,
): Promise<Headers> {
  const { 'accept-signature': asked } = request.headers;
  const wish = readWish(String(asked));
  if (typeof wish === 'string') return reasonHeaders(wish);
  const inForce = await key();
  if (inForce === null) return reasonHeaders('no_key');
  const { kid, sign } = inForce;
  if (wish.keyid !== null && wish.keyid !== kid) return reasonHeaders('parameters');
  const { method, url } = request;
  const { 'content-type': type } = headers;
  if (method === undefined || url === undefined || !url.startsWith('/'))
    return reasonHeaders('components');
  if (typeof type !== 'string') return reasonHeaders('components');
  // An answer to HEAD, and one of which the client holds the bytes, has no content (RFC 9530).
  const content = method === 'HEAD' || status === NOT_MODIFIED ? NO_CONTENT : bytes;
  const digest = contentDigest(hash('sha256', content, 'buffer'));
  const signed = answerSignature(
    wish,
    { keyid: kid, created: now() },
    {
      request: { method, url: base() + url, fields: {} },
      answer: { status, fields: { 'content-digest': digest, 'content-type': type } },
    },
  );
  if (signed === null) return reasonHeaders('components');
  const signature = Buffer.from(sign(Buffer.from(signed.base))).toString('base64');
  return {
    'content-digest': digest,
    'signature-input': `${wish.label}=${signed.input}`,
    signature: `${wish.label}=:${signature}:`,
    // Whoever changes bytes on the way breaks the signature.
    'cache-control': `${String(headers['cache-control'])}, no-transform`,
  };
}

function reasonHeaders(reason: UnsignedReason): Headers {
  return { [UNSIGNED]: reason };
}
