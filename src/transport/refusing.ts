// Answers one question: which refusal does a fault stand for.
// Each fault of the web framework that is the request's becomes a row of the refusals' table.

import type { IncomingHttpHeaders } from 'node:http';
import { badInput, Refusal } from '../contract/refusals.ts';

/** The words about a path that cannot be read. */
export const BAD_PATH = 'path: expected a decodable path of at most 256 characters a field';

/** A body that is not what its type announces; the message says what was expected. */
export class BrokenBody extends Error {}

/** The refusal that a fault of the framework stands for; `null` for a fault of ours. */
export function refusalOf(error: unknown, bodyType = 'application/json'): Refusal | null {
  if (error instanceof BrokenBody) return badInput([error.message]);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('body_too_large', { error: 'body: larger than this route reads' });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('wrong_content_type', {
        error: `content-type: expected ${bodyType}`,
      });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return badInput(['body: expected valid JSON']);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badInput(['content-length: expected the length of the body']);
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return badInput([BAD_PATH]);
    default:
      return null;
  }
}

/** The refusal of a body in an encoding: none is read here, and none is taken for plain text. */
export function encodingRefusal(headers: IncomingHttpHeaders): Refusal | null {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || /^\s*(identity\s*)?$/i.test(encoding)) return null;
  const error = 'content-encoding: expected none; a compressed body is not read';
  return new Refusal('wrong_content_type', { error }, { 'accept-encoding': 'identity' });
}

/** The reason under which a refusal is counted. */
export function reasonOf(refusal: Refusal): string {
  const { body } = refusal;
  if (typeof body === 'object' && body !== null && 'reason' in body) return String(body.reason);
  return refusal.code;
}

/** The refusal of a request that met a fault of ours: the id that the log has, and nothing else. */
export function faultRefusal(requestId: string): Refusal {
  const error = 'A fault of the service; its log has this id.';
  return new Refusal('fault', { error, request_id: requestId });
}

/** A fault as the log takes it. */
export function describe(fault: unknown): string {
  return fault instanceof Error && fault.stack !== undefined ? fault.stack : String(fault);
}
