// What a job asks is asked on no route: whatever a provider says to it, in which words ever, the
// answers that rest on its work deny nothing of what was not read, and nothing shows a key. Each
// message is said to a service of its own, over stores that hold nothing before.
// Some messages are tried here; EXHIBIT_TEST_WORDS=all, or a number, tries more of each table.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { HOUR_S } from './chain/time.ts';
import type { JobName } from './compose/jobs.ts';
import { map, rowsSeen } from './evidence/reading.ts';
import { WITHOUT_WATCH } from './evidence/waiting.ts';
import { collectors } from './features/collectors/feature.ts';
import { indexing } from './features/indexing/feature.ts';
import { series } from './features/series/feature.ts';
import type { ChatTarget } from './ports/integrations.ts';
import { askWords, LISTED, openWords, type Settings } from './provider-words.suite.ts';
import { evm } from './testing/addresses.ts';
import { controlOnServer } from './testing/control-store.ts';
import type { Credentials } from './testing/every-route.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { appendTo, dispatchOf } from './testing/integrations.ts';
import { mintCredentials, type OpenedService } from './testing/opened-service.ts';
import * as faults from './testing/provider-faults.ts';
import { CHAT_KEY, type Fault, KEY, PATH_KEY, startFaulty } from './testing/provider-faults.ts';
import { key, launchesAtPump } from './testing/solana-entries.ts';
import { trialsOf } from './testing/trials.ts';
import { SANDBOX_WALLETS, worldChains } from './world/chain-data.ts';
import { SANDBOX_DEPLOYERS, WORLD_CONTRACTS, worldPoolsOf } from './world/deployers.ts';
import { evmLaunchesIn } from './world/evm-launches.ts';
import { startExplorer } from './world/explorer-api.ts';
import { startNodes } from './world/json-rpc-server.ts';
import { SANDBOX_PARTY, WORLD_SEED } from './world/listed-parties.ts';
import { startPriceApi, worldPriceOf } from './world/price-api.ts';
import { startPublisher } from './world/publisher.ts';
import { startSolana } from './world/solana-api.ts';
import { startVenue } from './world/venue-api.ts';

vi.setConfig({ testTimeout: 3_600_000, hookTimeout: 120_000 });

/** Messages of each table that are tried; those that failed once stand first. */
const FEW = 1;
const TRIED = trialsOf('EXHIBIT_TEST_WORDS', FEW, 100);
const WAIT = { timeout: 60_000, interval: 50 };
const SIGNAL = new AbortController().signal;
const nowS = () => Math.floor(Date.now() / 1_000);
const BEGAN = nowS();
const { allDied, unlisted } = SANDBOX_DEPLOYERS;
const DIED = String(WORLD_CONTRACTS.find(({ maker }) => maker === allDied)?.address);
const OTHER = String(WORLD_CONTRACTS.find(({ maker }) => maker === unlisted)?.address);
const RECENT = String(evmLaunchesIn(BEGAN - 4 * HOUR_S, BEGAN)[0]?.maker);
const [MINT, MAKER] = ['mint', 'maker'].map(key) as [string, string];

const closing: (() => Promise<unknown>)[] = [];
let good: Settings;
let root: string;
let warehouse: Awaited<ReturnType<typeof freshWarehouse>>;
const fresh = controlOnServer();

async function kept<T extends { readonly close: () => Promise<unknown> }>(started: Promise<T>) {
  const one = await started;
  closing.push(one.close);
  return one;
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'exhibit-words-'));
  warehouse = await kept(freshWarehouse());
  const chains = worldChains(nowS, WORLD_SEED);
  const explorer = await kept(startExplorer(chains));
  const nodes = await kept(startNodes(chains));
  const priceOf = (id: string, at: number) => worldPriceOf(WORLD_SEED, id, at);
  const prices = await kept(startPriceApi({ now: nowS, priceOf }));
  const venue = await kept(
    startVenue((chain, token) => (chain === 'solana' ? [] : worldPoolsOf(chain, token, nowS()))),
  );
  const launched = launchesAtPump({ mint: MINT, by: MAKER, at: BEGAN - 31 * HOUR_S });
  const solana = await kept(
    startSolana(
      () => [],
      () => [launched],
    ),
  );
  const publisher = await kept(startPublisher({ now: nowS }));
  good = {
    EXHIBIT_EXPLORER_URL: explorer.etherscan.href,
    EXHIBIT_RPC_ETHEREUM: nodes.url(1).href,
    EXHIBIT_PRICES_URL: prices.url.href,
    EXHIBIT_VENUE_URL: venue.url.href,
    EXHIBIT_RPC_SOLANA: solana.url.href,
    EXHIBIT_SDN_URL: publisher.url('SDN.XML').href,
  };
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await rm(root, { recursive: true, force: true });
});

