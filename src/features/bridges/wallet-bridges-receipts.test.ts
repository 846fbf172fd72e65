import { describe, expect, test } from 'vitest';
import type { HistoryTransfer } from '../../ports/history.ts';
import { evm } from '../../testing/addresses.ts';
import { circleArrival, TOKEN, TRANSMITTER } from '../../testing/bridge-pairs.ts';
import {
  dataOf,
  NOBODY,
  OFT,
  POOL,
  RELAYER,
  receipt,
  row,
  SUBJECT,
  token,
  traced,
  USDC,
  VAULT,
} from '../../testing/bridge-trace.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { inOrder, logOf, movedLog } from '../../testing/event-logs.ts';
import { heldInFull, memoryTransfer } from '../../testing/twins/history.ts';
import { walletBridges } from './wallet-bridges.route.ts';

const DEPOSITED = [
  'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount,',
  'uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId,',
  'uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline,',
  'bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
].join(' ');
const FILLED = [
  'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount,',
  'uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId,',
  'uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline,',
  'bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient,',
  'bytes32 messageHash, (bytes32 updatedRecipient, bytes32 updatedMessageHash,',
  'uint256 updatedOutputAmount, uint8 fillType) relayExecutionInfo)',
].join(' ');
const OFT_SENT = [
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress,',
  'uint256 amountSentLD, uint256 amountReceivedLD)',
].join(' ');
const OFT_RECEIVED = [
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress,',
  'uint256 amountReceivedLD)',
].join(' ');

const wide = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const NOTHING = wide(NOBODY);
const GUID = `0x${'ab'.repeat(32)}`;
const AMOUNT = 70_000_000n;

const deposited = (depositor: string, amount = AMOUNT) =>
  logOf(POOL, DEPOSITED, [
    ...[wide(USDC), wide(USDC), amount, amount - 1n, 8453n, 9n, 0, 0, 0],
    ...[wide(depositor), wide(depositor), NOTHING, '0x'],
  ]);
const filled = (recipient: string, amount = AMOUNT) =>
  logOf(POOL, FILLED, [
    ...[wide(USDC), wide(USDC), amount + 1n, amount, 1n, 8453n, 9n, 0, 0, NOTHING, wide(RELAYER)],
    ...[wide(recipient), wide(recipient), NOTHING, [wide(recipient), NOTHING, amount, 0]],
  ]);

const payment = (n: number) => memoryTransfer(n, evm('payer'), SUBJECT, token());
const fill = (n: number) => memoryTransfer(n, RELAYER, SUBJECT, token());

describe('receipts of candidates', () => {
  test('a fill behind 30 newer payments is found', async () => {
    const newer = Array.from({ length: 30 }, (_, n) => payment(100 + n));
    const old = fill(20);
    const receipts = [...newer.map((one) => receipt(one)), receipt(old, filled(SUBJECT))];
    const data = await dataOf({ transfers: [...newer, old], receipts });
    expect(data.contacts?.map(({ tx, basis }) => [tx, basis])).toEqual([[old.tx, 'event']]);
    expect([data.coverage.checked, data.receipts?.unread]).toEqual([true, null]);
  });

  test('a fill behind more payments than are read leaves nothing denied', async () => {
    const newer = Array.from({ length: 150 }, (_, n) => payment(100 + n));
    const old = fill(20);
    const receipts = [...newer.map((one) => receipt(one)), receipt(old, filled(SUBJECT))];
    const said = await traced({ transfers: [...newer, old], receipts });
    expect([said.state, said.data]).toEqual(['not_deployed', null]);
    expect(said.reason).toContain('receipts_capped');
  });

  test('one receipt that is missing leaves nothing denied, and what was seen is the least', async () => {
    const [known, missing] = [payment(30), payment(31)];
    const none = await traced({ transfers: [missing, known], receipts: [receipt(known)] });
    expect(none.state).toBe('not_deployed');
    const paid = memoryTransfer(20, SUBJECT, POOL, token());
    const data = await dataOf({ transfers: [missing, paid], receipts: [receipt(paid)] });
    expect([data.coverage.checked, data.truncated, data.totals.in_usd]).toEqual([
      false,
      true,
      null,
    ]);
    expect(data.receipts).toEqual(expect.objectContaining({ read: 1, unread: 1 }));
  });

  test('an event of a bridge that cannot be read leaves nothing denied', async () => {
    const strange = { address: POOL, index: 0, topics: [GUID], data: '0x' };
    const said = await traced({
      transfers: [payment(30)],
      receipts: [receipt(payment(30), strange)],
    });
    expect([said.state, said.data]).toEqual(['not_deployed', null]);
    expect(said.reason).toContain('bridge_event_unknown');
  });
});

