// Declares and answers GET /.well-known/exhibit-keys.json: every public key there ever was.

import { z } from 'zod';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { harmless, oneOf, unavailable, words } from '../../contract/wire.ts';
import { Unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Signing } from '../../ports/signing.ts';

/** How long a key set may be kept: shorter than a key is published before it signs. */
const KEPT_S = 60;
const OF_KEYS = 'it is of the keys of the service, and of no address';

const key = z.strictObject({
  kty: oneOf(['OKP']),
  crv: oneOf(['Ed25519']),
  alg: oneOf(['Ed25519']),
  use: oneOf(['sig']),
  kid: words(),
  x: words(),
  nbf: z.int().positive(),
  exp: z.int().positive(),
  compromised_since: z.int().positive().nullable(),
});

export const signingKeys = plainRoute({
  name: 'signing_keys',
  surface: 'web',
  method: 'GET',
  path: '/.well-known/exhibit-keys.json',
  summary: 'The public keys under which answers and checkpoints are signed, past ones too.',
  access: 'open',
  responses: {
    200: z
      .strictObject({
        simulated: harmless(z.boolean(), OF_KEYS),
        keys: z.array(key).min(1),
      })
      .describe('A JWK set (RFC 7517), the newest key first. Times are Unix seconds.'),
    503: unavailable.describe('The keys could not be read.'),
  },
  keptS: KEPT_S,
});

export type SigningPorts = {
  readonly signing: Signing;
  readonly service: { readonly simulated: boolean };
};

/** @internal */
export function signingKeysHandler({
  signing,
  service: { simulated },
}: SigningPorts): PlainHandler<typeof signingKeys> {
  const silent = ({ reason }: Why) => signingKeys.reply(503, { error: 'unavailable', reason });
  return async () => {
    const found = await signing.publicKeys();
    if (found instanceof Unread) return silent(found.why);
    // A set without keys would have whoever reads it refuse every signature.
    if (found.value.length === 0) return silent(why('signing_key_missing'));
    return signingKeys.reply(200, { simulated, keys: [...found.value] });
  };
}
