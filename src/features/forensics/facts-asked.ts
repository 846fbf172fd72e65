// What do the chains say of an address, fact by fact, and how little is asked for it?
// The state first; what concerns contracts only where there is code, and who made it only where
// somebody may have.

import type { ParsedAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { map, Read, seen, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type { ChainFacts, FactName, FactReadings } from '../../ports/accounts/chain-facts.ts';
import type { ChainFactsOf } from './read-of-chains.ts';

/** The chain whose facts are shown first. */
export const MAIN_FACTS_CHAIN: EvmChainName = 'ethereum';
const STATE_FACTS = ['code', 'nonce', 'balance_wei'] as const;
const CONTRACT_FACTS = ['verified_name', 'creation', 'is_token', 'authority'] as const;
const NO_CODE = why('account_without_code');

/** The facts of an address on the main chain and on each other whose state can be read. */
export async function factsOf(
  chainFacts: ChainFacts,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<readonly ChainFactsOf[]> {
  if (kind !== 'evm') return NO_FACTS;
  const beside = chainFacts.stateChains.filter((chain) => chain !== MAIN_FACTS_CHAIN);
  return Promise.all([
    factsOn(chainFacts, MAIN_FACTS_CHAIN, address, CONTRACT_FACTS, signal),
    ...beside.map((chain) => factsOn(chainFacts, chain, address, ['authority'], signal)),
  ]);
}

const NO_FACTS: readonly ChainFactsOf[] = Object.freeze([]);

async function factsOn(
  chainFacts: ChainFacts,
  chain: EvmChainName,
  address: string,
  ofContracts: readonly FactName[],
  signal: AbortSignal,
): Promise<ChainFactsOf> {
  const creation_asked = ofContracts.includes('creation');
  const ask = async (wanted: readonly FactName[]) => {
    const facts = await inTime(() => chainFacts.of(chain, address, wanted, signal), signal);
    return facts === OUT_OF_TIME ? unreadFacts(STOPPED_BY_TIME) : facts;
  };
  const { code, nonce, balance_wei } = await ask(STATE_FACTS);
  const size = seen(map(code, (one) => [one.size]));
  const state = { code, nonce, balance_wei };
  if (size !== null && size[0] > 0) {
    return { chain, facts: { ...(await ask(ofContracts)), ...state }, creation_asked };
  }
  const bare = { ...unreadFacts(code instanceof Read ? NO_CODE : code.why), ...state };
  if (!creation_asked || (code instanceof Read && hasSigned(nonce))) {
    return { chain, facts: bare, creation_asked };
  }
  // A contract that destroyed itself has no code, and a chain whose state is silent shows none.
  const { creation } = await ask(['creation']);
  return { chain, facts: { ...bare, creation }, creation_asked };
}

/** Whether it signed a transaction: it is an account of its own key then, which nobody made. */
function hasSigned(nonce: FactReadings['nonce']): boolean {
  const known = seen(map(nonce, (count) => [count]));
  return known !== null && known[0] > 0;
}

/** Every fact unread for one reason. */
export function unreadFacts(reason: Why): FactReadings {
  const silent = unread('chain_facts' as const, reason);
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
