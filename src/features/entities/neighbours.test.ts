import { describe, expect, test } from 'vitest';
import { Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { TIE_RULE } from '../../ports/entities.ts';
import { type HistoryTransfer, UNPRICED } from '../../ports/history.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import {
  ACTED,
  CREATED,
  DEPOSIT,
  DEPOSITS,
  dataOfEntity,
  FUNDED,
  FUNDER,
  HOT,
  LABEL,
  OTHER,
  type Ports,
  SUBJECT,
  t,
  world,
} from '../../testing/entity-world.ts';
import { addressHistory, fundingOf } from '../history/address-history.ts';
import { firstFunding } from './neighbours.ts';

const DAY_S = 86_400;
const NEVER = new AbortController().signal;
const people = (name: string, size: number) =>
  Array.from({ length: size }, (_, n) => evm(`${name} ${n}`));
const linked = async (ports: Ports, address = SUBJECT) =>
  (await dataOfEntity(address, ports)).evidence.map(({ heuristic }) => heuristic);

/** Coins that a contract sends because somebody else asked it to. */
const paidByContract = (n: number, from: string, to: string, signer: string) =>
  t(n, from, to, { kind: 'internal', initiator: signer });
const inTokens = { kind: 'token', token: evm('token'), initiator: null } as const;

describe('a deposit address', () => {
  const users = [t(10, SUBJECT, DEPOSIT, inTokens), t(20, OTHER, DEPOSIT, inTokens)];
  const forwards = [t(11, DEPOSIT, HOT, inTokens), t(21, DEPOSIT, HOT, inTokens)];

  test('is no contract that passes on what strangers pay into it', async () => {
    const contract = world({ transfers: [...users, ...forwards], contracts: [DEPOSIT] });
    expect(await dataOfEntity(SUBJECT, contract.ports)).toMatchObject({
      evidence: [],
      checked: true,
    });
    const executed = [
      ...[t(10, SUBJECT, DEPOSIT), paidByContract(11, DEPOSIT, HOT, SUBJECT)],
      ...[t(20, OTHER, DEPOSIT), paidByContract(21, DEPOSIT, HOT, OTHER)],
    ];
    expect(await linked(world({ transfers: executed }).ports)).toEqual([]);
  });

  test('ties nobody, and is not ruled out, where nothing tells whether it is a contract', async () => {
    const { ports } = world({ transfers: [...users, ...forwards] });
    const chainFacts: Ports['chainFacts'] = {
      ...ports.chainFacts,
      of: async (chain, address, _wanted, signal) =>
        ports.chainFacts.of(chain, address, [], signal),
    };
    expect(await dataOfEntity(SUBJECT, { ...ports, chainFacts })).toMatchObject({
      evidence: [],
      checked: false,
      reason: why('deposit_kind_unknown', { address: DEPOSIT }).reason,
    });
    expect(await linked(ports)).toEqual(['deposit_reuse']);
  });

  test('is nobody’s where 5 of 100 parts go to another exchange, whatever its label tells', async () => {
    const rival = { ...LABEL, address: evm('rival'), entity: 'Rival', clusterable: true };
    for (const role of ['other', 'cold', 'hot'] as const) {
      const transfers = [
        ...[t(10, SUBJECT, DEPOSIT, { raw_amount: 100n }), t(20, OTHER, DEPOSIT)],
        t(11, DEPOSIT, HOT, { raw_amount: 95n }),
        t(12, DEPOSIT, rival.address, { raw_amount: 5n }),
        t(21, DEPOSIT, HOT),
      ];
      const { ports } = world({ transfers, labels: [LABEL, { ...rival, role }] });
      expect(await linked(ports)).toEqual([]);
    }
  });

  test('joins at a lower weight, and says so, where the receiver’s label tells no role', async () => {
    const unstated = { ...LABEL, role: 'other' as const, clusterable: true };
    const [said] = (await dataOfEntity(SUBJECT, world({ transfers: DEPOSITS }).ports)).evidence;
    const lower = await dataOfEntity(
      SUBJECT,
      world({ transfers: DEPOSITS, labels: [unstated] }).ports,
    );
    expect(lower.evidence).toMatchObject([
      { form: 'unstated_role', statement: expect.stringContaining('tells no role') },
    ]);
    expect(Number(lower.evidence[0]?.weight)).toBeLessThan(Number(said?.weight));
  });
});

