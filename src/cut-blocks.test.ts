// A block that a node tells cut is never counted as held, however the node tells it: by receipts,
// by traces, and where its ranges of logs leave out the same.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CHAINS, type EvmChainName } from './chain/chain.ts';
import { followChain, TIP_BLOCKS_MAX } from './features/indexing/follow-chain.job.ts';
import { tenure } from './ports/transfer-store.suite.ts';
import { evmNode } from './sources/evm/node.ts';
import { jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { type InItsPlace, type NodeProxy, startProxy } from './testing/anvil-proxy.ts';
import { deployTraffic } from './testing/anvil-traffic.ts';
import { compileContracts } from './testing/contracts.ts';
import { memoryTransferStore } from './testing/twins/indexing.ts';

const LOG = z.looseObject({ topics: z.array(z.string()), logIndex: z.string() });
const RECEIPT = z.looseObject({ transactionHash: z.string(), logs: z.array(LOG) });
const TRANSACTION = z.looseObject({ hash: z.string() });
const BLOCK = z.looseObject({ hash: z.string(), transactions: z.array(TRANSACTION) });
const TRACE = z.looseObject({ traceAddress: z.array(z.number()) });
type Traced = z.infer<typeof TRACE>;
type Receipt = z.infer<typeof RECEIPT>;
type Told = { readonly block: z.infer<typeof BLOCK>; readonly receipts: readonly Receipt[] };
/** Cuts what a node tells of a block; `before` is the block before it, as it is. */
type Cut = (told: Told, before: Told) => Told;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const FULL = `0x${'ff'.repeat(256)}`;
const EMPTY = `0x${'00'.repeat(256)}`;
const OTHER = `0x${'ab'.repeat(32)}`;
const STEP_MS = 20_000;

/** Keeps of the logs those that `kept` says by their place in the block. */
function withLogs(kept: (at: number, logs: number) => boolean): Cut {
  return ({ block, receipts }) => {
    const count = receipts.flatMap(({ logs }) => logs).length;
    let at = -1;
    const left = receipts.map((one) => {
      const logs = one.logs.filter(() => {
        at += 1;
        return kept(at, count);
      });
      return { ...one, logs, logsBloom: undefined };
    });
    return { block, receipts: left };
  };
}

const withReceipts =
  (change: (receipts: readonly Receipt[], before: readonly Receipt[]) => readonly Receipt[]): Cut =>
  ({ block, receipts }, before) => ({ block, receipts: change(receipts, before.receipts) });
const withBlock =
  (change: Record<string, unknown>): Cut =>
  ({ block, receipts }) => ({ block: BLOCK.parse({ ...block, ...change }), receipts });

const CUTS: readonly (readonly [string, Cut])[] = [
  ['the first receipt missing', withReceipts((all) => all.slice(1))],
  ['the last receipt missing', withReceipts((all) => all.slice(0, -1))],
  ['no receipt at all', withReceipts(() => [])],
  [
    'a receipt told twice in the place of another',
    withReceipts(([one]) => [one, one].flatMap(own)),
  ],
  ['the receipts of the block before', withReceipts((_, before) => before)],
  ['a log missing at the start', withLogs((at) => at > 0)],
  ['a log missing in the middle', withLogs((at) => at !== 1)],
  ['a log missing at the end', withLogs((at, count) => at < count - 1)],
  ['no log at all', withLogs(() => false)],
  [
    'the logs of one receipt missing, whose bloom is set',
    withReceipts(([first, ...rest]) =>
      [first, ...rest].flatMap(own).map((one, i, { length }) => {
        return i === length - 1 ? { ...one, logs: [] } : one;
      }),
    ),
  ],
  [
    'a log beyond its receipt’s bloom',
    withReceipts((all) => all.map((one) => ({ ...one, logsBloom: EMPTY }))),
  ],
  ['logs of a transaction that failed', withReceipts((all) => all.map(failedOnce))],
  ['a bloom without bits', withBlock({ logsBloom: EMPTY })],
  ['a bloom of all bits', withBlock({ logsBloom: FULL })],
];

/** Cuts that only the root in a header reveals. */
const CUTS_BY_ROOT: readonly (readonly [string, Cut])[] = [
  ['a root of other receipts', withBlock({ receiptsRoot: OTHER })],
  [
    'a log missing and the others counted anew',
    ({ block, receipts }) => {
      let at = 0;
      const left = receipts.map((one, i) => {
        const logs = (i === 0 ? one.logs.slice(1) : one.logs).map((log) => {
          at += 1;
          return { ...log, logIndex: `0x${(at - 1).toString(16)}` };
        });
        return { ...one, logs, logsBloom: undefined };
      });
      return { block, receipts: left };
    },
  ],
  [
    'a transaction missing together with its receipt',
    ({ block, receipts }) => {
      const transactions = block.transactions.slice(1);
      return { block: { ...block, transactions }, receipts: receipts.slice(1) };
    },
  ],
  [
    'another amount in a log',
    withReceipts((all) =>
      all.map((one) => {
        return { ...one, logs: one.logs.map((log) => ({ ...log, data: `0x${'0'.repeat(64)}` })) };
      }),
    ),
  ],
];

function own(one: Receipt | undefined): Receipt[] {
  return one === undefined ? [] : [one];
}

function traceAt(all: readonly Traced[], i: number): Traced {
  const one = all[i];
  if (one === undefined) throw new RangeError(`no trace ${i}`);
  return one;
}

function failedOnce(one: Receipt, i: number): Receipt {
  return i === 0 ? { ...one, status: '0x0' } : one;
}

const WAYS: readonly (readonly [string, readonly string[]])[] = [
  ['traces', []],
  ['call traces', ['trace_block']],
  ['receipts by block', ['trace_block', 'debug_traceBlockByHash']],
  ['receipts one by one', ['trace_block', 'debug_traceBlockByHash', 'eth_getBlockReceipts']],
];

const absent = anvilPath() === null;
const title = absent ? 'a cut block (skipped: anvil is not installed)' : 'a cut block';

describe.skipIf(absent).each<EvmChainName>(['ethereum', 'base'])(`${title} of %s`, (chain) => {
  let anvil: Anvil;
  let proxy: NodeProxy;
  const chainOf: Told[] = [];
  /** The block with three logs of two transactions, and one without any transaction. */
  let target: number;
  let quiet: number;

  beforeAll(async () => {
    const id = Number(CHAINS[chain].chain_id);
    const [started, contracts] = await Promise.all([startAnvil(id), compileContracts()]);
    anvil = started;
    const sends = await deployTraffic(anvil, contracts);
    for (const send of sends(1)) await anvil.mine(...send);
    await anvil.mine();
    quiet = Number(await anvil.ask('eth_blockNumber'));
    for (const send of sends(2).slice(0, 2)) await anvil.mine(...send);
    target = Number(await anvil.ask('eth_blockNumber'));
    proxy = await startProxy(anvil.url);
    for (let number = 0; number <= target; number += 1) {
      const block = BLOCK.parse(await anvil.ask('eth_getBlockByNumber', hex(number), true));
      const said = await anvil.ask('eth_getBlockReceipts', block.hash);
      chainOf.push({ block, receipts: z.array(RECEIPT).parse(said) });
    }
    const logs = toldAt(target).receipts.map((one) => one.logs.length);
    expect([logs.length, logs.reduce((sum, count) => sum + count, 0)]).toEqual([2, 3]);
  });
  afterAll(async () => {
    await proxy?.stop();
    await anvil?.stop();
  });
  beforeEach(() => {
    proxy.calls.length = 0;
  });

  function toldAt(number: number): Told {
    const told = chainOf[number];
    if (told === undefined) throw new RangeError(`no block ${number}`);
    return told;
  }

  /** Puts a cut block in its place, in all that the node tells of it. */
  function cutAt(number: number, cut: Cut, lacks: readonly string[]): void {
    const told = cut(toldAt(number), toldAt(number - 1));
    const hash = toldAt(number).block.hash;
    const hashes = toldAt(number).receipts.map((one) => one.transactionHash);
    proxy.setRule(({ method, params: [asked] }): InItsPlace | null => {
      if (lacks.includes(method)) return { error: { code: -32601, message: 'no such method' } };
      if (method === 'eth_getBlockByNumber' && asked === hex(number)) return { result: told.block };
      if (method === 'eth_getBlockReceipts' && asked === hash) return { result: told.receipts };
      if (method === 'eth_getTransactionReceipt' && hashes.includes(String(asked))) {
        const found = told.receipts.find((one) => one.transactionHash === asked);
        return { result: found === undefined ? null : found };
      }
      return method === 'eth_getLogs' ? { result: logsIn(asked, number, told) } : null;
    });
  }

  function logsIn(asked: unknown, number: number, told: Told): unknown[] {
    const range = z.object({ fromBlock: z.string(), toBlock: z.string() }).parse(asked);
    const blocks = chainOf.map((one, i) => (i === number ? told : one));
    return blocks
      .slice(Number(range.fromBlock), Number(range.toBlock) + 1)
      .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
      .filter(({ topics }) => topics[0] === TRANSFER);
  }

  /** Follows the chain from block 1 until it is at its head or says why not; what it holds then. */
  async function followed(fromBlock = 1) {
    const sleep = async () => undefined;
    const rpc = jsonRpc({ url: proxy.url, headers: {}, limits: RPC_LIMITS, sleep });
    const node = evmNode({ chain, rpc, simulated: true, now: () => 1 });
    const held = memoryTransferStore();
    const world = { node, store: held.store, origin: 'simulated', now: () => 1, sleep } as const;
    const done = new AbortController();
    let said: string | null = null;
    const ended = await followChain(
      { ...world, pollMs: 1, tipBlocksMax: TIP_BLOCKS_MAX },
      fromBlock,
      {
        signal: AbortSignal.any([done.signal, AbortSignal.timeout(STEP_MS)]),
        onState: ({ last_block, fault }) => {
          if (fault !== null) said = fault.reason;
          if (fault !== null || last_block === target) done.abort();
        },
      },
      tenure(),
    );
    rpc.close();
    const cursor = await held.store.cursor(chain);
    const tip = cursor.checked ? cursor.value?.tip.map(({ number }) => number) : undefined;
    return { ended, said, tip, finals: cursor.checked ? cursor.value?.final_block : undefined };
  }

  test.each(WAYS)('by %s: the chain as it is comes to its head', async (_, lacks) => {
    cutAt(target, (told) => told, lacks);
    expect((await followed()).ended.state.last_block).toBe(target);
  });

  const noRoot = ['no root', withBlock({ receiptsRoot: undefined })] as const;
  const cuts = [...CUTS, ...CUTS_BY_ROOT, noRoot];
  describe.each(WAYS)('by %s', (_, lacks) => {
    test.each(cuts)('%s: is not held', async (_name, cut) => {
      cutAt(target, cut, lacks);
      // Each block by itself, so that those before the cut one are held and it is not.
      const { tip, finals, ended } = await followed(target);
      expect([finals ?? null, tip ?? []]).toEqual([null, []]);
      expect(ended.state.last_block).toBeNull();
    });

    test('an empty block whose header tells of logs: is not held', async () => {
      cutAt(quiet, withBlock({ logsBloom: FULL }), lacks);
      expect((await followed(quiet)).ended.state.last_block).toBeNull();
    });

    test('a block with a transaction of another chain: is not held', async () => {
      const strange: Cut = ({ block, receipts }) => {
        const transactions = block.transactions.map((one) => ({ ...one, chainId: '0x38' }));
        return { block: { ...block, transactions }, receipts };
      };
      cutAt(target, strange, lacks);
      const { ended, said } = await followed(target);
      expect(ended.state.last_block).toBeNull();
      expect(said).toContain('told a block of another chain');
    });
  });

  test('a block whose traces lack an inner call, which its caller counts: is not held', async () => {
    const traces = new Map<number, readonly Traced[]>();
    for (let number = 1; number <= target; number += 1) {
      traces.set(number, z.array(TRACE).parse(await anvil.ask('trace_block', hex(number))));
    }
    const isInner = ({ traceAddress }: Traced) => traceAddress.length > 0;
    const [at] = [...traces].filter(([, all]) => all.some(isInner)).map(([number]) => number);
    if (at === undefined) throw new Error('test: no block has an inner call');
    const all = z.array(TRACE).parse(traces.get(at));
    const left = [...all.keys()].filter((i) => isInner(traceAt(all, i)));
    for (const i of left) {
      proxy.setRule(({ method, params: [asked] }) => {
        const isAsked = method === 'trace_block' && asked === hex(at);
        return isAsked ? { result: all.filter((_, n) => n !== i) } : null;
      });
      const { ended, said } = await followed(at);
      expect(ended.state.last_block).toBeNull();
      expect(said).toContain('told a trace that lacks a call');
    }
  });

  test('a node with traces and without receipts is refused at once', async () => {
    const lacks = ['eth_getBlockReceipts', 'eth_getTransactionReceipt'];
    cutAt(target, (told) => told, lacks);
    const { ended, said } = await followed();
    expect(ended.state.last_block).toBeNull();
    expect(said).toContain('serves no receipts');
  });

  test('a batch that leaves out the answer to a receipt is no block', async () => {
    const lacks = ['trace_block', 'debug_traceBlockByHash', 'eth_getBlockReceipts'];
    cutAt(target, (told) => told, lacks);
    const { receipts } = toldAt(target);
    const first = proxyRuleOf(receipts[0]);
    proxy.setRule((call) => {
      if (lacks.includes(call.method)) return { error: { code: -32601, message: 'none' } };
      return first(call);
    });
    const { ended, said } = await followed(target);
    expect(ended.state.last_block).toBeNull();
    expect(said).toContain('left a call without answer');
  });

  /** Answers a whole batch of receipts by the first of them alone. */
  function proxyRuleOf(first: Receipt | undefined) {
    let met = 0;
    return ({ id, method }: { id: number; method: string }): InItsPlace | null => {
      if (method !== 'eth_getTransactionReceipt') return null;
      met += 1;
      // The probe of a start asks for one by itself.
      if (met === 1) return null;
      const body = JSON.stringify([{ jsonrpc: '2.0', id, result: first }]);
      return { status: 200, body };
    };
  }

  test('a range of logs that ends inside a block is asked for again, by that block', async () => {
    const { receipts, block } = toldAt(target);
    const [first] = receipts.flatMap(({ logs }) => logs);
    const short = (asked: unknown): boolean => {
      const { fromBlock, toBlock } = z
        .looseObject({ fromBlock: z.string(), toBlock: z.string() })
        .parse(asked);
      return fromBlock !== toBlock;
    };
    proxy.setRule(({ method, params: [asked] }) => {
      if (method !== 'eth_getLogs' || !short(asked)) return null;
      const before = logsIn(asked, target, { block, receipts: [] });
      return { result: [...before, first] };
    });
    const { ended } = await followed();
    expect(ended.state.last_block).toBe(target);
    const single = proxy.calls.filter(({ method, params: [asked] }) => {
      return method === 'eth_getLogs' && !short(asked);
    });
    expect(single.map(({ params: [asked] }) => asked)).toEqual([
      expect.objectContaining({ fromBlock: hex(target), toBlock: hex(target) }),
    ]);
  });
});

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
