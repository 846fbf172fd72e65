// Walks through both kinds of explorer, held against a search by hand over random worlds: forged
// edges make no hub and hide no path, and until the ring is whole a hub that was left out is no
// negative.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAddress } from './chain/address.ts';
import { CHAINS } from './chain/chain.ts';
import { map, type Partly, Read, rowsSeen, Unread } from './evidence/reading.ts';
import { readOnce } from './features/history/address-history.ts';
import { proximity, WALK_LIMITS, type Walk, type WalkPort } from './features/sanctions/walk.ts';
import { stopsOf } from './features/sanctions/walk-hop.ts';
import {
  type HistoryTransfer,
  RING_STATES,
  type RingExtent,
  type TransferHistory,
} from './ports/history.ts';
import { blockscoutChain, etherscanChain } from './sources/explorer/envelope.ts';
import { explorerHistory } from './sources/explorer/history.ts';
import { providerGuard } from './sources/http/provider.ts';
import { coveredHistory } from './stores/history/covered.ts';
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
import { STILL_NOW, TIP_MAX_AGE_S, UNHELD } from './testing/clock.ts';
import { trialRange } from './testing/trials.ts';
import { fullCoverage, memoryTransfer } from './testing/twins/history.ts';
import { listedEntry, walkedPorts } from './testing/walked-world.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

/** Random worlds; all of them, or `FROM-TO`, where a longer trial is wanted. */
const WORLDS = trialRange('EXHIBIT_TEST_GRAPHS', 40, 2_000);
const TIMEOUT_MS = (WORLDS.to - WORLDS.from + 1) * 10_000;
const SEED = 20_261_125;
const CHAINS_READ = ['ethereum', 'base'] as const;
const EXPLORERS = ['etherscan', 'blockscout'] as const;
const HEAD = 30_000;
const FIRST_BLOCK = 100;
const DEGREES = [3, 4, 1_000] as const;
/** More than the rows of an honest world, and fewer than those that are forged. */
const ROWS_MAX = 40;
const FORGED_EACH = 9;
const TOKEN = { address: evm('a token'), symbol: 'T', decimals: 18 } as const;
/** Transactions of a drawn graph have lower numbers. */
const FIRST_OWN_TX = 1_000;

type Transfers = Graph['transfers'];

let explorer: StartedExplorer;
let rows: ReadonlyMap<string, readonly ExplorerRow[]> = new Map();
beforeAll(async () => {
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => STILL_NOW - (HEAD - block),
    rowsOf: (chainId, address) => rows.get(`${chainId} ${address}`) ?? [],
    rowsOfToken: () => [],
  });
});
afterAll(() => explorer.close());

/** A drawn graph as chains could hold it, and explorers tell it: they name senders as signers. */
function onChains(drawn: Graph): Graph {
  let fresh = FIRST_OWN_TX;
  const taken = new Set<string>();
  const transfers = drawn.transfers.flatMap((one): HistoryTransfer[] => {
    if (one.kind === 'nft' || one.from === one.to) return [];
    const success = one.success !== false;
    const told = { ...one, success, usd: null, has_market: null };
    if (one.kind !== 'native') return [{ ...told, success: true, initiator: null }];
    const name = `${one.chain} ${one.tx}`;
    // A transaction has one sender, and one that failed moved nothing beside itself.
    const isOwn = success && !taken.has(name);
    if (isOwn) taken.add(name);
    else fresh += 1;
    const { tx, block } = isOwn ? one : memoryTransfer(fresh, one.from, one.to);
    return [{ ...told, tx, block, initiator: one.from }];
  });
  return { ...drawn, transfers };
}

type Attack = { readonly victim: number; readonly with: 'nothing' | 'dust' };