/** A service under way, and what can be done with it. */
type Working = {
  readonly service: OpenedService;
  readonly provider: string;
  readonly fault: string;
  readonly asked: () => number;
  readonly ask: (
    path: string,
    access?: string,
    body?: unknown,
  ) => Promise<{ readonly text: string; readonly status: number }>;
  /** Has jobs work until something is so. */
  readonly while: (jobs: readonly JobName[], until: () => unknown) => Promise<void>;
  readonly database: ReturnType<typeof fresh>;
  readonly credentials: Credentials;
};
type Work = {
  readonly name: string;
  readonly faults: readonly Fault[];
  /** The settings under which it is asked at an address; `null` unsets one. */
  readonly settings: (url: string) => { readonly [name: string]: string | null };
  /** Has its jobs work, and holds what is answered then. */
  readonly work: (at: Working) => Promise<void>;
  /** Whether it may not be asked at all. */
  readonly isSpared?: true;
  /** Whether the service answers from the list that it downloads. */
  readonly downloads?: true;
  /** Whether the suite tries it, and not only who tries all of the tables. */
  readonly inSuite?: true;
};

const any = z.looseObject({ state: z.string(), data: z.unknown() });
const ANALYST = 'analyst';

/** What a record says after a walk; no record where nobody could be walked. */
async function walked({ ask, while: whileWorking, service }: Working, address: string) {
  const path = `/api/v1/evm/deployer/ethereum/${address}`;
  const said = async () => any.parse(JSON.parse((await ask(path, ANALYST)).text));
  expect((await said()).state).not.toBe('ok');
  await whileWorking(['deployers'], async () => {
    if (service.logged().includes('deployer: not walked')) return;
    expect((await said()).state).toBe('ok');
  });
  for (const page of [`/deployer/ethereum/${address}`, `/token/ethereum/${DIED}`])
    await ask(page, 'open');
  await ask(`/api/v1/token/${DIED}/creator?chain=ethereum`, ANALYST);
  return said();
}

async function expectUnwalked(at: Working) {
  const { state } = await walked(at, allDied);
  expect([at.fault, state]).not.toEqual([at.fault, 'ok']);
}
const UNTOLD = { died: 0, survived: 0, never_listed: 0, death_rate: null };
/** A record in which nothing is said of what no provider told. */
const expectUntold = (address: string) => async (at: Working) => {
  const said = await walked(at, address);
  if (said.state !== 'ok') return;
  expect([at.fault, said]).toMatchObject([at.fault, { data: { state: 'unchecked', ...UNTOLD } }]);
};

/** An answer about a launcher that says nothing of what its launches came to. */
async function expectUnsettled({ ask, fault }: Working) {
  const said = any.parse(JSON.parse((await ask(`/api/v1/solana/deployer/${MAKER}`, ANALYST)).text));
  expect([fault, said.state]).not.toEqual([fault, 'ok']);
  const board = await ask('/api/v1/leaderboard', ANALYST);
  expect([fault, board.text]).not.toEqual([
    fault,
    expect.stringContaining('"window_checked":true'),
  ]);
  const rugs = await ask('/api/leaderboard/rugs', 'bearer');
  expect([fault, rugs.text]).not.toEqual([fault, expect.stringContaining('quiet_window')]);
  for (const page of [`/deployer/solana/${MAKER}`, '/leaderboard']) await ask(page);
}

