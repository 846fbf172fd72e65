// The faults of providers before a real node end in all blocks, or in a named fault.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CHAINS, EVM_CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { chainNodeKeeps } from '../../ports/following.suite.ts';
import type { ChainNode, ReadBlocks } from '../../ports/indexing.ts';
import { type Anvil, anvilPath, startAnvil } from '../../testing/anvil.ts';
import {
  type InItsPlace,
  type NodeProxy,
  type Rule,
  startProxy,
} from '../../testing/anvil-proxy.ts';
import { deployTraffic } from '../../testing/anvil-traffic.ts';
import { compileContracts } from '../../testing/contracts.ts';
import { worldChains } from '../../world/chain-data.ts';
import type { WorldChains } from '../../world/chain-types.ts';
import type { NodeFaultName } from '../../world/json-rpc.ts';
import { nodesPart } from '../../world/json-rpc-server.ts';
import { jsonRpc, RPC_LIMITS } from '../http/json-rpc.ts';
import { evmNode } from './node.ts';

const absent = anvilPath() === null;
const title = absent ? 'a provider (skipped: anvil is not installed)' : 'a provider';
const BASE_ID = 8_453;
const never = new AbortController().signal;

describe.skipIf(absent)(title, () => {
  let anvil: Anvil;
  let proxy: NodeProxy;
  let head: number;
  let truth: ReadBlocks;
  const slept: number[] = [];

  /** A node behind the proxy, and what it costs no time to wait for. */
  function nodeAt(url: URL): ChainNode {
    const sleep = async (ms: number) => void slept.push(ms);
    const limits = { ...RPC_LIMITS, deadlineMs: 5_000 };
    const rpc = jsonRpc({ url, headers: {}, limits, sleep });
    return evmNode({ chain: 'base', rpc, simulated: true, now: () => 1 });
  }

  async function readAll(node: ChainNode): Promise<ReadBlocks | string> {
    const opened = await node.open(0, never);
    if (!opened.checked) return opened.why.reason;
    const told = await node.blocks(0, head, never);
    return told.checked ? told.value : told.why.reason;
  }

  beforeAll(async () => {
    const [started, contracts] = await Promise.all([startAnvil(BASE_ID), compileContracts()]);
    anvil = started;
    const sends = await deployTraffic(anvil, contracts);
    for (const round of [1, 2, 3]) for (const send of sends(round)) await anvil.mine(...send);
    head = Number(await anvil.ask('eth_blockNumber'));
    proxy = await startProxy(anvil.url);
    const all = await readAll(nodeAt(anvil.url));
    if (typeof all === 'string') throw new Error(all);
    truth = all;
  });
  afterAll(async () => {
    await proxy?.stop();
    await anvil?.stop();
  });
  beforeEach(() => {
    proxy.setRule(() => null);
    proxy.calls.length = 0;
    slept.length = 0;
  });

  chainNodeKeeps('anvil', async () => nodeAt(anvil.url));

  const said = (fault: string) => `http://${proxy.url.host} failed: ${fault}.`;
  const spanOf = (call: { params: readonly unknown[] }) => {
    const [filter] = call.params;
    if (typeof filter !== 'object' || filter === null) return 0;
    const at = (name: string) => Number(Reflect.get(filter, name));
    return at('toBlock') - at('fromBlock') + 1;
  };
  const logsOver = (blocks: number, by: (call: { params: unknown[] }) => InItsPlace): Rule => {
    return (call) => (call.method === 'eth_getLogs' && spanOf(call) > blocks ? by(call) : null);
  };
  const error = (code: number, message: string, data?: unknown): InItsPlace => ({
    error: data === undefined ? { code, message } : { code, message, data },
  });

  test.each<[string, () => InItsPlace]>([
    ['Infura', () => error(-32005, 'query returned more than 10000 results')],
    ['Infura with data', () => error(-32005, 'x', { from: '0x0', to: '0x4', limit: 10_000 })],
    [
      'Alchemy',
      () => error(-32602, 'Log response size exceeded. this block range should work: [0x0, 0x3]'),
    ],
    ['QuickNode', () => error(-32614, 'eth_getLogs is limited to a 10,000 range')],
    ['1RPC', () => error(-32602, 'eth_getLogs is limited to 0 - 50 blocks range')],
    ['Nethermind', () => error(-32602, 'invalid params', 'block range is too wide')],
    ['zkSync', () => error(-32602, 'Query returned more than 10000 results. Try with less')],
    ['Arbitrum', () => error(-32000, 'logs matched by query exceeds limit of 10000')],
    ['Avalanche', () => error(-32000, 'requested too many blocks from 0 to 9, maximum is 2048')],
    ['zkEVM', () => error(-32000, 'block range too large, max range: 5')],
    ['Immutable', () => error(-32000, 'exceeded maximum block range: 5000')],
    ['Cronos', () => error(-32000, 'maximum [from, to] blocks distance: 2000')],
    ['Ankr', () => error(-32600, 'block range is too wide')],
    ['dRPC', () => error(35, 'ranges over 10000 blocks are not supported on freetier')],
    ['Polygon', () => error(-32603, 'block range is too wide')],
    ['HTTP 413', () => ({ status: 413, body: 'too large' })],
    ['a body that breaks off', () => ({ broken: true })],
    ['a body cut by a proxy', () => ({ status: 200, body: '{"jsonrpc":"2.0","id":' })],
  ])('%s: a refused range is asked for in smaller ones, and nothing is missing', async (_, by) => {
    proxy.setRule(logsOver(5, by));
    expect(await readAll(nodeAt(proxy.url))).toEqual(truth);
    const spans = proxy.calls.filter((call) => call.method === 'eth_getLogs').map(spanOf);
    expect(spans.filter((span) => span <= 5).length).toBeGreaterThan(5);
  });

  test.each<[string, InItsPlace, string]>([
    [
      'PublicNode: Archive requests require a personal token',
      error(-32602, 'Archive requests require a personal token, get one at example.org'),
      'keeps this history from this plan (archive)',
    ],
    ['pruned', error(4444, 'Pruned history unavailable'), 'no longer holds this history (pruned)'],
    ['key', error(-32000, 'invalid api key'), 'refused the credential'],
    ['HTTP 401', { status: 401, body: 'no' }, 'refused the credential (401)'],
    ['another error', error(-32603, 'internal error'), 'answered with error -32603'],
  ])('%s: is told at once, never taken for a range', async (_, by, fault) => {
    proxy.setRule(logsOver(0, () => by));
    expect(await readAll(nodeAt(proxy.url))).toBe(said(fault));
    expect(proxy.calls.filter((call) => call.method === 'eth_getLogs')).toHaveLength(1);
  });

  test('BNB: refused down to one block, it is a fault and no endless halving', async () => {
    proxy.setRule(logsOver(0, () => error(-32005, 'limit exceeded')));
    expect(await readAll(nodeAt(proxy.url))).toBe(said('refuses the logs of a single block'));
    const asked = proxy.calls.filter((call) => call.method === 'eth_getLogs');
    expect(asked.length).toBeLessThan(10);
  });

  test('a rate limit is waited out as long as the provider says', async () => {
    let left = 3;
    const later: InItsPlace[] = [
      { status: 429, headers: { 'retry-after': '7' }, body: '' },
      error(-32005, 'rate limit exceeded, slow down'),
      error(-32029, 'too fast'),
    ];
    proxy.setRule(({ method }) => {
      if (method !== 'eth_getLogs' || left === 0) return null;
      left -= 1;
      return later[2 - left] ?? null;
    });
    expect(await readAll(nodeAt(proxy.url))).toEqual(truth);
    expect(slept).toEqual([7_000, 500, 1_000]);
  });

  test('a rate limit without end, or a wait too long, is a fault', async () => {
    proxy.setRule(logsOver(0, () => error(429, 'x')));
    expect(await readAll(nodeAt(proxy.url))).toBe(said('limits the rate of requests'));
    const headers = { 'retry-after': '86400' };
    proxy.setRule(logsOver(0, () => ({ status: 429, headers, body: '' })));
    const asks = 'limits the rate of requests and asks to wait 86400 s';
    expect(await readAll(nodeAt(proxy.url))).toBe(said(asks));
  });

  test.each<[string, string, InItsPlace, string]>([
    ['of another chain', 'eth_chainId', { result: '0x1' }, 'is of chain 1, not of base (8453)'],
    [
      'that serves HTML',
      'eth_getLogs',
      { status: 200, body: '<!doctype html>' },
      'answered something other than JSON-RPC',
    ],
    ['that is down', 'eth_getLogs', { status: 503, body: '' }, 'answered 503'],
    [
      'that drops logs and says nothing (pruned)',
      'eth_getLogs',
      { result: [] },
      'leaves logs out of the ranges that it answers',
    ],
    [
      'that traces nothing of a block with transactions',
      'trace_block',
      { result: [] },
      'told no trace of a transaction',
    ],
    [
      'with logs of another form',
      'eth_getLogs',
      { result: [{ address: '0x1' }] },
      'answered eth_getLogs in another form (at 0.address)',
    ],
  ])('a node %s is a fault by its name', async (_, method, by, fault) => {
    const node = nodeAt(proxy.url);
    const seen = new Set<string>();
    proxy.setRule((call) => {
      // The probe of a start passes: what fails, fails later.
      const probe = call.method === 'trace_block' && !seen.has(call.method);
      seen.add(call.method);
      return call.method === method && !probe ? by : null;
    });
    expect(await readAll(node)).toBe(said(fault));
  });

  test.each<[string, string[], string[]]>([
    ['call traces', ['trace_block'], ['native', 'token', 'nft']],
    ['receipts by block', ['trace_block', 'debug_traceBlockByHash'], ['native', 'token', 'nft']],
    [
      'receipts one by one',
      ['trace_block', 'debug_traceBlockByHash', 'eth_getBlockReceipts'],
      ['native', 'token', 'nft'],
    ],
  ])('a node that has only %s tells the same of the kinds it can tell', async (_, lacks, kinds) => {
    proxy.setRule(({ method }) =>
      lacks.includes(method) ? error(-32601, `the method ${method} does not exist`) : null,
    );
    const node = nodeAt(proxy.url);
    expect(await node.open(0, never)).toMatchObject({
      checked: true,
      value: { kinds, to_block: null },
    });
    const all = await readAll(node);
    if (typeof all === 'string') throw new Error(all);
    const rows = ({ blocks }: ReadBlocks) =>
      blocks.flatMap(({ transfers }) => {
        const told = transfers.filter(({ kind }) => kinds.includes(kind));
        return told.map((one) => JSON.stringify(Object.values(one).map(String))).sort();
      });
    expect(rows(all)).toEqual(rows(truth));
    if (lacks.length > 1) return;
    // Call traces show what contracts call with coins, but nothing shows that they show all of it.
    expect(all.blocks.map((one) => one.creations)).toEqual(
      truth.blocks.map((one) => one.creations),
    );
    const internal = ({ blocks }: ReadBlocks) => {
      return blocks.flatMap(({ transfers }) => transfers.filter(({ kind }) => kind === 'internal'));
    };
    expect(internal(all).length).toBe(internal(truth).length);
  });

  describe('a node that traces by the flat call tracer', () => {
    const trace = z.looseObject({
      transactionHash: z.string(),
      traceAddress: z.array(z.number()),
      subtraces: z.number(),
    });
    type Trace = z.infer<typeof trace>;
    const flat = new Map<string, { txHash: string; result: Trace[] }[]>();

    beforeAll(async () => {
      for (let number = 0; number <= head; number += 1) {
        const at = `0x${number.toString(16)}`;
        const block = z
          .object({ hash: z.string(), transactions: z.array(z.string()) })
          .parse(await anvil.ask('eth_getBlockByNumber', at, false));
        const traces = z.array(trace).parse(await anvil.ask('trace_block', at));
        const rows = block.transactions.map((txHash) => {
          return { txHash, result: traces.filter((one) => one.transactionHash === txHash) };
        });
        flat.set(block.hash, rows);
      }
    });

    function traceFlat(change: (rows: { txHash: string; result: Trace[] }[]) => unknown): void {
      proxy.setRule(({ method, params: [hash, options] }) => {
        if (method === 'trace_block') return error(-32601, 'no such method');
        if (method !== 'debug_traceBlockByHash') return null;
        expect(options).toMatchObject({ tracerConfig: { includePrecompiles: true } });
        const rows = flat.get(String(hash));
        return { result: rows === undefined ? null : change(rows) };
      });
    }

    test('tells the same as `trace_block` does', async () => {
      traceFlat((rows) => rows);
      const kinds = ['native', 'internal', 'token', 'nft'];
      const opened = await nodeAt(proxy.url).open(0, never);
      expect(opened).toMatchObject({ value: { kinds, to_block: null } });
      expect(await readAll(nodeAt(proxy.url))).toEqual(truth);
    });

    test('and leaves out an inner call that its caller counts, is a fault', async () => {
      const inner = (one: Trace) => one.traceAddress.length === 1;
      traceFlat((rows) => {
        return rows.map((one) => {
          const left = one.result.findIndex(inner);
          return { ...one, result: one.result.filter((_, i) => i !== left) };
        });
      });
      expect(await readAll(nodeAt(proxy.url))).toBe(said('told a trace that lacks a call'));
    });

    test('and leaves out the whole of a transaction, is a fault', async () => {
      traceFlat((rows) => (rows.length > 1 ? rows.slice(1) : rows));
      const fault = 'traced other transactions than the block has';
      expect(await readAll(nodeAt(proxy.url))).toBe(said(fault));
    });
  });

  test('blocks that a node cannot trace forfeit nothing of the others', async () => {
    const kinds = ['native', 'internal', 'token', 'nft'];
    const traced = (
      call: { method: string; params: unknown[] },
      from: number,
      blocks: unknown[],
    ) => {
      const [at] = call.params;
      const number = call.method === 'trace_block' ? Number(at) : blocks.indexOf(at);
      return call.method.includes('race') && number < from;
    };
    const hashes: unknown[] = [];
    for (let number = 0; number <= head; number += 1) {
      const block = await anvil.ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false);
      hashes.push(Reflect.get(Object(block), 'hash'));
    }
    const pruned = (from: number): Rule => {
      return (call) =>
        traced(call, from, hashes) ? error(4444, 'Pruned history unavailable') : null;
    };
    proxy.setRule(pruned(1));
    const genesis = await nodeAt(proxy.url).open(0, never);
    expect(genesis).toMatchObject({ value: { kinds, to_block: null } });
    expect(await readAll(nodeAt(proxy.url))).toEqual(truth);
    proxy.setRule(pruned(6));
    const node = nodeAt(proxy.url);
    const early = { kinds: ['native', 'token', 'nft'], to_block: 5 };
    expect(await node.open(0, never)).toMatchObject({ value: early });
    expect(await node.open(6, never)).toMatchObject({ value: { kinds, to_block: null } });
    const told = await node.blocks(6, head, never);
    if (!told.checked || told.value === 'moved') throw new Error('the blocks were not told');
    expect(told.value.blocks).toEqual(truth.blocks.slice(6));
  });

  test('a node that drops logs is found out by its receipts too', async () => {
    proxy.setRule(({ method }) => {
      if (method.includes('race')) return error(-32601, 'no such method');
      return method === 'eth_getLogs' ? { result: [] } : null;
    });
    const fault = 'leaves logs out of the ranges that it answers';
    expect(await readAll(nodeAt(proxy.url))).toBe(said(fault));
  });

  test('a node that keeps no blooms proves none of its blocks', async () => {
    const node = nodeAt(proxy.url);
    await node.open(0, never);
    const numbers = Array.from({ length: head + 1 }, (_, i) => `0x${i.toString(16)}`);
    const blocks = new Map<unknown, unknown>();
    for (const number of numbers) {
      const block = await anvil.ask('eth_getBlockByNumber', number, true);
      blocks.set(number, Object.assign({}, block, { logsBloom: `0x${'0'.repeat(512)}` }));
    }
    proxy.setRule(({ method, params }) => {
      return method === 'eth_getBlockByNumber' ? { result: blocks.get(params[0]) } : null;
    });
    const told = await node.blocks(0, head, never);
    const fault = 'told a block whose bloom is not that of its logs';
    expect(!told.checked && told.why.reason).toBe(said(fault));
  });

  test('batches that a node refuses become smaller, down to single calls', async () => {
    const node = nodeAt(proxy.url);
    let before = 0;
    proxy.setRule(() => {
      // More calls than one since the last look came in one request.
      const together = proxy.calls.length - before;
      before = proxy.calls.length;
      return together > 1 ? { status: 413, body: '' } : null;
    });
    expect(await readAll(node)).toEqual(truth);
  });

  test('logs of another block than the header’s are a chain that moved, not facts', async () => {
    const node = nodeAt(proxy.url);
    await node.open(0, never);
    const logs = await anvil.ask('eth_getLogs', { fromBlock: '0x0', toBlock: '0x5' });
    if (!Array.isArray(logs)) throw new TypeError('no logs');
    const moved = logs.map((log: object) => ({ ...log, blockHash: `0x${'ab'.repeat(32)}` }));
    proxy.setRule(({ method }) => (method === 'eth_getLogs' ? { result: moved } : null));
    expect(await node.blocks(0, 5, never)).toMatchObject({ checked: true, value: 'moved' });
  });

  test('a stop ends a reading at once', async () => {
    const stop = new AbortController();
    const node = nodeAt(proxy.url);
    proxy.setRule(({ method }) => {
      if (method === 'eth_getLogs') stop.abort();
      return null;
    });
    await node.open(0, never);
    const told = await node.blocks(0, head, stop.signal);
    expect(!told.checked && told.why.reason).toBe(said('the reading was stopped'));
  });

  test('no fault names more of an address than its scheme and host', async () => {
    const url = new URL(`http://user:sekrit@${proxy.url.host}/v3/sekrit?key=sekrit`);
    proxy.setRule(() => error(-32000, 'sekrit is not authorized (key sekrit)'));
    const opened = await nodeAt(url).open(0, never);
    expect(!opened.checked && opened.why.reason).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ failed: [^s]*/,
    );
    expect(JSON.stringify(opened)).not.toContain('sekrit');
  });
});