/** The same with neighbours that strangers make look busy, by what moves nothing or by dust. */
function attacked(graph: Graph, attacks: readonly Attack[], degreeMax: number): Graph {
  let fresh = 2 * FIRST_OWN_TX;
  const people = [...graph.people];
  const near = everyPath(graph, degreeMax).flatMap(({ stops: [, one, further] }) =>
    one === undefined || further !== undefined ? [] : [one],
  );
  if (near.length === 0) return graph;
  const made: HistoryTransfer[] = [];
  for (const [n, { victim: at, with: means }] of attacks.entries()) {
    const victim = String(near[at % near.length]);
    const crowd = Array.from({ length: degreeMax + 2 }, (_, i) => evm(`stranger ${n} ${i}`));
    people.push(...crowd);
    for (const [i, stranger] of crowd.entries()) {
      for (let times = 0; times < (means === 'dust' ? 1 : FORGED_EACH); times += 1) {
        fresh += 1;
        const chain = fresh % 2 === 0 ? 'ethereum' : 'base';
        if (means === 'dust') {
          made.push(memoryTransfer(fresh, stranger, victim, { chain, raw_amount: 1n }));
          continue;
        }
        const nothing = { chain, raw_amount: 0n } as const;
        const log = { ...nothing, kind: 'token', token: TOKEN.address, initiator: null } as const;
        const call = { ...nothing, kind: 'internal', initiator: null } as const;
        const forged = [
          memoryTransfer(fresh, victim, stranger, log),
          memoryTransfer(fresh, stranger, victim, log),
          memoryTransfer(fresh, stranger, victim, nothing),
          memoryTransfer(fresh, stranger, victim, call),
        ][(i + times) % 4];
        if (forged !== undefined) made.push(forged);
      }
    }
  }
  return { ...graph, people, transfers: [...graph.transfers, ...made] };
}

function rowsOf(transfers: Transfers): ReadonlyMap<string, readonly ExplorerRow[]> {
  const told = new Map<string, ExplorerRow[]>();
  const ordered = [...transfers].sort((a, b) => a.block - b.block);
  for (const { chain, kind, tx, block, from, to, raw_amount, success } of ordered) {
    if (kind === 'nft') throw new Error('test: an explorer lists no NFTs here');
    const place = { block: FIRST_BLOCK + block, at: STILL_NOW - HEAD + FIRST_BLOCK + block };
    const token = kind === 'token' ? TOKEN : null;
    const row: ExplorerRow = { kind, tx, ...place, from, to, value: raw_amount, token, success };
    for (const one of [from, to]) {
      const key = `${CHAINS[chain].chain_id} ${one}`;
      told.set(key, [...(told.get(key) ?? []), row]);
    }
  }
  return told;
}

