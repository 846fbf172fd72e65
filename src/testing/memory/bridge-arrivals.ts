// What do logs, payments and words that are held in memory say as those of chains and of pages?

import { read, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ArrivalLog,
  BridgeArrivals,
  BridgeChain,
  DepositStatus,
  Payment,
} from '../../ports/bridges.ts';

const PORT = 'bridge_arrivals';

/** What the memory holds. A chain that is not among these has no node. */
export type MemoryArrivals = {
  readonly logs: ReadonlyMap<BridgeChain, readonly ArrivalLog[]>;
  /** What was paid to whom, oldest first. A chain that is not among these is not held. */
  readonly paid?: ReadonlyMap<BridgeChain, readonly (Payment & { readonly to: string })[]>;
  /** Whether transfers are held only in part. */
  readonly gap?: boolean;
  /** What pages say, by the transaction that sent it; left out, no page is set. */
  readonly pages?: ReadonlyMap<string, DepositStatus>;
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
    paidTo: async ({ chain, recipient, since, until }) => {
      const all = [...(held.paid ?? NOBODY_PAID)].find(([one]) => one === chain)?.[1];
      const gap = why('arrivals_not_held', { chain });
      if (all === undefined) return unread(PORT, gap);
      const payments = all
        .filter(({ to, at }) => to === recipient && at >= since && at <= until)
        .map(({ to: _, ...payment }) => payment);
      const whole = read({ payments, head_time: as_of }, { port: PORT, source });
      if (simulated) return weaken(whole, why('simulated'));
      return held.gap === true ? weaken(whole, gap) : whole;
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

const NOBODY_PAID: NonNullable<MemoryArrivals['paid']> = new Map();
