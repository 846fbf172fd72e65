// The walk against a search that shares nothing with it: every path written out, then the best.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ParsedAddress, parseAddress } from '../../chain/address.ts';
import { map, type Partly, Read, seen, Unread } from '../../evidence/reading.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { heldInFull, memoryTransfer } from '../../testing/memory/transfers.ts';
import { listedEntry, walkedPorts } from '../../testing/walked-world.ts';
import { proximity, settledWalk, WALK_LIMITS, type Walk, type WalkPort } from './walk.ts';
import { stopsOf } from './walk-path.ts';

/** Random graphs of each kind; more where a longer trial is wanted. */
const GRAPHS = Number(process.env['EXHIBIT_TEST_GRAPHS'] ?? 500);
const NULL_ADDRESS = `0x${'0'.repeat(40)}`;
const PEOPLE = Array.from({ length: 9 }, (_, i) => evm(`person ${i}`));
const NODES = [...PEOPLE, NULL_ADDRESS];
const SUBJECT = String(PEOPLE[0]);

type Graph = { readonly transfers: readonly HistoryTransfer[]; readonly listed: readonly string[] };

const node = fc.constantFrom(...NODES);
const transferShape = fc.record({
  from: node,
  to: node,
  kind: fc.constantFrom('native' as const, 'internal' as const, 'token' as const),
  chain: fc.constantFrom('ethereum' as const, 'base' as const),
  raw_amount: fc.constantFrom(0n, 1n, 5n),
  usd: fc.constantFrom(null, '0.5', '1', '2', '30'),
  has_market: fc.constantFrom(null, true, false),
  initiator: fc.oneof(node, fc.constant(null)),
  success: fc.constantFrom(true, true, true, null, false),
  // Few transactions, so that what one of them holds often has its signer beside it.
  transaction: fc.nat({ max: 11 }),
});
const graphs: fc.Arbitrary<Graph> = fc.record({
  transfers: fc.array(transferShape, { minLength: 5, maxLength: 22 }).map((shapes) =>
    shapes.map(({ from, to, transaction, ...over }) => {
      const token = over.kind === 'token' ? 'T' : null;
      return memoryTransfer(transaction, from, to, { ...over, token });
    }),
  ),
  listed: fc.uniqueArray(fc.constantFrom(...PEOPLE), { maxLength: 3 }),
});

type Bounds = { readonly nodesMax: number; readonly rowsMax: number; readonly degreeMax: number };
const ROOMY: Bounds = { nodesMax: 1_000, rowsMax: 1_000, degreeMax: 1_000 };

type RingIs = 'unbuilt' | 'built';

async function walk(
  graph: Graph,
  bounds: Bounds,
  ring: RingIs = 'unbuilt',
): Promise<Partly<Walk, WalkPort>> {
  const chains = ['ethereum', 'base'] as const;
  const coverage = chains.flatMap((chain) => heldInFull(chain, STILL_NOW - 60));
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
  return proximity(ports, subjectOf(SUBJECT), limits, { signal });
}

function subjectOf(text: string): ParsedAddress {
  const parsed = parseAddress(text);
  if (parsed === null) throw new Error('test: the subject is no address');
  return parsed;
}

// ---- The search by hand. It knows the decided rules from their words, not from the engine. ----

type Path = { readonly stops: readonly string[]; readonly worth: number };

function signerIn(t: HistoryTransfer): string | null {
  return t.kind === 'native' && t.initiator === null ? t.from : t.initiator;
}

/** Whether an address signed a transfer, which its own transactions tell where they are whole. */
function isSigned(graph: Graph, a: string, t: HistoryTransfer): boolean {
  const signer = signerIn(t);
  if (signer !== null) return signer === a;
  return graph.transfers.some((u) => {
    const beside = u.tx === t.tx && u.chain === t.chain && u.from !== u.to;
    return beside && (u.from === a || u.to === a) && signerIn(u) === a;
  });
}