describe('a tie', () => {
  const later: readonly HistoryTransfer[] = [
    ...DEPOSITS,
    t(30, SUBJECT, DEPOSIT),
    t(31, DEPOSIT, evm('rival')),
  ];
  const rival = { ...LABEL, address: evm('rival'), entity: 'Rival' };

  test('goes with its reason, whoever asked before', async () => {
    for (const first of [SUBJECT, OTHER, DEPOSIT]) {
      const { ports } = world({ transfers: DEPOSITS });
      expect((await dataOfEntity(first, ports)).evidence).toHaveLength(1);
      const after = world({ transfers: later, labels: [LABEL, rival] }).ports;
      for (const address of [OTHER, SUBJECT]) {
        const found = await dataOfEntity(address, { ...after, entityTies: ports.entityTies });
        expect(found.evidence).toEqual([]);
      }
    }
  });

  test('outlives a restart with its date and its rule', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    await dataOfEntity(SUBJECT, ports);
    const gone = why('not_configured', { what: 'ethereum' });
    const transferHistory: Ports['transferHistory'] = {
      worths: UNPRICED,
      chainsRead: async () => unread('transfer_history', gone),
      neighbourhoods: async () => new Map(),
    };
    expect(
      await dataOfEntity(OTHER, {
        ...world().ports,
        entityTies: ports.entityTies,
        transferHistory,
      }),
    ).toMatchObject({
      checked: false,
      evidence: [
        {
          heuristic: 'deposit_reuse',
          rule: TIE_RULE,
          judged_at: new Date(STILL_NOW * 1_000).toISOString(),
          histories_whole: true,
        },
      ],
    });
  });
});

describe('a first funder', () => {
  test('is no relayer that signed for those whom a bridge or a mixer pays', async () => {
    const pool = evm('pool');
    const transfers = [
      paidByContract(1, pool, SUBJECT, evm('relayer')),
      paidByContract(2, pool, OTHER, evm('relayer')),
      ...ACTED,
    ];
    const found = await dataOfEntity(SUBJECT, world({ transfers }).ports);
    expect(found.evidence).toEqual([]);
    expect(found.against).toMatchObject([{ kind: 'contract_payer', through: pool }]);
  });

  test('is one and the same in every answer: the payer of the value', async () => {
    const pool = evm('pool');
    const transfers = [paidByContract(1, pool, SUBJECT, evm('relayer')), ...ACTED];
    const { ports } = world({ transfers });
    const asked = { chains: null, signal: NEVER };
    const history = await addressHistory(ports.transferHistory, SUBJECT, asked);
    const fact = fundingOf(history);
    expect(fact instanceof Read && fact.value?.from).toBe(pool);
    expect(firstFunding(history, 'ethereum')?.by.from).toBe(pool);
  });

  test.each([
    ['an airdrop', 1],
    ['a faucet', DAY_S * 3],
    ['an unlabelled hot wallet', DAY_S * 20],
  ])('joins nobody where it is %s, by all whom it ever paid', async (_name, apart) => {
    const crowd = people('recipient', 30).map((one, n) => t(1_000 + n * apart, FUNDER, one));
    const transfers = [t(1, FUNDER, SUBJECT), t(2, FUNDER, OTHER), ...ACTED, ...crowd];
    const found = await dataOfEntity(SUBJECT, world({ transfers }).ports);
    expect(found.evidence).toEqual([]);
    expect(found.against).toMatchObject([{ kind: 'crowd', through: FUNDER }]);
  });

  test('joins nobody where it is a treasury’s contract', async () => {
    const transfers = [
      paidByContract(1, FUNDER, SUBJECT, evm('officer')),
      paidByContract(2, FUNDER, OTHER, evm('officer')),
      ...ACTED,
    ];
    expect(await linked(world({ transfers }).ports)).toEqual([]);
  });

  test('says “within a day” of no two fundings that lie further apart', async () => {
    const begun = people('begun', 24);
    const transfers = begun.flatMap((one, n) => [
      t(1 + n * (DAY_S - 3_600), FUNDER, one),
      t(2 + n * (DAY_S - 3_600), one, evm(`shop ${n}`)),
    ]);
    const { ports } = world({ transfers });
    const at = new Map(transfers.map((one) => [one.tx, one.at]));
    const { evidence } = await dataOfEntity(String(begun[0]), ports);
    expect(evidence.length).toBeGreaterThan(5);
    for (const { transactions } of evidence) {
      const times = transactions.map((tx) => Number(at.get(tx)));
      expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(DAY_S);
    }
  });
});

