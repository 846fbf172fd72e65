// Who began these addresses with their first coins, and whom else within a window? (heuristic b)
// After the star and chain funding of Liu and Zhu, "Fighting Sybils in Airdrops", 2022, and of the
// LayerZero sybil reports of 2024. The first funder is `features/history/first-funder.ts`'s.
// It refuses a payer that serves anybody: a contract, a signer for others, a payer of many.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { map, type Partly, seen, Unread } from '../../evidence/reading.ts';
import type { Objection, Tie } from '../../ports/entities/cluster-store.ts';
import { signerOf } from '../../ports/history/signing.ts';
import type { HistoryTransfer, TransferHistoryPort } from '../../ports/history/transfer-history.ts';
import type { AddressHistory } from '../history/address-history.ts';
import { firstFundingTransfer, sinceFirst } from '../history/first-funder.ts';
import { FUNDED_MAX } from './ties.ts';

type History = Partly<AddressHistory, TransferHistoryPort>;

/** The first coins of an address that may be somebody's own way to begin it. */
export type FirstFunding = { readonly funded: string; readonly by: HistoryTransfer };

/**
 * The first coins of an address that then signed something itself: a shop that was paid is not
 * begun by its first customer. `null` where its history is not whole, or nothing came.
 */
export function firstFunding(history: History, chain: ChainName): FirstFunding | null {
  const known = wholeOf(history);
  const by = known === null ? null : firstFundingTransfer(known);
  if (known === null || by === null || by.chain !== chain) return null;
  const acted = known.transfers.some((one) => {
    return one.from === known.address && signerOf(one) === known.address;
  });
  return acted ? { funded: known.address, by } : null;
}

/** Whether the payer itself signed: coins of a contract are sent by whoever asks it to. */
export function isPayersOwn({ by }: FirstFunding): boolean {
  return by.kind === 'native' && signerOf(by) === by.from;
}

/** Everybody to whom an address ever sent coins. */
export type Recipients = {
  /** With the Unix seconds of the first time. */
  readonly first: ReadonlyMap<string, number>;
  /** So many that those whom it began are its customers: also a history that was cut shows it. */
  readonly isCrowd: boolean;
};

/** The recipients of a payer; `null` where it was not read far enough to say how many there are. */
export function recipientsOf(payer: History): Recipients | null {
  const value = payer instanceof Unread ? null : seen(map(payer, (one) => [one]));
  if (value === null) return null;
  const [{ address, transfers }] = value;
  const first = new Map<string, number>();
  for (const { from, to, kind, raw_amount, success, at } of transfers) {
    if (from !== address || kind === 'token') continue;
    if (raw_amount > 0n && success !== false) first.set(to, at);
  }
  const isCrowd = first.size > FUNDED_MAX;
  return isCrowd || wholeOf(payer) !== null ? { first, isCrowd } : null;
}

/** The ties of funded addresses to their funder; the funder itself is no member. */
export function funderTies(fundings: readonly FirstFunding[]): Tie[] {
  return fundings
    .filter(({ funded, by }) => !isSystemAddress(funded) && funded !== by.from)
    .map(({ funded, by: { chain, from, tx, block, at } }) => ({
      chain,
      heuristic: 'shared_funder',
      form: 'first_coins',
      key: from,
      address: funded,
      tx,
      block,
      at,
      rests_on: null,
      whole: true,
    }));
}

/** Why a first funding ties nobody, as what speaks against it. */
export function funderObjection(
  { funded, by: { chain, from, tx, block, at } }: FirstFunding,
  kind: 'crowd' | 'contract_payer',
  detail: string | null,
): Objection {
  return { chain, kind, key: from, address: funded, tx, block, at, detail };
}

function wholeOf(history: History): AddressHistory | null {
  const first = sinceFirst(history);
  const value = first instanceof Unread ? null : seen(map(first, (one) => [one]));
  return value === null ? null : value[0];
}
