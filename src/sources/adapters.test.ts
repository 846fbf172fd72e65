// Every adapter, asked against a stand-in whose answers are damaged one kind of question after
// another, as recordings and networks damage them: nothing that is not whole is read, and no
// adapter throws. Each row shows first that what is whole is read.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Part, part, Read, read, Unread, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { FACT_NAMES } from '../ports/accounts.ts';
import { BRIDGE_PROTOCOLS, STATUS_PAGES } from '../ports/bridges.ts';
import { type BitcoinBlock, BlocksFault } from '../ports/entities.ts';
import type { BrokenRow, RawRow } from '../ports/tables.ts';
import { bitcoinChain, bitcoinCore } from '../testing/bitcoin-chain.ts';
import {
  ANCHORED,
  ARRIVALS,
  contract,
  NOW,
  PROBED,
  RECEIPTS,
  word,
} from '../testing/canned-nodes.ts';
import { UNHELD } from '../testing/clock.ts';
import {
  type Back,
  CALL,
  cannedNode,
  type Damage,
  GOPLUS,
  passOn,
  RUGCHECK,
  says,
  startFront,
  WIRE,
} from '../testing/damaged-front.ts';
import { sealRegistry } from '../testing/reviewed-files.ts';
import { artefactText, SMALL_MODEL } from '../testing/rug-models.ts';
import { SANDBOX_SCORED } from '../world/account-state.ts';
import { SANDBOX_WALLETS, worldChains } from '../world/chain-data.ts';
import { SANDBOX_DEPLOYERS, WORLD_CONTRACTS } from '../world/deployers.ts';
import { startExplorer } from '../world/explorer-api.ts';
import { type StartedNodes, startNodes } from '../world/json-rpc-server.ts';
import { WORLD_SEED } from '../world/listed-parties.ts';
import { startPriceApi, worldPriceOf } from '../world/price-api.ts';
import { startSolana } from '../world/solana-api.ts';
import { worldLaunchesIn } from '../world/solana-launches.ts';
import { BAD_GATEWAY_PAGE } from '../world/stand-in.ts';
import { startTokenRisk } from '../world/token-risk-api.ts';
import { startVenue } from '../world/venue-api.ts';
import { etlFiles } from './bitcoin/etl-files.ts';
import { bitcoinNode } from './bitcoin/node.ts';
import { statusPages } from './bridge-status/status-page.ts';
import { dexscreenerListings, dexscreenerVenue } from './dexscreener/venue.ts';
import { anchorContract } from './evm/anchor-contract.ts';
import { nodeApprovals, nodeFreezes } from './evm/approvals-node.ts';
import { nodeProbe } from './evm/contract-probe.ts';
import { evmNode } from './evm/node.ts';
import { nodeFacts } from './evm/node-of-account.ts';
import { ETHEREUM_EXCHANGES, nodePairCreations } from './evm/pair-creations.ts';
import { nodeArrivals, nodeReceipts } from './evm/receipts-node.ts';
import { explorerApprovals, explorerFacts } from './explorer/account-facts.ts';
import {
  contractKinds,
  explorerCreations,
  explorerTokenTransfers,
} from './explorer/deployer-creations.ts';
import { etherscanChain } from './explorer/envelope.ts';
import { explorerHistory, explorerLists } from './explorer/history.ts';
import { explorerLaunchPools, UNISWAP_V2 } from './explorer/launch-pools.ts';
import { localTableFiles } from './files/files.ts';
import { readModelFile } from './files/model-artefact.ts';
import { receiptsFolder } from './files/receipts-folder.ts';
import { goplusTokenRisk } from './goplus/token-security.ts';
import { jsonIn } from './http/fetch.ts';
import { jsonRpc, RPC_LIMITS } from './http/json-rpc.ts';
import { providerGuard } from './http/provider.ts';
import { DOWNLOAD_LIMITS, fileMirror, httpMirror, spoolIn } from './ofac/publisher.ts';
import { CONTAINER_LIMITS, readPublication } from './ofac/read-publication.ts';
import { defillamaPrices } from './prices/defillama.ts';
import * as registries from './registry/registry-files.ts';
import { rugcheckTokenRisk } from './rugcheck/report.ts';
import { solanaHistory } from './solana/history.ts';
import { solanaLaunchFeed, WATCHED_ACCOUNTS } from './solana/launches.ts';

