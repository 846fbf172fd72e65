// What a service takes while it is asked, looked at each second: its memory, its event loop and
// what waits in it; and whether any of it grows.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { treePssMib } from './children.ts';

/** One look. `null`: the service did not tell. */
type Look = {
  readonly s: number;
  readonly rss_mib: number;
  readonly tree_mib: number;
  readonly heap_mib: number | null;
  readonly loop_p99_ms: number | null;
  readonly under_way: number | null;
  readonly streams: number | null;
};

/** How much something grows in a minute: the middle and the ends of its 95% interval. */
export type Slope = { readonly middle: number; readonly lower: number; readonly upper: number };

const LOOK_MS = 1_000;
/** All processes are summed from their maps, which costs them more than a look at one. */
const TREE_EACH = 10;
const ANSWER_MS_MAX = 10_000;
const BYTES_PER_MIB = 1024 * 1024;
const MS_PER_S = 1_000;
const S_PER_MIN = 60;
/** A run is cut into so many spans; its first third fills what is held on purpose. */
const SPANS = 15;
const SPANS_LEFT_OUT = 5;
/** Student's t at 97.5% for the eight degrees of freedom of ten spans. */
const T_OF_SPANS = 2.306;

/** The sum of the samples of a metric; `null` where it has none. */
export function sampleIn(text: string, name: string): number | null {
  const found = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
  return found.length === 0 ? null : found.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The metrics of a service by its loopback port; `null` where it does not answer in time. */
export async function metricsAt(port: number): Promise<string | null> {
  try {
    const waits = { headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX };
    const answer = await request(`http://127.0.0.1:${port}/metrics`, waits);
    return await answer.body.text();
  } catch {
    return null;
  }
}

/** Looks at a service each second until it is ended. */
export function watchGauges(pid: number, opsPort: number) {
  const looks: Look[] = [];
  const began = performance.now();
  let isOver = false;
  let tree = treePssMib(pid);
  const watching = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const text = await metricsAt(opsPort);
      const of = (name: string) => (text === null ? null : sampleIn(text, name));
      const scaled = (value: number | null, by: number) => (value === null ? null : value * by);
      if (n % TREE_EACH === 0) tree = treePssMib(pid);
      looks.push({
        s: (performance.now() - began) / MS_PER_S,
        rss_mib:
          Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
        tree_mib: tree,
        heap_mib: scaled(of('nodejs_heap_size_used_bytes'), 1 / BYTES_PER_MIB),
        loop_p99_ms: scaled(of('nodejs_eventloop_lag_p99_seconds'), MS_PER_S),
        under_way: of('exhibit_requests_under_way'),
        streams: of('exhibit_stream_connections'),
      });
      await sleep(LOOK_MS);
    }
  })();
  return {
    end: async (): Promise<readonly Look[]> => {
      isOver = true;
      await watching;
      return looks;
    },
  };
}

/** The values of a look that were told. */
export function valuesOf(looks: readonly Look[], name: keyof Look): number[] {
  return looks.map((look) => look[name]).filter((value) => value !== null);
}

/**
 * How a value grows, by least squares over spans of the run: of each the least value, since a heap
 * goes up and down between two collections. `null`: too few looks to cut.
 */
export function slopeOf(looks: readonly Look[], name: keyof Look): Slope | null {
  const each = Math.floor(looks.length / SPANS);
  if (each < 2) return null;
  const points = Array.from({ length: SPANS }, (_, n) => {
    const span = looks.slice(n * each, (n + 1) * each);
    const at = span.reduce((sum, { s }) => sum + s, 0) / span.length / S_PER_MIN;
    return [at, Math.min(...valuesOf(span, name))] as const;
  }).slice(SPANS_LEFT_OUT);
  const mean = (of: 0 | 1) => points.reduce((sum, one) => sum + one[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const middle = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
  const rest = points.reduce((sum, [at, value]) => sum + (value - y - middle * (at - x)) ** 2, 0);
  const half = T_OF_SPANS * Math.sqrt(rest / (points.length - 2) / spread);
  return { middle, lower: middle - half, upper: middle + half };
}
