// Signs an authorisation that lets a contract’s code run for an account (EIP-7702), in the form
// that nodes accept.

import * as Authorization from 'ox/Authorization';
import * as Secp256k1 from 'ox/Secp256k1';
import type { SignedAuthorisation } from '../chain/authorisation.ts';

/** The key of the second account of every test chain of this kind. */
const KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';

/** The authorisation of the second account on a chain, at a nonce. */
export function signedDelegation(to: string, chainId: number, nonce: bigint): SignedAuthorisation {
  const address = to as `0x${string}`;
  const said = Authorization.from({ address, chainId, nonce });
  const payload = Authorization.getSignPayload(said);
  const signature = Secp256k1.sign({ payload, privateKey: KEY });
  return Authorization.toRpc(Authorization.from(said, { signature }));
}
