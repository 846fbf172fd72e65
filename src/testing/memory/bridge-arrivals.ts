// What do these logs and words, held in memory, say as those of chains and of status pages?

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ArrivalLog,
  BridgeArrivals,
  StatusTold,
} from '../../ports/bridges/bridge-arrivals.ts';
import type { BridgeChain } from '../../ports/bridges/bridge-registry.ts';

const PORT = 'bridge_arrivals';

/** What the memory holds. A chain that is not among these has no node. */
export type MemoryArrivals = {
  readonly logs: ReadonlyMap<BridgeChain, readonly ArrivalLog[]>;
  /** What pages say, by the transaction that sent it; left out, no page is set. */
  readonly pages?: ReadonlyMap<string, StatusTold>;
  /** Unix seconds of the newest block of each of them. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** Logs in memory, whenever they were made. */
export function memoryBridgeArrivals(held: MemoryArrivals): BridgeArrivals {
  const { as_of, simulated } = held;
  const about = { name: 'Logs in memory', url: 'memory:', as_of, simulated } as const;
  const source: Source = { ...about, kind: 'observation' };
  const missing = (chain: string) =>
    unread(PORT, why('not_configured', { what: `A node of ${chain}` }));
  return {
    lookUp: async ({ chain, contracts, topics, wanted }) => {
      const logs = [...held.logs].find(([one]) => one === chain)?.[1];
      if (logs === undefined) return missing(chain);
      const found = logs.filter(
        (one) =>
          contracts.includes(one.log.address) &&
          topics.includes(String(one.log.topics[0])) &&
          wanted(one),
      );
      return read({ found: found.slice(0, 1), head_time: as_of }, { port: PORT, source });
    },
    timeOf: async (chain) => missing(chain),
    pageOf: () => {
      const first = held.pages?.values().next().value;
      return first === undefined ? null : first.page;
    },
    statusOf: async ({ tx }) => {
      const told = held.pages?.get(tx);
      return told === undefined ? missing('a page') : read(told, { port: PORT, source });
    },
  };
}
