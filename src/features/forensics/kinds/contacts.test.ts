import { describe, expect, test } from 'vitest';
import { why } from '../../../evidence/reasons.ts';
import { noFacts } from '../../../ports/accounts.ts';
import type { HistoryTransfer } from '../../../ports/history.ts';
import type { ExchangeLabel } from '../../../ports/tables.ts';
import { addressNamed, evm } from '../../../testing/addresses.ts';
import { STILL_NOW } from '../../../testing/clock.ts';
import { checkedKinds, findingOf, scoreAddress } from '../../../testing/finding-suite.ts';
import { forensicPorts, type PlantedFacts } from '../../../testing/forensic-ports.ts';
import { type MemoryFact, mixerRow } from '../../../testing/twins/accounts.ts';
import { memoryEntityClusters, silentEntities } from '../../../testing/twins/entities.ts';
import { fullCoverage, memoryTransfer } from '../../../testing/twins/history.ts';
import { flaggedRow } from '../../../testing/twins/rug-flags.ts';
import { labelOf } from '../../../testing/twins/tables.ts';
import { listedEntry } from '../../../testing/walked-world.ts';
import { notesOf } from '../notes.ts';

const SUBJECT = evm('subject');
const POOL = evm('pool');
const HOT = evm('hot wallet');
const label = { ...labelOf(HOT, 'exchange'), label: 'Exchange: Hot Wallet' };

describe('mixers', () => {
  test.each([
    ['poisoning', { raw_amount: 0n, initiator: evm('poisoner') }],
    ['a transfer on another chain', { chain: 'base' as const }],
    ['a failed call', { success: false }],
  ])('%s makes no contact', async (_, over) => {
    const planted = {
      mixers: [mixerRow(POOL)],
      transfers: [memoryTransfer(1, SUBJECT, POOL, over)],
      history: { chains: ['ethereum', 'base'] as const },
    };
    expect(findingOf(await scoreAddress(SUBJECT, planted), 'mixer_contact')).toBeNull();
  });

  test('what was sent before a contract stood there is no contact', async () => {
    const mixers = [mixerRow(POOL, { valid_from_block: 100 })];
    const before = [memoryTransfer(99, SUBJECT, POOL)];
    const since = [memoryTransfer(100, SUBJECT, POOL)];
    const early = await scoreAddress(SUBJECT, { mixers, transfers: before });
    expect(findingOf(early, 'mixer_contact')).toBeNull();
    const late = await scoreAddress(SUBJECT, { mixers, transfers: since });
    expect(findingOf(late, 'mixer_contact')).toHaveLength(1);
  });
});

describe('exchanges', () => {
  test('what it sent is a deposit, what it received a withdrawal, each with its own transfers', async () => {
    const transfers = [memoryTransfer(1, HOT, SUBJECT), memoryTransfer(2, SUBJECT, HOT)];
    const evidence = await scoreAddress(SUBJECT, { labels: [label], transfers });
    const deposit = findingOf(evidence, 'exchange_deposit');
    expect(deposit?.[0].evidence).toMatchObject([{ block: 2, direction: 'out' }]);
    const withdrawal = findingOf(evidence, 'exchange_withdrawal');
    expect(withdrawal?.[0].evidence).toMatchObject([{ block: 1, direction: 'in' }]);
    expect(withdrawal?.[0].source).toBe('tests');
  });

  test('spam and poisoning create no exchange activity', async () => {
    const forged: Partial<HistoryTransfer> = {
      kind: 'token',
      token: evm('token'),
      symbol: 'X',
      initiator: evm('poisoner'),
      has_market: false,
    };
    const transfers = [
      memoryTransfer(1, HOT, SUBJECT, forged),
      memoryTransfer(2, SUBJECT, HOT, { ...forged, raw_amount: 0n }),
    ];
    const evidence = await scoreAddress(SUBJECT, { labels: [label], transfers });
    expect(findingOf(evidence, 'exchange_deposit')).toBeNull();
    expect(findingOf(evidence, 'exchange_withdrawal')).toBeNull();
    expect(findingOf(evidence, 'poisoning_received')).toHaveLength(2);
  });
});

