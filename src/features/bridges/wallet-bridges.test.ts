import { describe, expect, test } from 'vitest';
import { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { why } from '../../evidence/reasons.ts';
import type { RegistryRow } from '../../ports/bridges/bridge-registry.ts';
import type { ReceiptFacts } from '../../ports/bridges/transaction-receipts.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { evm, named } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { memoryPorts } from '../../testing/memory/ports.ts';
import { silentPorts } from '../../testing/memory/silent.ts';
import { heldInFull, memoryTransfer } from '../../testing/memory/transfers.ts';
import { walletBridges } from './wallet-bridges.contract.ts';
import { walletBridgesHandler } from './wallet-bridges.route.ts';

const SUBJECT = evm('subject');
const POOL = evm('spoke pool');
const VAULT = evm('vault');
const ENDPOINT = evm('endpoint');
const HUB = evm('hub pool');
const RELAYER = evm('relayer');
const USDC = evm('usdc');
const NOBODY = `0x${'0'.repeat(40)}`;

function row(address: string, name: string, over: Partial<RegistryRow> = {}): RegistryRow {
  return {
    chain: 'ethereum',
    address,
    protocol: 'across',
    name,
    role: 'liquidity',
    note: null,
    valid_from_block: null,
    sources: ['tests'],
    reviewed: '2026-09-01',
    ...over,
  };
}
const ROWS = [
  row(POOL, 'SpokePool'),
  row(VAULT, 'StargatePool V2 (USDC)', { protocol: 'stargate', valid_from_block: 10 }),
  row(ENDPOINT, 'Endpoint', { protocol: 'layerzero', role: 'messaging' }),
  row(HUB, 'HubPool', { note: 'one source only; providers only: users do not bridge through it' }),
];

type World = {
  readonly transfers: readonly HistoryTransfer[];
  readonly receipts?: readonly ReceiptFacts[];
  readonly rows?: readonly RegistryRow[] | null;
  readonly coverage?: ReturnType<typeof heldInFull>;
  readonly simulated?: boolean;
};

function portsOf(world: World) {
  const dated = { as_of: STILL_NOW - 120, simulated: world.simulated === true };
  const inForce = { published: '2026-09-20', checked_at: STILL_NOW, entries: [] };
  return memoryPorts({
    list: { publications: [inForce], maxAgeS: 1_000, simulated: false, now: () => STILL_NOW },
    labels: { ...dated, labels: [] },
    corpus: { ...dated, launches: [] },
    history: {
      ...dated,
      chains: ['ethereum', 'base'],
      transfers: world.transfers,
      provenance: 'warehouse',
      coverage: world.coverage ?? heldInFull('ethereum', STILL_NOW - 120),
    },
    bridges: { ...dated, simulated: false, rows: world.rows === undefined ? ROWS : world.rows },
    receipts: { ...dated, receipts: world.receipts ?? [] },
  });
}

type Call = (
  input: { params: { address: string }; query: object; body: undefined },
  asked: { now: () => number; signal: AbortSignal },
) => ReturnType<ReturnType<typeof walletBridgesHandler>>;

async function asked(ports: ReturnType<typeof portsOf>, address = SUBJECT, chain = 'ethereum') {
  const params = walletBridges.params.parse({ address });
  const query = walletBridges.query.parse({ chain });
  const now = () => STILL_NOW;
  const signal = new AbortController().signal;
  const handler = walletBridgesHandler(ports) as Call;
  return handler({ params, query, body: undefined }, { now, signal });
}

async function traced(world: World, address = SUBJECT, chain = 'ethereum') {
  const answer = await asked(portsOf(world), address, chain);
  if (!(answer instanceof Answer)) throw new Error('refused');
  return answer.envelope(STILL_NOW);
}

async function dataOf(world: World) {
  const said = await traced(world);
  if (said.state !== 'ok') throw new Error(String(said.reason));
  return walletBridges.data.parse(said.data);
}

const token = (over: Partial<HistoryTransfer> = {}): Partial<HistoryTransfer> => ({
  kind: 'token',
  token: USDC,
  symbol: 'USDC',
  decimals: 6,
  raw_amount: 70_000_000n,
  usd: '70',
  has_market: true,
  ...over,
});
const DEPOSIT = memoryTransfer(20, SUBJECT, POOL, token());
const PAYOUT = memoryTransfer(30, VAULT, SUBJECT, token({ usd: null, initiator: SUBJECT }));

const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
const OFT_RECEIVED = '0xefed6d3500546b29533b128a29e3a94d70788727f0507505ac12eaf2e578fd9c';
const POOL_DEPOSITED = '0x8752a472e571a816aea92eec8dae9baf628e840f4929fbcc2d155e6233ff68a7';
const V3_FILL = '0x571749edf1d5c9599318cdbc4e28a6475d65e87fd3b2ddbe1e9a8d5e7a0f0ff7';

function receipt({ tx, block }: HistoryTransfer, ...logs: ReceiptFacts['logs']): ReceiptFacts {
  const facts = { chain: 'ethereum', tx, block, from: RELAYER, to: null } as const;
  return { ...facts, value: 0n, success: true, logs };
}

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
    const data = await dataOf({ transfers: [memoryTransfer(1, SUBJECT, evm('friend'))] });
    expect(data.bridges).toEqual([]);
    expect(data.totals).toEqual({ out_usd: 0, in_usd: 0, transfers: 0, transactions: 0 });
    expect([data.total_usd, data.messaging_only, data.truncated]).toEqual([0, 0, false]);
    expect(data.coverage.checked).toBe(true);
    expect(data.receipts).toBeNull();
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
    const words = [
      ...[word(USDC), word(USDC), word(71_000_000n), word(70_000_000n), word(1n), word(0n)],
      ...[word(0n), word(0n), word(evm('depositor')), word(SUBJECT), word(13n * 32n)],
      ...[word(12n * 32n), word(SUBJECT), word(0n), word(70_000_000n), word(0n)],
    ];
    const topics = [V3_FILL, `0x${word(8453n)}`, `0x${word(9n)}`, `0x${word(RELAYER)}`];
    const log = { address: POOL, index: 0, topics, data: `0x${words.join('')}` };
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
    const data = await dataOf({ transfers, ...more });
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
    const many = Array.from({ length: 40 }, (_, n) =>
      memoryTransfer(20 + n, SUBJECT, POOL, token()),
    );
    const data = await dataOf({ transfers: many, receipts: many.map((one) => receipt(one)) });
    expect(data.totals.transfers).toBe(40);
    expect(data.receipts).toEqual(
      expect.objectContaining({ read: 24, unread: 16, complete: false, unknown_events: null }),
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
