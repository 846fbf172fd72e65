// What do issuers, held in memory, say of an address?
// An adapter, not a mock: of an address that is not written down, each token says that it is not
// on its list.

import type { EvmChainName } from '../../chain/chain.ts';
import { type Origin, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  FreezeState,
  FreezingToken,
  IssuerFreezes,
  IssuerFreezesPort,
} from '../../ports/accounts.ts';
import { evm } from '../addresses.ts';

/** What the memory holds: who is frozen on which chain, by every token there. */
export type MemoryFreezes = {
  readonly chains: readonly EvmChainName[];
  readonly frozen: readonly { readonly chain: EvmChainName; readonly address: string }[];
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The block at which everybody is asked, and the event by which somebody was frozen. */
const ASKED_AT = 900;
const PLACED = { tx: `0x${'f'.repeat(64)}`, block: 800 };

/** Black lists in memory: one token of each chain. */
export function memoryFreezes({ chains, frozen, as_of, simulated }: MemoryFreezes): IssuerFreezes {
  const named = { name: 'Issuers in memory', url: 'memory:', as_of, simulated } as const;
  const origin: Origin<IssuerFreezesPort> = {
    port: 'issuer_freezes',
    source: { ...named, kind: 'observation' },
  };
  return {
    chains,
    of: async (chain, address, signal) => {
      if (signal.aborted) return unread('issuer_freezes', why('time_budget'));
      if (!chains.includes(chain)) {
        return unread('issuer_freezes', why('not_configured', { what: `A node of ${chain}` }));
      }
      const isFrozen = frozen.some((one) => one.chain === chain && one.address === address);
      const placed = isFrozen ? PLACED : null;
      const state: FreezeState = {
        token: tokenOn(chain),
        frozen: isFrozen,
        block: ASKED_AT,
        placed,
      };
      return simulated ? part([state], origin, why('simulated')) : read([state], origin);
    },
  };
}

function tokenOn(chain: EvmChainName): FreezingToken {
  return {
    issuer: 'An issuer',
    symbol: 'USDX',
    chain,
    address: evm('token of an issuer'),
    asks: 'isFrozen(address)',
    logs: ['Frozen(address indexed account)'],
    source: 'tests',
    source_url: 'https://example.org/issuers',
    second_source: 'tests',
    reviewed: '2026-01-01',
  };
}
