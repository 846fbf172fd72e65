// A tie is an inference with a date: what is judged anew replaces what was held of the same. Which
// ties stand is decided on every answer, so that a new label takes a link back.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../chain/chain.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';
import { WEIGHT_BASES } from '../evidence/weight.ts';

/** The chains whose entities are told. */
export const ENTITY_CHAINS = [
  'solana',
  'ethereum',
  'base',
  'bsc',
  'arbitrum',
  'hyperevm',
  'bitcoin',
] as const;

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
 * The forms that a heuristic's observation takes; each has a weight of its own. `hot_wallet`: the
 * deposit address forwards to a wallet that a label calls hot; `unstated_role`: to one whose label
 * tells no role. `own_factory`: a contract made by a contract that the same key had made.
 * `payjoin_form`: a payee may have added an input. `tx0`: a wallet cuts its coins for a mix.
 */
export const TIE_FORMS = {
  deposit_reuse: ['hot_wallet', 'unstated_role'],
  shared_funder: ['first_coins'],
  lockstep: ['same_moments'],
  same_deployer: ['signed', 'own_factory'],
  multi_input: ['spent_together', 'payjoin_form', 'tx0'],
  change: ['one_sign', 'two_signs', 'three_signs'],
} as const satisfies { readonly [H in Heuristic]: readonly string[] };
export type TieForm = (typeof TIE_FORMS)[Heuristic][number];

/** The version of the rules that judge ties now. What an earlier one judged is read no more. */
export const TIE_RULE = 2;

const chain = z.enum(CHAIN_NAMES);

/**
 * One address tied to what it shares with others (`key`: a deposit address, a funder, a deployer, a
 * pair, a transaction) by one transaction. Addresses are in the form that `parseAddress` gives.
 */
export const tie = z.strictObject({
  chain,
  heuristic: z.enum(HEURISTICS),
  form: z.enum(HEURISTICS.flatMap((heuristic) => TIE_FORMS[heuristic])),
  key: z.string(),
  address: z.string(),
  tx: z.string(),
  block: z.number(),
  /** Unix seconds. */
  at: z.number(),
  /** Whether the histories that it was judged by were read to their end. */
  whole: z.boolean(),
  /**
   * On what it rests beside its transaction: the exchange wallet whose label makes a deposit
   * address of its key, or the change address that is paid only once. `null`: on nothing else.
   */
  rests_on: z.string().nullable(),
});
export type Tie = z.output<typeof tie>;

/** A tie as it is held: an inference with a date. Unix seconds. */
export const heldTie = tie.extend({ judged_at: z.number() });
export type HeldTie = z.output<typeof heldTie>;

/** The kinds of what speaks against a link. */
export const OBJECTION_KINDS = [
  'coinjoin',
  'partial_signature',
  'marketplace_trade',
  'payjoin_form',
  'crowd',
  'contract_payer',
  'by_chance',
  'separate_accounts',
] as const;

/**
 * Evidence against joining an address with others: its transaction or shared thing (`key`), and a
 * detail (a protocol, a number).
 */
export const objection = z.strictObject({
  chain,
  kind: z.enum(OBJECTION_KINDS),
  key: z.string(),
  address: z.string(),
  tx: z.string(),
  block: z.number(),
  /** Unix seconds. */
  at: z.number(),
  detail: z.string().nullable(),
});
export type Objection = z.output<typeof objection>;

/** What each heuristic says against its ties: a new judgement of it replaces these too. */
export const OBJECTIONS_OF: { readonly [H in Heuristic]: readonly Objection['kind'][] } = {
  deposit_reuse: [],
  shared_funder: ['crowd', 'contract_payer'],
  lockstep: ['by_chance'],
  same_deployer: [],
  multi_input: [],
  change: [],
};

/**
 * The scope of a new judgement, which replaces the stored one: everything under a key, or
 * everything that ties an address by a heuristic.
 */
export type Judged =
  | { readonly heuristic: Heuristic; readonly key: string }
  | { readonly heuristic: Heuristic; readonly address: string };

/** The findings of examinations, as they are kept and replaced. */
export type SeenTies = {
  readonly ties: readonly Tie[];
  /** Those of a subject that was judged, or of an address examined whole, replace the held ones. */
  readonly objections: readonly Objection[];
  readonly judged: readonly Judged[];
  readonly services: readonly ServiceMark[];
  readonly examinations: readonly Examination[];
};

/** An address that serves many: once known as such it links nobody, whatever a table drops. */
export type ServiceMark = { readonly address: string; readonly why: 'label' | 'degree' };

