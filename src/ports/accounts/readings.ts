// What do the adapters of chain facts share: silence by name, and the marks of made-up facts?

import { type Partly, part, read, type Unread, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ChainFactsPort, FactName, FactReadings, FactValues } from './chain-facts.ts';

const PORT = 'chain_facts';

/** A fact of a source; one of the simulated world is a part, whatever else may be said of it. */
export function factRead<T>(value: T, source: Source): Partly<T, ChainFactsPort> {
  const origin = { port: PORT, source } as const;
  return source.simulated ? part(value, origin, why('simulated')) : read(value, origin);
}

/** A fact that was not read. */
export function factUnread(reason: Why): Unread<ChainFactsPort> {
  return unread(PORT, reason);
}

/** Every fact unread for one reason. */
export function noFacts(reason: Why): FactReadings {
  const silent = factUnread(reason);
  return {
    code: silent,
    nonce: silent,
    balance_wei: silent,
    verified_name: silent,
    creation: silent,
    is_token: silent,
    authority: silent,
  };
}

/** What reads each fact; a fact that a source cannot tell has no reader. */
type FactReaders = {
  readonly [F in FactName]?: () => Promise<Partly<FactValues[F], ChainFactsPort>>;
};

/** Reads what is wanted, all at once; what is not wanted or not told is unread and says so. */
export async function readFacts(
  readers: FactReaders,
  wanted: readonly FactName[],
  source: string,
): Promise<FactReadings> {
  const ask = <F extends FactName>(fact: F): Promise<Partly<FactValues[F], ChainFactsPort>> => {
    if (!wanted.includes(fact)) return Promise.resolve(factUnread(why('not_wanted')));
    const reader = readers[fact];
    const untold = why('fact_not_told', { source, fact: fact.replaceAll('_', ' ') });
    return reader === undefined ? Promise.resolve(factUnread(untold)) : reader();
  };
  const [code, nonce, balance_wei, verified_name, creation, is_token, authority] =
    await Promise.all([
      ask('code'),
      ask('nonce'),
      ask('balance_wei'),
      ask('verified_name'),
      ask('creation'),
      ask('is_token'),
      ask('authority'),
    ]);
  return { code, nonce, balance_wei, verified_name, creation, is_token, authority };
}
