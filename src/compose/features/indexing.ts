// The transfer warehouse: imports of files, and nodes that are followed block by block.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { EVM_CHAINS } from '../../chain/chain.ts';
import { followable, followChains } from '../../features/indexing/follow-chain.job.ts';
import { type FollowLags, followLags } from '../../features/indexing/follow-lag.job.ts';
import { SETTLE_MS } from '../../features/indexing/follow-lease.job.ts';
import { moveTables } from '../../features/indexing/move-tables.job.ts';
import { warehouseFollow } from '../../features/indexing/warehouse-follow.command.ts';
import { warehouseForget } from '../../features/indexing/warehouse-forget.command.ts';
import { warehouseImport } from '../../features/indexing/warehouse-import.command.ts';
import { ringCommands } from '../../features/indexing/warehouse-ring.command.ts';
import { warehouseStatus } from '../../features/indexing/warehouse-status.command.ts';
import type { Followable } from '../../ports/indexing/chain-following.ts';
import { shownAddress } from '../../sources/http/outbound-call.ts';
import { followReportTable } from '../../stores/control/follow-reports.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { bulkImporter } from '../../stores/warehouse/bulk-import/bulk-import.ts';
import { READS_END_MS, warehouseForgetting } from '../../stores/warehouse/transfers/forget.ts';
import { importList } from '../../stores/warehouse/transfers/imports.ts';
import { tableMoving } from '../../stores/warehouse/transfers/move-by-chain.ts';
import type { GaugeReading } from '../../transport/metrics.ts';
import { nowS, pause } from '../clock.ts';
import { type Base, feature, type Job, type OpenedRests } from '../feature.ts';
import { followerProcess } from '../follower-process.ts';
import type { Logger } from '../logger.ts';
import type { Outside } from '../outside.ts';
import { openRing } from '../ring.ts';
import { history } from './history.ts';
import { sanctions } from './sanctions.ts';

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
    const nodes = nodesOf(outside);
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
      const node = { chain, source: shownAddress(new URL(url)) };
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
    const moving = tableMoving(warehouse, { now: nowS, sleep: pause });
    const tables = tablesJob({ moving, leases, settleMs }, log);
    const into = { warehouse, store, now: nowS };
    const importFiles = bulkImporter(into, join(config.dataDir, 'import'));
    return {
      ports: {},
      services: {
        warehouseImport: { simulated, importFiles },
        warehouseStatus: {
          status: store.status,
          followers: reports.all,
          tableMove: moving.status,
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
      tableMove: tables.report,
      jobs: [tables.job, followingJob(following, lags, log), ...ringed.jobs],
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

/** The nodes that are set, by their chain. */
function nodesOf({ rpc }: Outside) {
  return EVM_CHAINS.flatMap((chain) => {
    const url = rpc[chain];
    return url === null ? [] : [[chain, url] as const];
  });
}

const elapsedMs = () => performance.now();

/** Moves tables of an earlier version, in a process that serves: it tells how far it is. */
function tablesJob(
  given: Pick<Parameters<typeof moveTables>[0], 'moving' | 'leases' | 'settleMs'>,
  log: Logger,
) {
  const onBug = (fault: unknown) => log.error({ fault: String(fault) }, 'tables: a move failed');
  const { report, start } = moveTables({ ...given, sleep: pause, now: nowS, onBug });
  const job: Job = { name: 'moving tables', role: 'serve', start };
  return { report, job };
}

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

/** How far each followed chain is behind, for the metrics. */
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