// The simulated chains through the same adapter as real nodes: rows as made up, faults by name.

describe('a simulated world', () => {
  const NOW = Date.UTC(2026, 10, 21) / 1_000;
  const SEED = 'following';
  const never = new AbortController().signal;

  describe('the simulated chains', () => {
    let chains: WorldChains;
    let host: string;
    let fault: NodeFaultName | null = null;
    let close: () => void;
    beforeAll(async () => {
      chains = worldChains(() => NOW, SEED);
      const answers = nodesPart({ chains, fault: () => fault, reorgs: () => [] });
      const server = createServer((request, response) => {
        if (!answers(request, response)) response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      close = () => {
        server.closeAllConnections();
        server.close();
      };
    });
    afterAll(() => close());

    const idOf = (chain: EvmChainName) => Number(CHAINS[chain].chain_id);
    const nodeOf = (chain: EvmChainName) => {
      const url = new URL(`http://${host}/rpc/${idOf(chain)}`);
      const limits = { ...RPC_LIMITS, deadlineMs: 500, attemptsMax: 2 };
      const rpc = jsonRpc({ url, headers: {}, limits, sleep: async () => undefined });
      return evmNode({ chain, rpc, simulated: true, now: () => NOW });
    };
    /** The last blocks around something that happened. */
    const rangeOf = (chain: EvmChainName): { from: number; to: number } => {
      const head = chains.headOf(idOf(chain));
      const rows = chains.rowsIn(idOf(chain), Math.max(0, head - 500_000), head);
      const tokens = rows.filter(
        ({ kind, block }) => kind === 'token' && block > 0 && block < head,
      );
      const last = tokens.at(-1);
      if (last === undefined) throw new Error(`nothing happened on ${chain}`);
      return { from: Math.max(1, last.block - 20), to: Math.min(head, last.block + 20) };
    };

    test.each(EVM_CHAINS)('%s: each row that was made up is read, and no other', async (chain) => {
      fault = null;
      const node = nodeOf(chain);
      const { from, to } = rangeOf(chain);
      expect(await node.open(from, never)).toMatchObject({ checked: true });
      const told = await node.blocks(from, to, never);
      if (!told.checked || told.value === 'moved') throw new Error(JSON.stringify(told));
      const rows = told.value.blocks.flatMap(({ transfers }) => transfers);
      const read = rows
        // A token's log stands in a transaction of its own, which the made-up rows leave out.
        .filter(
          ({ kind, success, raw_amount }) => success && (kind !== 'native' || raw_amount > 0n),
        )
        .map((one) => [one.kind, one.tx_hash, one.from, one.to, one.raw_amount].join(' '));
      const made = chains
        .rowsIn(idOf(chain), from, to)
        .filter(
          ({ kind, success, value }) => success !== false && (kind !== 'native' || value > 0n),
        )
        .map((one) => [one.kind, one.tx, one.from, one.to, one.value].join(' '));
      expect(made.length).toBeGreaterThan(0);
      expect(read.sort()).toEqual(made.sort());
    });

    test.each<[NodeFaultName, RegExp]>([
      ['rate-limited', /limits the rate of requests/],
      ['html', /answered something other than JSON-RPC/],
      ['error500', /answered 500/],
      ['wrong-chain-id', /is of chain 2, not of ethereum \(1\)/],
      ['timeout', /did not answer within 0.5 s/],
      ['pruned', /leaves logs out of the ranges that it answers/],
    ])('%s is a fault by its name, and no block is read', async (name, says) => {
      const { from, to } = rangeOf('ethereum');
      const node = nodeOf('ethereum');
      fault = name;
      const opened = await node.open(from, never);
      const told = opened.checked ? await node.blocks(from, to, never) : opened;
      expect(!told.checked && told.why.reason).toMatch(says);
    });
  });
});
