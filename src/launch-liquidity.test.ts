// A walk keeps what each new launch was launched with, over the wire formats of both explorers; of
// whom a source did not tell it keeps the reason, and never an amount.

import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { map, Read } from './evidence/reading.ts';
import { walkDeployer } from './features/deployers/walk.ts';
import type { ObservedLaunch, WalkSources } from './ports/deployers.ts';
import { dexscreenerVenue } from './sources/dexscreener/venue.ts';
import {
  contractKinds,
  explorerCreations,
  explorerTokenTransfers,
} from './sources/explorer/deployer-creations.ts';
import { blockscoutChain, etherscanChain } from './sources/explorer/envelope.ts';
import { explorerLaunchPools, UNISWAP_V2 } from './sources/explorer/launch-pools.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { providerGuard } from './sources/http/provider.ts';
import { defillamaPrices } from './sources/prices/defillama.ts';
import { launchpadRegistry, relaysFile } from './sources/registry/registry-files.ts';
import { tablePrices } from './stores/history/table-prices.ts';
import { worldChains } from './world/chain-data.ts';
import { worldPoolsOf } from './world/deployers.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { startNodes } from './world/json-rpc-server.ts';
import { WORLD_SEED } from './world/listed-parties.ts';
import { type StartedPriceApi, startPriceApi, worldPriceOf } from './world/price-api.ts';
import { type StartedVenue, startVenue, type WorldPool } from './world/venue-api.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const DAY_S = 86_400;
const LIMITS = {
  contractsMax: 50,
  askedMax: 100,
  atOnce: 2,
  exitLiquidityUsd: 1_000,
  launchedWithMax: 100,
};
const GUARD = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 1_000, restMs: 1 };
const RELAYS = new URL('../registry/relays.csv', import.meta.url);
const LAUNCHPADS = new URL('../registry/launchpads.csv', import.meta.url);
/** A wallet of the simulated Ethereum that launched six tokens, and the first of them. */
const MAKER = '0x271330498eecb969729518d604a888eac7ae291b';
const TOKEN = '0x2d50d1f78921e34195c3f250812d09f7b0447777';
const KNOWN = {
  state: 'known',
  usd: '5836.67304013395',
  pool: '0xf9840843c48ae37e13f38a60977476e290d2cd92',
  coin: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  amount: '1.650318925',
  tx: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  at: 1_795_248_000,
  price: 'DefiLlama-compatible price of 2026-11-21T08:00:00.000Z',
};

let explorer: StartedExplorer;
let venue: StartedVenue;
let prices: StartedPriceApi;
/** The coins that the source of prices knows. */
let isKnown = (_id: string): boolean => true;
let nodes: Awaited<ReturnType<typeof startNodes>>;
let rpc: JsonRpc;
let others: readonly WorldPool[] = [];
/** Up to when the explorer follows its chain. */
let followed = NOW;
const chains = worldChains(() => followed, WORLD_SEED);

beforeAll(async () => {
  explorer = await startExplorer(chains);
  venue = await startVenue((chain, token) => [...worldPoolsOf(chain, token, NOW), ...others]);
  prices = await startPriceApi({
    now: () => NOW,
    priceOf: (id, at) => (isKnown(id) ? worldPriceOf(WORLD_SEED, id, at) : null),
  });
  nodes = await startNodes(chains);
  const sleep = async () => undefined;
  rpc = jsonRpc({ url: nodes.url(1), headers: {}, limits: RPC_LIMITS, sleep });
});
afterAll(async () => {
  rpc.close();
  await Promise.all([explorer, venue, prices, nodes].map((one) => one.close()));
});
afterEach(() => {
  explorer.fault(() => null);
  prices.fault(null);
  others = [];
});

type Over = {
  readonly dialect?: 'blockscout';
  readonly now?: number;
  readonly prices?: WalkSources['prices'];
  readonly limits?: Partial<typeof LIMITS>;
};

const guard = () => providerGuard(GUARD, () => performance.now());
const ASKED = { timeMs: 20_000, callsMax: 100, simulated: false };
const told = () => defillamaPrices({ url: prices.url, guard: guard(), now: () => NOW, ...ASKED });

async function walked(over: Over = {}): Promise<readonly ObservedLaunch[]> {
  const now = () => over.now ?? NOW;
  followed = now();
  const asked = { now, ...ASKED };
  const at =
    over.dialect === undefined
      ? etherscanChain('ethereum', { url: explorer.etherscan, guard: guard() }, null)
      : blockscoutChain('ethereum', { url: explorer.blockscout(1), guard: guard() });
  const sources: WalkSources = {
    creations: explorerCreations({ at, ...asked }, relaysFile(RELAYS)),
    kinds: contractKinds({ at, ...asked }, rpc),
    transfers: explorerTokenTransfers({ at, ...asked }),
    venue: dexscreenerVenue({ url: venue.url, guard: guard(), chain: 'ethereum', ...asked }),
    pairs: null,
    launchpads: launchpadRegistry(LAUNCHPADS),
    launchPools: explorerLaunchPools({ at, ...asked }, UNISWAP_V2),
    prices: over.prices ?? told(),
  };
  const given = { limits: { ...LIMITS, ...over.limits }, now, before: null };
  const outcome = await walkDeployer(sources, MAKER, given, new AbortController().signal);
  if (!outcome.walked) throw new Error(outcome.why.reason);
  return outcome.walk.launches;
}