const now = () => NOW;
const SIGNAL = new AbortController().signal;
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

const RECORDED = z.array(z.looseObject({ answer: z.unknown() })).min(1);
/** Recorded explorer messages in place of an answer, with HTTP 200. */
const EXPLORER: Readonly<Record<string, Damage>> = Object.fromEntries(
  ['rate-limited', 'window-ended', 'chain-refused', 'pending-internal'].map((situation) => {
    const file = new URL(`./explorer/recordings/${situation}.json`, import.meta.url);
    const [first] = RECORDED.parse(jsonIn(readFileSync(file, 'utf8')));
    return [situation, says(first?.answer)];
  }),
);

const OPINIONS = { goplus: () => 'good' as const, rugcheck: () => 'good' as const };

type Adapter = {
  readonly name: string;
  readonly back: () => Promise<Back> | Back;
  /** The calls of the adapter, and every reading that it returns. */
  readonly ask: (url: URL) => Promise<readonly unknown[]>;
  readonly more?: Readonly<Record<string, Damage>>;
  /** Damages, with the kind of question, after which the answer is still whole, and why. */
  readonly spared?: RegExp;
};

const guardOf = () => {
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
  return providerGuard(limits, () => performance.now());
};
const BUDGET = { now, timeMs: 5_000, callsMax: 500, simulated: false } as const;
const rpcAt = (url: URL) => {
  const limits = { ...RPC_LIMITS, attemptsMax: 1, deadlineMs: 5_000 };
  return jsonRpc({ url, headers: {}, limits, sleep: async () => undefined });
};
/** Asks a node of Ethereum of the world, whose paths name the chain. */
const nodesAt = (url: URL) => new Map([['ethereum', rpcAt(new URL('/rpc/1', url))]] as const);
const values = async (map: Promise<ReadonlyMap<unknown, unknown>>) => [...(await map).values()];

const WORLD = worldChains(now, WORLD_SEED);
const standIn = async <S extends { readonly close: () => unknown }>(
  started: Promise<S>,
  urlOf: (one: S) => URL,
  over = {},
): Promise<Back> => {
  const one = await started;
  closing.push(one.close);
  return passOn(urlOf(one), over);
};
const nodeUrl = (nodes: StartedNodes) => nodes.url(1);
const urlOf = ({ url }: { readonly url: URL }) => url;
/** Nodes of the world take no range of all blocks. */
const accountNode = () => standIn(startNodes(WORLD), nodeUrl, { eth_getLogs: [] });
/** The calls that the world's explorer does not pass on: the state of accounts. */
const STATE = {
  eth_getCode: { jsonrpc: '2.0', id: 1, result: '0x60' },
  eth_getTransactionCount: { jsonrpc: '2.0', id: 1, result: '0x1' },
  eth_call: { jsonrpc: '2.0', id: 1, result: word },
  balance: { status: '1', message: 'OK', result: '7' },
};
const registry = (name: string) => new URL(`../../registry/${name}.csv`, import.meta.url);

const { proxy, flagged, scored } = SANDBOX_SCORED;
const SOL = 'So11111111111111111111111111111111111111112';
const SOLANA = {
  getGenesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  getFirstAvailableBlock: 0,
  getTokenAccountsByOwner: { value: [] },
  getSignaturesForAddress: [{ signature: 'one', slot: 1, err: null }],
  getTransaction: {
    slot: 1,
    blockTime: NOW,
    meta: { err: null },
    transaction: {
      signatures: ['one'],
      message: { accountKeys: [{ pubkey: SOL }], instructions: [] },
    },
  },
};
const WALK = {
  rowsMax: 5_000,
  degreeMax: 500,
  transfersPerCounterpartyMax: 100,
  batchRowsMax: 10_000,
  signal: SIGNAL,
};
const BITCOIN = bitcoinChain(Array.from({ length: 8 }, () => []));
const POOL = { side: 'base', liquidityUsd: 9_000, volumeUsd24h: 5 } as const;
const startPools = () => startVenue(() => [POOL]);
const priceOf = (id: string, at: number) => worldPriceOf(WORLD_SEED, id, at);
const STATUS = z
  .array(
    z.object({
      page: z.enum(STATUS_PAGES),
      protocol: z.enum(BRIDGE_PROTOCOLS),
      message_id: z.string(),
      answer: z.unknown(),
    }),
  )
  .parse(
    jsonIn(readFileSync(new URL('./bridge-status/recordings/paid.json', import.meta.url), 'utf8')),
  );

