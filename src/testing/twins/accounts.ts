// The twin of what chains, issuers and registries say of an account: in memory, planted and silent.
// An address of which nothing is written down is an account that was never used.

import type { EvmChainName } from '../../chain/chain.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type ApprovalEvent,
  type ChainFacts,
  type ContractCreations,
  type Creation,
  type FactValues,
  type FreezeState,
  type FreezingToken,
  factRead,
  factUnread,
  type IssuerFreezes,
  type MixerContract,
  type MixerRegistry,
  noFacts,
  type Relays,
  readFacts,
  type SetBy,
  type SetFact,
  type TokenApprovals,
  type TokenApprovalsPort,
} from '../../ports/accounts.ts';
import { MIXERS_TITLE, mixersAmong } from '../../sources/registry/registry-files.ts';
import { evm } from '../addresses.ts';
import { type Dated, memorySource, PLANTED, UNDATED } from './dated.ts';

/** The facts of one address on one chain; absent ones are those of an unused account. */
export type MemoryFact = Partial<FactValues> & {
  readonly chain: EvmChainName;
  readonly address: string;
  /** The transactions that set what its state names; left out, no event names one. */
  readonly setBy?: Partial<Record<SetFact, SetBy>>;
};

/** The contents of the memory. */
export type MemoryFacts = Dated & {
  readonly chains: readonly EvmChainName[];
  readonly facts: readonly MemoryFact[];
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

/** A registry of relays without a row. */
export const noRelays: Relays = async () =>
  read(new Map(), { port: 'chain_facts', source: memorySource('Relays', 'table', PLANTED) });

/** Chain facts in memory. */
export function memoryChainFacts(held: MemoryFacts): ChainFacts {
  const { chains, facts } = held;
  const source = memorySource(NAME, 'observation', held);
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

/** The contents of the memory: the frozen addresses by chain, under every token there. */
export type MemoryFreezes = Dated & {
  readonly chains: readonly EvmChainName[];
  readonly frozen: readonly { readonly chain: EvmChainName; readonly address: string }[];
};

/** The block at which everybody is asked, and the event by which somebody was frozen. */
const ASKED_AT = 900;
const PLACED = { tx: `0x${'f'.repeat(64)}`, block: 800 };

/** Black lists in memory: one token of each chain. */
export function memoryFreezes({ chains, frozen, as_of, simulated }: MemoryFreezes): IssuerFreezes {
  const source = memorySource('Issuers in memory', 'observation', { as_of, simulated });
  const origin = { port: 'issuer_freezes', source } as const;
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

/** One approval, and what is left of it. */
export type MemoryApproval = ApprovalEvent & {
  readonly owner: string;
  readonly left: bigint | null;
};

/** The contents of the memory. */
export type MemoryApprovals = Dated & {
  readonly chains: readonly EvmChainName[];
  readonly approvals: readonly MemoryApproval[];
};

const READ_TO = 900;

/** Approvals in memory. */
export function memoryApprovals(held: MemoryApprovals): TokenApprovals {
  const { chains, approvals, simulated } = held;
  const source = memorySource('Approvals in memory', 'observation', held);
  const readingOf = <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    value: T,
  ): Partly<T, TokenApprovalsPort> => {
    const port = 'token_approvals';
    if (signal.aborted) return unread(port, why('time_budget'));
    if (!chains.includes(chain)) {
      return unread(port, why('not_configured', { what: `A node of ${chain}` }));
    }
    const origin = { port, source } as const;
    return simulated ? part(value, origin, why('simulated')) : read(value, origin);
  };
  return {
    chains,
    given: async (chain, owner, signal) => {
      const own = approvals.filter((one) => one.chain === chain && one.owner === owner);
      const events = own.map(({ owner: _, left: __, ...event }) => event);
      return readingOf(chain, signal, { events, to_block: READ_TO });
    },
    left: async ({ chain, way, token, spender }, owner, signal) => {
      const own = approvals.find(
        (one) =>
          one.owner === owner && one.way === way && one.token === token && one.spender === spender,
      );
      const raw_amount = own === undefined ? 0n : own.left;
      return readingOf(chain, signal, { raw_amount, block: READ_TO });
    },
  };
}

const MIXERS = 'mixer_registry';

/** The contents of the memory. `null`: no registry was loaded. */
export type MemoryMixers = Dated & {
  readonly rows: readonly MixerContract[] | null;
};

/** The registry of mixers in memory. */
export function memoryMixerRegistry({ rows, ...dated }: MemoryMixers): MixerRegistry {
  if (rows === null) {
    const never = unread(MIXERS, why('table_never_imported', { what: 'the mixer registry' }));
    return { lookUp: async () => never };
  }
  const source = memorySource(MIXERS_TITLE, 'table', dated);
  return {
    lookUp: async (addresses) => read(mixersAmong(rows, addresses), { port: MIXERS, source }),
  };
}

/** The contents of the memory. `whole`: every creation of every chain. */
type MemoryCreations = Dated & {
  readonly creations: readonly Creation[];
  readonly whole: boolean;
};

/** The creations in memory. */
export function memoryCreations(held: MemoryCreations): ContractCreations {
  const { simulated, whole } = held;
  const source = memorySource('Creations', 'observation', held);
  const origin = { port: 'contract_creations', source } as const;
  return {
    around: async (chain, address) => {
      const own = held.creations.filter((one) => one.chain === chain);
      const signers = own.filter(({ created }) => created === address).map(({ signer }) => signer);
      const found = own.filter(
        ({ created, signer }) =>
          created === address ||
          signer === address ||
          (signer !== null && signers.includes(signer)),
      );
      if (!whole) {
        return part(found, origin, why('creations_in_part', { chain, held: 'not all of them' }));
      }
      return simulated ? part(found, origin, why('simulated')) : read(found, origin);
    },
  };
}

/**
 * The contents of a world about accounts. Left out: no chain can be read, no registry was loaded.
 */
export type AccountsHeld = {
  readonly facts?: MemoryFacts;
  readonly freezes?: MemoryFreezes;
  readonly approvals?: MemoryApprovals;
  readonly mixers?: MemoryMixers;
};

export type AccountsPorts = {
  readonly chainFacts: ChainFacts;
  readonly issuerFreezes: IssuerFreezes;
  readonly tokenApprovals: TokenApprovals;
  readonly mixerRegistry: MixerRegistry;
};

export function memoryAccounts(held: AccountsHeld): AccountsPorts {
  return {
    chainFacts: memoryChainFacts(held.facts ?? { ...UNDATED, chains: [], facts: [] }),
    issuerFreezes: memoryFreezes(held.freezes ?? { ...UNDATED, chains: [], frozen: [] }),
    tokenApprovals: memoryApprovals(held.approvals ?? { ...UNDATED, chains: [], approvals: [] }),
    mixerRegistry: memoryMixerRegistry(held.mixers ?? { ...UNDATED, rows: null }),
  };
}

export function silentAccounts(cause: Why): AccountsPorts {
  return {
    chainFacts: {
      stateChains: [],
      of: async () => noFacts(cause),
      setBy: async () => unread('chain_facts', cause),
    },
    issuerFreezes: { chains: [], of: async () => unread('issuer_freezes', cause) },
    tokenApprovals: {
      chains: [],
      given: async () => unread('token_approvals', cause),
      left: async () => unread('token_approvals', cause),
    },
    mixerRegistry: { lookUp: async () => unread('mixer_registry', cause) },
  };
}

/** The facts of accounts that a world may plant. */
export type PlantedAccounts = {
  readonly facts?: readonly MemoryFact[];
  readonly frozen?: MemoryFreezes['frozen'];
  readonly approvals?: readonly MemoryApproval[];
  readonly mixers?: readonly MixerContract[];
};

/** Two chains, and a registry that holds somebody else beside what is planted. */
export function plantedAccounts(planted: PlantedAccounts) {
  const { facts = [], mixers = [], frozen = [], approvals = [] } = planted;
  const chains = ['ethereum', 'base'] as const;
  return {
    ...memoryAccounts({
      facts: { ...PLANTED, chains, facts },
      freezes: { ...PLANTED, chains, frozen },
      approvals: { ...PLANTED, chains, approvals },
      mixers: { ...PLANTED, rows: [mixerRow(evm('mixer elsewhere')), ...mixers] },
    }),
    contractCreations: memoryCreations({ ...PLANTED, creations: [], whole: true }),
  };
}

/** A row of the mixer registry. */
export function mixerRow(address: string, over: Partial<MixerContract> = {}): MixerContract {
  return {
    protocol: 'Tornado Cash',
    chain: 'ethereum',
    address,
    role: 'pool',
    name: 'Tornado Cash 1 ETH',
    valid_from_block: null,
    source: 'tests',
    source_url: 'https://example.org/mixers',
    second_source: null,
    reviewed: '2026-01-01',
    ...over,
  };
}
