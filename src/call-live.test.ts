// From what venues and nodes tell to a call and what became of it, for each detector: the jobs run
// over stand-ins under a clock of the test, on the real stores of calls and leaves, and the routes
// are asked over HTTP.

import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { formatIsoDate, formatIsoTime } from './chain/time.ts';
import { Reply } from './contract/answer.ts';
import { NOBODY } from './contract/route.ts';
import { map, Read, read, rowsSeen, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { emissionTable, emittedCallTable } from './features/calls/calls.store.ts';
import { emitOnce } from './features/calls/emit.job.ts';
import { replayCalls } from './features/calls/replay.ts';
import { edgePageHandler } from './features/edge/edge-page.route.tsx';
import { WORK_APART } from './features/edge/feature.ts';
import { edgeTrialTable } from './features/edge/trials.store.ts';
import { followChain, TIP_BLOCKS_MAX } from './features/indexing/follow-chain.job.ts';
import { observeChains } from './features/observing/chain-flows.ts';
import {
  type ObservedVenue,
  observeMarkets,
  ROUND_EACH_S,
} from './features/observing/observe.job.ts';
import { rankerTable } from './features/ranker/ranker.store.ts';
import { seriesGathering } from './features/series/gather.ts';
import type { ChainFlows } from './ports/chain-flows.ts';
import type { DetectorKind, Direction } from './ports/emitted-calls.ts';
import type { FollowState } from './ports/indexing.ts';
import type { LiquidationFeed, MarketVenue, SeriesStore } from './ports/series.ts';
import type { ExchangeLabel } from './ports/tables.ts';
import { binanceMarket } from './sources/binance/market.ts';
import { bybitMarket } from './sources/bybit/market.ts';
import { evmNode } from './sources/evm/node.ts';
import { jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { providerGuard } from './sources/http/provider.ts';
import { weightWindow } from './sources/http/weight-window.ts';
import { hyperliquidMarket, WEIGHT_WINDOW } from './sources/hyperliquid/info.ts';
import { SOCKET_BOUNDS } from './sources/socket/heard-socket.ts';
import { BINANCE_WORDS, BYBIT_WORDS, liquidationFeed } from './sources/socket/liquidation-feeds.ts';
import { warehouseFlows } from './stores/warehouse/history/chain-flows.ts';
import { transferStore } from './stores/warehouse/transfers/store.ts';
import { evm } from './testing/addresses.ts';
import { embeddedControl, leasesIn } from './testing/control-store.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { startRouteServer } from './testing/route-server.ts';
import { memorySeriesStore } from './testing/twins/series.ts';
import { startBinance } from './world/binance-api.ts';
import { startBybit } from './world/bybit-api.ts';
import type { ExplorerRow, WorldChains } from './world/chain-types.ts';
import { type DerivativesBook, derivativesBook } from './world/derivatives-book.ts';
import { settlementsIn, startHyperliquid } from './world/hyperliquid-api.ts';
import { nodesPart } from './world/json-rpc-server.ts';
import { simulateMarkets } from './world/markets.ts';
import { startStandIn } from './world/stand-in.ts';

vi.setConfig({ testTimeout: 300_000 });

const HOUR_S = 3_600;
const HOUR = HOUR_S * 1_000;
const START = Date.UTC(2026, 5, 1, 12);
const TICK_MS = 900_000;
const SIGNAL = new AbortController().signal;
const WAIT = { timeout: 120_000, interval: 5 };
const fresh = embeddedControl();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What is planted: the price of an asset and its funding of an hour. */
type Planted = {
  readonly asset: string;
  readonly priceAt: (at: number) => number;
  readonly rateAt: (hour: number) => number;
};
type World = { now: number };

const LIMITS = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
const CLOCK = () => performance.now();

function marketOptions(world: World, url: URL) {
  return {
    url,
    guard: providerGuard(LIMITS, CLOCK),
    window: weightWindow({ ...WEIGHT_WINDOW, max: 1e9 }, CLOCK),
    now: () => world.now / 1_000,
    timeMs: 20_000,
    callsMax: 100,
    simulated: false,
  };
}

/** A venue that knows what is planted, up to the time of the world. */
async function startVenue(world: World, { asset, priceAt, rateAt }: Planted) {
  const candlesOf = (_coin: string, from: number, to: number) =>
    settlementsIn(from, to, () => 0).map(({ at }) => {
      const hour = at - (at % HOUR);
      return { at: hour, open: priceAt(hour), close: priceAt(hour + HOUR) };
    });
  const book = {
    roleOf: () => ({ role: 'missing' as const }),
    fillsOf: () => [],
    fundingOf: () => [],
    candlesOf,
    settlementsOf: (_coin: string, from: number, to: number) =>
      settlementsIn(from, Math.min(to, world.now), rateAt),
    instruments: () => [
      {
        coin: asset,
        isDelisted: false,
        rate: rateAt(Math.floor(world.now / HOUR)),
        open_interest: 1_000,
        price: priceAt(world.now),
      },
    ],
  };
  const started = await startHyperliquid(book, { nowMs: () => world.now, weightMax: 1e9 });
  closing.push(started.close);
  return hyperliquidMarket(marketOptions(world, started.url));
}

/** What a process observes beside Hyperliquid. */
type Outside = {
  readonly venues?: readonly ObservedVenue[];
  readonly observeChains?: (
    store: SeriesStore,
  ) => (signal: AbortSignal) => ReturnType<typeof observeChains>;
};

/** The jobs of one process and the routes over what they keep. */
async function startProcess(world: World, planted: Planted, outside: Outside = {}) {
  const market = await startVenue(world, planted);
  const control = fresh();
  const context = { simulated: false, nowMs: () => world.now };
  const now = () => Math.floor(world.now / 1_000);
  const store = memorySeriesStore();
  const { venues = [], observeChains: chainsOver = () => async () => null } = outside;
  const marketOf = (venue: MarketVenue) => venues.find((one) => one.venue === venue)?.market;
  const markets = {
    hyperliquid: market,
    binance: marketOf('binance') ?? binanceMarket(null),
    bybit: marketOf('bybit') ?? bybitMarket(null),
  };
  const gathering = seriesGathering({ store, markets, origin: 'observed', now });
  const faults: string[] = [];
  const rounds: object[] = [];
  let wake: (() => void) | null = null;
  const job = observeMarkets({
    leases: leasesIn(control, 'the observer'),
    store,
    gathering,
    venues: [{ venue: 'hyperliquid', market, feed: null }, ...venues],
    assets: [planted.asset],
    origin: 'observed',
    now,
    observeChains: chainsOver(store),
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        wake = resolve;
        signal.addEventListener('abort', () => resolve());
      }),
    onRound: (counts) => rounds.push(counts),
    onFault: ({ reason }) => faults.push(reason),
    onBug: (fault) => faults.push(String(fault)),
  });
  closing.push(job.stop);
  await vi.waitFor(() => expect(rounds).toHaveLength(1), WAIT);
  const calls = emittedCallTable(control, context);
  const parts = {
    store: emissionTable(control, context),
    versions: calls.versions,
    series: store,
    gather: gathering.gather,
    leases: leasesIn(control, 'the producer'),
    assets: [planted.asset],
    now,
  };
  const ports = {
    emittedCalls: calls,
    marketSeries: store,
    edgeTrials: edgeTrialTable(control, context),
    publishedRankers: rankerTable(control, context, () => 'no artefact'),
  };
  const server = await startRouteServer(() => ports, now);
  closing.push(server.close);
  return {
    control,
    store,
    ports,
    faults,
    emit: () => emitOnce(parts, new AbortController().signal),
    replay: (from: number, to: number) =>
      replayCalls(parts, { from: from / 1_000, to: to / 1_000 }, SIGNAL),
    /** What ran whole of a kind, as the record has it. */
    ranWhole: async (kind: DetectorKind) => {
      const ran = await calls.ran();
      if (!ran.checked) throw new Error(ran.why.reason);
      return ran.value[kind];
    },
    /** Observes at a later time. */
    observeAt: async (at: number) => {
      const before = rounds.length;
      await vi.waitFor(() => expect(wake).not.toBeNull(), WAIT);
      world.now = at;
      const go = wake;
      wake = null;
      go?.();
      await vi.waitFor(() => expect(rounds.length).toBe(before + 1), WAIT);
    },
    ask: async (path: string): Promise<unknown> => (await fetch(server.base + path)).json(),
  };
}

