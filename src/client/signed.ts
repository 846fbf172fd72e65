// Asks for signed answers: under a nonce of its own each time, checked against a pinned key set
// where there is one, and saved as one file.

import { base64Text } from '../chain/bytes.ts';
import { signatureWishText } from '../contract/http-signature.ts';
import {
  type SavedAnswer,
  type SavedAnswerCheck,
  saveAnswer,
  verifySavedAnswer,
} from '../contract/saved-answer.ts';

/** How an answer is asked for that is signed. */
export type SignedOptions = {
  /**
   * A pinned key set, as `/.well-known/exhibit-keys.json` gave it once: parsed, or as text. An
   * answer that does not verify under it is thrown away. Without it nothing is verified.
   */
  readonly keys?: unknown;
  /** Takes the answer as one file, to be written as JSON; before the call resolves. */
  readonly save?: (file: SavedAnswer) => void | Promise<void>;
};

const NONCE_BYTES = 18;
const MS_PER_S = 1_000;

/** The request header of one signed answer, and how what came is taken. */
export type SignedRequest = {
  readonly header: string;
  /** Checks and saves what came; the sentence of its fault, `null` where there is none. */
  readonly take: (received: ReceivedAnswer) => Promise<string | null>;
};

type ReceivedAnswer = {
  readonly method: string;
  readonly url: URL;
  readonly status: number;
  readonly headers: { readonly get: (name: string) => string | null };
  readonly bytes: Uint8Array;
};

/** What a call takes under `signed`: a request of its own for each answer. */
export type SignedCalls = { readonly begin: () => SignedRequest };

/** Has calls ask for signed answers: give it to them under `signed`. */
export function requestSigned(options: SignedOptions = {}): SignedCalls {
  return { begin: () => beginRequest(options) };
}

function beginRequest({ keys, save }: SignedOptions): SignedRequest {
  const nonce = base64Text(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const header = signatureWishText(nonce);
  return {
    header,
    take: async ({ method, url, status, headers, bytes }) => {
      if (headers.get('signature') === null) {
        const reason = headers.get('signature-unavailable');
        return `the answer is not signed${reason === null ? '' : ` (${reason})`}`;
      }
      const request = { method, url: url.href, accept_signature: header };
      const file = saveAnswer(request, status, (name) => headers.get(name), bytes);
      const fault = keys === undefined ? null : faultOf(file, keys, nonce);
      if (fault === null) await save?.(file);
      return fault;
    },
  };
}

function faultOf(file: SavedAnswer, keys: unknown, nonce: string): string | null {
  const now = Math.floor(Date.now() / MS_PER_S);
  const said: SavedAnswerCheck = verifySavedAnswer(file, keys, { now, nonce });
  return said.state === 'holds' ? null : said.says;
}
