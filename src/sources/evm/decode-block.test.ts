import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keccak256 } from '../../chain/digest.ts';
import {
  BATCH_TOPIC,
  callTracerFrames,
  checkCalls,
  decodeBlock,
  type Execution,
  MOVED_TOPICS,
  parityFrames,
  SINGLE_TOPIC,
  TRANSFER_TOPIC,
  tokenTransfers,
} from './decode-block.ts';
import {
  type CallFrame,
  type NodeBlock,
  NodeFault,
  type NodeLog,
  type NodeReceipt,
  type ParityTrace,
} from './wire.ts';

const account = (digit: string) => `0x${digit.repeat(40)}`;
const word = (digit: string) => `0x${digit.repeat(64)}`;
const topic = (digit: string) => `0x${'0'.repeat(24)}${digit.repeat(40)}`;
const [A, B, C, D] = [account('a'), account('b'), account('c'), account('d')];
const NULL = account('0');
const TX = word('1');
const BLOCK: NodeBlock = {
  number: 9,
  hash: word('e'),
  parentHash: word('f'),
  timestamp: 1_700_000_000,
  logsBloom: '0x',
  transactions: [{ hash: TX, from: A, to: B, value: 5n }],
};

function trace(path: number[], over: Partial<ParityTrace> & { value?: bigint } = {}): ParityTrace {
  const { value, ...rest } = over;
  const action = { from: B, to: C, value: value === undefined ? 1n : value, callType: 'call' };
  const at = { blockHash: BLOCK.hash, transactionHash: TX, traceAddress: path, subtraces: 0 };
  return { type: 'call', action, result: {}, ...at, ...rest };
}

function coins(execution: Execution, block: NodeBlock = BLOCK) {
  const told = decodeBlock('ethereum', block, [], execution);
  return told.transfers.map((one) => [
    one.kind,
    one.position,
    one.from,
    one.to,
    one.raw_amount,
    one.success,
    one.initiator,
  ]);
}

const byTraces = (...traces: ParityTrace[]): Execution => ({
  by: 'traces',
  frames: parityFrames(traces),
});
const root = trace([], { action: { from: A, to: B, value: 5n, callType: 'call' } });

describe('calls by traces', () => {
  type Calls = { readonly calls: readonly Calls[] };
  const calls = fc.letrec<{ call: Calls }>((tie) => ({
    call: fc.oneof(
      { maxDepth: 4 },
      fc.constant({ calls: [] }),
      fc.record({ calls: fc.array(tie('call'), { maxLength: 4 }) }),
    ),
  })).call;
  const tracesOf = (call: Calls, path: readonly number[] = []): ParityTrace[] => [
    trace([...path], { subtraces: call.calls.length }),
    ...call.calls.flatMap((one, n) => tracesOf(one, [...path, n])),
  ];

  test('are whole where each call that a call made is there, and lack one wherever it is left out', () => {
    fc.assert(
      fc.property(calls, fc.nat(), (call, pick) => {
        const traces = tracesOf(call);
        expect(() => checkCalls(traces)).not.toThrow();
        const at = pick % traces.length;
        const without = traces.toSpliced(at, 1);
        // A transaction of which no trace is told is missed elsewhere.
        if (without.length > 0) expect(() => checkCalls(without)).toThrow(NodeFault);
        expect(() => checkCalls([...traces, ...traces.slice(at, at + 1)])).toThrow(NodeFault);
      }),
    );
  });

  test.each([
    ['the first of three', [[1], [2]]],
    ['the one between two', [[0], [2]]],
    ['the last of three', [[0], [1]]],
  ])('lack a call where %s is left out', (_, paths) => {
    const three = trace([], { subtraces: 3 });
    expect(() => checkCalls([three, ...paths.map((path) => trace(path))])).toThrow(NodeFault);
  });
});

