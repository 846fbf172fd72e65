// Each area has clients of its own, since how long it may wait for a node is its own matter.

import { EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import { type JsonRpc, jsonRpc, type RpcLimits } from '../sources/http/json-rpc.ts';
import { pause } from './clock.ts';
import type { Outside } from './outside.ts';

/** The clients of the chains whose node is set. Whoever has them made closes them. */
export type EvmClients = {
  readonly byChain: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly close: () => void;
};

/** Makes the clients. Nothing is asked before they are. */
export function evmClients({ rpc }: Pick<Outside, 'rpc'>, limits: RpcLimits): EvmClients {
  const byChain = new Map<EvmChainName, JsonRpc>();
  for (const chain of EVM_CHAINS) {
    const url = rpc[chain];
    if (url === null) continue;
    byChain.set(chain, jsonRpc({ url: new URL(url), headers: {}, limits, sleep: pause }));
  }
  return {
    byChain,
    close: () => {
      for (const client of byChain.values()) client.close();
    },
  };
}