/**
 * The worth of the largest transfer that joins two addresses; null where none does. Where rows may
 * have been cut off, a transfer without a signer may be the side's own.
 */
function joins(
  graph: Graph,
  side: readonly string[],
  a: string,
  b: string,
  isCut = false,
): number | null {
  let worth: number | null = null;
  for (const t of graph.transfers) {
    const touches = (t.from === a && t.to === b) || (t.from === b && t.to === a);
    if (!touches || t.success === false) continue;
    const wanted = side.some((one) => isSigned(graph, one, t));
    const maybe = isCut && signerIn(t) === null;
    const spam = t.kind === 'token' && t.has_market === false && signerIn(t) !== t.to;
    if (!wanted && !maybe && (t.raw_amount === 0n || spam)) continue;
    // What moved nothing is never the larger one, whatever somebody priced it at.
    const usd = t.usd === null ? -1 : Number(t.usd);
    const rank = t.raw_amount > 0n ? 1_000 + usd : usd;
    worth = worth === null ? rank : Math.max(worth, rank);
  }
  return worth;
}

/** The USD worth behind a rank: -1 is unpriced. */
function usdOf(rank: number): number {
  return rank >= 999 ? rank - 1_000 : rank;
}

function degreeOf(graph: Graph, a: string): number {
  const others = new Set<string>();
  for (const { from, to } of graph.transfers) {
    if (from === a && to !== a) others.add(to);
    if (to === a && from !== a) others.add(from);
  }
  return others.size;
}

/** Every path of one or two hops to anybody, hubs not walked past. */
function everyPath(graph: Graph, degreeMax: number): Path[] {
  const paths: Path[] = [];
  const first = new Map<string, number>();
  for (const a of PEOPLE) {
    const worth = a === SUBJECT ? null : joins(graph, [SUBJECT], SUBJECT, a);
    if (worth !== null) first.set(a, usdOf(worth));
  }
  for (const [a, worth] of first) paths.push({ stops: [SUBJECT, a], worth });
  for (const [a, worth] of first) {
    if (degreeOf(graph, a) > degreeMax) continue;
    for (const b of PEOPLE) {
      if (b === SUBJECT || first.has(b)) continue;
      const more = joins(graph, [SUBJECT, a], a, b);
      if (more === null) continue;
      paths.push({ stops: [SUBJECT, a, b], worth: Math.min(worth, usdOf(more)) });
    }
  }
  return paths;
}

function bestOf(graph: Graph, degreeMax: number): readonly string[] | null {
  const toListed = everyPath(graph, degreeMax).filter(({ stops }) => {
    return graph.listed.includes(String(stops.at(-1)));
  });
  const name = ({ stops }: Path) => [...stops].reverse().join();
  toListed.sort((a, b) => {
    if (a.stops.length !== b.stops.length) return a.stops.length - b.stops.length;
    if (a.worth !== b.worth) return b.worth - a.worth;
    return name(a) < name(b) ? -1 : 1;
  });
  return toListed[0]?.stops ?? null;
}

/** Whether every two neighbours on a path are joined, and its end is listed. */
function isWay(graph: Graph, stops: readonly string[] | null): boolean {
  if (stops === null || !graph.listed.includes(String(stops.at(-1)))) return false;
  return stops.every((stop, i) => {
    return i === 0 || joins(graph, stops.slice(0, i), String(stops[i - 1]), stop, true) !== null;
  });
}

function pathIn(one: Walk): string[] | null {
  return one.found === null ? null : stopsOf(one.found.way);
}

/** How often each way of ending was met, so that none can silently go untested. */
function tallied(met: Map<string, number>, what: string): void {
  met.set(what, (met.get(what) ?? 0) + 1);
}

/**
 * The hubs beside the subject that dealt with a listed address, and with which. What a hub signed
 * is not known, since its transactions are not read.
 */