/** A node's word that it does not hold a block is read by the port as that. */
const held = (reading: unknown) =>
  reading instanceof Read && (reading.value === null || reading.value === 'moved')
    ? unread('chain_node', why('time_budget'))
    : reading;

const NODES: readonly Adapter[] = [
  {
    name: 'blocks of an EVM node',
    back: () => standIn(startNodes(WORLD), nodeUrl),
    // A node that lacks a method says so by an error or by null: another method is asked then.
    spared: /^(its own|a gateway’s|null).*(trace_block|debug_|eth_getBlockReceipts)/,
    ask: async (url) => {
      const rpc = rpcAt(new URL('/rpc/1', url));
      const node = evmNode({ chain: 'ethereum', rpc, simulated: false, now });
      const rows = WORLD.rowsIn(1, 0, WORLD.headOf(1) - 100);
      const block = Number(rows.at(-1)?.block);
      const opened = await node.open(block, SIGNAL);
      if (!opened.checked) return [opened];
      const told = [await node.blocks(block, block, SIGNAL), await node.header(block, SIGNAL)];
      return told.map(held);
    },
  },
  {
    name: 'facts of an EVM node',
    back: accountNode,
    ask: async (url) => {
      const nodes = [{ chain: 'ethereum', rpc: rpcAt(new URL('/rpc/1', url)) }] as const;
      const facts = nodeFacts({ nodes, simulated: false, now });
      const {
        verified_name: _,
        creation: __,
        ...own
      } = await facts.of('ethereum', proxy, FACT_NAMES, SIGNAL);
      const admin = { fact: 'admin', address: flagged } as const;
      return [...Object.values(own), await facts.setBy('ethereum', proxy, admin, SIGNAL)];
    },
  },
  {
    name: 'approvals and black lists of an EVM node',
    back: accountNode,
    // Where it was put on the list is told beside, with its own reason.
    spared: /eth_getLogs of freezes/,
    ask: async (url) => {
      const nodes = nodesAt(url);
      const permit2 = registries.permit2File(registry('permit2'));
      const tokens = registries.freezingTokensFile(registry('issuer-freezes'));
      const approvals = nodeApprovals({ nodes, permit2, simulated: false, now });
      const freezes = nodeFreezes({ nodes, tokens, simulated: false, now });
      return [
        await approvals.given('ethereum', scored, SIGNAL),
        await freezes.of('ethereum', scored, SIGNAL),
      ];
    },
  },
  {
    name: 'receipts of an EVM node',
    back: () => cannedNode(RECEIPTS),
    ask: (url) => {
      const receipts = nodeReceipts({ nodes: nodesAt(url), simulated: false, now });
      return values(receipts.lookUp('ethereum', [word], SIGNAL));
    },
  },
  {
    name: 'arrivals of an EVM node',
    back: () => cannedNode(ARRIVALS),
    ask: async (url) => {
      const bounds = { timeMs: 5_000, rangesMax: 3 };
      const arrivals = nodeArrivals({ nodes: nodesAt(url), simulated: false, now, ...bounds });
      const where = { chain: 'ethereum', contracts: [contract], topics: [word] } as const;
      const when = { since: NOW - 600, until: NOW - 300, wanted: () => true };
      return [
        await arrivals.lookUp({ ...where, ...when }, SIGNAL),
        await arrivals.timeOf('ethereum', 7, SIGNAL),
      ];
    },
  },
  {
    name: 'pairs by an EVM node',
    back: () => cannedNode(ARRIVALS),
    ask: async (url) => {
      const exchanges = ETHEREUM_EXCHANGES;
      const pairs = nodePairCreations({ rpc: rpcAt(url), exchanges, simulated: false, now });
      return [await pairs.among([contract], 7, SIGNAL)];
    },
  },
  {
    name: 'a contract probed by an EVM node',
    back: () => cannedNode(PROBED),
    ask: async (url) => [
      await nodeProbe('ethereum', rpcAt(url), now).look(contract, [word], SIGNAL),
    ],
  },
  {
    name: 'an anchoring contract',
    back: () => cannedNode(ANCHORED),
    // A node that knows no receipt says so.
    spared: /^null in its place eth_getTransactionReceipt$/,
    ask: async (url) => {
      const place = { rpc: rpcAt(url), chain_id: 1, contract, simulated: false, now };
      const chain = anchorContract({ ...place, sender: contract, key: word });
      return [
        await chain.state(SIGNAL),
        await chain.gasOf({ root: word, size: 1 }, SIGNAL),
        await chain.minedOf([word], SIGNAL),
        await chain.send('0x01', SIGNAL),
      ];
    },
  },
  {
    name: 'blocks of a Bitcoin node',
    back: () =>
      standIn(
        bitcoinCore(() => BITCOIN),
        urlOf,
      ),
    // A node that knows no verbosity of 3 is asked with 2.
    spared: /^null in its place getblock$/,
    ask: async (url) => {
      const blocks: unknown[] = [];
      const source = {
        name: 'node',
        url: 'x:',
        as_of: NOW,
        kind: 'observation',
        simulated: false,
      } as const;
      try {
        for await (const one of bitcoinNode(rpcAt(url))(0, null).blocks(SIGNAL)) blocks.push(one);
        return [read(blocks, { port: 'entity_blocks', source })];
      } catch (error) {
        // The port of blocks ends by a fault of its own.
        if (!(error instanceof BlocksFault)) throw error;
        return [unread('entity_blocks', why('file_unreadable', { fault: error.message }))];
      }
    },
  },
  {
    name: 'history of a Solana node',
    back: () => cannedNode(SOLANA),
    ask: (url) => {
      const history = solanaHistory({ url, guard: guardOf(), ...BUDGET, ...UNHELD });
      return values(history.neighbourhoods([SOL], WALK));
    },
  },
  {
    name: 'launches of a Solana node',
    back: () =>
      standIn(
        startSolana(() => worldLaunchesIn(NOW - 7_200, NOW).reverse()),
        urlOf,
      ),
    ask: async (url) => {
      const feed = solanaLaunchFeed({ url, guard: guardOf(), ...BUDGET, pagesMax: 3 });
      const [launch] = worldLaunchesIn(NOW - 7_200, NOW);
      const [account] = WATCHED_ACCOUNTS;
      return [
        await feed.listed(account, null, SIGNAL),
        await feed.launchesOf(String(launch?.signature), SIGNAL),
      ];
    },
  },
];

