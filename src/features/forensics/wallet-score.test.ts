import { describe, expect, test } from 'vitest';
import { Answer, type Envelope } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { type Caller, envelopeSchema, NOBODY, type RequestContext } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { forensicPorts, type PlantedFacts } from '../../testing/forensic-ports.ts';
import { type MemoryFact, mixerRow } from '../../testing/twins/accounts.ts';
import { memoryDeployerRecords } from '../../testing/twins/deployers.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { silentPorts } from '../../testing/twins/ports.ts';
import { flaggedRow } from '../../testing/twins/rug-flags.ts';
import { listedEntry } from '../../testing/walked-world.ts';
import type { ForensicPorts } from './evidence.ts';
import { walletScore, walletScoreHandler } from './wallet-score.route.ts';

const SUBJECT = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const SUBJECT_EIP55 = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const FUNDER = evm('funder');
const POOL = evm('pool');
const CHAIN_SOURCE = { source: 'Chain state in memory', as_of: STILL_NOW - 60 };
const HISTORY_SOURCE = { source: 'Transfers in memory', as_of: STILL_NOW - 60 };
const ALL_KINDS = [
  ...['listed_itself', 'listed_counterparty', 'way_to_listed', 'funded_by_listed'],
  ...['dust_from_listed', 'listed_in_facts', 'flagged_itself', 'flagged_counterparty'],
  'funded_by_flagged',
  ...['created_flagged_contract', 'flagged_in_facts', 'poisoning_received', 'mixer_contact'],
  ...['bridge_contact', 'exchange_deposit', 'exchange_withdrawal', 'labelled_in_facts'],
  ...['proxy_authority', 'delegated_account', 'issuer_freeze', 'open_approval_to_listed'],
  'open_approval_to_flagged',
];
/** The kinds whose question is none of the address's transfers. */
const NOT_OF_HISTORY = /itself$|created|authority|delegated|in_facts$|issuer|approval/;

/** A handler as it is called here; a method, so that the route's own input type fits. */
type Handle = {
  call(
    input: { params: { address: string }; query: object; body: undefined },
    asked: RequestContext,
    caller: Caller,
  ): Promise<unknown>;
}['call'];
type Ports = Parameters<typeof walletScoreHandler>[0];
type Data = {
  readonly label: unknown;
  readonly facts: { readonly [fact: string]: unknown };
  readonly facts_provenance: { readonly [fact: string]: { readonly [field: string]: unknown } };
  readonly findings: readonly { readonly id: string; readonly kind: string }[];
  readonly findings_coverage: readonly {
    readonly kind: string;
    readonly checked: boolean;
    readonly reason: string | null;
    readonly from: number | null;
  }[];
  readonly [field: string]: unknown;
};

async function answered(address: string, ports: Ports): Promise<Envelope | Refusal> {
  const handler: Handle = walletScoreHandler(ports);
  const input = { params: { address }, query: {}, body: undefined };
  const { signal } = new AbortController();
  const answer = await handler(input, { now: stillClock(), signal }, NOBODY);
  if (answer instanceof Refusal) return answer;
  if (!(answer instanceof Answer)) throw new Error('no answer');
  const envelope = answer.envelope(STILL_NOW);
  expect(envelopeSchema(walletScore).safeParse(envelope).error).toBeUndefined();
  return envelope;
}

async function scoredEnvelope(
  planted: PlantedFacts,
  address = SUBJECT,
  over: Partial<Ports> = {},
): Promise<Envelope> {
  const envelope = await answered(address, { ...forensicPorts(planted), ...over });
  if (envelope instanceof Refusal) throw new Error('refused');
  return envelope;
}

async function scoredData(
  planted: PlantedFacts,
  address = SUBJECT,
  over: Partial<Ports> = {},
): Promise<Data> {
  const { data } = await scoredEnvelope(planted, address, over);
  if (data === null) throw new Error('no data');
  return data as Data;
}

const TOKEN: MemoryFact = {
  chain: 'ethereum',
  address: SUBJECT,
  nonce: 1,
  balance_wei: 7n,
  is_token: true,
  code: { size: 700, delegates_to: null, minimal_proxy_of: null },
  verified_name: 'UsefulToken',
  creation: { creator: FUNDER, relay: null, factory: null, tx: `0x${'e'.repeat(64)}`, block: 5 },
};
const TRANSFERS = [memoryTransfer(1, FUNDER, SUBJECT), memoryTransfer(2, SUBJECT, POOL)];
const GENESIS_AT = '2026-01-01T00:00:01.000Z';

