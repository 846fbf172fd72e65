// Signs transactions of EIP-1559 with a private key of secp256k1.

import * as Address from 'ox/Address';
import type * as Hex from 'ox/Hex';
import * as Secp256k1 from 'ox/Secp256k1';
import * as TxEnvelopeEip1559 from 'ox/TxEnvelopeEip1559';

/** A call of a contract; amounts in wei. */
export type UnsignedTransaction = {
  readonly chain_id: number;
  readonly to: string;
  /** Call data as `0x` hex. */
  readonly data: string;
  readonly nonce: number;
  readonly gas: bigint;
  readonly max_fee_wei: bigint;
  readonly tip_wei: bigint;
};

/** The account of a private key, in lower case. `key` is 32 bytes as `0x` hex. */
export function accountOf(key: string): string {
  const publicKey = Secp256k1.getPublicKey({ privateKey: key as Hex.Hex });
  return Address.fromPublicKey(publicKey).toLowerCase();
}

/** Signs: the hash of the transaction, and its bytes as `0x` hex. Equal calls give equal bytes. */
export function signTransaction(
  { chain_id, to, data, nonce, gas, max_fee_wei, tip_wei }: UnsignedTransaction,
  key: string,
): { readonly tx: string; readonly raw: string } {
  const envelope = TxEnvelopeEip1559.from({
    chainId: chain_id,
    to: to as Address.Address,
    data: data as Hex.Hex,
    nonce: BigInt(nonce),
    gas,
    maxFeePerGas: max_fee_wei,
    maxPriorityFeePerGas: tip_wei,
  });
  const payload = TxEnvelopeEip1559.getSignPayload(envelope);
  const signature = Secp256k1.sign({ payload, privateKey: key as Hex.Hex });
  const raw = TxEnvelopeEip1559.serialize(envelope, { signature });
  return { raw, tx: TxEnvelopeEip1559.hash(TxEnvelopeEip1559.from(envelope, { signature })) };
}
