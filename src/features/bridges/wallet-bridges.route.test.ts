import { describe, expect, test } from 'vitest';
import { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { why } from '../../evidence/reasons.ts';
import type { ArrivalLog, DepositStatus } from '../../ports/bridges.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import {
  BOB,
  circleArrival,
  PAIRS,
  type Terms,
  TOKEN,
  TRANSMITTER,
} from '../../testing/bridge-pairs.ts';
import {
  askWalletBridges,
  dataOf,
  ENDPOINT,
  FAR_POOL,
  HUB,
  NOBODY,
  OFT,
  POOL,
  portsOf,
  RELAYER,
  ROWS,
  receipt,
  row,
  SUBJECT,
  token,
  traceWallet,
  USDC,
  VAULT,
  type World,
  word,
} from '../../testing/bridge-trace.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { inOrder, logOf, movedLog } from '../../testing/event-logs.ts';
import { fullCoverage, memoryTransfer } from '../../testing/twins/history.ts';
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
    const coverage = fullCoverage('ethereum', STILL_NOW - 120).map((range) => ({
      ...range,
      from_block: 1_000,
      to_block: 2_000,
      from_first: false,
    }));
    const friend = memoryTransfer(1_500, SUBJECT, evm('friend'));
    const said = await traceWallet({ transfers: [friend], coverage });
    expect(said).toEqual(
      expect.objectContaining({ state: 'not_deployed', data: null, sources: [] }),
    );
    expect(said.reason).toContain('partial_history');
    expect(said.reason).toContain('ethereum native held from block 1000');
  });

  test('and shows what it saw there, as the least, with what is missing', async () => {
    const coverage = fullCoverage('ethereum', STILL_NOW - 120).slice(0, 2);
    const data = await dataOf({ transfers: [DEPOSIT], coverage });
    expect(data.bridges).toHaveLength(1);
    expect(data.coverage).toEqual(
      expect.objectContaining({ checked: false, from_block: null, to_block: null }),
    );
    expect(data.coverage.reason).toContain('ethereum internal none held');
    expect([data.truncated, data.totals.in_usd, data.messaging_only]).toEqual([true, null, null]);
  });

  test('while simulated: what is there is shown and labelled, and nothing is denied', async () => {
    const nothing = await traceWallet({ transfers: [], simulated: true });
    expect(nothing.state).toBe('not_deployed');
    const seen = await traceWallet({ transfers: [DEPOSIT], simulated: true });
    expect(seen.state).toBe('ok');
    const data = walletBridges.data.parse(seen.data);
    expect(data.coverage.checked).toBe(false);
    expect(data.caveat.startsWith('Simulated:')).toBe(true);
  });

  test('where the table was never loaded, or holds no row of the chain', async () => {
    const never = await traceWallet({ transfers: [DEPOSIT], rows: null });
    expect(never.reason).toBe(
      'No import of the table of bridge contracts has completed on this deployment; ' +
        'nothing was checked.',
    );
    const other = await traceWallet({ transfers: [DEPOSIT] }, SUBJECT, 'base');
    expect(other.reason).toContain('no row for base');
  });

  test('where every port is', async () => {
    const silent = why('store_unreadable', { what: 'A store', fault: 'a test' });
    const answer = await askWalletBridges(silentPorts(silent));
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
      const said = await traceWallet({ transfers: [] }, addressNamed(form, 'somebody'));
      expect(said).toEqual(expect.objectContaining({ state: 'not_supported', sources: [] }));
    },
  );

  test('a text of no known form, and a chain that is not covered', async () => {
    const refused = await askWalletBridges(portsOf({ transfers: [] }), 'nobody');
    expect(refused).toBeInstanceOf(Refusal);
    expect(walletBridges.query.safeParse({ chain: 'hyperevm' }).success).toBe(false);
    expect(walletBridges.query.parse({})).toEqual({ chain: 'ethereum' });
  });
});