type Process = Awaited<ReturnType<typeof startProcess>>;

const ROUND = ROUND_EACH_S * 1_000;
const replayed = z.looseObject({ calls: z.array(z.looseObject({ call_id: z.string() })) });

/**
 * Has the one call of a kind that a tick made be closed after its horizon, and looks at it wherever
 * it is told; a hit of five per cent is planted.
 */
async function expectHit(
  { ask, emit, observeAt, control, ports }: Process,
  world: World,
  said: {
    readonly kind: DetectorKind;
    readonly asset: string;
    readonly direction: Direction;
    readonly tick: number;
    readonly horizonH: number;
    readonly netBps: number;
  },
): Promise<void> {
  const { kind, asset, direction, tick, horizonH, netBps } = said;
  const date = formatIsoDate(tick / 1_000);
  const callsOf = async () => {
    const { calls } = replayed.parse(await ask(`/edge/replay.json?date=${date}`));
    return calls.filter((call) => call['kind'] === kind);
  };
  const [open, ...others] = await callsOf();
  expect(others).toEqual([]);
  expect(open).toMatchObject({
    kind,
    asset,
    direction,
    emitted_at: new Date(tick).toISOString(),
    outcome: { state: 'open' },
  });
  const call_id = String(open?.call_id);
  // Its horizon passes, and the candle at which it is left has long closed.
  if (world.now < tick + (horizonH + 6) * HOUR) await observeAt(tick + (horizonH + 6) * HOUR);
  await emit();
  const exit = direction === 'long' ? '105.0' : '95.0';
  expect(await callsOf()).toEqual([
    expect.objectContaining({
      call_id,
      outcome: expect.objectContaining({ state: 'closed', entry: '100.0', exit }),
    }),
  ]);
  expect(await ask(`/edge/backtest.json?kinds=${kind}&cost_bps=0`)).toMatchObject({
    n: 1,
    closed: 1,
    hit_rate: 1,
    gross: { mean_return_bps: expect.closeTo(500, 6) },
    mean_return_bps: expect.closeTo(netBps, 6),
    data_mode: 'measured',
  });
  expect(await ask('/edge/performance.json')).toMatchObject({
    kinds: {
      [kind]: expect.arrayContaining([
        expect.objectContaining({ closed: 1, hit_rate: 1, deprecation: 'hypothesis' }),
      ]),
    },
  });
  const leaves = 'select count(*)::int4 as of_call from log_leaves where id = $1';
  expect(await control.query(leaves, [call_id])).toEqual([{ of_call: 1 }]);
  const facts = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
  const asked = { now: () => world.now / 1_000, signal: SIGNAL };
  const page = await edgePageHandler(ports, facts, WORK_APART)(
    { params: {}, query: {}, body: undefined },
    asked,
    NOBODY,
  );
  if (!(page instanceof Reply)) throw new Error('test: the page was refused');
  expect(String(page.body)).toContain(call_id);
  expect(String(page.body)).toContain(`${kind} ${direction}: hit`);
}