async function launchedWith(over: Over = {}): Promise<ObservedLaunch['launched_with'] | undefined> {
  return (await walked(over)).find(({ address }) => address === TOKEN)?.launched_with;
}

describe('what a launch was launched with', () => {
  test.each([undefined, 'blockscout'] as const)('is kept with its source: %s', async (dialect) => {
    const over = dialect === undefined ? {} : { dialect };
    expect(await launchedWith(over)).toMatchObject(KNOWN);
    const states = (await walked(over)).map((one) => one.launched_with.state);
    expect(states).toEqual(['known', 'known', 'known', 'known', 'known', 'known']);
  });

  test('is asked of the newest launches alone, and of none that is no more to be scored', async () => {
    const unasked = { state: 'unknown', cause: 'unasked' };
    expect(await launchedWith({ limits: { launchedWithMax: 5 } })).toEqual(unasked);
    expect(await launchedWith({ limits: { launchedWithMax: 6 } })).toMatchObject(KNOWN);
    expect(await launchedWith({ now: 1_795_248_000 + 30 * DAY_S })).toMatchObject(KNOWN);
    expect(await launchedWith({ now: 1_795_248_000 + 30 * DAY_S + 1 })).toEqual(unasked);
  });

  test('is not known where another pool may be older, and is where each is younger', async () => {
    const pool = { side: 'base', liquidityUsd: 5, volumeUsd24h: 0, dex: 'other' } as const;
    const older = { state: 'unknown', cause: 'older_pool' };
    others = [{ ...pool, createdAt: 1_795_248_000 }];
    expect(await launchedWith()).toEqual(older);
    others = [{ ...pool, createdAt: 1_795_248_001 }];
    expect(await launchedWith()).toMatchObject(KNOWN);
  });

  test('is not known without a price, whether there is none or nobody to tell it', async () => {
    const unpriced = { state: 'unknown', cause: 'unpriced' };
    prices.fault('forgets-all');
    expect(await launchedWith()).toMatchObject({ state: 'unread' });
    prices.fault(null);
    isKnown = (id) => id === 'coingecko:ethereum';
    onTestFinished(() => {
      isKnown = () => true;
    });
    expect(await launchedWith()).toEqual(unpriced);
    const none = await told().historical([], new AbortController().signal);
    if (!(none instanceof Read)) throw new Error('test: silent');
    const table = {
      held: async () => map(none, () => []),
      keep: async () => map(none, () => true as const),
    };
    const options = { table, source: null, now: () => NOW, onUnkept: () => undefined };
    expect(await launchedWith({ prices: tablePrices(options) })).toEqual(unpriced);
  });
});

describe('a source that is silent', () => {
  const FAULTS = [
    ...(['rate-limited', 'notok', 'html', 'unknown-empty', 'cut-body', 'error500'] as const),
    'cut-connection',
  ] as const;
  /** Of the newest launch, the only one that is looked at. */
  const newest = async () => (await walked({ limits: { contractsMax: 1 } }))[0]?.launched_with;
  const unread = { state: 'unread', reason: expect.stringContaining(' ') };

  test('is all that hides it', async () => {
    expect(await newest()).toMatchObject({ state: 'known' });
  });

  test.each(FAULTS)('about the logs leaves its reason, and no amount: %s', async (fault) => {
    explorer.fault(({ action }) => (action === 'getLogs' ? fault : null));
    expect(await newest()).toEqual(unread);
  });

  test('about the second of its questions leaves its reason too', async () => {
    let asked = 0;
    explorer.fault(({ action }) => {
      if (action === 'getLogs') asked += 1;
      return action === 'getLogs' && asked % 2 === 0 ? 'error500' : null;
    });
    expect(await newest()).toEqual(unread);
  });

  test.each(FAULTS)('about who signed leaves its reason: %s', async (fault) => {
    explorer.fault(({ action }) => (action === 'eth_getTransactionReceipt' ? fault : null));
    expect(await newest()).toEqual(unread);
  });

  test.each(['error500', 'rate-limited', 'html', 'wrong-shape'] as const)(
    'about prices leaves its reason: %s',
    async (fault) => {
      prices.fault(fault);
      expect(await newest()).toEqual(unread);
    },
  );
});
