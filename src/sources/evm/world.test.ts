// The simulated chains through the same adapter as real nodes: rows as made up, faults by name.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAINS, EVM_CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { worldChains } from '../../world/chain-data.ts';
import type { WorldChains } from '../../world/chain-types.ts';
import type { RpcFault } from '../../world/json-rpc.ts';
import { nodesPart } from '../../world/json-rpc-server.ts';
import { jsonRpc, RPC_LIMITS } from '../http/json-rpc.ts';
import { evmNode } from './node.ts';

const NOW = Date.UTC(2026, 10, 21) / 1_000;
const SEED = 'following';
const never = new AbortController().signal;

describe('the simulated chains', () => {
  let chains: WorldChains;
  let host: string;
  let fault: RpcFault | null = null;
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
    const tokens = rows.filter(({ kind, block }) => kind === 'token' && block > 0 && block < head);
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
      // What a token's log stands in is a transaction of its own, which the made-up rows leave out.
      .filter(({ kind, success, raw_amount }) => success && (kind !== 'native' || raw_amount > 0n))
      .map((one) => [one.kind, one.tx_hash, one.from, one.to, one.raw_amount].join(' '));
    const made = chains
      .rowsIn(idOf(chain), from, to)
      .filter(({ kind, success, value }) => success !== false && (kind !== 'native' || value > 0n))
      .map((one) => [one.kind, one.tx, one.from, one.to, one.value].join(' '));
    expect(made.length).toBeGreaterThan(0);
    expect(read.sort()).toEqual(made.sort());
  });

  test.each<[RpcFault, RegExp]>([
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
