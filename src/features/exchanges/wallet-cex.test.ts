import { describe, expect, test } from 'vitest';
import type { Envelope } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { envelopeSchema } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import type { ExchangeLabel } from '../../ports/tables.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { fullCoverage, memoryTransfer } from '../../testing/twins/history.ts';
import { type MemoryWorld, memoryPorts, silentPorts } from '../../testing/twins/ports.ts';
import { DEPOSIT_WEIGHTS } from '../deposits/inference.ts';
import { walletCex, walletCexHandler } from './wallet-cex.route.ts';

const [user, deposit, hot, rival, friend] = [
  ...['user', 'deposit', 'hot', 'rival', 'friend'].map(evm),
] as [string, string, string, string, string];

function label(address: string, over: Partial<ExchangeLabel> = {}): ExchangeLabel {
  return {
    address,
    chain: 'ethereum',
    label: 'Exemplar: Hot Wallet',
    entity: 'Exemplar',
    role: 'hot',
    confidence: 'service_data',
    clusterable: false,
    source: 'one',
    source_url: 'https://example.org/one',
    first_seen: '2026-01-15',
    ...over,
  };
}

type Made = {
  readonly transfers?: readonly HistoryTransfer[];
  readonly labels?: readonly ExchangeLabel[] | null;
  readonly history?: Partial<MemoryWorld['history']>;
  readonly members?: readonly string[];
  /** How much code the chain holds at the deposit address; left out: no chain is read. */
  readonly code?: number;
  readonly silent?: 'history' | 'clusters';
};

const LABELS = [label(hot), label(rival, { entity: 'Rival', label: 'Rival 1' })];

function portsOf({ transfers = [], labels = LABELS, history, members, code, silent }: Made) {
  const facts = { as_of: STILL_NOW - 60, simulated: false };
  const weight = { confidence: 0.9, basis: 'measured' } as const;
  const cluster = { chain: 'ethereum', cluster_id: 'c1', ...weight, labels: [] } as const;
  const ports = memoryPorts({
    ...(code === undefined ? {} : { facts: { ...facts, ...codeAt(deposit, code) } }),
    list: { maxAgeS: 1, simulated: false, now: stillClock(), publications: [] },
    labels: { ...facts, labels },
    corpus: { ...facts, launches: [] },
    history: {
      ...facts,
      chains: ['ethereum'],
      transfers,
      provenance: 'warehouse',
      coverage: fullCoverage('ethereum', STILL_NOW - 60),
      ...history,
    },
    entities: {
      ...facts,
      clusters: members === undefined ? [] : [{ ...cluster, members }],
      examined: 'everyone',
    },
  });
  const nothing = silentPorts(why('no_history'));
  if (silent === 'history') return { ...ports, transferHistory: nothing.transferHistory };
  return silent === 'clusters' ? { ...ports, entityClusters: nothing.entityClusters } : ports;
}

type Handler = ReturnType<typeof walletCexHandler>;
type Call = (
  input: { params: { address: string }; query: object; body: undefined },
  asked: Parameters<Handler>[1],
) => ReturnType<Handler>;

function codeAt(address: string, size: number) {
  const code = { size, delegates_to: null, minimal_proxy_of: null };
  const chain = 'ethereum' as const;
  return { chains: [chain], facts: [{ chain, address, code }] };
}

async function answered(made: Made, address: string) {
  const now = stillClock();
  const { signal } = new AbortController();
  const handler = walletCexHandler(portsOf(made)) as Call;
  return handler({ params: { address }, query: {}, body: undefined }, { now, signal });
}

async function asked(made: Made, address: string): Promise<Envelope | Refusal> {
  const answer = await answered(made, address);
  if (answer instanceof Refusal) return answer;
  const envelope = answer.envelope(STILL_NOW);
  envelopeSchema(walletCex).parse(envelope);
  return envelope;
}

