// Answers one question: who opens the intelligence service on this deployment.

import type { Secrets } from '../../access/secret.ts';
import { tokenAuthentication } from '../../access/tokens.ts';
import type { Config } from '../../config.ts';
import type { TokenStore } from '../../ports/access/key-store.ts';
import type { Tokens } from '../../transport/bearer.ts';

/** The door: tokens of the setting and minted ones, unless the operator lets everybody in. */
export function doorOf({ intelligence }: Config, minted: TokenStore, secrets: Secrets): Tokens {
  if (intelligence.allowAnonymous) return 'anonymous';
  const configured = intelligence.tokens.map(({ tier, token }) => {
    return { tier, token: token.reveal() };
  });
  return tokenAuthentication(configured, minted, secrets);
}
