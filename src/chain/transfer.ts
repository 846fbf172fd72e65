// What is a transfer, and when are two rows of two sources the same one?
// It refuses a transfer that names neither a transaction nor a block: such a row has no identity.

import type { ChainName } from './chain.ts';
import type { UnixSeconds } from './time.ts';

/**
 * A coin moved by a transaction or by a contract's call (or the chain itself), a fungible token, or
 * one that is told by its id (ERC-721, ERC-1155).
 */
export type TransferKind = 'native' | 'internal' | 'token' | 'nft';

/**
 * Where a transfer stands. `position` is a log index, or the path of a trace such as `0_2`: kept
 * where a source gives it, never required. A transfer of no transaction (a withdrawal, a block
 * reward) has its block's hash and its index there instead.
 */
type TransferPlace =
  | { tx_hash: string; block_hash: string | null; position: number | string | null }
  | { tx_hash: null; block_hash: string; position: number | string };

/**
 * One movement of value, addresses in the form that `parseAddress` gives. A creation of the chain
 * (a mint, a reward, a withdrawal) comes from its null address, as in token logs. `token` is the
 * contract or mint, null for the chain's coin; `raw_amount` is exact, in the smallest unit, but the
 * id of an `nft`, which is no amount. `success` is null where the source tells neither status nor
 * trace. What it was worth is no part of it: a price is joined when an answer is made.
 */
export type Transfer = TransferPlace & {
  chain: ChainName;
  block: number;
  block_time: UnixSeconds;
  kind: TransferKind;
  token: string | null;
  from: string;
  to: string;
  raw_amount: bigint;
  success: boolean | null;
};

/**
 * The identity of a transfer, but for `n`: two rows with the same identity are equal
 * rows. Block, time and position are no part of it, because sources and re-orgs differ in them;
 * where there is no transaction, the block's hash and the index in it stand for it.
 */
export function transferIdentity(transfer: Transfer): string {
  const place =
    transfer.tx_hash === null
      ? { block_hash: transfer.block_hash, index: String(transfer.position) }
      : transfer.tx_hash;
  const { chain, kind, token, from, to, raw_amount } = transfer;
  return JSON.stringify([chain, place, kind, token, from, to, raw_amount.toString()]);
}

/** A transfer with its number among the equal rows of its transaction, from 0. */
type NumberedTransfer = { transfer: Transfer; identity: string; n: number };

/**
 * Gives each row its `n`. Equal rows are interchangeable, so their order does not matter, but all
 * rows of a transaction must be there: a page that ends inside one is read on before this.
 */
export function numberTransfers(transfers: Iterable<Transfer>): NumberedTransfer[] {
  const named = Array.from(transfers, (transfer) => {
    return { transfer, identity: transferIdentity(transfer) };
  });
  return numberEqual(named, ({ identity }) => identity).map(({ one, n }) => ({ ...one, n }));
}

/** The same for rows whose identity is known: each with its number among the equal ones, from 0. */
export function numberEqual<T>(
  rows: readonly T[],
  identityOf: (row: T) => string,
): readonly { readonly one: T; readonly n: number }[] {
  const nextByIdentity = new Map<string, number>();
  return rows.map((one) => {
    const identity = identityOf(one);
    const next = nextByIdentity.get(identity);
    const n = next === undefined ? 0 : next;
    nextByIdentity.set(identity, n + 1);
    return { one, n };
  });
}