function hubContacts(graph: Graph, degreeMax: number): string[] {
  const near = PEOPLE.filter((a) => a !== SUBJECT && joins(graph, [SUBJECT], SUBJECT, a) !== null);
  const hubs = near.filter((a) => degreeOf(graph, a) > degreeMax);
  const listed = graph.listed.filter((b) => b !== SUBJECT && !near.includes(b));
  return hubs.flatMap((a) =>
    listed.flatMap((b) => (joins(graph, [SUBJECT, a], a, b, true) === null ? [] : [`${a} ${b}`])),
  );
}

describe('random graphs', () => {
  test('met with the ring it agrees too, shows every hub beside the list, and has no budget', async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(graphs, fc.constantFrom(3, 3, 4, 1_000), async (graph, degreeMax) => {
        const bounds = { ...ROOMY, nodesMax: 1, degreeMax };
        const reading = await walk(graph, bounds, 'built');
        if (degreeOf(graph, SUBJECT) > degreeMax) {
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
      expect(met.get(what), what).toBeGreaterThan(4);
    }
  });

  test('inside its budget the walk agrees exactly with the search by hand', async () => {
    const met = new Map<string, number>();
    const degrees = fc.constantFrom(2, 4, 1_000);
    await fc.assert(
      fc.asyncProperty(graphs, degrees, async (graph, degreeMax) => {
        const reading = await walk(graph, { ...ROOMY, degreeMax });
        if (degreeOf(graph, SUBJECT) > degreeMax) {
          tallied(met, 'hub as subject');
          expect(reading instanceof Unread && reading.why.code).toBe('high_degree');
          return;
        }
        if (!(reading instanceof Read)) throw new Error('test: the walk was not whole');
        const { value } = reading;
        const best = bestOf(graph, degreeMax);
        tallied(met, best === null ? 'no path' : `${best.length - 1} hops`);
        expect(pathIn(value)).toEqual(best);
        if (best !== null) return;
        const reached = everyPath(graph, degreeMax).map(({ stops }) => stops);
        const near = new Set(reached.filter(({ length }) => length === 2).map((s) => s[1]));
        const hubs = [...near].filter((a) => degreeOf(graph, String(a)) > degreeMax);
        expect(value.nodes_examined).toBe(new Set(reached.map((stops) => stops.at(-1))).size);
        expect(value.hubs_count).toBe(hubs.length);
        expect(value.frontier_exhausted).toBe(hubs.length === 0);
        expect(value.hops_examined).toBe(2);
      }),
      { numRuns: GRAPHS },
    );
    for (const what of ['hub as subject', 'no path', '1 hops', '2 hops']) {
      expect(met.get(what), what).toBeGreaterThan(10);
    }
  });

  test('outside its budget the flags say so, and what it found is there', async () => {
    const met = new Map<string, number>();
    const bounds = fc.record({
      nodesMax: fc.integer({ min: 1, max: 6 }),
      rowsMax: fc.constantFrom(2, 4, 1_000),
      degreeMax: fc.constant(1_000),
    });
    await fc.assert(
      fc.asyncProperty(graphs, bounds, async (graph, small) => {
        const whole = await walk(graph, ROOMY);
        const reading = await walk(graph, small);
        const settled = settledWalk(reading);
        const sight = seen(map(reading, (one) => [one]));
        if (settled instanceof Read && settled.value.found === null) {
          // A negative is said only where the roomy walk says the same and nothing was cut.
          tallied(met, 'a negative');
          expect(bestOf(graph, small.degreeMax)).toBeNull();
          expect(settled.value).toEqual(whole instanceof Read && whole.value);
          return;
        }
        if (settled instanceof Read) {
          tallied(met, 'a way');
          // What was cut may hide a shorter way, so it need not be the best; but it must be one.
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
        expect(seen(map(other, (w) => [w]))).toEqual(seen(map(one, (w) => [w])));
        expect(other.constructor).toBe(one.constructor);
      }),
      { numRuns: 200 },
    );
  });
});