test('extreme funding makes a call, which closes, is scored and stands in the log', async () => {
  const world = { now: START };
  const plantedAt = START + 2 * HOUR;
  const process = await startProcess(world, {
    asset: 'BTC',
    rateAt: (hour) => (hour * HOUR >= plantedAt ? 0.001 : 0.00001),
    // Half a day later the price goes against who pays.
    priceAt: (at) => (at >= plantedAt + 12 * HOUR ? 95 : 100) + wiggleAt(at),
  });
  const { emit, observeAt, ask, faults } = process;
  // The versions are leaves before the hour in which they run.
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  const tick = plantedAt + HOUR + TICK_MS;
  for (let at = START + ROUND; at <= tick; at += ROUND) await observeAt(at);
  world.now = tick + 150_000;
  expect(await emit()).toMatchObject({ calls: 1 });
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  const said = { kind: 'funding', asset: 'BTC', direction: 'short', tick, horizonH: 24 } as const;
  // Short: five per cent of the price, and 24 settlements of funding that longs pay.
  await expectHit(process, world, { ...said, netBps: 500 + 24 * 10 });
  expect(await ask('/api/ml-rank?pair=BTC')).toMatchObject({ rank: null });
  expect(faults).toEqual([]);
});

/** A price moves within its hour, so that it is not frozen. */
function wiggleAt(at: number): number {
  return (at % HOUR) / HOUR / 10;
}

