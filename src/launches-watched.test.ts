// What does each answer say where a source of launches fails? From the wire of an explorer, a node,
// a venue and a node of Solana through the jobs and the store to the routes, a page and the stream.

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_S } from './chain/time.ts';
import {
  type LaunchClock,
  type LaunchSources,
  type ServedLaunches,
  serveLaunches,
} from './launch-service.suite.ts';
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
import { type JsonRpc, jsonRpc, RPC_LIMITS, type RpcAnswer } from './sources/http/json-rpc.ts';
import { providerGuard } from './sources/http/provider.ts';
import { launchpadRegistry, relaysFile } from './sources/registry/registry-files.ts';
import { solanaLaunchFeed } from './sources/solana/launches.ts';
import { embeddedControl } from './testing/control-store.ts';
import { modelInForce } from './testing/rug-models.ts';
import { key, launchesAtPump } from './testing/solana-entries.ts';
import type { Body } from './transport/stream-service.suite.ts';
import { worldChains } from './world/chain-data.ts';
import { SANDBOX_DEPLOYERS, WORLD_CONTRACTS, worldPoolsOf } from './world/deployers.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { startNodes } from './world/json-rpc-server.ts';
import { WORLD_SEED } from './world/listed-parties.ts';
import { type StartedSolana, startSolana } from './world/solana-api.ts';
import type { WorldEntry } from './world/solana-transactions.ts';
import { type StartedVenue, startVenue, type WorldPool } from './world/venue-api.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const RELAYS = new URL('../registry/relays.csv', import.meta.url);
const LAUNCHPADS = new URL('../registry/launchpads.csv', import.meta.url);
const LIMITS = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 999, restMs: 1 };
const BEGAN = Math.floor(Date.now() / 1_000);
const { allDied } = SANDBOX_DEPLOYERS;
const DIED = WORLD_CONTRACTS.find(({ maker }) => maker === allDied);
const [MINT, MAKER] = ['mint', 'maker'].map(key) as [string, string];

const fresh = embeddedControl();
const clock: LaunchClock = { at: BEGAN };
const now = () => clock.at;
let shown: readonly WorldEntry[] = [];
/** The pools of each mint at the venue. */
let listed: readonly WorldPool[] = [];
let explorer: StartedExplorer;
let venue: StartedVenue;
let nodes: Awaited<ReturnType<typeof startNodes>>;
let node: StartedSolana;
let rpc: JsonRpc;
/** The contract whose code the node cannot read, or `null`. */
let failsFor: string | null = null;

beforeAll(async () => {
  const chains = worldChains(now, WORLD_SEED);
  explorer = await startExplorer(chains);
  venue = await startVenue((chain, token) =>
    chain === 'solana' ? listed : worldPoolsOf(chain, token, Date.now() / 1_000),
  );
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
  clock.at = BEGAN;
  shown = [launchesAtPump({ mint: MINT, by: MAKER, at: BEGAN - 31 * HOUR_S })];
  listed = [];
  explorer.fault(() => null);
  venue.fault(() => null);
  nodes.fault(null);
  failsFor = null;
  node.fault(() => null);
  rpc = jsonRpc({
    url: nodes.url(1),
    headers: {},
    limits: RPC_LIMITS,
    sleep: async () => undefined,
  });
  onTestFinished(() => rpc.close());
});

/** The node, which answers an error where it is asked for the code of `failsFor`. */
function nodeOfKinds(): JsonRpc {
  const answer: RpcAnswer = {
    ok: false,
    error: { code: -32_000, message: 'missing trie node', data: null },
  };
  return {
    ...rpc,
    call: ({ method, params }, signal) =>
      method === 'eth_getCode' && params[0] === failsFor
        ? Promise.resolve(answer)
        : rpc.call({ method, params }, signal),
  };
}

