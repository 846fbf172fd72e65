// Is a deployer's record exactly as documented on a real EVM: direct, by a factory, by CREATE2,
// destroyed and made again, reverted, behind a proxy, an NFT, a pool, a router, and what a factory
// behind a factory made?

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksumAddress, parseEvmAddress } from './chain/address.ts';
import { recordFields } from './features/deployers/record.ts';
import { walkDeployer } from './features/deployers/walk.ts';
import type { WalkSources } from './ports/deployers.ts';
import { dexscreenerVenue } from './sources/dexscreener/venue.ts';
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
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { type AnvilExplorer, startAnvilExplorer } from './testing/anvil-explorer.ts';
import { type Contracts, callData, compileContracts } from './testing/contracts.ts';
import { LAUNCH_CONTRACTS } from './testing/launch-contracts.ts';
import { sealRegistry } from './testing/reviewed-files.ts';
import { type StartedVenue, startVenue, type WorldPool } from './world/venue-api.ts';

const absent = anvilPath() === null;
const title = absent ? 'a real node (skipped: anvil is not installed)' : 'a real node';
const GUARD = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 1_000, restMs: 1 };
const LIMITS = {
  contractsMax: 100,
  askedMax: 200,
  atOnce: 4,
  exitLiquidityUsd: 1_000,
  launchedWithMax: 0,
};
const RELAYS = new URL('../registry/relays.csv', import.meta.url);
const SUPPLY = 10n ** 24n;
const NAMES = [
  ...['live', 'dead', 'nft', 'router', 'pair', 'proxy', 'anything', 'stillborn', 'factory'],
  ...[
    'made',
    'made by another',
    'at salt',
    'made again',
    'ended',
    'second factory',
    'not followed',
  ],
  ...['through a launchpad', 'launchpad'],
] as const;
type Name = (typeof NAMES)[number];

