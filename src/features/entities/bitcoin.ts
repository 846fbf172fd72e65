// Which addresses of a Bitcoin transaction have one owner, and what denies it? (heuristic e)
// Inputs: Androulaki et al., "Evaluating User Privacy in Bitcoin", and Meiklejohn et al., "A
// Fistful of Bitcoins" (heuristic 1), both 2013. Change: heuristic 2 of the latter, with the signs
// of Kappos et al., "How to Peel a Million", 2022.
// It refuses what several people may have signed together, and change that it cannot be sure of.

import { listFrom } from '../../evidence/measure.ts';
import type { BitcoinCoin, BitcoinTransaction } from '../../ports/entities/bitcoin-blocks.ts';
import type { Objection, Tie } from '../../ports/entities/cluster-store.ts';
import { coinJoin, isWhirlpoolTx0 } from './coinjoin.ts';
import { INPUT_ADDRESSES_MAX } from './ties.ts';

/** From 2023 on coins are traded by half-signed transactions: nothing is told without witnesses. */
const WITNESS_NEEDED_FROM = Date.UTC(2023, 0, 1) / 1_000;
/** An inscribed coin carries this many satoshis at most as its postage. */
const POSTAGE_MAX = 10_000n;
/** People pay amounts that end in zeros; the rest of their coins does not. */
const ROUND = { paid: 100_000n, rest: 10_000n };

/** Whether the signatures of a transaction that needs them were told. */
export function isSignatureTold({ inputs, at }: BitcoinTransaction): boolean {
  return at < WITNESS_NEEDED_FROM || inputs.every(({ signed }) => signed !== null);
}

/** The ties of one transaction's inputs; none where several people may have made it. */
export function inputTies(transaction: BitcoinTransaction): Tie[] {
  const owners = ownersOf(transaction);
  if (owners.length < 2 || !isOneOwners(transaction, owners)) return [];
  const form = inputForm(transaction);
  return owners.map((address) => {
    return { ...tieOf(transaction, address, null), heuristic: 'multi_input', form };
  });
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
  if (owners.length === 0 || !isOneOwners(transaction, owners)) return [];
  const change = oneTimeChange(transaction, owners, isNew);
  return listFrom(change, ({ address: own, form }) =>
    [...owners, own].map((address): Tie => {
      return { ...tieOf(transaction, address, own), heuristic: 'change', form };
    }),
  );
}

/** The reasons for which the inputs of a transaction are not taken, or hardly taken, for one's. */
export function inputObjections(transaction: BitcoinTransaction): Objection[] {
  const owners = ownersOf(transaction);
  if (owners.length < 2 || owners.length > INPUT_ADDRESSES_MAX) return [];
  const { tx, block, at } = transaction;
  const of = (kind: Objection['kind'], detail: string | null): Objection[] =>
    owners.map((address) => {
      return { chain: 'bitcoin', kind, key: tx, address, tx, block, at, detail };
    });
  const protocol = coinJoin(transaction);
  if (protocol !== null) return of('coinjoin', protocol);
  if (isSignedInPart(transaction)) return of('partial_signature', null);
  if (isTrade(transaction)) return of('marketplace_trade', null);
  return isPayJoinForm(transaction) ? of('payjoin_form', null) : [];
}

function isOneOwners(transaction: BitcoinTransaction, owners: readonly string[]): boolean {
  if (owners.length > INPUT_ADDRESSES_MAX || coinJoin(transaction) !== null) return false;
  if (!isSignatureTold(transaction) || isSignedInPart(transaction)) return false;
  return !isTrade(transaction);
}

function isSignedInPart({ inputs }: BitcoinTransaction): boolean {
  return inputs.length > 1 && inputs.some(({ signed }) => signed === 'in_part');
}

/**
 * Whether a coin of postage goes on to somebody else while the output at its own place pays its
 * owner: so a marketplace sets a seller's half-signed offer into a buyer's transaction.
 */
function isTrade({ inputs, outputs }: BitcoinTransaction): boolean {
  return inputs.some(({ address, value }, i) => {
    const paid = outputs[i];
    const isOffer = value <= POSTAGE_MAX && paid !== undefined && paid.value > value;
    const goesOn = outputs.some((one) => one.value === value && one.address !== address);
    return isOffer && goesOn && inputs.some((one) => one.address !== address);
  });
}

