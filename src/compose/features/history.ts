// Answers one question: where does transfer history come from here, and who keeps it current.
// The warehouse first, then a live read inside its budget; where neither is, it is silent.

import { join } from 'node:path';
import { EVM_CHAINS } from '../../chain/chain.ts';
import type { Config } from '../../config.ts';
import type { ImportOrigin } from '../../evidence/origin.ts';
import { followable, POLL_MS, TIP_BLOCKS_MAX } from '../../features/indexing/follow-chain.job.ts';
import { type FollowLags, followLags } from '../../features/indexing/follow-lag.job.ts';
import type { Prices } from '../../ports/history/prices.ts';
import type { RawHistory, TransferHistory } from '../../ports/history/transfer-history.ts';
import type { BulkImport } from '../../ports/indexing/bulk-import.ts';
import type { Followable } from '../../ports/indexing/chain-following.ts';
import type { Leases } from '../../ports/indexing/leases.ts';
import type { TransferStore } from '../../ports/indexing/transfer-store.ts';
import { evmNode } from '../../sources/evm/node.ts';
import { explorerHistory } from '../../sources/explorer/history.ts';
import { liveHistory } from '../../sources/explorer/live-history.ts';
import {
  blockscoutChain,
  type ExplorerChain,
  etherscanChain,
} from '../../sources/explorer/provider.ts';
import { RPC_LIMITS } from '../../sources/http/json-rpc.ts';
import {
  type GuardLimits,
  type ProviderGuard,
  providerGuard,
} from '../../sources/http/provider-guard.ts';
import { defillamaPrices } from '../../sources/prices/defillama.ts';
import { pricedHistory, valuedHistory } from '../../sources/prices/priced-history.ts';
import { solanaHistory } from '../../sources/solana/history.ts';
import { cascadedHistory } from '../../stores/history/cascade.ts';
import { coveredHistory } from '../../stores/history/covered.ts';
import { bulkImporter } from '../../stores/warehouse/bulk-import/bulk-import.ts';
import type { Warehouse } from '../../stores/warehouse/engine/executor.ts';
import { warehouseHistory } from '../../stores/warehouse/history/warehouse.ts';
import { transferStore } from '../../stores/warehouse/transfers/store.ts';
import type { GaugeReading } from '../../transport/metrics.ts';
import { nowS, pause } from '../clock.ts';
import { type EvmClients, evmClients } from '../evm-clients.ts';
import type { Logger } from '../logger.ts';
import type { Outside } from '../outside.ts';

const MS_PER_S = 1_000;
/** Calls that one request may make outside while it reads history live. */
const LIVE_CALLS_MAX = 120;
const PRICE_CALLS_MAX = 8;
/** Calls a second by the providers' published plans (free ones). */
const PLAN_CALLS_PER_S = { etherscan: 3, blockscout: 5, solana: 4, prices: 8 };
const GUARD = { retriesMax: 2, backoffMs: 1_000, failuresMax: 5, restMs: 30_000 };

/** Transfer history as it is composed. */
export type HistoryParts = {
  readonly history: TransferHistory;
  readonly store: TransferStore;
  readonly importFiles: BulkImport;
  /** The chains whose node is set, each with one writer in this process. */
  readonly following: readonly Followable[];
  readonly lags: FollowLags;
  /** The explorers, each with the guard that all who ask it share. */
  readonly explorers: readonly ExplorerChain[];
  readonly close: () => void;
};

/** Composes history. Nothing is asked before it is asked of. */
export function historyParts(
  config: Config,
  warehouse: Warehouse,
  leases: Leases,
  outside: Outside,
  log: Logger,
): HistoryParts {
  const store = transferStore(warehouse, nowS);
  const held = warehouseHistory(warehouse, nowS, config.simulate);
  const explorers = explorersOf(outside);
  const live = liveParts(config, outside, explorers);
  const prices = pricesOf(config, outside);
  const tip = { now: nowS, tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S };
  const joined = {
    ...{ held, store, origin: originOf(config), ...tip },
    onUnkept: (reason: string) => log.warn({ reason }, 'live read: not kept'),
  };
  const priced = live === null || prices === null ? live : pricedHistory(live, prices);
  const known = priced === null ? held : cascadedHistory({ ...joined, live: priced });
  const raw = prices === null ? known : valuedHistory(known, prices);
  const nodes = evmClients(outside, RPC_LIMITS);
  return {
    history: coveredHistory(raw, tip),
    store,
    importFiles: bulkImporter(store, join(config.dataDir, 'import')),
    following: followedOn(nodes, config, store, leases),
    lags: followLags(nowS),
    explorers,
    close: nodes.close,
  };
}

function originOf({ simulate }: Config): ImportOrigin {
  return simulate ? 'simulated' : 'observed';
}

function guardOf({ callsPerS }: Outside, provider: keyof typeof PLAN_CALLS_PER_S): ProviderGuard {
  const limits: GuardLimits = {
    ...GUARD,
    callsPerS: callsPerS === null ? PLAN_CALLS_PER_S[provider] : callsPerS,
  };
  return providerGuard(limits, () => performance.now());
}

function explorersOf(outside: Outside): ExplorerChain[] {
  const { explorer, blockscout } = outside;
  const etherscan = explorer === null ? null : guardOf(outside, 'etherscan');
  return EVM_CHAINS.flatMap((chain) => {
    const own = blockscout[chain];
    if (own !== null) {
      return blockscoutChain(chain, { url: new URL(own), guard: guardOf(outside, 'blockscout') });
    }
    if (explorer === null || etherscan === null) return [];
    return etherscanChain(chain, { url: new URL(explorer.url), guard: etherscan }, explorer.key);
  });
}

function liveParts(
  config: Config,
  outside: Outside,
  chains: readonly ExplorerChain[],
): RawHistory | null {
  const limits = {
    now: nowS,
    timeMs: config.liveBudgetMs,
    callsMax: LIVE_CALLS_MAX,
    simulated: config.simulate,
  };
  const { solana: node } = outside;
  const evm = chains.length === 0 ? null : explorerHistory({ chains, ...limits });
  const solana =
    node === null
      ? null
      : solanaHistory({ url: new URL(node), guard: guardOf(outside, 'solana'), ...limits });
  return evm === null && solana === null ? null : liveHistory({ evm, solana });
}

function pricesOf(config: Config, outside: Outside): Prices | null {
  if (outside.prices === null) return null;
  return defillamaPrices({
    url: new URL(outside.prices),
    guard: guardOf(outside, 'prices'),
    now: nowS,
    timeMs: config.liveBudgetMs,
    callsMax: PRICE_CALLS_MAX,
    simulated: config.simulate,
  });
}

function followedOn(
  { byChain }: EvmClients,
  config: Config,
  store: TransferStore,
  leases: Leases,
): Followable[] {
  return [...byChain].map(([chain, rpc]) => {
    const world = {
      node: evmNode({ chain, rpc, simulated: config.simulate, now: nowS }),
      store,
      origin: originOf(config),
      now: nowS,
      sleep: pause,
      pollMs: POLL_MS,
      tipBlocksMax: TIP_BLOCKS_MAX,
    };
    return followable(world, { leases, sleep: pause });
  });
}

/** How far each followed chain is behind, for the metrics. */
export function lagGauges({ following, lags }: HistoryParts): GaugeReading[] {
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
