// Are deployers walked as they are documented, over the wire formats of an explorer, a node and a
// venue, and what becomes of a record when one of them fails?

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { map, Part } from './evidence/reading.ts';
import { recordFields } from './features/deployers/record.ts';
import { walkDeployer } from './features/deployers/walk.ts';
import type { WalkSources } from './ports/deployers.ts';
import { dexscreenerVenue } from './sources/dexscreener/venue.ts';
import { ETHEREUM_EXCHANGES, nodePairCreations } from './sources/evm/pair-creations.ts';
import {
  contractKinds,
  explorerCreations,
  explorerTokenTransfers,
} from './sources/explorer/deployer-creations.ts';
import { blockscoutChain, etherscanChain } from './sources/explorer/envelope.ts';
import { explorerLaunchPools, UNISWAP_V2 } from './sources/explorer/launch-pools.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { providerGuard } from './sources/http/provider.ts';
import { launchpadRegistry, relaysFile } from './sources/registry/registry-files.ts';
import { worldChains } from './world/chain-data.ts';
import { SANDBOX_DEPLOYERS, worldPoolsOf } from './world/deployers.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { startNodes } from './world/json-rpc-server.ts';
import { WORLD_SEED } from './world/listed-parties.ts';
import { type StartedVenue, startVenue, VENUE_FAULTS } from './world/venue-api.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const now = () => NOW;
const LIMITS = {
  contractsMax: 50,
  askedMax: 100,
  atOnce: 2,
  exitLiquidityUsd: 1_000,
  launchedWithMax: 0,
};
const GUARD = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 1_000, restMs: 1 };
const RELAYS = new URL('../registry/relays.csv', import.meta.url);
const LAUNCHPADS = new URL('../registry/launchpads.csv', import.meta.url);

let explorer: StartedExplorer;
let venue: StartedVenue;
let nodes: Awaited<ReturnType<typeof startNodes>>;
let rpc: JsonRpc;
const chains = worldChains(now, WORLD_SEED);

beforeEach(async () => {
  explorer = await startExplorer(chains);
  venue = await startVenue((chain, token) => worldPoolsOf(chain, token, Date.now() / 1_000));
  nodes = await startNodes(chains);
  const sleep = async () => undefined;
  rpc = jsonRpc({ url: nodes.url(1), headers: {}, limits: RPC_LIMITS, sleep });
});
afterEach(async () => {
  rpc.close();
  await Promise.all([explorer.close(), venue.close(), nodes.close()]);
});

type Over = { readonly dialect?: 'blockscout'; readonly node?: null };

function sources({ dialect, node }: Over = {}): WalkSources {
  const guard = providerGuard(GUARD, () => performance.now());
  const asked = { now, timeMs: 20_000, callsMax: 100, simulated: false };
  const listing = { ...asked, timeMs: 300 };
  const at =
    dialect === undefined
      ? etherscanChain('ethereum', { url: explorer.etherscan, guard }, null)
      : blockscoutChain('ethereum', { url: explorer.blockscout(1), guard });
  return {
    creations: explorerCreations({ at, ...asked }, relaysFile(RELAYS)),
    kinds: contractKinds({ at, ...asked }, node === null ? null : rpc),
    transfers: explorerTokenTransfers({ at, ...asked }),
    venue: dexscreenerVenue({ url: venue.url, guard, chain: 'ethereum', ...listing }),
    pairs:
      node === null
        ? null
        : nodePairCreations({ rpc, exchanges: ETHEREUM_EXCHANGES, now, simulated: false }),
    launchpads: launchpadRegistry(LAUNCHPADS),
    launchPools: explorerLaunchPools({ at, ...asked }, UNISWAP_V2),
    prices: { historical: () => Promise.reject(new Error('test: nobody asks for a price')) },
  };
}

async function outcomeOf(address: string, over: Over = {}, limits = LIMITS) {
  const { signal } = new AbortController();
  return walkDeployer(sources(over), address, { limits, now, before: null }, signal);
}

async function recordOf(address: string, over: Over = {}, limits = LIMITS) {
  const outcome = await outcomeOf(address, over, limits);
  if (!outcome.walked) throw new Error(outcome.why.reason);
  return recordFields({ ...outcome.walk, failed: null }, outcome.walk.captured_at);
}

const { allDied, mixed, unlisted, none } = SANDBOX_DEPLOYERS;

