// Which ties were put into this memory?
// An adapter like the control store's, for tests: the same promises, and nothing survives it.

import type { ChainName } from '../../chain/chain.ts';
import { tally } from '../../evidence/measure.ts';
import { part, type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  BlockRange,
  ClusterStore,
  Examination,
  GivenWay,
  HeldTiesPort,
  Tie,
  TiedLimits,
} from '../../ports/entities/cluster-store.ts';
import { BlocksTaken, joinedRanges } from '../../stores/control/cluster-block-ranges.ts';
import { coveredTies } from '../../stores/control/covered-ties.ts';

const PORT = 'held_ties';

/** A memory of ties, and the means to make it silent. */
type MemoryClusterStore = {
  readonly store: ClusterStore;
  readonly fallSilent: (why: Why | null) => void;
};

type Said = <T>(value: () => T) => Reading<T, HeldTiesPort>;
type Held = {
  readonly ties: Map<string, Tie>;
  readonly services: Set<string>;
  readonly examinations: Map<string, Examination>;
  readonly members: Map<string, { readonly chain: ChainName; readonly cluster_id: string }>;
  readonly merges: (GivenWay & { readonly chain: string })[];
  readonly paid: Map<string, number>;
  ranges: readonly BlockRange[];
};

/** An empty memory of ties. `now` is Unix seconds. */
export function memoryClusterStore(simulated: boolean, now: () => number): MemoryClusterStore {
  const held: Held = {
    ties: new Map(),
    services: new Set(),
    examinations: new Map(),
    members: new Map(),
    merges: [],
    paid: new Map(),
    ranges: [],
  };
  let silence: Why | null = null;
  const origin = () => {
    const source = { name: 'Memory', url: 'memory:', as_of: now(), kind: 'table', simulated };
    return { port: PORT, source: { ...source, kind: 'table' } } as const;
  };
  const said: Said = (value) => {
    return silence === null ? read(value(), origin()) : unread(PORT, silence);
  };
  return {
    store: {
      covered: coveredTies,
      tiedTo: async (chain, addresses, limits) => {
        if (silence !== null) return unread(PORT, silence);
        const { tied, cut } = tiedIn(held, chain, addresses, limits);
        const limit = `${limits.addressesMax}`;
        if (cut) return part(tied, origin(), why('cluster_cut', { limit }));
        return simulated ? part(tied, origin(), why('simulated')) : read(tied, origin());
      },
      ...seenIn(held, said),
      ...notedIn(held, said),
      ...blocksIn(held, said),
    },
    fallSilent: (next) => {
      silence = next;
    },
  };
}

const under = (chain: string, address: string) => `${chain} ${address}`;
const keyOf = ({ chain, heuristic, key }: Tie) => JSON.stringify([chain, heuristic, key]);
const nameOf = (tie: Tie) => JSON.stringify([keyOf(tie), tie.address, tie.tx]);

function tiedIn(held: Held, chain: ChainName, asked: readonly string[], limits: TiedLimits) {
  const own = [...held.ties.values()].filter((one) => one.chain === chain);
  const met = new Set(asked);
  let ties: readonly Tie[] = [];
  let cut = false;
  for (let round = 0; ; round += 1) {
    const next = leadingOn(held, own, met, limits);
    if (next.length === ties.length) break;
    cut = round >= limits.roundsMax || met.size > limits.addressesMax;
    if (cut) break;
    ties = next;
    for (const { address } of ties) met.add(address);
  }
  const reused = [...held.paid].filter(([, times]) => times > 1).map(([address]) => address);
  const examined = asked.flatMap((one) => {
    const known = held.examinations.get(under(chain, one));
    return known === undefined ? [] : [[one, known] as const];
  });
  return { tied: { ties, reused: new Set(reused), examinations: new Map(examined) }, cut };
}

function leadingOn(
  { services }: Held,
  own: readonly Tie[],
  met: ReadonlySet<string>,
  { perKeyMax }: TiedLimits,
): readonly Tie[] {
  const keys = new Set<string>();
  for (const tie of own) {
    const { chain, address, key } = tie;
    const barred = services.has(under(chain, address)) || services.has(under(chain, key));
    if (met.has(address) && !barred) keys.add(keyOf(tie));
  }
  return own.filter((tie) => {
    const all = keys.has(keyOf(tie)) ? own.filter((one) => keyOf(one) === keyOf(tie)) : [];
    const size = new Set(all.map(({ address }) => address)).size;
    return size > 0 && size <= perKeyMax[tie.heuristic];
  });
}

function seenIn(held: Held, said: Said): Pick<ClusterStore, 'servicesAmong' | 'keep'> {
  return {
    servicesAmong: async (chain, addresses) =>
      said(() => new Set(addresses.filter((one) => held.services.has(under(chain, one))))),
    keep: async (chain, seen) =>
      said(() => {
        for (const tie of seen.ties) held.ties.set(nameOf(tie), tie);
        for (const { address } of seen.services) held.services.add(under(chain, address));
        for (const one of seen.examinations) {
          held.examinations.set(under(chain, one.address), one);
        }
        return null;
      }),
  };
}

function notedIn(
  { members, merges }: Held,
  said: Said,
): Pick<ClusterStore, 'settle' | 'givenWay' | 'memberOf'> {
  const note = (chain: ChainName, cluster_id: string, address: string, noted_at: number) => {
    const before = members.get(under(chain, address));
    const former_id = before === undefined ? cluster_id : before.cluster_id;
    const noted = merges.some(
      (one) => one.former_id === former_id && one.cluster_id === cluster_id,
    );
    if (former_id !== cluster_id && !noted) {
      merges.push({ chain, former_id, cluster_id, noted_at });
    }
    members.set(under(chain, address), { chain, cluster_id });
  };
  return {
    settle: async (chain, clusters, now) =>
      said(() => {
        for (const { cluster_id, members: joined } of clusters) {
          for (const address of joined) note(chain, cluster_id, address, now);
        }
        return null;
      }),
    givenWay: async (chain, clusterId) =>
      said(() =>
        merges
          .filter((one) => one.chain === chain && one.cluster_id === clusterId)
          .map(({ former_id, cluster_id, noted_at }) => ({ former_id, cluster_id, noted_at })),
      ),
    memberOf: async (clusterId) =>
      said(() => {
        let id: string | undefined = clusterId;
        while (id !== undefined) {
          const named: string = id;
          const found = [...members].find(([, one]) => one.cluster_id === named);
          if (found !== undefined) {
            const [name, { chain }] = found;
            return { chain, address: name.slice(chain.length + 1) };
          }
          id = merges.find(({ former_id }) => former_id === named)?.cluster_id;
        }
        return null;
      }),
  };
}

function blocksIn(
  held: Held,
  said: Said,
): Pick<ClusterStore, 'blocksHeld' | 'paidBefore' | 'keepBlocks'> {
  return {
    blocksHeld: async () => said(() => held.ranges),
    paidBefore: async (addresses) =>
      said(() => new Set(addresses.filter((one) => held.paid.has(one)))),
    keepBlocks: async ({ ties, paid, ranges }) => {
      try {
        return said(() => {
          held.ranges = joinedRanges(held.ranges, ranges);
          for (const tie of ties) held.ties.set(nameOf(tie), tie);
          for (const [address, times] of paid) {
            for (let n = 0; n < times; n += 1) tally(held.paid, address);
          }
          return null;
        });
      } catch (error) {
        if (!(error instanceof BlocksTaken)) throw error;
        return unread(PORT, why('store_unreadable', { what: 'Memory', fault: error.message }));
      }
    },
  };
}
