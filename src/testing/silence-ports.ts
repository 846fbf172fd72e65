// Answers one question: what was a handler told, and what if one of those answers had not come.
// It stands between a handler and its ports, writes each answer down, and can spoil any of them.

import type { EvidencePorts } from '../compose/list.ts';
import { tally } from '../evidence/measure.ts';
import { decided, map, Part, type Partly, Read, Unread, weaken } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import type { ChainFactsPort, FactName } from '../ports/accounts/chain-facts.ts';
import type { EntityCluster } from '../ports/entities/entity-clusters.ts';
import type {
  CoveredNeighbourhood,
  NeighbourhoodLimits,
} from '../ports/history/transfer-history.ts';
import type { ListLookUp } from '../ports/sanctions/sanctions-list.ts';
import { silentPorts } from './memory/silent.ts';

/** The ports by the name that wires them, with the name that readings and contracts use. */
export const PORT_TAGS = {
  sanctionsList: 'sanctions_list',
  exchangeLabels: 'exchange_labels',
  launchCorpus: 'launch_corpus',
  transferHistory: 'transfer_history',
  entityClusters: 'entity_clusters',
  chainFacts: 'chain_facts',
  flaggedAddresses: 'flagged_addresses',
  mixerRegistry: 'mixer_registry',
  bridgeRegistry: 'bridge_registry',
  transactionReceipts: 'transaction_receipts',
} as const satisfies { readonly [P in keyof EvidencePorts]: string };

export type PortName = keyof EvidencePorts;
export const PORT_NAMES: readonly PortName[] = [
  'sanctionsList',
  'exchangeLabels',
  'launchCorpus',
  'transferHistory',
  'entityClusters',
  'chainFacts',
  'flaggedAddresses',
  'mixerRegistry',
  'bridgeRegistry',
  'transactionReceipts',
];
/** The ports that can answer in part. */
export const PAGED_PORTS: readonly PortName[] = [
  'sanctionsList',
  'transferHistory',
  'entityClusters',
];

/** How an answer is spoiled. Only what pages can be truncated or stale: the types say which. */
export type Fault = 'silent' | 'truncated' | 'stale';

/** One answer: its call by port, method, arguments and turn, and what can be done to it. */
export type Told = {
  readonly call: string;
  readonly port: PortName;
  readonly faults: readonly Fault[];
  /** Whether what was read is a fact that no older reading takes back. */
  readonly convicts: boolean;
};

/** What is to be done to an answer. */
export type Spoiler = (told: Told) => Fault | null;

const SILENT: Why = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
const CUT: Why = why('timed_out', { what: 'The rest of a page', limit: 'a planted second' });
const OLD: Why = why('timed_out', { what: 'A fresher reading', limit: 'a planted second' });

/** How the answers of a port that pages are spoiled. */
type Paging<T> = {
  /** What is left of a value where its page was cut. */
  readonly emptied: (value: T) => T;
  readonly convicts: (value: T) => boolean;
};

const LIST: Paging<ListLookUp> = {
  emptied: (look) => ({ ...look, found: new Map() }),
  convicts: ({ found }) => found.size > 0,
};
const HISTORY: Paging<CoveredNeighbourhood> = {
  emptied: (known) => ({ ...known, degree: 0, counterparties: [] }),
  // A hub, whose counterparties are left out: it cannot become less of one.
  convicts: ({ degree, counterparties }) => degree > counterparties.length,
};

/** A page of a cluster that was cut: the cluster is there, and somebody of it may be missing. */
const CLUSTERS: Paging<EntityCluster | null> = {
  emptied: (cluster) => cluster,
  convicts: (cluster) => cluster !== null,
};

/** A fact that shows something is what it was, however old; one that shows nothing denies it. */
function isShown(fact: unknown): boolean {
  if (typeof fact === 'object' && fact !== null && 'size' in fact) return isShown(fact.size);
  return fact === true || (typeof fact === 'number' && fact > 0) || typeof fact === 'string';
}

/** One fact cannot be cut in two: it falls silent, or it is old. */
function toldOfFact(call: string, reading: Partly<unknown, never>): Told {
  const shown = map(reading, (fact) => isShown(typeof fact === 'bigint' ? Number(fact) : fact));
  const paging = { emptied: () => false, convicts: (is: boolean) => is };
  const told = toldOfPage('chainFacts', call, shown, paging);
  return { ...told, faults: told.faults.filter((fault) => fault !== 'truncated') };
}