async function dataOf(made: Made, address = user) {
  const answer = await asked(made, address);
  if (answer instanceof Refusal || answer.state !== 'ok') throw new Error(JSON.stringify(answer));
  return walletCex.data.parse(answer.data);
}

const throwBug = () => Promise.reject(new Error('test: a bug'));
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const tx = (n: number) => memoryTransfer(n, user, hot).tx;
const TRANSFERS = [
  memoryTransfer(10, user, hot, { usd: '3000.10' }),
  memoryTransfer(20, hot, user, { usd: '0.20', initiator: hot }),
  memoryTransfer(30, user, hot, { usd: null }),
];

describe('says', () => {
  test('which exchange a wallet is labelled as, with the provenance of the label', async () => {
    const data = await dataOf({}, hot);
    expect(data.direct).toEqual({
      address: hot,
      chain: 'ethereum',
      label: 'Exemplar: Hot Wallet',
      entity: 'Exemplar',
      role: 'hot',
      confidence: 'service_data',
      confidence_level: 50,
      clusterable: false,
      source: 'one',
      source_url: 'https://example.org/one',
      first_seen: '2026-01-15',
    });
    expect(data).toMatchObject({ labels: [data.direct], conflicts: [], linked: [] });
    expect(data.activity).toMatchObject({ checked: true, exchanges: [], truncated: false });
    expect(data.table_rows).toBe(2);
    expect(data.caveat).toContain('link nobody');
  });

  test('both labels where sources disagree, the stronger rung first', async () => {
    const labels = [
      label(hot, { entity: 'Weaker', confidence: 'web_crawl', source: 'two' }),
      label(hot),
      label(hot, { entity: 'EXEMPLAR', role: 'other', source: 'three' }),
    ];
    const data = await dataOf({ labels }, hot);
    expect(data.direct?.entity).toBe('Exemplar');
    expect(data.labels.map(({ source }) => source)).toEqual(['one', 'two', 'three']);
    expect(data.conflicts.map(({ source }) => source)).toEqual(['two']);
    expect(data.caveat).toContain('Sources disagree');
  });

  test('what was exchanged with an exchange, exactly and transaction by transaction', async () => {
    const { activity } = await dataOf({ transfers: TRANSFERS });
    expect(activity.exchanges).toEqual([
      {
        entity: 'Exemplar',
        transfers_in: 1,
        transfers_out: 2,
        usd_in: '0.2',
        usd_out: '3000.1',
        unpriced_transfers: 1,
        first_seen: at(10),
        last_seen: at(30),
        transactions: [
          [30, 'out', null, true],
          [20, 'in', '0.20', false],
          [10, 'out', '3000.10', true],
        ].map(([n, direction, usd, initiated_by_subject]) => ({
          chain: 'ethereum',
          tx: tx(Number(n)),
          direction,
          wallet: hot,
          label: 'Exemplar: Hot Wallet',
          token: null,
          symbol: 'ETH',
          amount: '1',
          raw_amount: '1000000000000000000',
          usd,
          at: at(Number(n)),
          initiated_by_subject,
        })),
      },
    ]);
    expect(activity).toMatchObject({ checked: true, provenance: 'warehouse', reason: null });
  });

  test('the labelled addresses of its cluster, itself left out', async () => {
    const { linked } = await dataOf({ members: [user, hot, friend] });
    expect(linked).toMatchObject([
      { address: hot, entity: 'Exemplar', cluster_id: 'c1', weight: 0.9, basis: 'measured' },
    ]);
  });

  test('a deposit address that it pays, with the transactions that show it', async () => {
    const transfers = [
      memoryTransfer(10, user, deposit),
      memoryTransfer(70, deposit, hot, { raw_amount: 95n * 10n ** 16n }),
    ];
    const { activity } = await dataOf({ transfers });
    const asset = { chain: 'ethereum', token: null };
    const forwarded = String(95n * 10n ** 16n);
    expect(activity.inferred_deposit_addresses).toEqual([
      {
        address: deposit,
        entity: 'Exemplar',
        ratio: 0.95,
        delay_s: 60,
        transactions: [tx(10), tx(70)],
        transactions_count: 2,
        is_subject: false,
        receiver_role: 'hot',
        ...DEPOSIT_WEIGHTS.hot,
        clusterable: true,
        externally_owned: true,
        history_complete: true,
        other_receivers: 0,
        assets_kept: 0,
        wallets: [hot],
        assets: [{ ...asset, received: String(10n ** 18n), forwarded }],
        forwards: [
          {
            ...asset,
            user,
            wallet: hot,
            raw_amount: forwarded,
            delay_s: 60,
            received_tx: tx(10),
            forwarded_tx: tx(70),
          },
        ],
      },
    ]);
    expect(activity.candidates_read).toBe(1);
    const itself = (await dataOf({ transfers }, deposit)).activity;
    expect(itself.inferred_deposit_addresses).toMatchObject([{ is_subject: true, ratio: 0.95 }]);
  });

  test('no deposit address of a contract, and leaves open what nothing shows', async () => {
    const forward = (over: Partial<HistoryTransfer>) => [
      memoryTransfer(10, user, deposit),
      memoryTransfer(70, deposit, hot, { initiator: friend, ...over }),
    ];
    const contract = await asked({ transfers: forward({ kind: 'internal' }) }, user);
    expect(contract).toMatchObject({ state: 'insufficient_evidence' });
    const token = { kind: 'token', token: evm('token'), decimals: 6, symbol: 'T' } as const;
    const transfers = forward(token).map((one) => ({ ...one, ...token, initiator: friend }));
    const { activity, caveat } = await dataOf({ transfers });
    expect(activity.inferred_deposit_addresses).toMatchObject([{ externally_owned: null }]);
    expect(caveat).toContain('Nothing read shows whether');
    const owned = await dataOf({ transfers, code: 0 });
    expect(owned.activity.inferred_deposit_addresses).toMatchObject([{ externally_owned: true }]);
    expect(await asked({ transfers, code: 45 }, user)).toMatchObject({ data: null });
  });

  test('of poisoning and spam no activity, and counts them', async () => {
    const unsold = { kind: 'token', token: evm('spam'), symbol: 'S', decimals: 0 } as const;
    const unwanted = [
      memoryTransfer(1, hot, user, { raw_amount: 0n, initiator: rival }),
      memoryTransfer(2, user, hot, { raw_amount: 0n, initiator: rival, kind: 'token' }),
      memoryTransfer(3, hot, user, { ...unsold, has_market: false, initiator: rival }),
    ];
    const alone = await asked({ transfers: unwanted }, user);
    expect(alone).toMatchObject({ state: 'insufficient_evidence' });
    const { activity } = await dataOf({ transfers: [...unwanted, ...TRANSFERS] });
    expect(activity.exchanges).toMatchObject([{ transfers_in: 1, transfers_out: 2 }]);
    expect(activity.transfers_left_out).toEqual({ zero_value: 2, no_market_token: 1 });
  });

  test('of a hub its newest transfers as a lower bound, and that it was cut', async () => {
    const many = Array.from({ length: 6_000 }, (_, n) => memoryTransfer(n, user, evm(`${n}`)));
    const { activity } = await dataOf({ transfers: [...many, memoryTransfer(7_000, user, hot)] });
    expect(activity).toMatchObject({ checked: false, truncated: true, candidates_read: 20 });
    expect(activity.exchanges).toMatchObject([{ transfers_out: 1, transfers_in: null }]);
    expect(activity.reason).toMatch(/^row_cap: .* deposit_candidates: /);
  });
});

