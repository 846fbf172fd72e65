// Walks over a warehouse, met with its ring, held against a search by hand over random worlds:
// hubs, poison, spam, gaps, two chains, one of them followed and rolled back.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { map, Read, rowsSeen, Unread } from './evidence/reading.ts';
import { stopsOf } from './features/sanctions/walk-hop.ts';
import type { HistoryTransfer } from './ports/history.ts';
import type { Warehouse } from './stores/warehouse/engine/executor.ts';
import { evm } from './testing/addresses.ts';
import {
  bestOf,
  degreeOf,
  everyPath,
  type Graph,
  graphs,
  hubContacts,
  subjectOf,
} from './testing/brute-walk.ts';
import { STILL_NOW } from './testing/clock.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import {
  beginFollowing,
  importTransfers,
  must,
  recordHeld,
  ringWorld,
  tipBlock,
} from './testing/ring-world.ts';
import { trialsOf } from './testing/trials.ts';

/** Random worlds; more where a longer trial is wanted. */
const GRAPHS = trialsOf('EXHIBIT_TEST_GRAPHS', 200, 2_000);
const TIMEOUT_MS = GRAPHS * 6_000;
const SEED = 20_261_130;
const TRANSACTIONS = 16;
const DEGREES = [2, 3, 1_000] as const;

let warehouse: Warehouse;
beforeAll(async () => {
  warehouse = await freshWarehouse();
}, TIMEOUT_MS);
afterAll(() => warehouse.close());

type Case = { readonly graph: Graph; readonly undone: readonly HistoryTransfer[] };

/** A world of its own: other people, other transactions, and tokens that are known to be worth. */
function caseOf(drawn: Graph, bits: readonly number[], n: number): Case {
  const names = new Map(drawn.people.map((one, i) => [one, evm(`world ${n}, person ${i}`)]));
  const as = (one: string) => names.get(one) ?? one;
  const transfers = drawn.transfers.map((one): HistoryTransfer => {
    const token = one.kind === 'token' ? TOKENS[String(one.has_market)] : null;
    const collection = one.kind === 'nft' ? COLLECTION : null;
    const number = n * TRANSACTIONS + one.block;
    return {
      ...one,
      from: as(one.from),
      to: as(one.to),
      initiator: one.initiator === null ? null : as(one.initiator),
      token: token ?? collection,
      usd: null,
      has_market: one.kind === 'token' ? one.has_market : null,
      tx: `0x${number.toString(16).padStart(64, '0')}`,
    };
  });
  const isUndone = (one: HistoryTransfer, i: number) => one.chain === 'base' && bits[i] === 0;
  const people = drawn.people.map(as);
  return {
    graph: {
      people,
      listed: drawn.listed.map(as),
      transfers: transfers.filter((one, i) => !isUndone(one, i)),
      unheld: n % 2 === 0 ? [] : people.filter((_, i) => bits[i] === 1),
    },
    undone: transfers.filter(isUndone),
  };
}

const TOKENS: { readonly [hasMarket: string]: string } = {
  null: evm('a token of which nothing is known'),
  true: evm('a token with a market'),
  false: evm('a token without one'),
};

const COLLECTION = evm('a collection of NFTs');

test('the answers of the ring are those of the search by hand', {
  timeout: TIMEOUT_MS,
}, async () => {
  const world = await ringWorld(warehouse);
  const { store, walk, list } = world;
  const bits = fc.array(fc.nat({ max: 4 }), { minLength: 22, maxLength: 22 });
  const drawn = fc.sample(fc.tuple(graphs, bits), { numRuns: GRAPHS, seed: SEED });
  const cases = drawn.map(([graph, some], n) => caseOf(graph, some, n));
  const all = cases.flatMap(({ graph }) => graph.transfers);
  const of = (chain: string) => all.filter((one) => one.chain === chain);
  await importTransfers(store, of('ethereum'));
  const people = cases.flatMap(({ graph }) => {
    return graph.people.filter((one) => !graph.unheld.includes(one));
  });
  await recordHeld(store, 'ethereum', people);
  const read_at = STILL_NOW;
  const known = [true, false].map((has_market) => {
    const token = String(TOKENS[String(has_market)]);
    return { token, has_market, symbol: null, decimals: null, read_at };
  });
  const chains = ['ethereum', 'base'] as const;
  must(
    await store.recordTokens(chains.flatMap((chain) => known.map((one) => ({ ...one, chain })))),
  );
  await beginFollowing(store, 'base');
  const undone = cases.flatMap((one) => one.undone);
  must(await store.applyTip('base', [tipBlock(0, of('base'), {}), tipBlock(1, undone, {})]));
  // The ring holds what is undone thereafter.
  await world.ring.bringUp(cases.flatMap(({ graph }) => graph.listed));
  must(await store.rollBack('base', 0));
  must(await store.applyTip('base', [tipBlock(1, [], { fork: 'b' })]));

  const met = { hub: 0, whole: 0, addressed: 0, unsaid: 0, found: 0, contacts: 0 };
  for (const [n, { graph }] of cases.entries()) {
    const degreeMax = Number(DEGREES[n % DEGREES.length]);
    list(graph.listed);
    const subject = subjectOf(graph);
    const said = await walk({ subject, limits: { degreeMax, nodesMax: 1_000 } });
    const name = `world ${n}`;
    if (degreeOf(graph, subject) > degreeMax) {
      met.hub += 1;
      expect(said instanceof Unread && said.why.code, name).toBe('high_degree');
      continue;
    }
    const sight = rowsSeen(map(said, (one) => [one]))?.[0];
    if (sight === undefined) throw new Error(`${name}: nothing was seen`);
    const best = bestOf(graph, degreeMax);
    expect(sight.found === null ? null : stopsOf(sight.found.way), name).toEqual(best);
    if (best !== null) met.found += 1;
    const isHeld = (one: string) => !graph.unheld.includes(one);
    const isWhole = graph.listed.every(isHeld);
    expect(sight.ring instanceof Read, name).toBe(isWhole && best?.length !== 2);
    if (best === null) {
      const near = everyPath(graph, degreeMax).filter(({ stops }) => stops.length === 2);
      const read = near.every(({ stops: [, one] }) => {
        return isHeld(String(one)) && degreeOf(graph, String(one)) <= degreeMax;
      });
      const maySay = isHeld(subject) && (isWhole || read);
      expect(said instanceof Read, name).toBe(maySay);
      if (!maySay) met.unsaid += 1;
      else met[isWhole ? 'whole' : 'addressed'] += 1;
    }
    if (best?.length === 2) continue;
    const contacts = hubContacts(graph, degreeMax);
    if (contacts.length > 0) met.contacts += 1;
    const shown = sight.hub_contacts.map((one) => `${one.address} ${one.listed_address}`);
    expect(shown.sort(), name).toEqual(contacts.sort());
  }
  console.log(`ring: ${GRAPHS} worlds: ${JSON.stringify(met)}`);
  for (const [what, count] of Object.entries(met)) expect(count, what).toBeGreaterThan(1);
});