/**
 * Whether it has the form in which a payee may have added a coin of their own: two outputs, and an
 * input that neither of them needed (Ghesmati et al., "Unnecessary Input Heuristics", 2022).
 */
function isPayJoinForm({ inputs, outputs }: BitcoinTransaction): boolean {
  if (inputs.length < 2 || outputs.length !== 2) return false;
  const values = inputs.map(({ value }) => value);
  const spare = values.reduce((sum, value) => sum + value, 0n) - values.reduce(lesser);
  return outputs.every(({ value }) => value < spare);
}

function inputForm(transaction: BitcoinTransaction): 'tx0' | 'payjoin_form' | 'spent_together' {
  if (isWhirlpoolTx0(transaction)) return 'tx0';
  return isPayJoinForm(transaction) ? 'payjoin_form' : 'spent_together';
}

type Change = {
  readonly address: string;
  readonly form: 'one_sign' | 'two_signs' | 'three_signs';
};

/**
 * Of two outputs the one that nobody was paid at before, where the other is known and neither is
 * an input's own. Each further sign counts; one that points at the other output takes it back. More
 * outputs than two are a batch, whose one new customer looks the same.
 */
function oneTimeChange(
  { inputs, outputs }: BitcoinTransaction,
  owners: readonly string[],
  isNew: (address: string) => boolean,
): Change | null {
  const paid = outputs.filter(({ value }) => value > 0n);
  if (paid.length !== 2 || outputs.length > paid.length) return null;
  if (paid.some(({ address }) => address === null || owners.includes(address))) return null;
  const fresh = paid.filter(({ address }) => address !== null && isNew(address));
  const [change] = fresh;
  const payment = paid.find((one) => one !== change);
  if (fresh.length !== 1 || change === undefined || payment === undefined) return null;
  if (change.address === null) return null;
  const signs = [scriptSign, roundSign, sizeSign].map((sign) => sign(inputs, change, payment));
  if (signs.includes('against')) return null;
  const more = signs.filter((sign) => sign === 'for').length;
  return { address: change.address, form: FORM_OF_SIGNS[more] ?? 'three_signs' };
}

const FORM_OF_SIGNS = ['one_sign', 'two_signs'] as const;

type Sign = 'for' | 'against' | null;
type SignOf = (inputs: readonly BitcoinCoin[], change: BitcoinCoin, payment: BitcoinCoin) => Sign;

// A wallet pays its change to the kind of script that it spends from.
const scriptSign: SignOf = (inputs, change, payment) => {
  const spent = new Set(inputs.map(({ address }) => scriptOf(address)));
  const [own] = spent;
  if (spent.size !== 1 || scriptOf(change.address) === scriptOf(payment.address)) return null;
  if (scriptOf(change.address) === own) return 'for';
  return scriptOf(payment.address) === own ? 'against' : null;
};

const roundSign: SignOf = (_inputs, change, payment) => {
  const isRound = (coin: BitcoinCoin) => coin.value % ROUND.paid === 0n;
  const isRest = (coin: BitcoinCoin) => coin.value % ROUND.rest !== 0n;
  if (isRound(payment) && isRest(change)) return 'for';
  return isRound(change) && isRest(payment) ? 'against' : null;
};

// A wallet takes no coin that its payment does not need, so that change is below each of them.
const sizeSign: SignOf = (inputs, change, payment) => {
  if (inputs.length < 2) return null;
  const least = inputs.map(({ value }) => value).reduce(lesser);
  if (change.value < least && payment.value >= least) return 'for';
  return payment.value < least && change.value >= least ? 'against' : null;
};

/** The kind of script that an address stands for, by its form. */
function scriptOf(address: string | null): string | null {
  if (address === null) return null;
  if (address.startsWith('bc1q')) return address.length > P2WPKH_CHARS ? 'p2wsh' : 'p2wpkh';
  if (address.startsWith('bc1')) return 'p2tr';
  return address.startsWith('3') ? 'p2sh' : 'p2pkh';
}

const P2WPKH_CHARS = 42;

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function ownersOf({ inputs, coinbase }: BitcoinTransaction): string[] {
  if (coinbase) return [];
  const owners = new Set<string>();
  for (const { address } of inputs) if (address !== null) owners.add(address);
  return [...owners];
}

function tieOf({ tx, block, at }: BitcoinTransaction, address: string, rests_on: string | null) {
  return { chain: 'bitcoin', key: tx, address, tx, block, at, rests_on, whole: true } as const;
}
