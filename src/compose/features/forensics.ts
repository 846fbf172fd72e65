// Answers one question: whence do chain facts come here: a node, the warehouse, an explorer.
// What costs nothing is asked first; the explorer, whose calls are counted, for the rest.

import type { Config } from '../../config.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import type { MixerRegistry } from '../../ports/accounts/mixer-registry.ts';
import { nodeFacts } from '../../sources/evm/node-of-account.ts';
import { explorerFacts } from '../../sources/explorer/account-facts.ts';
import type { ExplorerChain } from '../../sources/explorer/provider.ts';
import type { RpcLimits } from '../../sources/http/json-rpc.ts';
import { mixerRegistryFile } from '../../sources/registry/mixers-file.ts';
import { cascadedFacts } from '../../stores/history/account-facts.ts';
import { warehouseFacts } from '../../stores/warehouse/account-facts.ts';
import type { Warehouse } from '../../stores/warehouse/engine/executor.ts';
import { nowS } from '../clock.ts';
import { evmClients } from '../evm-clients.ts';
import type { Outside } from '../outside.ts';

/** A request waits for a node's state no longer than this. */
const STATE_LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 4 * 1024 * 1024,
  batchMax: 1,
  waitMaxMs: 1_000,
  attemptsMax: 2,
};
/** The registry of mixers that comes with the product. */
const MIXERS = new URL('../../../registry/mixers.csv', import.meta.url);
/** Calls of an explorer that one request may make for facts. */
const FACT_CALLS_MAX = 12;

/** Chain facts as they are composed. */
export type FactParts = {
  readonly chainFacts: ChainFacts;
  readonly mixerRegistry: MixerRegistry;
  readonly close: () => void;
};

/** Composes chain facts. Nothing is asked before it is asked of. */
export function factParts(
  config: Config,
  warehouse: Warehouse,
  outside: Outside,
  explorers: readonly ExplorerChain[],
): FactParts {
  const { simulate: simulated, liveBudgetMs: timeMs } = config;
  const clients = evmClients(outside, STATE_LIMITS);
  const nodes = [...clients.byChain].map(([chain, rpc]) => ({ chain, rpc }));
  const limits = { now: nowS, timeMs, callsMax: FACT_CALLS_MAX, simulated };
  return {
    chainFacts: cascadedFacts([
      nodeFacts({ nodes, simulated, now: nowS }),
      warehouseFacts(warehouse, nowS),
      explorerFacts({ chains: explorers, ...limits }),
    ]),
    mixerRegistry: mixerRegistryFile(MIXERS),
    close: clients.close,
  };
}
