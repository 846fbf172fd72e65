// On Polygon a payment that is missing together with its receipt is seen, and only where it would
// be are payments claimed. State sync stands outside the roots before its fork, and in them since.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { receiptsRoot, rlp, trieRoot } from '../../chain/receipts-root.ts';
import {
  encodeTransaction,
  stateSyncHash,
  transactionHash,
} from '../../chain/transactions-root.ts';
import type { ChainNode, ReadBlocks } from '../../ports/indexing.ts';
import { type Anvil, anvilPath, startAnvil } from '../../testing/anvil.ts';
import { type NodeProxy, startProxy } from '../../testing/anvil-proxy.ts';
import { deployTraffic } from '../../testing/anvil-traffic.ts';
import { compileContracts } from '../../testing/contracts.ts';
import { jsonRpc, RPC_LIMITS } from '../http/json-rpc.ts';
import { evmNode } from './node.ts';
import { BLOCK, RECEIPT } from './wire.ts';

const LOG = z.looseObject({ logIndex: z.string(), topics: z.array(z.string()) });
const RECEIPT_ROW = z.looseObject({ transactionHash: z.string(), logs: z.array(LOG) });
const TX = z.looseObject({ hash: z.string(), value: z.string() });
const BLOCK_ROW = z.looseObject({
  hash: z.string(),
  number: z.string(),
  transactions: z.array(TX),
});
type Told = {
  readonly block: z.infer<typeof BLOCK_ROW>;
  readonly receipts: readonly z.infer<typeof RECEIPT_ROW>[];
};

const POLYGON_ID = 137;
const NOBODY = `0x${'0'.repeat(40)}`;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The last block before state sync stands in the roots. */
const LAST_OUTSIDE = 80_084_799;
const OTHER_TRANSACTIONS = 'told a block whose transactions are not those of its root';
const OTHER_RECEIPTS = 'told a block whose receipts are not those of its root';
const NO_RAW = 'eth_getRawTransactionByHash';
const never = new AbortController().signal;

