// Every adapter, asked against a stand-in whose answers are damaged one kind of question after
// another, as recordings and networks damage them: nothing that is not whole is read, and no
// adapter throws. Each row shows first that what is whole is read.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Part, Read, read, Unread, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { FACT_NAMES } from '../ports/accounts.ts';
import { BRIDGE_PROTOCOLS, STATUS_PAGES } from '../ports/bridges.ts';
import { BlocksFault } from '../ports/entities.ts';
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
import { spoilBytes } from '../testing/hostile-bytes.ts';
import { lotteryOf } from '../testing/lottery.ts';
import { SANDBOX_SCORED } from '../world/account-state.ts';
import { SANDBOX_WALLETS, worldChains } from '../world/chain-data.ts';
import { SANDBOX_DEPLOYERS, WORLD_CONTRACTS } from '../world/deployers.ts';
import { startExplorer } from '../world/explorer-api.ts';
import { type StartedNodes, startNodes } from '../world/json-rpc-server.ts';
import { WORLD_SEED } from '../world/listed-parties.ts';
import { startPriceApi, worldPriceOf } from '../world/price-api.ts';
import { startSolana } from '../world/solana-api.ts';
import { worldLaunchesIn } from '../world/solana-launches.ts';
import { startTokenRisk } from '../world/token-risk-api.ts';
import { startVenue } from '../world/venue-api.ts';
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
import { goplusTokenRisk } from './goplus/token-security.ts';
import { jsonIn } from './http/fetch.ts';
import { jsonRpc, RPC_LIMITS } from './http/json-rpc.ts';
import { providerGuard } from './http/provider.ts';
import { DOWNLOAD_LIMITS, httpMirror, spoolIn } from './ofac/publisher.ts';
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
/** `npm run fuzz` sets how many spoiled answers each adapter gets, and which. */
const GIVEN = process.env['EXHIBIT_TEST_INPUTS'];
const ANSWERS = GIVEN === undefined ? 20 : Math.ceil(Number(GIVEN) / 100);
const SEED = Number(process.env['EXHIBIT_TEST_SEED'] ?? 20_261_126);
const HOSTILE_MS_MAX = Math.max(120_000, ANSWERS * 2_000);
const SHOWN_CHARS = 400;
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

  const title = 'asked against spoiled answers gives readings, and reads none that is no JSON';
  test(title, { timeout: HOSTILE_MS_MAX }, async () => {
    const front = await startFront(await back());
    closing.push(front.close);
    await ask(front.url);
    const lottery = lotteryOf(SEED);
    const kinds = [...front.kinds];
    for (let turn = 0; turn < ANSWERS; turn += 1) {
      const kind = lottery.oneOf(kinds);
      let [shown, isCut] = ['', false];
      const damage: Damage = (answer) => {
        const text = spoilBytes([Buffer.from(answer)], lottery).toString();
        if (jsonIn(answer) !== undefined && jsonIn(text) === undefined) isCut = true;
        shown = text;
        return { text };
      };
      front.set({ kind, damage, isOfCall: false });
      const at = () => `answer ${turn} of seed ${SEED} to ${kind}: ${shown.slice(0, SHOWN_CHARS)}`;
      const told = await ask(front.url).catch((fault: unknown) => {
        throw new Error(at(), { cause: fault });
      });
      expect(told.every(isTold), at()).toBe(true);
      const mayBeRead = !isCut || spared?.test(`a cut body ${kind}`) === true;
      if (!mayBeRead) expect(whole(told), at()).toBe(false);
    }
  });
});