describe('coins by traces', () => {
  test('what a failed call called did not happen, what stands beside it did', () => {
    const traces = [
      root,
      trace([0], { error: 'Reverted', value: 1n }),
      trace([0, 0], { value: 2n }),
      trace([0, 0, 3], { value: 3n }),
      trace([1], { value: 4n }),
    ];
    expect(coins(byTraces(...traces))).toEqual([
      ['native', null, A, B, 5n, true, A],
      ['internal', '1', B, C, 4n, true, A],
    ]);
  });

  test('delegated, static and code calls move nothing, but what they call does', () => {
    const calls = ['delegatecall', 'staticcall', 'callcode'].map((callType, n) =>
      trace([n], { action: { from: B, to: C, value: 7n, callType } }),
    );
    const told = coins(byTraces(root, ...calls, trace([0, 0], { value: 0n })));
    expect(told).toEqual([
      ['native', null, A, B, 5n, true, A],
      ['internal', '0_0', B, C, 0n, true, A],
    ]);
  });

  test('a transaction that failed is kept as one, and nothing in it', () => {
    const failed = { ...root, error: 'Reverted' };
    expect(coins(byTraces(failed, trace([0])))).toEqual([['native', null, A, B, 5n, false, A]]);
  });

  test('an ended contract gives its coins, and a made one is a creation by its maker', () => {
    const ended = trace([0], {
      type: 'suicide',
      action: { address: B, refundAddress: D, balance: 8n },
      result: null,
    });
    const made = trace([1], {
      type: 'create',
      action: { from: B, value: 2n },
      result: { address: C },
    });
    const execution = byTraces(root, ended, made);
    expect(coins(execution).slice(1)).toEqual([
      ['internal', '0', B, D, 8n, true, A],
      ['internal', '1', B, C, 2n, true, A],
    ]);
    expect(decodeBlock('ethereum', BLOCK, [], execution).creations).toEqual([
      {
        chain: 'ethereum',
        created: C,
        creator: B,
        initiator: A,
        tx_hash: TX,
        block: 9,
        block_hash: BLOCK.hash,
        block_time: BLOCK.timestamp,
      },
    ]);
  });

  test('rewards and withdrawals come from the null address, at their block and index', () => {
    const reward = (author: string, value: bigint) =>
      trace([], { type: 'reward', action: { author, value }, transactionHash: null });
    const block = { ...BLOCK, withdrawals: [{ index: 77, address: D, amount: 3n }] };
    expect(coins(byTraces(root, reward(B, 2n), reward(C, 1n)), block).slice(1)).toEqual([
      ['internal', 0, NULL, B, 2n, true, null],
      ['internal', 1, NULL, C, 1n, true, null],
      ['internal', 77, NULL, D, 3_000_000_000n, true, null],
    ]);
    const told = decodeBlock('ethereum', block, [], byTraces(root));
    expect(told.transfers.at(-1)).toMatchObject({ tx_hash: null, block_hash: BLOCK.hash });
  });

  test('what is made for a deposit on an OP stack comes from the null address', () => {
    const deposit = { hash: TX, from: A, to: B, value: 5n, mint: 6n };
    const block = { ...BLOCK, transactions: [deposit] };
    expect(coins(byTraces(root), block)).toContainEqual(['internal', 'mint', NULL, A, 6n, true, A]);
  });

  test('a transaction that no trace tells of makes the block untold', () => {
    expect(() => coins(byTraces())).toThrow(new NodeFault('told no trace of a transaction'));
    expect(() => coins(byTraces(root, { ...trace([0]), transactionHash: word('2') }))).toThrow(
      new NodeFault('told a trace of another block'),
    );
    const syncs = { hash: TX, from: NULL, to: NULL, value: 0n };
    expect(coins(byTraces(), { ...BLOCK, transactions: [syncs] })).toEqual([]);
  });
});

describe('coins by the call tracer', () => {
  const frame = (over: Partial<CallFrame> = {}): CallFrame => ({
    type: 'CALL',
    from: B,
    to: C,
    value: 1n,
    ...over,
  });

  test('are the same as by the other traces', () => {
    const calls = [
      frame({ error: 'execution reverted', calls: [frame({ value: 9n })] }),
      frame({ type: 'DELEGATECALL', value: undefined, calls: [frame({ value: 2n })] }),
      frame({ type: 'CREATE2', to: D, value: 3n }),
      frame({ type: 'SELFDESTRUCT', to: A, value: 4n }),
    ];
    const result = frame({ from: A, to: B, value: 5n, calls });
    const frames = callTracerFrames([{ txHash: TX, result }], [TX]);
    const told = coins({ by: 'traces', frames }).toSorted();
    expect(told).toEqual([
      ['internal', '1_0', B, C, 2n, true, A],
      ['internal', '2', B, D, 3n, true, A],
      ['internal', '3', B, A, 4n, true, A],
      ['native', null, A, B, 5n, true, A],
    ]);
  });

  test('traces of other or fewer transactions than the block has are a fault', () => {
    expect(() => callTracerFrames([], [TX])).toThrow(NodeFault);
    const result = frame();
    expect(() => callTracerFrames([{ txHash: word('2'), result }], [TX])).toThrow(NodeFault);
    const unknown = frame({ type: 'MAGIC' });
    expect(() => callTracerFrames([{ txHash: TX, result: unknown }], [TX])).toThrow(NodeFault);
  });
});