describe('a deployer is walked to', () => {
  test('all_died, with the liquidity, volume and transfers of each launch', async () => {
    const record = await recordOf(allDied);
    expect(record).toMatchObject({ state: 'all_died', listed_launches: 3, died: 3, death_rate: 1 });
    expect(
      record.launches.map((one) => [one.liquidity_usd, one.volume_usd_24h, one.transfers_observed]),
    ).toEqual([
      [310.4, 25, 12],
      [0, 0, 40],
      [12.5, 0, 3],
    ]);
    expect(record.coverage.providers).toEqual([
      `DexScreener-compatible API ${venue.url.origin}`,
      `Etherscan-compatible API ${explorer.etherscan.origin}`,
      `Node ${nodes.url(1).origin}`,
    ]);
  });

  test('mixed, through its own factory, with what is no token and what was undone', async () => {
    const { state, died, survived, coverage, launches } = await recordOf(mixed);
    expect({ state, died, survived }).toEqual({ state: 'mixed', died: 1, survived: 1 });
    const kinds = coverage.skipped.map(({ reason }) => reason).sort();
    const [one, two, three, four] = kinds;
    expect([one, two, three, four]).toEqual([
      ...['not_an_erc20', 'not_an_erc20', 'not_an_erc20', 'reverted_creation'],
    ]);
    expect(coverage).toMatchObject({
      direct_creations: 4,
      factories_walked: 1,
      factory_depth: 1,
      truncated: false,
      truncated_factories: [],
      contracts_examined: 6,
      unchecked: 0,
    });
    const [factory] = launches.filter(({ via }) => via !== null);
    expect(coverage.skipped.map(({ address }) => `factory:${address}`)).toContain(factory?.via);
  });

  test('no_listed_launch, where the venue lists no pair of any', async () => {
    const record = await recordOf(unlisted);
    expect(record).toMatchObject({ state: 'no_listed_launch', never_listed: 2, death_rate: null });
    expect(record.launches.map(({ transfers_observed }) => transfers_observed)).toEqual([0, 3]);
    expect(record.finding).not.toContain('exchange');
  });

  test('unchecked, where the node does not tell what exchanges logged', async () => {
    nodes.fault('range-too-large');
    const record = await recordOf(unlisted);
    expect(record).toMatchObject({ state: 'unchecked', never_listed: 0 });
    expect(record.finding).toContain('what no venue lists was not read. http://127.0.0.1');
  });

  test('a record that holds nothing, where it made nothing', async () => {
    const { launches, coverage } = await recordOf(none);
    expect([launches, coverage.skipped, coverage.direct_creations]).toEqual([[], [], 0]);
  });

  test('counts that are a floor, where it made more than are examined', async () => {
    const few = { ...LIMITS, contractsMax: 2 };
    // A list that is too long is as long when it is asked again: nothing was cut.
    expect(await outcomeOf(allDied, {}, few)).toMatchObject({ walked: true, cut: null });
    const record = await recordOf(allDied, {}, few);
    expect(record.coverage).toMatchObject({ truncated: true, contracts_examined: 2 });
    expect(record.finding).toContain('At least 2 listed');
  });
});

describe('a venue that lists no more what it listed', () => {
  test('leaves a death that was seen, and never makes a launch live or never listed', async () => {
    const { signal } = new AbortController();
    const real = sources();
    const poolsOf: WalkSources['venue']['poolsOf'] = async (token, within) =>
      map(await real.venue.poolsOf(token, within), () => []);
    const emptied = { ...real, venue: { ...real.venue, poolsOf } };
    const outcomes: string[][] = [];
    for (const address of [allDied, mixed]) {
      const first = await outcomeOf(address);
      if (!first.walked) throw new Error(first.why.reason);
      const asked = { limits: LIMITS, now, before: first.walk };
      const again = await walkDeployer(emptied, address, asked, signal);
      if (!again.walked) throw new Error(again.why.reason);
      outcomes.push(again.walk.launches.map(({ outcome }) => outcome).sort());
    }
    expect(outcomes).toEqual([
      ['died', 'died', 'died'],
      ['died', 'unchecked'],
    ]);
  });
});

