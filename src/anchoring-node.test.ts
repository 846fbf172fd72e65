// Is each root of the log anchored at most once for its size, by one nonce, and called confirmed
// only at a finalised block, whatever fails on the way? On a real EVM and a real store.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { read } from './evidence/reading.ts';
import { type AnchoringParts, anchorOnce } from './features/anchoring/anchor.job.ts';
import { anchorTable } from './features/anchoring/anchors.store.ts';
import type { AnchorChain, NamedRoot } from './ports/anchoring.ts';
import { anchorContract, anchoredRoots } from './sources/evm/anchor-contract.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { lastSentFile } from './stores/control/last-sent.ts';
import { leaseTable } from './stores/control/leases.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { compileContracts } from './testing/contracts.ts';
import { embeddedControl, type TestStore } from './testing/control-store.ts';

const SOURCE = new URL('../solidity/ExhibitAnchor.sol', import.meta.url);
const BASE_ID = 8453;
const ETHER = 10n ** 18n;
const KEY = `0x${'01'.repeat(32)}`;
const OTHER_KEY = `0x${'02'.repeat(32)}`;
/** More blocks than anvil keeps unfinalised. */
const FINALISING = 80;
const CONTEXT = { simulated: false, nowMs: () => 1_790_000_000_000 };
const ORIGIN = 'log.example';
const rootOf = (size: number): NamedRoot => ({
  origin: ORIGIN,
  root: `0x${size.toString(16).padStart(64, '0')}`,
  size,
});

const absent = anvilPath() === null;
const title = absent ? 'a real EVM (skipped: anvil is not installed)' : 'a real EVM';

