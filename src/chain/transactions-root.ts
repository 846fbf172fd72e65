// Encodes transactions as a block's header commits to them (EIP-2718 and its kinds, and deposits of
// the OP stack), so that a transaction that is missing or told otherwise shows.

import { hex } from '@scure/base';
import { concatBytes } from './bytes.ts';
import { keccak256 } from './digest.ts';
import { type Rlp, rlp } from './receipts-root.ts';

/** A field that a node may leave out. All text is `0x` and hex. */
type Optional<T> = T | null | undefined;

/** A transaction as a node tells it; each kind has its own fields. */
export type CommittedTransaction = {
  readonly type?: Optional<number>;
  readonly chainId?: Optional<bigint>;
  readonly nonce?: Optional<bigint>;
  readonly gas?: Optional<bigint>;
  readonly gasPrice?: Optional<bigint>;
  readonly maxFeePerGas?: Optional<bigint>;
  readonly maxPriorityFeePerGas?: Optional<bigint>;
  readonly maxFeePerBlobGas?: Optional<bigint>;
  readonly blobVersionedHashes?: Optional<readonly string[]>;
  readonly from: string;
  /** `null` for a creation. */
  readonly to?: Optional<string>;
  readonly value: bigint;
  readonly input?: Optional<string>;
  readonly accessList?: Optional<
    readonly { readonly address: string; readonly storageKeys: readonly string[] }[]
  >;
  readonly authorizationList?: Optional<
    readonly {
      readonly chainId: bigint;
      readonly address: string;
      readonly nonce: bigint;
      readonly yParity?: Optional<bigint>;
      readonly r: bigint;
      readonly s: bigint;
    }[]
  >;
  readonly v?: Optional<bigint>;
  readonly r?: Optional<bigint>;
  readonly s?: Optional<bigint>;
  readonly sourceHash?: Optional<string>;
  readonly mint?: Optional<bigint>;
  readonly isSystemTx?: Optional<boolean>;
};

/** The encoding of a transaction; `null` if its kind is not known or a field is not told. */
export function encodeTransaction(tx: CommittedTransaction): Uint8Array | null {
  const type = tx.type == null ? 0 : tx.type;
  const fields = FIELDS[type]?.(tx);
  if (fields === undefined || !isWhole(fields)) return null;
  const body = rlp(fields);
  return type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
}

/** The hash of a transaction, of its encoding. `0x` and hex in lower case. */
export function transactionHash(encoding: Uint8Array): string {
  return `0x${hex.encode(keccak256(encoding))}`;
}

const STATE_SYNC_PREFIX = new TextEncoder().encode('matic-bor-receipt-');
const NUMBER_BYTES = 8;

/**
 * The hash under which Polygon shows the state sync of a block from before its roots cover it: made
 * of the block's number and hash, so that no payment has it.
 */
export function stateSyncHash(block: { readonly number: number; readonly hash: string }): string {
  const number = new Uint8Array(NUMBER_BYTES);
  new DataView(number.buffer).setBigUint64(0, BigInt(block.number));
  const hash = hex.decode(block.hash.slice('0x'.length));
  return transactionHash(concatBytes([STATE_SYNC_PREFIX, number, hash]));
}

type Field = Optional<Rlp>;

/** A deposit of an OP stack. */
const OP_DEPOSIT_TYPE = 0x7e;

const EMPTY = '0x';

/** The fields of each kind in order; an untold one is no encoding. */
const FIELDS: Readonly<
  Record<number, ((tx: CommittedTransaction) => readonly Field[]) | undefined>
> = {
  0: (tx) => [tx.nonce, tx.gasPrice, tx.gas, ...callOf(tx), tx.v, tx.r, tx.s],
  1: (tx) => [
    ...[tx.chainId, tx.nonce, tx.gasPrice, tx.gas, ...callOf(tx)],
    ...[accessOf(tx), tx.v, tx.r, tx.s],
  ],
  2: (tx) => [...feesOf(tx), ...callOf(tx), accessOf(tx), tx.v, tx.r, tx.s],
  3: (tx) => [
    ...[...feesOf(tx), ...callOf(tx), accessOf(tx)],
    ...[tx.maxFeePerBlobGas, tx.blobVersionedHashes, tx.v, tx.r, tx.s],
  ],
  4: (tx) => [
    ...[...feesOf(tx), ...callOf(tx), accessOf(tx)],
    ...[authorizationsOf(tx), tx.v, tx.r, tx.s],
  ],
  // A deposit names what it mints only if it mints, and whether the chain made it only if so.
  [OP_DEPOSIT_TYPE]: (tx) => [
    ...[tx.sourceHash, tx.from, toOf(tx), tx.mint == null ? 0n : tx.mint],
    ...[tx.value, tx.gas, tx.isSystemTx === true ? 1 : 0, tx.input],
  ],
};

function feesOf(tx: CommittedTransaction): readonly Field[] {
  return [tx.chainId, tx.nonce, tx.maxPriorityFeePerGas, tx.maxFeePerGas, tx.gas];
}

function callOf(tx: CommittedTransaction): readonly Field[] {
  return [toOf(tx), tx.value, tx.input];
}

function toOf({ to }: CommittedTransaction): string {
  return to == null ? EMPTY : to;
}

function accessOf({ accessList }: CommittedTransaction): Field {
  return accessList?.map(({ address, storageKeys }) => [address, storageKeys]);
}

function authorizationsOf({ authorizationList }: CommittedTransaction): Field {
  const rows = authorizationList?.map(({ chainId, address, nonce, yParity, r, s }) => {
    return yParity == null ? null : [chainId, address, nonce, yParity, r, s];
  });
  const whole = rows?.filter((one) => one !== null);
  return whole?.length === rows?.length ? whole : null;
}

function isWhole(fields: readonly Field[]): fields is readonly Rlp[] {
  return fields.every((one) => one != null);
}
