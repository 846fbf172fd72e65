// Which addresses does the evidence join, under which id, and which clusters became one when?
// Evidence may come in any order and in any number of pieces: the clusters, their ids and their
// history follow from what the evidence says, not from when it came.

import { collect, heldUnder } from '../../evidence/measure.ts';
import { byAge, type EvidenceItem } from './evidence.ts';

/** Two clusters that one item made one. The younger's id gave way. */
export type Merge = {
  readonly former_id: string;
  readonly into_id: string;
  /** Unix seconds. */
  readonly at: number;
  /** The item that joined them. */
  readonly by: string;
};

/** Addresses joined by evidence. */
export type Cluster = {
  /** The name of its oldest item: what comes later never changes it. */
  readonly cluster_id: string;
  /** In the order of their codes. */
  readonly members: readonly string[];
  /** The oldest first. */
  readonly items: readonly EvidenceItem[];
};

/** A step of the way from one member to another. */
export type Step = { readonly from: string; readonly to: string; readonly item: EvidenceItem };

/** A union-find over evidence that grows. */
type Forest = {
  /** Takes items in; one that is known by its id takes the place of the earlier one. */
  readonly add: (items: Iterable<EvidenceItem>) => void;
  /** The cluster of an address; `null` where no item names it. */
  readonly clusterOf: (address: string) => Cluster | null;
  /** Every cluster, by its id. */
  readonly clusters: () => Cluster[];
};

/** The id of the cluster that an item began. */
function clusterIdOf({ chain, id }: Pick<EvidenceItem, 'chain' | 'id'>): string {
  return `${chain}:${id}`;
}

/** An empty forest. An item whose addresses became fewer needs a new one: joins are not undone. */
export function clusterForest(): Forest {
  const parents = new Map<string, string>();
  const items = new Map<string, EvidenceItem>();

  function rootOf(address: string): string {
    let root = address;
    for (let up = parents.get(root); up !== undefined && up !== root; up = parents.get(root)) {
      root = up;
    }
    // The way is halved for whoever asks next.
    for (let at = address; at !== root; ) {
      const up = parents.get(at);
      parents.set(at, root);
      at = up === undefined ? root : up;
    }
    return root;
  }

  function join(a: string, b: string): void {
    const [one, other] = [rootOf(a), rootOf(b)].sort();
    if (one === undefined || other === undefined) return;
    parents.set(one, one);
    parents.set(other, one);
  }

  function clusters(): Cluster[] {
    const members = new Map<string, string[]>();
    for (const address of parents.keys()) collect(members, rootOf(address), address);
    const owned = new Map<string, EvidenceItem[]>();
    for (const item of items.values()) collect(owned, rootOf(firstOf(item)), item);
    return [...members]
      .map(([root, joined]) => clusterFrom(joined, heldUnder(owned, root)))
      .sort((a, b) => (a.cluster_id < b.cluster_id ? -1 : 1));
  }

  return {
    add: (more) => {
      for (const item of more) {
        items.set(item.id, item);
        for (const address of item.addresses) join(firstOf(item), address);
      }
    },
    clusterOf: (address) => {
      if (!parents.has(address)) return null;
      const root = rootOf(address);
      const joined = [...parents.keys()].filter((one) => rootOf(one) === root);
      const own = [...items.values()].filter((item) => rootOf(firstOf(item)) === root);
      return clusterFrom(joined, own);
    },
    clusters,
  };
}

function firstOf({ addresses }: EvidenceItem): string {
  const [first] = addresses;
  if (first === undefined) throw new Error('forest: an item without addresses');
  return first;
}

function clusterFrom(members: readonly string[], own: readonly EvidenceItem[]): Cluster {
  const items = [...own].sort(byAge);
  const [oldest] = items;
  if (oldest === undefined) throw new Error('forest: a cluster without evidence');
  return { cluster_id: clusterIdOf(oldest), members: [...members].sort(), items };
}

/** How a cluster grew together: its items taken in from the oldest on. */
export function mergesOf({ items }: Pick<Cluster, 'items'>): Merge[] {
  const clusterAt = new Map<string, EvidenceItem>();
  const held = new Map<string, string[]>();
  const merges: Merge[] = [];
  for (const item of [...items].sort(byAge)) {
    const met = foundersOf(item, clusterAt).sort(byAge);
    const [oldest, ...younger] = met;
    const founder = oldest === undefined ? item : oldest;
    const into_id = clusterIdOf(founder);
    for (const one of younger) {
      merges.push({ former_id: clusterIdOf(one), into_id, at: item.at, by: item.id });
    }
    const moved = younger.flatMap(({ id }) => heldUnder(held, id));
    for (const address of new Set([...item.addresses, ...moved])) {
      if (clusterAt.get(address) === founder) continue;
      clusterAt.set(address, founder);
      collect(held, founder.id, address);
    }
  }
  return merges;
}

function foundersOf(item: EvidenceItem, at: ReadonlyMap<string, EvidenceItem>): EvidenceItem[] {
  const founders = new Set<EvidenceItem>();
  for (const address of item.addresses) {
    const founder = at.get(address);
    if (founder !== undefined) founders.add(founder);
  }
  return [...founders];
}

/**
 * The fewest items that lead from an address to each member, the older item where two ways are as
 * short. The address itself has no step to go.
 */
export function pathsFrom(
  items: readonly EvidenceItem[],
  from: string,
): ReadonlyMap<string, readonly Step[]> {
  const naming = new Map<string, EvidenceItem[]>();
  for (const item of [...items].sort(byAge)) {
    for (const address of item.addresses) collect(naming, address, item);
  }
  const paths = new Map<string, readonly Step[]>([[from, []]]);
  // A map is walked in the order in which it was filled, also while it is: the nearest come first.
  for (const [next, path] of paths) {
    for (const item of heldUnder(naming, next)) {
      for (const address of item.addresses) {
        if (!paths.has(address)) paths.set(address, [...path, { from: next, to: address, item }]);
      }
    }
  }
  return paths;
}