describe('coins by receipts', () => {
  const receipt = (over: Partial<NodeReceipt> = {}): NodeReceipt => ({
    transactionHash: TX,
    blockHash: BLOCK.hash,
    status: 1,
    logs: [],
    ...over,
  });
  const by = (one: NodeReceipt): Execution => ({ by: 'receipts', receipts: [one] });

  test('success is as the receipt says, and unknown where it does not say', () => {
    const success = (status: number | undefined) => coins(by(receipt({ status })))[0]?.[5];
    expect([success(1), success(0), success(undefined)]).toEqual([true, false, null]);
  });

  test('a creation that failed went nowhere, though its receipt names a place', () => {
    const block = { ...BLOCK, transactions: [{ hash: TX, from: A, to: null, value: 5n }] };
    const failed = by(receipt({ status: 0, contractAddress: C }));
    expect(coins(failed, block)).toEqual([]);
    expect(coins(by(receipt({ contractAddress: C })), block)).toEqual([
      ['native', null, A, C, 5n, true, A],
    ]);
  });

  test('a transaction without a receipt makes the block untold', () => {
    expect(() => coins({ by: 'receipts', receipts: [] })).toThrow(NodeFault);
  });
});

describe('token logs', () => {
  const log = (topics: string[], data: string): NodeLog => ({
    address: D,
    topics,
    data,
    blockNumber: 9,
    blockHash: BLOCK.hash,
    transactionHash: TX,
    logIndex: 4,
  });
  const amount = `0x${'0'.repeat(62)}ff`;
  const topics = [TRANSFER_TOPIC, topic('b'), topic('c')];

  const moved = {
    chain: 'ethereum',
    block: 9,
    block_time: BLOCK.timestamp,
    block_hash: BLOCK.hash,
    tx_hash: TX,
    position: 4,
    token: D,
    from: B,
    to: C,
    success: true,
    initiator: A,
  } as const;
  const words = (...values: number[]) =>
    `0x${values.map((value) => value.toString(16).padStart(64, '0')).join('')}`;

  test('three topics and a word are a fungible transfer, four topics an id; others are counted', () => {
    const logs = [
      log(topics, amount),
      log([...topics, word('1')], '0x'),
      log([TRANSFER_TOPIC], `0x${'00'.repeat(96)}`),
      log(topics, '0x'),
      log([...topics, word('1')], amount),
      log([word('9'), topic('b'), topic('c')], amount),
    ];
    const told = tokenTransfers('ethereum', BLOCK, logs);
    expect(told.left_out).toEqual({ misshapen: 3 });
    expect(told.transfers).toEqual([
      { ...moved, kind: 'token', raw_amount: 255n },
      { ...moved, kind: 'nft', raw_amount: BigInt(word('1')) },
    ]);
  });

  test('an ERC-1155 event is its ids from holder to holder, however many; its values are none', () => {
    const single = [SINGLE_TOPIC, topic('a'), topic('b'), topic('c')];
    const batch = [BATCH_TOPIC, topic('a'), topic('b'), topic('c')];
    const told = tokenTransfers('ethereum', BLOCK, [
      log(single, words(7, 1_000)),
      log(batch, words(64, 160, 2, 8, 9, 2, 1, 1)),
      log(batch, words(64, 96, 0, 0)),
    ]);
    expect(told.left_out).toEqual({ misshapen: 0 });
    const ids = [7n, 8n, 9n];
    expect(told.transfers).toEqual(
      ids.map((raw_amount) => ({ ...moved, kind: 'nft', raw_amount })),
    );
  });

  test.each([
    ['a value left out', SINGLE_TOPIC, words(7)],
    ['lists of two lengths', BATCH_TOPIC, words(64, 160, 2, 8, 9, 1, 1)],
    ['a length past the data', BATCH_TOPIC, `${words(64, 160)}${'f'.repeat(64)}`],
    ['half a word', SINGLE_TOPIC, `${words(7, 1)}00`],
  ])('an ERC-1155 event with %s is counted and no transfer', (_, topicOf, data) => {
    const odd = log([topicOf, topic('a'), topic('b'), topic('c')], data);
    expect(tokenTransfers('ethereum', BLOCK, [odd])).toEqual({
      transfers: [],
      left_out: { misshapen: 1 },
    });
  });

  test('the topics are the hashes of what the standards declare', () => {
    const hash = (text: string) => `0x${Buffer.from(keccak256(text)).toString('hex')}`;
    expect(MOVED_TOPICS).toEqual([
      hash('Transfer(address,address,uint256)'),
      hash('TransferSingle(address,address,address,uint256,uint256)'),
      hash('TransferBatch(address,address,address,uint256[],uint256[])'),
    ]);
  });

  test('a log of a transaction that the block does not list has no known initiator', () => {
    const block = { ...BLOCK, transactions: [] };
    const { transfers } = tokenTransfers('polygon', block, [log(topics, amount)]);
    expect(transfers[0]?.initiator).toBeNull();
  });
});