/** The evidence about a target, as a signal would be made of it, and what is judged of it. */
async function judgedOf({ service }: Working, [chain, address]: readonly [string, string]) {
  const { evidence } = service.parts.of(collectors).services;
  const parsed = evidence.parse(chain, address);
  if (!('target' in parsed)) throw new Error(parsed.refused);
  const bundle = await evidence.collect(
    parsed.target,
    nowS(),
    AbortSignal.timeout(evidence.timeMs),
  );
  return { bundle, judged: await evidence.judge(bundle, SIGNAL) };
}
const OF_HISTORY = ['cluster', 'funding', 'net_flow'];

/** None of these sources of a bundle says anything, and no line of it shows a key. */
async function expectUnread(at: Working, target: readonly [string, string], of: readonly string[]) {
  const { bundle } = await judgedOf(at, target);
  const present = bundle.sources.filter(
    ({ source, status }) => status === 'present' && of.includes(source),
  );
  expect([at.fault, present]).toEqual([at.fault, []]);
  const shown = [KEY, PATH_KEY].filter((one) => JSON.stringify(bundle).includes(one));
  expect([at.fault, shown]).toEqual([at.fault, []]);
}

async function collected({ service, ...at }: Working) {
  await at.while(['launch collection'], () =>
    expect(service.logged()).toContain('launches: collected'),
  );
}

async function refreshed({ service, ...at }: Working) {
  await at.while(['refresh'], () => expect(service.logged()).toMatch(/sanctions list: updated/));
}

const watched = z.looseObject({
  watched: z.array(
    z.looseObject({
      parts: z.array(
        z.looseObject({
          part: z.string(),
          found: z.array(z.unknown()).nullable(),
          read_at: z.string().nullable(),
          not_read: z.string().nullable(),
        }),
      ),
    }),
  ),
});

/** The look at the transfers of a watched address names that they were not read. */
async function expectUnscreened(at: Working, address: string) {
  expect((await at.ask('/api/v1/watchlist', ANALYST, { address })).status).toBe(201);
  await at.while(['watchlist', 'watchlist walks'], async () => {
    const said = watched.parse(JSON.parse((await at.ask('/api/v1/watchlist', ANALYST)).text));
    const hops = said.watched[0]?.parts.find(({ part }) => part === 'hops');
    const unread = { found: null, read_at: null, not_read: expect.any(String) };
    expect([at.fault, hops]).toMatchObject([at.fault, unread]);
  });
  await at.ask('/watchlist', 'session');
}

const tested = z.object({ delivered: z.boolean(), reason: z.string().nullable() });
const chats = z.looseObject({
  integrations: z.array(
    z.looseObject({ delivered_at: z.null(), fault: z.string().nullable(), waiting: z.int() }),
  ),
  dead_letters: z.array(z.looseObject({ reason: z.string() })),
});

/** A chat is connected, tried and posted to, and none of it is told as done. */
async function expectUndelivered(at: Working, target: ChatTarget, body: object) {
  const { ask, fault, service, database } = at;
  const connected = await ask(`/integrations/${target.platform}/connect`, ANALYST, body);
  expect([fault, connected.status]).toEqual([fault, expect.toBeOneOf([201, 400])]);
  expect([fault, connected.text]).not.toEqual([fault, expect.stringContaining('"verified":true')]);
  const { chats: desk } = service.parts;
  const id = desk.mintId();
  const rules = { kinds: ['watch'], chains: null, addresses: null } as const;
  const made = { membership_id: 'mem_1', created_at: nowS(), verified_at: null, place: 'a chat' };
  const { platform } = target;
  const own = { ...made, id, platform, sealed: desk.sealed(target, id), rules };
  const stored = await desk.integrations.connect(own, 'member');
  if (!stored.checked) throw new Error(stored.why.reason);
  const said = await ask(`/integrations/${id}/test`, ANALYST, {});
  const { delivered, reason } = tested.parse(JSON.parse(said.text));
  expect([fault, delivered, reason]).toEqual([fault, false, expect.any(String)]);
  await appendTo(database, [dispatchOf('told')]);
  const before = at.asked();
  const listed = async () => chats.parse(JSON.parse((await ask('/integrations', ANALYST)).text));
  await at.while(['chat-deliveries'], async () => {
    expect(at.asked()).toBeGreaterThan(before);
    const { integrations, dead_letters } = await listed();
    const [one] = integrations.filter((each) => each['id'] === id);
    expect([fault, Number(one?.waiting) + dead_letters.length]).not.toEqual([fault, 0]);
  });
  await ask('/settings/integrations', 'session');
}

