// The transfer warehouse: imports of files, and nodes that are followed block by block.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  FOLLOW_POLL_MS,
  followable,
  followChains,
  TIP_BLOCKS_MAX,
} from '../../features/indexing/follow-chain.job.ts';
import { type FollowLags, followLags } from '../../features/indexing/follow-lag.job.ts';
import { warehouseFollow } from '../../features/indexing/warehouse-follow.command.ts';
import { warehouseForget } from '../../features/indexing/warehouse-forget.command.ts';
import { warehouseImport } from '../../features/indexing/warehouse-import.command.ts';
import { warehouseStatus } from '../../features/indexing/warehouse-status.command.ts';
import type { Followable } from '../../ports/indexing/chain-following.ts';
import { evmNode } from '../../sources/evm/node.ts';
import { RPC_LIMITS } from '../../sources/http/json-rpc.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { bulkImporter } from '../../stores/warehouse/bulk-import/bulk-import.ts';
import { READS_END_MS, warehouseForgetting } from '../../stores/warehouse/transfers/forget.ts';
import type { GaugeReading } from '../../transport/metrics.ts';
import { nowS, pause } from '../clock.ts';
import { evmClients } from '../evm-clients.ts';
import { type Base, feature, type Job, type OpenedRests, originOf } from '../feature.ts';
import type { Logger } from '../logger.ts';
import { history } from './history.ts';

type Rested = OpenedRests<{ history: typeof history }>;

export const indexing = feature({
  name: 'indexing',
  heading: 'The transfer warehouse',
  rests: { history },
  open: (
    { config, database, warehouse, context, outside, log }: Base,
    { history: { store } }: Rested,
  ) => {
    const leases = leaseTable(database, randomUUID(), context);
    const nodes = evmClients(outside, RPC_LIMITS);
    const lags = followLags(nowS);
    const { simulate: simulated } = config;
    const following = [...nodes.byChain].map(([chain, rpc]) => {
      const world = {
        node: evmNode({ chain, rpc, simulated, now: nowS }),
        store,
        origin: originOf(config),
        now: nowS,
        sleep: pause,
        pollMs: FOLLOW_POLL_MS,
        tipBlocksMax: TIP_BLOCKS_MAX,
      };
      return followable(world, { leases, sleep: pause });
    });
    const importFiles = bulkImporter(store, join(config.dataDir, 'import'));
    return {
      ports: {},
      services: {
        warehouseImport: { simulated, importFiles },
        warehouseStatus: store,
        warehouseForget: warehouseForgetting(warehouse, nowS, (signal) =>
          pause(READS_END_MS, signal),
        ),
        following: { chains: following, elapsedMs: () => performance.now() },
      },
      gauges: lagGauges(following, lags),
      jobs: [followingJob(following, lags, log)],
      close: nodes.close,
    };
  },
  ports: {},
  commands: [warehouseImport, warehouseForget, warehouseFollow, warehouseStatus],
  optional: [
    {
      name: 'RPC endpoints',
      setting: 'EXHIBIT_RPC_<CHAIN>',
      isSet: ({ rpc }) => Object.values(rpc).some((url) => url !== null),
      without: 'no chain is followed: the warehouse holds what is imported, coverage ends there',
    },
  ],
});

function followingJob(following: readonly Followable[], lags: FollowLags, log: Logger): Job {
  const start = () =>
    followChains(
      following.map((chain) => ({ followable: chain, fromBlock: null })),
      {
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
