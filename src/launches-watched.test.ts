// What does each answer say where a source of launches fails? From the wire of an explorer, a node,
// a venue and a node of Solana through the jobs and the store to the routes, a page and the stream.

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createGate } from './access/gate.ts';
import { deriveSecrets, mintKey } from './access/secret.ts';
import { HOUR_S } from './chain/time.ts';
import { mountedPage } from './compose/documents.ts';
import type { AnyFeature } from './compose/feature.ts';
import { CONTRACTS, FEATURES, handlerOf } from './compose/list.ts';
import { walker } from './features/deployers/walks.job.ts';
import { flagStreamHandler, flagStreamRoute } from './features/flag-stream/flag-stream.route.ts';
import { collectAccount } from './features/launches/collect.ts';
import { settleRound } from './features/launches/settle.ts';
import { scoreOnce } from './features/rugs/score.job.ts';
import { whyUnwatched } from './features/rugs/watch.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S, launchCorpus } from './features/tables/launches.ts';
import { dexscreenerListings, dexscreenerVenue } from './sources/dexscreener/venue.ts';
import { ETHEREUM_EXCHANGES, nodePairCreations } from './sources/evm/pair-creations.ts';
import { explorerFacts } from './sources/explorer/account-facts.ts';
import {
  contractKinds,
  explorerCreations,
  explorerTokenTransfers,
} from './sources/explorer/deployer-creations.ts';
import { etherscanChain } from './sources/explorer/envelope.ts';
import { explorerLaunchPools, UNISWAP_V2 } from './sources/explorer/launch-pools.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { providerGuard } from './sources/http/provider.ts';
import { launchpadRegistry, relaysFile } from './sources/registry/registry-files.ts';
import { solanaLaunchFeed, WATCHED_ACCOUNTS } from './sources/solana/launches.ts';
import { deployerRecordTable, deployerWalkTable } from './stores/control/deployers.ts';
import { tableStore } from './stores/control/imported-tables.ts';
import { LAUNCH_NOTES, launchCollectionTable } from './stores/control/launch-collection.ts';
import { launchScoringTable } from './stores/control/launch-scoring.ts';
import { launchWatchTable } from './stores/control/launch-watch.ts';
import { rugFlagTable } from './stores/control/rug-flags.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { flagEventsIn } from './testing/flag-events.ts';
import { walletLaunchesIn } from './testing/imported-tables.ts';
import { REVIEWED_TOKENS } from './testing/launch-scores.ts';
import { modelInForce } from './testing/rug-models.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { key, launchesAtPump } from './testing/solana-entries.ts';
import type { Mounted } from './transport/answer.ts';
import { createHttp } from './transport/http.ts';
import { createMeters } from './transport/metrics.ts';
import { createSlots, type MountedStream } from './transport/stream.ts';
import { STREAM_LIMITS } from './transport/stream-reader.ts';
import { ALONE, type Body, readEvents, TOKENS } from './transport/stream-service.suite.ts';
import { worldChains } from './world/chain-data.ts';
import { SANDBOX_DEPLOYERS, WORLD_CONTRACTS, worldPoolsOf } from './world/deployers.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { startNodes } from './world/json-rpc-server.ts';
import { WORLD_SEED } from './world/listed-parties.ts';
import { type StartedSolana, startSolana } from './world/solana-api.ts';
import type { WorldEntry } from './world/solana-transactions.ts';
import { type StartedVenue, startVenue } from './world/venue-api.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const SECRETS = deriveSecrets('a root secret of the tests', null);
const RELAYS = new URL('../registry/relays.csv', import.meta.url);
const LAUNCHPADS = new URL('../registry/launchpads.csv', import.meta.url);
const LIMITS = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 999, restMs: 1 };
const BEGAN = Math.floor(Date.now() / 1_000);
const { allDied } = SANDBOX_DEPLOYERS;
const DIED = WORLD_CONTRACTS.find(({ maker }) => maker === allDied);
const [PUMP = ''] = WATCHED_ACCOUNTS;
const [MINT, MAKER] = ['mint', 'maker'].map(key) as [string, string];

/** The routes that are asked here. */
const ASKED = ['leaderboard', 'rugs_leaderboard', 'deployer_record', 'solana_deployer'];

