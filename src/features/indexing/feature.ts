// The transfer warehouse: imports of files, nodes that are followed block by block, and the ring
// around the list.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { EVM_CHAINS } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type Job,
  type OpenedRests,
  routeOrigin,
} from '../../compose/feature.ts';
import { followerProcess } from '../../compose/follower-process.ts';
import type { Logger } from '../../compose/logger.ts';
import type { Config } from '../../config.ts';
import type { Partly } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { RingFilling, TransferHistory } from '../../ports/history.ts';
import type { Followable, Leases, TransferStore } from '../../ports/indexing.ts';
import type { ListedAddresses, SanctionsListPort } from '../../ports/sanctions.ts';
import type { ExplorerChain } from '../../sources/explorer/envelope.ts';
import { explorerLists } from '../../sources/explorer/history.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { followReportTable } from '../../stores/control/follow-reports.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { ringGaps, ringLack } from '../../stores/history/covered.ts';
import { keptLists } from '../../stores/history/kept-lists.ts';
import { bulkImporter } from '../../stores/warehouse/bulk-import/bulk-import.ts';
import { ringCalls, ringKeeping, type WarehouseRing } from '../../stores/warehouse/ring/ring.ts';
import { READS_END_MS, warehouseForgetting } from '../../stores/warehouse/transfers/forget.ts';
import { importList } from '../../stores/warehouse/transfers/imports.ts';
import type { GaugeReading } from '../../transport/metrics.ts';
import type { RingHealth } from '../health/health.route.ts';
import { history } from '../history/feature.ts';
import { sanctions } from '../sanctions/feature.ts';
import {
  type FollowLags,
  followable,
  followChains,
  followLags,
  SETTLE_MS,
} from './follow-chain.job.ts';
import { keepFilling, keepRing, ringFilling } from './ring.job.ts';
import {
  warehouseFollow,
  warehouseForget,
  warehouseImport,
  warehouseStatus,
} from './warehouse.command.ts';
import { ringCommands } from './warehouse-ring.command.ts';

type Rested = OpenedRests<{ history: typeof history; sanctions: typeof sanctions }>;

export const indexing = feature({
  name: 'indexing',
  heading: 'The transfer warehouse',
  rests: { history, sanctions },
  open: (
    { config, database, warehouse, context, outside, log }: Base,
    { history: { store, ring, explorers, ports: held }, sanctions: { ports, services } }: Rested,
  ) => {
    const leases = leaseTable(database, randomUUID(), context);
    const reports = followReportTable(database, context);
    const lags = followLags(nowS);
    const { simulate: simulated, proxyUrl } = config;
    const proxy = proxyUrl === null ? null : proxyUrl.reveal();
    const nodes = EVM_CHAINS.flatMap((chain) => {
      const url = outside.rpc[chain];
      return url === null ? [] : [[chain, url] as const];
    });
    const child = followerProcess({
      warehouse,
      simulated,
      proxy,
      nodes: Object.fromEntries(nodes),
    });
    // Embedded, the engine ended with the process that asked it.
    const settleMs = warehouse.kind === 'remote' ? SETTLE_MS : 0;
    const following = nodes.map(([chain, url]) => {
      const follow: Parameters<typeof followable>[1] = (...given) => child.follow(chain, ...given);
      const node = { chain, source: originText(new URL(url)) };
      return followable(node, follow, { leases, sleep: pause, settleMs }, { reports, elapsedMs });
    });
    const ringed = openRing({
      config,
      warehouse,
      store,
      ring,
      explorers,
      leases,
      log,
      listed: async () => {
        await services.sanctions.poll();
        return ports.sanctionsList.listed();
      },
      chainsRead: () => held.transferHistory.chainsRead(),
    });
    const into = { warehouse, store, now: nowS };
    const importFiles = bulkImporter(into, join(config.dataDir, 'import'));
    return {
      ports: {},
      services: {
        warehouseImport: { simulated, importFiles },
        warehouseStatus: {
          status: store.status,
          followers: reports.all,
          ...importList(warehouse, nowS),
        },
        warehouseForget: warehouseForgetting(warehouse, nowS, (signal) =>
          pause(READS_END_MS, signal),
        ),
        warehouseRing: { ...ringed.keeping, filling: ringed.filling },
        following: { chains: following, elapsedMs },
        followers: reports.all,
      },
      gauges: lagGauges(following, lags),
      ringFacts: ringed.facts,
      jobs: [followingJob(following, lags, log), ...ringed.jobs],
      close: child.close,
    };
  },
  ports: {},
  commands: [warehouseImport, warehouseForget, warehouseFollow, warehouseStatus, ...ringCommands],
  optional: [
    {
      name: 'RPC endpoints',
      setting: 'EXHIBIT_RPC_<CHAIN>',
      // A node of Solana is asked for other things, and has a row of its own.
      isSet: ({ rpc }) => EVM_CHAINS.some((chain) => rpc[chain] !== null),
      without:
        'no EVM chain is followed: the warehouse holds what is imported, coverage ends there',
    },
  ],
});

