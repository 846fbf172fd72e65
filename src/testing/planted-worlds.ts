// What is held in a world of the silence test, and what do its ports say?
// What is planted, beside somebody and something else in every table and list.

import type { ChainName } from '../chain/chain.ts';
import type { TransferKind } from '../chain/transfer.ts';
import { given } from '../evidence/measure.ts';
import type { DepositStatus } from '../ports/bridges.ts';
import type { ReceiptFile } from '../ports/receipts.ts';
import type { ListEntry } from '../ports/sanctions.ts';
import type { ExchangeLabel, OtherListEntry } from '../ports/tables.ts';
import { evm, named } from './addresses.ts';
import { BRIDGE_ROWS } from './bridge-worlds.ts';
import { STILL_NOW } from './clock.ts';
import { forensicsOf } from './forensic-worlds.ts';
import { memoryCreations } from './memory/contract-creations.ts';
import { memoryNoTies } from './memory/entity-ties.ts';
import { memoryLabelLog } from './memory/label-log.ts';
import { memoryLaunchMonths } from './memory/launch-months.ts';
import { memoryListChanges } from './memory/list-changes.ts';
import { memoryOtherListLog } from './memory/other-list-log.ts';
import { type MemoryWorld, memoryPorts } from './memory/ports.ts';
import { memoryRecords, memoryVersions } from './memory/screening-records.ts';
import { memoryWatchlist } from './memory/watchlist.ts';
import { type Fact, HOUR_S, type Plan, type Planted, transferOf } from './planted.ts';
import { SCORED } from './rug-worlds.ts';
import type { SilencePorts } from './silence-ports.ts';

/** A world: its ports, whom and which days it is asked about, and what is planted in it. */
export type World = {
  readonly name: string;
  /** True for the world in which nothing is held of those who are asked about. */
  readonly empty: boolean;
  /** Unix seconds. */
  readonly now: number;
  readonly ports: SilencePorts;
  readonly subjects: readonly string[];
  readonly days: readonly string[];
  readonly facts: readonly Fact[];
  /** The chains whose transfers are read at all. */
  readonly chainsRead: readonly ChainName[];
  /** A chain of which transfers are held only in part; `null`: all are held. */
  readonly unheld: ChainName | null;
};

const MINUTE_S = 60;
const NO_PAGES = new Map<string, DepositStatus>();

/** Strangers of each kind, of whom no world holds anything. */
const STRANGERS = {
  evm: evm('stranger'),
  solana: named('solana', 'stranger'),
  bitcoin: named('bitcoin', 'stranger'),
  tron: named('tron', 'stranger'),
};

function held(planted: Planted): MemoryWorld {
  const { coverage = null } = planted;
  const other = entryOf(evm('listed elsewhere'));
  const {
    entries = [],
    olderEntries = [],
    otherEntries = [],
    labels = [],
    launchers = [],
    waiting = [],
    transfers = [],
  } = planted;
  const launches = [
    ...[...launchers, named('solana', 'launcher elsewhere')].map((one) => launchBy(one, true)),
    ...waiting.map((one) => launchBy(one, null)),
  ];
  const facts = { as_of: STILL_NOW - HOUR_S, simulated: false };
  return {
    list: {
      maxAgeS: 48 * HOUR_S,
      simulated: false,
      now: () => STILL_NOW,
      publications: [
        {
          published: '2026-09-01',
          checked_at: Date.parse('2026-09-20T00:00:00Z') / 1_000,
          entries: [other, ...olderEntries],
        },
        {
          published: '2026-09-23',
          checked_at: STILL_NOW - MINUTE_S,
          entries: [other, ...entries],
        },
      ],
    },
    labels: { ...facts, labels: [labelOf(evm('exchange elsewhere'), 'Elsewhere'), ...labels] },
    corpus: { ...facts, launches },
    ringUnbuilt: planted.ringUnbuilt === true,
    history: {
      ...facts,
      as_of: STILL_NOW - MINUTE_S,
      chains: CHAINS_READ,
      transfers: [transferOf(evm('somebody'), evm('somebody else')), ...transfers],
      coverage: [
        ...(coverage === null ? wholeCoverage('ethereum') : coverage),
        ...CHAINS_READ.filter((one) => one !== 'ethereum').flatMap(wholeCoverage),
      ],
      provenance: 'warehouse',
    },
    entities: { ...facts, ...clustersOf(planted), examined: 'everyone' },
    bridges: { ...facts, rows: BRIDGE_ROWS },
    ...forensicsOf(planted, facts),
    otherLists: {
      ...facts,
      names: [OTHER_LIST],
      entries: [otherEntryOf(evm('listed elsewhere')), ...otherEntries],
    },
    receipts: { ...facts, receipts: planted.receipts ?? [] },
    arrivals: {
      ...facts,
      logs: planted.paid === undefined ? new Map([['base', given(planted.arrivals)]]) : new Map(),
      paid: planted.paid === undefined ? new Map() : new Map([['base', planted.paid]]),
      pages: planted.pages ?? NO_PAGES,
    },
    articles: { ...facts, files: [articleOf(evm('elsewhere')), ...given(planted.articles)] },
    deployers: { ...facts, records: planted.deployers ?? [] },
    rugFlags: { ...facts, chains: [SCORED], flags: planted.rugFlags ?? [] },
  };
}