const STEP = 600_000;
const LEAST_HOURS = 72;

/** The sockets of both venues on stand-ins, and the book of what is liquidated there. */
async function startSockets(world: World, liquidations: DerivativesBook['liquidations']) {
  const markets = simulateMarkets({
    seed: 5,
    assets: ['BTC'],
    from: START - 32 * 24 * HOUR,
    hours: 40 * 24,
    reversion: 0,
    revises: null,
    delists: null,
    silent: null,
  });
  const bounds = {
    ...SOCKET_BOUNDS,
    // The clock of the world leaps from step to step.
    heartbeatMs: 1.5 * STEP,
    clockOffMs: 48 * HOUR,
    messagesASecondMax: 1e6,
    backoffMs: 5,
  };
  const heardTo = new Map<MarketVenue, number>();
  const open = async (
    venue: 'binance' | 'bybit',
    start: typeof startBinance,
    words: typeof BINANCE_WORDS,
    adapter: typeof binanceMarket,
  ) => {
    const book = derivativesBook(
      () => markets,
      venue,
      () => world.now,
    );
    const options = { nowMs: () => world.now, beatMs: 2 };
    const started = await start({ ...book, liquidations }, options);
    closing.push(started.close);
    const feed = liquidationFeed(words, {
      url: started.streamUrl,
      bounds,
      flushMs: 2,
      simulated: false,
      nowMs: () => world.now,
      pause: (ms, signal) => pause(ms, undefined, { signal }).catch(() => undefined),
      onEnd: () => undefined,
    });
    const told: LiquidationFeed = {
      listen: (assets, onReading, signal) =>
        feed.listen(
          assets,
          async (reading) => {
            await onReading(reading);
            if (!(reading instanceof Read)) return;
            heardTo.set(venue, Math.max(...reading.value.covered.map(({ to }) => to)));
          },
          signal,
        ),
    };
    const market = adapter(marketOptions(world, started.url));
    return { observed: { venue, market, feed: told }, stream: started.stream };
  };
  const binance = await open('binance', startBinance, BINANCE_WORDS, binanceMarket);
  const bybit = await open('bybit', startBybit, BYBIT_WORDS, bybitMarket);
  return {
    venues: [binance.observed, bybit.observed],
    /** Ends a connection, and waits until the venue is heard again: what lies between is a hole. */
    dropBybit: async () => {
      bybit.stream.drop();
      await vi.waitFor(() => expect(bybit.stream.readers()).toBe(0), WAIT);
      const before = heardTo.get('bybit');
      await vi.waitFor(
        () => {
          world.now += 1_000;
          expect(heardTo.get('bybit')).not.toBe(before);
        },
        { timeout: 20_000, interval: 50 },
      );
    },
    /** Lets time pass until something was heard of both. */
    begin: () =>
      vi.waitFor(
        () => {
          world.now += 1_000;
          expect(heardTo.size).toBe(2);
        },
        { timeout: 20_000, interval: 50 },
      ),
    /** Waits until both venues were heard up to the time of the world. */
    hear: () =>
      vi.waitFor(() => {
        for (const venue of ['binance', 'bybit'] as const) {
          expect(Number(heardTo.get(venue))).toBeGreaterThan(world.now - 5_000);
        }
      }, WAIT),
  };
}

