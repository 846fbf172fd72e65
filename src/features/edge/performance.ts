// How each version of a detector did: whether its rate of hits fades, whether it is given up, and
// what its rate may be. Each is a function of the record alone, so that a version that was given up
// stays given up.

import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import { type Beta, betaCdf, betaQuantile } from '../../evidence/distributions.ts';
import { countOrZero, tally } from '../../evidence/measure.ts';
import { estimateShare } from '../../evidence/statistics.ts';
import { DETECTOR_KINDS, type DetectorKind } from '../../ports/emitted-calls.ts';
import { BPS, clustersOf, intervalEnds, netReturn, worthOf } from './backtest.ts';
import { COST_BPS_DEFAULT } from './filters.ts';
import { CLOSED, type EdgeRecord } from './record.ts';
import type { Decay, DetectorStanding } from './shapes.ts';

/** Under so many closed calls nothing is told of a version. */
export const CLOSED_MIN = 30;
/** A call that is so many calls old weighs half of the newest one. */
export const HALF_LIFE = 30;
/** From so many closed calls on a version can be given up. */
const DEPRECATED_FROM = 100;
const DEPRECATED_UNDER = 0.05;
const LOOK_EACH_S = 7 * DAY_S;
const TAIL = 0.025;

/** The rate of hits that a version may have, by the clusters of its calls. */
export type Posterior = {
  readonly alpha: number;
  readonly beta: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** The chance that the rate is over a half. */
  readonly over_half: number;
};

export type VersionHealth = {
  readonly kind: DetectorKind;
  /** `null`: no version of the kind was in force yet. */
  readonly detector_version: string | null;
  readonly closed: number;
  readonly hits: number;
  readonly hit_rate: number | null;
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly effective_n: number;
  readonly decay: Decay;
  readonly deprecation: DetectorStanding;
  readonly posterior: Posterior | null;
  readonly weight: number | null;
};

/** What is known of a rate of which some hits were seen, from an even prior. */
export function posteriorOf(hits: number, misses: number): Posterior {
  const beta: Beta = { a: 1 + hits, b: 1 + misses };
  return {
    alpha: beta.a,
    beta: beta.b,
    mean: beta.a / (beta.a + beta.b),
    low: betaQuantile(TAIL, beta),
    high: betaQuantile(1 - TAIL, beta),
    over_half: 1 - betaCdf(0.5, beta),
  };
}

/** The closed calls of a version, by their closing. */
type Closed = {
  readonly hits: Uint8Array;
  readonly clusters: Uint32Array;
  readonly closedAt: Float64Array;
};

/** A rate whose calls weigh less the older they are, beside the rate of all. */
export function decayOf({ hits, clusters }: Omit<Closed, 'closedAt'>, count: number): Decay {
  if (count < CLOSED_MIN) return 'unknown';
  const weights = new Map<number, number>();
  let [weighted, total, all] = [0, 0, 0];
  for (let at = 0; at < count; at += 1) {
    const weight = 0.5 ** ((count - 1 - at) / HALF_LIFE);
    weighted += weight * Number(hits[at]);
    total += weight;
    all += Number(hits[at]);
    tally(weights, Number(clusters[at]), weight);
  }
  let squares = 0;
  for (const one of weights.values()) squares += one * one;
  const recent = intervalEnds(estimateShare(weighted / total, total ** 2 / squares));
  if (recent === null) return 'unknown';
  const rate = all / count;
  if (recent.high < rate) return 'decaying';
  return recent.low > rate ? 'improving' : 'stable';
}