const fresh = embeddedControl();
const { signal } = new AbortController();
let at = BEGAN;
const now = () => at;
let shown: readonly WorldEntry[] = [];
let explorer: StartedExplorer;
let venue: StartedVenue;
let nodes: Awaited<ReturnType<typeof startNodes>>;
let node: StartedSolana;
let rpc: JsonRpc;

beforeAll(async () => {
  const chains = worldChains(now, WORLD_SEED);
  explorer = await startExplorer(chains);
  venue = await startVenue((chain, token) => worldPoolsOf(chain, token, Date.now() / 1_000));
  nodes = await startNodes(chains);
  node = await startSolana(
    () => [],
    () => shown,
  );
});
afterAll(async () => {
  await Promise.all([explorer.close(), venue.close(), nodes.close(), node.close()]);
});
beforeEach(() => {
  at = BEGAN;
  shown = [launchesAtPump({ mint: MINT, by: MAKER, at: BEGAN - 31 * HOUR_S })];
  explorer.fault(() => null);
  venue.fault(() => null);
  nodes.fault(null);
  node.fault(() => null);
  rpc = jsonRpc({
    url: nodes.url(1),
    headers: {},
    limits: RPC_LIMITS,
    sleep: async () => undefined,
  });
  onTestFinished(() => rpc.close());
});

/** The sources over the wire, asked by a clock that the tests move. */
function sourcesOver() {
  const guard = providerGuard(LIMITS, () => performance.now());
  const asked = { now, timeMs: 20_000, callsMax: 100, simulated: false };
  const chain = etherscanChain('ethereum', { url: explorer.etherscan, guard }, null);
  const explored = { at: chain, ...asked };
  const listing = { url: venue.url, guard, ...asked };
  return {
    walk: {
      creations: explorerCreations(explored, relaysFile(RELAYS)),
      kinds: contractKinds(explored, rpc),
      transfers: explorerTokenTransfers(explored),
      venue: dexscreenerVenue({ chain: 'ethereum', ...listing }),
      pairs: nodePairCreations({ rpc, exchanges: ETHEREUM_EXCHANGES, now, simulated: false }),
      launchpads: launchpadRegistry(LAUNCHPADS),
      launchPools: explorerLaunchPools(explored, UNISWAP_V2),
      prices: { historical: () => Promise.reject(new Error('test: nobody asks for a price')) },
    },
    facts: explorerFacts({ chains: [chain], relays: relaysFile(RELAYS), ...asked }),
    feed: solanaLaunchFeed({ url: node.url, pagesMax: 2, guard, ...asked }),
    listings: dexscreenerListings({ chain: 'solana', exitLiquidityUsd: 1_000, ...listing }),
  };
}

