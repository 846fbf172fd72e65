// Answers one question: which tier of the intelligence service does a bearer token open.
// Tokens come from the operator's setting or were minted here; both are compared as hashes.
// A hosted key opens nothing here, and a token nothing there.

import type { UnixSeconds } from '../chain/time.ts';
import { Unread } from '../evidence/reading.ts';
import type { NewToken, TokenStore, TokenTier } from '../ports/access/key-store.ts';
import { displayPrefix, mintId, mintSecret } from './key.ts';
import { hashesOf, type Secrets } from './secret.ts';

/** A pair of `EXHIBIT_INTELLIGENCE_TOKENS`. */
type ConfiguredToken = { readonly tier: TokenTier; readonly token: string };

const TOKEN_CHARS_MAX = 200;
const BEARER = /^Bearer +([^ ]+) *$/i;

/** A new token: its text, which is shown once, and what is stored of it. */
export function mintToken(
  tier: TokenTier,
  secrets: Secrets,
  now: UnixSeconds,
): { readonly text: string; readonly stored: NewToken } {
  const text = mintSecret('sct');
  const [secret] = hashesOf(text, secrets);
  const stored = { id: mintId('tok'), tier, secret, prefix: displayPrefix(text), created_at: now };
  return { text, stored };
}

/** Where a token can stand. `queryToken` is `null` on routes that take it in headers only. */
type PresentedToken = {
  readonly authorization: string | undefined;
  readonly queryToken: string | null;
};

/** What a token opens. `unreachable`: it may be a good one, but the store did not answer. */
type TokenOutcome =
  | { readonly outcome: 'opens'; readonly tier: TokenTier; readonly id: string }
  | { readonly outcome: 'missing' | 'unknown' | 'unreachable'; readonly reason: string };

/** Tells which token was sent, and what it opens. */
export type AuthenticateToken = (presented: PresentedToken) => Promise<TokenOutcome>;

/** Makes the authentication of the intelligence service. The header wins when both are present. */
export function tokenAuthentication(
  configured: readonly ConfiguredToken[],
  minted: Pick<TokenStore, 'find'>,
  secrets: Secrets,
): AuthenticateToken {
  const byHash = new Map<string, { tier: TokenTier; id: string }>();
  for (const [i, { tier, token }] of configured.entries()) {
    byHash.set(nameOf(hashesOf(token, secrets)[0].hash), { tier, id: `configured_${i + 1}` });
  }
  return async ({ authorization, queryToken }) => {
    if (authorization === undefined && (queryToken === null || queryToken === '')) {
      return { outcome: 'missing', reason: 'No token was sent.' };
    }
    const text = authorization === undefined ? queryToken : BEARER.exec(authorization)?.[1];
    if (text === null || text === undefined || text.length > TOKEN_CHARS_MAX) return UNKNOWN;
    const hashes = hashesOf(text, secrets);
    const known = byHash.get(nameOf(hashes[0].hash));
    if (known !== undefined) return { outcome: 'opens', ...known };
    const found = await minted.find(hashes);
    if (found instanceof Unread) {
      return { outcome: 'unreachable', reason: 'Tokens cannot be checked at the moment.' };
    }
    if (found.value === null || found.value.revoked_at !== null) return UNKNOWN;
    return { outcome: 'opens', tier: found.value.tier, id: found.value.id };
  };
}

const UNKNOWN = { outcome: 'unknown', reason: 'The token is not known here.' } as const;

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}