describe('a venue that fails', () => {
  test.each(VENUE_FAULTS)('raises unchecked and never died: %s', async (fault) => {
    venue.fault(() => fault);
    const outcome = await outcomeOf(allDied);
    // A venue that answers without a figure was not silent, and says the same a minute later.
    const code = fault === 'timeout' ? 'time_budget' : 'provider_failed';
    expect(outcome).toMatchObject({ cut: fault === 'no-liquidity' ? null : { code } });
    const record = await recordOf(allDied);
    expect(record).toMatchObject({ state: 'unchecked', died: 0, death_rate: null });
    expect(record.coverage.unchecked).toBe(3);
    expect(record.launches.map(({ outcome }) => outcome)).toEqual([
      ...['unchecked', 'unchecked', 'unchecked'],
    ]);
  });

  test('is asked one question while it stays silent, and everything once it answers', async () => {
    const { signal } = new AbortController();
    venue.fault(() => 'error500');
    const cut = await outcomeOf(allDied);
    if (!cut.walked) throw new Error(cut.why.reason);
    const asked = { limits: LIMITS, now, before: cut.walk };
    const before = venue.asked.length;
    const again = await walkDeployer(sources(), allDied, asked, signal);
    expect(again).toMatchObject({ walked: false, why: { code: 'provider_failed' } });
    expect(new Set(venue.asked.slice(before)).size).toBe(1);
    // A day later it is walked whatever one of its launches says.
    const old = { ...cut.walk, captured_at: cut.walk.captured_at - 86_400 };
    const late = await walkDeployer(sources(), allDied, { ...asked, before: old }, signal);
    expect(late).toMatchObject({ walked: true, cut: { code: 'provider_failed' } });
    venue.fault(() => null);
    const whole = await walkDeployer(sources(), allDied, asked, signal);
    expect(whole).toMatchObject({ walked: true, cut: null });
    if (whole.walked)
      expect(whole.walk.launches.map(({ outcome }) => outcome)).not.toContain('unchecked');
  });

  test('for one launch leaves the others as they are', async () => {
    const whole = await recordOf(allDied);
    const one = whole.launches[0]?.address;
    venue.fault((token) => (token === one ? 'error500' : null));
    const record = await recordOf(allDied);
    expect(record).toMatchObject({ state: 'unchecked', listed_launches: 2, died: 2 });
    expect(record.coverage.unchecked).toBe(1);
  });
});

describe('a node that fails', () => {
  const SILENT = ['error500', 'rate-limited', 'wrong-shape', 'wrong-chain-id'] as const;

  test.each(SILENT)('is asked one question, and the rest once it answers: %s', async (fault) => {
    const { signal } = new AbortController();
    nodes.fault('wrong-chain-id');
    const cut = await outcomeOf(unlisted);
    if (!cut.walked) throw new Error(cut.why.reason);
    expect(cut).toMatchObject({ cut: { code: 'provider_failed' } });
    const asked = { limits: LIMITS, now, before: cut.walk };
    const before = explorer.calls.length;
    nodes.fault(fault);
    const again = await walkDeployer(sources(), unlisted, asked, signal);
    expect(again).toMatchObject({ walked: false, cost: 'one_question' });
    expect(explorer.calls.length - before).toBe(0);
    nodes.fault(null);
    const whole = await walkDeployer(sources(), unlisted, asked, signal);
    expect(whole).toMatchObject({ walked: true, cut: null });
  });

  test('leaves no record of contracts that nobody else decides', async () => {
    nodes.fault('error500');
    const outcome = await outcomeOf(unlisted);
    expect(outcome).toMatchObject({ walked: false, why: { code: 'provider_failed' } });
  });
});

describe('an explorer that fails', () => {
  test.each(['rate-limited', 'notok', 'html', 'unknown-empty', 'error500', 'wrong-type'] as const)(
    'in its list of transactions leaves no record: %s',
    async (fault) => {
      explorer.fault(({ action }) => (action === 'txlist' ? fault : null));
      expect(await outcomeOf(allDied)).toMatchObject({ walked: false });
    },
  );

  test('that has rows still to come is read in part', async () => {
    explorer.fault(({ action }) => (action === 'txlistinternal' ? 'pending-internal' : null));
    const { signal } = new AbortController();
    expect(await sources().creations.madeBy(mixed, signal)).toBeInstanceOf(Part);
  });

  test('to say who made a contract leaves no record where nothing else was read', async () => {
    explorer.fault(({ action }) => (action === 'getcontractcreation' ? 'notok' : null));
    expect(await outcomeOf(allDied)).toMatchObject({ walked: false });
  });

  test.each(['notok', 'truncated-page'] as const)(
    'to list transfers whole leaves them null, and the outcome as the venue has it: %s',
    async (fault) => {
      const counted = await recordOf(allDied);
      expect(counted.launches.map((one) => one.transfers_observed)).not.toContain(null);
      explorer.fault(({ action }) => (action === 'tokentx' ? fault : null));
      const record = await recordOf(allDied);
      expect(record).toMatchObject({ died: 3 });
      const told = record.launches.map((one) => [one.transfers_observed, one.transfers_truncated]);
      expect(told).toEqual(record.launches.map(() => [null, null]));
    },
  );
});

describe('without a node', () => {
  test('and without a published source each contract is undetermined, and nothing is said', async () => {
    expect(await outcomeOf(allDied, { node: null })).toMatchObject({ walked: true });
    const record = await recordOf(allDied, { node: null });
    expect(record).toMatchObject({ state: 'unchecked', listed_launches: 0 });
    expect(record.coverage.skipped.map(({ reason }) => reason)).toEqual([
      ...['undetermined', 'undetermined', 'undetermined'],
    ]);
  });
});
