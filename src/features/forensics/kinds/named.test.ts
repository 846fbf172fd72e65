import { describe, expect, test } from 'vitest';
import { why } from '../../../evidence/reasons.ts';
import { noFacts } from '../../../ports/accounts.ts';
import type { ExchangeLabel } from '../../../ports/tables.ts';
import { evm } from '../../../testing/addresses.ts';
import { checkedKinds, foundOf, scored } from '../../../testing/finding-suite.ts';
import { forensicPorts, type PlantedFacts } from '../../../testing/forensic-ports.ts';
import type { MemoryFact } from '../../../testing/twins/accounts.ts';
import { flaggedRow } from '../../../testing/twins/rug-flags.ts';
import { listedEntry } from '../../../testing/walked-world.ts';

const SUBJECT = evm('subject');
const TX = `0x${'e'.repeat(64)}`;
const who = (fact: string) => evm(`its ${fact}`);
const FACTS: MemoryFact = {
  chain: 'ethereum',
  address: SUBJECT,
  nonce: 1,
  code: { size: 45, delegates_to: null, minimal_proxy_of: who('minimal_proxy_of') },
  creation: { creator: who('creator'), factory: who('factory'), tx: TX, block: 5 },
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
      const evidence = await scored(SUBJECT, naming(who(fact)));
      // The code of a minimal proxy is what it was made with.
      const ofCreation = ['creator', 'factory', 'minimal_proxy_of'].includes(fact);
      const record = { name: fact, value: who(fact), tx: ofCreation ? TX : null };
      for (const kind of IN_FACTS) {
        const found = foundOf(evidence, kind);
        expect(found).toMatchObject([{ evidence_count: 2, evidence: [record, {}] }]);
        expect(found?.[0].source).toContain('Chain state in memory');
      }
      const listed = foundOf(evidence, 'listed_in_facts');
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
    const evidence = await scored(SUBJECT, {
      facts: [delegated],
      flagged: [flaggedRow(evm('drainer'), { creation_tx: TX, chain: 'ethereum' })],
    });
    expect(foundOf(evidence, 'flagged_in_facts')).toMatchObject([
      {
        statement: `On ethereum its delegate is ${evm('drainer')}, which tests flags as “Fake_Phishing1” (phish-hack).`,
        evidence: [{ name: 'delegates_to' }, { name: 'flagged_row', tx: TX }],
      },
    ]);
    expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(IN_FACTS));
  });

  test('a creator who made another contract that a table flags is found', async () => {
    const made = flaggedRow(evm('exploit'), { creator: who('creator'), tag: 'Exploit 1' });
    const found = foundOf(
      await scored(SUBJECT, { facts: [FACTS], flagged: [made] }),
      'flagged_in_facts',
    );
    expect(found?.[0].statement).toContain(
      `as the maker of ${evm('exploit')}, flagged as “Exploit 1”`,
    );
  });

  test('a maker of a contract that destroyed itself is found; it is no account', async () => {
    const { address, chain, creation } = FACTS;
    if (creation === undefined) throw new Error('test: no creation');
    const evidence = await scored(SUBJECT, {
      facts: [{ address, chain, creation }],
      listed: [listedEntry(who('creator'))],
    });
    expect(foundOf(evidence, 'listed_in_facts')).toMatchObject([{ evidence: [{ tx: TX }, {}] }]);
  });
});

describe('is silent', () => {
  test('a contract whose maker is not known shows the rest, and is not checked', async () => {
    const { creation: _, ...unmade } = FACTS;
    const planted = { facts: [unmade], listed: [listedEntry(who('owner'))] };
    const evidence = await scored(SUBJECT, planted);
    expect(foundOf(evidence, 'listed_in_facts')).toHaveLength(1);
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
    const evidence = await scored(SUBJECT, {}, { ...ports, chainFacts: { ...chainFacts, of } });
    expect(asked.flat()).not.toContain('creation');
    expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(IN_FACTS));
  });

  test('while the facts are, no kind of it ran', async () => {
    const ports = forensicPorts({});
    const silent = why('timed_out', { what: 'A node', limit: '1 s' });
    const chainFacts = { ...ports.chainFacts, of: async () => noFacts(silent) };
    const evidence = await scored(SUBJECT, {}, { ...ports, chainFacts });
    expect(checkedKinds(evidence).filter((kind) => IN_FACTS.includes(kind))).toEqual([]);
  });
});
