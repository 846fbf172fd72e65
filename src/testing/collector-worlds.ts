// Targets whose evidence is known: one for each rule of verdicts, and some for which nothing is
// said. Every port answers from memory; the table of rules is the one that ships.

import type { EvmChainName } from '../chain/chain.ts';
import { map, Read, read, unread } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import type { CollectorPorts } from '../features/collectors/collector.ts';
import type { BundleTarget } from '../features/collectors/shapes.ts';
import type { CommittedRecord, ListedPool, Venue } from '../ports/deployers.ts';
import type { Launch } from '../ports/launches.ts';
import type { LaunchFlag } from '../ports/rug-flags.ts';
import type { HeldToken } from '../ports/token-holders.ts';
import type { VerdictRuleTable } from '../ports/verdicts.ts';
import { verdictRulesFile } from '../sources/registry/verdict-rules.ts';
import { addressNamed, evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import { launchOf, walkOf } from './deployer-worlds.ts';
import type { PlantedFacts } from './forensic-ports.ts';
import { modelInForce } from './rug-models.ts';
import { rugFlagOf } from './rug-worlds.ts';
import { bridgeRow } from './twins/bridges.ts';
import { memorySource } from './twins/dated.ts';
import { fullCoverage, transferOf } from './twins/history.ts';
import { memoryPorts, silentPorts } from './twins/ports.ts';
import { flaggedRow, SCORED } from './twins/rug-flags.ts';
import { entryOf } from './twins/sanctions.ts';
import { labelOf } from './twins/tables.ts';

/** What a world of collectors holds; what is left out was read, and is not there. */
export type CollectorWorld = Omit<PlantedFacts, 'mixers' | 'approvals' | 'history'> & {
  readonly records?: readonly CommittedRecord[];
  readonly launches?: readonly Launch[];
  readonly rugFlags?: readonly LaunchFlag[];
  readonly pools?: readonly ListedPool[];
  readonly clusterMembers?: readonly string[];
  /** Mints of Solana by their address. */
  readonly tokens?: ReadonlyMap<string, HeldToken>;
  /** Whether the evidence was made up. */
  readonly madeUp?: boolean;
  /** Up to when blocks are held, in Unix seconds. */
  readonly tipAt?: number;
  /** When the list was last checked, in Unix seconds. */
  readonly listCheckedAt?: number;
};

const MINUTE_S = 60;
const WEEK_S = 604_800;

/** The ports over a world. */
export function collectorPorts(world: CollectorWorld): CollectorPorts {
  const madeUp = world.madeUp === true;
  const recent = STILL_NOW - MINUTE_S;
  const dated = { as_of: recent, simulated: madeUp };
  const { listed = [], labels = [], flagged = [], transfers = [], bridges = [] } = world;
  const { facts = [], frozen = [], records = [], launches = [], rugFlags = [] } = world;
  const { clusterMembers = [], pools = [], tipAt = recent, listCheckedAt = recent } = world;
  const chains = ['ethereum'] as const;
  const cluster = {
    chain: 'ethereum',
    cluster_id: 'cluster-1',
    confidence: 0.8,
    basis: 'assumed',
    members: clusterMembers,
    labels: null,
  } as const;
  const ports = memoryPorts({
    list: {
      publications: [{ published: '2026-09-20', checked_at: listCheckedAt, entries: listed }],
      maxAgeS: WEEK_S,
      simulated: madeUp,
      now: () => STILL_NOW,
    },
    labels: { ...dated, labels: [labelOf(evm('an exchange'), 'An exchange'), ...labels] },
    corpus: {
      ...dated,
      launches: [launchBy('launcher elsewhere', 'elsewhere', true), ...launches],
    },
    history: {
      ...dated,
      chains,
      transfers,
      coverage: fullCoverage('ethereum', tipAt),
      provenance: 'warehouse',
    },
    entities: {
      ...dated,
      clusters: clusterMembers.length === 0 ? [] : [cluster],
      examined: 'everyone',
    },
    facts: { ...dated, chains, facts },
    freezes: { ...dated, chains, frozen },
    approvals: { ...dated, chains, approvals: [] },
    flagged: { ...dated, rows: [flaggedRow(evm('flagged elsewhere')), ...flagged] },
    deployers: { ...dated, records },
    mixers: { ...dated, rows: [] },
    bridges: { ...dated, rows: [bridgeRow(evm('a bridge')), ...bridges] },
    rugFlags: { ...dated, chains: [SCORED], flags: rugFlags },
  });
  const source = memorySource('Venue in memory', 'observation', dated);
  const venue: Venue = { poolsOf: async () => read(pools, { port: 'venue', source }) };
  const tokenOf = (address: string) => {
    const held = world.tokens?.get(address);
    return read(held === undefined ? null : held, { port: 'token_holders', source });
  };
  return {
    ...ports,
    tokenHolders: {
      mintOf: async (address) => map(tokenOf(address), (one) => one?.mint ?? null),
      largestOf: async (address) => tokenOf(address),
    },
    simulated: world.simulated === true,
    venueOn: () => venue,
    launchListings: {
      stateOf: async () => read('gone', { port: 'launch_listings', source }),
    },
    modelInForce: modelInForce(['ethereum']),
  };
}

/** Every port silent for one reason. */
export function silentCollectorPorts(cause: Why): CollectorPorts {
  const venue: Venue = { poolsOf: async () => unread('venue', cause) };
  return {
    ...silentPorts(cause),
    simulated: false,
    tokenHolders: {
      mintOf: async () => unread('token_holders', cause),
      largestOf: async () => unread('token_holders', cause),
    },
    venueOn: (_chain: EvmChainName) => venue,
    launchListings: { stateOf: async () => unread('launch_listings', cause) },
    modelInForce: async () => unread('published_model', cause),
  };
}

/** A launch on Solana, settled a day after it was made. */
function launchBy(deployer: string, mint: string, listed_after_window: boolean): Launch {
  const launched_at = STILL_NOW - WEEK_S;
  return {
    mint: addressNamed('solana', `mint ${mint} of ${deployer}`),
    deployer: addressNamed('solana', deployer),
    launched_at,
    listed_after_window,
    last_checked_at: launched_at + 90_000,
    settled: true,
  };
}

/** A target of which it is known what the rules say. `rule`: the one that holds; `null`: none. */
export type KnownTarget = {
  readonly name: string;
  readonly target: BundleTarget;
  readonly world: CollectorWorld;
  readonly rule: string | null;
};

function onEthereum(name: string): BundleTarget {
  return { chain: 'ethereum', address: evm(name) };
}

function recordOf(name: string, outcomes: readonly ('died' | 'live')[]): CommittedRecord {
  const launches = outcomes.map((outcome, i) => launchOf(`${name} launch ${i}`, outcome));
  return { ...walkOf(evm(name), { launches, direct_creations: launches.length }), failed: null };
}

const SUPPORTED: readonly KnownTarget[] = [
  {
    name: 'listed itself',
    target: onEthereum('listed'),
    world: { listed: [entryOf(evm('listed'))] },
    rule: 'direct_listing',
  },
  {
    name: 'a row of phishing',
    target: onEthereum('phishing'),
    world: { flagged: [flaggedRow(evm('phishing'), { chain: 'ethereum' })] },
    rule: 'flagged_row',
  },
  {
    name: 'a deployer whose three listed launches died',
    target: onEthereum('all died'),
    world: { records: [recordOf('all died', ['died', 'died', 'died'])] },
    rule: 'launches_all_died',
  },
  {
    name: 'a launcher of Solana whose three settled launches died',
    target: { chain: 'solana', address: addressNamed('solana', 'all gone') },
    world: { launches: ['a', 'b', 'c'].map((mint) => launchBy('all gone', mint, false)) },
    rule: 'solana_all_died',
  },
  {
    name: 'flagged by the rug model in force',
    target: onEthereum('rug'),
    world: { rugFlags: [rugFlagOf(evm('rug'))] },
    rule: 'rug_flag',
  },
  {
    name: 'frozen by an issuer',
    target: onEthereum('frozen'),
    world: { frozen: [{ chain: 'ethereum', address: evm('frozen') }] },
    rule: 'issuer_freeze',
  },
];

const UNSUPPORTED: readonly KnownTarget[] = [
  {
    name: 'two listed launches that died are too few',
    target: onEthereum('two died'),
    world: { records: [recordOf('two died', ['died', 'died'])] },
    rule: null,
  },
  {
    name: 'one launch of four lives',
    target: onEthereum('mixed'),
    world: { records: [recordOf('mixed', ['died', 'died', 'died', 'live'])] },
    rule: null,
  },
  {
    name: 'a flag of another model, under the level, or of another kind',
    target: onEthereum('lesser flags'),
    world: {
      rugFlags: [
        rugFlagOf(evm('lesser flags'), { model_version: 'rug-0' }),
        rugFlagOf(evm('lesser flags'), { score: 0.69 }),
      ],
      flagged: [flaggedRow(evm('lesser flags'), { category: 'gambling' })],
    },
    rule: null,
  },
  {
    name: 'dealt with a bridge, an exchange and a cluster',
    target: onEthereum('busy'),
    world: {
      transfers: [
        transferOf(evm('a funder'), evm('busy')),
        transferOf(evm('busy'), evm('an exchange')),
      ],
      labels: [labelOf(evm('busy'), 'An exchange')],
      clusterMembers: [evm('busy'), evm('its friend')],
      pools: [
        { address: null, created_at: null, side: 'base', liquidity_usd: 3, volume_usd_24h: 0 },
      ],
    },
    rule: null,
  },
];

/** The ten targets, each of which says everything that it can. */
export const KNOWN_TARGETS: readonly KnownTarget[] = [...SUPPORTED, ...UNSUPPORTED];

/** The rules that ship. */
export async function readShippedRules(): Promise<VerdictRuleTable> {
  const table = await verdictRulesFile(
    new URL('../../registry/verdict-rules.csv', import.meta.url),
  )();
  if (!(table instanceof Read)) throw new Error(`test: ${table.why.reason}`);
  return table.value;
}

/** Why a port is silent in tests. */
export const SILENT = why('provider_failed', { provider: 'A provider', fault: 'answered 503' });

/** The ports of a world, some of them those of a silent one. */
export function withSilent(
  world: CollectorWorld,
  names: readonly (keyof CollectorPorts)[],
): CollectorPorts {
  const silent: Partial<CollectorPorts> = silentCollectorPorts(SILENT);
  const chosen = names.map((name) => [name, silent[name]]);
  return { ...collectorPorts(world), ...Object.fromEntries(chosen) };
}
