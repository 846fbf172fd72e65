// Which facts of an address stand in its forensic record, each with whence it is?
// A fact that was not read is null, and its provenance says why; zero is a measurement.

import { formatIsoTime } from '../../chain/time.ts';
import { type Claim, claim } from '../../evidence/claim.ts';
import { basis, both, map, type Partly, Read, seen } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { FactReadings } from '../../ports/accounts/chain-facts.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { firstFundingTransfer, sinceFirst } from '../history/address-history.ts';
import { accountKind, factual } from './evidence.ts';
import { MAIN_FACTS_CHAIN, unreadFacts } from './facts-asked.ts';
import type { FindingInputs } from './finding.ts';

/** Whence a fact is. `measured` with a `null` beside it: it was looked at, and there is none. */
type Measured<P extends string> = {
  measured: Claim<true, false, P>;
  source: string | null;
  as_of: number | null;
  reason: string | null;
};

const unmeasured = (): null => null;

/** The facts of an address by a history that was read from its first block. */
type Span = {
  readonly first: HistoryTransfer | null;
  readonly last: HistoryTransfer | null;
  readonly transactions: number;
  readonly funding: HistoryTransfer | null;
};

function spanOf({ history }: FindingInputs): Partly<Span | null, 'transfer_history'> {
  return map(sinceFirst(history), (known) => {
    if (known.gaps.length > 0) return null;
    const live = known.transfers.filter(({ success }) => success !== false);
    const [last] = live;
    const first = live.at(-1);
    return {
      first: first === undefined ? null : first,
      last: last === undefined ? null : last,
      transactions: new Set(live.map(({ chain, tx }) => `${chain} ${tx}`)).size,
      funding: firstFundingTransfer(known),
    };
  });
}

/** The facts of the main chain, and what history says. */
export function factsShown(inputs: FindingInputs, main: FactReadings | null) {
  const facts = main === null ? NO_FACTS : main;
  const span = spanOf(inputs);
  const code = seenOf(facts.code);
  const creation = seenOf(facts.creation);
  const kind = accountKind(facts);
  const lived = seenOf(span);
  const transactions = map(span, (one) => (one === null ? null : one.transactions));
  return {
    chain: main === null ? null : MAIN_FACTS_CHAIN,
    kind: kind instanceof Read ? claim(kind, (one) => one) : null,
    first_seen: timeOf(lived === null ? null : lived.first),
    last_seen: timeOf(lived === null ? null : lived.last),
    transactions: claim(
      factual(transactions, (one) => one !== null && one > 0),
      (one) => one,
      unmeasured,
    ),
    ...stateOf(facts),
    creator: creation === null ? null : creation.creator,
    creation_tx: creation === null ? null : creation.tx,
    verified_name: seenOf(facts.verified_name),
    funded_by: fundedBy(lived === null ? null : lived.funding),
    delegates_to: code === null ? null : code.delegates_to,
    authority: authorityOf(facts),
  };
}

/** The numbers of an account's state: a zero is said only where it was read to its end. */
function stateOf(facts: FactReadings) {
  const size = map(facts.code, (code) => code.size);
  return {
    nonce: claim(factual(facts.nonce, isPositive), (one) => one, unmeasured),
    balance_wei: claim(
      factual(facts.balance_wei, (one) => one > 0n),
      String,
      unmeasured,
    ),
    code_size: claim(factual(size, isPositive), (one) => one, unmeasured),
  };
}

function isPositive(count: number): boolean {
  return count > 0;
}

/** The value of a reading, whole or in part. */
function seenOf<T>(reading: Partly<T, never>): T | null {
  const shown = seen(map(reading, (one) => [one]));
  return shown === null ? null : shown[0];
}

function timeOf(transfer: HistoryTransfer | null): string | null {
  return transfer === null ? null : formatIsoTime(transfer.at);
}

function fundedBy(funding: HistoryTransfer | null) {
  if (funding === null) return null;
  const { from, chain, tx } = funding;
  return { address: from, chain, tx, at: String(timeOf(funding)) };
}

function authorityOf({ code, authority }: FactReadings) {
  const known = seenOf(both({ code, authority }));
  if (known === null) return null;
  return { ...known.authority, minimal_proxy_of: known.code.minimal_proxy_of };
}

/**
 * The state of the address on the other chains whose node is asked; `null` where none is. What was
 * not read of a chain is null there, so that no chain drops out without a word.
 */
export function elsewhereOf({ facts }: FindingInputs) {
  const [, ...others] = facts;
  const asked = others.map(({ chain, facts: own }) => {
    const code = seenOf(own.code);
    return { chain, ...stateOf(own), delegates_to: code === null ? null : code.delegates_to };
  });
  return asked.length === 0 ? null : asked;
}

/** Whence each fact is. */
export function provenanceOf(inputs: FindingInputs, main: FactReadings | null) {
  const facts = main === null ? NO_FACTS : main;
  const span = spanOf(inputs);
  const lived = told(span);
  const code = told(facts.code);
  const creation = told(facts.creation);
  return {
    kind: told(accountKind(facts)),
    first_seen: lived,
    last_seen: lived,
    transactions: lived,
    nonce: told(facts.nonce),
    balance_wei: told(facts.balance_wei),
    code_size: code,
    creator: creation,
    creation_tx: creation,
    verified_name: told(facts.verified_name),
    funded_by: lived,
    delegates_to: code,
    authority: told(both({ code: facts.code, authority: facts.authority })),
  };
}

function told<P extends string>(reading: Partly<unknown, P>): Measured<P> {
  const [source] = basis(reading).sources;
  return {
    measured: claim(
      reading,
      () => true as const,
      () => false as const,
    ),
    source: source === undefined ? null : source.name,
    as_of: source === undefined ? null : source.as_of,
    reason: reading instanceof Read ? null : reading.why.reason,
  };
}

const NO_FACTS = unreadFacts(
  why('fact_not_told', {
    source: 'A source of chain facts',
    fact: 'anything of this kind of address',
  }),
);
