// Answers one question: what does the ring of the list in force hold and lack, by chain?

import { CHAINS, type ChainName } from '../../../chain/chain.ts';
import { heldUnder } from '../../../evidence/measure.ts';
import {
  map,
  type Partly,
  Read,
  type Reading,
  read,
  seen,
  unread,
} from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type {
  RawRingPort,
  RingAsked,
  RingCoverage,
  RingGap,
} from '../../../ports/history/counterparty-ring.ts';
import type { TransferHistoryPort } from '../../../ports/history/transfer-history.ts';
import type { RingKeeping, RingStatus } from '../../../ports/indexing/ring-keeping.ts';
import type { Listed, SanctionsListPort } from '../../../ports/sanctions/sanctions-list.ts';
import { warehouseSource } from '../transfers/warehouse-reading.ts';
import { unreadRing, type WarehouseRing } from './ring.ts';

const PORT: RawRingPort = 'raw_ring';
const NOTHING_LISTED = why('ring_unbuilt', { cause: 'the list names nobody' });

type Kept = {
  readonly ring: Pick<WarehouseRing, 'bringUp' | 'facts' | 'coverage'>;
  /** The list in force, read anew. */
  readonly listed: () => Promise<Partly<Listed, SanctionsListPort>>;
  readonly chainsRead: () => Promise<Reading<readonly ChainName[], TransferHistoryPort>>;
  readonly gapsOf: (
    coverage: RingCoverage,
    asked: Pick<RingAsked, 'listed' | 'chains'>,
  ) => readonly RingGap[];
  readonly now: () => number;
  readonly simulated: boolean;
};

/** Keeps the ring of the list in force. */
export function ringKeeping({
  ring,
  listed,
  chainsRead,
  gapsOf,
  now,
  simulated,
}: Kept): RingKeeping {
  async function told(
    bringUp: (all: readonly string[]) => Promise<void>,
  ): Promise<Reading<RingStatus, RawRingPort>> {
    const list = await listed();
    const known = seen(map(list, ({ addresses }) => [addresses]));
    if (known === null) return unread(PORT, list instanceof Read ? NOTHING_LISTED : list.why);
    const chains = await chainsRead();
    if (!(chains instanceof Read)) return unread(PORT, chains.why);
    const kinds = [...new Set(chains.value.map((chain) => CHAINS[chain].kind))];
    const all = kinds.flatMap((kind) => heldUnder(known[0], kind));
    try {
      await bringUp(all);
      const coverage = await ring.coverage(all);
      const gaps = kinds.flatMap((kind) => {
        const own = chains.value.filter((chain) => CHAINS[chain].kind === kind);
        return gapsOf(coverage, { listed: heldUnder(known[0], kind), chains: own });
      });
      const status = statusOf(ring.facts(), known[0], chains.value, gaps);
      return read(status, { port: PORT, source: warehouseSource(now(), simulated) });
    } catch (error) {
      return unread(PORT, unreadRing(error).why);
    }
  }
  return {
    status: () => told((all) => ring.bringUp(all)),
    rebuild: (progress) => told((all) => ring.bringUp(all, { anew: true, told: progress })),
  };
}

function statusOf(
  { pairs, bytes, build_ms, byChain }: ReturnType<WarehouseRing['facts']>,
  addresses: Listed['addresses'],
  chains: readonly ChainName[],
  gaps: readonly RingGap[],
): RingStatus {
  const rows = chains.map((chain) => {
    const own = heldUnder(addresses, CHAINS[chain].kind);
    const lacking = new Set(gaps.flatMap((gap) => (gap.chain === chain ? [gap.listed] : [])));
    const held = byChain.find((one) => one.chain === chain);
    return {
      chain,
      listed: own.length,
      held_in_full: own.length - lacking.size,
      pairs: held === undefined ? 0 : held.pairs,
    };
  });
  const kinds = new Set(chains.map((chain) => CHAINS[chain].kind));
  const listed = [...kinds].reduce((sum, kind) => sum + heldUnder(addresses, kind).length, 0);
  return { listed, pairs, bytes, build_ms, chains: rows, gaps };
}