function toldOf(port: PortName, call: string, reading: Partly<unknown, never>): Told {
  const told = { port, call, convicts: false };
  return { ...told, faults: reading instanceof Unread ? [] : ['silent'] };
}

function toldOfPage<T>(
  port: PortName,
  call: string,
  reading: Partly<T, never>,
  paging: Paging<T>,
): Told {
  const told = toldOf(port, call, reading);
  if (told.faults.length === 0) return told;
  const convicts = map(reading, paging.convicts);
  const known = decided(convicts, (does) => does);
  const paged =
    reading instanceof Part ? (['truncated'] as const) : (['truncated', 'stale'] as const);
  return {
    ...told,
    faults: [...told.faults, ...paged],
    convicts: known instanceof Read && known.value,
  };
}

function spoilt<T, P extends string>(
  reading: Partly<T, P>,
  fault: Fault | null,
  paging: Paging<T>,
): Partly<T, P> {
  if (fault === null) return reading;
  if (fault === 'silent') return silenced(reading);
  return fault === 'stale' ? weaken(reading, OLD) : weaken(map(reading, paging.emptied), CUT);
}

/** The reading as one that was not read, of the same ports. */
function silenced<P extends string>(reading: Partly<unknown, P>): Unread<P> {
  const nothing = decided(weaken(reading, SILENT), () => false);
  if (nothing instanceof Read) throw new Error('silence: a weakened reading is decided');
  return nothing;
}

/** Limits so small that whatever there is lies behind them. */
export type Tightness = Partial<Pick<NeighbourhoodLimits, 'rowsMax' | 'batchRowsMax'>>;