describe.skipIf(absent)(title, { timeout: 120_000 }, () => {
  let anvil: Anvil;
  let contracts: Contracts;
  let explorer: AnvilExplorer;
  let venue: StartedVenue;
  let rpc: JsonRpc;
  const places = new Map<Name, string>();
  const pools = new Map<string, readonly WorldPool[]>();
  const at = (name: Name) => String(places.get(name));

  async function deploy(name: Name, from: string, code: string): Promise<string> {
    const [hash] = await anvil.mine({ from, data: code });
    const made = await anvil.created(hash);
    places.set(name, made);
    return made;
  }

  /** Calls a function of a factory and gives what the call would answer: the contract it makes. */
  async function called(name: Name, from: string, to: string, data: string): Promise<void> {
    const word = String(await anvil.ask('eth_call', { from, to, data }, 'latest'));
    places.set(name, `0x${word.slice(-40)}`);
    await anvil.mine({ from, to, data });
  }

  beforeAll(async () => {
    const compiled = compileContracts(LAUNCH_CONTRACTS);
    [anvil, contracts] = await Promise.all([startAnvil(1), compiled]);
    explorer = await startAnvilExplorer(anvil);
    venue = await startVenue((_, token) => pools.get(token) ?? []);
    rpc = jsonRpc({
      url: anvil.url,
      headers: {},
      limits: RPC_LIMITS,
      sleep: async () => undefined,
    });
    await launch();
    // Blocks above the settled head are not read.
    await anvil.ask('anvil_mine', '0x80');
    await explorer.index();
  }, 120_000);
  afterAll(async () => {
    rpc?.close();
    await Promise.all([anvil?.stop(), explorer?.close(), venue?.close()]);
  });

  async function launch(): Promise<void> {
    const [deployer, other, user] = anvil.accounts as [string, string, string];
    const token = (supply: bigint) => callData(contracts('Erc20').code, supply);
    const factory = contracts('TokenFactory');
    const live = await deploy('live', deployer, token(SUPPLY));
    await deploy('dead', deployer, token(SUPPLY));
    const data = callData(contracts('Erc20').selector('transfer'), user, 5n);
    await anvil.mine({ from: deployer, to: live, data }, { from: deployer, to: live, data });
    await deploy('nft', deployer, contracts('Nft').code);
    await deploy('router', deployer, contracts('Router').code);
    await deploy('pair', deployer, callData(contracts('Pair').code, live, other));
    await deploy('proxy', deployer, callData(contracts('Proxy').code, live));
    await deploy('anything', deployer, contracts('Anything').code);
    await deploy('stillborn', deployer, contracts('Stillborn').code);
    const own = await deploy('factory', deployer, factory.code);
    await called('made', deployer, own, factory.selector('make'));
    await called('made by another', other, own, factory.selector('make'));
    const makeAt = (salt: bigint) => callData(factory.selector('makeAt'), salt);
    const makeAndEnd = (salt: bigint) => callData(factory.selector('endAt'), salt);
    await called('at salt', deployer, own, makeAt(1n));
    await called('made again', deployer, own, makeAndEnd(2n));
    await called('made again', deployer, own, makeAt(2n));
    await called('ended', deployer, own, makeAndEnd(3n));
    await called('second factory', deployer, own, factory.selector('makeFactory'));
    await called('not followed', deployer, at('second factory'), factory.selector('make'));
    const launchpad = await deploy('launchpad', other, factory.code);
    await called('through a launchpad', user, launchpad, factory.selector('make'));
    await called('through a launchpad', deployer, launchpad, factory.selector('make'));
    const pool = (liquidityUsd: number): WorldPool[] => [
      { side: 'base', liquidityUsd, volumeUsd24h: 1.5 },
    ];
    pools.set(live, pool(50_000));
    pools.set(at('dead'), pool(3.25));
    pools.set(at('made'), pool(0));
  }

  async function sources(launchpads: readonly string[]): Promise<WalkSources> {
    const guard = providerGuard(GUARD, () => performance.now());
    const asked = { now: nowS, timeMs: 20_000, callsMax: 100, simulated: false };
    const chain = etherscanChain('ethereum', { url: explorer.url, guard }, null);
    return {
      creations: explorerCreations({ at: chain, ...asked }, relaysFile(RELAYS)),
      kinds: contractKinds({ at: chain, ...asked }, rpc),
      transfers: explorerTokenTransfers({ at: chain, ...asked }),
      venue: dexscreenerVenue({ url: venue.url, guard, chain: 'ethereum', ...asked }),
      pairs: null,
      launchpads: launchpadRegistry(await registryOf(launchpads)),
      launchPools: explorerLaunchPools({ at: chain, ...asked }, UNISWAP_V2),
      prices: { historical: () => Promise.reject(new Error('test: nobody asks for a price')) },
    };
  }

  async function recordOf(address: string, launchpads: readonly string[] = []) {
    const { signal } = new AbortController();
    const given = { limits: LIMITS, now: nowS, before: null };
    const outcome = await walkDeployer(await sources(launchpads), address, given, signal);
    if (!outcome.walked) throw new Error(outcome.why.reason);
    return recordFields({ ...outcome.walk, failed: null }, outcome.walk.captured_at);
  }

  const nameOf = (address: string) => NAMES.find((name) => at(name) === address) ?? address;

  test('gives exactly the documented record', async () => {
    const record = await recordOf(String(anvil.accounts[0]));
    const launches = record.launches.map((one) => [
      nameOf(one.address),
      one.outcome,
      one.liquidity_usd,
      one.transfers_observed,
      one.via === null ? null : nameOf(one.via.replace('factory:', '')),
    ]);
    expect(launches.sort()).toEqual(
      [
        ['live', 'live', 50_000, 3, null],
        ['dead', 'died', 3.25, 1, null],
        ['proxy', 'never_listed', null, 0, null],
        ['made', 'died', 0, 1, 'factory'],
        ['at salt', 'never_listed', null, 1, 'factory'],
        ['made again', 'never_listed', null, 2, 'factory'],
        ['ended', 'never_listed', null, 1, 'factory'],
      ].sort(),
    );
    const skipped = record.coverage.skipped.map((one) => [nameOf(one.address), one.reason]);
    expect(skipped.sort()).toEqual(
      [
        ['nft', 'not_an_erc20'],
        ['router', 'not_an_erc20'],
        ['pair', 'not_an_erc20'],
        ['anything', 'undetermined'],
        ['stillborn', 'reverted_creation'],
        ['factory', 'not_an_erc20'],
        ['made by another', 'attribution_mismatch'],
        ['second factory', 'not_an_erc20'],
      ].sort(),
    );
    expect(record).toMatchObject({
      state: 'mixed',
      listed_launches: 3,
      died: 2,
      survived: 1,
      never_listed: 4,
      death_rate: 2 / 3,
      coverage: {
        direct_creations: 8,
        factories_walked: 1,
        factory_depth: 1,
        // A second level made something.
        truncated: true,
        truncated_factories: [],
        contracts_examined: 15,
        unchecked: 0,
      },
    });
  });

  test('credits nobody with what was made behind a second factory, or through a launchpad', async () => {
    const record = await recordOf(String(anvil.accounts[0]));
    const named = [...record.launches, ...record.coverage.skipped].map((one) =>
      nameOf(one.address),
    );
    for (const name of ['not followed', 'through a launchpad', 'launchpad']) {
      expect(named).not.toContain(name);
    }
  });

  test('holds nothing for whoever launched through a public launchpad alone', async () => {
    const record = await recordOf(String(anvil.accounts[2]));
    expect([record.launches, record.coverage.skipped]).toEqual([[], []]);
    expect(record.coverage.direct_creations).toBe(0);
  });

  test('does not credit the maker of a public launchpad with what it made', async () => {
    const maker = String(anvil.accounts[1]);
    const plain = await recordOf(maker);
    expect(plain.coverage.factories_walked).toBe(1);
    const registered = await recordOf(maker, [at('launchpad')]);
    expect(registered.coverage.factories_walked).toBe(0);
    expect(registered.coverage.skipped.map((one) => nameOf(one.address))).toEqual(['launchpad']);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'exhibit-launchpads-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A registry without any row says nothing of a chain: it is read as not loaded. */
const NOBODYS_LAUNCHPAD = '0x00000000000000000000000000000000000000b1';

/** A file of the registry's layout. */
async function registryOf(contracts: readonly string[]): Promise<string> {
  const rows = [NOBODYS_LAUNCHPAD, ...contracts].map((one) => {
    const address = parseEvmAddress(one);
    if (address === null) throw new Error(`${one} is no address`);
    return `Pad,ethereum,${checksumAddress(address)},Tests,https://example.org/,2026-11-22`;
  });
  const path = join(folder, `${contracts.length}.csv`);
  writeFileSync(path, ['name,chain,address,source,source_url,reviewed', ...rows, ''].join('\n'));
  sealRegistry(folder);
  return path;
}

function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}