describe('is silent', () => {
  test('of an address that no table names, saying what was checked', async () => {
    expect(await asked({ transfers: [memoryTransfer(1, user, friend)] }, user)).toMatchObject({
      state: 'insufficient_evidence',
      data: null,
      reason:
        'No label of this address is held among 2 rows of the exchange-wallet table. No labelled ' +
        'address was found in its cluster. Its transfer history was read, and none of it is with ' +
        'a labelled exchange wallet.',
    });
  });

  test('of activity whose history went unread, which the reason names', async () => {
    const answer = await asked({ silent: 'history' }, user);
    if (answer instanceof Refusal) throw new Error('refused');
    expect(answer.state).toBe('insufficient_evidence');
    expect(answer.reason).toContain('Its activity was not checked: This deployment holds no');
    expect(answer.sources.map(({ name }) => name)).not.toContain('Transfers in memory');
  });

  test.each([
    ['everything', {}, 'no_exchange_held'],
    ['no activity', { silent: 'history' }, 'no_exchange_held_partly'],
    ['no cluster', { silent: 'clusters' }, 'no_exchange_held_partly'],
  ] as const)('with a code of its own where %s was read', async (_, made, code) => {
    const answer = await answered({ transfers: [memoryTransfer(1, user, friend)], ...made }, user);
    expect(answer instanceof Refusal ? null : answer.why?.code).toBe(code);
  });

  test('of everything while the table was never imported', async () => {
    const answer = await asked({ labels: null, transfers: TRANSFERS }, user);
    expect(answer).toMatchObject({ state: 'not_deployed', sources: [], data: null });
  });

  test('of no activity where blocks N to N+1000 alone are held', async () => {
    const coverage = fullCoverage('ethereum', STILL_NOW - 60).map((range) => {
      return { ...range, from_block: 1_000, to_block: 2_000, from_first: false };
    });
    const miss = await asked({ history: { coverage } }, user);
    if (miss instanceof Refusal) throw new Error('refused');
    expect(miss.reason).toContain('Its activity was not checked: partial_history');
    const { activity } = await dataOf({ transfers: TRANSFERS, history: { coverage } });
    expect(activity).toMatchObject({ checked: false, truncated: null });
    expect(activity.inferred_deposit_addresses).toBeNull();
    expect(activity.exchanges).toMatchObject([{ transfers_in: 1, transfers_out: 2 }]);
    const labelled = await dataOf({ history: { coverage } }, hot);
    expect(labelled.activity).toMatchObject({ exchanges: null, checked: false });
  });

  test('of links where the clusters were not read, and shows the label all the same', async () => {
    const data = await dataOf({ silent: 'clusters' }, hot);
    expect(data).toMatchObject({ linked: null, direct: { entity: 'Exemplar' } });
    expect(data.linked_reason).not.toBeNull();
  });

  test('of every absence while simulating; what was seen is shown', async () => {
    const { activity } = await dataOf({ transfers: TRANSFERS, history: { simulated: true } });
    expect(activity).toMatchObject({ checked: false, inferred_deposit_addresses: null });
    expect(activity.exchanges).toMatchObject([{ transfers_out: 2 }]);
  });

  test('of activity of a kind of address whose chain is not read', async () => {
    const tron = addressNamed('tron', 'nobody');
    const answer = await asked({}, tron);
    expect(answer).toMatchObject({ state: 'insufficient_evidence', subject: tron });
  });
});

test.each([
  ['clusters', { entityClusters: { ...portsOf({}).entityClusters, clusterOf: throwBug } }],
  ['histories', { transferHistory: { ...portsOf({}).transferHistory, neighbourhoods: throwBug } }],
])('a bug of the port of %s is thrown, and makes no attribution', async (_, over) => {
  const handler = walletCexHandler({ ...portsOf({}), ...over }) as Call;
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const input = { params: { address: hot }, query: {}, body: undefined };
  await expect(handler(input, asked)).rejects.toThrow('test: a bug');
});

describe('refuses', () => {
  test('a text that is no address', async () => {
    const answer = await asked({}, 'not-an-address');
    expect(answer instanceof Refusal && answer.status).toBe(400);
  });
});
