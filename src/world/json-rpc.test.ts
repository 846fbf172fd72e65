import { afterEach, describe, expect, test } from 'vitest';
import { worldChains } from './chain-data.ts';
import { nodeAnswer, RPC_FAULTS } from './json-rpc.ts';
import { type StartedNodes, startNodes } from './json-rpc-server.ts';
import { WORLD_SEED } from './listed-parties.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const ETHEREUM = 1;
const CHAINS = worldChains(() => NOW, WORLD_SEED);
const HEAD = CHAINS.headOf(ETHEREUM);
/** About ten days of blocks, by pieces of what one question may ask. */
const FROM = HEAD - 9_999;

const open: StartedNodes[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

type Fields = Readonly<Record<string, unknown>>;

function asked(
  method: string,
  params: readonly unknown[],
  reorgs: readonly number[] = [],
): unknown {
  const options = { chains: CHAINS, chainId: ETHEREUM, fault: () => null, reorgs };
  const said = nodeAnswer(options, { jsonrpc: '2.0', id: 1, method, params }) as Fields;
  if (said['error'] !== undefined) throw new Error(JSON.stringify(said['error']));
  return said['result'];
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

describe('a node of a simulated chain', () => {
  const rows = CHAINS.rowsIn(ETHEREUM, FROM, HEAD);

  test('tells the logs that the explorers tell as transfers of tokens', () => {
    const logs = asked('eth_getLogs', [{ fromBlock: hex(FROM), toBlock: hex(HEAD) }]) as Fields[];
    const tokens = rows.filter(({ kind }) => kind === 'token');
    expect(logs.map((log) => log['transactionHash'])).toEqual(tokens.map(({ tx }) => tx));
    expect(logs.map((log) => BigInt(String(log['data'])))).toEqual(tokens.map((one) => one.value));
    expect(tokens.length).toBeGreaterThan(3);
  });

  test('tells native and internal transfers by both kinds of trace, and receipts by status', () => {
    for (const { block } of rows) {
      const mine = rows.filter((row) => row.block === block);
      const traces = asked('trace_block', [hex(block)]) as Fields[];
      const inner = traces.filter((one) => (one['traceAddress'] as unknown[]).length > 0);
      expect(inner).toHaveLength(mine.filter(({ kind }) => kind === 'internal').length);
      const frames = asked('debug_traceBlockByNumber', [hex(block)]) as Fields[];
      const receipts = asked('eth_getBlockReceipts', [hex(block)]) as Fields[];
      expect(frames.map((one) => one['txHash'])).toEqual([...new Set(mine.map(({ tx }) => tx))]);
      const failed = mine.filter(({ kind, success }) => kind === 'native' && success === false);
      expect(receipts.filter((one) => one['status'] === '0x0')).toHaveLength(failed.length);
    }
  });

  test('chains its blocks by hash, and knows each by its hash', () => {
    const [block, parent] = [HEAD, HEAD - 1].map((n) =>
      asked('eth_getBlockByNumber', [hex(n), false]),
    ) as [Fields, Fields];
    expect(block['parentHash']).toBe(parent['hash']);
    expect(asked('eth_getBlockByHash', [block['hash'], false])).toEqual(block);
    expect(asked('eth_getBlockByNumber', [hex(HEAD + 1), false])).toBeNull();
  });

  test('knows no block any more that a re-org replaced, and those below it as before', () => {
    const depth = 12;
    const hashAt = (n: number, reorgs: number[]) =>
      (asked('eth_getBlockByNumber', [hex(n), false], reorgs) as Fields)['hash'];
    const reorgs = [HEAD - depth];
    expect(hashAt(HEAD - depth, reorgs)).toBe(hashAt(HEAD - depth, []));
    const replaced = hashAt(HEAD - depth + 1, []);
    expect(hashAt(HEAD - depth + 1, reorgs)).not.toBe(replaced);
    expect(asked('eth_getBlockByHash', [replaced, false], reorgs)).toBeNull();
    expect(asked('eth_getBlockReceipts', [replaced], reorgs)).toBeNull();
  });

  test('refuses what lies ahead, too wide a range and unknown methods', () => {
    const range = (from: number, to: number) => () =>
      asked('eth_getLogs', [{ fromBlock: hex(from), toBlock: hex(to) }]);
    expect(range(HEAD, HEAD + 1)).toThrow('beyond current head');
    expect(range(HEAD - 20_000, HEAD)).toThrow('max block range');
    expect(range(HEAD, HEAD - 1)).toThrow('invalid block range');
    expect(() => asked('eth_nothing', [])).toThrow('-32601');
  });
});

describe('on the wire', () => {
  async function said(nodes: StartedNodes, body: unknown, patienceMs = 10_000) {
    const response = await fetch(nodes.url(ETHEREUM), {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    });
    return { status: response.status, text: await response.text() };
  }
  const CHAIN_ID = { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] };

  test('a batch is answered one by one, and a re-org changes the newest hash', async () => {
    const nodes = await startNodes(CHAINS);
    open.push(nodes);
    const { text } = await said(nodes, [CHAIN_ID, { ...CHAIN_ID, id: 8 }]);
    expect(JSON.parse(text)).toMatchObject([{ id: 7, result: '0x1' }, { id: 8 }]);
    const latest = { ...CHAIN_ID, method: 'eth_getBlockByNumber', params: ['latest', false] };
    const before = await said(nodes, latest);
    nodes.reorg(ETHEREUM, 1);
    expect((await said(nodes, latest)).text).not.toBe(before.text);
    expect(() => nodes.reorg(ETHEREUM, 65)).toThrow(RangeError);
  });

  test.each(RPC_FAULTS)('%s is served', async (fault) => {
    const nodes = await startNodes(CHAINS);
    open.push(nodes);
    const logs = { fromBlock: hex(FROM), toBlock: hex(HEAD) };
    const questions = [CHAIN_ID, { ...CHAIN_ID, method: 'eth_getLogs', params: [logs] }];
    const right = await said(nodes, questions);
    nodes.fault(fault);
    const wrong = await said(nodes, questions, 300).catch(() => null);
    expect(wrong).not.toEqual(right);
  });
});
