// Each area has clients of its own, since how long it may wait for a node is its own matter.

import { EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import type { ProviderFacts, ProviderWatch } from '../ports/providers.ts';
import { type JsonRpc, jsonRpc, type RpcLimits } from '../sources/http/json-rpc.ts';
import { originText } from '../sources/http/outbound-call.ts';
import { UNWATCHED } from '../sources/http/provider-watch.ts';
import { pause } from './clock.ts';
import type { Outside } from './outside.ts';

/** The clients of the chains whose node is set. Whoever has them made closes them. */
export type EvmClients = {
  readonly byChain: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly close: () => void;
};

/** What rests on the nodes of an area, and who takes how their calls end. */
export type WatchedPorts = Pick<ProviderFacts, 'ports'> & Pick<ProviderWatch, 'watch'>;

/** Makes the client of one node. Without `watched` nobody takes how its calls end. */
export function evmClient(
  name: string,
  url: URL,
  limits: RpcLimits,
  watched: WatchedPorts | null,
): JsonRpc {
  const onCallEnd =
    watched === null
      ? UNWATCHED
      : watched.watch({ name, url: originText(url), ports: watched.ports, carries: null });
  return jsonRpc({ url, headers: {}, limits, sleep: pause, onCallEnd });
}

/** Makes the clients. Nothing is asked before they are. */
export function evmClients(
  { rpc }: Pick<Outside, 'rpc'>,
  limits: RpcLimits,
  watched: WatchedPorts | null,
): EvmClients {
  const byChain = new Map<EvmChainName, JsonRpc>();
  for (const chain of EVM_CHAINS) {
    const configured = rpc[chain];
    if (configured === null) continue;
    byChain.set(chain, evmClient(`Node of ${chain}`, new URL(configured), limits, watched));
  }
  return {
    byChain,
    close: () => {
      for (const client of byChain.values()) client.close();
    },
  };
}