/** The ports, spoiled and written down: `log` is filled as the handler asks. */
export function spoiledPorts(
  ports: EvidencePorts,
  spoiler: Spoiler,
  log: Told[] = [],
  tight: Tightness = {},
): EvidencePorts {
  const turns = new Map<string, number>();
  const callOf = (method: string, args: unknown) => {
    const text = `${method}(${JSON.stringify(args)})`;
    tally(turns, text);
    return `${text} #${turns.get(text)}`;
  };
  const faultOn = (told: Told) => {
    log.push(told);
    return spoiler(told);
  };
  const { sanctionsList, exchangeLabels, launchCorpus, transferHistory, entityClusters } = ports;
  return {
    sanctionsList: {
      lookUp: async (addresses) => {
        const call = callOf('sanctionsList.lookUp', addresses);
        const reading = await sanctionsList.lookUp(addresses);
        return spoilt(reading, faultOn(toldOfPage('sanctionsList', call, reading, LIST)), LIST);
      },
      lookUpOn: async (on, addresses) => {
        const call = callOf('sanctionsList.lookUpOn', [on, addresses]);
        const reading = await sanctionsList.lookUpOn(on, addresses);
        return spoilt(reading, faultOn(toldOfPage('sanctionsList', call, reading, LIST)), LIST);
      },
    },
    exchangeLabels: {
      lookUp: async (addresses) => {
        const call = callOf('exchangeLabels.lookUp', addresses);
        const reading = await exchangeLabels.lookUp(addresses);
        const fault = faultOn(toldOf('exchangeLabels', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
    launchCorpus: {
      lookUp: async (wallets) => {
        const call = callOf('launchCorpus.lookUp', wallets);
        const reading = await launchCorpus.lookUp(wallets);
        const fault = faultOn(toldOf('launchCorpus', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
    transferHistory: spoiledHistory(transferHistory, { callOf, faultOn }, tight),
    entityClusters: {
      clusterOf: async (chain, address) => {
        const call = callOf('entityClusters.clusterOf', [chain, address]);
        const reading = await entityClusters.clusterOf(chain, address);
        const told = toldOfPage('entityClusters', call, reading, CLUSTERS);
        return spoilt(reading, faultOn(told), CLUSTERS);
      },
    },
    ...spoiledForensics(ports, { callOf, faultOn }),
    ...spoiledBridges(ports, { callOf, faultOn }),
  };
}

type Spoiling = {
  readonly callOf: (method: string, args: unknown) => string;
  readonly faultOn: (told: Told) => Fault | null;
};

function spoiledHistory(
  transferHistory: EvidencePorts['transferHistory'],
  { callOf, faultOn }: Spoiling,
  tight: Tightness,
): EvidencePorts['transferHistory'] {
  return {
    chainsRead: async () => {
      const call = callOf('transferHistory.chainsRead', []);
      const reading = await transferHistory.chainsRead();
      const fault = faultOn(toldOf('transferHistory', call, reading));
      return fault === null ? reading : silenced(reading);
    },
    neighbourhoods: async (addresses, limits) => {
      const readings = await transferHistory.neighbourhoods(addresses, { ...limits, ...tight });
      const each = [...readings].map(([address, reading]) => {
        const call = callOf('transferHistory.neighbourhoods', address);
        const told = toldOfPage('transferHistory', call, reading, HISTORY);
        return [address, spoilt(reading, faultOn(told), HISTORY)] as const;
      });
      return new Map(each);
    },
  };
}

function spoiledBridges(
  { bridgeRegistry, transactionReceipts }: EvidencePorts,
  { callOf, faultOn }: Spoiling,
): Pick<EvidencePorts, 'bridgeRegistry' | 'transactionReceipts'> {
  return {
    bridgeRegistry: {
      table: async () => {
        const call = callOf('bridgeRegistry.table', []);
        const reading = await bridgeRegistry.table();
        const fault = faultOn(toldOf('bridgeRegistry', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
    transactionReceipts: {
      lookUp: async (chain, hashes, signal) => {
        const readings = await transactionReceipts.lookUp(chain, hashes, signal);
        const each = [...readings].map(([hash, reading]) => {
          const call = callOf('transactionReceipts.lookUp', [chain, hash]);
          const fault = faultOn(toldOf('transactionReceipts', call, reading));
          return [hash, fault === null ? reading : silenced(reading)] as const;
        });
        return new Map(each);
      },
    },
  };
}

/** Each fact is an answer of its own; a look-up in a table is one. */
function spoiledForensics(
  { chainFacts, flaggedAddresses, mixerRegistry }: EvidencePorts,
  { callOf, faultOn }: Spoiling,
): Pick<EvidencePorts, 'chainFacts' | 'flaggedAddresses' | 'mixerRegistry'> {
  const fact = <T>(call: string, reading: Partly<T, ChainFactsPort>): Partly<T, ChainFactsPort> => {
    const paging = { emptied: (value: T) => value, convicts: () => false };
    return spoilt(reading, faultOn(toldOfFact(call, reading)), paging);
  };
  return {
    chainFacts: {
      stateChains: chainFacts.stateChains,
      of: async (chain, address, wanted, signal) => {
        const told = await chainFacts.of(chain, address, wanted, signal);
        const call = (name: FactName) => callOf(`chainFacts.of.${name}`, [chain, address]);
        return {
          code: fact(call('code'), told.code),
          nonce: fact(call('nonce'), told.nonce),
          balance_wei: fact(call('balance_wei'), told.balance_wei),
          verified_name: fact(call('verified_name'), told.verified_name),
          creation: fact(call('creation'), told.creation),
          is_token: fact(call('is_token'), told.is_token),
          authority: fact(call('authority'), told.authority),
        };
      },
    },
    flaggedAddresses: {
      lookUp: async (addresses) => {
        const call = callOf('flaggedAddresses.lookUp', addresses);
        const reading = await flaggedAddresses.lookUp(addresses);
        const fault = faultOn(toldOf('flaggedAddresses', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
    mixerRegistry: {
      lookUp: async (addresses) => {
        const call = callOf('mixerRegistry.lookUp', addresses);
        const reading = await mixerRegistry.lookUp(addresses);
        const fault = faultOn(toldOf('mixerRegistry', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
  };
}

/** Ports of which some are silent whatever is asked. */
export function partlySilent(ports: EvidencePorts, silent: ReadonlySet<PortName>): EvidencePorts {
  const nothing = silentPorts(SILENT);
  const of = <P extends PortName>(name: P): EvidencePorts[P] =>
    (silent.has(name) ? nothing : ports)[name];
  return {
    sanctionsList: of('sanctionsList'),
    exchangeLabels: of('exchangeLabels'),
    launchCorpus: of('launchCorpus'),
    transferHistory: of('transferHistory'),
    entityClusters: of('entityClusters'),
    chainFacts: of('chainFacts'),
    flaggedAddresses: of('flaggedAddresses'),
    mixerRegistry: of('mixerRegistry'),
    bridgeRegistry: of('bridgeRegistry'),
    transactionReceipts: of('transactionReceipts'),
  };
}
