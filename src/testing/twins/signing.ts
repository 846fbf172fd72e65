// The twin of signing keys: one key that nobody else holds, in memory and silent.

import { createPrivateKey, sign } from 'node:crypto';
import { DAY_S } from '../../chain/time.ts';
import { map, read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { kidOf } from '../../features/signing/keys.ts';
import type { Signing, SigningJwk } from '../../ports/signing.ts';
import { memorySource, PLANTED } from './dated.ts';

/** The key of RFC 9421, B.1.4, which everybody holds. */
export const TEST_KEY = {
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
} as const;

/** Its id. */
export const TEST_KID = kidOf(TEST_KEY.x, false);

export type SigningPorts = { readonly signing: Signing };

/** The port over the test key, in force for a year around a time. */
export function memorySigning(at: number = PLANTED.as_of): SigningPorts {
  const { d, x } = TEST_KEY;
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  const jwk: SigningJwk = {
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'Ed25519',
    use: 'sig',
    kid: TEST_KID,
    x,
    nbf: at - 180 * DAY_S,
    exp: at + 180 * DAY_S,
    compromised_since: null,
  };
  const { kid, nbf, exp } = jwk;
  const inForce = { kid, x, nbf, exp, sign: (bytes: Uint8Array) => sign(null, bytes, key) };
  const source = memorySource('Control store', 'table', { as_of: at, simulated: false });
  const current: Signing['current'] = async () => read(inForce, { port: 'signing_keys', source });
  return {
    signing: {
      current,
      sign: async (bytes) =>
        map(await current(), (own) => ({ kid, x, signature: own.sign(bytes) })),
      publicKeys: async () => read([jwk], { port: 'signing_keys', source }),
    },
  };
}

export function silentSigning(cause: Why): SigningPorts {
  const silent = async () => unread('signing_keys' as const, cause);
  return { signing: { current: silent, sign: silent, publicKeys: silent } };
}
