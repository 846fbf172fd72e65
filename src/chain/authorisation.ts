// Recovers the account whose signed authorisation delegates to another's code (EIP-7702).

import * as Authorization from 'ox/Authorization';
import * as Secp256k1 from 'ox/Secp256k1';

/** An authorisation as nodes write it; every field hex, `0x`. */
export type SignedAuthorisation = {
  readonly chainId: string;
  readonly address: string;
  readonly nonce: string;
  readonly yParity: string;
  readonly r: string;
  readonly s: string;
};

/** The account that signed it, in lower case; `null` where the signature is none. */
export function authorityOf(signed: SignedAuthorisation): string | null {
  try {
    const known = Authorization.fromRpc(signed as Authorization.Rpc);
    const { r, s, yParity } = known;
    const payload = Authorization.getSignPayload(known);
    return Secp256k1.recoverAddress({ payload, signature: { r, s, yParity } }).toLowerCase();
  } catch (fault) {
    // The curve's library throws plain errors for numbers that are no point.
    if (fault instanceof Error) return null;
    throw fault;
  }
}
