// Whatever a provider says, and whichever words it repeats, no route that reads it fails, none
// denies what was not read, and neither an answer nor the log shows a key. Each message is tried on
// each route by a service of its own, since a guard that rests after the first hides the rest.
// Some messages are tried here; EXHIBIT_TEST_WORDS=all, or a number, tries more of each table.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { WITHOUT_WATCH } from './evidence/waiting.ts';
import { askWords, openWords, type Settings } from './provider-words.suite.ts';
import { evm } from './testing/addresses.ts';
import { PAIRS } from './testing/bridge-pairs.ts';
import { controlOnServer, type TestStore } from './testing/control-store.ts';
import { logOf } from './testing/event-logs.ts';
import {
  type Credentials,
  READ_ROUTES,
  type ReadRoute,
  requestPathOf,
  SUBJECT,
} from './testing/every-route.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { mintCredentials, type OpenedService } from './testing/opened-service.ts';
import {
  BINANCE,
  BLOCKSCOUT,
  BYBIT,
  ETHERSCAN,
  EVM_NODE,
  type Fault,
  type FaultyProvider,
  HYPERLIQUID,
  KEY,
  PATH_KEY,
  PRICES,
  SOLANA_NODE,
  STATUS_PAGE,
  startFaulty,
} from './testing/provider-faults.ts';
import { isDenial, leavesOf } from './testing/silence-answer.ts';
import { trialsOf } from './testing/trials.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

vi.setConfig({ testTimeout: 3_600_000, hookTimeout: 120_000 });

/** More than any table has. */
const ALL = 100;
/** Messages of each table that are tried; those that failed once stand first. */
const FEW = 2;
const TRIED = trialsOf('EXHIBIT_TEST_WORDS', FEW, ALL);
/** Services that are open at once: most of their time they wait before they ask again. */
const AT_ONCE = 8;
const HEAD = 20_000_000;
const POLL = { timeout: 60_000, interval: 50 };
const SOLANA = 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS';
/** A contract of the registry of bridges. */
const POOL = '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5';
/** The ports that nothing but an explorer or a node tells. */
const OF_CHAINS = [
  ...['transfer_history', 'counterparty_ring', 'chain_facts', 'token_approvals'],
  ...['issuer_freezes', 'transaction_receipts', 'bridge_arrivals', 'deployer_records'],
];

/** Who sent something by each protocol, and the contracts of the registry that took it. */
const BRIDGED = evm('bridged');
const TOOK: readonly (readonly [what: string, at: string])[] = [
  ['Across', POOL],
  ['Stargate v2', '0xc026395860db2d07ee33e05fe50ed7bd583189c7'],
  ['Hop from Ethereum', '0x3666f603cc164936c1b87e207f36beba4ac5f18a'],
  ['Synapse', '0x2796317b0ff8538f253012862c06787adfb8ceb6'],
  ['cBridge', '0x5427fefa711eff984124bfbb1ab6fbf5e3da1820'],
  ['Wormhole’s token bridge', '0x3ee18b2214aff97000d974cf647e7c347e8fa585'],
];
/** Logs the messages of Wormhole's token bridge. */
const WORMHOLE_CORE = '0x98f3c9e6e3face36baad05fe09d375ef1464288b';
/** Each of them was there by then. */
const SENT_AT = HEAD - 1_000;
const txOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;

let explorer: StartedExplorer;
let receipts: FaultyProvider;
let database: TestStore;
let warehouse: Awaited<ReturnType<typeof freshWarehouse>>;
let dataDir: string;
let credentials: Credentials;

const timeOf = (block: number) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12;

