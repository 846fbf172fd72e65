import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Part, Read, Unread } from '../../evidence/reading.ts';
import { type ArrivalLog, type ArrivalsQuery, RECEIPTS_ASK_MAX } from '../../ports/bridges.ts';
import { jsonRpc, RPC_LIMITS } from '../http/json-rpc.ts';
import { nodeArrivals, nodeReceipts } from './receipts-node.ts';

describe('receipts node', () => {
  const HASH = `0x${'ab'.repeat(32)}`;
  const OTHER = `0x${'cd'.repeat(32)}`;
  const FROM = `0x${'11'.repeat(20)}`;
  const TO = `0x${'AA'.repeat(20)}`;
  const INPUT = { sent: '0xAB', read: '0xab' };
  const SENT = { hash: HASH, from: FROM, to: TO, value: '0x7', input: INPUT.sent };
  const TRANSACTION = { ...SENT, chainId: '0x1' };
  const LOG = { address: TO, topics: [HASH], data: '0xAB', logIndex: '0x3' };
  const RECEIPT = {
    transactionHash: HASH,
    blockNumber: '0x10',
    from: FROM,
    to: TO,
    status: '0x1',
    logs: [LOG],
  };

  const CALLS = z.array(z.object({ id: z.number(), method: z.string() }));
  let server: Server | null = null;
  afterEach(() => server?.close());

  /** A node that answers each method with what is given; `null` in place of all: no JSON. */
  async function told(results: { [method: string]: unknown } | null, hashes = [HASH]) {
    const made = createServer((asked, answer) => {
      let body = '';
      asked.on('data', (chunk) => {
        body += String(chunk);
      });
      asked.on('end', () => {
        if (results === null) {
          answer.end('<html>busy</html>');
          return;
        }
        const calls = CALLS.parse(JSON.parse(body));
        const said = calls.map(({ id, method }) => ({
          jsonrpc: '2.0',
          id,
          result: results[method],
        }));
        answer.end(JSON.stringify(said));
      });
    });
    server = made;
    await new Promise<void>((done) => made.listen(0, '127.0.0.1', done));
    const at = made.address();
    const port = typeof at === 'object' && at !== null ? at.port : 0;
    const url = new URL(`http://127.0.0.1:${port}/key-in-the-path`);
    const rpc = jsonRpc({ url, headers: {}, limits: { ...RPC_LIMITS, attemptsMax: 1 }, sleep });
    const nodes = new Map([['ethereum', rpc]] as const);
    const receipts = nodeReceipts({ nodes, simulated: false, now: () => 5 });
    const readings = await receipts.lookUp('ethereum', hashes, new AbortController().signal);
    rpc.close();
    return readings.get(HASH);
  }

  const sleep = async () => undefined;
  const WHOLE = {
    eth_chainId: '0x1',
    eth_getTransactionByHash: TRANSACTION,
    eth_getTransactionReceipt: RECEIPT,
  };

  describe('receipts of a node', () => {
    test('are the facts of a transaction, in lower case and exact', async () => {
      const reading = await told(WHOLE);
      expect(reading instanceof Read ? reading.value : reading).toEqual({
        chain: 'ethereum',
        tx: HASH,
        block: 16,
        from: FROM,
        to: TO.toLowerCase(),
        value: 7n,
        input: INPUT.read,
        success: true,
        logs: [{ address: TO.toLowerCase(), topics: [HASH], data: '0xab', index: 3 }],
      });
    });

    test.each([
      ['that does not know the transaction', { ...WHOLE, eth_getTransactionReceipt: null }],
      ['of another chain', { ...WHOLE, eth_chainId: '0xa' }],
      [
        'that answers another transaction',
        {
          ...WHOLE,
          eth_getTransactionByHash: { ...TRANSACTION, hash: OTHER },
        },
      ],
      ['that answers no receipt', { ...WHOLE, eth_getTransactionReceipt: { logs: [] } }],
      ['that answers no JSON', null],
    ])('of one %s are unread, with a reason that shows no key', async (_, results) => {
      const reading = await told(results);
      if (reading === undefined || reading instanceof Read) throw new Error('it was read');
      expect(reading.why.reason).toMatch(/^http:\/\/127\.0\.0\.1:\d+ /);
      expect(reading.why.reason).not.toContain('key-in-the-path');
    });

    test.each([
      ['transaction', { ...WHOLE, eth_getTransactionByHash: null }],
      ['receipt', { ...WHOLE, eth_getTransactionReceipt: null }],
    ])(
      'are not held by a node that knows no such %s, which is no failure of it',
      async (_, results) => {
        const reading = await told(results);
        expect(reading instanceof Unread ? reading.why.code : null).toBe('receipt_not_held');
      },
    );

    test('of a chain without a node, and after the time is spent, are unread', async () => {
      const none = nodeReceipts({ nodes: new Map(), simulated: false, now: () => 5 });
      const live = new AbortController();
      const reading = (await none.lookUp('base', [HASH], live.signal)).get(HASH);
      expect(reading instanceof Read ? null : reading?.why.code).toBe('not_configured');
    });

    test('are of a bounded number of transactions', async () => {
      const many = Array.from({ length: RECEIPTS_ASK_MAX + 1 }, () => HASH);
      await expect(told(WHOLE, many)).rejects.toThrow(RangeError);
    });
  });
});

