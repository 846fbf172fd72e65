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
  RingKeeping,
  RingLack,
  RingStatus,
} from '../../../ports/history/counterparty-ring.ts';
import type { TransferHistoryPort } from '../../../ports/history/transfer-history.ts';

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
  /** What is to be read of listed addresses of EVM chains, where these chains are read. */
  readonly lackOf: (
    coverage: RingCoverage,
    asked: Pick<RingAsked, 'listed' | 'chains'>,
  ) => RingLack;
  readonly now: () => number;
  readonly simulated: boolean;
};

type Known = {
  readonly addresses: Listed['addresses'];
  readonly chains: readonly ChainName[];
};

/** Keeps the ring of the list in force, and knows what there is to read for it. */
export function ringKeeping({
  ring,
  listed,
  chainsRead,
  gapsOf,
  lackOf,
  now,
  simulated,
}: Kept): RingKeeping & {
  readonly lack: () => Promise<Reading<RingLack, RawRingPort>>;
} {
  /** What is told of the list in force, on the chains that are read. */
  async function told<T>(work: (known: Known) => Promise<T>): Promise<Reading<T, RawRingPort>> {
    const list = await listed();
    const known = seen(map(list, ({ addresses }) => [addresses]));
    if (known === null) return unread(PORT, list instanceof Read ? NOTHING_LISTED : list.why);
    const chains = await chainsRead();
    if (!(chains instanceof Read)) return unread(PORT, chains.why);
    try {
      const value = await work({ addresses: known[0], chains: chains.value });
      return read(value, { port: PORT, source: warehouseSource(now(), simulated) });
    } catch (error) {
      return unread(PORT, unreadRing(error).why);
    }
  }

  const statusBy = (bringUp: (all: readonly string[]) => Promise<void>) =>
    told(async ({ addresses, chains }) => {
      const kinds = [...new Set(chains.map((chain) => CHAINS[chain].kind))];
      const all = kinds.flatMap((kind) => heldUnder(addresses, kind));
      await bringUp(all);
      const coverage = await ring.coverage(all);
      const gaps = kinds.flatMap((kind) => {
        const own = chains.filter((chain) => CHAINS[chain].kind === kind);
        return gapsOf(coverage, { listed: heldUnder(addresses, kind), chains: own });
      });
      return statusOf(ring.facts(), addresses, chains, gaps);
    });

  return {
    status: () => statusBy((all) => ring.bringUp(all)),
    rebuild: (progress) => statusBy((all) => ring.bringUp(all, { anew: true, told: progress })),
    lack: () =>
      told(async ({ addresses, chains }) => {
        const own = heldUnder(addresses, 'evm');
        return lackOf(await ring.coverage(own), { listed: own, chains });
      }),
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