test('a cascade of liquidations makes a call, though a socket began anew meanwhile', async () => {
  const world = { now: START - STEP };
  const cascadeAt = START + (LEAST_HOURS + 1.5) * HOUR;
  const tick = START + (LEAST_HOURS + 2) * HOUR + TICK_MS;
  const { venues, begin, hear, dropBybit } = await startSockets(world, (from, to) =>
    // A long of each venue in the middle of each hour, and the cascade.
    Array.from({ length: Math.ceil((to - from) / HOUR) + 1 }, (_, n) => {
      const at = Math.floor(from / HOUR) * HOUR + n * HOUR + HOUR / 2;
      const size = at === cascadeAt ? '50000' : '1000';
      const own = { asset: 'BTC', at, side: 'long', size, price: '100', nth: 0 } as const;
      return { ...own, price_is: 'fill' as const, notional: String(Number(size) * 100) };
    }).filter(({ at }) => at >= from && at < to),
  );
  const process = await startProcess(
    world,
    {
      asset: 'BTC',
      rateAt: () => 0.00001,
      priceAt: (at) => (at >= tick + 6 * HOUR ? 105 : 100) + wiggleAt(at),
    },
    { venues },
  );
  const { emit, observeAt, store, faults, ranWhole, replay } = process;
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  await begin();
  const droppedAt = START + 20 * HOUR + 2 * STEP;
  const ticks: object[] = [];
  for (let at = START; at <= tick; at += STEP / 2) {
    // Rounds are of use in the last hours alone, which are the ones whose marks are looked at.
    if (at >= tick - 5 * HOUR) await observeAt(at);
    else if (at % STEP === 0) world.now = at;
    else continue;
    await hear();
    if (at === droppedAt) await dropBybit();
    if (at % HOUR !== TICK_MS || at < tick - HOUR) continue;
    world.now = at + 150_000;
    ticks.push(Object(await emit()));
  }
  const name = { venue: 'bybit', series: 'liquidations', of: 'BTC' } as const;
  const heard = await store.read(name, { from: START, to: tick - TICK_MS }, { signal: SIGNAL });
  expect(rowsSeen(map(heard, ({ holes }) => holes))).toHaveLength(1);
  // One hour too few were heard at the first tick: that is no quiet hour, and nobody has looked.
  expect(ticks).toMatchObject([{ calls: 0 }, { calls: 1 }]);
  expect(await ranWhole('liq')).toEqual([
    { from: (tick - TICK_MS) / 1_000, to: (tick - TICK_MS + HOUR) / 1_000 },
  ]);
  const { calls } = replayed.parse(
    await process.ask(`/edge/replay.json?date=${formatIsoDate(tick / 1_000)}`),
  );
  const call = await process.ports.emittedCalls.find(String(calls[0]?.call_id));
  expect(call).toMatchObject({
    value: {
      features: { liquidated_long_24h_usd: '14600000' },
      inputs: expect.arrayContaining([
        expect.objectContaining({
          venue: 'bybit',
          value: 'long 5000000, short 0; 72 of 167 hours before heard',
        }),
      ]),
    },
  });
  const said = { kind: 'liq', asset: 'BTC', direction: 'long', tick, horizonH: 12 } as const;
  expect(await replay(START, tick + HOUR)).toMatchObject({
    emitted: 1,
    replayed: 1,
    differences: [],
  });
  await expectHit(process, world, { ...said, netBps: 500 - 12 * 0.1 });
  expect(faults.filter((fault) => !/closed the connection/.test(fault))).toEqual([]);
});

const [BOB, HOT] = [evm('bob'), evm('hot')];
const ETH = 10n ** 18n;
const GENESIS = START - 4 * HOUR;
const HALF_HOUR = HOUR / 2;
const BLOCK_MS = 50_000;
const OLD_BLOCKS = (START - GENESIS) / HALF_HOUR;