describe('arrivals', () => {
  const CONTRACT = `0x${'11'.repeat(20)}`;
  const TOPIC = `0x${'ab'.repeat(32)}`;
  const TX = `0x${'cd'.repeat(32)}`;

  /** A chain as long as Ethereum's, which changed its pace on the way. */
  const GENESIS = 1_438_269_973;
  const CHANGED = 15_537_394;
  const HEAD = 23_000_000;
  const timeOf = (block: number) =>
    GENESIS + Math.floor(Math.min(block, CHANGED) * 14.5) + Math.max(block - CHANGED, 0) * 12;
  const NOW = timeOf(HEAD);
  const DAY_S = 86_400;

  const CALL = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) });
  const RANGE = z.object({ fromBlock: z.string(), toBlock: z.string() });
  const hex = (n: number) => `0x${n.toString(16)}`;

  const servers: Server[] = [];
  afterEach(() => {
    for (const one of servers.splice(0)) one.close();
  });

  type Node = {
    /** Blocks in which the contract logged. */
    readonly logged?: readonly number[];
    readonly chainId?: string;
    readonly lies?: 'other blocks' | 'another block' | 'no logs' | 'html';
    readonly headTime?: number;
  };

  async function nodeOf({ logged = [], chainId = '0x1', lies, headTime }: Node) {
    const asked = { blocks: 0, ranges: [] as string[] };
    const block = (tag: string) => {
      asked.blocks += 1;
      const number = tag === 'latest' ? HEAD : Number(tag);
      const off = lies === 'another block' && tag !== 'latest' ? 1 : 0;
      const time = tag === 'latest' && headTime !== undefined ? headTime : timeOf(number);
      return { number: hex(number + off), timestamp: hex(time) };
    };
    const logsIn = (range: unknown) => {
      const { fromBlock, toBlock } = RANGE.parse(range);
      asked.ranges.push(`${Number(fromBlock)}-${Number(toBlock)}`);
      if (lies === 'no logs') return null;
      const within = logged.filter(
        (at) => lies === 'other blocks' || (at >= Number(fromBlock) && at <= Number(toBlock)),
      );
      return within.map((at) => {
        const log = { address: CONTRACT, topics: [TOPIC], data: '0x', logIndex: '0x0' };
        return { ...log, transactionHash: TX, blockNumber: hex(at) };
      });
    };
    const answerOf = (method: string, [first]: readonly unknown[]) => {
      if (method === 'eth_chainId') return chainId;
      return method === 'eth_getLogs' ? logsIn(first) : block(String(first));
    };
    const server = createServer((request, reply) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        if (lies === 'html') return reply.end('<html>busy</html>');
        const { id, method, params } = CALL.parse(JSON.parse(body));
        const result = answerOf(method, params);
        return reply.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    });
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const at = server.address();
    const url = new URL(
      `http://127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}/key`,
    );
    const limits = { ...RPC_LIMITS, attemptsMax: 1 };
    const rpc = jsonRpc({ url, headers: {}, limits, sleep: async () => undefined });
    return { asked, rpc };
  }

  type Asked = Partial<Pick<ArrivalsQuery, 'since' | 'until' | 'wanted'>>;
  type How = { readonly simulated?: boolean; readonly signal?: AbortSignal; readonly rpc?: null };

  async function lookedUp(node: Node, over: Asked = {}, how: How = {}) {
    const { asked, rpc } = await nodeOf(node);
    const nodes = how.rpc === null ? new Map() : new Map([['ethereum', rpc]] as const);
    const bounds = { simulated: how.simulated === true, timeMs: 10_000, rangesMax: 3 };
    const arrivals = nodeArrivals({ nodes, now: () => NOW, ...bounds });
    const stretch = { since: NOW - DAY_S, until: NOW - DAY_S + 3_600, wanted: () => true };
    const signal = how.signal ?? new AbortController().signal;
    const where = { chain: 'ethereum', contracts: [CONTRACT], topics: [TOPIC] } as const;
    const reading = await arrivals.lookUp({ ...where, ...stretch, ...over }, signal);
    rpc.close();
    return { asked, reading };
  }

  const blockAt = (time: number) => CHANGED + Math.ceil((time - timeOf(CHANGED)) / 12);

  describe('what a node says of a stretch', () => {
    test('is its first log that is wanted, found in a few questions on a chain of any pace', async () => {
      const at = blockAt(NOW - DAY_S) + 5;
      const isLater = ({ block }: ArrivalLog) => block > at;
      const logged = [at, at + 1, at + 2];
      const { asked, reading } = await lookedUp({ logged }, { until: NOW, wanted: isLater });
      if (!(reading instanceof Read)) throw new Error('it was not read');
      expect(reading.value.head_time).toBe(NOW);
      expect(reading.value.found.map(({ block, tx }) => [block, tx])).toEqual([[at + 1, TX]]);
      expect(asked.ranges).toHaveLength(1);
      expect(asked.blocks).toBeLessThan(20);
    });

    test('begins and ends with the blocks of both moments', async () => {
      for (const days of [1, 400, 2_500]) {
        const since = NOW - days * DAY_S;
        const { asked, reading } = await lookedUp({}, { since, until: since + 600 });
        expect(reading instanceof Read ? reading.value.found : reading).toEqual([]);
        const [from = 0, to = 0] = (asked.ranges[0] ?? '').split('-').map(Number);
        expect([timeOf(from) >= since, timeOf(from - 1) < since]).toEqual([true, true]);
        expect([timeOf(to) >= since + 600, timeOf(to - 1) < since + 600]).toEqual([true, true]);
      }
    });

    test.each([
      ['is longer than may be read', {}, { until: NOW }, 'arrivals_cut'],
      [
        'ends after a head that is hours old',
        { headTime: NOW - 7_200 },
        { since: NOW - 9_000, until: NOW + 60 },
        'arrivals_head_old',
      ],
    ] as const)('that %s is a part, and denies nothing', async (_, node, over, code) => {
      const { reading } = await lookedUp(node, over);
      expect(reading instanceof Part ? reading.why.code : reading).toBe(code);
      const madeUp = await lookedUp(node, over, { simulated: true });
      expect(madeUp.reading).toMatchObject({ checked: false, why: { code } });
    });

    test('is a part where the node is made up, unless it was found', async () => {
      const none = await lookedUp({}, {}, { simulated: true });
      expect(none.reading instanceof Part ? none.reading.why.code : none).toBe('simulated');
      const logged = [blockAt(NOW - DAY_S) + 5];
      const found = await lookedUp({ logged }, {}, { simulated: true });
      expect(found.reading).toBeInstanceOf(Read);
    });

    test.each([
      ['of another chain', { chainId: '0xa' }, 'is not of ethereum'],
      ['that answers logs of other blocks', { lies: 'other blocks', logged: [7] }, 'not asked for'],
      ['that answers another block', { lies: 'another block' }, 'answered no block'],
      ['that answers no logs', { lies: 'no logs' }, 'answered no logs'],
      ['that answers a page', { lies: 'html' }, ''],
    ] as const)('by one %s is unread, with a reason that shows no key', async (_, node, fault) => {
      const { reading } = await lookedUp(node);
      if (!(reading instanceof Unread)) throw new Error('it was read');
      expect(reading.why.code).toBe('provider_failed');
      expect(reading.why.reason).toContain(fault);
      expect(reading.why.reason).not.toContain('/key');
    });

    test('without a node, and after the time is spent, is unread', async () => {
      const none = await lookedUp({}, {}, { rpc: null });
      expect(none.reading instanceof Unread ? none.reading.why.code : null).toBe('not_configured');
      const late = await lookedUp({}, {}, { signal: AbortSignal.abort() });
      expect(late.reading instanceof Unread ? late.reading.why.code : late.reading).toBe(
        'arrivals_out_of_time',
      );
    });
  });
});