/** The sources over the wire, asked by a clock that the tests move. */
function sourcesOver(): LaunchSources {
  const guard = providerGuard(LIMITS, () => performance.now());
  const asked = { now, timeMs: 20_000, callsMax: 100, simulated: false };
  const chain = etherscanChain('ethereum', { url: explorer.etherscan, guard }, null);
  const explored = { at: chain, ...asked };
  const listing = { url: venue.url, guard, ...asked };
  return {
    walk: {
      creations: explorerCreations(explored, relaysFile(RELAYS)),
      kinds: contractKinds(explored, nodeOfKinds()),
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
const serve = (chain: 'ethereum' | 'solana') =>
  serveLaunches(fresh(), { clock, sources: sourcesOver(), inForce: modelInForce([chain]) });

/** What leaderboards and the stream say of the window. */
async function windowsOf({ get, readStream }: ServedLaunches, unwatched: string | null) {
  const isSaid = (one: Body) =>
    unwatched === null ? one['unwatched'] === null : String(one['unwatched']).includes(unwatched);
  const told = await readStream(isSaid);
  return {
    board: await get('/api/v1/leaderboard'),
    rugs: await get('/api/leaderboard/rugs', 'Bearer pro-1'),
    stream: JSON.stringify(told.find(isSaid)),
  };
}

async function expectQuiet(served: ServedLaunches): Promise<void> {
  const { board, rugs, stream } = await windowsOf(served, null);
  expect(board).toContain('"window_checked":true');
  expect(rugs).toContain('quiet_window');
  expect(stream).toContain('"unwatched":null');
}

async function expectUnwatched(served: ServedLaunches, gap: string): Promise<void> {
  for (const [of, said] of Object.entries(await windowsOf(served, gap))) {
    expect(said, of).toContain(gap);
    expect(said, of).not.toMatch(/quiet_window|"window_checked":true|"unwatched":null/);
  }
}

const RECORD = `/api/v1/evm/deployer/ethereum/${allDied}`;
const TOKEN_PAGE = `/token/ethereum/${String(DIED?.address)}`;

/** A service that has walked a deployer whose launches have died, and scored it. */
async function serveWalked(): Promise<ServedLaunches> {
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

test('a node that fails for every contract fails the walk, and the record before says so', async () => {
  const served = await serveWalked();
  nodes.fault('error500');
  explorer.fault(({ action }) => (action === 'eth_getCode' ? 'error500' : null));
  await served.walkOnce();
  await served.score();
  const told = /A newer walk, of [^ ]+, failed: .* answered 500\. This is the record before it\./;
  expect(await served.get(RECORD)).toMatch(told);
  expect(await served.get(TOKEN_PAGE)).toMatch(told);
});

test('a node that fails for one contract leaves it undetermined, in the record and on its page', async () => {
  const served = await serveWalked();
  failsFor = String(DIED?.address);
  explorer.fault(({ action }) => (action === 'eth_getCode' ? 'error500' : null));
  await served.walkOnce();
  await served.score();
  const told = '1 contract could not be determined, which is not a finding.';
  const record = await served.get(RECORD);
  expect(record).toContain(told);
  expect(record).not.toContain('A newer walk');
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
async function serveCollected(): Promise<ServedLaunches> {
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

test.each<[string, readonly WorldPool[], string]>([
  [
    'trades on the curve of its launchpad',
    [{ side: 'base', liquidityUsd: null, volumeUsd24h: 900, dex: 'pumpfun' }],
    'died',
  ],
  [
    'left the curve for a pool',
    [{ side: 'base', liquidityUsd: 40_000, volumeUsd24h: 900, dex: 'pumpswap' }],
    'survived',
  ],
])('of a launch that %s it is said what was seen', async (_, pools, outcome) => {
  listed = pools;
  const served = await serve('solana');
  await served.collect();
  await served.settle();
  const said = await served.get(WALLET);
  expect(said).toContain(`"outcome":"${outcome}"`);
  expect(said).toContain(
    'A launch died where a venue listed it on the curve of its launchpad at most once its window ' +
      'had passed: it may still trade there.',
  );
});

test('launches that nobody collects leave no quiet window', async () => {
  const served = await serve('solana');
  await served.score();
  await expectUnwatched(served, 'never');
});
