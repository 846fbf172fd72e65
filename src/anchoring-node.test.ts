// Is each root of the log anchored at most once for its size, by one nonce, and called confirmed
// only at a finalised block, whatever fails on the way? On a real EVM and a real store.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { read } from './evidence/reading.ts';
import type { Why } from './evidence/reasons.ts';
import { type AnchoringParts, anchorOnce, lookAhead } from './features/anchoring/anchor.job.ts';
import { anchorTable } from './features/anchoring/anchors.store.ts';
import type { AnchorChain, AnchorPlace, NamedRoot, SendingChain } from './ports/anchoring.ts';
import { anchorContract, anchoredRoots } from './sources/evm/anchor-contract.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { lastSentFile } from './stores/control/last-sent.ts';
import { leaseTable } from './stores/control/leases.ts';
import {
  type AnchoringChain,
  ETHER,
  NO_ANCHORING_CHAIN,
  startAnchoringChain,
} from './testing/anchoring-chain.ts';
import { embeddedControl, type TestStore } from './testing/control-store.ts';

const BASE_ID = 8453;
const KEY = `0x${'01'.repeat(32)}`;
const OTHER_KEY = `0x${'02'.repeat(32)}`;
const CONTEXT = { simulated: false, nowMs: () => 1_790_000_000_000 };
const ORIGIN = 'log.example';
const rootOf = (size: number): NamedRoot => ({
  origin: ORIGIN,
  root: `0x${size.toString(16).padStart(64, '0')}`,
  size,
});

const title = `a real EVM ${NO_ANCHORING_CHAIN ?? ''}`;