const SENT_TO_POOL = {
  evidence: 'transfer',
  chain: 'ethereum',
  block: 2,
  from: SUBJECT,
  to: POOL,
  tx: TRANSFERS[1]?.tx,
  at: '2026-01-01T00:00:02.000Z',
  direction: 'out',
  token: null,
  symbol: 'ETH',
  raw_amount: `1${'0'.repeat(18)}`,
  amount: '1',
  usd: null,
  initiator: SUBJECT,
  initiated_by_subject: true,
};

describe('says', () => {
  test('every fact with whence it is, and every finding with what carries it', async () => {
    const planted = { facts: [TOKEN], transfers: TRANSFERS, mixers: [mixerRow(POOL)] };
    const envelope = await scoredEnvelope(planted, SUBJECT_EIP55);
    expect(envelope).toMatchObject({ state: 'ok', subject: SUBJECT, as_of: STILL_NOW - 60 });
    const data = envelope.data as Data;
    expect(data).toMatchObject({
      address: SUBJECT,
      checksum: SUBJECT_EIP55,
      label: null,
      label_checked: true,
      facts: {
        chain: 'ethereum',
        kind: 'token',
        first_seen: GENESIS_AT,
        last_seen: '2026-01-01T00:00:02.000Z',
        transactions: 2,
        nonce: 1,
        balance_wei: '7',
        code_size: 700,
        creator: FUNDER,
        creation_tx: `0x${'e'.repeat(64)}`,
        verified_name: 'UsefulToken',
        funded_by: { address: FUNDER, chain: 'ethereum', at: GENESIS_AT },
        delegates_to: null,
        authority: { implementation: null, admin: null, beacon: null, owner: null },
      },
      facts_elsewhere: null,
      entity: null,
      entity_checked: true,
      findings_checked: true,
      findings_found: true,
    });
    for (const [name, whence] of Object.entries(data.facts_provenance)) {
      const ofHistory = ['first_seen', 'last_seen', 'transactions', 'funded_by'].includes(name);
      const source = ofHistory ? HISTORY_SOURCE : CHAIN_SOURCE;
      expect([name, whence]).toEqual([name, { measured: true, reason: null, ...source }]);
    }
    expect(data.findings).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        kind: 'mixer_contact',
        title: 'Mixer contact',
        statement:
          `1 transfer (1 sent) with Tornado Cash 1 ETH (Tornado Cash) on ethereum, ${POOL}; ` +
          'the address itself signed at least one of them.',
        evidence: [SENT_TO_POOL],
        evidence_count: 1,
        initiated_by_subject: true,
        source: 'tests',
        as_of: STILL_NOW - 60,
      },
    ]);
  });

  test('that nothing was found, only where every kind ran, each with its blocks', async () => {
    const data = await scoredData({ transfers: TRANSFERS });
    expect(data).toMatchObject({ findings: [], findings_checked: true, findings_found: false });
    expect(data.facts).toMatchObject({ kind: 'eoa', nonce: 0, balance_wei: '0', code_size: 0 });
    expect(data.findings_coverage.map(({ kind }) => kind)).toEqual(ALL_KINDS);
    for (const { kind, checked, reason, from } of data.findings_coverage) {
      expect([kind, checked, reason]).toEqual([kind, true, null]);
      const first = kind === 'issuer_freeze' ? 900 : 0;
      const hasBlocks = !NOT_OF_HISTORY.test(kind) || /issuer|approval/.test(kind);
      expect([kind, from]).toEqual([kind, hasBlocks ? first : null]);
    }
  });

  test('the same id for the same finding, whenever it is read', async () => {
    const planted = { flagged: [flaggedRow(SUBJECT)] };
    const [one] = (await scoredData(planted)).findings;
    const later = { ...forensicPorts({ ...planted, listed: [listedEntry(evm('x'))] }) };
    const [two] = (await scoredData(planted, SUBJECT, later)).findings;
    expect(one?.id).toBe(two?.id);
    const [other] = (await scoredData({ flagged: [flaggedRow(SUBJECT, { tag: 'Else' })] }))
      .findings;
    expect(other?.id).not.toBe(one?.id);
  });

  test.each([
    [6n, '6 units of them'],
    [2n ** 128n - 1n, `${2n ** 128n - 1n} units of them`],
    [2n ** 128n, 'all of them'],
    [2n ** 256n - 1n, 'all of them'],
    [null, 'every item of them'],
  ])('an approval by what is left of it: %s', async (left, words) => {
    const [token, spender] = [evm('approved token'), evm('approved spender')];
    const event = { chain: 'ethereum', way: 'allowance', token, spender } as const;
    const given = { ...event, raw_amount: 7n, tx: `0x${'a'.repeat(64)}`, block: 3 };
    const { findings } = await scoredData({
      approvals: [{ ...given, owner: SUBJECT, left }],
      flagged: [flaggedRow(spender)],
    });
    expect(findings.map(({ kind }) => kind)).toEqual(['open_approval_to_flagged']);
    expect(JSON.stringify(findings)).toContain(` ${words} may still be taken.`);
  });

  test('no number that ranks: no field is a score, a risk or a rating', async () => {
    const text = JSON.stringify(
      await scoredData({ facts: [TOKEN], flagged: [flaggedRow(SUBJECT)] }),
    );
    expect(text).not.toMatch(/"(score|risk|rating|severity|weight)[^"]*":/);
  });

  test('what applies of an address of another kind, and leaves out what does not', async () => {
    const data = await scoredData(
      {
        listed: [{ ...listedEntry('x'), address: addressNamed('solana', 'one') }],
        history: { chains: ['ethereum', 'solana'] },
      },
      addressNamed('solana', 'one'),
    );
    const kinds = data.findings_coverage.map(({ kind }) => kind);
    expect(kinds).toContain('listed_counterparty');
    for (const kind of ['mixer_contact', 'bridge_contact', 'proxy_authority']) {
      expect(kinds).not.toContain(kind);
    }
    expect(data.findings.map(({ kind }) => kind)).toEqual(['listed_itself']);
    expect(data.facts).toMatchObject({ chain: null, kind: null, nonce: null });
    expect(data['findings_checked']).toBe(false);
  });
});

