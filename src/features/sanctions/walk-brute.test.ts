// The walk against a search that shares nothing with it: every path written out, then the best.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../chain/address.ts';
import { map, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { RingExtent } from '../../ports/history.ts';
import {
  bestOf,
  degreeOf,
  everyPath,
  type Graph,
  graphs,
  hubContacts,
  isWay,
  subjectOf,
} from '../../testing/brute-walk.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { trialsOf } from '../../testing/trials.ts';
import { fullCoverage } from '../../testing/twins/history.ts';
import { listedEntry, walkedPorts } from '../../testing/walked-world.ts';
import { proximity, settledWalk, WALK_LIMITS, type Walk, type WalkPort } from './walk.ts';
import { stopsOf } from './walk-hop.ts';

/** Random graphs of each kind; more where a longer trial is wanted. */
const GRAPHS = trialsOf('EXHIBIT_TEST_GRAPHS', 500, 5_000);
type Bounds = { readonly nodesMax: number; readonly rowsMax: number; readonly degreeMax: number };
const ROOMY: Bounds = { nodesMax: 1_000, rowsMax: 1_000, degreeMax: 1_000 };

async function walk(
  graph: Graph,
  bounds: Bounds,
  ring: RingExtent = 'absent',
): Promise<Partly<Walk, WalkPort>> {
  const chains = ['ethereum', 'base'] as const;
  const coverage = chains.flatMap((chain) => fullCoverage(chain, STILL_NOW - 60));
  const ports = walkedPorts({
    now: STILL_NOW,
    transfers: graph.transfers,
    listed: graph.listed.map(listedEntry),
    labels: null,
    history: { chains, coverage },
    ring,
  });
  const signal = new AbortController().signal;
  const limits = { ...WALK_LIMITS, ...bounds };
  const subject = parseAddress(subjectOf(graph));
  if (subject === null) throw new Error('test: the subject is no address');
  return proximity(ports, subject, limits, { signal });
}

function pathIn(one: Walk): string[] | null {
  return one.found === null ? null : stopsOf(one.found.way);
}

/** How often each way of ending was met, so that none can silently go untested. */
function tallied(met: Map<string, number>, what: string): void {
  met.set(what, (met.get(what) ?? 0) + 1);
}

describe('random graphs', () => {
  test('met with the ring it agrees too, shows every hub beside the list, and has no budget', async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(graphs, fc.constantFrom(2, 2, 2, 1_000), async (graph, degreeMax) => {
        const bounds = { ...ROOMY, nodesMax: 1, degreeMax };
        const reading = await walk(graph, bounds, 'whole');
        if (degreeOf(graph, subjectOf(graph)) > degreeMax) {
          expect(reading instanceof Unread && reading.why.code).toBe('high_degree');
          return;
        }
        const best = bestOf(graph, degreeMax);
        const settled = settledWalk(reading);
        if (!(settled instanceof Read)) throw new Error('test: the walk settled nothing');
        const { value } = settled;
        tallied(met, best === null ? 'no path' : `${best.length - 1} hops`);
        expect(pathIn(value)).toEqual(best);
        if (best?.length === 2) return;
        expect(reading).toBeInstanceOf(Read);
        const near = everyPath(graph, degreeMax).filter(({ stops }) => stops.length === 2);
        expect(value.nodes_examined).toBe(near.length);
        const contacts = hubContacts(graph, degreeMax);
        if (contacts.length > 0) tallied(met, 'hub contacts');
        const shown = value.hub_contacts.map((one) => `${one.address} ${one.listed_address}`);
        expect(shown.sort()).toEqual(contacts.sort());
        expect(value.hub_contacts_count).toBe(contacts.length);
        expect(value.node_budget_hit).toBe(false);
      }),
      { numRuns: GRAPHS },
    );
    for (const what of ['no path', '1 hops', '2 hops', 'hub contacts']) {
      expect(met.get(what), what).toBeGreaterThan(1);
    }
  });

  test('inside its budget the walk agrees exactly with the search by hand', async () => {
    const met = new Map<string, number>();
    const degrees = fc.constantFrom(2, 2, 3, 1_000);
    await fc.assert(
      fc.asyncProperty(graphs, degrees, async (graph, degreeMax) => {
        const reading = await walk(graph, { ...ROOMY, degreeMax });
        if (degreeOf(graph, subjectOf(graph)) > degreeMax) {
          tallied(met, 'hub as subject');
          expect(reading instanceof Unread && reading.why.code).toBe('high_degree');
          return;
        }
        const best = bestOf(graph, degreeMax);
        const shown = rowsSeen(map(reading, (one) => [one]))?.[0];
        if (shown === undefined) throw new Error('test: nothing was seen');
        if (!(reading instanceof Read)) {
          // A hub that was left out is no negative as long as no ring tells whom it dealt with.
          expect(shown.causes.map(({ why }) => why.code)).toEqual(['hub_unread']);
          expect(shown.hubs_count).toBeGreaterThan(0);
          tallied(met, 'not looked');
        }
        const value = shown;
        tallied(met, best === null ? 'no path' : `${best.length - 1} hops`);
        expect(pathIn(value)).toEqual(best);
        if (best !== null) return;
        const reached = everyPath(graph, degreeMax).map(({ stops }) => stops);
        const near = new Set(reached.filter(({ length }) => length === 2).map((s) => s[1]));
        const hubs = [...near].filter((a) => degreeOf(graph, String(a)) > degreeMax);
        expect(value.nodes_examined).toBe(new Set(reached.map((stops) => stops.at(-1))).size);
        expect(value.hubs_count).toBe(hubs.length);
        expect(reading instanceof Read).toBe(hubs.length === 0);
        expect(value.frontier_exhausted).toBe(hubs.length === 0);
        expect(value.hops_examined).toBe(hubs.length === 0 ? 2 : 1);
      }),
      { numRuns: GRAPHS },
    );
    for (const what of ['hub as subject', 'no path', 'not looked', '1 hops', '2 hops']) {
      expect(met.get(what), what).toBeGreaterThan(10);
    }
  });

  test('outside its budget the flags say so, and what it found is there', async () => {
    const met = new Map<string, number>();
    const bounds = fc.record({
      nodesMax: fc.integer({ min: 1, max: 6 }),
      rowsMax: fc.constantFrom(2, 2, 3, 1_000),
      degreeMax: fc.constant(1_000),
    });
    await fc.assert(
      fc.asyncProperty(graphs, bounds, async (graph, small) => {
        const whole = await walk(graph, ROOMY);
        const reading = await walk(graph, small);
        const settled = settledWalk(reading);
        const sight = rowsSeen(map(reading, (one) => [one]));
        if (settled instanceof Read && settled.value.found === null) {
          // A negative is said only where the roomy walk says the same and nothing was cut.
          tallied(met, 'a negative');
          expect(bestOf(graph, small.degreeMax)).toBeNull();
          expect(settled.value).toEqual(whole instanceof Read && whole.value);
          return;
        }
        if (settled instanceof Read) {
          tallied(met, 'a way');
          // A cut walk may miss a shorter path, so its path need not be the best; but it must
          // exist.
          expect(isWay(graph, pathIn(settled.value))).toBe(true);
          return;
        }
        tallied(met, 'neither');
        expect(sight?.[0].causes.map(({ why }) => why.code)).toSatisfy((codes) => {
          return codes.includes('node_budget') || codes.includes('row_cap');
        });
      }),
      { numRuns: GRAPHS },
    );
    for (const what of ['a negative', 'a way', 'neither']) {
      expect(met.get(what), what).toBeGreaterThan(10);
    }
  });

  test('the order in which transfers come changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, fc.array(fc.nat(), { minLength: 22 }), async (graph, keys) => {
        const shuffled = graph.transfers
          .map((transfer, i) => ({ transfer, key: Number(keys[i]) }))
          .sort((a, b) => a.key - b.key)
          .map(({ transfer }) => transfer);
        const bounds = { ...ROOMY, nodesMax: 3, degreeMax: 4 };
        const one = await walk(graph, bounds);
        const other = await walk({ ...graph, transfers: shuffled }, bounds);
        expect(rowsSeen(map(other, (w) => [w]))).toEqual(rowsSeen(map(one, (w) => [w])));
        expect(other.constructor).toBe(one.constructor);
      }),
      { numRuns: 200 },
    );
  });
});