const elapsedMs = () => performance.now();

function followingJob(following: readonly Followable[], lags: FollowLags, log: Logger): Job {
  const start = () =>
    followChains(
      following.map((chain) => ({ followable: chain, fromBlock: null })),
      {
        sleep: pause,
        onState: lags.onState,
        onEnd: (end) => log.warn(end, 'chain: no longer followed'),
        onBug: (fault) => log.error({ fault: String(fault) }, 'chain: following failed'),
      },
    );
  return { name: 'following', start };
}

function lagGauges(following: readonly Followable[], lags: FollowLags): GaugeReading[] {
  return following.flatMap(({ chain }) => [
    {
      name: `exhibit_chain_lag_seconds_${chain}`,
      help: `Time since the last block of ${chain} that is held was made.`,
      value: () => lags.lagS(chain),
    },
    {
      name: `exhibit_chain_lag_blocks_${chain}`,
      help: `Blocks between the last one of ${chain} that is held and its head.`,
      value: () => lags.lagBlocks(chain),
    },
  ]);
}

type RingParts = Pick<Base, 'config' | 'warehouse' | 'log'> & {
  readonly store: TransferStore;
  readonly ring: WarehouseRing;
  readonly explorers: readonly ExplorerChain[];
  readonly leases: Leases;
  readonly listed: () => Promise<Partly<ListedAddresses, SanctionsListPort>>;
  readonly chainsRead: TransferHistory['chainsRead'];
};

/** Opens what keeps the ring; its jobs begin with the service. */
export function openRing(parts: RingParts) {
  const { config, warehouse, store, ring, explorers, leases, listed, chainsRead, log } = parts;
  const tip = { now: nowS, tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S };
  const lists = explorerLists({ chains: explorers, now: nowS });
  const { kinds } = lists;
  const { lack, ...keeping } = ringKeeping({
    ring,
    listed,
    chainsRead,
    gapsOf: (coverage, asked) => ringGaps(coverage, asked, tip),
    lackOf: (coverage, asked) => ringLack(coverage, { ...asked, kinds }, tip),
    now: nowS,
    simulated: config.simulate,
  });
  const off = offBecause(config, explorers);
  const reading = {
    lists: keptLists({ lists, store, origin: routeOrigin(config), now: nowS }),
    lack,
    calls: ringCalls(warehouse, nowS),
    callsADay: config.ringCallsADay,
    leases,
    now: nowS,
  };
  const filling = off === null ? ringFilling(reading) : neverFilled(off, config);
  const isReading = () => filling.state().state === 'reading';
  const onBug = (fault: unknown) => log.error({ fault: String(fault) }, 'ring: a turn failed');
  const again = { sleep: pause, onBug };
  const keeper = keepRing({ ...again, status: keeping.status, isReading, now: nowS });
  let fills = off !== null;
  const fill = (watch: WatchRun) => {
    fills = true;
    return keepFilling(filling, again, watch);
  };
  const keep: Job = { name: 'ring', role: 'serve', start: keeper.start };
  const facts: RingHealth = {
    report: keeper.report,
    filling: () => (fills ? filling.state() : null),
  };
  const ahead: Job = { name: 'ring read ahead', start: fill };
  const jobs = off === null ? [keep, ahead] : [keep];
  return { keeping, filling, facts, jobs };
}

/** Why nobody reads ahead; `null` where this deployment does. */
function offBecause(config: Config, explorers: readonly ExplorerChain[]): Why | null {
  // Made-up history denies nothing, however much of it is held.
  if (config.simulate) return why('simulated');
  if (explorers.length === 0) return why('not_configured', { what: 'An explorer' });
  const what = 'Reading listed addresses ahead (EXHIBIT_RING_CALLS is 0)';
  return config.ringCallsADay === 0 ? why('not_configured', { what }) : null;
}

function neverFilled(because: Why, { ringCallsADay: calls_a_day }: Config): RingFilling {
  const none = { lists_held: 0, lists: 0, calls_today: 0, calls_a_day } as const;
  const state = { state: 'off', why: because, since: nowS(), ...none } as const;
  return { state: () => state, fill: async () => state };
}