/** An address that was paid in a token and went over a bridge, and the contract that it made. */
async function startReader(): Promise<StartedExplorer> {
  const token = { address: evm('a token'), symbol: 'T', decimals: 18 };
  const row = (n: number, of: Partial<ExplorerRow>): ExplorerRow => {
    const block = 19_000_000 + n;
    const place = { tx: txOf(n), block, at: timeOf(block) };
    const parties = { from: SUBJECT, to: evm('friend'), value: 10n ** 18n };
    return { kind: 'native', ...place, ...parties, token: null, success: true, ...of };
  };
  const made = evm('contract');
  const rows = [
    row(1, {}),
    row(2, { kind: 'token', token, from: evm('friend'), to: SUBJECT }),
    row(3, { to: POOL }),
    row(4, { to: made, created: made, value: 0n }),
  ];
  const sent = TOOK.map(([, at], n) =>
    row(10 + n, { from: BRIDGED, to: at, block: SENT_AT, at: timeOf(SENT_AT) }),
  );
  const held = new Map([
    [SUBJECT.toLowerCase(), rows],
    [BRIDGED.toLowerCase(), sent],
  ]);
  return startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => timeOf(block),
    rowsOf: (_, address) => held.get(address) ?? [],
    rowsOfToken: () => [],
  });
}

const call = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) });

/** A node of Ethereum that holds the receipts of what was sent, and nothing else. */
function startReceipts(): Promise<FaultyProvider> {
  const terms = { recipient: BRIDGED, amount: 70_000_000n, deadline: 4_000_000_000, origin: 1 };
  const held = new Map(
    TOOK.map(([what, to], n) => {
      const pair = PAIRS.find((one) => one.what === what);
      if (pair === undefined) throw new Error(`test: no pair ${what}`);
      const [event, [first, ...more]] = pair.sent({ ...terms, id: 40 + n });
      const isWormhole = pair.protocol === 'wormhole';
      // The message names the contract that had it sent.
      const log = logOf(isWormhole ? WORMHOLE_CORE : to, event, [isWormhole ? to : first, ...more]);
      const hash = txOf(10 + n);
      const { index: _, ...logged } = log;
      const parties = { from: BRIDGED.toLowerCase(), to };
      const transaction = { hash, ...parties, value: '0xde0b6b3a7640000', input: '0x' };
      const logs = [{ ...logged, logIndex: '0x0' }];
      const block = {
        transactionHash: hash,
        blockNumber: `0x${SENT_AT.toString(16)}`,
        status: '0x1',
      };
      return [hash, { transaction, receipt: { ...block, ...parties, logs } }] as const;
    }),
  );
  const answerTo = ({ id, method, params }: z.output<typeof call>) => {
    const one = held.get(String(params[0]));
    const result = {
      eth_chainId: '0x1',
      eth_getTransactionByHash: one?.transaction,
      eth_getTransactionReceipt: one?.receipt,
    }[method];
    const error = { code: -32_601, message: 'the method does not exist' };
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };
  const of = (text: string) => {
    const asked = z.union([z.array(call), call]).parse(JSON.parse(text));
    return JSON.stringify(Array.isArray(asked) ? asked.map(answerTo) : answerTo(asked));
  };
  return startFaulty({ name: 'a node of receipts', status: 200, of });
}