const absent = anvilPath() === null;
describe.skipIf(absent)(absent ? 'Polygon (skipped: anvil is not installed)' : 'Polygon', () => {
  let anvil: Anvil;
  let proxy: NodeProxy;
  /** A block with two transactions and three logs. */
  let target: number;
  let told: Told;

  beforeAll(async () => {
    const [started, contracts] = await Promise.all([startAnvil(POLYGON_ID), compileContracts()]);
    anvil = started;
    const sends = await deployTraffic(anvil, contracts);
    for (const send of sends(1).slice(0, 2)) await anvil.mine(...send);
    target = Number(await anvil.ask('eth_blockNumber'));
    proxy = await startProxy(anvil.url);
    const block = BLOCK_ROW.parse(await anvil.ask('eth_getBlockByNumber', at(target), true));
    const receipts = z
      .array(RECEIPT_ROW)
      .parse(await anvil.ask('eth_getBlockReceipts', block.hash));
    told = { block, receipts };
    expect([block.transactions.length, receipts.flatMap(({ logs }) => logs).length]).toEqual([
      2, 3,
    ]);
  });
  afterAll(async () => {
    await proxy?.stop();
    await anvil?.stop();
  });
  beforeEach(() => {
    proxy.setRule(() => null);
    proxy.calls.length = 0;
  });

  const at = (number: number) => `0x${number.toString(16)}`;

  function nodeHere(): ChainNode {
    const sleep = async () => undefined;
    const rpc = jsonRpc({ url: proxy.url, headers: {}, limits: RPC_LIMITS, sleep });
    return evmNode({ chain: 'polygon', rpc, simulated: true, now: () => 1 });
  }

  /** Puts another block in the place of the target, and lacks methods. */
  function tell(
    { block, receipts }: Told,
    lacks: readonly string[] = [],
    raw: ReadonlyMap<string, string> = new Map(),
  ): void {
    const none = { error: { code: -32601, message: 'no such method' } };
    proxy.setRule(({ method, params: [asked] }) => {
      if (lacks.includes(method)) return none;
      if (method === NO_RAW && raw.has(String(asked))) return { result: raw.get(String(asked)) };
      if (method === 'eth_getBlockByNumber' && asked === at(target)) return { result: block };
      if (method === 'eth_getBlockReceipts' && asked === told.block.hash) {
        return { result: receipts };
      }
      if (method !== 'eth_getLogs') return null;
      const logs = receipts.flatMap((one) => one.logs);
      return { result: logs.filter(({ topics }) => topics[0] === TRANSFER) };
    });
  }

  /** Opens before the target, which is read then. */
  async function read(node = nodeHere()): Promise<ReadBlocks | string> {
    const opened = await node.open(1, never);
    expect(opened).toMatchObject({ value: { kinds: ['native'], to_block: LAST_OUTSIDE } });
    const got = await node.blocks(target, target, never);
    if (!got.checked) return got.why.reason;
    if (got.value === 'moved') throw new Error('test: the chain moved');
    return got.value;
  }

  const said = (fault: string) => `http://${proxy.url.host} failed: ${fault}.`;
  const kindsIn = ({ blocks }: ReadBlocks) => {
    return blocks.flatMap(({ transfers }) => transfers.map(({ kind }) => kind));
  };

  /** The block with state sync as before the fork: outside of all that it commits to. */
  function withStateSync(hash = stateSyncHash({ number: target, hash: told.block.hash })): Told {
    const { block, receipts } = told;
    const [like] = receipts.flatMap(({ logs }) => logs).filter((one) => one.topics.length === 3);
    const [first] = block.transactions;
    const [receipt] = receipts;
    if (first === undefined || like === undefined || receipt === undefined) throw new Error('test');
    const { blockHash, blockNumber } = first;
    const sync = { hash, blockHash, blockNumber, from: NOBODY, to: NOBODY, value: '0x0' };
    const more = { type: '0x0', nonce: '0x0', gas: '0x0', gasPrice: '0x0', input: '0x' };
    const log = { ...like, transactionHash: hash, logIndex: '0x3' };
    return {
      block: { ...block, transactions: [...block.transactions, { ...sync, ...more }] },
      receipts: [
        ...receipts,
        { ...receipt, transactionHash: hash, logs: [log], logsBloom: undefined, status: '0x1' },
      ],
    };
  }

  test('a node that tells all that its roots take claims payments, and no token yet', async () => {
    tell(told);
    const got = await read();
    if (typeof got === 'string') throw new Error(got);
    expect(new Set(kindsIn(got))).toEqual(new Set(['native', 'token']));
  });

  test.each<[string, (of: Told) => Told, string]>([
    [
      'a payment missing together with its receipt',
      ({ block, receipts }) => ({
        block: { ...block, transactions: block.transactions.slice(0, -1), logsBloom: FULL },
        receipts: receipts.slice(0, -1),
      }),
      'told a block whose bloom is not that of its logs',
    ],
    [
      'a payment without logs missing together with its receipt',
      ({ block, receipts }) => ({
        block: { ...block, transactions: [], logsBloom: EMPTY, receiptsRoot: EMPTY_ROOT },
        receipts: receipts.slice(0, 0),
      }),
      OTHER_TRANSACTIONS,
    ],
    [
      'another amount',
      ({ block, receipts }) => ({
        block: {
          ...block,
          transactions: block.transactions.map((one) => ({ ...one, value: '0x1' })),
        },
        receipts,
      }),
      OTHER_TRANSACTIONS,
    ],
    [
      'another amount in a transaction of the newest kind',
      ({ block, receipts }) => ({
        block: {
          ...block,
          transactions: block.transactions.map((one) => {
            return { ...one, type: '0x4', value: '0x1', authorizationList: [] };
          }),
        },
        receipts,
      }),
      OTHER_TRANSACTIONS,
    ],
    [
      'another outcome of a payment',
      ({ block, receipts }) => ({
        block,
        receipts: receipts.map((one, i) => (i === 0 ? { ...one, cumulativeGasUsed: '0x1' } : one)),
      }),
      OTHER_RECEIPTS,
    ],
    [
      'no root of the transactions',
      ({ block, receipts }) => ({ block: { ...block, transactionsRoot: undefined }, receipts }),
      'told a block without the root of its transactions',
    ],
  ])('%s: is not read', async (_, cut, fault) => {
    tell(cut(told));
    expect(await read()).toBe(said(fault));
  });

  test('state sync outside of the roots is known by its hash, and its tokens are read', async () => {
    tell(withStateSync(), ['trace_block', 'debug_traceBlockByHash']);
    const got = await read();
    if (typeof got === 'string') throw new Error(got);
    expect(kindsIn(got).filter((kind) => kind === 'token')).toHaveLength(4);
  });

  test('what only looks like state sync, of nobody to nobody, is no part of its root', async () => {
    const strange = withStateSync(`0x${'ab'.repeat(32)}`);
    tell(strange, ['trace_block', 'debug_traceBlockByHash']);
    expect(await read()).toBe(said(OTHER_RECEIPTS));
  });

  test('state sync in the roots is asked for raw, and held against them', async () => {
    const inner = rlp([[1, `0x${'11'.repeat(20)}`, '0x0102', `0x${'22'.repeat(32)}`]]);
    const bytes = Uint8Array.from([0x7f, ...inner]);
    const hash = transactionHash(bytes);
    const outside = withStateSync(hash);
    const own = BLOCK.parse({ ...outside.block, transactions: told.block.transactions });
    const encodings = own.transactions.map((one) => encodeTransaction(one) ?? new Uint8Array());
    const rows = outside.receipts.map((one) => {
      return RECEIPT.parse(one.transactionHash === hash ? { ...one, type: '0x7f' } : one);
    });
    const committed = rows.map(({ type, status, cumulativeGasUsed, logs }) => {
      const outcome = Number(status);
      return {
        type: Number(type),
        outcome,
        cumulativeGasUsed: BigInt(Number(cumulativeGasUsed)),
        logs,
        more: [],
      };
    });
    const block = {
      ...outside.block,
      transactions: outside.block.transactions.map((one) => {
        return one.hash === hash ? { ...one, type: '0x7f' } : one;
      }),
      transactionsRoot: trieRoot([...encodings, bytes]),
      receiptsRoot: receiptsRoot(committed),
    };
    const receipts = outside.receipts.map((one) => {
      return one.transactionHash === hash ? { ...one, type: '0x7f' } : one;
    });
    const lacks = ['trace_block', 'debug_traceBlockByHash'];
    const raw = `0x${Buffer.from(bytes).toString('hex')}`;
    tell({ block, receipts }, lacks, new Map([[hash, raw]]));
    const got = await read();
    if (typeof got === 'string') throw new Error(got);
    expect(kindsIn(got).filter((kind) => kind === 'token')).toHaveLength(4);

    tell({ block, receipts }, lacks, new Map([[hash, `${raw}00`]]));
    expect(await read()).toBe(said(OTHER_TRANSACTIONS));
  });

  test.each<[string, Readonly<Record<string, undefined>> | null, readonly string[]]>([
    ['serves no raw transactions', null, [NO_RAW]],
    ['tells no root of its transactions', { transactionsRoot: undefined }, []],
    ['tells no root of its receipts', { receiptsRoot: undefined }, []],
    ['leaves the signatures out', null, []],
  ])('a node that %s claims no payment, and is read', async (name, change, lacks) => {
    const transactions = name.includes('signatures')
      ? told.block.transactions.map((one) => ({ ...one, r: undefined }))
      : told.block.transactions;
    const raw = new Map(transactions.map(({ hash }) => [hash, '0x00']));
    tell({ ...told, block: { ...told.block, transactions, ...change } }, lacks, raw);
    const node = nodeHere();
    expect(await node.open(target, never)).toMatchObject({
      value: { kinds: [], to_block: LAST_OUTSIDE },
    });
    expect(await node.blocks(target, target, never)).toMatchObject({ checked: true });
  });
});

const FULL = `0x${'ff'.repeat(256)}`;
const EMPTY = `0x${'00'.repeat(256)}`;
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