describe('lockstep', () => {
  const shops = people('popular', 3);
  const own = [t(100, SUBJECT, OTHER), t(101, OTHER, SUBJECT)];
  const together = shops.flatMap((shop, n) => [
    t(300_000 * (n + 1), SUBJECT, shop),
    t(300_000 * (n + 1) + 60, OTHER, shop),
  ]);
  // Everybody comes when a claim opens: in those minutes two strangers meet.
  const crowd = shops.flatMap((shop, n) =>
    people('visitor', 60).map((one, i) => t(300_000 * (n + 1) + 2 * i, one, shop)),
  );

  test('is none of strangers who use the same popular contracts at one time', async () => {
    const { ports } = world({ transfers: [...own, ...together, ...crowd] });
    const found = await dataOfEntity(SUBJECT, ports);
    expect(found.evidence.filter((one) => one.heuristic === 'lockstep')).toEqual([]);
    expect(found.against.map(({ kind }) => kind)).toContain('by_chance');
  });

  test('is not told as chance where what both use was not read', async () => {
    const { ports } = world({ transfers: [...own, ...together] });
    const silent = unread('transfer_history', why('time_budget'));
    const transferHistory: Ports['transferHistory'] = {
      ...ports.transferHistory,
      neighbourhoods: async (addresses, limits) => {
        const readings = await ports.transferHistory.neighbourhoods(addresses, limits);
        const told = [...readings].map(([address, one]) => {
          return [address, shops.includes(address) ? silent : one] as const;
        });
        return new Map(told);
      },
    };
    const found = await dataOfEntity(SUBJECT, { ...ports, transferHistory });
    expect(found.against).toEqual([]);
    expect(found.checked).toBe(false);
  });

  test('is none of moments that all lie within the same hour', async () => {
    const hour = shops.flatMap((shop, n) => [
      t(200 + n * 900, SUBJECT, shop),
      t(230 + n * 900, OTHER, shop),
    ]);
    expect(await linked(world({ transfers: [...own, ...hour] }).ports)).toEqual([]);
    const far = await linked(world({ transfers: [...own, ...together] }).ports);
    expect(far).toContain('lockstep');
  });
});

describe('a deployer', () => {
  test('is no bundler and no relayer that signs for accounts of others', async () => {
    const signer = evm('bundler');
    const accounts = CREATED.map((one) => ({ ...one, creator: evm('account factory'), signer }));
    const { ports } = world({ creations: accounts });
    expect(await linked(ports, String(accounts[0]?.created))).toEqual([]);
    expect(await linked(ports, signer)).toEqual([]);
  });

  test('is the key that made the factory too', async () => {
    const factory = evm('own factory');
    const [first, ...rest] = CREATED;
    const made = rest.map((one) => ({ ...one, creator: factory }));
    const creations = [...(first === undefined ? [] : [{ ...first, created: factory }]), ...made];
    const { related_wallets } = await dataOfEntity(SUBJECT, world({ creations }).ports);
    expect(related_wallets.toSorted()).toEqual([SUBJECT, factory, evm('contract b')].sort());
  });
});

describe('the answer about one member', () => {
  test('has whom the others’ answers have', async () => {
    const transfers = [...DEPOSITS, ...FUNDED];
    const everyone = [SUBJECT, OTHER, DEPOSIT];
    for (const first of everyone) {
      const { ports } = world({ transfers });
      const members = (await dataOfEntity(first, ports)).related_wallets.toSorted();
      expect(members).toEqual([...everyone].sort());
    }
  });

  test('shows for each the way to it and its weakest link', async () => {
    const { ports } = world({ transfers: DEPOSITS, creations: CREATED });
    const { members, evidence } = await dataOfEntity(OTHER, ports);
    const contract = members.find(({ address }) => address === evm('contract a'));
    const weight = Math.min(...evidence.map((one) => one.weight));
    expect(contract).toMatchObject({
      links: 1,
      path: [
        { from: OTHER, to: SUBJECT, heuristic: 'deposit_reuse' },
        { from: SUBJECT, to: evm('contract a'), heuristic: 'same_deployer' },
      ],
      weakest: { heuristic: 'deposit_reuse', weight },
    });
  });

  test('says where linked addresses use accounts that they do not share', async () => {
    const rival = { ...LABEL, address: evm('rival'), entity: 'Rival' };
    const transfers = [
      ...FUNDED,
      ...[t(10, SUBJECT, DEPOSIT), t(11, DEPOSIT, HOT)],
      ...[t(20, OTHER, evm('elsewhere')), t(21, evm('elsewhere'), rival.address)],
    ];
    const found = await dataOfEntity(SUBJECT, world({ transfers, labels: [LABEL, rival] }).ports);
    expect(found.against).toMatchObject([
      { kind: 'separate_accounts', addresses: [SUBJECT, OTHER].sort() },
    ]);
  });
});