/** A service over the wire and an empty store, with its jobs, for a model of a chain. */
async function serve(chain: 'ethereum' | 'solana') {
  const store = fresh();
  await store.setClock(at);
  const context = { simulated: false, nowMs: () => at * 1_000 };
  const sources = sourcesOver();
  const inForce = modelInForce([chain]);
  const watch = launchWatchTable(store, context, {
    inForce,
    unset: { explorer: [], node: [], venue: [] },
    settles: { afterS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S },
  });
  const rugFlags = rugFlagTable(store, context, { listed: REVIEWED_TOKENS, inForce });
  const given = {
    service: TEST_SERVICE,
    rugFlags,
    launchWatch: watch,
    deployerRecords: deployerRecordTable(store, context, null),
    walletLaunches: walletLaunchesIn(store, now),
    chainFacts: sources.facts,
    members: { reading: async () => ({ may: true, pay: async () => null }) },
  };
  const { keys, quota, memberships } = accessIn(store, () => at * 1_000);
  await memberships.record({ membership_id: 'mem_1', plan: 'analyst', status: 'active', at });
  const member = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, at);
  await keys.add(member.stored, 1);
  const routes = CONTRACTS.filter(({ name }) => ASKED.includes(name));
  const pages = (FEATURES as readonly AnyFeature[]).flatMap((feature) => feature.pages);
  const handle: unknown = flagStreamHandler({
    flagEvents: flagEventsIn(store),
    onAppended: () => () => undefined,
    unwatched: () => whyUnwatched({ rugFlags, launchWatch: watch }),
    watchEachMs: 50,
  });
  const quiet = () => undefined;
  let base = '';
  const app = createHttp({
    mounted: [
      ...routes.map((route): Mounted => ({ route, handle: handlerOf(route.name, given) })),
      ...pages
        .filter(({ route }) => route.name === 'token_page')
        .map((page) =>
          mountedPage(page, given, {
            simulated: false,
            version: '0',
            links: [],
            explorers: new Map(),
          }),
        ),
    ],
    gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, now),
    tokens: TOKENS,
    streams: {
      mounted: [{ route: flagStreamRoute, handle } as MountedStream],
      limits: STREAM_LIMITS,
      slots: createSlots(STREAM_LIMITS.connectionsMax, ALONE),
      base: () => base,
    },
    refusalPage: ({ status }) => String(status),
    meters: createMeters([]),
    log: { info: quiet, warn: quiet, error: quiet },
    now,
    budgetMs: 30_000,
    trustProxy: false,
  });
  base = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const get = async (path: string, authorization = `Bearer ${member.text}`) =>
    (await fetch(base + path, { headers: { authorization } })).text();
  return {
    ...jobsOver(store, chain, sources),
    /** The clock of the service and its store goes on. */
    goOn: async (seconds: number) => {
      at += seconds;
      await store.setClock(at);
    },
    get,
    /** What leaderboards and the stream say of the window. */
    windows: async (unwatched: string | null) => {
      const { until } = await readEvents(base, 'token=pro-1', {}, '/sse/flags');
      const isSaid = (one: Body) =>
        unwatched === null
          ? one['unwatched'] === null
          : String(one['unwatched']).includes(unwatched);
      const told = await until((read) => read.some(isSaid));
      return {
        board: await get('/api/v1/leaderboard'),
        rugs: await get('/api/leaderboard/rugs', 'Bearer pro-1'),
        stream: JSON.stringify(told.find(isSaid)),
      };
    },
  };
}

