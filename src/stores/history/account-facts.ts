// Who tells each fact of an address: the node, the warehouse or the explorer?
// Each is asked only for what those before it did not tell; a fact that none tells is unread, with
// the fault of one that should have told it.

import { type Partly, Unread } from '../../evidence/reading.ts';
import { type ReasonCode, why } from '../../evidence/reasons.ts';
import type {
  ChainFacts,
  ChainFactsPort,
  FactName,
  FactReadings,
  SetBy,
} from '../../ports/accounts/chain-facts.ts';
import { factUnread, noFacts } from '../../ports/accounts/readings.ts';

/** Reasons that say what a source is for, and not that it failed. */
const NO_FAULT: readonly ReasonCode[] = [
  'fact_not_told',
  'not_wanted',
  'not_configured',
  'creation_not_found',
];

/** Sources of chain facts, the ones that are cheapest to ask first. */
export function cascadedFacts(sources: readonly ChainFacts[]): ChainFacts {
  return {
    stateChains: [...new Set(sources.flatMap(({ stateChains }) => stateChains))],
    setBy: async (chain, ...asked) => {
      let told: Partly<SetBy | null, ChainFactsPort> = factUnread(
        why('not_configured', { what: `A source of facts of ${chain}` }),
      );
      for (const source of sources) {
        if (!(told instanceof Unread)) break;
        told = better(told, await source.setBy(chain, ...asked));
      }
      return told;
    },
    of: async (chain, address, wanted, signal) => {
      let facts = noFacts(why('not_configured', { what: `A source of facts of ${chain}` }));
      let missing: readonly FactName[] = wanted;
      for (const source of sources) {
        if (missing.length === 0) break;
        const told = await source.of(chain, address, missing, signal);
        facts = together(facts, told);
        const after: FactReadings = facts;
        missing = missing.filter((fact) => after[fact] instanceof Unread);
      }
      return facts;
    },
  };
}

function together(before: FactReadings, told: FactReadings): FactReadings {
  return {
    code: better(before.code, told.code),
    nonce: better(before.nonce, told.nonce),
    balance_wei: better(before.balance_wei, told.balance_wei),
    verified_name: better(before.verified_name, told.verified_name),
    creation: better(before.creation, told.creation),
    is_token: better(before.is_token, told.is_token),
    authority: better(before.authority, told.authority),
  };
}

/** What was told first; where neither tells, a fault outweighs a source that is not for it. */
function better<T>(
  held: Partly<T, ChainFactsPort>,
  fresh: Partly<T, ChainFactsPort>,
): Partly<T, ChainFactsPort> {
  if (!(held instanceof Unread)) return held;
  if (!(fresh instanceof Unread)) return fresh;
  const wasFault = !NO_FAULT.includes(held.why.code);
  return wasFault || NO_OPINION.includes(fresh.why.code) ? held : fresh;
}

/** Reasons of a source that was not asked, or that this fact is none of its own. */
const NO_OPINION: readonly ReasonCode[] = ['not_wanted', 'not_configured', 'fact_not_told'];
