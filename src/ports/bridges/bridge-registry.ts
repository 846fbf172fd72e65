// The table of the contracts that are known to belong to a bridge protocol.
// A contract that is not on the table may still be a bridge's: the table is partial by nature.

import type { Reading } from '../../evidence/reading.ts';
import type { RefusedLine } from '../tables/table-import.ts';

/** The name of this port in readings and contracts. */
export type BridgeRegistryPort = 'bridge_registry';

/** The protocols covered. */
export const BRIDGE_PROTOCOLS = [
  'across',
  'stargate',
  'hop',
  'synapse',
  'celer',
  'wormhole',
  'layerzero',
] as const;
export type BridgeProtocol = (typeof BRIDGE_PROTOCOLS)[number];

/** The chains covered. */
export const BRIDGE_CHAINS = ['ethereum', 'arbitrum', 'base', 'bsc', 'polygon'] as const;
export type BridgeChain = (typeof BRIDGE_CHAINS)[number];

/**
 * What a contract does in its protocol: holds the liquidity that users are paid from, takes what
 * they bridge into custody, passes their calls on, is a token that bridges itself (or a pool whose
 * shares are one, so that who holds it need not bridge), deals with liquidity providers only, or
 * only passes messages.
 */
export const BRIDGE_ROLES = [
  'liquidity',
  'lock',
  'router',
  'token',
  'providers',
  'messaging',
] as const;
export type BridgeRole = (typeof BRIDGE_ROLES)[number];

/** One row: a contract on a chain. */
export type RegistryRow = {
  readonly chain: BridgeChain;
  /** In lower case. */
  readonly address: string;
  readonly protocol: BridgeProtocol;
  /** What the protocol calls it; the asset, where there is one for each, in brackets at the end. */
  readonly name: string;
  readonly role: BridgeRole;
  /** The first block from which it counts; `null`, not known: from the chain's first. */
  readonly valid_from_block: number | null;
  /** Chains that are not covered where the protocol has the same address: EIP-155 ids. */
  readonly also_on: readonly number[];
  /** Public pages or repository paths, at least one. */
  readonly sources: readonly string[];
  /** The day of the last review, ISO 8601. */
  readonly reviewed: string;
  readonly note: string | null;
};

/** The table as it was loaded. */
export type RegistryTable = {
  /** SHA-256 of the file, in hex. */
  readonly id: string;
  readonly rows: readonly RegistryRow[];
  /** The newest review of a row, ISO 8601. */
  readonly reviewed: string;
  /** How many rows of the file the rules refused. */
  readonly refused: number;
};

/** The table. Readable once a file of it was loaded that holds a row. */
export type BridgeRegistry = {
  readonly table: () => Promise<Reading<RegistryTable, BridgeRegistryPort>>;
};

/** The rows of a file: those that the rules take, and each one that they refuse. */
export type ValidatedRows = {
  readonly rows: readonly RegistryRow[];
  readonly refused: readonly RefusedLine[];
};

/** The sentence of each refusal of a row, by its code. */
export const REGISTRY_REFUSALS = {
  unreadable_row: 'the row has not the columns of the table',
  bad_checksum: 'the address is none, or not in EIP-55 letter case',
  unknown_chain: `the chain is none of ${BRIDGE_CHAINS.join(', ')}`,
  unknown_protocol: `the protocol is none of the seven: ${BRIDGE_PROTOCOLS.join(', ')}`,
  unknown_role: `the role is none of ${BRIDGE_ROLES.join(', ')}`,
  system_address: 'the address is nobody’s, a precompile’s or the chain’s own',
  no_source: 'no source stands beside it, or one that is no page and no path',
  bad_review: 'the day of its review is no day',
  bad_block: 'the block from which it is valid is no block number',
  bad_chain_ids: 'the other chains are no EIP-155 ids with a space between',
  bad_text: 'a text is empty, too long, or has characters that cannot be shown',
  duplicate: 'an earlier row has the same chain, address and role',
  token_contract: 'the address is a token’s, which everybody who holds it deals with',
  amm_pool: 'the address is a pool’s of an automated market maker, where tokens are swapped',
  no_code: 'no contract stands at the address',
} as const;
export type RowRefusal = keyof typeof REGISTRY_REFUSALS;

/** What a node says of a contract of the table. */
export type ContractFacts = {
  readonly code: boolean;
  /** Answers `totalSupply()` and `decimals()` as an ERC-20 token does. */
  readonly token: boolean;
  /** Answers as a pool of an automated market maker does. */
  readonly pool: boolean;
  /** Whether it logged one of the events asked about in its newest blocks. */
  readonly events: boolean;
};

/** Asks a node about a contract. */
export type ContractProbe = {
  readonly chain: BridgeChain;
  readonly look: (
    address: string,
    topics: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<ContractFacts, 'contract_probe'>>;
};