describe('coinjoins', () => {
  const SUBJECT = addressNamed('bitcoin', 'subject');
  const TXS = ['a', 'b', 'c'].map((one) => one.repeat(64)) as [string, string, string];
  const joint = (
    n: 0 | 1 | 2,
    form: 'wasabi_2_0' | 'joinmarket',
    spent: boolean,
    paid: boolean,
  ) => {
    return {
      address: SUBJECT,
      tx: TXS[n],
      block: 800_000 - n,
      at: 1_690_000_000,
      form,
      spent,
      paid,
    };
  };
  const joined = [
    joint(0, 'wasabi_2_0', true, true),
    joint(1, 'wasabi_2_0', false, true),
    joint(2, 'joinmarket', true, false),
  ];
  const held = {
    clusters: [],
    examined: 'everyone',
    as_of: STILL_NOW - 60,
    simulated: false,
  } as const;
  const RECORD = {
    evidence: 'record',
    chain: 'bitcoin',
    at: '2023-07-22T04:26:40.000Z',
    name: 'coinjoin',
  };

  function portsOf(rows: typeof joined) {
    const entityClusters = memoryEntityClusters({ ...held, joined: rows });
    return { ...forensicPorts({ history: { chains: ['bitcoin'] } }), entityClusters };
  }

  describe('CoinJoins', () => {
    test('are found with each transaction, by protocol, and whether coins were spent or paid', async () => {
      const evidence = await scoreAddress(SUBJECT, {}, portsOf(joined));
      expect(findingOf(evidence, 'coinjoin')).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f]{32}$/),
          kind: 'coinjoin',
          title: 'CoinJoins',
          statement:
            'It is spent from or paid in transactions that by their form several people make ' +
            'together, or that prepare one: 1 of JoinMarket’s form, 2 of Wasabi 2.0’s form ' +
            '(WabiSabi). Whoever is only paid in one may be a stranger to those who made it.',
          evidence: [
            Object.assign(
              { tx: TXS[0], block: 800_000 },
              { value: 'Wasabi 2.0’s form (WabiSabi): its coins were spent, and it was paid' },
              RECORD,
            ),
            Object.assign(
              { tx: TXS[1], block: 799_999, value: 'Wasabi 2.0’s form (WabiSabi): it was paid' },
              RECORD,
            ),
            Object.assign(
              { tx: TXS[2], block: 799_998, value: 'JoinMarket’s form: its coins were spent' },
              RECORD,
            ),
          ],
          evidence_count: 3,
          initiated_by_subject: true,
          source: 'Entity clusters of this deployment',
          as_of: STILL_NOW - 60,
        },
      ]);
    });

    test('are denied where every block was read, and not where the source is silent', async () => {
      const none = await scoreAddress(SUBJECT, {}, portsOf([]));
      expect(findingOf(none, 'coinjoin')).toBeNull();
      expect(checkedKinds(none)).toContain('coinjoin');
      const { entityClusters } = silentEntities(why('timed_out', { what: 'It', limit: '1 s' }));
      const silent = await scoreAddress(SUBJECT, {}, { ...portsOf([]), entityClusters });
      expect(checkedKinds(silent)).not.toContain('coinjoin');
      expect(silent.checked.checked).toBe(false);
    });
  });
});

const PHISHER = evm('phisher');
const CONTRACT = evm('contract');
const TX = `0x${'ab'.repeat(32)}`;
const made = flaggedRow(CONTRACT, { creator: PHISHER, creation_tx: TX, is_contract: true });

