import { describe, expect, test } from 'vitest';
import { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { why } from '../../evidence/reasons.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { evm, named } from '../../testing/addresses.ts';
import {
  asked,
  dataOf,
  ENDPOINT,
  HUB,
  NOBODY,
  POOL,
  portsOf,
  RELAYER,
  receipt,
  SUBJECT,
  token,
  traced,
  USDC,
  VAULT,
  type World,
  word,
} from '../../testing/bridge-trace.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { logOf } from '../../testing/event-logs.ts';
import { heldInFull, memoryTransfer } from '../../testing/twins/history.ts';
import { silentPorts } from '../../testing/twins/ports.ts';
import { walletBridges } from './wallet-bridges.route.ts';

const DEPOSIT = memoryTransfer(20, SUBJECT, POOL, token());
const PAYOUT = memoryTransfer(30, VAULT, SUBJECT, token({ usd: null, initiator: SUBJECT }));

const OFT_RECEIVED = '0xefed6d3500546b29533b128a29e3a94d70788727f0507505ac12eaf2e578fd9c';
const POOL_DEPOSITED = '0x8752a472e571a816aea92eec8dae9baf628e840f4929fbcc2d155e6233ff68a7';
const V3_FILL = [
  'event FilledV3Relay(address inputToken, address outputToken, uint256 inputAmount,',
  'uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId,',
  'uint32 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline,',
  'address exclusiveRelayer, address indexed relayer, address depositor, address recipient,',
  'bytes message, (address updatedRecipient, bytes updatedMessage, uint256 updatedOutputAmount,',
  'uint8 fillType) relayExecutionInfo)',
].join(' ');

describe('says', () => {
  test('what was dealt with each family, with the transactions, and USD of the priced alone', async () => {
    const data = await dataOf({ transfers: [DEPOSIT, PAYOUT] });
    const at = (n: number) => new Date((Date.UTC(2026, 0, 1) / 1_000 + n) * 1_000).toISOString();
    expect(data.bridges).toEqual([
      {
        protocol: 'stargate',
        name: 'StargatePool V2',
        direction: 'in',
        transfers: 1,
        transactions: 1,
        usd: null,
        unpriced_transfers: 1,
        contracts: [VAULT],
        first_seen: at(30),
        last_seen: at(30),
        messaging_only: false,
      },
      {
        protocol: 'across',
        name: 'SpokePool',
        direction: 'out',
        transfers: 1,
        transactions: 1,
        usd: 70,
        unpriced_transfers: 0,
        contracts: [POOL],
        first_seen: at(20),
        last_seen: at(20),
        messaging_only: false,
      },
    ]);
    expect(data.totals).toEqual({ out_usd: 70, in_usd: null, transfers: 2, transactions: 2 });
    expect([data.total_usd, data.unpriced_transfers, data.rows_scanned]).toEqual([70, 1, 2]);
    expect(data.protocols_seen).toEqual(['stargate', 'across']);
    expect(data.coverage).toEqual({
      checked: true,
      reason: null,
      from_block: 0,
      to_block: 30_000_000,
      provenance: 'warehouse',
    });
    expect(data.truncated).toBe(false);
    expect(data.contacts?.map(({ tx, basis, amount }) => [tx, basis, amount])).toEqual([
      [PAYOUT.tx, 'transfer', '70'],
      [DEPOSIT.tx, 'transfer', '70'],
    ]);
  });

  test('that no contract of the registry was touched, where the whole history was read', async () => {
    const sent = memoryTransfer(1, SUBJECT, evm('friend'));
    const data = await dataOf({ transfers: [sent], receipts: [receipt(sent)] });
    expect(data.bridges).toEqual([]);
    expect(data.totals).toEqual({ out_usd: 0, in_usd: 0, transfers: 0, transactions: 0 });
    expect([data.total_usd, data.messaging_only, data.truncated]).toEqual([0, 0, false]);
    expect(data.coverage.checked).toBe(true);
    expect(data.receipts?.complete).toBe(true);
    expect(data.caveat).toContain('does not show that nothing was bridged');
  });

  test('contracts that only pass messages apart, and in no total', async () => {
    const fee = memoryTransfer(20, SUBJECT, ENDPOINT, { usd: '3' });
    const data = await dataOf({ transfers: [fee] });
    expect(data.messaging_only).toBe(1);
    expect(data.totals).toEqual({ out_usd: 0, in_usd: 0, transfers: 0, transactions: 0 });
    expect(data.bridges).toEqual([
      expect.objectContaining({ protocol: 'layerzero', messaging_only: true, usd: 3 }),
    ]);
  });

  test('what an event of the contract tells, where the receipt was read', async () => {
    const logged = {
      address: VAULT,
      index: 0,
      topics: [OFT_RECEIVED, `0x${'ab'.repeat(32)}`],
      data: `0x${word(30109n)}${word(70_000_000n)}`,
    };
    const log = { ...logged, topics: [...logged.topics, `0x${word(SUBJECT)}`] };
    const data = await dataOf({ transfers: [PAYOUT], receipts: [receipt(PAYOUT, log)] });
    expect(data.contacts?.[0]?.events).toEqual([
      {
        event: 'OFTReceived',
        version: 'v2',
        direction: 'in',
        user: SUBJECT,
        asset: null,
        amount: '70000000',
        contract: VAULT,
        message_id: `0x${'ab'.repeat(32)}`,
        origin: 'polygon',
        destination: 'ethereum',
        via: [],
        logged: { user: SUBJECT, asset: null, amount: '70000000' },
      },
    ]);
    expect(data.receipts).toEqual({
      read: 1,
      unread: null,
      complete: true,
      unknown_events: 0,
      reason: null,
    });
  });

  test('a fill that a relayer paid out of its own wallet, by the event that names us', async () => {
    const fill = memoryTransfer(40, RELAYER, SUBJECT, token());
    const info = {
      updatedRecipient: SUBJECT,
      updatedMessage: '0x',
      updatedOutputAmount: 70_000_000n,
    };
    const log = logOf(POOL, V3_FILL, [
      ...[USDC, USDC, 71_000_000n, 70_000_000n, 1n, 8453n, 9, 0, 0, NOBODY, RELAYER],
      ...[evm('depositor'), SUBJECT, '0x', { ...info, fillType: 0 }],
    ]);
    const data = await dataOf({ transfers: [fill], receipts: [receipt(fill, log)] });
    expect(data.bridges).toEqual([expect.objectContaining({ protocol: 'across', usd: 70 })]);
    expect(data.contacts).toEqual([
      expect.objectContaining({ basis: 'event', contract: POOL, direction: 'in' }),
    ]);
  });

  test('events of no known layout are counted', async () => {
    const log = { address: POOL, index: 0, topics: [`0x${'77'.repeat(32)}`], data: '0x' };
    const data = await dataOf({ transfers: [DEPOSIT], receipts: [receipt(DEPOSIT, log)] });
    expect(data.receipts).toEqual(expect.objectContaining({ unknown_events: 1, complete: true }));
    expect(data.bridges).toHaveLength(1);
    expect(data.contacts?.[0]).toEqual(expect.objectContaining({ receipt: 'read', events: null }));
  });
});

describe('takes for no contact', () => {
  const none = async (transfers: HistoryTransfer[], more: Partial<World> = {}) => {
    const receipts = transfers.map((one) => receipt(one));
    const data = await dataOf({ transfers, receipts, ...more });
    expect(data.bridges).toEqual([]);
    return data;
  };

  test('a mint of a bridged token, and a plain transfer of it', async () => {
    await none([
      memoryTransfer(1, NOBODY, SUBJECT, token({ initiator: RELAYER })),
      memoryTransfer(2, SUBJECT, evm('friend'), token()),
      memoryTransfer(3, evm('friend'), SUBJECT, token()),
    ]);
  });

  test('what poisoning and spam made, which stay visible as counts', async () => {
    const poison = memoryTransfer(20, POOL, SUBJECT, token({ raw_amount: 0n, initiator: RELAYER }));
    const spam = memoryTransfer(
      21,
      POOL,
      SUBJECT,
      token({ has_market: false, initiator: RELAYER }),
    );
    const data = await none([poison, spam]);
    expect(data.transfers_left_out).toEqual({ zero_value: 1, no_market_token: 1 });
  });

  test('what liquidity providers add: by the contract, or by the event in the receipt', async () => {
    const added = memoryTransfer(20, SUBJECT, HUB, token());
    expect((await none([added])).liquidity_actions).toBe(1);
    const pooled = memoryTransfer(21, SUBJECT, VAULT, token());
    const log = {
      address: VAULT,
      index: 0,
      data: `0x${word(70_000_000n)}`,
      topics: [POOL_DEPOSITED, `0x${word(SUBJECT)}`, `0x${word(SUBJECT)}`],
    };
    const data = await none([pooled], { receipts: [receipt(pooled, log)] });
    expect(data.liquidity_actions).toBe(1);
  });

  test('a transfer before the contract was one, a failed one, and one on another chain', async () => {
    await none([
      memoryTransfer(5, SUBJECT, VAULT),
      memoryTransfer(20, SUBJECT, POOL, { success: false }),
      memoryTransfer(21, SUBJECT, POOL, { chain: 'base' }),
    ]);
  });
});

describe('is silent', () => {
  test('where nothing was seen in an import of some blocks: no negative, and the reason', async () => {
    const coverage = heldInFull('ethereum', STILL_NOW - 120).map((range) => ({
      ...range,
      from_block: 1_000,
      to_block: 2_000,
      from_first: false,
    }));
    const friend = memoryTransfer(1_500, SUBJECT, evm('friend'));
    const said = await traced({ transfers: [friend], coverage });
    expect(said).toEqual(
      expect.objectContaining({ state: 'not_deployed', data: null, sources: [] }),
    );
    expect(said.reason).toContain('partial_history');
    expect(said.reason).toContain('ethereum native held from block 1000');
  });

  test('and shows what it saw there, as the least, with what is missing', async () => {
    const coverage = heldInFull('ethereum', STILL_NOW - 120).slice(0, 2);
    const data = await dataOf({ transfers: [DEPOSIT], coverage });
    expect(data.bridges).toHaveLength(1);
    expect(data.coverage).toEqual(
      expect.objectContaining({ checked: false, from_block: null, to_block: null }),
    );
    expect(data.coverage.reason).toContain('ethereum internal none held');
    expect([data.truncated, data.totals.in_usd, data.messaging_only]).toEqual([true, null, null]);
  });

  test('while simulated: what is there is shown and labelled, and nothing is denied', async () => {
    const nothing = await traced({ transfers: [], simulated: true });
    expect(nothing.state).toBe('not_deployed');
    const seen = await traced({ transfers: [DEPOSIT], simulated: true });
    expect(seen.state).toBe('ok');
    const data = walletBridges.data.parse(seen.data);
    expect(data.coverage.checked).toBe(false);
    expect(data.caveat.startsWith('Simulated:')).toBe(true);
  });

  test('where the table was never loaded, or holds no row of the chain', async () => {
    const never = await traced({ transfers: [DEPOSIT], rows: null });
    expect(never.reason).toBe(
      'No import of the table of bridge contracts has completed on this deployment; ' +
        'nothing was checked.',
    );
    const other = await traced({ transfers: [DEPOSIT] }, SUBJECT, 'base');
    expect(other.reason).toContain('no row for base');
  });

  test('where every port is', async () => {
    const silent = why('store_unreadable', { what: 'A store', fault: 'a test' });
    const answer = await asked(silentPorts(silent));
    if (!(answer instanceof Answer)) throw new Error('refused');
    expect(answer.envelope(STILL_NOW)).toEqual(
      expect.objectContaining({ state: 'not_deployed', reason: silent.reason }),
    );
  });

  test('about events of contacts whose receipts were not read, while the contacts stand', async () => {
    const data = await dataOf({ transfers: [DEPOSIT] });
    expect(data.receipts).toEqual({
      read: null,
      unread: 1,
      complete: false,
      unknown_events: null,
      reason: 'memory holds no receipt of this transaction.',
    });
    expect(data.contacts?.[0]).toEqual(
      expect.objectContaining({ receipt: 'unread', events: null }),
    );
    expect(data.caveat).toContain('Events of 1 of 1 transactions were not read.');
  });

  test('about receipts beyond the newest', async () => {
    const many = Array.from({ length: 140 }, (_, n) =>
      memoryTransfer(20 + n, SUBJECT, POOL, token()),
    );
    const data = await dataOf({ transfers: many, receipts: many.map((one) => receipt(one)) });
    expect(data.totals.transfers).toBe(140);
    expect(data.receipts).toEqual(
      expect.objectContaining({ read: 128, unread: 12, complete: false, unknown_events: null }),
    );
    expect(data.receipts?.reason).toContain('receipts_capped');
  });
});

describe('refuses', () => {
  test.each(['solana', 'bitcoin', 'tron'] as const)(
    'a %s address as not supported',
    async (form) => {
      const said = await traced({ transfers: [] }, named(form, 'somebody'));
      expect(said).toEqual(expect.objectContaining({ state: 'not_supported', sources: [] }));
    },
  );

  test('a text of no known form, and a chain that is not covered', async () => {
    const refused = await asked(portsOf({ transfers: [] }), 'nobody');
    expect(refused).toBeInstanceOf(Refusal);
    expect(walletBridges.query.safeParse({ chain: 'hyperevm' }).success).toBe(false);
    expect(walletBridges.query.parse({})).toEqual({ chain: 'ethereum' });
  });
});
