// The liquidity of a token at launch is exact on a real EVM, and only its deployer can change it:
// dust, a pool with a worthless token, or a contract like a pool cannot.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordFields } from './features/deployers/record.ts';
import { walkDeployer } from './features/deployers/walk.ts';
import type { ObservedLaunch, PairCreations, WalkSources } from './ports/deployers.ts';
import { dexscreenerVenue } from './sources/dexscreener/venue.ts';
import { ETHEREUM_EXCHANGES, nodePairCreations } from './sources/evm/pair-creations.ts';
import {
  contractKinds,
  explorerCreations,
  explorerTokenTransfers,
} from './sources/explorer/deployer-creations.ts';
import { etherscanChain } from './sources/explorer/envelope.ts';
import { explorerLaunchPools } from './sources/explorer/launch-pools.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { providerGuard } from './sources/http/provider.ts';
import { defillamaPrices } from './sources/prices/defillama.ts';
import { launchpadRegistry, relaysFile } from './sources/registry/registry-files.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { type AnvilExplorer, startAnvilExplorer } from './testing/anvil-explorer.ts';
import { type Contracts, callData, compileContracts } from './testing/contracts.ts';
import { LAUNCH_CONTRACTS } from './testing/launch-contracts.ts';
import { type StartedPriceApi, startPriceApi } from './world/price-api.ts';
import { type StartedVenue, startVenue, type WorldPool } from './world/venue-api.ts';

const absent = anvilPath() === null;
const title = absent ? 'a real node (skipped: anvil is not installed)' : 'a real node';
const GUARD = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 1_000, restMs: 1 };
const LIMITS = {
  contractsMax: 100,
  askedMax: 200,
  atOnce: 4,
  exitLiquidityUsd: 1_000,
  launchedWithMax: 100,
};
const RELAYS = new URL('../registry/relays.csv', import.meta.url);
const LAUNCHPADS = new URL('../registry/launchpads.csv', import.meta.url);
const SUPPLY = 10n ** 24n;
const ETHER = 10n ** 18n;
const DOLLAR = 10n ** 6n;
const NAMES = [
  'plain',
  'dollars',
  'dusted',
  'worthless',
  'imitated',
  'unpooled',
  'dropped',
  'bare',
] as const;
type Name = (typeof NAMES)[number];

