// Answers one question: which tier of the intelligence service does a bearer token open.
// Tokens come from the operator's setting or were minted here; both are compared as hashes.
// A hosted key opens nothing here, and a token nothing there.

import type { UnixSeconds } from '../chain/time.ts';
import { Unread } from '../evidence/reading.ts';
import { type NewToken, TOKEN_TIERS, type TokenStore, type TokenTier } from '../ports/key-store.ts';
import { displayPrefix, mintId, mintSecret } from './key.ts';
import { hashesOf, type Secrets } from './secret.ts';

/** A pair of `EXHIBIT_INTELLIGENCE_TOKENS`. */
export type ConfiguredToken = { readonly tier: TokenTier; readonly token: string };

/** The pairs of the setting, or what is wrong with it; the tokens are never repeated. */
export type ParsedTokens =
  | { readonly ok: true; readonly tokens: readonly ConfiguredToken[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const TOKEN_CHARS_MIN = 16;
const TOKEN_CHARS_MAX = 200;
const TOKEN = /^[\x21-\x2b\x2d-\x7e]+$/;
const BEARER = /^Bearer +([^ ]+) *$/i;

/** Reads `tier:token` pairs from a comma list. */
export function parseTokens(setting: string): ParsedTokens {
  const tokens: ConfiguredToken[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [i, pair] of setting.split(',').entries()) {
    const at = `pair ${i + 1}`;
    const colon = pair.indexOf(':');
    const tier = TOKEN_TIERS.find((known) => known === pair.slice(0, Math.max(colon, 0)).trim());
    const token = pair.slice(colon + 1).trim();
    if (tier === undefined) {
      problems.push(`${at} must begin with one of ${TOKEN_TIERS.join(', ')} and a colon`);
    } else if (token.length < TOKEN_CHARS_MIN || token.length > TOKEN_CHARS_MAX) {
      problems.push(`${at} needs a token of ${TOKEN_CHARS_MIN} to ${TOKEN_CHARS_MAX} characters`);
    } else if (!TOKEN.test(token)) {
      problems.push(`${at} has a token with a space, a comma or an unprintable character`);
    } else if (seen.has(token)) {
      problems.push(`${at} repeats the token of an earlier pair`);
    } else {
      seen.add(token);
      tokens.push({ tier, token });
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, tokens };
}

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
export type PresentedToken = {
  readonly authorization: string | undefined;
  readonly queryToken: string | null;
};

/** What a token opens. `unreachable`: it may be a good one, but the store did not answer. */
export type TokenOutcome =
  | { readonly outcome: 'opens'; readonly tier: TokenTier; readonly id: string }
  | { readonly outcome: 'missing' | 'unknown' | 'unreachable'; readonly reason: string };

/** Recognises tokens. */
export type TokenDoor = (presented: PresentedToken) => Promise<TokenOutcome>;

/** Makes the door of the intelligence service. The header wins when both are present. */
export function tokenDoor(
  configured: readonly ConfiguredToken[],
  minted: Pick<TokenStore, 'find'>,
  secrets: Secrets,
): TokenDoor {
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