describe('is silent', () => {
  test('an import of blocks N to N+1000 gives no negative, and shows what it saw', async () => {
    const coverage = (['native', 'token', 'internal'] as const).map((kind) => ({
      address: null,
      chain: 'ethereum' as const,
      kind,
      from_block: 19_000_000,
      to_block: 19_001_000,
      to_time: STILL_NOW - 60,
      from_first: false,
    }));
    const transfers = [memoryTransfer(19_000_500, SUBJECT, POOL)];
    const planted = { transfers, history: { coverage }, mixers: [mixerRow(POOL)] };
    const data = await scoredData(planted);
    expect(data.findings.map(({ kind }) => kind)).toEqual(['mixer_contact']);
    expect(data).toMatchObject({ findings_checked: false, findings_found: true });
    for (const { kind, checked, reason } of data.findings_coverage) {
      if (!NOT_OF_HISTORY.test(kind)) {
        expect([kind, checked]).toEqual([kind, false]);
        expect(reason).toContain('partial_history');
      }
    }
    expect(data.facts).toMatchObject({
      first_seen: null,
      last_seen: null,
      transactions: null,
      funded_by: null,
    });
    const empty = await scoredData({ history: { coverage } });
    expect(empty).toMatchObject({ findings: [], findings_checked: false, findings_found: null });
    expect(empty['caveat']).toContain('what is not listed was not looked for to the end');
  });

  test.each([
    ['sanctionsList', ['listed_itself', 'listed_counterparty', 'way_to_listed']],
    ['flaggedAddresses', ['flagged_itself', 'flagged_counterparty', 'created_flagged_contract']],
    ['exchangeLabels', ['exchange_deposit', 'exchange_withdrawal']],
    ['mixerRegistry', ['mixer_contact']],
    ['bridgeRegistry', ['bridge_contact']],
    ['transferHistory', ['poisoning_received', 'mixer_contact', 'way_to_listed']],
    ['issuerFreezes', ['issuer_freeze']],
    ['tokenApprovals', ['open_approval_to_listed', 'open_approval_to_flagged']],
    ['chainFacts', ['proxy_authority', 'delegated_account', 'listed_in_facts']],
  ] as const)('while %s is silent, its kinds did not run and say why', async (port, kinds) => {
    const silent = silentPorts(why('timed_out', { what: 'A port', limit: '1 s' }));
    const planted = { transfers: TRANSFERS, facts: [TOKEN] };
    const data = await scoredData(planted, SUBJECT, { [port]: silent[port] });
    expect(data).toMatchObject({ findings_checked: false, findings_found: null });
    for (const kind of kinds) {
      const coverage = data.findings_coverage.find((one) => one.kind === kind);
      expect(coverage).toMatchObject({ checked: false, reason: expect.stringContaining('A port') });
    }
  });

  test('on made-up data it shows what it found, labelled, and checks nothing', async () => {
    const planted = { transfers: TRANSFERS, mixers: [mixerRow(POOL)], facts: [TOKEN] };
    const envelope = await scoredEnvelope({ ...planted, simulated: true });
    const data = envelope.data as Data;
    expect(data).toMatchObject({ findings_checked: false, findings_found: true });
    expect(data.facts).toMatchObject({ kind: 'token', nonce: 1, first_seen: GENESIS_AT });
    expect(data.facts_provenance['nonce']).toMatchObject({ measured: false });
    expect(data['caveat']).toMatch(/^Simulated: /);
    const bare = await scoredData({ simulated: true });
    expect(bare.facts).toMatchObject({ nonce: null, balance_wei: null, code_size: null });
  });

  test('where no facts, no label and no engine answer exist, that is insufficient evidence', async () => {
    const nothing = silentPorts(why('no_history'));
    const { transferHistory, chainFacts, entityClusters } = nothing;
    const over = { transferHistory, chainFacts, entityClusters };
    const envelope = await scoredEnvelope({}, SUBJECT, over);
    expect(envelope).toMatchObject({ state: 'insufficient_evidence', data: null });
    expect(envelope.reason).toContain('No chain facts, no label and no engine answer');
    expect(envelope.sources.length).toBeGreaterThan(0);
  });

  test('where a store failed instead, nothing was deployed to answer', async () => {
    const failed = silentPorts(why('store_unreadable', { what: 'It', fault: 'gone' }));
    const { transferHistory, chainFacts } = failed;
    const envelope = await scoredEnvelope({}, SUBJECT, { transferHistory, chainFacts });
    expect(envelope).toMatchObject({
      state: 'not_deployed',
      reason: 'It could not be read: gone.',
    });
    expect(await scoredEnvelope({}, SUBJECT, failed)).toMatchObject({
      state: 'not_deployed',
      sources: [],
    });
  });

  test('a hub of a million transfers is answered from the rows that one reading takes', async () => {
    const transfers = Array.from({ length: 6_000 }, (_, n) =>
      memoryTransfer(n, evm(`${n % 50}`), SUBJECT),
    );
    const data = await scoredData({ transfers, mixers: [mixerRow(evm('0'))] });
    expect(data.findings.map(({ kind }) => kind)).toEqual(['mixer_contact']);
    expect(data).toMatchObject({ findings_checked: false, facts: { transactions: null } });
    const reasons = data.findings_coverage.map(({ reason }) => String(reason));
    expect(reasons.some((reason) => reason.startsWith('row_cap'))).toBe(true);
  });
});