describe.skipIf(NO_ANCHORING_CHAIN !== null)(title, { timeout: 120_000 }, () => {
  let evm: AnchoringChain;
  let rpc: JsonRpc;
  let store: TestStore;
  let folder: string;
  let chain: SendingChain;
  let head: NamedRoot | null;
  let now: number;
  let parts: AnchoringParts;
  const fresh = embeddedControl();
  const signal = new AbortController().signal;

  beforeEach(async () => {
    evm = await startAnchoringChain(BASE_ID);
    rpc = jsonRpc({ url: evm.url, headers: {}, limits: RPC_LIMITS, sleep: async () => {} });
    const sender = await evm.fund(KEY);
    chain = chainAt({ chain_id: BASE_ID, contract: await evm.deploy(sender), sender });
    folder = mkdtempSync(join(tmpdir(), 'exhibit-anchoring-'));
    await evm.finalise();
    store = fresh();
    now = 1_790_000_000;
    await store.setClock(now);
    head = null;
    parts = partsOf();
  });
  afterEach(async () => {
    rpc?.close();
    await evm.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const NODE = { simulated: false, now: () => 1_790_000_000 };
  function chainAt(place: AnchorPlace, key: string | null = KEY): SendingChain {
    return anchorContract({ ...NODE, ...place, rpc, key });
  }
  function partsOf(given: Partial<AnchoringParts> = {}): AnchoringParts {
    const source = {
      name: 'Log',
      url: 'log:',
      as_of: now,
      kind: 'table',
      simulated: false,
    } as const;
    const { chain_id, contract, sender } = chain;
    return {
      place: { chain_id, contract, sender },
      chainAt,
      sends: anchorTable(store, CONTEXT),
      leases: leaseTable(store, 'one', CONTEXT),
      lastSent: lastSentFile(folder, CONTEXT),
      head: async () => read(head, { port: 'transparency_log', source }),
      everyS: 0,
      now: () => now,
      ...given,
    };
  }
  /** The job over the same place, with some of its chain otherwise. */
  const over = (part: Partial<AnchorChain>) => partsOf({ chainAt: () => ({ ...chain, ...part }) });
  /** Why a turn could not do something, of which there is one thing at most. */
  const turn = async (given = parts): Promise<Why | null> => {
    const whys = await anchorOnce(given, signal);
    if (whys === null) throw new Error('another holder has the lease');
    expect(whys.slice(1)).toEqual([]);
    return whys[0] ?? null;
  };
  const statusOf = async (leaf: number, place: AnchorPlace = parts.place) => {
    const told = await parts.sends.anchorsOf(place, ORIGIN, [leaf]);
    if (!told.checked) throw new Error(told.why.reason);
    return told.value[0];
  };
  const sentSoFar = () => evm.countOf(chain.sender);
  const held = async (size: number, { contract } = parts.place) => {
    const roots = anchoredRoots({ ...NODE, rpc, chain_id: BASE_ID, contract });
    const told = await roots.rootAt(size, signal);
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
    await evm.mine();
    expect(await turn()).toBeNull();
    expect(await statusOf(4)).toMatchObject({ anchor_status: 'submitted', anchor_tx: null });
    expect(await held(5)).toBeNull();
    await evm.finalise();
    expect(await turn()).toBeNull();
    const anchor_tx: unknown = expect.stringMatching(/^0x[0-9a-f]{64}$/);
    expect(await statusOf(4)).toEqual({ anchor_status: 'confirmed', anchor_tx, anchor_size: 5 });
    expect(await held(5)).toBe(rootOf(5).root);
    // A leaf that came later is not covered by it.
    expect(await statusOf(5)).toMatchObject({ anchor_status: 'queued', anchor_size: null });
    const before = await sentSoFar();
    for (let again = 0; again < 3; again += 1) expect(await turn()).toBeNull();
    await evm.mine();
    expect(await sentSoFar()).toBe(before);
    head = rootOf(6);
    await turn();
    await evm.finalise();
    await turn();
    expect(await statusOf(5)).toMatchObject({ anchor_status: 'confirmed', anchor_size: 6 });
  });

  test('a send that was recorded and not sent, or sent and not recorded, is one transaction', async () => {
    head = rootOf(5);
    const dies = async () => {
      throw new Error('killed');
    };
    // Killed before the send, then after it.
    await expect(turn(over({ send: dies }))).rejects.toThrow('killed');
    const diesAfter: AnchorChain['send'] = async (raw, given) => {
      await chain.send(raw, given);
      throw new Error('killed');
    };
    await expect(turn(over({ send: diesAfter }))).rejects.toThrow('killed');
    expect(await turn()).toBeNull();
    const before = await sentSoFar();
    await evm.finalise();
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
    const [only] = open.checked ? open.value : [];
    if (only === undefined) throw new Error('nothing is under way');
    const fees = only.sent.map(({ max_fee_wei }) => max_fee_wei);
    expect(fees.length).toBeGreaterThan(1);
    expect(new Set(fees).size).toBe(fees.length);
    await evm.finalise();
    await turn();
    expect(await sentSoFar()).toBe(before + 1);
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
    expect(await held(5)).toBe(rootOf(5).root);
  });

  test('a root whose block went away is queued again, and sent again', async () => {
    head = rootOf(5);
    const goBack = await evm.rememberBlock();
    await turn();
    await evm.mine();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'submitted' });
    await goBack();
    // The pool of a node keeps or loses what was mined before; either way it is sent again.
    expect(await turn()).toBeNull();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued', anchor_tx: null });
    await evm.finalise();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
    expect(await held(5)).toBe(rootOf(5).root);
  });

  test('an empty purse sends nothing, and says what is missing', async () => {
    head = rootOf(5);
    await evm.fund(KEY, 1n);
    expect(await turn()).toMatchObject({ code: 'anchor_purse_empty' });
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued', anchor_size: null });
    await evm.fund(KEY, ETHER);
    expect(await turn()).toBeNull();
    expect(await statusOf(0)).toMatchObject({ anchor_size: 5 });
  });

  test('nothing is sent to a contract that is another, or to a chain that is another', async () => {
    head = rootOf(5);
    const [stranger = ''] = evm.accounts;
    const { place } = parts;
    const another = { code: 'anchor_contract_other' };
    for (const contract of [await evm.deploy(stranger), `0x${'aa'.repeat(20)}`]) {
      expect(await turn(partsOf({ place: { ...place, contract } }))).toMatchObject(another);
    }
    const notOwner = { ...place, sender: await evm.fund(OTHER_KEY) };
    expect(await turn(partsOf({ place: notOwner }))).toMatchObject(another);
    const elsewhere = partsOf({ place: { ...place, chain_id: 1 } });
    expect(await turn(elsewhere)).toMatchObject({ code: 'provider_failed' });
    const nowhere = partsOf({ chainAt: () => null });
    expect(await turn(nowhere)).toMatchObject({ code: 'anchor_node_absent' });
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
  });

  test('a store that was put back anchors nothing behind what stands on the chain', async () => {
    const { place } = parts;
    const second = { ...place, contract: await evm.deploy(place.sender) };
    head = rootOf(5);
    await turn();
    await evm.finalise();
    await turn();
    head = rootOf(7);
    await turn();
    // The store forgets everything; the file remembers what was sent, mined or not.
    store = fresh();
    parts = partsOf();
    expect(await turn()).toMatchObject({ code: 'anchor_store_behind' });
    // Another contract has a history of its own, and the account goes on with its nonces.
    const onSecond = partsOf({ place: second });
    expect(await turn(onSecond)).toMatchObject({ code: 'anchor_nonce_behind' });
    const before = await sentSoFar();
    await evm.mine();
    expect(await turn(onSecond)).toBeNull();
    await evm.mine();
    expect(await sentSoFar()).toBe(before + 2);
    // Without the file, the contract remembers.
    store = fresh();
    parts = partsOf();
    rmSync(join(folder, 'anchoring.json'));
    expect(await turn()).toMatchObject({ code: 'anchor_store_behind' });
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
  });

  test('a file of an earlier version tells what was sent to its one place', async () => {
    head = rootOf(5);
    const sent = { ...parts.place, nonce: 7, size: 4 };
    writeFileSync(join(folder, 'anchoring.json'), JSON.stringify(sent));
    expect(await turn()).toMatchObject({ code: 'anchor_store_behind' });
  });

  test.each([
    ['cut', '[{"chain_id":8453', 'is damaged'],
    ['of something else', '{"nonce":-1}', 'is damaged'],
    ['a folder', null, 'is closed: the file system answered EISDIR'],
  ])(
    'a file that is %s is named, and nothing is sent until it is mended',
    async (_, text, fault) => {
      head = rootOf(5);
      const file = join(folder, 'anchoring.json');
      if (text === null) mkdirSync(file);
      else writeFileSync(file, text);
      const reason = `The file anchoring.json of the data directory ${fault}; no root is sent.`;
      const unread = { code: 'anchor_file_unread', reason };
      expect(await lookAhead(parts, signal)).toEqual([unread]);
      expect(await turn()).toEqual(unread);
      expect(await statusOf(0)).toMatchObject({ anchor_size: null });
      // The store lost nothing, so that the file may go.
      rmSync(file, { recursive: true });
      const before = await sentSoFar();
      expect(await turn()).toBeNull();
      // Of what is under way nothing is sent again either.
      writeFileSync(file, '{');
      expect(await turn()).toMatchObject({ code: 'anchor_file_unread' });
      expect(await lookAhead(parts, signal)).toMatchObject([{ code: 'anchor_file_unread' }]);
      await evm.mine();
      expect(await sentSoFar()).toBe(before + 1);
      // What was sent is followed without it.
      expect(await turn()).toBeNull();
      expect(await statusOf(0)).toMatchObject({ anchor_status: 'submitted' });
    },
  );

  test('a look ahead tells what a turn would wait for, and neither writes nor sends', async () => {
    head = rootOf(5);
    const before = await sentSoFar();
    const look = () => lookAhead(parts, signal);
    expect(await look()).toEqual([]);
    await evm.fund(KEY, 1n);
    expect(await look()).toMatchObject([{ code: 'anchor_purse_empty' }]);
    await evm.mine();
    expect(await sentSoFar()).toBe(before);
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
    await evm.fund(KEY, ETHER);
    expect(await turn()).toBeNull();
    // Stuck, then in a block, then in none: nothing of it is kept by looking.
    now += 400;
    await store.setClock(now);
    await evm.fund(KEY, 1n);
    expect(await look()).toMatchObject([{ code: 'anchor_purse_empty' }]);
    await evm.fund(KEY, ETHER);
    expect(await look()).toEqual([]);
    const open = await parts.sends.open();
    expect(open).toMatchObject({ value: [{ status: 'queued', sent: [{}] }] });
    await evm.finalise();
    expect(await look()).toEqual([]);
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued' });
    await evm.stop();
    expect(await look()).toMatchObject([{ code: 'provider_failed' }]);
  });

  test('roots of a log that was restarted are not sent to the contract of the log before', async () => {
    head = rootOf(5);
    await turn();
    await evm.finalise();
    await turn();
    head = { ...rootOf(9), origin: 'log.example/2' };
    expect(await turn()).toMatchObject({ code: 'anchor_origin_other' });
    const told = await parts.sends.anchorsOf(parts.place, 'log.example/2', [0]);
    expect(told).toMatchObject({ value: [{ anchor_status: 'queued', anchor_size: null }] });
  });

  test('a nonce that somebody else used ends the send, and another nonce is taken', async () => {
    head = rootOf(5);
    await turn(over({ send: async () => await never() }));
    await evm.spendNonce(chain.sender);
    expect(await turn()).toMatchObject({ code: 'anchor_nonce_behind' });
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued' });
    await evm.finalise();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'failed' });
    await turn();
    await evm.finalise();
    await turn();
    expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
    expect(await held(5)).toBe(rootOf(5).root);
  });

  async function never() {
    const source = { name: 'Node', url: 'node:', as_of: now, kind: 'observation' } as const;
    return read(true as const, { port: 'anchor_chain', source: { ...source, simulated: false } });
  }

  describe('while a root is under way', () => {
    test('another contract is sent nothing until it has ended at the former one', async () => {
      const former = parts.place;
      const place = { ...former, contract: await evm.deploy(former.sender) };
      const before = await sentSoFar();
      head = rootOf(5);
      await turn();
      parts = partsOf({ place });
      const behind = await turn();
      expect(behind).toMatchObject({ code: 'anchor_behind' });
      expect(behind?.reason).toContain(`for size 5 to ${former.contract}, nonce`);
      // It is replaced there, under its nonce and for its contract.
      now += 400;
      await store.setClock(now);
      expect(await turn()).toEqual(behind);
      const open = await parts.sends.open();
      expect(open).toMatchObject({ value: [{ ...former, size: 5, sent: [{}, {}] }] });
      await evm.finalise();
      expect(await turn()).toEqual(behind);
      expect(await statusOf(0, former)).toMatchObject({ anchor_status: 'confirmed' });
      expect(await statusOf(0)).toMatchObject({ anchor_status: 'queued', anchor_size: null });
      expect(await turn()).toBeNull();
      await evm.finalise();
      expect(await turn()).toBeNull();
      expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
      expect([await held(5, former), await held(5)]).toEqual([rootOf(5).root, rootOf(5).root]);
      expect(await sentSoFar()).toBe(before + 2);
    });

    test('another account goes on with its own nonces, and what was signed is sent still', async () => {
      const former = parts.place;
      const sender = await evm.fund(OTHER_KEY);
      const place = { ...former, sender, contract: await evm.deploy(sender) };
      head = rootOf(5);
      await turn(over({ send: async () => await never() }));
      const keyed = (at: AnchorPlace) => chainAt(at, at.sender === sender ? OTHER_KEY : null);
      parts = partsOf({ place, chainAt: keyed });
      expect(await turn()).toBeNull();
      now += 400;
      await store.setClock(now);
      expect(await turn()).toMatchObject({ code: 'anchor_key_absent' });
      await evm.finalise();
      expect(await turn()).toBeNull();
      for (const at of [former, place]) {
        expect(await statusOf(0, at)).toMatchObject({ anchor_status: 'confirmed' });
        expect(await held(5, at)).toBe(rootOf(5).root);
      }
    });

    test('another chain goes on by itself, and the former one is followed where it has a node', async () => {
      const former = parts.place;
      const other = await startAnchoringChain(84_532);
      const itsRpc = jsonRpc({
        url: other.url,
        headers: {},
        limits: RPC_LIMITS,
        sleep: async () => {},
      });
      try {
        const sender = await other.fund(KEY);
        const place = { chain_id: 84_532, contract: await other.deploy(sender), sender };
        await other.finalise();
        head = rootOf(5);
        await turn();
        const on = (at: AnchorPlace, node: JsonRpc) =>
          anchorContract({ ...NODE, ...at, rpc: node, key: KEY });
        const chains = (at: AnchorPlace) => (at.chain_id === BASE_ID ? null : on(at, itsRpc));
        parts = partsOf({ place, chainAt: chains });
        const absent = { code: 'anchor_node_absent' };
        expect(await turn()).toMatchObject(absent);
        await other.finalise();
        expect(await turn()).toMatchObject(absent);
        expect(await statusOf(0)).toMatchObject({ anchor_status: 'confirmed' });
        expect(await statusOf(0, former)).toMatchObject({
          anchor_status: 'queued',
          anchor_size: 5,
        });
        await evm.finalise();
        parts = partsOf({ place, chainAt: (at) => on(at, at.chain_id === BASE_ID ? rpc : itsRpc) });
        expect(await turn()).toBeNull();
        expect(await statusOf(0, former)).toMatchObject({ anchor_status: 'confirmed' });
      } finally {
        itsRpc.close();
        await other.stop();
      }
    });
  });

  test('a holder whose lease was taken writes nothing', async () => {
    const other = leaseTable(store, 'other', CONTEXT);
    const paused = await parts.leases.take('anchoring', 1);
    if (!paused.checked || paused.value === null) throw new Error('no lease');
    await store.query("update leases set held_until = now() - interval '1 minute'");
    expect(await other.take('anchoring', 60)).toMatchObject({ checked: true });
    const signed = chain.sign?.(rootOf(5), 1, 100_000n, { max_fee_wei: 9n, tip_wei: 1n });
    if (signed === undefined) throw new Error('no key');
    const begun = await parts.sends.begin(
      { ...rootOf(5), ...parts.place, nonce: 1, gas: 100_000n, signed },
      paused.value.epoch,
    );
    expect(begun).toMatchObject({ checked: true, value: false });
    expect(await statusOf(0)).toMatchObject({ anchor_size: null });
  });
});