describe('imported tables of flagged addresses', () => {
  test('a flagged subject is found by each source that flags it', async () => {
    const flagged = [flaggedRow(SUBJECT), flaggedRow(SUBJECT, { source: 'others' })];
    const found = findingOf(await scoreAddress(SUBJECT, { flagged }), 'flagged_itself');
    expect(found?.map(({ source }) => source)).toEqual(['tests', 'others']);
    expect(found?.[0].statement).toBe('tests flags this address as “Fake_Phishing1” (phish-hack).');
  });

  test('a call of a flagged contract is an interaction that the address signed', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, CONTRACT, { raw_amount: 0n })];
    const found = findingOf(
      await scoreAddress(SUBJECT, { flagged: [made], transfers }),
      'flagged_counterparty',
    );
    expect(found).toMatchObject([{ initiated_by_subject: true, evidence_count: 1 }]);
  });

  test('unwanted tokens from a flagged address are no interaction', async () => {
    const spam: Partial<HistoryTransfer> = {
      kind: 'token',
      token: evm('token'),
      has_market: false,
      initiator: PHISHER,
    };
    const transfers = [memoryTransfer(1, PHISHER, SUBJECT, spam)];
    const evidence = await scoreAddress(SUBJECT, { flagged: [flaggedRow(PHISHER)], transfers });
    expect(findingOf(evidence, 'flagged_counterparty')).toBeNull();
  });

  test('a maker of flagged contracts is found with the creation, and as a funder', async () => {
    const own = findingOf(
      await scoreAddress(PHISHER, { flagged: [made] }),
      'created_flagged_contract',
    );
    expect(own).toMatchObject([{ initiated_by_subject: true, evidence: [{ tx: TX }] }]);
    const transfers = [memoryTransfer(1, PHISHER, SUBJECT)];
    const funded = findingOf(
      await scoreAddress(SUBJECT, { flagged: [made], transfers }),
      'funded_by_flagged',
    );
    expect(funded?.[0].statement).toContain(`names as the maker of ${CONTRACT}`);
  });

  test('a flagged funder is named as what it is flagged', async () => {
    const transfers = [memoryTransfer(1, PHISHER, SUBJECT), memoryTransfer(2, evm('x'), SUBJECT)];
    const evidence = await scoreAddress(SUBJECT, { flagged: [flaggedRow(PHISHER)], transfers });
    const found = findingOf(evidence, 'funded_by_flagged');
    expect(found?.[0].evidence).toMatchObject([{ block: 1, from: PHISHER }]);
  });
});

