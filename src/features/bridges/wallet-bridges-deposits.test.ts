import { describe, expect, test } from 'vitest';
import { Answer } from '../../contract/answer.ts';
import { why } from '../../evidence/reasons.ts';
import type { ArrivalLog, DepositStatus } from '../../ports/bridges.ts';
import { BOB, PAIRS, type Terms } from '../../testing/bridge-pairs.ts';
import {
  asked,
  dataOf,
  ENDPOINT,
  FAR_POOL,
  POOL,
  portsOf,
  ROWS,
  receipt,
  row,
  SUBJECT,
  token,
  type World,
} from '../../testing/bridge-trace.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { inOrder, logOf, movedLog } from '../../testing/event-logs.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { silentPorts } from '../../testing/twins/ports.ts';
import { walletBridges } from './wallet-bridges.route.ts';

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
  const logs = inOrder(movedLog(USDC, SUBJECT, POOL, AMOUNT), logOf(POOL, ...across().sent(terms)));
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
    const answer = await asked(ports);
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
    const answer = await asked(slow, SUBJECT, 'ethereum', ended.signal);
    if (!(answer instanceof Answer)) throw new Error('refused');
    const { data } = answer.envelope(STILL_NOW);
    const [deposit] = walletBridges.data.parse(data).deposits ?? [];
    expect(deposit?.destination).toEqual({
      ...ON_BASE,
      reason: why('arrivals_out_of_time').reason,
    });
  });
});