/** One reading of an address's own history for ties. Unix seconds. */
export const examination = z.strictObject({
  address: z.string(),
  whole: z.boolean(),
  read_at: z.number(),
  /** Why it was not whole; `null` where it was. */
  reason: z.string().nullable(),
});
export type Examination = z.output<typeof examination>;

/** Everything that is tied to some addresses, over any number of ties. */
export type Tied = {
  readonly ties: readonly HeldTie[];
  /** Evidence against joining those addresses. */
  readonly objections: readonly Objection[];
  /** Bitcoin addresses that were paid in more than one transaction: no one-time change. */
  readonly reused: ReadonlySet<string>;
  /**
   * The last whole examination of each address met, else the last cut one, where there was one
   * under the rules of now.
   */
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
export const formerCluster = z.strictObject({
  former_id: z.string(),
  cluster_id: z.string(),
  /** Unix seconds at which it was noted. */
  noted_at: z.number(),
});
export type FormerCluster = z.output<typeof formerCluster>;

/**
 * Blocks of Bitcoin that were processed in full; `to_time` is Unix seconds of the last. `change`:
 * whether change was told there, which needs every block before and none after to have been held.
 * `signatures`: whether every signature was told that has to be; without them joint transactions
 * pass for one owner's, so that no input ties there.
 */
export const blockRange = z.strictObject({
  from_block: z.number(),
  to_block: z.number(),
  to_time: z.number(),
  change: z.boolean(),
  signatures: z.boolean(),
});
export type BlockRange = z.output<typeof blockRange>;

/** The result of some blocks of Bitcoin, stored whole or not at all. */
export type BlockHarvest = {
  readonly ties: readonly Tie[];
  readonly objections: readonly Objection[];
  /** Every address whose coins a joint transaction spent, and whom it paid. */
  readonly joined: readonly (JoinedIn & { readonly address: string })[];
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
  /** Keeps what examinations saw in place of what was judged before. `now`: Unix seconds. */
  readonly keep: (
    chain: ChainName,
    seen: SeenTies,
    now: number,
  ) => Promise<Reading<null, HeldTiesPort>>;
  /** Notes clusters as they are shown now, and the ids that gave way since. */
  readonly settle: (
    chain: ChainName,
    clusters: readonly { readonly cluster_id: string; readonly members: readonly string[] }[],
    now: number,
  ) => Promise<Reading<null, HeldTiesPort>>;
  /** The ids that gave way to this one, the newest first. */
  readonly givenWay: (
    chain: ChainName,
    clusterId: string,
  ) => Promise<Reading<readonly FormerCluster[], HeldTiesPort>>;
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
  /** The joint transactions in which a Bitcoin address took part, of the blocks held. */
  readonly coinJoinsOf: (address: string) => Promise<Partly<CoinJoins, HeldTiesPort>>;
  /**
   * The ties that answers are made from: as complete as `looked`, which is everything that could
   * have tied the address (an examination of its history, blocks of Bitcoin) as far as it was read.
   */
  readonly covered: <T>(
    held: Partly<T, HeldTiesPort>,
    looked: Partly<unknown, never>,
  ) => Partly<T, EntityClustersPort>;
  readonly keepBlocks: (harvest: BlockHarvest) => Promise<Reading<null, HeldTiesPort>>;
};

// A miss is read only where the address's own history was examined to its end: an address that
// nobody examined, or only in part, is silence and never "linked to nobody".

/** The name of this port in readings and contracts. */
export type EntityClustersPort = 'entity_clusters';

/**
 * The protocol of a joint transaction of Bitcoin; `equal_outputs`: the form of one, and no name is
 * known; `whirlpool_tx0`: one wallet cuts its coins for a mix.
 */
export const JOINT_FORMS = [
  'joinmarket',
  'wasabi_1_0',
  'wasabi_1_1',
  'wasabi_2_0',
  'whirlpool',
  'whirlpool_tx0',
  'equal_outputs',
] as const;
export type JointForm = (typeof JOINT_FORMS)[number];

/** One address in one joint transaction: whether it spent coins of the address, or paid it. */
export const joinedIn = z.strictObject({
  tx: z.string(),
  block: z.number(),
  /** Unix seconds. */
  at: z.number(),
  form: z.enum(JOINT_FORMS),
  spent: z.boolean(),
  paid: z.boolean(),
});
export type JoinedIn = z.output<typeof joinedIn>;

/** How many joint transactions of each form, and the newest of all. */
export const coinJoins = z.strictObject({
  forms: z.array(z.strictObject({ form: z.enum(JOINT_FORMS), transactions: z.number() })),
  newest: z.array(joinedIn),
});
export type CoinJoins = z.output<typeof coinJoins>;

/** A cluster as others show it. */
export const entityCluster = z.strictObject({
  /** The name of its oldest link: it stays when the cluster grows. */
  cluster_id: z.string(),
  /** That the address asked about belongs to the rest: 1 − Π(1 − weight) over its own links. */
  confidence: z.number().positive(),
  /** `measured` where every weight that the confidence is made of is. */
  basis: z.enum(WEIGHT_BASES),
  /** Every address of it in the form that `parseAddress` gives, the one asked about included. */
  members: z.array(z.string()).min(1).readonly(),
  /** The labels that its members carry, each once; `null` where the label table was not read. */
  labels: z.array(z.string()).readonly().nullable(),
});
export type EntityCluster = z.output<typeof entityCluster>;

/**
 * The clusters held. `Read`: the address was examined to its end, so `null` says that no link of
 * it was found. `Part`: this cluster was seen and may be larger; the reason says what is missing.
 * `Unread`: no link of it is held and nothing shows that it was looked at.
 */
export type EntityClusters = {
  readonly clusterOf: (
    chain: ChainName,
    address: string,
  ) => Promise<Partly<EntityCluster | null, EntityClustersPort>>;
  /**
   * The joint transactions of a Bitcoin address, by their form. `Read` only where every block from
   * the first to a fresh tip is held.
   */
  readonly coinJoinsOf: (address: string) => Promise<Partly<CoinJoins, EntityClustersPort>>;
};

// A block comes whole or not at all; an input whose spent output was not given makes it no block.

/** An input's spent output, or an output. `null`: no address (a bare script, an OP_RETURN). */
export type BitcoinCoin = {
  readonly address: string | null;
  /** Satoshis. */
  readonly value: bigint;
};

/**
 * An input: the coin that it spends, and how far its signatures bind it to the others. `whole`:
 * every one of them signs all inputs and outputs. `in_part`: one signs fewer (`ANYONECANPAY`,
 * `SINGLE`, `NONE`), or none was found. `null`: the source does not tell them.
 */
export type BitcoinInput = BitcoinCoin & { readonly signed: 'whole' | 'in_part' | null };

/** One transaction; a coinbase has no inputs. */
export type BitcoinTransaction = {
  readonly tx: string;
  readonly block: number;
  /** Unix seconds of its block. */
  readonly at: number;
  readonly coinbase: boolean;
  readonly inputs: readonly BitcoinInput[];
  readonly outputs: readonly BitcoinCoin[];
};

/** Transactions of one block. `whole`: all of them are here, which the source has shown. */
export type BitcoinBlock = {
  readonly block: number;
  readonly at: number;
  readonly whole: boolean;
  readonly transactions: readonly BitcoinTransaction[];
};

/** Why a source of blocks ended before its end. `fault` names no path, host or credential. */
export class BlocksFault extends Error {
  readonly fault: string;
  constructor(fault: string) {
    super(fault);
    this.name = 'BlocksFault';
    this.fault = fault;
  }
}

/** Refused transactions by reason, with their number. */
type RefusedTransactions = ReadonlyMap<string, number>;

/**
 * A source of blocks in rising order. `blocks` throws `BlocksFault` where it cannot go on; what was
 * given before stands.
 */
export type BitcoinBlocks = {
  readonly blocks: (signal: AbortSignal) => AsyncIterable<BitcoinBlock>;
  readonly refused: () => RefusedTransactions;
};

export type BlocksImported = {
  readonly blocks: number;
  /** Blocks of which not all transactions came: what they tie is kept, and they stay open. */
  readonly blocks_in_part: number;
  /** Blocks that were held before. */
  readonly blocks_held: number;
  readonly transactions: number;
  readonly joint: number;
  readonly ties: number;
  readonly refused: RefusedTransactions;
};

/** The end of an import. Blocks stored before a fault stay. */
export type BlocksOutcome =
  | { readonly outcome: 'completed' | 'stopped'; readonly imported: BlocksImported }
  | { readonly outcome: 'fault'; readonly imported: BlocksImported; readonly fault: string }
  | { readonly outcome: 'unread'; readonly imported: BlocksImported; readonly why: Why };

/** Told after each harvest that was kept. */
export type BlocksWatch = {
  readonly signal: AbortSignal;
  readonly onProgress: (imported: BlocksImported) => void;
};

/** A Bitcoin Core node as a source: blocks from `fromBlock` to `toBlock`, or to its final tip. */
export type BitcoinNode = (fromBlock: number, toBlock: number | null) => BitcoinBlocks;

/** Files of bitcoin-etl as a source. */
export type BitcoinFiles = (paths: readonly string[]) => BitcoinBlocks;
