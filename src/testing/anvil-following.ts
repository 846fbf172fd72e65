import { setTimeout as wait } from 'node:timers/promises';
import { followChain, TIP_BLOCKS_MAX } from '../features/indexing/follow-chain.job.ts';
import { tenure } from '../ports/transfer-store.suite.ts';
import { evmNode } from '../sources/evm/node.ts';
import { jsonRpc, RPC_LIMITS } from '../sources/http/json-rpc.ts';
import { transferStore } from '../stores/warehouse/transfers/store.ts';
import type { Anvil } from './anvil.ts';

const FOLLOWING_MAX_MS = 20_000;

/** Takes the chain of a node into the warehouse up to its head. `now`: Unix seconds. */
export async function followAnvil(
  anvil: Anvil,
  warehouse: Parameters<typeof transferStore>[0],
  now: () => number,
): Promise<void> {
  const sleep = async (ms: number, signal?: AbortSignal) =>
    void (await wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => null));
  const rpc = jsonRpc({ url: anvil.url, headers: {}, limits: RPC_LIMITS, sleep });
  const head = Number(await anvil.ask('eth_blockNumber'));
  const stop = AbortSignal.timeout(FOLLOWING_MAX_MS);
  const done = new AbortController();
  const node = evmNode({ chain: 'ethereum', rpc, simulated: false, now });
  const store = transferStore(warehouse, now);
  const world = { node, store, origin: 'observed' as const, now, sleep, pollMs: 5 };
  await followChain(
    { ...world, tipBlocksMax: TIP_BLOCKS_MAX },
    0,
    {
      signal: AbortSignal.any([stop, done.signal]),
      onState: ({ last_block, fault }) => {
        if (last_block === head && fault === null) done.abort();
      },
    },
    tenure(),
  );
  rpc.close();
}
