// Which transaction made a fact name somebody whom a table names?
// It is asked for those alone: a search of a chain's events or of its past state costs calls.

import { matchKey } from '../../chain/address.ts';
import { given } from '../../evidence/measure.ts';
import { type Partly, seen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type { ChainFacts, ChainFactsPort, SetFact } from '../../ports/accounts/chain-facts.ts';
import { namedKey } from './named-by-facts.ts';
import type { NamedByFact, NamingFact, SetByOf } from './read-of-chains.ts';

/** The most facts of which one answer asks who set them. */
const ASKED_MAX = 8;
const SET: Readonly<Record<NamingFact, SetFact | null>> = {
  creator: null,
  factory: null,
  minimal_proxy_of: null,
  implementation: 'implementation',
  admin: 'admin',
  beacon: 'beacon',
  owner: 'owner',
  delegates_to: 'delegates_to',
};

/** A minimal proxy names what it was made with, by its creation alone. */
const MADE = unread(
  'chain_facts' as const,
  why('fact_not_told', { source: 'The code of a minimal proxy', fact: 'when it was made' }),
);

/** Asks who set the facts that name somebody whom a table names by these keys. */
export async function setByOf(
  facts: ChainFacts,
  account: string,
  named: Partly<readonly NamedByFact[], ChainFactsPort>,
  told: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<SetByOf> {
  const cut = unread('chain_facts' as const, why('call_budget', { limit: String(ASKED_MAX) }));
  const untimely = unread('chain_facts' as const, STOPPED_BY_TIME);
  const asked = given(seen(named))
    .filter((one) => one.tx === null && told.has(matchKey(one.address)))
    .map(async (one, i) => {
      const fact = SET[one.fact];
      if (fact === null) return [namedKey(one), MADE] as const;
      if (i >= ASKED_MAX) return [namedKey(one), cut] as const;
      const { chain, address } = one;
      const set = await inTime(
        () => facts.setBy(chain, account, { fact, address }, signal),
        signal,
      );
      return [namedKey(one), set === OUT_OF_TIME ? untimely : set] as const;
    });
  return new Map(await Promise.all(asked));
}
