import { describe, expect, test } from 'vitest';
import { formatIsoTime } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { noFacts } from '../../ports/accounts.ts';
import { TIE_RULE, type Tie } from '../../ports/entities.ts';
import { UNPRICED } from '../../ports/history.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { clustersIn, embeddedControl } from '../../testing/control-store.ts';
import {
  ACTED,
  askWalletEntity,
  CREATED,
  DEPOSIT,
  DEPOSITS,
  dataOfEntity,
  FUNDED,
  FUNDER,
  HOT,
  LABEL,
  LOCKSTEP,
  OTHER,
  type Ports,
  SUBJECT,
  THIRD,
  t,
  world,
} from '../../testing/entity-world.ts';
import { fullCoverage } from '../../testing/twins/history.ts';
import { linkCalibration } from './calibration.ts';
import { walletEntity } from './wallet-entity.route.ts';

const WEIGHT = linkCalibration('hot_wallet').weight;

describe('GET /api/wallet/{address}/entity says', () => {
  test('the whole answer of two users of one deposit address, transaction by transaction', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    const id = await dataOfEntity(SUBJECT, ports);
    const evidence = id.cluster_id.slice('ethereum:'.length);
    const link = { evidence, heuristic: 'deposit_reuse', weight: WEIGHT, basis: 'assumed' };
    expect(id).toEqual({
      address: SUBJECT,
      chain: 'ethereum',
      cluster_id: expect.stringMatching(/^ethereum:[0-9a-f]{24}$/),
      confidence: WEIGHT,
      confidence_basis: 'assumed',
      tied_as: 'controlled',
      evidence: [
        {
          id: evidence,
          heuristic: 'deposit_reuse',
          addresses: [SUBJECT, OTHER, DEPOSIT].sort(),
          through: DEPOSIT,
          transactions: [t(10, SUBJECT, DEPOSIT).tx, t(20, OTHER, DEPOSIT).tx],
          at: '2026-01-01T00:00:10.000Z',
          form: 'hot_wallet',
          weight: WEIGHT,
          basis: 'assumed',
          rule: TIE_RULE,
          judged_at: formatIsoTime(STILL_NOW),
          histories_whole: true,
          statement: `2 addresses paid into ${DEPOSIT}, an inferred deposit address of Exemplar.`,
        },
      ],
      evidence_total: 1,
      against: [],
      members: [DEPOSIT, OTHER].sort().map((address) => ({
        address,
        links: 1,
        tied_as: address === DEPOSIT ? 'deposit_address' : 'controlled',
        path: [{ from: SUBJECT, to: address, ...link }],
        weakest: link,
      })),
      labels: [],
      related_wallets: [SUBJECT, ...[OTHER, DEPOSIT].sort()],
      related_wallets_total: 3,
      checked: true,
      reason: null,
      coverage: ['deposit_reuse', 'shared_funder', 'lockstep', 'same_deployer'].map(
        (heuristic) => ({ heuristic, checked: true, reason: null }),
      ),
      edges_left_out: { zero_value: 0, no_market_token: 0 },
      merge_history: [],
      explain: null,
      simulated: false,
      as_of: STILL_NOW - 120,
      caveat: expect.stringContaining('not a proof of ownership'),
    });
  });

  test('the shape of no data for an address that nothing ties, and that it was looked at', async () => {
    const { ports } = world({ transfers: [t(5, SUBJECT, THIRD)] });
    expect(await dataOfEntity(SUBJECT, ports)).toMatchObject({
      cluster_id: `ethereum:${SUBJECT}`,
      confidence: 1,
      confidence_basis: null,
      tied_as: null,
      evidence: [],
      related_wallets: [SUBJECT],
      checked: true,
      reason: null,
      caveat: expect.stringContaining('not a confident answer'),
    });
  });

  test('what each heuristic finds, and the confidence of them together', async () => {
    const transfers = [...FUNDED, ...LOCKSTEP];
    const { ports } = world({ transfers, creations: CREATED });
    const found = await dataOfEntity(SUBJECT, ports);
    expect(found.evidence.map(({ heuristic }) => heuristic).sort()).toEqual([
      ...['lockstep', 'same_deployer', 'shared_funder'],
    ]);
    const doubt = (['same_moments', 'signed', 'first_coins'] as const)
      .map((form) => 1 - linkCalibration(form).weight)
      .reduce((a, b) => a * b);
    expect(found.confidence).toBe(Number((1 - doubt).toFixed(4)));
    expect(found.related_wallets).toEqual(expect.arrayContaining([OTHER, evm('contract b')]));
    expect(found.related_wallets).not.toContain(FUNDER);
    expect(found.related_wallets).not.toContain(evm('factory'));
  });

  test('the shortest chain of evidence to another member, and that a stranger is none', async () => {
    const { ports } = world({ transfers: DEPOSITS, creations: CREATED });
    const contract = evm('contract b');
    await dataOfEntity(SUBJECT, ports);
    expect((await dataOfEntity(OTHER, ports, { explain: contract })).explain).toMatchObject({
      to: contract,
      linked: true,
      chain: [
        { from: OTHER, to: SUBJECT, evidence: { heuristic: 'deposit_reuse' } },
        { from: SUBJECT, to: contract, evidence: { heuristic: 'same_deployer' } },
      ],
    });
    expect((await dataOfEntity(SUBJECT, ports, { explain: THIRD })).explain).toEqual({
      to: THIRD,
      linked: false,
      chain: [],
    });
  });

  test('the members of members, whichever of them was asked about first', async () => {
    const { ports } = world({ transfers: [...DEPOSITS, ...FUNDED], creations: CREATED });
    const before = await dataOfEntity(OTHER, ports);
    expect(before.related_wallets).toContain(evm('contract a'));
    await dataOfEntity(SUBJECT, ports);
    const after = await dataOfEntity(OTHER, ports);
    expect(after.related_wallets).toEqual(before.related_wallets);
    expect(after.cluster_id).toBe(before.cluster_id);
  });

  test('which id gave way when an older link was found later', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    const before = await dataOfEntity(SUBJECT, ports);
    const older = CREATED.map((one) => ({ ...one, at: 1_000 }));
    const later = {
      ...world({ transfers: DEPOSITS, creations: older }).ports,
      entityTies: ports.entityTies,
    };
    const after = await dataOfEntity(SUBJECT, later);
    expect(after.cluster_id).not.toBe(before.cluster_id);
    expect(after.merge_history).toEqual([
      {
        former_id: before.cluster_id,
        cluster_id: after.cluster_id,
        at: formatIsoTime(STILL_NOW),
        by: null,
      },
    ]);
  });

  test('the same ids whatever the order in which addresses are asked about', async () => {
    const setting = { transfers: [...DEPOSITS, ...FUNDED, ...LOCKSTEP], creations: CREATED };
    const askedBy = async (...order: string[]) => {
      const { ports } = world(setting);
      for (const address of order) await dataOfEntity(address, ports);
      return dataOfEntity(SUBJECT, ports);
    };
    expect(await askedBy(DEPOSIT, OTHER, SUBJECT)).toEqual(await askedBy(SUBJECT, OTHER, DEPOSIT));
  });

  test('no link through an exchange, a labelled funder, or a hub', async () => {
    const paidByHot = [t(1, HOT, SUBJECT), t(2, HOT, OTHER), t(3, SUBJECT, HOT), t(4, OTHER, HOT)];
    expect((await dataOfEntity(SUBJECT, world({ transfers: paidByHot }).ports)).evidence).toEqual(
      [],
    );
    const crowd = Array.from({ length: 1_100 }, (_, n) => t(9 + n, FUNDER, evm(`customer ${n}`)));
    const fromHub = world({ transfers: [...FUNDED, ...crowd] });
    expect((await dataOfEntity(SUBJECT, fromHub.ports)).evidence).toEqual([]);
  });

  test('no link of addresses that were paid first by one who never began them', async () => {
    const shops = [evm('shop a'), evm('shop b')];
    const paid = shops.map((shop, n) => t(5 + n, SUBJECT, shop));
    const { ports } = world({ transfers: paid });
    for (const shop of shops) expect((await dataOfEntity(shop, ports)).evidence).toEqual([]);
    const swept = shops.map((shop, n) => t(50 + n, shop, THIRD));
    const acting = world({ transfers: [...paid, ...swept] });
    expect((await dataOfEntity(String(shops[0]), acting.ports)).evidence).toHaveLength(1);
  });

  test('nothing of an exchange wallet or a hub itself, and why', async () => {
    const hot = await dataOfEntity(HOT, world({ transfers: DEPOSITS }).ports);
    expect(hot).toMatchObject({ evidence: [], related_wallets: [HOT], checked: false });
    expect(hot.labels).toMatchObject([{ address: HOT, role: 'hot', entity: 'Exemplar' }]);
    expect(hot.reason).toBe(why('entity_service').reason);
    const crowd = Array.from({ length: 1_100 }, (_, n) => t(n, SUBJECT, evm(`customer ${n}`)));
    const hub = await dataOfEntity(SUBJECT, world({ transfers: [...DEPOSITS, ...crowd] }).ports);
    expect(hub).toMatchObject({ evidence: [], checked: false });
  });

  test('that it was looked at to its end where an address met on the way is a hub', async () => {
    const crowd = Array.from({ length: 1_100 }, (_, n) => t(100 + n, OTHER, evm(`customer ${n}`)));
    const { ports } = world({ transfers: [...DEPOSITS, ...crowd] });
    const found = await dataOfEntity(SUBJECT, ports);
    expect(found).toMatchObject({ checked: true, reason: null });
  });

  test('no link by poisoning or spam, and how many such transfers there were', async () => {
    const poison = t(30, SUBJECT, evm('lookalike'), {
      raw_amount: 0n,
      initiator: evm('poisoner'),
      kind: 'token',
      token: evm('token'),
    });
    const spam = t(31, evm('lookalike'), SUBJECT, {
      kind: 'token',
      token: evm('spam'),
      has_market: false,
      initiator: evm('poisoner'),
    });
    const { ports } = world({ transfers: [poison, spam] });
    expect(await dataOfEntity(SUBJECT, ports)).toMatchObject({
      evidence: [],
      edges_left_out: { zero_value: 1, no_market_token: 1 },
    });
  });

  test('a link taken back when a label names the deposit address as an exchange wallet', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    expect((await dataOfEntity(SUBJECT, ports)).evidence).toHaveLength(1);
    const hot = { ...LABEL, address: DEPOSIT };
    const labelled = { ...world({ labels: [LABEL, hot] }).ports, entityTies: ports.entityTies };
    expect((await dataOfEntity(OTHER, labelled)).evidence).toEqual([]);
  });

  test('no merge after a label is withdrawn: who was once a service stays one', async () => {
    const paidByHot = [t(1, HOT, SUBJECT), t(2, HOT, OTHER), ...ACTED];
    const { ports } = world({ transfers: paidByHot });
    expect((await dataOfEntity(SUBJECT, ports)).evidence).toEqual([]);
    const unlabelled = {
      ...world({ transfers: paidByHot, labels: [] }).ports,
      entityTies: ports.entityTies,
    };
    expect((await dataOfEntity(SUBJECT, unlabelled)).evidence).toEqual([]);
    expect((await dataOfEntity(OTHER, unlabelled)).evidence).toEqual([]);
  });

  test('no member, label or evidence of another chain', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    await dataOfEntity(SUBJECT, ports);
    const base = await dataOfEntity(SUBJECT, ports, { chain: 'base' });
    expect(base).toMatchObject({ chain: 'base', evidence: [], checked: false });
  });

  test('of a Bitcoin address what blocks tie, read to the end only from the first to a fresh tip', async () => {
    const { ports } = world();
    const [a, b] = [addressNamed('bitcoin', 'a'), addressNamed('bitcoin', 'b')];
    const ties: Tie[] = [a, b].map((address) => ({
      chain: 'bitcoin',
      heuristic: 'multi_input',
      form: 'spent_together',
      whole: true,
      key: 'spent',
      address,
      tx: 'spent',
      block: 500,
      at: 1_790_000_000,
      rests_on: null,
    }));
    const blocks = (from_block: number, to_block: number, to_time: number, change: boolean) =>
      ports.entityTies.keepBlocks({
        ties,
        objections: [],
        joined: [],
        paid: new Map(),
        ranges: [{ from_block, to_block, to_time, change, signatures: true }],
      });
    await blocks(500, 1_500, STILL_NOW - 600, false);
    expect(await dataOfEntity(a, ports)).toMatchObject({
      chain: 'bitcoin',
      checked: false,
      evidence: [{ heuristic: 'multi_input', addresses: [a, b].sort() }],
      reason: expect.stringContaining('held from block 500, not from the first'),
    });
    expect(await dataOfEntity(addressNamed('bitcoin', 'stranger'), ports)).toMatchObject({
      checked: false,
    });
    await blocks(0, 499, STILL_NOW - 6_000, false);
    expect(await dataOfEntity(addressNamed('bitcoin', 'stranger'), ports)).toMatchObject({
      checked: false,
      coverage: [
        { heuristic: 'multi_input', checked: true },
        { heuristic: 'change', checked: false },
      ],
    });
    const { ports: whole } = world();
    const reach = { from_block: 0, to_block: 9, to_time: STILL_NOW - 600 };
    const ranges = [{ ...reach, change: true, signatures: true }];
    await whole.entityTies.keepBlocks({
      ties,
      objections: [],
      joined: [],
      paid: new Map(),
      ranges,
    });
    expect(await dataOfEntity(addressNamed('bitcoin', 'stranger'), whole)).toMatchObject({
      checked: true,
    });
  });
});

