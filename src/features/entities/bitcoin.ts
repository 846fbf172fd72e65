// Which addresses of a Bitcoin transaction have one owner? (heuristic e)
// Inputs: Androulaki et al., "Evaluating User Privacy in Bitcoin", and Meiklejohn et al., "A
// Fistful of Bitcoins" (heuristic 1), both 2013. Change: heuristic 2 of the latter, strictly.
// It refuses what several people may have signed together, and change that it cannot be sure of.

import { listFrom } from '../../evidence/measure.ts';
import type { BitcoinTransaction } from '../../ports/entities/bitcoin-blocks.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';
import { coinJoin } from './coinjoin.ts';
import { INPUT_ADDRESSES_MAX } from './ties.ts';

/** The ties of one transaction's inputs; none for a coinbase or a joint transaction. */
export function inputTies(transaction: BitcoinTransaction): Tie[] {
  const owners = ownersOf(transaction);
  if (owners.length < 2 || owners.length > INPUT_ADDRESSES_MAX) return [];
  if (coinJoin(transaction) !== null) return [];
  return owners.map((address) => tieOf(transaction, 'multi_input', address, null));
}

/**
 * The ties of the inputs with their one-time change. `isNew`: the address was paid in no
 * transaction before this one, which only somebody who holds every block before it can say.
 */
export function changeTies(
  transaction: BitcoinTransaction,
  isNew: (address: string) => boolean,
): readonly Tie[] {
  const owners = ownersOf(transaction);
  if (owners.length === 0 || owners.length > INPUT_ADDRESSES_MAX) return [];
  if (coinJoin(transaction) !== null) return [];
  const change = oneTimeChange(transaction, owners, isNew);
  return listFrom(change, (own) =>
    [...owners, own].map((address) => tieOf(transaction, 'change', address, own)),
  );
}

// One output that nobody was paid at before; all others known; none of them an input's own.
function oneTimeChange(
  { outputs }: BitcoinTransaction,
  owners: readonly string[],
  isNew: (address: string) => boolean,
): string | null {
  const paid = outputs.filter(({ value }) => value > 0n).map(({ address }) => address);
  if (paid.length < 2) return null;
  const fresh: string[] = [];
  for (const address of paid) {
    if (address === null || owners.includes(address)) return null;
    if (isNew(address)) fresh.push(address);
  }
  const [change] = fresh;
  return change !== undefined && fresh.length === 1 ? change : null;
}

function ownersOf({ inputs, coinbase }: BitcoinTransaction): string[] {
  if (coinbase) return [];
  const owners = new Set<string>();
  for (const { address } of inputs) if (address !== null) owners.add(address);
  return [...owners];
}

function tieOf(
  { tx, block, at }: BitcoinTransaction,
  heuristic: 'multi_input' | 'change',
  address: string,
  rests_on: string | null,
): Tie {
  return { chain: 'bitcoin', heuristic, key: tx, address, tx, block, at, rests_on };
}