/** A launch; `null`: whether it is listed is not known yet. */
function launchBy(deployer: string, listed_after_window: boolean | null) {
  const settled = listed_after_window !== null;
  return {
    mint: named('solana', `${settled ? '' : 'waiting '}mint of ${deployer}`),
    deployer,
    listed_after_window,
    launched_at: STILL_NOW - 100 * HOUR_S,
    last_checked_at: STILL_NOW - HOUR_S,
    settled,
  };
}

function clustersOf({ clusters = [], joined = [] }: Planted) {
  const held = clusters.map((members, i) => {
    return {
      chain: 'ethereum' as const,
      cluster_id: `c${i}`,
      confidence: 0.9,
      members,
      labels: [],
    };
  });
  return { clusters: held, joined };
}

const CHAINS_READ: readonly ChainName[] = ['ethereum', 'base', 'solana', 'bitcoin'];
const KINDS: readonly TransferKind[] = ['native', 'token', 'internal', 'nft'];
const TIP_BLOCK = 1_000_000;

function wholeCoverage(chain: ChainName) {
  return KINDS.map((kind) => ({
    address: null,
    chain,
    kind,
    from_block: 0,
    to_block: TIP_BLOCK,
    to_time: STILL_NOW - MINUTE_S,
    from_first: true,
  }));
}

/** An entry of the list. */
export function entryOf(address: string): ListEntry {
  return {
    address,
    currency: 'XBT',
    entity: 'DOE, John',
    type: 'Individual',
    programs: ['CYBER2'],
    uid: '1001',
    remarks: null,
    listed_on: '2024-01-02',
    note: null,
  };
}

export const OTHER_LIST = 'another-authority';

/** An entry of a list of another authority. */
export function otherEntryOf(address: string): OtherListEntry {
  return {
    address,
    currency: 'ETH',
    entity: 'Doe, Jane',
    entity_type: 'Person',
    programs: 'EU-CYB',
    entry_id: 'eu-1',
    source_url: null,
    listed_at: '2025-01-02',
    ended_at: null,
    note: null,
    source: OTHER_LIST,
  };
}

/** A published article about an address. */
export function articleOf(subject: string): ReceiptFile {
  const slug = `case-of-${subject.slice(-8).toLowerCase()}`;
  const texts = { title: 'A case', description: 'What happened.', kind: 'wallet', body: 'Text.' };
  const receipt = { id: slug, slug, date: '2026-09-01', subject, deployer: subject, tags: [] };
  return { file: `${slug}.md`, state: 'published', receipt: { ...receipt, ...texts } };
}

/** A label of an exchange's wallet. */
export function labelOf(address: string, entity: string): ExchangeLabel {
  return {
    address,
    chain: null,
    label: `${entity}: Hot Wallet`,
    entity,
    role: 'hot',
    confidence: 'service_data',
    clusterable: false,
    source: 'tests',
    source_url: null,
    first_seen: '2026-01-01',
  };
}

/** The world of a plan. */
export function worldOf(plan: Plan): World {
  const { name, about, contradicts, days = [], on = null, item = about, chain = 'ethereum' } = plan;
  const { subjects = [STRANGERS.evm, about, about] } = plan;
  const facts = [{ name, about, on, chain, item, contradicts }];
  return worldOver(plan, { name, empty: false, subjects, days, facts });
}

/** The world in which nothing is held of those who are asked about. */
export function emptyWorld(days: readonly string[]): World {
  const subjects = Object.values(STRANGERS);
  return worldOver({}, { name: 'empty', empty: true, subjects, days, facts: [] });
}

function worldOver(
  planted: Planted,
  of: Pick<World, 'name' | 'empty' | 'subjects' | 'days' | 'facts'>,
): World {
  const { labels = [], entries = [], otherEntries = [], coverage, formerIds = [] } = planted;
  const as_of = STILL_NOW - HOUR_S;
  return {
    ...of,
    now: STILL_NOW,
    chainsRead: CHAINS_READ,
    unheld: coverage === undefined ? null : 'ethereum',
    ports: {
      ...memoryPorts(held(planted)),
      labelChanges: memoryLabelLog(
        [labelOf(evm('exchange elsewhere'), 'Elsewhere'), ...labels],
        as_of,
      ),
      otherListChanges: memoryOtherListLog(otherEntries, as_of),
      sanctionsChanges: memoryListChanges(entries, as_of),
      contractCreations: memoryCreations({ creations: [], whole: true, simulated: false, as_of }),
      entityTies: memoryNoTies(as_of, formerIds),
      launchMonths: memoryLaunchMonths([], as_of),
      screeningRecords: memoryRecords(STRANGERS.evm, as_of),
      servedVersions: memoryVersions(as_of),
      watchlist: memoryWatchlist(STRANGERS.evm, as_of),
    },
  };
}