describe('wallet bridges deposits', () => {
  const DAY_S = 86_400;
  const AMOUNT = 70_000_000n;
  const FAR_TX = `0x${'f'.repeat(64)}`;
  const USDC = '0x3333333333333333333333333333333333333333';
  const ROWS_OF_BOTH = [...ROWS, row(FAR_POOL, 'SpokePool', { chain: 'base' })];

  function across() {
    const [pair] = PAIRS;
    if (pair === undefined) throw new Error('no pair');
    return pair;
  }

  const termsOf = (id: number, deadline = STILL_NOW + DAY_S): Terms => {
    return { recipient: BOB, amount: AMOUNT - 1n, deadline, origin: 1, id };
  };

  /** A deposit of the subject: its transfer and its receipt. */
  function depositOf(terms: Terms) {
    const transfer = memoryTransfer(terms.id, SUBJECT, POOL, token({ token: USDC }));
    const logs = inOrder(
      movedLog(USDC, SUBJECT, POOL, AMOUNT),
      logOf(POOL, ...across().sent(terms)),
    );
    return { transfer, receipt: { ...receipt(transfer, ...logs), from: SUBJECT } };
  }

  const fillOf = (terms: Terms): ArrivalLog => {
    return { tx: FAR_TX, block: 5, log: logOf(FAR_POOL, ...across().arrived(terms, '', POOL)) };
  };

  const loggedOnBase = (...logs: readonly ArrivalLog[]) => {
    return { logs: new Map([['base' as const, logs]]), as_of: STILL_NOW - 60, simulated: false };
  };

  function worldOf(terms: Terms, ...logs: readonly ArrivalLog[]): World {
    const { transfer, receipt: read } = depositOf(terms);
    const sent = { transfers: [transfer], receipts: [read], rows: ROWS_OF_BOTH };
    return { ...sent, arrivals: loggedOnBase(...logs) };
  }

  const destinations = async (world: World) =>
    (await dataOf(world)).deposits?.map(({ destination }) => destination);

  const noNode = [
    why('not_configured', { what: 'A node of base' }).reason,
    why('arrivals_not_held', { chain: 'base' }).reason,
  ].join(' ');
  const ON_BASE = { chain: 'base', tx: null, state: null, matched_by: null, reason: null };

  describe('says', () => {
    test('a deposit is on its way, and matched once its fill is logged', async () => {
      const terms = termsOf(20);
      expect(await destinations(worldOf(terms))).toEqual([{ ...ON_BASE, state: 'in_flight' }]);
      const data = await dataOf(worldOf(terms, fillOf(terms)));
      expect(data.deposits).toEqual([
        {
          protocol: 'across',
          name: 'SpokePool',
          contract: POOL,
          tx: depositOf(terms).transfer.tx,
          at: expect.stringMatching(/Z$/),
          event: 'FundsDeposited',
          message_id: '1/20',
          asset: USDC,
          amount: '70000000',
          destination: {
            chain: 'base',
            tx: FAR_TX,
            state: 'matched',
            matched_by: 'message_id',
            reason: null,
          },
        },
      ]);
    });

    test('unmatched only once the time of filling is over and the chain was read past it', async () => {
      const over = termsOf(20, STILL_NOW - 100);
      expect(await destinations(worldOf(over))).toEqual([{ ...ON_BASE, state: 'unmatched' }]);
      const behind = { ...worldOf(over), arrivals: { ...loggedOnBase(), as_of: STILL_NOW - 200 } };
      expect(await destinations(behind)).toEqual([{ ...ON_BASE, state: 'in_flight' }]);
    });

    test('a fill of another amount, recipient, deadline or origin is another’s', async () => {
      const terms = termsOf(20);
      for (const other of [
        { ...terms, amount: 5n },
        { ...terms, recipient: SUBJECT },
        { ...terms, deadline: terms.deadline - 1 },
        { ...terms, origin: 56 },
      ]) {
        expect(await destinations(worldOf(terms, fillOf(other)))).toEqual([
          { ...ON_BASE, state: 'in_flight' },
        ]);
      }
    });

    test('what went to a contract of messages alone is no deposit that could arrive', async () => {
      const paid = memoryTransfer(20, SUBJECT, ENDPOINT);
      expect(await destinations({ transfers: [paid] })).toEqual([
        { ...ON_BASE, chain: null, state: 'messaging_only' },
      ]);
    });

    test('the fee of a message that is paid beside a deposit is no deposit of its own', async () => {
      const terms = termsOf(20);
      const { transfer, receipt: read } = depositOf(terms);
      const { tx, block } = transfer;
      const fee = memoryTransfer(20, SUBJECT, POOL, { tx, block });
      const world = { ...worldOf(terms), transfers: [transfer, fee], receipts: [read] };
      expect(await destinations(world)).toEqual([{ ...ON_BASE, state: 'in_flight' }]);
    });

    test('of more deposits than are looked for, the newest are, and the others say so', async () => {
      const all = Array.from({ length: 12 }, (_, n) => depositOf(termsOf(20 + n)));
      const transfers = all.map((one) => one.transfer).reverse();
      const receipts = all.map((one) => one.receipt);
      const found = fillOf(termsOf(20));
      const world = { transfers, receipts, rows: ROWS_OF_BOTH, arrivals: loggedOnBase(found) };
      const told = await destinations(world);
      expect(told?.map(({ state }) => state)).toEqual([...Array(10).fill('in_flight'), null, null]);
      expect(told?.[11]).toEqual({
        ...ON_BASE,
        reason: why('destinations_capped', { limit: '10' }).reason,
      });
    });

    test('what came in is no deposit', async () => {
      const got = memoryTransfer(20, POOL, SUBJECT, token());
      expect((await dataOf({ transfers: [got], receipts: [receipt(got)] })).deposits).toBeNull();
    });
  });

  describe('says a status page’s word as its own', () => {
    const page = 'across_status';
    const told = (state: DepositStatus['state'], word: string): DepositStatus => {
      return { page, state, word, tx: state === 'paid' ? FAR_TX : null };
    };
    const withPage = (terms: Terms, said: DepositStatus, logs = true): World => {
      const pages = new Map([[depositOf(terms).transfer.tx, said]]);
      const { arrivals = loggedOnBase(), ...world } = worldOf(terms);
      return { ...world, arrivals: { ...arrivals, pages, logs: logs ? arrivals.logs : new Map() } };
    };
    const open = termsOf(20);
    const over = termsOf(20, STILL_NOW - 100);
    const refunded = why('status_page_says', { page, word: 'refunded' }).reason;
    const unknown = why('status_page_says', { page, word: 'unknown' }).reason;

    test('where the chain was not read, or its logs show nothing of what it says was paid', async () => {
      const paid = { ...ON_BASE, tx: FAR_TX, state: 'matched', matched_by: page };
      for (const terms of [open, over]) {
        expect(await destinations(withPage(terms, told('paid', 'filled')))).toEqual([paid]);
      }
      expect(await destinations(withPage(open, told('paid', 'filled'), false))).toEqual([
        { ...paid, reason: noNode },
      ]);
    });

    test('of what is on its way, with the page named where the logs do not say so', async () => {
      const under = told('under_way', 'pending');
      const [logged] = (await destinations(withPage(open, under))) ?? [];
      expect(logged).toEqual({ ...ON_BASE, state: 'in_flight' });
      const [alone] = (await destinations(withPage(open, under, false))) ?? [];
      expect(alone).toEqual({ ...ON_BASE, state: 'in_flight', matched_by: page, reason: noNode });
      const [late] = (await destinations(withPage(over, under))) ?? [];
      expect(late).toEqual({ ...ON_BASE, state: 'in_flight', matched_by: page });
    });

    test('and never denies: what it calls refunded is unmatched only by the logs', async () => {
      const stopped = told('stopped', 'refunded');
      const [alone] = (await destinations(withPage(open, stopped, false))) ?? [];
      expect(alone).toEqual({ ...ON_BASE, reason: `${noNode} ${refunded}` });
      const [early] = (await destinations(withPage(open, stopped))) ?? [];
      expect(early).toEqual({ ...ON_BASE, reason: refunded });
      const [late] = (await destinations(withPage(over, stopped))) ?? [];
      expect(late).toEqual({ ...ON_BASE, state: 'unmatched', reason: refunded });
    });

    test('and takes nothing back where it knows nothing, and all where it is silent', async () => {
      const [late] = (await destinations(withPage(over, told('unknown', 'unknown')))) ?? [];
      expect(late).toEqual({ ...ON_BASE, state: 'unmatched', reason: unknown });
      const pages = new Map([['0x', told('paid', 'filled')]]);
      const { arrivals = loggedOnBase(), ...world } = worldOf(over);
      const [silent] = (await destinations({ ...world, arrivals: { ...arrivals, pages } })) ?? [];
      expect(silent).toEqual({ ...ON_BASE, reason: expect.any(String) });
    });

    test('is not asked for where the logs show the arrival', async () => {
      const world = withPage(open, told('stopped', 'refunded'));
      const { arrivals = loggedOnBase() } = world;
      const logs = loggedOnBase(fillOf(open)).logs;
      const [deposit] = (await destinations({ ...world, arrivals: { ...arrivals, logs } })) ?? [];
      expect(deposit).toEqual(expect.objectContaining({ matched_by: 'message_id', reason: null }));
    });
  });

  describe('is silent', () => {
    test('where no node of the other chain is set, with the reason and no word of arrival', async () => {
      const { arrivals: _, ...world } = worldOf(termsOf(20));
      expect(await destinations(world)).toEqual([{ ...ON_BASE, reason: noNode }]);
    });

    test('where its receipt was not read, or none of its events is known to name it', async () => {
      const terms = termsOf(20);
      const { transfer } = depositOf(terms);
      const unread = { transfers: [transfer], rows: ROWS_OF_BOTH, arrivals: loggedOnBase() };
      const [of, untold] = [why('deposit_receipt_unread'), why('deposit_not_told')];
      expect(await destinations(unread)).toEqual([{ ...ON_BASE, chain: null, reason: of.reason }]);
      expect(await destinations({ ...unread, receipts: [receipt(transfer)] })).toEqual([
        { ...ON_BASE, chain: null, reason: untold.reason },
      ]);
    });

    test('where the registry holds no contract of the protocol there', async () => {
      const [one] = (await destinations({ ...worldOf(termsOf(20)), rows: ROWS })) ?? [];
      expect(one).toEqual(expect.objectContaining({ chain: 'base', state: null }));
      expect(one?.reason).toContain('across on base');
    });

    test('where the port says nothing, and its envelope names no source for it', async () => {
      const terms = termsOf(20);
      const cause = why('provider_failed', { provider: 'A node', fault: 'answered 500' });
      const { bridgeArrivals } = silentPorts(cause);
      const ports = { ...portsOf(worldOf(terms, fillOf(terms))), bridgeArrivals };
      const answer = await askWalletBridges(ports);
      if (!(answer instanceof Answer)) throw new Error('refused');
      const { data, sources } = answer.envelope(STILL_NOW);
      const [deposit] = walletBridges.data.parse(data).deposits ?? [];
      expect(deposit?.destination).toEqual({ ...ON_BASE, reason: cause.reason });
      expect(sources.map(({ name }) => name)).not.toContain('Logs in memory');
    });

    test('where time ran out before the other chain was asked', async () => {
      const terms = termsOf(20);
      const ended = new AbortController();
      const ports = portsOf(worldOf(terms, fillOf(terms)));
      const { transactionReceipts } = ports;
      const last = {
        lookUp: async (...args: Parameters<typeof transactionReceipts.lookUp>) => {
          const read = await transactionReceipts.lookUp(...args);
          setImmediate(() => ended.abort());
          return read;
        },
      };
      const never = { ...ports.bridgeArrivals, lookUp: () => new Promise<never>(() => undefined) };
      const slow = { ...ports, transactionReceipts: last, bridgeArrivals: never };
      const answer = await askWalletBridges(slow, SUBJECT, 'ethereum', ended.signal);
      if (!(answer instanceof Answer)) throw new Error('refused');
      const { data } = answer.envelope(STILL_NOW);
      const [deposit] = walletBridges.data.parse(data).deposits ?? [];
      expect(deposit?.destination).toEqual({
        ...ON_BASE,
        reason: why('arrivals_out_of_time').reason,
      });
    });
  });
});

describe('wallet bridges receipts', () => {
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
      const said = await traceWallet({ transfers: [...newer, old], receipts });
      expect([said.state, said.data]).toEqual(['not_deployed', null]);
      expect(said.reason).toContain('receipts_capped');
    });

    test('one receipt that is missing leaves nothing denied, and what was seen is the least', async () => {
      const [known, missing] = [payment(30), payment(31)];
      const none = await traceWallet({ transfers: [missing, known], receipts: [receipt(known)] });
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
      const said = await traceWallet({
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
        coverage: fullCoverage('base', STILL_NOW - 120),
        rows: [...rows, row(evm('pool of base'), 'Pool', { protocol: 'hop', chain: 'base' })],
      };
      const { data } = await traceWallet(world, SUBJECT, 'base');
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
      const named = await dataOf({
        transfers: [got],
        receipts: [receipt(got, ...logs.slice(0, 4))],
      });
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
});
