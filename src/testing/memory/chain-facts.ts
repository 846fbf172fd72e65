// What does a chain held in memory say of an address?
// An adapter, not a mock: what is not written of an address is an account that was never used.

import type { EvmChainName } from '../../chain/chain.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import {
  type ChainFacts,
  type FactValues,
  factRead,
  factUnread,
  noFacts,
  readFacts,
  type SetBy,
  type SetFact,
} from '../../ports/accounts.ts';

/** What is so of one address on one chain; what is left out is as of an account never used. */
export type MemoryFact = Partial<FactValues> & {
  readonly chain: EvmChainName;
  readonly address: string;
  /** The transactions that set what its state names; left out, no event names one. */
  readonly setBy?: Partial<Record<SetFact, SetBy>>;
};

/** What the memory holds. `as_of` is Unix seconds. */
export type MemoryFacts = {
  readonly chains: readonly EvmChainName[];
  readonly facts: readonly MemoryFact[];
  readonly as_of: number;
  readonly simulated: boolean;
};

const UNUSED: Omit<FactValues, 'creation'> = {
  code: { size: 0, delegates_to: null, minimal_proxy_of: null },
  nonce: 0,
  balance_wei: 0n,
  verified_name: null,
  is_token: false,
  authority: { implementation: null, admin: null, beacon: null, owner: null },
};
const NAME = 'Chain state in memory';

/** Chain facts in memory. */
export function memoryChainFacts(held: MemoryFacts): ChainFacts {
  const { chains, facts, as_of, simulated } = held;
  const source: Source = { name: NAME, url: 'memory:', as_of, kind: 'observation', simulated };
  return {
    stateChains: chains,
    setBy: async (chain, account, { fact }, signal) => {
      if (signal.aborted) return factUnread(why('time_budget'));
      if (!chains.includes(chain)) return factUnread(why('not_configured', { what: chain }));
      const known = facts.find((one) => one.chain === chain && one.address === account);
      const set = known?.setBy?.[fact];
      return factRead(set === undefined ? null : set, source);
    },
    of: async (chain, address, wanted, signal) => {
      if (signal.aborted) return noFacts(why('time_budget'));
      if (!chains.includes(chain)) return noFacts(why('not_configured', { what: chain }));
      const known = facts.find((one) => one.chain === chain && one.address === address);
      const { creation, ...state } = { ...UNUSED, ...known };
      const unfound = factUnread(why('creation_not_found', { source: NAME }));
      return readFacts(
        {
          code: async () => factRead(state.code, source),
          nonce: async () => factRead(state.nonce, source),
          balance_wei: async () => factRead(state.balance_wei, source),
          verified_name: async () => factRead(state.verified_name, source),
          creation: async () => (creation === undefined ? unfound : factRead(creation, source)),
          is_token: async () => factRead(state.is_token, source),
          authority: async () => factRead(state.authority, source),
        },
        wanted,
        NAME,
      );
    },
  };
}