const chainsAt = (url: URL) => {
  const at = { url: new URL('/v2/api', url), guard: guardOf() };
  return [etherscanChain('ethereum', at, null)] as const;
};
const walkAt = (url: URL) => ({ at: chainsAt(url)[0], ...BUDGET });
const { mixed } = SANDBOX_DEPLOYERS;
const [made] = WORLD_CONTRACTS.filter(({ maker }) => maker === mixed);
const token = String(made?.address);
const relays = registries.relaysFile(registry('relays'));

const EXPLORERS: readonly Adapter[] = [
  {
    name: 'history of an explorer',
    ask: (url: URL) => {
      const history = explorerHistory({ chains: chainsAt(url), ...BUDGET, ...UNHELD });
      return values(history.neighbourhoods([SANDBOX_WALLETS.oneHop], WALK));
    },
  },
  {
    name: 'lists of an explorer',
    ask: (url: URL) => {
      const { slice } = explorerLists({ chains: chainsAt(url), now });
      const how = { callsMax: 100, signal: SIGNAL, onCall: () => undefined };
      const of = { chain: 'ethereum', address: SANDBOX_WALLETS.oneHop, from_block: 0 } as const;
      const kinds = ['native', 'internal', 'token'] as const;
      return Promise.all(kinds.map((kind) => slice({ ...of, kind }, how)));
    },
  },
  {
    name: 'facts of an explorer',
    ask: async (url: URL) => {
      const facts = explorerFacts({ chains: chainsAt(url), ...BUDGET, relays });
      const admin = { fact: 'admin', address: flagged } as const;
      const { authority: _, ...told } = await facts.of('ethereum', proxy, FACT_NAMES, SIGNAL);
      return [...Object.values(told), await facts.setBy('ethereum', proxy, admin, SIGNAL)];
    },
  },
  {
    name: 'approvals of an explorer',
    ask: async (url: URL) => {
      const permit2 = registries.permit2File(registry('permit2'));
      const approvals = explorerApprovals({ chains: chainsAt(url), permit2, ...BUDGET });
      return [await approvals.given('ethereum', scored, SIGNAL)];
    },
  },
  {
    name: 'creations of an explorer',
    ask: async (url: URL) => {
      const creations = explorerCreations(walkAt(url), relays);
      return [
        await creations.madeDirectly(mixed, SIGNAL),
        await creations.madeBy(mixed, SIGNAL),
        await creations.makersOf([token], SIGNAL),
      ];
    },
  },
  {
    name: 'kinds of contracts of an explorer',
    // The published source may show a contract that no call answers about.
    spared: /eth_(getCode|call)$/,
    ask: async (url: URL) => [await contractKinds(walkAt(url), null).kindOf(token, SIGNAL)],
  },
  {
    name: 'transfers of a token of an explorer',
    ask: async (url: URL) => [await explorerTokenTransfers(walkAt(url)).observed(token, SIGNAL)],
  },
  {
    name: 'first liquidity of an explorer',
    ask: async (url: URL) => {
      return [await explorerLaunchPools(walkAt(url), UNISWAP_V2).firstLiquidity(token, SIGNAL)];
    },
  },
].map((one) => ({
  ...one,
  back: () => standIn(startExplorer(WORLD), (at) => at.etherscan, STATE),
  more: EXPLORER,
}));