describe.skipIf(absent)(title, { timeout: 120_000 }, () => {
  let anvil: Anvil;
  let contracts: Contracts;
  let explorer: AnvilExplorer;
  let venue: StartedVenue;
  let prices: StartedPriceApi;
  let rpc: JsonRpc;
  let told: ReadonlyMap<string, ObservedLaunch>;
  const tokens = new Map<Name, string>();
  const listed = new Map<string, WorldPool[]>();
  const filled = new Map<string, { readonly tx: string; readonly at: number }>();
  let [weth, usd, exchange] = ['', '', ''];
  const tokenOf = (name: Name) => String(tokens.get(name));

  async function deployed(from: string, code: string): Promise<string> {
    const [hash] = await anvil.mine({ from, data: code });
    return anvil.created(hash);
  }
  const erc20 = () => callData(contracts('Erc20').code, SUPPLY);

  async function poolOf(from: string, token: string, coin: string): Promise<string> {
    const data = callData(contracts('Exchange').selector('createPair'), token, coin);
    const word = String(await anvil.ask('eth_call', { from, to: exchange, data }, 'latest'));
    await anvil.mine({ from, to: exchange, data });
    return `0x${word.slice(-40)}`;
  }

  /** Puts both sides into a pool and has it noticed, as a router does in one transaction. */
  async function fill(from: string, pool: string, sides: readonly (readonly [string, bigint])[]) {
    const transfer = contracts('Erc20').selector('transfer');
    for (const [to, amount] of sides) {
      await anvil.mine({ from, to, data: callData(transfer, pool, amount) });
    }
    const data = contracts('ExchangePair').selector('mint');
    const [tx] = await anvil.mine({ from, to: pool, data });
    const block = (await anvil.ask('eth_getBlockByNumber', 'latest', false)) as {
      readonly timestamp: string;
    };
    filled.set(pool, { tx: String(tx), at: Number(block.timestamp) });
  }
  function list(name: Name, ...pools: readonly string[]): void {
    const told_ = pools.map((address): WorldPool => {
      const createdAt = Number(filled.get(address)?.at);
      return { side: 'base', liquidityUsd: 9_000, volumeUsd24h: 1, address, createdAt };
    });
    listed.set(tokenOf(name), told_);
  }

  async function launch(): Promise<void> {
    const [deployer, other, stranger] = anvil.accounts as [string, string, string];
    weth = await deployed(other, erc20());
    usd = await deployed(other, erc20());
    exchange = await deployed(other, contracts('Exchange').code);
    const worthless = await deployed(stranger, erc20());
    const given = contracts('Erc20').selector('transfer');
    for (const to of [deployer, stranger]) {
      for (const coin of [weth, usd]) {
        await anvil.mine({ from: other, to: coin, data: callData(given, to, 1_000n * ETHER) });
      }
    }
    for (const name of NAMES) tokens.set(name, await deployed(deployer, erc20()));
    for (const name of ['dusted', 'worthless', 'imitated'] as const) {
      const data = callData(given, stranger, SUPPLY / 10n);
      await anvil.mine({ from: deployer, to: tokenOf(name), data });
    }
    const into = async (name: Name, coin: string, amount: bigint, from = deployer) => {
      const pool = await poolOf(from, tokenOf(name), coin);
      await fill(from, pool, [
        [tokenOf(name), SUPPLY / 20n],
        [coin, amount],
      ]);
      return pool;
    };
    const plain = await into('plain', weth, (5n * ETHER) / 2n + 1n);
    await fill(deployer, plain, [
      [tokenOf('plain'), 5n],
      [weth, 7n * ETHER],
    ]);
    list('plain', plain);
    const dollars = await into('dollars', usd, 12_345n * DOLLAR + 678_901n);
    await anvil.ask('evm_increaseTime', 60);
    const later = await into('dollars', weth, 40n * ETHER);
    list('dollars', later, dollars);
    const dusted = await into('dusted', weth, 1n, stranger);
    await fill(deployer, dusted, [
      [tokenOf('dusted'), 5n],
      [weth, 7n * ETHER],
    ]);
    list('dusted', dusted);
    await into('worthless', worthless, SUPPLY / 10n, stranger);
    list('worthless', await into('worthless', weth, ETHER));
    const code = callData(contracts('ExchangePair').code, tokenOf('imitated'), weth);
    const imitation = await deployed(stranger, code);
    await fill(stranger, imitation, [
      [tokenOf('imitated'), 9n],
      [weth, 900n * ETHER],
    ]);
    list('imitated', imitation);
    const unpooled: WorldPool = { side: 'base', liquidityUsd: 5_000, volumeUsd24h: 1 };
    listed.set(tokenOf('unpooled'), [unpooled]);
    // The venue lists neither: one that it dropped, and one of which there never was a pair.
    await into('dropped', weth, ETHER);
  }

  beforeAll(async () => {
    [anvil, contracts] = await Promise.all([startAnvil(1), compileContracts(LAUNCH_CONTRACTS)]);
    explorer = await startAnvilExplorer(anvil);
    venue = await startVenue((_, token) => listed.get(token) ?? []);
    const priceOf = (id: string, at: number) => {
      return { price: id.endsWith('0'.repeat(40)) ? 2_000 : 0.999, timestamp: at };
    };
    prices = await startPriceApi({ now: nowS, priceOf });
    const sleep = async () => undefined;
    rpc = jsonRpc({ url: anvil.url, headers: {}, limits: RPC_LIMITS, sleep });
    await launch();
    // Blocks above the settled head are not read.
    await anvil.ask('anvil_mine', '0x80');
    await explorer.index();
    told = (await walked(String(anvil.accounts[0]))).byToken;
  }, 120_000);
  afterAll(async () => {
    rpc?.close();
    const close = [explorer, venue, prices].map((one) => one?.close());
    await Promise.all([anvil?.stop(), ...close]);
  });

  /** The pairs of the exchange, by a node whose clock is so far ahead of its head. */
  const pairsOf = (aheadS = 0): PairCreations => {
    const exchanges = ETHEREUM_EXCHANGES.slice(0, 1).map((one) => ({
      ...one,
      contracts: [exchange],
    }));
    return nodePairCreations({ rpc, exchanges, now: () => nowS() + aheadS, simulated: false });
  };

  async function walked(address: string, pairs: PairCreations | null = pairsOf()) {
    const guard = providerGuard(GUARD, () => performance.now());
    const asked = { now: nowS, timeMs: 20_000, callsMax: 100, simulated: false };
    const at = etherscanChain('ethereum', { url: explorer.url, guard }, null);
    const coins = [
      { address: weth, decimals: 18, priced_as: null },
      { address: usd, decimals: 6, priced_as: usd },
    ];
    const sources: WalkSources = {
      creations: explorerCreations({ at, ...asked }, relaysFile(RELAYS)),
      kinds: contractKinds({ at, ...asked }, rpc),
      transfers: explorerTokenTransfers({ at, ...asked }),
      venue: dexscreenerVenue({ url: venue.url, guard, chain: 'ethereum', ...asked }),
      pairs,
      launchpads: launchpadRegistry(LAUNCHPADS),
      launchPools: explorerLaunchPools({ at, ...asked }, { factory: exchange, coins }),
      prices: defillamaPrices({ url: prices.url, guard, ...asked }),
    };
    const given = { limits: LIMITS, now: nowS, before: null };
    const outcome = await walkDeployer(sources, address, given, new AbortController().signal);
    if (!outcome.walked) throw new Error(outcome.why.reason);
    return {
      ...outcome.walk,
      byToken: new Map(outcome.walk.launches.map((one) => [one.address, one])),
    };
  }

  const of = (name: Name) => told.get(tokenOf(name))?.launched_with;
  const poolsIn = (name: Name) => String(listed.get(tokenOf(name))?.at(-1)?.address);

  test('has the first liquidity of the pool to the last digit, both sides in US dollars', () => {
    const pool = poolsIn('plain');
    expect(of('plain')).toMatchObject({
      state: 'known',
      usd: '10000.000000000000004',
      amount: '2.500000000000000001',
      coin: weth,
      pool,
    });
  });

  test('has a dollar coin by its own decimals and price, where its pool was the first', () => {
    const pool = poolsIn('dollars');
    expect(of('dollars')).toMatchObject({
      state: 'known',
      usd: '24666.666444198',
      amount: '12345.678901',
      coin: usd,
      pool,
      ...filled.get(pool),
    });
  });

  test('says that it is not known where a stranger could have made it what it seems', () => {
    expect(of('dusted')).toEqual({ state: 'unknown', cause: 'not_by_deployer' });
    expect(of('worthless')).toEqual({ state: 'unknown', cause: 'older_pool' });
    expect(of('imitated')).toEqual({ state: 'unknown', cause: 'no_pool' });
    expect(of('unpooled')).toEqual({ state: 'unknown', cause: 'no_pool' });
  });

  test('calls a token never listed only where no exchange made a pair of it', async () => {
    const outcomes = (walk: Awaited<ReturnType<typeof walked>>) =>
      (['dropped', 'bare'] as const).map((name) => walk.byToken.get(tokenOf(name))?.outcome);
    const deployer = String(anvil.accounts[0]);
    const asked = await walked(deployer);
    expect(outcomes(asked)).toEqual(['unchecked', 'never_listed']);
    expect(asked.listed_once).toContain(tokenOf('dropped'));
    expect(asked.listed_once).not.toContain(tokenOf('bare'));
    expect(recordFields({ ...asked, failed: null }, nowS()).finding).not.toContain('exchange');
    // A node that is behind shows no absence.
    expect(outcomes(await walked(deployer, pairsOf(7_200)))).toEqual(['unchecked', 'unchecked']);
    const unasked = await walked(deployer, null);
    expect(outcomes(unasked)).toEqual(['never_listed', 'never_listed']);
    expect(recordFields({ ...unasked, failed: null }, nowS()).finding).toContain(
      'Whether an exchange ever made a pair of what no venue lists was not read. No node is set.',
    );
  });
});

function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}
