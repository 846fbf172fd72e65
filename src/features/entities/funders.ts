// Who began these addresses with their first coins, and whom else within a window? (heuristic b)
// After the star and chain funding of Liu and Zhu, "Fighting Sybils in Airdrops", 2022, and of the
// LayerZero sybil reports of 2024.
// It refuses a first funder of a history that was not read from its first block, and of an address
// that never signed anything: a shop that was paid is not begun by its first customer.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';
import { signerOf } from '../../ports/history/signing.ts';
import type { CoverageRange, HistoryTransfer } from '../../ports/history/transfer-history.ts';
import type { AddressHistory } from '../history/address-history.ts';
import { earlier } from './ties.ts';

/** The first coins of an address. */
export type FirstFunding = {
  readonly chain: ChainName;
  readonly funded: string;
  readonly funder: string;
  readonly tx: string;
  readonly block: number;
  readonly at: number;
};

/** Coins come as these; a token can be sent to anybody before they have ever been there. */
const COIN_KINDS = ['native', 'internal'] as const;

/**
 * The first coins of an address that then signed something; `null` where its history does not reach
 * back to its first block, or nothing of value came. Coins sent by a contract are the signer's.
 */
export function firstFunding(history: AddressHistory, chain: ChainName): FirstFunding | null {
  if (!COIN_KINDS.every((kind) => reachesBack(history.coverage, chain, kind))) return null;
  const inward = history.transfers.filter((one) => isFunding(one, history.address, chain));
  const [first] = [...inward].sort(earlier);
  if (first === undefined) return null;
  const acted = history.transfers.some((one) => one.chain === chain && isActOf(history, one));
  if (!acted) return null;
  const signer = first.kind === 'internal' ? signerOf(first) : null;
  const funder = signer === null ? first.from : signer;
  if (funder === history.address || isSystemAddress(funder)) return null;
  return { chain, funded: history.address, funder, tx: first.tx, block: first.block, at: first.at };
}

function reachesBack(
  coverage: readonly CoverageRange[],
  chain: ChainName,
  kind: (typeof COIN_KINDS)[number],
): boolean {
  return coverage.some((one) => one.chain === chain && one.kind === kind && one.from_first);
}

function isFunding(transfer: HistoryTransfer, address: string, chain: ChainName): boolean {
  const { kind, to, raw_amount, success } = transfer;
  if (transfer.chain !== chain || kind === 'token' || to !== address) return false;
  return raw_amount > 0n && success !== false;
}

function isActOf({ address }: AddressHistory, transfer: HistoryTransfer): boolean {
  return transfer.from === address && signerOf(transfer) === address;
}

/** The ties of funded addresses to their funders; the funder itself is no member. */
export function funderTies(fundings: readonly FirstFunding[]): Tie[] {
  return fundings
    .filter(({ funded }) => !isSystemAddress(funded))
    .map(({ chain, funded, funder, tx, block, at }) => ({
      chain,
      heuristic: 'shared_funder',
      key: funder,
      address: funded,
      tx,
      block,
      at,
      rests_on: null,
    }));
}