/** The standing of a version: given up for good, on probation, or neither. */
export function deprecationOf(
  closed: Closed,
  inForceFrom: number,
  as_of: number,
): DetectorStanding {
  const { hits, clusters, closedAt } = closed;
  if (closedAt.length < CLOSED_MIN) return 'hypothesis';
  const sizes = new Map<number, number>();
  let [count, right, squares] = [0, 0, 0];
  for (; count < closedAt.length; ) {
    const cluster = Number(clusters[count]);
    const before = countOrZero(sizes.get(cluster));
    sizes.set(cluster, before + 1);
    squares += 2 * before + 1;
    right += Number(hits[count]);
    count += 1;
    if (count >= DEPRECATED_FROM && right * 2 < count) {
      const worth = count ** 2 / squares;
      const share = right / count;
      const beta = { a: 1 + share * worth, b: 1 + (1 - share) * worth };
      if (1 - betaCdf(0.5, beta) < DEPRECATED_UNDER) return 'deprecated';
    }
  }
  // The last two looks decide, each over what had closed by then.
  const looks = Math.floor((as_of - inForceFrom) / LOOK_EACH_S);
  const isDecayingAt = (look: number) => {
    const until = inForceFrom + look * LOOK_EACH_S;
    let seen = 0;
    while (seen < closedAt.length && Number(closedAt[seen]) <= until) seen += 1;
    return decayOf(closed, seen) === 'decaying';
  };
  return looks >= 2 && isDecayingAt(looks) && isDecayingAt(looks - 1) ? 'probation' : 'active';
}

/** The health of every version that was in force, by kind and age; each kind has a row. */
export function measureHealth(record: EdgeRecord): readonly VersionHealth[] {
  const rows = DETECTOR_KINDS.flatMap((kind) => {
    const versions = record.versions
      .filter((one) => one.kind === kind)
      .map(({ version, in_force_from }) => ({ version, in_force_from }));
    return versions.length === 0
      ? [{ kind, ...emptyHealth(null) }]
      : versions.map((one) => ({ kind, ...healthOf(record, one) }));
  });
  const sum = rows.reduce(
    (total, { posterior }) => total + (posterior === null ? 0 : posterior.over_half),
    0,
  );
  return rows.map((row) => {
    const { posterior } = row;
    return { ...row, weight: posterior === null ? null : posterior.over_half / sum };
  });
}

type Health = Omit<VersionHealth, 'kind' | 'weight'>;

function emptyHealth(detector_version: string | null): Health {
  return {
    detector_version,
    closed: 0,
    hits: 0,
    hit_rate: null,
    interval: null,
    effective_n: 0,
    decay: 'unknown',
    deprecation: 'hypothesis',
    posterior: null,
  };
}

function healthOf(
  record: EdgeRecord,
  { version, in_force_from }: { readonly version: string; readonly in_force_from: UnixSeconds },
): Health {
  const closed = closedCalls(record, version);
  const count = closed.hits.length;
  if (count === 0 || record.as_of === null) return emptyHealth(version);
  const hits = closed.hits.reduce((sum, one) => sum + one, 0);
  const effective_n = worthOf(closed.clusters);
  const hit_rate = hits / count;
  return {
    detector_version: version,
    closed: count,
    hits,
    hit_rate,
    interval: intervalEnds(estimateShare(hit_rate, effective_n)),
    effective_n,
    decay: decayOf(closed, count),
    deprecation: deprecationOf(closed, in_force_from, record.as_of),
    posterior: posteriorOf(hit_rate * effective_n, (1 - hit_rate) * effective_n),
  };
}

function closedCalls(record: EdgeRecord, version: string): Closed {
  const { calls, columns } = record;
  const places: number[] = [];
  for (const [at, call] of calls.entries()) {
    if (call.detector_version === version && columns.state[at] === CLOSED) places.push(at);
  }
  places.sort((a, b) => Number(columns.closedAt[a]) - Number(columns.closedAt[b]) || a - b);
  const own = Uint32Array.from(places);
  const cost = COST_BPS_DEFAULT / BPS;
  return {
    hits: Uint8Array.from(own, (at) => (netReturn(record, at, cost) > 0 ? 1 : 0)),
    clusters: clustersOf(record, own),
    closedAt: Float64Array.from(own, (at) => Number(columns.closedAt[at])),
  };
}
