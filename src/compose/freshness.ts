// Tells how old each source is that this process serves from. It asks the ports for nothing in
// particular and looks at what their readings rest on.

import { formatIsoDate } from '../chain/time.ts';
import type { Config } from '../config.ts';
import { listOrNone } from '../evidence/measure.ts';
import { basis, map, Part, type Partly, rowsSeen, Unread, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { SourceFreshness } from '../features/health/health.route.tsx';
import { nowS } from './clock.ts';
import type { Clocks, FrozenSource, PortFacts } from './feature.ts';
import type { Outside } from './outside.ts';

/** A port under the name that wires it. Its feature's declaration checked its facts. */
export type Handed = {
  readonly key: string;
  readonly facts: PortFacts<object>;
  readonly port: object;
};

/** A port of a deployment, with what is said of it to those who look at all ports. */
export type DatedSource = {
  readonly facts: Omit<PortFacts<object>, 'freshness'>;
  readonly age: () => Promise<SourceFreshness>;
};

/** Nobody waits longer for a source's age than this. */
const ASK_MS_MAX = 1_000;

/** The sources of a deployment: every port but those that are as old as another. */
export function datedSources(
  handed: readonly Handed[],
  config: Config,
  outside: Outside,
  clocks: Clocks,
): DatedSource[] {
  return handed.flatMap(({ facts, port }) => {
    const { freshness, ...shown } = facts;
    if (freshness.kind === 'shown_with') return [];
    if (freshness.kind === 'read_anew') {
      return {
        facts: shown,
        age: async () => anew(await inTime(freshness.ask(port), facts.title)),
      };
    }
    if (freshness.kind === 'per_answer') {
      return {
        facts: shown,
        age: async () => {
          const reason = freshness.absence(outside);
          return { ...NO_AGE, state: reason === null ? 'per_answer' : 'never_loaded', reason };
        },
      };
    }
    const age = async () => {
      const reading = await inTime(freshness.ask(port), facts.title);
      const notes = freshness.notes === undefined ? null : rowsSeen(await freshness.notes(port));
      const clock = clocks[facts.tag]?.() ?? nowS();
      const told = ageOf(reading, freshness.maxAgeS(config), clock);
      // A source that carries no negative says why; a fresh one, what there is to be told.
      return told.reason === null && notes !== null ? { ...told, reason: notes.join(' ') } : told;
    };
    return { facts: shown, age };
  });
}

/** The age of each source by its tag. */
export async function freshnessOf(
  sources: readonly DatedSource[],
): Promise<{ readonly [tag: string]: SourceFreshness }> {
  const ages = sources.map(async ({ facts, age }) => [facts.tag, await age()] as const);
  return Object.fromEntries(await Promise.all(ages));
}

async function inTime<T>(
  asked: Promise<Partly<T, never>>,
  title: string,
): Promise<Partly<T, never>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Unread<never>>((resolve) => {
    const silence = why('timed_out', { what: title, limit: '1 second' });
    timer = setTimeout(() => resolve(unread('source', silence)), ASK_MS_MAX);
  });
  const first = await Promise.race([asked, late]);
  clearTimeout(timer);
  return first;
}

/** The age of a source that each answer reads anew was not measured. */
function anew(reading: Partly<string | FrozenSource, never>): SourceFreshness {
  if (reading instanceof Unread) return ageOf(reading, null, nowS());
  const [said = null] = listOrNone(rowsSeen(map(reading, (says) => [says])));
  if (said === null || typeof said === 'string') {
    return { ...NO_AGE, state: 'per_answer', reason: said };
  }
  return { ...NO_AGE, state: 'frozen', reason: said.frozen };
}

const NO_AGE = { as_of: null, published: null, age_s: null, max_age_s: null };

function ageOf(
  reading: Partly<string | null, never>,
  max_age_s: number | null,
  now: number,
): SourceFreshness {
  if (reading instanceof Unread) {
    const { code, reason } = reading.why;
    const silent = code === 'store_unreadable' || code === 'timed_out';
    const state = silent ? 'unreadable' : 'never_loaded';
    return { ...NO_AGE, state, max_age_s, reason };
  }
  const [source] = basis(reading).sources;
  const as_of = source === undefined ? null : source.as_of;
  const said = rowsSeen(map(reading, (day) => (day === null ? [] : [day])));
  const [day = null] = listOrNone(said);
  // What is made up denies nothing, and is as old as it is: simulating makes nothing stale.
  const isStale = reading instanceof Part && reading.why.code !== 'simulated';
  return {
    state: isStale ? 'stale' : 'fresh',
    as_of,
    published: day === null && as_of !== null ? formatIsoDate(as_of) : day,
    age_s: as_of === null ? null : Math.max(now - as_of, 0),
    max_age_s,
    reason: reading instanceof Part ? reading.why.reason : null,
  };
}