describe('an event makes a contact', () => {
  const contactsOf = async (transfer: HistoryTransfer, logs: ReturnType<typeof inOrder>) => {
    const receipts = [{ ...receipt(transfer, ...logs), from: SUBJECT }];
    return (await dataOf({ transfers: [transfer], receipts })).contacts;
  };
  const own = (from: string, to: string, over: Partial<HistoryTransfer> = {}) =>
    memoryTransfer(20, from, to, token({ initiator: SUBJECT, ...over }));

  test('of what Circle mints for a contract of a protocol on the chain that it came from', async () => {
    const sender = evm('bridge that sends by Circle');
    const minted = memoryTransfer(20, NOBODY, SUBJECT, token({ chain: 'base', token: TOKEN }));
    const terms = { recipient: SUBJECT, amount: AMOUNT, deadline: 0, origin: 1, id: 9 };
    const arrival = logOf(TRANSMITTER, ...circleArrival(terms, sender));
    const read = receipt(minted, ...inOrder(movedLog(TOKEN, NOBODY, SUBJECT, AMOUNT), arrival));
    const rows = [row(sender, 'L1 CCTP Bridge (USDC)', { protocol: 'hop', role: 'lock' })];
    const world = {
      transfers: [minted],
      receipts: [{ ...read, chain: 'base' as const }],
      coverage: heldInFull('base', STILL_NOW - 120),
      rows: [...rows, row(evm('pool of base'), 'Pool', { protocol: 'hop', chain: 'base' })],
    };
    const { data } = await traced(world, SUBJECT, 'base');
    expect(walletBridges.data.parse(data).contacts).toEqual([
      expect.objectContaining({
        basis: 'event',
        direction: 'in',
        protocol: 'hop',
        name: 'L1 CCTP Bridge (USDC)',
        contract: TRANSMITTER,
        raw_amount: String(AMOUNT),
      }),
    ]);
  });

  test('of a mint and of a burn that it names', async () => {
    const minted = own(NOBODY, SUBJECT, { token: OFT });
    const arrival = logOf(OFT, OFT_RECEIVED, [GUID, 30_109, SUBJECT, AMOUNT]);
    const mint = movedLog(OFT, NOBODY, SUBJECT, AMOUNT);
    expect(await contactsOf(minted, inOrder(mint, arrival))).toEqual([
      expect.objectContaining({ basis: 'event', direction: 'in', protocol: 'layerzero' }),
    ]);
    const burnt = own(SUBJECT, NOBODY, { token: OFT });
    const departure = logOf(OFT, OFT_SENT, [GUID, 30_109, SUBJECT, AMOUNT, AMOUNT]);
    const burn = movedLog(OFT, SUBJECT, NOBODY, AMOUNT);
    expect(await contactsOf(burnt, inOrder(burn, departure))).toEqual([
      expect.objectContaining({ basis: 'event', direction: 'out', contract: OFT }),
    ]);
    expect(await contactsOf(burnt, inOrder(burn))).toEqual([]);
  });

  test('of what its aggregator bridged for it, with the aggregator in between', async () => {
    const aggregator = evm('aggregator');
    const paid = own(SUBJECT, aggregator);
    const logs = inOrder(
      movedLog(USDC, SUBJECT, aggregator, AMOUNT),
      movedLog(USDC, aggregator, POOL, AMOUNT),
      deposited(aggregator),
    );
    const [contact] = (await contactsOf(paid, logs)) ?? [];
    expect(contact).toEqual(expect.objectContaining({ basis: 'event', contract: POOL }));
    expect(contact?.events).toEqual([
      expect.objectContaining({
        user: SUBJECT,
        asset: USDC,
        amount: '70000000',
        via: [{ contract: aggregator, name: null }],
        logged: { user: aggregator, asset: USDC, amount: '70000000' },
      }),
    ]);
  });

  test('of none that strangers made in the same transaction', async () => {
    const [alice, bob] = [evm('alice'), evm('bob')];
    const paid = memoryTransfer(20, SUBJECT, POOL, token({ raw_amount: 5n }));
    const logs = inOrder(
      movedLog(USDC, alice, POOL, AMOUNT),
      deposited(alice),
      movedLog(USDC, RELAYER, bob, AMOUNT),
      filled(bob),
      movedLog(USDC, SUBJECT, POOL, 5n),
      deposited(SUBJECT, 5n),
    );
    const receipts = [{ ...receipt(paid, ...logs), from: RELAYER }];
    const data = await dataOf({ transfers: [paid], receipts });
    expect(data.contacts?.flatMap(({ events }) => events ?? []).map(({ user }) => user)).toEqual([
      SUBJECT,
    ]);
    const got = memoryTransfer(20, RELAYER, SUBJECT, token());
    const named = await dataOf({ transfers: [got], receipts: [receipt(got, ...logs.slice(0, 4))] });
    expect(named.contacts).toEqual([]);
  });

  test('of one amount, not of another payment of the same transaction', async () => {
    const got = memoryTransfer(20, RELAYER, SUBJECT, token({ raw_amount: AMOUNT - 5n }));
    const logs = inOrder(movedLog(USDC, RELAYER, SUBJECT, AMOUNT), filled(SUBJECT));
    const data = await dataOf({ transfers: [got], receipts: [receipt(got, ...logs)] });
    expect(data.contacts).toEqual([]);
  });

  test('of providers, who are not bridging, at a vault that pays in another’s name', async () => {
    const pooled =
      'event Deposited(address indexed payer, address indexed receiver, uint256 amountLD)';
    const paid = memoryTransfer(20, SUBJECT, VAULT, token());
    const logs = inOrder(
      movedLog(USDC, SUBJECT, VAULT, AMOUNT),
      logOf(VAULT, pooled, [SUBJECT, SUBJECT, AMOUNT]),
    );
    const data = await dataOf({ transfers: [paid], receipts: [receipt(paid, ...logs)] });
    expect([data.bridges, data.liquidity_actions]).toEqual([[], 1]);
  });
});
