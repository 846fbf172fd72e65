// Answers one question: what ties addresses to each other, as far as it was seen and kept.
// It holds what was observed, not what follows from it: which ties stand, and what they join, is
// the engines' rule, so that a new label or a later block can take a link back.

import type { ChainName } from '../../chain/chain.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { EntityClustersPort } from './entity-clusters.ts';

/** The ways in which addresses are tied; `docs/concepts/entities.md` has the paper of each. */
export const HEURISTICS = [
  'deposit_reuse',
  'shared_funder',
  'lockstep',
  'same_deployer',
  'multi_input',
  'change',
] as const;
export type Heuristic = (typeof HEURISTICS)[number];

/**
 * One address tied to what it shares with others (`key`: a deposit address, a funder, a deployer, a
 * pair, a transaction) by one transaction. Addresses are in the form that `parseAddress` gives.
 */
export type Tie = {
  readonly chain: ChainName;
  readonly heuristic: Heuristic;
  readonly key: string;
  readonly address: string;
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
  /**
   * On what it rests beside its transaction: the exchange wallet whose label makes a deposit
   * address of its key, or the change address that is paid only once. `null`: on nothing else.
   */
  readonly rests_on: string | null;
};

/** Why an address links nobody. */
type ServiceReason = 'label' | 'degree';

/** An address that serves many: once known as such it links nobody, whatever a table drops. */
export type ServiceMark = { readonly address: string; readonly why: ServiceReason };

/** One reading of an address's own history for ties. Unix seconds. */
export type Examination = {
  readonly address: string;
  readonly whole: boolean;
  readonly read_at: number;
  /** Why it was not whole; `null` where it was. */
  readonly reason: string | null;
};

/** Everything that is tied to some addresses, over any number of ties. */
export type Tied = {
  readonly ties: readonly Tie[];
  /** Bitcoin addresses that were paid in more than one transaction: no one-time change. */
  readonly reused: ReadonlySet<string>;
  /** The last examination of each address asked, where there was one. */
  readonly examinations: ReadonlyMap<string, Examination>;
};

/** How far ties are followed. Past it the reading is a part. */
export type TiedLimits = {
  readonly addressesMax: number;
  readonly roundsMax: number;
  /** More addresses than this under one key are a service's, not an entity's: they are not read. */
  readonly perKeyMax: { readonly [H in Heuristic]: number };
  /** The most keys that are followed in one round. */
  readonly keysMax: number;
};

/** An id that gave way to another when its cluster was found to be part of an older one. */
export type GivenWay = {
  readonly former_id: string;
  readonly cluster_id: string;
  /** Unix seconds at which it was noted. */
  readonly noted_at: number;
};

/** A cluster as it was last shown. */
type SettledCluster = { readonly cluster_id: string; readonly members: readonly string[] };

/**
 * Blocks of Bitcoin that were processed in full; `to_time` is Unix seconds of the last. `change`:
 * whether change was told there, which needs every block before and none after to have been held.
 */
export type BlockRange = {
  readonly from_block: number;
  readonly to_block: number;
  readonly to_time: number;
  readonly change: boolean;
};

/** What some blocks of Bitcoin gave, kept all or not at all. */
type BlockHarvest = {
  readonly ties: readonly Tie[];
  /** Every address paid, with the number of transactions that paid it. */
  readonly paid: ReadonlyMap<string, number>;
  /** The blocks that are now held in full; a block of which a part was read is not among them. */
  readonly ranges: readonly BlockRange[];
};

/** The name of this store in readings; no contract rests on it. */
export type HeldTiesPort = 'held_ties';

/** The store of ties. What it holds is what was seen; who was looked at it does not know. */
export type ClusterStore = {
  readonly tiedTo: (
    chain: ChainName,
    addresses: readonly string[],
    limits: TiedLimits,
  ) => Promise<Partly<Tied, HeldTiesPort>>;
  /** Those of these addresses that were ever marked as services. */
  readonly servicesAmong: (
    chain: ChainName,
    addresses: readonly string[],
  ) => Promise<Reading<ReadonlySet<string>, HeldTiesPort>>;
  /** Keeps what an examination saw. What is held already stays as it is. */
  readonly keep: (
    chain: ChainName,
    seen: {
      readonly ties: readonly Tie[];
      readonly services: readonly ServiceMark[];
      readonly examinations: readonly Examination[];
    },
  ) => Promise<Reading<null, HeldTiesPort>>;
  /** Notes clusters as they are shown now, and the ids that gave way since. */
  readonly settle: (
    chain: ChainName,
    clusters: readonly SettledCluster[],
    now: number,
  ) => Promise<Reading<null, HeldTiesPort>>;
  /** The ids that gave way to this one, the newest first. */
  readonly givenWay: (
    chain: ChainName,
    clusterId: string,
  ) => Promise<Reading<readonly GivenWay[], HeldTiesPort>>;
  /** One member of a cluster that was shown under this id, or under one that gave way to it. */
  readonly memberOf: (
    clusterId: string,
  ) => Promise<Reading<{ chain: ChainName; address: string } | null, HeldTiesPort>>;
  /** The blocks of Bitcoin held, lowest first, joined where they adjoin. */
  readonly blocksHeld: () => Promise<Reading<readonly BlockRange[], HeldTiesPort>>;
  /** Those of these Bitcoin addresses that were paid in the blocks held. */
  readonly paidBefore: (
    addresses: readonly string[],
  ) => Promise<Reading<ReadonlySet<string>, HeldTiesPort>>;
  /**
   * What is held as what answers are made from: as whole as `looked`, which is what could have tied
   * the address (an examination of its history, blocks of Bitcoin) as far as it was read.
   */
  readonly covered: <T>(
    held: Partly<T, HeldTiesPort>,
    looked: Partly<unknown, never>,
  ) => Partly<T, EntityClustersPort>;
  readonly keepBlocks: (harvest: BlockHarvest) => Promise<Reading<null, HeldTiesPort>>;
};