const OTHERS: readonly Adapter[] = [
  {
    name: 'prices',
    back: () => standIn(startPriceApi({ now, priceOf }), urlOf),
    ask: async (url) => {
      const prices = defillamaPrices({ url, guard: guardOf(), ...BUDGET });
      const coin = { chain: 'ethereum', token: null } as const;
      return [
        await prices.historical([{ ...coin, at: NOW - 86_400 }], SIGNAL),
        await prices.markets([coin], SIGNAL),
      ];
    },
  },
  {
    name: 'pools and listings of a venue',
    back: () => standIn(startPools(), urlOf),
    ask: async (url) => {
      const at = { url, guard: guardOf(), ...BUDGET };
      const listings = dexscreenerListings({ ...at, chain: 'solana', exitLiquidityUsd: 500 });
      return [
        await dexscreenerVenue({ ...at, chain: 'ethereum' }).poolsOf(contract, SIGNAL),
        await listings.stateOf(SOL, SIGNAL),
      ];
    },
    more: {
      'pairs of another token': (whole) => {
        return { text: whole.replaceAll(/"address":"[^"]*"/g, '"address":"another"') };
      },
    },
  },
  {
    name: 'GoPlus',
    back: () => standIn(startTokenRisk(OPINIONS), urlOf),
    more: GOPLUS,
    ask: async (url) => {
      const at = { url, guard: guardOf(), ...BUDGET };
      const key = { app: 'an app', secret: 'a secret' };
      return [await goplusTokenRisk({ ...at, key }).fieldsOf(contract, SIGNAL)];
    },
  },
  {
    name: 'RugCheck',
    back: () => standIn(startTokenRisk(OPINIONS), urlOf),
    more: RUGCHECK,
    ask: async (url) => {
      const at = { url, guard: guardOf(), ...BUDGET };
      return [await rugcheckTokenRisk({ ...at, key: null }).fieldsOf(SOL, SIGNAL)];
    },
  },
  ...STATUS.map(({ page, protocol, message_id, answer }) => ({
    name: `the status page ${page}`,
    back: () => async () => JSON.stringify(answer),
    ask: async (url: URL) => {
      const pages = new Map([[page, { url, key: null, guard: guardOf() }]]);
      const asked = {
        chain: 'ethereum',
        tx: word,
        message_id,
        destination_id: 8_453,
        terms: null,
      } as const;
      return [
        await statusPages({ pages, now, timeMs: 5_000 }).statusOf({ protocol, ...asked }, SIGNAL),
      ];
    },
  })),
  ...(['sdn.xml', 'sdn-advanced.xml'] as const).map((name) => ({
    name: `the publication ${name}`,
    back: () => {
      const text = readFileSync(new URL(`./ofac/recordings/${name}`, import.meta.url), 'utf8');
      return async () => text;
    },
    ask: async (url: URL) => {
      const limits = { ...DOWNLOAD_LIMITS, deadlineMs: 5_000 };
      const mirror = httpMirror({
        url,
        spool: spoolIn(await folder()),
        userAgent: 'x',
        now,
        limits,
      });
      const told = await mirror.deliver(null, SIGNAL);
      if (!told.checked || told.value.kind !== 'file') return [told.checked ? null : told];
      const options = { isKnownForm: () => true, limits: CONTAINER_LIMITS };
      const list = await readPublication(told.value.file.path, options);
      return [
        'reason' in list
          ? unread('publisher', why('file_unreadable', { fault: list.reason }))
          : told,
      ];
    },
  })),
];

const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'exhibit-test-adapters-'));
  closing.push(() => rm(path, { recursive: true }));
  return path;
};