const health = z.looseObject({
  ring: z.looseObject({ state: z.string() }).nullable(),
  anchoring: z.looseObject({ state: z.string() }),
});
const askRow = z.object({ state: z.string(), failure: z.string().nullable() });
/** By these it knows nothing of a token, which is no opinion either. */
const SAYS_UNKNOWN = /"code":202[01]|^400 /;
const CALLED = /"calls":[1-9]|"total_scores":[1-9]/;
/** A signature of a key that nobody names. */
const SIGNED_BY_NOBODY =
  'MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg==';
const MODEL = {
  EXHIBIT_ANALYST_KEY: KEY,
  EXHIBIT_ANALYST_MODEL: 'model-1',
  EXHIBIT_ANALYST_PRICE: '1:2',
};
const NO_EXPLORER = { EXHIBIT_EXPLORER_URL: null };
const LOG_HOST = 'log.example';
const LOGGED = { EXHIBIT_LOG_ORIGIN: LOG_HOST };
const WITNESS_KEY = '#witness.example/w1+df1c0a35+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU';
const ANCHORED = {
  ...LOGGED,
  EXHIBIT_ANCHOR_CHAIN: '1',
  EXHIBIT_ANCHOR_CONTRACT: evm('anchor'),
  EXHIBIT_ANCHOR_KEY: `0x${'03'.repeat(32)}`,
};
const READ_AHEAD = [
  [
    'an explorer of every chain',
    faults.ETHERSCAN,
    (url: string) => ({ EXHIBIT_EXPLORER_URL: `${url}/v2/api`, EXHIBIT_EXPLORER_KEY: KEY }),
  ],
  [
    'an explorer of one chain',
    faults.BLOCKSCOUT,
    (url: string) => ({ ...NO_EXPLORER, EXHIBIT_BLOCKSCOUT_ETHEREUM: `${url}/${PATH_KEY}` }),
  ],
] as const;
const MARKETS = [
  ['hyperliquid', faults.HYPERLIQUID, 'EXHIBIT_HYPERLIQUID_URL'],
  ['binance', faults.BINANCE, 'EXHIBIT_BINANCE_URL'],
  ['bybit', faults.BYBIT, 'EXHIBIT_BYBIT_URL'],
] as const;
const RISKS = [
  ['goplus', faults.GOPLUS, (url: string) => ({ EXHIBIT_GOPLUS_URL: `${url}/${PATH_KEY}` })],
  [
    'rugcheck',
    faults.RUGCHECK,
    (url: string) => ({ EXHIBIT_RUGCHECK_URL: `${url}/${PATH_KEY}`, EXHIBIT_RUGCHECK_KEY: KEY }),
  ],
] as const;
const WEBHOOK = `T0TEST00/B0TEST00/${CHAT_KEY}`;
const BOT = { bot_token: `xoxb-1-2-${CHAT_KEY}`, channel: '#alerts' };
const HOOK = { webhook_id: '123456789012345678', webhook_token: `${CHAT_KEY}${CHAT_KEY}` };
const TELEGRAM = { bot_token: `123456789:${CHAT_KEY.slice(0, 35)}`, chat_id: '-123456' };
const CHATS = [
  [
    'Slack by a webhook',
    faults.SLACK_WEBHOOK,
    'EXHIBIT_SLACK_URL',
    { platform: 'slack', webhook: WEBHOOK },
    { webhook_url: `https://hooks.slack.com/services/${WEBHOOK}` },
  ],
  ['Slack by a bot', faults.SLACK_BOT, 'EXHIBIT_SLACK_URL', { platform: 'slack', ...BOT }, BOT],
  ['Discord', faults.DISCORD, 'EXHIBIT_DISCORD_URL', { platform: 'discord', ...HOOK }, HOOK],
  [
    'Telegram',
    faults.TELEGRAM,
    'EXHIBIT_TELEGRAM_URL',
    { platform: 'telegram', ...TELEGRAM },
    TELEGRAM,
  ],
] as const;