describe('refuses', () => {
  test.each([
    ['0x123', 'form not recognised'],
    ['fWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8aaaaaaaa', 'address'],
  ])('%s, which is no address', async (text, said) => {
    const refusal = await answered(text, forensicPorts({}));
    expect(refusal).toBeInstanceOf(Refusal);
    if (refusal instanceof Refusal) expect(JSON.stringify(refusal.body)).toContain(said);
  });
});

describe('flows', () => {
  const SUBJECT = evm('subject');
  const [SHOP, FRIEND, TOKEN] = [evm('shop'), evm('friend'), evm('token')];
  const USDX: Partial<HistoryTransfer> = {
    kind: 'token',
    token: TOKEN,
    symbol: 'USDX',
    decimals: 6,
  };

  async function sectionsOf(planted: PlantedFacts, over: Partial<ForensicPorts> = {}) {
    const handler = walletScoreHandler({ ...forensicPorts(planted), ...over });
    const input = { params: { address: SUBJECT }, query: {}, body: undefined };
    const asked = { now: stillClock(), signal: new AbortController().signal };
    const answer = await handler(input, asked, NOBODY);
    if (!(answer instanceof Answer)) throw new Error('no answer');
    return answer.envelope(STILL_NOW).data as { flows: unknown; created: unknown };
  }

  const NONE = { transfers: 0, usd: null, unpriced: 0 };
  const ASSETS = [
    {
      chain: 'ethereum',
      token: TOKEN,
      symbol: 'USDX',
      decimals: 6,
      transfers: 3,
      sent: {
        transfers: 2,
        usd: '1.500001',
        unpriced: 1,
        raw_amount: String(10n ** 40n + 1_500_001n),
        amount: `1${'0'.repeat(33)}1.500001`,
      },
      received: {
        transfers: 1,
        usd: '0.000001',
        unpriced: 0,
        raw_amount: '1',
        amount: '0.000001',
      },
    },
    {
      chain: 'ethereum',
      token: null,
      symbol: 'ETH',
      decimals: 18,
      transfers: 1,
      sent: { ...NONE, raw_amount: '0', amount: '0' },
      received: {
        transfers: 1,
        usd: null,
        unpriced: 1,
        raw_amount: '3',
        amount: '0.000000000000000003',
      },
    },
  ];

  function counterpartiesOf(transfers: readonly HistoryTransfer[]) {
    return [
      {
        address: SHOP,
        label: null,
        chains: ['ethereum'],
        transfers: 3,
        sent: { transfers: 2, usd: '1.500001', unpriced: 1 },
        received: { transfers: 1, usd: '0.000001', unpriced: 0 },
        first_at: '2026-01-01T00:00:02.000Z',
        last_at: '2026-01-01T00:00:04.000Z',
        last_tx: transfers[3]?.tx,
        initiated_by_subject: true,
      },
      {
        address: FRIEND,
        label: null,
        chains: ['ethereum'],
        transfers: 1,
        sent: NONE,
        received: { transfers: 1, usd: null, unpriced: 1 },
        first_at: '2026-01-01T00:00:01.000Z',
        last_at: '2026-01-01T00:00:01.000Z',
        last_tx: transfers[0]?.tx,
        initiated_by_subject: false,
      },
    ];
  }

  describe('what it sent and received', () => {
    test('is summed exactly by counterparty and by asset, the unpriced counted beside', async () => {
      const transfers = [
        memoryTransfer(1, FRIEND, SUBJECT, { raw_amount: 3n, usd: null }),
        memoryTransfer(2, SUBJECT, SHOP, { ...USDX, raw_amount: 1_500_001n, usd: '1.500001' }),
        memoryTransfer(3, SUBJECT, SHOP, { ...USDX, raw_amount: 10n ** 40n, usd: null }),
        memoryTransfer(4, SHOP, SUBJECT, { ...USDX, raw_amount: 1n, usd: '0.000001' }),
      ];
      const { flows } = await sectionsOf({ transfers });
      expect(flows).toEqual({
        checked: true,
        reason: null,
        transfers: 4,
        counterparties_count: 2,
        counterparties: counterpartiesOf(transfers),
        assets_count: 2,
        assets: ASSETS,
      });
    });

    test('leaves poisoning out, and lists ten of more', async () => {
      const poison = { raw_amount: 0n, initiator: evm('poisoner') };
      const paid = Array.from({ length: 12 }, (_, n) =>
        memoryTransfer(n, SUBJECT, evm(`shop ${n}`)),
      );
      const transfers = [...paid, memoryTransfer(20, FRIEND, SUBJECT, poison)];
      const { flows } = await sectionsOf({ transfers });
      expect(flows).toMatchObject({ transfers: 12, counterparties_count: 12 });
      expect((flows as { counterparties: unknown[] }).counterparties).toHaveLength(10);
    });

    test('says nothing of a history that was not read, and why', async () => {
      const silent = silentPorts(why('timed_out', { what: 'History', limit: '1 s' }));
      const { flows } = await sectionsOf({}, { transferHistory: silent.transferHistory });
      expect(flows).toMatchObject({ checked: false, transfers: null, counterparties: null });
      expect((flows as { reason: string }).reason).toContain('History');
    });
  });

  describe('what it made', () => {
    const walk = walkOf(SUBJECT, {
      launches: [launchOf('lives', 'live'), launchOf('dead', 'died'), launchOf('new', 'unchecked')],
      skipped: [{ address: evm('router'), reason: 'not_an_erc20' }],
      truncated: true,
    });

    test('is told by the committed record, those that died first, and of a cut walk as a part', async () => {
      const held = { records: [{ ...walk, failed: null }], simulated: false, as_of: STILL_NOW };
      const deployerRecords = memoryDeployerRecords(held);
      const { created } = await sectionsOf({}, { deployerRecords });
      expect(created).toMatchObject({
        checked: false,
        reason:
          'The launches of this address were walked in part: not all of its contracts were read; ' +
          '1 of its launches could not be checked.',
        contracts: 4,
        died: 1,
        survived: 1,
        // What was not checked may be one of these.
        never_listed: null,
        unchecked: 1,
        truncated: true,
        launches: [{ address: evm('dead'), outcome: 'died' }, {}, {}],
      });
    });

    test('is not told of an address that nobody walked', async () => {
      const silent = silentPorts(why('deployer_not_walked', { queued: '' }));
      const { created } = await sectionsOf({}, { deployerRecords: silent.deployerRecords });
      expect(created).toMatchObject({
        checked: false,
        contracts: null,
        died: null,
        launches: null,
      });
      expect((created as { reason: string }).reason).toContain('never walked');
    });
  });
});