const whole = (readings: readonly unknown[]) => readings.every((one) => one instanceof Read);
const isTold = (one: unknown) =>
  one === null || one instanceof Read || one instanceof Part || one instanceof Unread;

describe.each([...NODES, ...EXPLORERS, ...OTHERS])('$name', ({ back, ask, more, spared }) => {
  test('is read where all is whole, and nowhere else', { timeout: 60_000 }, async () => {
    const front = await startFront(await back());
    closing.push(front.close);
    const first = await ask(front.url);
    expect(
      first.length > 0 && whole(first),
      JSON.stringify(first.filter((one) => !whole([one]))),
    ).toBe(true);
    const damages = [
      ...Object.entries({ ...WIRE, ...more }).map((one) => [...one, false] as const),
      ...Object.entries(CALL).map((one) => [...one, true] as const),
    ];
    const wrong: string[] = [];
    for (const kind of [...front.kinds]) {
      for (const [name, damage, isOfCall] of damages) {
        if (spared?.test(`${name} ${kind}`) === true) continue;
        front.set({ kind, damage, isOfCall });
        try {
          const told = await ask(front.url);
          if (!told.every(isTold)) wrong.push(`${name} at ${kind}: no reading`);
          else if (front.hits() > 0 && whole(told)) wrong.push(`${name} at ${kind}: read`);
        } catch (error) {
          wrong.push(`${name} at ${kind}: threw ${String(error)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

const BRIDGE_COLUMNS = 10;
const BRIDGE = {
  chain: 'ethereum',
  address: contract,
  protocol: 'across',
  name: 'Pool',
  role: 'token',
  valid_from_block: null,
  also_on: [],
  sources: ['docs'],
  reviewed: '2026-11-01',
  note: null,
} as const;
/** The rules of the feature in one: a row of other columns is refused. */
const bridges = (path: string) =>
  registries
    .fileBridgeRegistry(path, ([, ...lines]) => {
      const refused = lines.filter(({ cells }) => cells.length !== BRIDGE_COLUMNS);
      const code = 'unreadable_row';
      return {
        rows: lines.map(() => BRIDGE),
        refused: refused.map(({ line }) => ({ line, chain: '', address: '', code, reason: code })),
      };
    })
    .table();
const FILES: readonly (readonly [
  name: string,
  whole: string,
  ask: (path: string) => Promise<unknown>,
])[] = [
  ['mixers', csvOf('mixers'), (path) => registries.mixerRegistryFile(path).lookUp([])],
  ['issuers', csvOf('issuer-freezes'), (path) => registries.freezingTokensFile(path)()],
  ['Permit2', csvOf('permit2'), (path) => registries.permit2File(path)()],
  ['relays', csvOf('relays'), (path) => registries.relaysFile(path)()],
  ['launchpads', csvOf('launchpads'), (path) => registries.launchpadRegistry(path).among([])],
  [
    'established tokens',
    csvOf('established-tokens'),
    (path) => registries.establishedTokens(path).among([]),
  ],
  ['bridges', csvOf('bridge-contracts'), bridges],
  ['a model', artefactText(SMALL_MODEL), readModelFile],
];
function csvOf(name: string): string {
  return readFileSync(registry(name), 'utf8');
}

describe.each(FILES)('the file of %s', (_, text, ask) => {
  test('is read where it is whole, and nowhere else', async () => {
    const path = join(await folder(), 'file.csv');
    await writeFile(path, text);
    sealRegistry(dirname(path));
    expect(await ask(path)).toBeInstanceOf(Read);
    const lines = text.trimEnd().split('\n');
    for (const kept of [lines.length - 1, Math.floor(lines.length / 2)]) {
      // Each row of it is right: only the digest of the whole shows the cut.
      await writeFile(path, `${lines.slice(0, kept).join('\n')}\n`);
      expect(await ask(path), `cut after line ${kept}`).toBeInstanceOf(Unread);
    }
    const broken = [
      '',
      String(lines[0]).slice(0, 100),
      text.slice(0, -20),
      BAD_GATEWAY_PAGE,
      '{}',
      `${text}\n"`,
    ];
    for (const one of broken) {
      await writeFile(path, String(one));
      sealRegistry(dirname(path));
      expect(await ask(path), String(one).slice(0, 20)).toBeInstanceOf(Unread);
    }
  });
});

const TAG = { address: contract, label: 'Pool', source: 'https://example.org/a' };
const WALLET = {
  id: 'w',
  schema: 'CryptoWallet',
  properties: { publicKey: [contract], holder: ['p'] },
};
const HOLDER = { id: 'p', schema: 'Person', properties: { name: ['Somebody'] } };
const toLines = (rows: readonly unknown[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const TABLES = {
  'table.csv': `address,label,source\n${`${contract},Pool,"https://example.org/a"\n`.repeat(3)}`,
  'table.jsonl': toLines([TAG, TAG, TAG]),
  'table.json': JSON.stringify([TAG, TAG, TAG]),
  'entities.json': toLines([HOLDER, WALLET]),
  'pack.yaml': `title: A pack\ncurrency: ETH\ntags:\n- {address: "${contract}", label: "Pool"}\n`,
};
const HEADS = ['id: a', 'title: A case', 'date: 2026-10-02', 'description: Seen.'];
const ABOUT = [`subject: "${contract}"`, `deployer: "${contract}"`, 'kind: wallet'];
const HEAD_OF_RECEIPT = ['---', ...HEADS, ...ABOUT, 'status: published', '---', ''].join('\n');
const ETL = BITCOIN.etl();
const etlText = (lines: readonly string[]) => Buffer.from(`${lines.join('\n')}\n`);
const recording = (name: string) =>
  readFileSync(new URL(`./ofac/recordings/${name}`, import.meta.url));

type OnDisk = {
  readonly name: string;
  readonly files: Readonly<Record<string, Uint8Array | string>>;
  readonly ask: (folder: string, file: string) => Promise<unknown>;
  /**
   * The remainder of a file after a cut that its format cannot show, and the reason why it need
   * not.
   */
  readonly spared?: (left: string) => boolean;
};

const FAULT = why('file_unreadable', { fault: 'told' });
const ORIGIN = {
  port: 'table_file',
  source: { name: 'file', url: 'x:', as_of: NOW, kind: 'table', simulated: false },
} as const;

async function askTable(folder: string, file: string): Promise<unknown> {
  const opened = await localTableFiles().open(join(folder, file));
  if (!(opened instanceof Read)) return opened;
  const rows: (RawRow | BrokenRow)[] = [];
  for await (const batch of opened.value.rows()) {
    if (!(batch instanceof Read)) return batch;
    rows.push(...batch.value);
  }
  // An import names each row that is broken or lacks what it must have, and refuses a file of none.
  const isTold =
    rows.length === 0 || rows.some((row) => 'problem' in row || !row.fields.has('address'));
  return isTold ? part(rows, ORIGIN, FAULT) : read(rows, ORIGIN);
}

async function askEtl(folder: string): Promise<unknown> {
  const blocks: BitcoinBlock[] = [];
  try {
    for await (const one of etlFiles([folder]).blocks(SIGNAL)) blocks.push(one);
  } catch (error) {
    if (!(error instanceof BlocksFault)) throw error;
    return unread('entity_blocks', why('file_unreadable', { fault: error.fault }));
  }
  // A block that did not come whole is held as open, and one that did not come is not held.
  const all = blocks.length === BITCOIN.blocks.length && blocks.every(({ whole }) => whole);
  return all ? read(blocks, ORIGIN) : part(blocks, ORIGIN, FAULT);
}

async function askReceipts(folder: string): Promise<unknown> {
  const files = await receiptsFolder({ folder, simulated: false, now }).files();
  if (!(files instanceof Read)) return files;
  const isWhole = files.value.length > 0 && files.value.every(({ state }) => state === 'published');
  return isWhole ? files : part(files.value, ORIGIN, FAULT);
}

async function askMirror(folder: string, file: string): Promise<unknown> {
  const url = pathToFileURL(join(folder, file));
  const mirror = fileMirror({ url, spool: spoolIn(join(folder, 'spool')), now, obtained_at: null });
  const told = await mirror.deliver(null, SIGNAL);
  if (!told.checked || told.value.kind !== 'file') return told;
  const { path } = told.value.file;
  const list = await readPublication(path, { isKnownForm: () => true, limits: CONTAINER_LIMITS });
  return 'reason' in list
    ? unread('publisher', why('file_unreadable', { fault: list.code }))
    : told;
}

const ON_DISK: readonly OnDisk[] = [
  ...Object.entries(TABLES).map(([file, text]) => ({
    name: `the table ${file}`,
    files: { [file]: text },
    ask: askTable,
    // Lines that end are a shorter file of lines: an import holds the count against the one before.
    // The last cell of CSV may be empty.
    spared: (left: string) => text.startsWith(`${left.trimEnd()}\n`) || left.endsWith(',Pool,'),
  })),
  {
    name: 'files of bitcoin-etl',
    files: { 'blocks.json': etlText(ETL.blocks), 'transactions.json': etlText(ETL.transactions) },
    ask: askEtl,
  },
  {
    name: 'packed files of bitcoin-etl',
    files: {
      'blocks.json.gz': gzipSync(etlText(ETL.blocks)),
      'transactions.json.gz': gzipSync(etlText(ETL.transactions)),
    },
    ask: askEtl,
  },
  {
    name: 'a receipt of a folder',
    files: { 'a.md': `${HEAD_OF_RECEIPT}A text for people.\n` },
    ask: askReceipts,
    // All that a receipt is found by stands in its head; the text below it has no end of its own.
    spared: (left) => left.length > HEAD_OF_RECEIPT.length,
  },
  ...['sdn.xml', 'sdn-advanced.xml'].map((file) => ({
    name: `a mirror that is the file ${file}`,
    files: { [file]: recording(file) },
    ask: askMirror,
  })),
];
const CUTS = 97;

describe.each(ON_DISK)('on disk, $name', ({ files, ask, spared }) => {
  test.each(Object.keys(files))('is read where %s is whole, and nowhere else', async (file) => {
    const place = await folder();
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(place, name), bytes);
    expect(await ask(place, file)).toBeInstanceOf(Read);
    const bytes = Buffer.from(files[file] ?? '');
    const length = bytes.toString('latin1').trimEnd().length;
    const cuts = Array.from({ length: CUTS }, (_, i) => Math.floor((length * i) / CUTS));
    const broken = new Map<string, string | Buffer>([
      ...cuts.map((at) => [`cut after ${at} bytes`, bytes.subarray(0, at)] as const),
      ['HTML', BAD_GATEWAY_PAGE],
      ['an error', '{"error":{"code":-32603,"message":"Internal error"}}'],
      ['null', 'null\n'],
      ['an object without members', '{}\n'],
    ]);
    const wrong: string[] = [];
    for (const [damage, left] of broken) {
      if (left instanceof Buffer && spared?.(left.toString()) === true) continue;
      await writeFile(join(place, file), left);
      const told = await ask(place, file);
      if (!(told instanceof Part || told instanceof Unread)) wrong.push(damage);
    }
    await rm(join(place, file));
    const told = await ask(place, file);
    if (!(told instanceof Part || told instanceof Unread)) wrong.push('no file');
    expect(wrong).toEqual([]);
  });
});