const WORKS: readonly Work[] = [
  {
    name: 'a venue, of whom a deployer is walked',
    inSuite: true,
    faults: faults.VENUE,
    settings: (url) => ({ EXHIBIT_VENUE_URL: `${url}/${PATH_KEY}` }),
    work: expectUntold(allDied),
  },
  {
    name: 'an explorer of every chain, of whom a deployer is walked',
    faults: faults.ETHERSCAN,
    settings: (url) => ({ EXHIBIT_EXPLORER_URL: `${url}/v2/api`, EXHIBIT_EXPLORER_KEY: KEY }),
    work: expectUnwalked,
  },
  {
    name: 'an explorer of one chain, of whom a deployer is walked',
    faults: faults.BLOCKSCOUT,
    settings: (url) => ({
      EXHIBIT_EXPLORER_URL: null,
      EXHIBIT_BLOCKSCOUT_ETHEREUM: `${url}/${PATH_KEY}`,
    }),
    work: expectUnwalked,
  },
  {
    name: 'a node, of whom a deployer is walked',
    faults: faults.EVM_NODE,
    settings: (url) => ({ EXHIBIT_RPC_ETHEREUM: `${url}/${PATH_KEY}` }),
    work: expectUntold(unlisted),
  },
  {
    name: 'a source of prices, of whom a deployer is walked',
    faults: faults.PRICES,
    settings: (url) => ({ EXHIBIT_PRICES_URL: `${url}/${PATH_KEY}` }),
    // What a launch is worth is not needed to tell whether it died.
    work: async (at) => {
      expect(await walked(at, allDied)).toMatchObject({ data: { state: 'all_died', died: 3 } });
    },
    isSpared: true,
  },
  {
    name: 'a venue, of whom launches are settled',
    inSuite: true,
    faults: faults.VENUE,
    settings: (url) => ({ EXHIBIT_VENUE_URL: `${url}/${PATH_KEY}` }),
    work: async (at) => {
      await collected(at);
      await at.while(['launch settlement'], () =>
        expect(at.service.logged()).toContain('1 launches wait'),
      );
      await expectUnsettled(at);
    },
  },
  {
    name: 'a node of Solana, of whom launches are collected',
    faults: faults.SOLANA_NODE,
    settings: (url) => ({ EXHIBIT_RPC_SOLANA: `${url}/${PATH_KEY}` }),
    work: async (at) => {
      await at.while(['launch collection'], () =>
        expect(at.service.logged()).toContain('launches: not read'),
      );
      await expectUnsettled(at);
    },
  },
  {
    name: 'a venue, of whom evidence is collected',
    inSuite: true,
    faults: faults.VENUE,
    settings: (url) => ({ EXHIBIT_VENUE_URL: `${url}/${PATH_KEY}` }),
    work: async (at) => {
      await expectUnread(at, ['ethereum', DIED], ['venue']);
      await expectUnread(at, ['solana', MINT], ['venue']);
    },
  },
  {
    name: 'a node of Solana, of whom evidence is collected',
    faults: faults.SOLANA_NODE,
    settings: (url) => ({ EXHIBIT_RPC_SOLANA: `${url}/${PATH_KEY}` }),
    work: (at) => expectUnread(at, ['solana', MINT], ['holders', 'authorities', ...OF_HISTORY]),
  },
  {
    name: 'an explorer of every chain, of whom evidence is collected',
    faults: faults.ETHERSCAN,
    settings: (url) => ({ EXHIBIT_EXPLORER_URL: `${url}/v2/api`, EXHIBIT_EXPLORER_KEY: KEY }),
    // Of another nothing is held that a good explorer told before.
    work: (at) => expectUnread(at, ['ethereum', OTHER], ['launches', 'contract', ...OF_HISTORY]),
  },
  {
    name: 'an explorer of one chain, of whom evidence is collected',
    faults: faults.BLOCKSCOUT,
    settings: (url) => ({
      EXHIBIT_EXPLORER_URL: null,
      EXHIBIT_BLOCKSCOUT_ETHEREUM: `${url}/${PATH_KEY}`,
    }),
    // Of another nothing is held that a good explorer told before.
    work: (at) => expectUnread(at, ['ethereum', OTHER], ['launches', 'contract', ...OF_HISTORY]),
  },
  {
    name: 'a node, of whom evidence is collected',
    faults: faults.EVM_NODE,
    settings: (url) => ({ EXHIBIT_RPC_ETHEREUM: `${url}/${PATH_KEY}` }),
    work: (at) => expectUnread(at, ['ethereum', DIED], ['freezes', 'authorities']),
  },
  ...['chat/completions', 'messages'].map(
    (path): Work => ({
      name: `a language model at ${path}, which words a verdict`,
      ...(path === 'messages' ? {} : { inSuite: true }),
      faults: faults.ANALYST,
      settings: (url) => ({ ...MODEL, EXHIBIT_ANALYST_URL: `${url}/${PATH_KEY}/${path}` }),
      downloads: true,
      work: async (at) => {
        await refreshed(at);
        const [party] = SANDBOX_PARTY.addresses;
        const { judged } = await judgedOf(at, ['ethereum', String(party?.address)]);
        if (!judged.checked) throw new Error(judged.why.reason);
        const { verdict, model } = judged.value;
        const byRules = [at.fault, 'avoid', expect.stringMatching(/^rules-/)];
        expect([at.fault, verdict, model]).toEqual(byRules);
      },
    }),
  ),
  {
    name: 'a publisher, of whom the list is downloaded',
    inSuite: true,
    faults: faults.PUBLISHER,
    settings: (url) => ({ EXHIBIT_SDN_URL: `${url}/${PATH_KEY}/SDN.XML` }),
    downloads: true,
    work: async (at) => {
      await at.while(['refresh'], () =>
        expect(at.service.logged()).toMatch(/sanctions list: (refused|unreachable)/),
      );
      const said = await at.ask(`/api/v1/wallet/${LISTED}/ofac`, ANALYST);
      expect([at.fault, any.parse(JSON.parse(said.text)).state]).toEqual([
        at.fault,
        'not_deployed',
      ]);
      for (const page of [`/address/${LISTED}`, '/sanctions']) await at.ask(page);
    },
  },
  ...READ_AHEAD.map(
    ([name, table, settings]): Work => ({
      name: `${name}, of whom listed addresses are read ahead`,
      faults: table,
      settings,
      downloads: true,
      work: async (at) => {
        await refreshed(at);
        const { filling } = at.service.parts.of(indexing).services.warehouseRing;
        // Those of the party that another test asked about are held.
        const { state, lists_held, lists } = await filling.fill(() => undefined, SIGNAL);
        expect([at.fault, state, lists_held < lists]).toEqual([at.fault, 'held_up', true]);
        await at.while(['ring'], async () => {
          const { ring } = health.parse(JSON.parse((await at.ask('/health')).text));
          expect([at.fault, ring?.state]).toEqual([at.fault, expect.any(String)]);
          expect([at.fault, ring?.state]).not.toEqual([at.fault, 'whole']);
        });
      },
    }),
  ),
  ...READ_AHEAD.map(
    ([name, table, settings]): Work => ({
      name: `${name}, of whom watched addresses are screened`,
      ...(table === faults.BLOCKSCOUT ? {} : { inSuite: true }),
      faults: table,
      settings,
      work: (at) => expectUnscreened(at, SANDBOX_WALLETS.quiet),
    }),
  ),
  {
    name: 'a node of Solana, of whom watched addresses are screened',
    faults: faults.SOLANA_NODE,
    settings: (url) => ({ EXHIBIT_RPC_SOLANA: `${url}/${PATH_KEY}` }),
    work: (at) => expectUnscreened(at, MAKER),
  },
  {
    name: 'Hyperliquid, of whom a trader is analysed',
    inSuite: true,
    faults: faults.HYPERLIQUID,
    settings: (url) => ({ EXHIBIT_HYPERLIQUID_URL: `${url}/${PATH_KEY}` }),
    work: async ({ ask, fault, ...at }) => {
      const path = `/api/traders/${evm('trader')}/temporal`;
      const said = async () => JSON.parse((await ask(path)).text) as unknown;
      expect(await said()).toMatchObject({ analysed: false, engine_unreachable: false });
      await at.while(['traders'], async () =>
        expect([fault, await said()]).toMatchObject([
          fault,
          {
            analysed: false,
            engine_unreachable: true,
            detail: expect.not.stringContaining('no account'),
          },
        ]),
      );
      await ask(`/traders/${evm('trader')}`);
    },
  },
  ...MARKETS.map(
    ([venue, table, setting]): Work => ({
      name: `${venue}, of whom candles of calls are completed`,
      faults: table,
      settings: (url) => ({ [setting]: `${url}/${PATH_KEY}` }),
      // The jobs of calls and of their candles ask by nothing else.
      work: async ({ fault, service }) => {
        const { gathering } = service.parts.of(series);
        const hour = HOUR_S * 1_000;
        const to = Math.floor(Date.now() / hour) * hour;
        const name = { venue, series: 'candles', of: 'BTC' } as const;
        const span = { from: to - 24 * hour, to };
        const { reading } = await gathering.gather(name, span, SIGNAL);
        const seen = rowsSeen(map(reading, ({ rows }) => rows));
        expect([fault, reading.checked, seen?.length ?? 0]).toEqual([fault, false, 0]);
      },
    }),
  ),
  ...RISKS.map(
    ([provider, table, settings]): Work => ({
      name: `${provider}, who is asked about launches`,
      faults: table,
      settings,
      work: async (at) => {
        await collected(at);
        // GoPlus is asked of chains of Ethereum's kind.
        await walked(at, RECENT);
        // What was not answered stays due, with its reason.
        const sql = 'select state, failure from provider_asks where ordinal = 1';
        const ended = { state: SAYS_UNKNOWN.test(at.fault) ? 'nothing_said' : 'due' };
        await at.while(['provider calls'], async () => {
          const rows = z.array(askRow).parse(await at.database.query(sql));
          const ends = rows.filter(({ state, failure }) => failure !== null || state !== 'due');
          expect([at.fault, ends[0]]).toMatchObject([at.fault, ended]);
        });
        // What it did not say is no statement of it, neither right nor wrong.
        const { text } = await at.ask('/api/leaderboard/providers?window=all');
        expect([at.fault, text]).not.toEqual([at.fault, expect.stringMatching(CALLED)]);
        await at.ask('/providers');
      },
    }),
  ),
  {
    name: 'a node, of whom a chain is followed',
    faults: faults.EVM_NODE,
    settings: (url) => ({ ...NO_EXPLORER, EXHIBIT_RPC_ETHEREUM: `${url}/${PATH_KEY}` }),
    work: async (at) => {
      await at.while(['following'], () => expect(at.asked()).toBeGreaterThan(1));
      const path = `/api/v1/wallet/${SANDBOX_WALLETS.quiet}/ofac`;
      const { data } = any.parse(JSON.parse((await at.ask(path, ANALYST)).text));
      expect([at.fault, data]).toMatchObject([at.fault, { proximity_checked: false }]);
    },
  },
  {
    name: 'GitHub, of whom keys of reports are asked',
    inSuite: true,
    faults: faults.GITHUB,
    settings: (url) => ({ EXHIBIT_GITHUB_URL: `${url}/${PATH_KEY}` }),
    work: async ({ ask, fault, credentials }) => {
      const token = String(credentials[ANALYST]?.['authorization']).replace('Bearer ', '');
      const report = [{ token, type: 'exhibit', url: '', source: 'commit' }];
      const told = await ask('/api/v1/keys/leaked/github', 'signed', report);
      expect([fault, told.status]).toEqual([fault, 503]);
      expect((await ask('/api/v1/watchlist', ANALYST)).status).toBe(200);
    },
  },
  ...CHATS.map(
    ([name, table, setting, target, body]): Work => ({
      name: `${name}, where a message is posted`,
      inSuite: true,
      faults: table,
      settings: (url) => ({ [setting]: url }),
      work: (at) => expectUndelivered(at, target, body),
    }),
  ),
  {
    name: 'a node, by whom roots of the log are sent to a chain',
    faults: faults.EVM_NODE,
    settings: (url) => ({ ...ANCHORED, EXHIBIT_ANCHOR_RPC: `${url}/${PATH_KEY}` }),
    work: async (at) => {
      await at.while(['provider calls', 'transparency log', 'anchoring'], async () => {
        const { anchoring } = health.parse(JSON.parse((await at.ask('/health')).text));
        const waits_for = [{ code: expect.stringMatching(/^(provider_failed|anchor_)/) }];
        expect([at.fault, anchoring]).toMatchObject([at.fault, { state: 'waiting', waits_for }]);
      });
      await at.ask('/log');
    },
  },
  {
    name: 'a witness, who signs checkpoints of the log',
    faults: faults.WITNESS,
    settings: (url) => ({ ...LOGGED, EXHIBIT_LOG_WITNESSES: `${url}/${PATH_KEY}${WITNESS_KEY}` }),
    work: async (at) => {
      const signed = async () => (await at.ask('/log/1/checkpoint')).text;
      await at.while(['provider calls', 'transparency log'], async () => {
        expect(await signed()).toContain(`${LOG_HOST}/log/1`);
        expect(at.asked()).toBeGreaterThan(0);
      });
      expect([at.fault, await signed()]).not.toEqual([
        at.fault,
        expect.stringContaining('— witness'),
      ]);
      for (const told of ['/log', '/api/log']) await at.ask(told);
    },
  },
];