describe('GET /api/wallet/{address}/entity refuses', () => {
  test.each([
    ['an address of no known form', 'hello', {}],
    ['a Tron address, whose chain is not served', addressNamed('tron', 'one'), {}],
    ['a Solana address on an EVM chain', addressNamed('solana', 'one'), { chain: 'base' as const }],
    ['an EVM address on Bitcoin', SUBJECT, { chain: 'bitcoin' as const }],
    [
      'an explanation of an address of another form',
      SUBJECT,
      { explain: addressNamed('solana', 'one') },
    ],
  ])('%s', async (_name, address, query) => {
    const refusal = await askWalletEntity(address, world().ports, query);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ status: 400 });
  });

  test('a chain that is none of the seven', () => {
    for (const chain of ['polygon', 'tron', '']) {
      expect(walletEntity.query.safeParse({ chain }).success).toBe(false);
    }
  });
});

describe('GET /api/wallet/{address}/entity is silent', () => {
  const silence = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
  const silenced = embeddedControl()();
  silenced.silence('a planted silence');
  const silentPorts: { readonly [P in keyof Ports]: Ports[P] } = {
    entityTies: clustersIn(silenced),
    exchangeLabels: { lookUp: async () => unread('exchange_labels', silence) },
    transferHistory: {
      worths: UNPRICED,
      chainsRead: async () => unread('transfer_history', silence),
      neighbourhoods: async (all) =>
        new Map(all.map((one) => [one, unread('transfer_history' as const, silence)])),
    },
    contractCreations: { around: async () => unread('contract_creations', silence) },
    chainFacts: {
      stateChains: [],
      of: async () => noFacts(silence),
      setBy: async () => unread('chain_facts', silence),
    },
  };
  const names = ['entityTies', 'exchangeLabels', 'transferHistory', 'contractCreations'] as const;
  const subsets = Array.from({ length: 15 }, (_, n) =>
    names.filter((_name, i) => Math.floor((n + 1) / 2 ** i) % 2 === 1),
  );

  test.each(subsets)('and checked nothing to its end without %s %s %s %s', async (...silent) => {
    for (const transfers of [[], DEPOSITS]) {
      const { ports } = world({ transfers });
      const over = Object.fromEntries(silent.map((name) => [name, silentPorts[name]]));
      const answer = await dataOfEntity(SUBJECT, { ...ports, ...over }, { explain: THIRD });
      expect(answer).toMatchObject({
        checked: false,
        explain: { linked: null },
        merge_history: null,
      });
      expect(answer.reason).not.toBeNull();
      for (const one of answer.coverage) {
        expect(one.checked).toBe(one.reason === null);
        if (silent.some((name) => name === 'entityTies' || name === 'exchangeLabels')) {
          expect(one.checked).toBe(false);
        }
      }
      const counts = Object.values(answer.edges_left_out ?? {});
      if (silent.some((name) => name === 'transferHistory')) expect(counts).toEqual([]);
    }
  });

  test('where one neighbour was not read: the heuristics that need it say so, and no other', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    const transferHistory: Ports['transferHistory'] = {
      ...ports.transferHistory,
      neighbourhoods: async (all, limits) => {
        const readings = await ports.transferHistory.neighbourhoods(all, limits);
        return new Map(
          [...readings].map(([address, reading]) => [
            address,
            address === DEPOSIT ? unread('transfer_history' as const, silence) : reading,
          ]),
        );
      },
    };
    const answer = await dataOfEntity(SUBJECT, { ...ports, transferHistory });
    expect(answer).toMatchObject({ checked: false, evidence: [] });
    expect(answer.coverage.map(({ checked }) => checked)).toEqual([false, true, true, true]);
  });

  test('of a negative on blocks N to N+1000, on what is stale, cut or simulated, and past its time', async () => {
    const some = fullCoverage('ethereum', STILL_NOW - 120).map((range) => {
      return { ...range, from_block: 500, to_block: 1_500, from_first: false };
    });
    const inPart = world({ transfers: DEPOSITS, history: { coverage: some } });
    expect(await dataOfEntity(SUBJECT, inPart.ports)).toMatchObject({
      checked: false,
      evidence: [{ heuristic: 'deposit_reuse' }],
      reason: expect.stringContaining('partial_history'),
    });
    const old = { coverage: fullCoverage('ethereum', STILL_NOW - 90_000) };
    expect((await dataOfEntity(SUBJECT, world({ history: old }).ports)).checked).toBe(false);
    expect((await dataOfEntity(SUBJECT, world({ wholeCreations: false }).ports)).checked).toBe(
      false,
    );
    expect(
      await dataOfEntity(SUBJECT, world({ simulated: true, transfers: DEPOSITS }).ports),
    ).toMatchObject({
      checked: false,
      simulated: true,
      evidence: [{ heuristic: 'deposit_reuse' }],
      caveat: expect.stringMatching(/^Simulated: /),
    });
    const late = await dataOfEntity(SUBJECT, world().ports, {}, AbortSignal.abort());
    expect(late).toMatchObject({ checked: false, evidence: [], reason: why('time_budget').reason });
  });

  test('about a first funder in a history that does not reach its first block', async () => {
    const some = fullCoverage('ethereum', STILL_NOW - 120).map((range) => {
      return { ...range, from_block: 500, from_first: false };
    });
    const { ports } = world({ transfers: FUNDED, history: { coverage: some } });
    expect((await dataOfEntity(SUBJECT, ports)).evidence).toEqual([]);
  });

  test('about nobody’s address', async () => {
    const nobody = `0x${'0'.repeat(36)}dead`;
    expect(await dataOfEntity(nobody, world().ports)).toMatchObject({
      checked: false,
      related_wallets: [nobody],
      reason: why('entity_nobody').reason,
    });
  });
});