describe.skipIf(absent)(title, { timeout: 120_000 }, () => {
  let anvil: Anvil;
  let code: string;
  let rpc: JsonRpc;
  let store: TestStore;
  let folder: string;
  let chain: AnchorChain;
  let head: NamedRoot | null;
  let now: number;
  let parts: AnchoringParts;
  const fresh = embeddedControl();
  const signal = new AbortController().signal;

  beforeAll(async () => {
    code = (await compileContracts(readFileSync(SOURCE, 'utf8')))('ExhibitAnchor').code;
  }, 120_000);
  beforeEach(async () => {
    anvil = await startAnvil(BASE_ID);
    rpc = jsonRpc({ url: anvil.url, headers: {}, limits: RPC_LIMITS, sleep: async () => {} });
    const owner = anchorContract({ ...options(KEY), contract: `0x${'00'.repeat(20)}` }).sender;
    await anvil.ask('anvil_setBalance', owner, `0x${ETHER.toString(16)}`);
    chain = anchorContract({ ...options(KEY), contract: await deploy(owner) });
    folder = mkdtempSync(join(tmpdir(), 'exhibit-anchoring-'));
    await finalise();
    store = fresh();
    now = 1_790_000_000;
    await store.setClock(now);
    head = null;
    parts = partsOf();
  });
  afterEach(async () => {
    rpc.close();
    await anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const options = (key: string) => ({
    rpc,
    key,
    chain_id: BASE_ID,
    simulated: false,
    now: () => 1_790_000_000,
  });
  async function deploy(from: string): Promise<string> {
    await anvil.ask('anvil_impersonateAccount', from);
    const [hash] = await anvil.mine({ from, data: code });
    await anvil.ask('anvil_stopImpersonatingAccount', from);
    return await anvil.created(hash);
  }
  function partsOf(given: Partial<AnchoringParts> = {}): AnchoringParts {
    const source = {
      name: 'Log',
      url: 'log:',
      as_of: now,
      kind: 'table',
      simulated: false,
    } as const;
    return {
      chain,
      sends: anchorTable(store, chain, CONTEXT),
      leases: leaseTable(store, 'one', CONTEXT),
      lastSent: lastSentFile(folder, chain),
      head: async () => read(head, { port: 'transparency_log', source }),
      everyS: 0,
      now: () => now,
      ...given,
    };
  }
  const turn = (given = parts) => anchorOnce(given, signal);
  const mine = (blocks = 1) => anvil.ask('anvil_mine', `0x${blocks.toString(16)}`);
  const finalise = () => mine(FINALISING);
  const statusOf = async (leaf: number) => {
    const told = await parts.sends.anchorsOf(ORIGIN, [leaf]);
    if (!told.checked) throw new Error(told.why.reason);
    return told.value[0];
  };
  const sentSoFar = async () =>
    z
      .string()
      .transform(Number)
      .parse(await anvil.ask('eth_getTransactionCount', chain.sender, 'latest'));
  const held = async (size: number) => {
    const told = await anchoredRoots({ ...options(KEY), contract: chain.contract }).rootAt(
      size,
      signal,
    );
    if (!told.checked) throw new Error(told.why.reason);
    return told.value.root;
  };

  test('a root is submitted once it is mined, and confirmed once its block is final', async () => {
    head = rootOf(5);
    expect(await statusOf(4)).toEqual({
      anchor_status: 'queued',
      anchor_tx: null,
      anchor_size: null,
    });
    expect(await turn()).toBeNull();
    expect(await statusOf(4)).toMatchObject({ anchor_status: 'queued', anchor_size: 5 });
    await mine();
    expect(await turn()).toBeNull();
    expect(await statusOf(4)).toMatchObject({ anchor_status: 'submitted', anchor_tx: null });
    expect(await held(5)).toBeNull();
    await finalise();
    expect(await turn()).toBeNull();
    const anchor_tx: unknown = expect.stringMatching(/^0x[0-9a-f]{64}$/);
    expect(await statusOf(4)).toEqual({ anchor_status: 'confirmed', anchor_tx, anchor_size: 5 });
    expect(await held(5)).toBe(rootOf(5).root);
    // A leaf that came later is not covered by it.
    expect(await statusOf(5)).toMatchObject({ anchor_status: 'queued', anchor_size: null });
    const before = await sentSoFar();
    for (let again = 0; again < 3; again += 1) expect(await turn()).toBeNull();
    await mine();
    expect(await sentSoFar()).toBe(before);
    head = rootOf(6);
    await turn();
    await finalise();
    await turn();
    expect(await statusOf(5)).toMatchObject({ anchor_status: 'confirmed', anchor_size: 6 });
  });

  test('a send that was recorded and not sent, or sent and not recorded, is one transaction', async () => {
    head = rootOf(5);
    const dies = async () => {
      throw new Error('killed');
    };
    // Killed before the send, then after it.
    await expect(turn(partsOf({ chain: { ...chain, send: dies } }))).rejects.toThrow('killed');
    const diesAfter: AnchorChain['send'] = async (raw, given) => {
      await chain.send(raw, given);
      throw new Error('killed');
    };
    await expect(turn(partsOf({ chain: { ...chain, send: diesAfter } }))).rejects.toThrow('killed');
    expect(await turn()).toBeNull();
    const before = await sentSoFar();
    await finalise();
    expect(await turn()).toBeNull();
    expect(await sentSoFar()).toBe(before + 1);
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
  });

  test('a transaction that is stuck is replaced under its own nonce, and one of them counts', async () => {
    head = rootOf(5);
    await turn();
    const before = await sentSoFar();
    for (let again = 0; again < 3; again += 1) {
      now += 400;
      await store.setClock(now);
      expect(await turn()).toBeNull();
    }
    const open = await parts.sends.open();
    if (!open.checked || open.value === null) throw new Error('nothing is under way');
    const fees = open.value.sent.map(({ max_fee_wei }) => max_fee_wei);
    expect(fees.length).toBeGreaterThan(1);
    expect(new Set(fees).size).toBe(fees.length);
    await finalise();
    await turn();
    expect(await sentSoFar()).toBe(before + 1);
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
    expect(await held(5)).toBe(rootOf(5).root);
  });

  test('a root whose block went away is queued again, and sent again', async () => {
    head = rootOf(5);
    const point = await anvil.ask('evm_snapshot');
    await turn();
    await mine();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'submitted' });
    await anvil.ask('evm_revert', point);
    // The pool of a node keeps or loses what was mined before; either way it is sent again.
    expect(await turn()).toBeNull();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued', anchor_tx: null });
    await finalise();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
    expect(await held(5)).toBe(rootOf(5).root);
  });

  test('an empty purse sends nothing, and says what is missing', async () => {
    head = rootOf(5);
    await anvil.ask('anvil_setBalance', chain.sender, '0x1');
    expect(await turn()).toMatchObject({ code: 'anchor_purse_empty' });
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued', anchor_size: null });
    await anvil.ask('anvil_setBalance', chain.sender, `0x${ETHER.toString(16)}`);
    expect(await turn()).toBeNull();
    expect(await statusOf(0)).toMatchObject({ anchor_size: 5 });
  });

  test('nothing is sent to a contract that is another, or to a chain that is another', async () => {
    head = rootOf(5);
    const [stranger = ''] = anvil.accounts;
    const places = [await deploy(stranger), `0x${'aa'.repeat(20)}`];
    for (const contract of places) {
      const other = anchorContract({ ...options(KEY), contract });
      const stop = await turn(partsOf({ chain: other, sends: anchorTable(store, other, CONTEXT) }));
      expect(stop).toMatchObject({ code: 'anchor_contract_other' });
    }
    const notOwner = anchorContract({ ...options(OTHER_KEY), contract: chain.contract });
    expect(await turn(partsOf({ chain: notOwner }))).toMatchObject({
      code: 'anchor_contract_other',
    });
    const elsewhere = anchorContract({ ...options(KEY), contract: chain.contract, chain_id: 1 });
    expect(await turn(partsOf({ chain: elsewhere }))).toMatchObject({ code: 'provider_failed' });
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
  });

  test('a store that was put back anchors nothing behind what stands on the chain', async () => {
    head = rootOf(5);
    await turn();
    await finalise();
    await turn();
    head = rootOf(7);
    await turn();
    // The store forgets everything; the file remembers what was sent, mined or not.
    store = fresh();
    parts = partsOf();
    expect(await turn()).toMatchObject({ code: 'anchor_store_behind' });
    // Without the file, the contract remembers.
    rmSync(join(folder, 'anchoring.json'));
    expect(await turn()).toMatchObject({ code: 'anchor_store_behind' });
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
  });

  test('roots of a log that was restarted are not sent to the contract of the log before', async () => {
    head = rootOf(5);
    await turn();
    await finalise();
    await turn();
    head = { ...rootOf(9), origin: 'log.example/2' };
    expect(await turn()).toMatchObject({ code: 'anchor_origin_other' });
    const told = await parts.sends.anchorsOf('log.example/2', [0]);
    expect(told).toMatchObject({ value: [{ anchor_status: 'queued', anchor_size: null }] });
  });

  test('a nonce that somebody else used ends the send, and another nonce is taken', async () => {
    head = rootOf(5);
    await turn(partsOf({ chain: { ...chain, send: async () => await never() } }));
    await anvil.ask('anvil_impersonateAccount', chain.sender);
    await anvil.mine({ from: chain.sender, to: chain.sender, value: 1n });
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued' });
    await finalise();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'failed' });
    await turn();
    await finalise();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
    expect(await held(5)).toBe(rootOf(5).root);
  });

  async function never() {
    const source = { name: 'Node', url: 'node:', as_of: now, kind: 'observation' } as const;
    return read(true as const, { port: 'anchor_chain', source: { ...source, simulated: false } });
  }

  test('a holder whose lease was taken writes nothing', async () => {
    const other = leaseTable(store, 'other', CONTEXT);
    const paused = await parts.leases.take('anchoring', 1);
    if (!paused.checked || paused.value === null) throw new Error('no lease');
    await store.query("update leases set held_until = now() - interval '1 minute'");
    expect(await other.take('anchoring', 60)).toMatchObject({ checked: true });
    const signed = chain.sign(rootOf(5), 1, 100_000n, { max_fee_wei: 9n, tip_wei: 1n });
    const begun = await parts.sends.begin(
      { ...rootOf(5), sender: chain.sender, nonce: 1, gas: 100_000n, signed },
      paused.value.epoch,
    );
    expect(begun).toMatchObject({ checked: true, value: false });
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
  });
});