/** History as this kind of explorer tells it. */
function historyBy(kind: (typeof EXPLORERS)[number]): TransferHistory {
  const limits = { callsPerS: 1_000_000, retriesMax: 1, backoffMs: 1, failuresMax: 100, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const chains = CHAINS_READ.map((chain) =>
    kind === 'etherscan'
      ? etherscanChain(chain, { url: explorer.etherscan, guard }, 'key')
      : blockscoutChain(chain, { url: explorer.blockscout(Number(CHAINS[chain].chain_id)), guard }),
  );
  const budget = { timeMs: 60_000, callsMax: 100_000, simulated: false };
  const raw = explorerHistory({ chains, now: () => STILL_NOW, ...budget, ...UNHELD });
  return coveredHistory(raw, { now: () => STILL_NOW, tipMaxAgeS: TIP_MAX_AGE_S });
}

function ringOf(graph: Graph, ring: RingExtent) {
  return walkedPorts({
    now: STILL_NOW,
    transfers: graph.transfers,
    listed: graph.listed.map(listedEntry),
    labels: null,
    history: {
      chains: CHAINS_READ,
      coverage: CHAINS_READ.flatMap((chain) => fullCoverage(chain, STILL_NOW - 60)),
    },
    ring,
  });
}

type Said = Partly<Walk, WalkPort>;
type Met = Record<'negative' | 'path' | 'unlooked' | 'hub contacts' | 'busy subject', number>;

/** Holds one answer against the search by hand, and notes which way it went. */
function judge(graph: Graph, said: Said, name: string, met: Met, at: Judged): void {
  const { degreeMax, ring } = at;
  if (degreeOf(graph, subjectOf(graph)) > degreeMax) {
    met['busy subject'] += 1;
    expect(said instanceof Unread && said.why.code, name).toBe('high_degree');
    return;
  }
  const sight = rowsSeen(map(said, (one) => [one]))?.[0];
  if (sight === undefined) throw new Error(`${name}: nothing was seen`);
  const best = bestOf(graph, degreeMax);
  expect(sight.found === null ? null : stopsOf(sight.found.way), name).toEqual(best);
  const near = everyPath(graph, degreeMax).filter(({ stops }) => stops.length === 2);
  const hubs = near.filter(({ stops }) => degreeOf(graph, String(stops[1])) > degreeMax);
  if (best !== null) met.path += 1;
  if (best !== null && (best.length === 2 || ring !== 'whole')) return;
  if (ring === 'whole') {
    const contacts = hubContacts(graph, degreeMax).sort();
    const shown = sight.hub_contacts.map((one) => `${one.address} ${one.listed_address}`);
    expect(shown.sort(), name).toEqual(contacts);
    if (contacts.length > 0) met['hub contacts'] += 1;
    if (best !== null) return;
  }
  const isHalf = ring === 'half' && graph.listed.length > 0;
  const hasLooked = hubs.length === 0 || (ring !== 'absent' && !isHalf);
  met[hasLooked ? 'negative' : 'unlooked'] += 1;
  expect(said instanceof Read, name).toBe(hasLooked);
  const codes = sight.causes.map(({ why }) => why.code);
  expect(codes, name).toEqual(hasLooked ? [] : ['hub_unread']);
}

type Judged = { readonly degreeMax: number; readonly ring: RingExtent };

test('no forged edge hides a path, and no hub is a negative until the ring is whole', {
  timeout: TIMEOUT_MS,
}, async () => {
  const attack = fc.record({
    victim: fc.integer({ min: 0, max: 8 }),
    with: fc.constantFrom('nothing' as const, 'nothing' as const, 'dust' as const),
  });
  const attacks = fc.array(attack, { maxLength: 4 });
  const drawn = fc.sample(fc.tuple(graphs, attacks), { numRuns: WORLDS.to, seed: SEED });
  const none = { negative: 0, path: 0, unlooked: 0, 'hub contacts': 0, 'busy subject': 0 };
  const met = new Map(RING_STATES.map((ring) => [ring, { ...none }]));
  for (const [n, [graph, against]] of drawn.entries()) {
    if (n + 1 < WORLDS.from) continue;
    const degreeMax = Number(DEGREES[n % DEGREES.length]);
    const world = attacked(onChains(graph), degreeMax > ROWS_MAX ? [] : against, degreeMax);
    rows = rowsOf(world.transfers);
    const subject = parseAddress(subjectOf(world));
    if (subject === null) throw new Error('test: the subject is no address');
    for (const kind of EXPLORERS) {
      const history = readOnce(historyBy(kind));
      for (const ring of RING_STATES) {
        const { signal } = new AbortController();
        const limits = { ...WALK_LIMITS, degreeMax, rowsMax: ROWS_MAX };
        const ports = { ...ringOf(world, ring), history };
        const said = await proximity(ports, subject, limits, { signal });
        const tally = met.get(ring);
        if (tally === undefined) throw new Error('test: no such state');
        judge(world, said, `world ${n} by ${kind}, ring ${ring}`, tally, { degreeMax, ring });
      }
    }
  }
  console.log(`explorers: worlds ${WORLDS.from} to ${WORLDS.to}: ${JSON.stringify([...met])}`);
  expect(met.get('whole')).toMatchObject({ unlooked: 0 });
  for (const state of ['absent', 'half'] as const) {
    for (const what of ['negative', 'path', 'unlooked'] as const) {
      expect(met.get(state)?.[what], `${state}: ${what}`).toBeGreaterThan(1);
    }
  }
  expect(met.get('whole')?.['hub contacts']).toBeGreaterThan(1);
});