/** The jobs of the service over a store, each run once. */
function jobsOver(
  store: ReturnType<typeof fresh>,
  chain: 'ethereum' | 'solana',
  sources: ReturnType<typeof sourcesOver>,
) {
  const context = { simulated: false, nowMs: () => at * 1_000 };
  const walks = deployerWalkTable(store, context);
  const limits = { contractsMax: 50, atOnce: 2, exitLiquidityUsd: 1_000, launchedWithMax: 5 };
  const walk = walker({ sources: sources.walk, walks, limits, now });
  const windows = { windowS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  const collection = launchCollectionTable(store, context, windows);
  const bounds = { transactionsMax: 500, stepMax: 5, attemptsMax: 1 };
  const scoring = launchScoringTable(store, context, () => undefined);
  return {
    walkOnce: async () => {
      const next = await walks.take(60);
      if (!next.checked || next.value === null) throw new Error('test: nobody is due');
      await walk(next.value, signal);
    },
    collect: async () => {
      const parts = { feed: sources.feed, collection, limits: bounds };
      await collectAccount(parts, PUMP, signal);
    },
    settle: () =>
      settleRound(
        {
          collection,
          listings: sources.listings,
          table: tableStore(store, launchCorpus, now, LAUNCH_NOTES),
          origin: 'observed',
          limits: { launchesMax: 100, atOnce: 2 },
          now,
        },
        signal,
      ),
    score: () =>
      scoreOnce(
        { scoring, established: REVIEWED_TOKENS, inForce: modelInForce([chain]), now },
        signal,
      ),
  };
}

type Served = Awaited<ReturnType<typeof serve>>;

async function expectQuiet({ windows }: Served): Promise<void> {
  const { board, rugs, stream } = await windows(null);
  expect(board).toContain('"window_checked":true');
  expect(rugs).toContain('quiet_window');
  expect(stream).toContain('"unwatched":null');
}

async function expectUnwatched({ windows }: Served, gap: string): Promise<void> {
  for (const [of, said] of Object.entries(await windows(gap))) {
    expect(said, of).toContain(gap);
    expect(said, of).not.toMatch(/quiet_window|"window_checked":true|"unwatched":null/);
  }
}

const RECORD = `/api/v1/evm/deployer/ethereum/${allDied}`;
const TOKEN_PAGE = `/token/ethereum/${String(DIED?.address)}`;

/** A service that has walked a deployer whose launches have died, and scored it. */
async function serveWalked(): Promise<Served> {
  const served = await serve('ethereum');
  expect(await served.get(RECORD)).toContain('"state":"not_deployed"');
  await served.walkOnce();
  await served.score();
  expect(await served.get(RECORD)).toContain('"state":"all_died"');
  await expectQuiet(served);
  await served.goOn(25 * HOUR_S);
  return served;
}

test('an explorer that fails leaves a record of its age, and no quiet window', async () => {
  const served = await serveWalked();
  explorer.fault(() => 'error500');
  await served.walkOnce();
  await served.score();
  const record = await served.get(RECORD);
  expect(record).toMatch(/A newer walk, of [^ ]+, failed: .* It was captured 25 hours ago\./);
  await expectUnwatched(served, 'ethereum: wallets that were last walked before: 1');
  expect(await served.get(TOKEN_PAGE)).toContain('Nobody has looked');
});

test('an explorer that does not tell who made contracts leaves no quiet window', async () => {
  const served = await serveWalked();
  explorer.fault(({ action }) => (action === 'getcontractcreation' ? 'notok' : null));
  await served.walkOnce();
  await served.score();
  await expectUnwatched(served, 'ethereum: wallets that were last walked before: 1');
});

test('a node that fails leaves contracts undetermined, in the record and on the token page', async () => {
  const served = await serveWalked();
  nodes.fault('error500');
  explorer.fault(({ action }) => (action === 'eth_getCode' ? 'error500' : null));
  await served.walkOnce();
  await served.score();
  const told = '3 contracts could not be determined, which is not a finding.';
  expect(await served.get(RECORD)).toMatch(/"state":"unchecked".*"death_rate":null/);
  expect(await served.get(RECORD)).toContain(told);
  expect(await served.get(TOKEN_PAGE)).toContain(told);
});

test('a venue that fails leaves launches unchecked, in the record and on the token page', async () => {
  const served = await serveWalked();
  venue.fault(() => 'error500');
  await served.walkOnce();
  await served.score();
  const record = await served.get(RECORD);
  expect(record).toContain('"state":"unchecked"');
  expect(record).not.toContain('"state":"all_died"');
  expect(await served.get(TOKEN_PAGE)).toContain('could not be checked');
});

test('a queue that nobody works on leaves no quiet window', async () => {
  const served = await serveWalked();
  await served.score();
  await expectUnwatched(served, 'ethereum: wallets that were last walked before: 1');
});

const WALLET = `/api/v1/solana/deployer/${MAKER}`;

/** A service that has collected a launch, settled it and scored its wallet. */
async function serveCollected(): Promise<Served> {
  const served = await serve('solana');
  await served.collect();
  await served.settle();
  await served.score();
  expect(await served.get(WALLET)).toContain('"settled_at":');
  await expectQuiet(served);
  return served;
}

test('a node of Solana that fails leaves no quiet window, and its reach in the record', async () => {
  const served = await serveCollected();
  node.fault(() => 'error500');
  await served.goOn(3 * HOUR_S);
  await served.collect();
  await served.score();
  await expectUnwatched(served, 'solana: collected up to ');
});

test('a transaction that cannot be read is a gap, and leaves no quiet window', async () => {
  const served = await serveCollected();
  shown = [...shown, launchesAtPump({ mint: key('other'), by: MAKER, at: BEGAN - HOUR_S })];
  node.fault((method) => (method === 'getTransaction' ? 'broken-transactions' : null));
  await served.collect();
  await served.score();
  await expectUnwatched(served, 'solana: gaps in what was collected: 1');
  // What is said of the collection is kept for some seconds.
  await served.goOn(60);
  expect(await served.get(WALLET)).toContain('gaps of');
});

test('a venue that does not tell of a launch in time leaves no quiet window', async () => {
  const served = await serve('solana');
  venue.fault(() => 'error500');
  await served.collect();
  await served.settle();
  await served.score();
  expect(await served.get(WALLET)).not.toContain('"settled_at":');
  await expectUnwatched(served, 'solana: launches of which the venue did not tell in time: 1');
});

test('launches that nobody collects leave no quiet window', async () => {
  const served = await serve('solana');
  await served.score();
  await expectUnwatched(served, 'never');
});
