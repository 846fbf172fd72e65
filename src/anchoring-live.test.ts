// A running service anchors its signals on a chain: a signal is called anchored once the root over
// it is final and no longer than the chain holds it. What waits says on what.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm as addressOf } from './testing/addresses.ts';
import {
  type AnchoringChain,
  ETHER,
  NO_ANCHORING_CHAIN,
  startAnchoringChain,
} from './testing/anchoring-chain.ts';
import { type LiveLog, LOG_HOST, startLiveLog } from './testing/live-program.ts';
import { runPrinting, startProgram } from './testing/program.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 });
const WAIT = { timeout: 180_000, interval: 500 };
const BASE_ID = 8453;
const KEY = `0x${'03'.repeat(32)}`;

const underWay = z.looseObject({ under_way: z.array(z.looseObject({ status: z.string() })) });

const title = `a real EVM ${NO_ANCHORING_CHAIN ?? ''}`;

describe.skipIf(NO_ANCHORING_CHAIN !== null)(title, () => {
  let evm: AnchoringChain;
  let contract: string;
  let sender: string;
  let live: LiveLog;
  let id: string;

  beforeAll(async () => {
    evm = await startAnchoringChain(BASE_ID);
    sender = await evm.fund(KEY);
    contract = await evm.deploy(sender);
    const [stranger = ''] = evm.accounts;
    const elsewhere = await evm.deploy(stranger);
    await evm.finalise();
    live = await startLiveLog({
      EXHIBIT_SURFACES: 'intelligence,signals,web',
      EXHIBIT_ALLOW_ANONYMOUS: 'true',
      EXHIBIT_RPC_BASE: evm.url.href,
      EXHIBIT_ANCHOR_KEY: KEY,
      EXHIBIT_ANCHOR_CONTRACT: elsewhere,
      EXHIBIT_ANCHOR_EVERY: '1m',
    });
    id = (await live.emit(addressOf('asked'))).signal_id;
  });
  afterAll(async () => {
    await live?.close();
    await evm?.stop();
  });

  const verify = () => live.get(`/api/signals/verify/${id}`);
  const inStatus = (anchor_status: string, anchor_tx: unknown = null) =>
    vi.waitFor(async () => {
      const signal = { anchor_status, anchor_tx, anchor_chain_id: BASE_ID };
      expect(await live.get(`/api/signals/${id}`)).toMatchObject({ signal });
    }, WAIT);
  const waiting = (code: string) =>
    vi.waitFor(async () => {
      const anchoring = { state: 'waiting', waits_for: [{ code }] };
      expect(await live.get('/health')).toMatchObject({ anchoring });
    }, WAIT);
  const pendingAt = (count: number) =>
    vi.waitFor(async () => {
      expect(Number(await evm.ask('eth_getTransactionCount', sender, 'pending'))).toBe(count);
    }, WAIT);

  test('from the queue to the chain, through each thing that can go wrong on the way', async () => {
    const unsent = {
      code: 'anchor_waits',
      reason: 'No root of this log that covers the signal was sent to the contract that is set.',
    };
    const unanchored = { anchored: false, anchor_checked: false };

    // The contract is of somebody else.
    await waiting('anchor_contract_other');
    expect(live.err() + live.out()).toContain('anchor_contract_other');
    const doctor = startProgram(['doctor', '--json'], live);
    expect((await doctor.ended).out).toMatch(/"name":"anchoring","state":"failed"/);
    // The next checkpoint covers it.
    await vi.waitFor(async () => {
      expect(await verify()).toMatchObject({ ...unanchored, logged: true, reasons: [unsent] });
    }, WAIT);

    // The purse is empty.
    await evm.fund(KEY, 1n);
    await live.restart({ EXHIBIT_ANCHOR_CONTRACT: contract });
    await waiting('anchor_purse_empty');
    expect(await runPrinting(underWay, ['anchoring', 'status'], live)).toMatchObject({
      waits_for: [{ code: 'anchor_purse_empty' }],
    });
    await inStatus('queued');
    expect(await verify()).toMatchObject({ ...unanchored, reasons: [unsent] });

    // The root is sent, and in no block yet.
    const before = await evm.countOf(sender);
    const goBack = await evm.rememberBlock();
    await evm.fund(KEY, ETHER);
    await pendingAt(before + 1);
    await inStatus('queued');
    const waits = { anchored: false, anchor_checked: true, reasons: [{ code: 'anchor_waits' }] };
    expect(await verify()).toMatchObject(waits);

    // It is in a block that is not final, which goes away.
    await evm.mine();
    await inStatus('submitted');
    expect(await verify()).toMatchObject(waits);
    const place = { chain_id: BASE_ID, contract, sender, nonce: before };
    expect(await runPrinting(underWay, ['anchoring', 'status'], live)).toMatchObject({
      anchor_chain_id: BASE_ID,
      contract,
      sender,
      origin: `${LOG_HOST}/log/1`,
      under_way: [{ ...place, status: 'submitted' }],
    });
    await goBack();
    await evm.fund(KEY, ETHER);
    await inStatus('queued');
    await pendingAt(before + 1);
    const goBackAgain = await evm.rememberBlock();
    await evm.mine();
    await inStatus('submitted');

    // It is final.
    await evm.finalise();
    await inStatus('confirmed', expect.stringMatching(/^0x[0-9a-f]{64}$/));
    expect(await evm.countOf(sender)).toBe(before + 1);
    expect(await verify()).toMatchObject({
      anchored: true,
      anchor_checked: true,
      reproducible: true,
      call_hash_valid: true,
      logged: true,
      signature_valid: true,
      reasons: [],
    });
    const file = join(live.cwd, 'signal.json');
    const save = startProgram(['signals', 'save', id, file, '--base-url', live.base()], live);
    expect(await save.ended).toMatchObject({ status: 0, err: '' });
    const offline = startProgram(['verify', file, '--rpc', evm.url.href, '--json'], live);
    const checks: unknown = expect.arrayContaining([
      expect.objectContaining({
        check: 'anchor',
        outcome: 'holds',
        says: expect.stringContaining(`the contract ${contract} of chain ${BASE_ID}`),
      }),
    ]);
    expect(JSON.parse((await offline.ended).out)).toMatchObject({ checks });
    const nothing = { anchoring: { state: 'sending', waits_for: [] } };
    expect(await live.get('/health')).toMatchObject(nothing);

    // The chain takes even that back.
    await goBackAgain();
    expect(await verify()).toMatchObject({
      anchored: false,
      anchor_checked: true,
      reasons: [{ code: 'anchor_gone' }],
    });

    // Nobody answers for the chain.
    await evm.stop();
    const silent = { code: 'anchor_unread', reason: expect.stringContaining('Node') };
    expect(await verify()).toMatchObject({ ...unanchored, logged: true, reasons: [silent] });
  });
});
