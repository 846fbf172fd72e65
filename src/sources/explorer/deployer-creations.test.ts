// A list of creations is whole only where its last row was read: 5,001 creations are a part, whose
// absence of a contract says nothing; 5,000 are read. A deployer can bring about either.

import { afterEach, expect, test } from 'vitest';
import { map, Part, Read, Unread } from '../../evidence/reading.ts';
import { noRelays } from '../../testing/twins/accounts.ts';
import type { ExplorerRow } from '../../world/chain-types.ts';
import { type StartedExplorer, startExplorer } from '../../world/explorer-api.ts';
import type { JsonRpc } from '../http/json-rpc.ts';
import { providerGuard } from '../http/provider.ts';
import { contractKinds, explorerCreations } from './deployer-creations.ts';
import { etherscanChain } from './envelope.ts';

const NOW = Date.UTC(2026, 10, 21) / 1_000;
const HEAD = 30_000;
const DEPLOYER = `0x${'d'.repeat(40)}`;
const OTHER = `0x${'e'.repeat(40)}`;
const TAKEN_MAX = 5_000;
const GUARD = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 100, restMs: 1 };

let explorer: StartedExplorer | null = null;
afterEach(() => explorer?.close());

function creation(n: number, kind: ExplorerRow['kind']): ExplorerRow {
  const contract = `0x${n.toString(16).padStart(40, '0')}`;
  return {
    kind,
    tx: `0x${n.toString(16).padStart(64, '0')}`,
    block: 100 + Math.floor(n / 3),
    at: NOW - HEAD + 100 + n,
    from: DEPLOYER,
    to: contract,
    value: 0n,
    token: null,
    success: true,
    created: contract,
  };
}

function creationsAmong(count: number, kind: ExplorerRow['kind'], behindS = 0) {
  const rows = Array.from({ length: count }, (_, n) => creation(n + 1, kind));
  return creationsIn(rows, behindS);
}

async function creationsIn(rows: readonly ExplorerRow[], behindS = 0) {
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => NOW - (HEAD - block),
    rowsOf: (_, address) => (address === DEPLOYER ? rows : []),
    rowsOfToken: () => [],
  });
  const guard = providerGuard(GUARD, () => performance.now());
  const at = etherscanChain('ethereum', { url: explorer.etherscan, guard }, null);
  const limits = { now: () => NOW + behindS, timeMs: 20_000, callsMax: 100, simulated: false };
  return explorerCreations({ at, ...limits }, noRelays);
}

test.each([
  ['madeDirectly', 'native'],
  ['madeBy', 'internal'],
] as const)(
  '%s reads all creations that it takes, and says of more that they are a part',
  async (method, kind) => {
    const { signal } = new AbortController();
    const listOf = async (count: number) => {
      const { madeDirectly, madeBy } = await creationsAmong(count, kind);
      return method === 'madeBy'
        ? madeBy(DEPLOYER, signal)
        : map(await madeDirectly(DEPLOYER, signal), ({ made }) => made);
    };
    const whole = await listOf(TAKEN_MAX);
    expect(whole).toBeInstanceOf(Read);
    expect(whole instanceof Read && whole.value.length).toBe(TAKEN_MAX);
    await explorer?.close();
    const cut = await listOf(TAKEN_MAX + 1);
    expect(cut).toBeInstanceOf(Part);
    expect(cut).toMatchObject({ why: { code: 'row_cap' } });
  },
);

test('the newest transaction of an address is its own, and was not undone', async () => {
  const call = (n: number, change: Partial<ExplorerRow>): ExplorerRow => {
    const { created: _, ...row } = creation(n, 'native');
    return { ...row, ...change };
  };
  const foreign = call(5, { from: OTHER, to: DEPLOYER });
  const undone = [call(6, { success: false }), { ...creation(7, 'native'), success: false }];
  const { signal } = new AbortController();
  for (const [rows, signed_at] of [
    [[creation(1, 'native'), call(2, {}), call(3, {}), foreign, ...undone], call(3, {}).at],
    [[call(1, {}), creation(4, 'native'), foreign, ...undone], creation(4, 'native').at],
    [[foreign, ...undone], null],
  ] as const) {
    const list = await (await creationsIn(rows)).madeDirectly(DEPLOYER, signal);
    expect(list).toMatchObject({ value: { signed_at } });
    await explorer?.close();
  }
});

test('an explorer that is an hour behind its chain is unread, however whole its list is', async () => {
  const { signal } = new AbortController();
  const near = await (await creationsAmong(3, 'native', 3_400)).madeDirectly(DEPLOYER, signal);
  expect(near).toBeInstanceOf(Read);
  await explorer?.close();
  const far = await (await creationsAmong(3, 'native', 3_700)).madeDirectly(DEPLOYER, signal);
  expect(far).toBeInstanceOf(Unread);
  expect(far).toMatchObject({
    why: { reason: expect.stringContaining('follows its chain up to 2026-11-20T23:58:20.000Z') },
  });
});

/** A node whose newest block is so old: to it a contract that was made since has no code. */
function nodeBehind(behindS: number): JsonRpc {
  const call: JsonRpc['call'] = async ({ method }) => {
    if (method === 'eth_getBlockByNumber') {
      const timestamp = `0x${(NOW - behindS).toString(16)}`;
      return { ok: true, result: { timestamp } };
    }
    return { ok: true, result: '0x' };
  };
  const batch: JsonRpc['batch'] = (calls, signal) =>
    Promise.all(calls.map((one) => call(one, signal)));
  return { shown: 'http://node.invalid', call, batch, close: () => undefined };
}

test('a node that is an hour behind its chain is not asked what a contract is', async () => {
  const { signal } = new AbortController();
  await creationsAmong(0, 'native');
  if (explorer === null) throw new Error('test: no explorer');
  const guard = providerGuard(GUARD, () => performance.now());
  const at = etherscanChain('ethereum', { url: explorer.etherscan, guard }, null);
  const asked = { at, now: () => NOW, timeMs: 20_000, callsMax: 100, simulated: false };
  const token = `0x${'7'.repeat(40)}`;
  const fresh = await contractKinds(asked, nodeBehind(60)).kindOf(token, signal);
  expect(fresh).toMatchObject({ checked: true, value: 'no_code' });
  explorer.fault(() => 'error500');
  const stale = await contractKinds(asked, nodeBehind(3_700)).kindOf(token, signal);
  expect(stale).toBeInstanceOf(Unread);
  expect(stale).toMatchObject({
    why: { reason: expect.stringContaining('follows its chain up to') },
  });
});