describe('named', () => {
  const TX = `0x${'e'.repeat(64)}`;
  const who = (fact: string) => evm(`its ${fact}`);
  const FACTS: MemoryFact = {
    chain: 'ethereum',
    address: SUBJECT,
    nonce: 1,
    code: { size: 45, delegates_to: null, minimal_proxy_of: who('minimal_proxy_of') },
    creation: { creator: who('creator'), relay: null, factory: who('factory'), tx: TX, block: 5 },
    authority: {
      implementation: who('implementation'),
      admin: who('admin'),
      beacon: who('beacon'),
      owner: who('owner'),
    },
  };
  const BY_STATE = ['implementation', 'admin', 'beacon', 'owner', 'minimal_proxy_of'];
  const IN_FACTS = ['listed_in_facts', 'flagged_in_facts', 'labelled_in_facts'];

  function label(address: string): ExchangeLabel {
    return {
      address,
      chain: null,
      label: 'Exchange: Deployer',
      entity: 'exchange',
      role: 'deployer',
      confidence: 'service_data',
      clusterable: false,
      source: 'labels of a test',
      source_url: null,
      first_seen: '2026-01-01',
    };
  }

  /** The tables name one address, each in its own way. */
  function naming(address: string): PlantedFacts {
    return {
      facts: [FACTS],
      listed: [listedEntry(address)],
      flagged: [flaggedRow(address)],
      labels: [label(address)],
    };
  }

  describe('whom the facts name', () => {
    test.each([...BY_STATE, 'creator', 'factory'])(
      'its %s is looked up in each table',
      async (fact) => {
        const evidence = await scoreAddress(SUBJECT, naming(who(fact)));
        // The code of a minimal proxy is what it was made with.
        const ofCreation = ['creator', 'factory', 'minimal_proxy_of'].includes(fact);
        const record = { name: fact, value: who(fact), tx: ofCreation ? TX : null };
        for (const kind of IN_FACTS) {
          const found = findingOf(evidence, kind);
          expect(found).toMatchObject([{ evidence_count: 2, evidence: [record, {}] }]);
          expect(found?.[0].source).toContain('Chain state in memory');
        }
        const listed = findingOf(evidence, 'listed_in_facts');
        expect(listed?.[0].statement).toContain(
          `is ${who(fact)}, which the list names under LAST, First`,
        );
      },
    );

    test('the code that an account runs is looked up (EIP-7702), and it has no maker', async () => {
      const delegated: MemoryFact = {
        chain: 'ethereum',
        address: SUBJECT,
        code: { size: 23, delegates_to: evm('drainer'), minimal_proxy_of: null },
      };
      const evidence = await scoreAddress(SUBJECT, {
        facts: [delegated],
        flagged: [flaggedRow(evm('drainer'), { creation_tx: TX, chain: 'ethereum' })],
      });
      expect(findingOf(evidence, 'flagged_in_facts')).toMatchObject([
        {
          statement: `On ethereum its delegate is ${evm('drainer')}, which tests flags as “Fake_Phishing1” (phish-hack).`,
          evidence: [{ name: 'delegates_to' }, { name: 'flagged_row', tx: TX }],
        },
      ]);
      expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(IN_FACTS));
    });

    test('a creator who made another contract that a table flags is found', async () => {
      const made = flaggedRow(evm('exploit'), { creator: who('creator'), tag: 'Exploit 1' });
      const found = findingOf(
        await scoreAddress(SUBJECT, { facts: [FACTS], flagged: [made] }),
        'flagged_in_facts',
      );
      expect(found?.[0].statement).toContain(
        `as the maker of ${evm('exploit')}, flagged as “Exploit 1”`,
      );
    });

    test('a maker of a contract that destroyed itself is found; it is no account', async () => {
      const { address, chain, creation } = FACTS;
      if (creation === undefined) throw new Error('test: no creation');
      const evidence = await scoreAddress(SUBJECT, {
        facts: [{ address, chain, creation }],
        listed: [listedEntry(who('creator'))],
      });
      expect(findingOf(evidence, 'listed_in_facts')).toMatchObject([
        { evidence: [{ tx: TX }, {}] },
      ]);
    });
  });

  describe('is silent', () => {
    test('a contract whose maker is not known shows the rest, and is not checked', async () => {
      const { creation: _, ...unmade } = FACTS;
      const planted = { facts: [unmade], listed: [listedEntry(who('owner'))] };
      const evidence = await scoreAddress(SUBJECT, planted);
      expect(findingOf(evidence, 'listed_in_facts')).toHaveLength(1);
      expect(checkedKinds(evidence).filter((kind) => IN_FACTS.includes(kind))).toEqual([]);
      expect(evidence.checked.checked).toBe(false);
    });

    test('an account that signed is not asked who made it', async () => {
      const asked: string[][] = [];
      const ports = forensicPorts({ facts: [{ chain: 'ethereum', address: SUBJECT, nonce: 1 }] });
      const { chainFacts } = ports;
      const of: typeof chainFacts.of = (chain, address, wanted, signal) => {
        asked.push([...wanted]);
        return chainFacts.of(chain, address, wanted, signal);
      };
      const evidence = await scoreAddress(
        SUBJECT,
        {},
        { ...ports, chainFacts: { ...chainFacts, of } },
      );
      expect(asked.flat()).not.toContain('creation');
      expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(IN_FACTS));
    });

    test('while the facts are, no kind of it ran', async () => {
      const ports = forensicPorts({});
      const silent = why('timed_out', { what: 'A node', limit: '1 s' });
      const chainFacts = { ...ports.chainFacts, of: async () => noFacts(silent) };
      const evidence = await scoreAddress(SUBJECT, {}, { ...ports, chainFacts });
      expect(checkedKinds(evidence).filter((kind) => IN_FACTS.includes(kind))).toEqual([]);
    });
  });
});

const FRIEND = evm('friend');
const LISTED = evm('listed');
const listed = [listedEntry(LISTED)];
const PAID = memoryTransfer(1, LISTED, FRIEND);
const PASSED_ON = memoryTransfer(2, FRIEND, SUBJECT);
const ETHER = { symbol: 'ETH', raw_amount: `1${'0'.repeat(18)}`, amount: '1' };
const PLAIN = { evidence: 'transfer', chain: 'ethereum', direction: 'in', token: null, usd: null };

