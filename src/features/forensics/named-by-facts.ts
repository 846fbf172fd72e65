// Which other addresses do the facts of an address name, and where does each stand?
// Who owns, administers or made a contract is looked up as a counterparty is. A fact that was not
// read may name anybody, so that what was read without it is a part.

import { given, present } from '../../evidence/measure.ts';
import { map, type Partly, seen, some, Unread } from '../../evidence/reading.ts';
import type { ChainFactsPort, FactReadings } from '../../ports/accounts/chain-facts.ts';
import type { ChainFactsOf, NamedByFact, NamingFact } from './read-of-chains.ts';

/** What each fact calls the one whom it names, in words that follow “its”. */
export const NAMED_AS: Readonly<Record<NamingFact, string>> = {
  creator: 'creator',
  factory: 'factory',
  implementation: 'implementation',
  admin: 'admin',
  beacon: 'beacon',
  owner: 'owner',
  minimal_proxy_of: 'minimal proxy’s contract',
  delegates_to: 'delegate',
};

type Named = Partly<readonly NamedByFact[], ChainFactsPort>;

/** The name of one fact that names somebody, among those of one address. */
export function namedKey({ chain, fact, address }: NamedByFact): string {
  return `${chain} ${fact} ${address}`;
}

/** Everyone whom the facts name, chain by chain; read where every fact that could name was. */
export function namedByFacts(facts: readonly ChainFactsOf[]): Named {
  return flat(facts.map(namedOn));
}

function flat(readings: readonly Named[]): Named {
  return map(some(readings), (lists) => lists.flat());
}

function namedOn({ chain, facts, creation_asked }: ChainFactsOf): Named {
  const { code } = facts;
  const here = (fact: NamingFact, address: string | null): NamedByFact | null =>
    address === null ? null : { chain, fact, address, tx: null, block: null };
  // The code of a minimal proxy is what it was made with.
  const [made] = given(seen(map(facts.creation, ({ tx, block }) => [{ tx, block }])));
  const byCode = map(code, ({ delegates_to, minimal_proxy_of }) => {
    const proxied = here('minimal_proxy_of', minimal_proxy_of);
    const since = proxied === null || made === undefined ? proxied : Object.assign(proxied, made);
    return present([here('delegates_to', delegates_to), since]);
  });
  // An account without code names nobody by its state.
  const nobody = map(code, () => NOBODY);
  const byState = map(facts.authority, ({ implementation, admin, beacon, owner }) =>
    present([
      here('implementation', implementation),
      here('admin', admin),
      here('beacon', beacon),
      here('owner', owner),
    ]),
  );
  const ofState = hasNoCode(facts) ? nobody : byState;
  if (!creation_asked) return flat([byCode, ofState]);
  const byCreation = map(facts.creation, ({ creator, factory, tx, block }) =>
    present([here('creator', creator), here('factory', factory)]).map((one) => {
      return { chain, fact: one.fact, address: one.address, tx, block };
    }),
  );
  return flat([byCode, ofState, wasNotMade(facts) ? nobody : byCreation]);
}

const NOBODY: readonly NamedByFact[] = Object.freeze([]);

function hasNoCode({ code }: FactReadings): boolean {
  const known = seen(map(code, ({ size }) => [size === 0]));
  return known?.[0] === true;
}

/**
 * Whether nobody made it, as far as can be known: an account of its own key, of which no source
 * knows a creation. A contract of which none is known was made by somebody.
 */
export function wasNotMade({ code, creation }: FactReadings): boolean {
  const known = seen(map(code, ({ size, delegates_to }) => [{ size, delegates_to }]));
  if (known?.[0].delegates_to != null) return true;
  if (known?.[0].size !== 0 || !(creation instanceof Unread)) return false;
  const { code: reason } = creation.why;
  return reason === 'creation_not_found' || reason === 'account_without_code';
}