const fresh = controlOnServer();
beforeAll(async () => {
  explorer = await startReader();
  receipts = await startReceipts();
  database = fresh();
  await database.setClock(Date.now() / 1_000);
  warehouse = await freshWarehouse();
  dataDir = await mkdtemp(join(tmpdir(), 'exhibit-words-'));
  const service = await open({});
  credentials = await mintCredentials(service);
  await service.close();
});
afterAll(async () => {
  receipts.close();
  await Promise.all([explorer.close(), warehouse.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

const open = (settings: Settings) => openWords({ database, warehouse, dataDir }, settings);

/** One provider that says nothing usable, and the routes that read it. */
type Read = {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly settings: (url: string) => Settings;
  /** Whether an explorer that answers stands beside it. */
  readonly isBeside: boolean;
  /** Whether a reading that is kept for the next service may leave nothing to ask it for. */
  readonly isKept?: true;
  readonly address: string;
  /** The ports that nothing else tells. */
  readonly unread: readonly string[];
  readonly routes: readonly string[];
  /** What no answer may say. */
  readonly unsaid?: RegExp;
  /** Whether the suite leaves it to who tries all of the tables. */
  readonly isRare?: true;
};

const OF_HISTORY = [
  ...['wallet_ofac', 'wallet_score', 'wallet_cex', 'wallet_entity', 'wallet_bridges'],
  ...['dossier_page', 'dossier_part_page'],
];

const STATUS_SETTINGS = [
  ['Across', 'EXHIBIT_ACROSS_STATUS_URL'],
  ['LayerZero', 'EXHIBIT_LAYERZERO_STATUS_URL'],
  ['Wormhole', 'EXHIBIT_WORMHOLE_STATUS_URL'],
  ['cBridge', 'EXHIBIT_CELER_STATUS_URL'],
  ['Synapse', 'EXHIBIT_SYNAPSE_STATUS_URL'],
  ['Hop', 'EXHIBIT_HOP_STATUS_URL'],
] as const;

const READS: readonly Read[] = [
  {
    name: 'an explorer of every chain',
    faults: ETHERSCAN,
    settings: (url) => ({ EXHIBIT_EXPLORER_URL: `${url}/v2/api`, EXHIBIT_EXPLORER_KEY: KEY }),
    isBeside: false,
    address: SUBJECT,
    unread: OF_CHAINS,
    routes: OF_HISTORY,
  },
  {
    name: 'an explorer of one chain',
    faults: BLOCKSCOUT,
    settings: (url) => ({ EXHIBIT_BLOCKSCOUT_ETHEREUM: `${url}/${PATH_KEY}` }),
    isBeside: false,
    address: SUBJECT,
    unread: OF_CHAINS,
    routes: OF_HISTORY,
  },
  {
    name: 'a node of Ethereum',
    faults: EVM_NODE,
    settings: (url) => ({ EXHIBIT_RPC_ETHEREUM: `${url}/${PATH_KEY}` }),
    isBeside: true,
    address: SUBJECT,
    unread: ['issuer_freezes', 'transaction_receipts'],
    routes: ['wallet_score', 'wallet_bridges', 'dossier_page', 'dossier_part_page'],
  },
  {
    name: 'a node of Solana',
    faults: SOLANA_NODE,
    settings: (url) => ({ EXHIBIT_RPC_SOLANA: `${url}/${PATH_KEY}` }),
    isBeside: false,
    address: SOLANA,
    unread: ['transfer_history', 'counterparty_ring'],
    routes: ['wallet_ofac', 'wallet_score', 'wallet_cex', 'wallet_entity', 'dossier_page'],
  },
  {
    name: 'a source of prices',
    faults: PRICES,
    isKept: true,
    settings: (url) => ({ EXHIBIT_PRICES_URL: `${url}/${PATH_KEY}` }),
    isBeside: true,
    address: SUBJECT,
    // A payment whose worth is not told is an edge all the same.
    unread: [],
    routes: OF_HISTORY,
  },
  ...STATUS_SETTINGS.map(
    ([name, setting]): Read => ({
      name: `the status page of ${name}`,
      faults: STATUS_PAGE,
      settings: (url) => ({
        EXHIBIT_RPC_ETHEREUM: receipts.url,
        ...(name === 'Across' ? { EXHIBIT_ACROSS_STATUS_KEY: KEY } : {}),
        [setting]: `${url}/${PATH_KEY}`,
      }),
      isBeside: true,
      address: BRIDGED,
      unread: ['bridge_arrivals'],
      routes: ['wallet_bridges', 'dossier_page', 'dossier_part_page'],
      ...(name === 'Across' ? {} : { isRare: true }),
      // Its own word, which is a statement of the page.
      unsaid: /(_status|_scan|wormholescan|_explorer) says/,
    }),
  ),
];

const takenBy = (route: ReadRoute, address: string) => {
  const field: unknown = Reflect.get(route.params.shape, 'address');
  return !(field instanceof z.ZodType) || field.safeParse(address).success;
};
const enveloped = z.looseObject({ state: z.string(), data: z.unknown().optional() });

/** Asks one route of a service of its own; `false`: it never asked the provider. */
async function askOnce(read: Read, fault: Fault, route: ReadRoute): Promise<boolean> {
  const provider = await startFaulty(fault);
  const beside = read.isBeside ? { EXHIBIT_BLOCKSCOUT_ETHEREUM: explorer.blockscout(1).href } : {};
  const service = await open({ ...beside, ...read.settings(provider.url) });
  try {
    const path = requestPathOf(
      route,
      takenBy(route, read.address) ? { address: read.address } : {},
    );
    const text = await askChecked(service, path, route.access, fault.name);
    const isAsked = provider.asked() > 0;
    const isSaid = read.unsaid?.test(String(text)) === true;
    expect([fault.name, route.name, isSaid]).toEqual([fault.name, route.name, false]);
    // What the provider said last is told there.
    for (const told of ['/health', '/status']) await askChecked(service, told, 'open', fault.name);
    if (route.kind === 'evidence' && text !== null) {
      const said = enveloped.parse(JSON.parse(text));
      const leaves = said.state === 'ok' ? leavesOf(route.data, said.data) : [];
      const rests = ({ meta }: (typeof leaves)[number]) =>
        meta?.rests_on.some((port) => read.unread.includes(port)) === true;
      const denied = leaves.filter((leaf) => isDenial(leaf) && rests(leaf));
      const paths = denied.map(({ path }) => path);
      expect([fault.name, route.name, paths]).toEqual([fault.name, route.name, []]);
    }
    return isAsked;
  } finally {
    await service.close();
    provider.close();
  }
}

/** Asks a route; the text of an answer in JSON, which is no failure and shows no key. */
async function askChecked(service: OpenedService, path: string, access: string, name: string) {
  const { status, text, isJson } = await askWords(service, credentials, { path, access }, name);
  return isJson && status === 200 ? text : null;
}

/** Does work for each, some at once. */
async function forEachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all];
  const next = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

const TRIED_READS = READS.filter(({ isRare }) => TRIED > FEW || isRare !== true);

describe.each(TRIED_READS.map((read) => [read.name, read] as const))('%s', (_, read) => {
  const named = READ_ROUTES.filter(({ name }) => read.routes.includes(name));

  test('says what is no answer, and each route that reads it says that it was not read', async () => {
    expect(named.map(({ name }) => name).sort()).toEqual([...read.routes].sort());
    const tries = read.faults
      .slice(0, TRIED)
      .flatMap((fault) => named.map((route) => [fault, route] as const));
    const reached = new Set<string>();
    await forEachOf(tries, async ([fault, route]) => {
      if (await askOnce(read, fault, route)) reached.add(`${route.name} ${fault.name}`);
    });
    // A page may end its time before its last part has asked.
    const due = tries.filter(([, { name }]) => name !== 'dossier_page');
    const missed = due.filter(([fault, { name }]) => !reached.has(`${name} ${fault.name}`));
    expect(missed.length).toBeLessThan(read.isKept ? due.length / 2 : 1);
  });
});

// What a job asks is asked on no route. One round of the job is one question about everything.
const OBSERVED: readonly (readonly [string, readonly Fault[], string])[] = [
  ['Hyperliquid', HYPERLIQUID, 'EXHIBIT_HYPERLIQUID_URL'],
  ['Binance', BINANCE, 'EXHIBIT_BINANCE_URL'],
  ['Bybit', BYBIT, 'EXHIBIT_BYBIT_URL'],
];
const ROUND_ENDED = 'observing: a round ended';

test.each(OBSERVED)(
  '%s says what is no answer, and nothing of it is observed',
  async (_, all, name) => {
    for (const fault of all.slice(0, TRIED)) {
      const provider = await startFaulty(fault);
      const service = await open({ [name]: `${provider.url}/${PATH_KEY}` });
      const job = service.parts.jobs.find((one) => one.name === 'observing');
      const running = job?.start(WITHOUT_WATCH);
      try {
        await vi.waitFor(() => expect(service.logged()).toContain(ROUND_ENDED), POLL);
        expect(provider.asked()).toBeGreaterThan(0);
        const ended = service
          .logged()
          .split('\n')
          .find((line) => line.startsWith(ROUND_ENDED));
        const counts: unknown = JSON.parse(String(ended?.slice(ROUND_ENDED.length)));
        const none = { venues: 1, trading: 0, off: 0, unread: 1 };
        expect([fault.name, counts]).toMatchObject([fault.name, none]);
        for (const told of ['/health', '/status']) {
          await askChecked(service, told, 'open', fault.name);
        }
      } finally {
        await running?.stop();
        await service.close();
        provider.close();
      }
    }
  },
);