describe('the way to a listed address', () => {
  test('over two hops is found with the transaction of each hop and its source', async () => {
    const evidence = await scoreAddress(SUBJECT, { listed, transfers: [PAID, PASSED_ON] });
    expect(findingOf(evidence, 'way_to_listed')).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        kind: 'way_to_listed',
        title: 'Shortest way to a listed address within two hops',
        statement:
          `2 hops lead from this address to ${LISTED}, which the list names under LAST, First ` +
          `(CYBER2, DPRK3): ${SUBJECT}, ${FRIEND}, ${LISTED}; the address itself signed none of ` +
          'them.',
        evidence: [
          Object.assign(
            { tx: PASSED_ON.tx, block: 2, at: '2026-01-01T00:00:02.000Z' },
            { from: FRIEND, to: SUBJECT, initiator: FRIEND, initiated_by_subject: false },
            PLAIN,
            ETHER,
          ),
          Object.assign(
            { tx: PAID.tx, block: 1, at: '2026-01-01T00:00:01.000Z' },
            { from: LISTED, to: FRIEND, initiator: LISTED, initiated_by_subject: false },
            PLAIN,
            ETHER,
          ),
          expect.objectContaining({ evidence: 'record', name: 'list_entry', tx: null }),
        ],
        evidence_count: 3,
        initiated_by_subject: false,
        source: 'OFAC SDN List; Transfers in memory',
        as_of: STILL_NOW - 60,
      },
    ]);
    expect(findingOf(evidence, 'listed_counterparty')).toBeNull();
  });

  test('over one hop is the shortest, and a third hop is not walked', async () => {
    const near = [PAID, PASSED_ON, memoryTransfer(3, SUBJECT, LISTED)];
    const [found] =
      findingOf(await scoreAddress(SUBJECT, { listed, transfers: near }), 'way_to_listed') ?? [];
    expect(found?.statement).toContain(`1 hop leads from this address to ${LISTED}`);
    expect(found).toMatchObject({ initiated_by_subject: true, evidence_count: 2 });
    const far = [PAID, memoryTransfer(2, FRIEND, evm('x')), memoryTransfer(3, evm('x'), SUBJECT)];
    const evidence = await scoreAddress(SUBJECT, { listed, transfers: far });
    expect(findingOf(evidence, 'way_to_listed')).toBeNull();
    expect(checkedKinds(evidence)).toContain('way_to_listed');
  });

  test('by an NFT shows no amount: an NFT is none', async () => {
    const nft = { kind: 'nft', token: evm('nfts'), token_id: 7n, raw_amount: 0n } as const;
    const transfers = [memoryTransfer(1, SUBJECT, LISTED, nft)];
    const [found] =
      findingOf(await scoreAddress(SUBJECT, { listed, transfers }), 'way_to_listed') ?? [];
    expect(found?.evidence[0]).toMatchObject({ amount: null, symbol: null, token: evm('nfts') });
  });

  test('is denied only where the counterparties were read too', async () => {
    const transfers = [memoryTransfer(2, FRIEND, SUBJECT)];
    const ofSubject = fullCoverage('ethereum', STILL_NOW - 60).map((one) =>
      Object.assign(one, { address: SUBJECT }),
    );
    const history = { coverage: ofSubject };
    const evidence = await scoreAddress(SUBJECT, { listed, transfers, history });
    const coverage = evidence.kinds.find(({ kind }) => kind.kind === 'way_to_listed');
    expect(coverage?.found.checked).toBe(false);
    expect(checkedKinds(evidence)).toContain('listed_counterparty');
    expect(evidence.checked.checked).toBe(false);
  });

  test('past a counterparty too busy to be walked past is told in a note', async () => {
    const busy = Array.from({ length: 5_001 }, (_, n) =>
      memoryTransfer(n + 10, FRIEND, evm(`${n}`)),
    );
    const transfers = [PAID, PASSED_ON, ...busy];
    const evidence = await scoreAddress(SUBJECT, { listed, transfers });
    expect(findingOf(evidence, 'way_to_listed')).toBeNull();
    expect(notesOf(evidence).join(' ')).toContain(
      `dealt with a listed address, first ${FRIEND} with ${LISTED}`,
    );
  });
});