const TRIED_WORKS = TRIED > FEW ? WORKS : WORKS.filter(({ inSuite }) => inSuite === true);

test.each(TRIED_WORKS.map((work) => [work.name, work] as const))('%s', async (_, work) => {
  for (const fault of work.faults.slice(0, TRIED)) {
    const database = fresh();
    await database.setClock(nowS());
    const provider = await startFaulty(fault);
    const given = Object.entries({ ...good, ...work.settings(provider.url) });
    const settings = given.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
    const listed = work.downloads === true ? null : LISTED;
    // What a machine keeps of a store in its files would be of another one.
    const dataDir = await mkdtemp(join(root, 'data-'));
    const stores = { database, warehouse, dataDir };
    const service = await openWords(stores, Object.fromEntries(settings), listed);
    const signature = { 'github-public-key-signature': SIGNED_BY_NOBODY };
    const signed = { ...signature, 'github-public-key-identifier': 'ab'.repeat(32) };
    const credentials: Credentials = { ...(await mintCredentials(service)), signed };
    const running = new Map<JobName, { readonly stop: () => Promise<void> }>();
    const stop = () => Promise.all([...running.values()].map((job) => job.stop()));
    const ask = (path: string, access = 'open', body?: unknown) => {
      const method = body === undefined ? 'GET' : 'POST';
      return askWords(service, credentials, { path, access, method, body }, fault.name);
    };
    try {
      await work.work({
        service,
        provider: provider.url,
        fault: fault.name,
        asked: provider.asked,
        database,
        credentials,
        ask,
        while: async (jobs, until) => {
          for (const name of jobs) {
            const job = service.parts.jobs.find((one) => one.name === name);
            if (job === undefined) throw new Error(`test: no job ${name}`);
            if (!running.has(name)) running.set(name, job.start(WITHOUT_WATCH));
          }
          await vi.waitFor(until, WAIT);
        },
      });
      const isReached = work.isSpared === true || provider.asked() > 0;
      expect([fault.name, isReached]).toEqual([fault.name, true]);
      for (const told of ['/health', '/status']) await ask(told);
    } finally {
      await stop();
      await service.close();
      provider.close();
    }
  }
});