/** A chain of two blocks an hour, and from the beginning of the test on of one each 50 seconds. */
function chainUpTo(world: World, whaleAt: number): WorldChains {
  const timeOf = (block: number) =>
    block <= OLD_BLOCKS ? GENESIS + block * HALF_HOUR : START + (block - OLD_BLOCKS) * BLOCK_MS;
  const whaleBlock = OLD_BLOCKS + (whaleAt - START) / BLOCK_MS;
  const rowOf = (block: number): ExplorerRow => {
    const day = Math.floor(timeOf(block) / (24 * HOUR));
    const isIn = block === whaleBlock || day % 2 === 0;
    const [from, to] = isIn ? [BOB, HOT] : [HOT, BOB];
    return {
      kind: 'native',
      tx: `0x${block.toString(16).padStart(64, '0')}`,
      block,
      at: timeOf(block) / 1_000,
      from,
      to,
      // Thirty million US dollars at once, among some thousands.
      value: (block === whaleBlock ? 300_000n : 10n) * ETH,
      token: null,
      success: true,
    };
  };
  return {
    headOf: () => OLD_BLOCKS + Math.floor((world.now - START) / BLOCK_MS),
    timeOf: (_chain, block) => timeOf(block) / 1_000,
    rowsOf: () => [],
    rowsOfToken: () => [],
    rowsIn: (_chain, from, to) => Array.from({ length: to - from + 1 }, (_, n) => rowOf(from + n)),
  };
}

/** A warehouse that follows a node of the chain; `caughtUp` waits until it is at its head. */
async function followNode(world: World, chains: WorldChains) {
  const warehouse = await freshWarehouse();
  closing.push(warehouse.close);
  const node = await startStandIn(nodesPart({ chains, fault: () => null, reorgs: () => [] }));
  closing.push(node.close);
  const sleep = (ms: number, signal: AbortSignal) =>
    pause(ms, undefined, { signal }).catch(() => undefined);
  const url = new URL(`${node.origin}/rpc/1`);
  const rpc = jsonRpc({ url, headers: {}, limits: RPC_LIMITS, sleep });
  closing.push(rpc.close);
  const now = () => Math.floor(world.now / 1_000);
  const steps = {
    node: evmNode({ chain: 'ethereum', rpc, simulated: false, now }),
    store: transferStore(warehouse, now),
    origin: 'observed',
    now,
    sleep,
    pollMs: 100,
    tipBlocksMax: TIP_BLOCKS_MAX,
  } as const;
  const ended = new AbortController();
  let last: FollowState | null = null;
  const onState = (state: FollowState): void => {
    last = state;
  };
  const tenure = { epoch: 1, settle: async () => undefined };
  // Not from the beginning, as most do who follow: what was before is not held.
  const following = followChain(steps, 1, { signal: ended.signal, onState }, tenure);
  closing.push(async () => {
    ended.abort();
    await following;
  });
  return {
    warehouse,
    caughtUp: () =>
      vi.waitFor(() => expect(last).toMatchObject({ last_block: chains.headOf(1), fault: null }), {
        timeout: 60_000,
        interval: 5,
      }),
  };
}

const HOT_LABEL: ExchangeLabel = {
  address: HOT,
  chain: 'ethereum',
  label: 'Example: hot',
  entity: 'Example',
  role: 'hot',
  confidence: 'web_crawl',
  clusterable: false,
  source: 'tests',
  source_url: null,
  first_seen: '2026-01-01',
};

const EXCHANGE = read(
  { table_rows: 1, found: new Map([[HOT, [HOT_LABEL]]]) },
  {
    port: 'exchange_labels',
    source: { name: 'A', url: 'x:', as_of: 0, kind: 'table', simulated: false },
  },
);

/** Observes chains by what they show of an hour, from a time on. */
function observingBy(world: World, flows: ChainFlows, from = START): Outside {
  return {
    observeChains: (store) => {
      const now = () => Math.floor(world.now / 1_000);
      const labels = { lookUp: async () => EXCHANGE };
      const reached = new Map<string, number>();
      const parts = { flows, labels, store, assets: ['ETH'], origin: 'observed', now } as const;
      return async (signal) =>
        world.now < from ? null : observeChains({ ...parts, reached }, signal);
    },
  };
}

/** Ether, which loses five per cent six hours after a tick. */
const etherAfter = (tick: number): Planted => ({
  asset: 'ETH',
  rateAt: () => 0.00001,
  priceAt: (at) => (at >= tick + 6 * HOUR ? 95 : 100) + wiggleAt(at),
});

test('a large transfer that a followed chain shows makes a call once its hours are held', async () => {
  const world = { now: START };
  const tick = START + 2 * HOUR + TICK_MS;
  const { warehouse, caughtUp } = await followNode(world, chainUpTo(world, START + HOUR / 2));
  const now = () => Math.floor(world.now / 1_000);
  const flows = warehouseFlows(warehouse, { now, simulated: false });
  // One round makes the hours that it needs, from a warehouse that takes its time.
  const outside = observingBy(world, flows, tick);
  const process = await startProcess(world, etherAfter(tick), outside);
  const { emit, observeAt, faults, ranWhole, replay } = process;
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  for (let at = START + ROUND; at <= tick; at += ROUND) {
    world.now = at - 1;
    await caughtUp();
    await observeAt(at);
  }
  world.now = tick + 150_000;
  expect(await emit()).toMatchObject({ ticks: 4, calls: 1 });
  // Flows of two weeks are not held, which is no quiet fortnight.
  expect([(await ranWhole('whale')).length, await ranWhole('netflow')]).toEqual([1, []]);
  const compared = { emitted: 1, replayed: 1, differences: [] };
  expect(await replay(START, tick + HOUR)).toMatchObject(compared);
  const said = { kind: 'whale', asset: 'ETH', direction: 'short', tick, horizonH: 24 } as const;
  await expectHit(process, world, { ...said, netBps: 500 + 24 * 0.1 });
  expect(faults).toEqual([]);
});

test('flows into exchanges make a call as soon as ten days before them are held', async () => {
  const world = { now: START };
  const tick = START + 2 * HOUR + TICK_MS;
  // A day of the chain was never imported; on the last one much went to an exchange.
  const isHeld = (at: number) => Math.floor((START - at) / (24 * HOUR)) !== 4;
  const flows: ChainFlows = {
    hour: async (chain, from) => {
      const at = from * 1_000;
      const times = { from: formatIsoTime(from), to: formatIsoTime(from + HOUR_S) };
      if (!isHeld(at)) return unread('chain_flows', why('flows_not_held', { chain, ...times }));
      const isIn = at >= START - 12 * HOUR || Math.floor(at / (24 * HOUR)) % 2 === 0;
      const raw_amount = (at >= START - 12 * HOUR ? 90n : 10n) * ETH;
      const pair = { from: isIn ? BOB : HOT, to: isIn ? HOT : BOB, raw_amount, transfers: 1 };
      const source = { name: 'A', url: 'x:', as_of: 0, kind: 'table', simulated: false } as const;
      return read({ pairs: [pair], large: [] }, { port: 'chain_flows', source });
    },
  };
  const process = await startProcess(world, etherAfter(tick), observingBy(world, flows));
  const { emit, observeAt, faults, ranWhole, replay } = process;
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  const ticks: object[] = [];
  for (let at = START + ROUND; at <= tick; at += ROUND) {
    await observeAt(at);
    if (at % HOUR !== TICK_MS) continue;
    world.now = at + 150_000;
    ticks.push(Object(await emit()));
  }
  expect(ticks).toMatchObject([0, 0, 1].map((calls) => ({ calls })));
  expect(await ranWhole('netflow')).toEqual([
    { from: (tick - TICK_MS) / 1_000, to: (tick - TICK_MS + HOUR) / 1_000 },
  ]);
  const compared = { emitted: 1, replayed: 1, differences: [] };
  expect(await replay(START, tick + HOUR)).toMatchObject(compared);
  const said = { kind: 'netflow', asset: 'ETH', direction: 'short', tick, horizonH: 24 } as const;
  await expectHit(process, world, { ...said, netBps: 500 + 24 * 0.1 });
  expect(faults).toEqual([]);
});
