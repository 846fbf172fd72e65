import { describe, expect, test } from 'vitest';
import { addressNamed, evm } from '../../../testing/addresses.ts';
import { findingOf, scoreAddress } from '../../../testing/finding-suite.ts';
import { memoryTransfer } from '../../../testing/twins/history.ts';
import { listedEntry } from '../../../testing/walked-world.ts';

const SUBJECT = evm('subject');
const LISTED = evm('listed');
const FRIEND = evm('friend');
const listed = [listedEntry(LISTED)];

describe('the sanctions list', () => {
  test('a listed subject is found with the entry that names it', async () => {
    const [found] =
      (await findingOf(await scoreAddress(LISTED, { listed }), 'listed_itself')) ?? [];
    expect(found?.statement).toContain('LAST, First (CYBER2, DPRK3)');
    expect(found?.evidence).toMatchObject([{ evidence: 'record', name: 'list_entry' }]);
  });

  test('a contact names every transfer, its direction, and who signed', async () => {
    const transfers = [
      memoryTransfer(1, FRIEND, SUBJECT),
      memoryTransfer(2, LISTED, SUBJECT),
      memoryTransfer(3, SUBJECT, LISTED),
    ];
    const evidence = await scoreAddress(SUBJECT, { listed, transfers });
    const found = findingOf(evidence, 'listed_counterparty');
    expect(found).toHaveLength(1);
    expect(found?.[0]).toMatchObject({ evidence_count: 2, initiated_by_subject: true });
    expect(found?.[0].statement).toBe(
      `2 transfers (1 sent, 1 received) with ${LISTED}, which the list names under LAST, First ` +
        '(CYBER2, DPRK3); the address itself signed at least one of them.',
    );
    expect(found?.[0].evidence).toMatchObject([
      { direction: 'out', initiated_by_subject: true, amount: '1', symbol: 'ETH' },
      { direction: 'in', initiated_by_subject: false },
    ]);
  });

  test('a failed transfer is no contact', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, LISTED, { success: false })];
    const evidence = await scoreAddress(SUBJECT, { listed, transfers });
    expect(findingOf(evidence, 'listed_counterparty')).toBeNull();
  });

  test('poisoning by a listed address is no contact, and is shown as dust that it did not sign', async () => {
    const poison = {
      raw_amount: 0n,
      kind: 'token',
      token: evm('token'),
      initiator: LISTED,
    } as const;
    const transfers = [memoryTransfer(1, LISTED, SUBJECT, poison)];
    const evidence = await scoreAddress(SUBJECT, { listed, transfers });
    expect(findingOf(evidence, 'listed_counterparty')).toBeNull();
    expect(findingOf(evidence, 'dust_from_listed')).toMatchObject([
      { initiated_by_subject: false },
    ]);
    expect(findingOf(evidence, 'poisoning_received')).toMatchObject([{ evidence_count: 1 }]);
  });

  test('dust of a tenth of an ether from a mixer on the list is a fact and is shown', async () => {
    const dust = { kind: 'internal', raw_amount: 10n ** 17n, initiator: evm('relayer') } as const;
    const evidence = await scoreAddress(SUBJECT, {
      listed,
      transfers: [memoryTransfer(1, LISTED, SUBJECT, dust)],
    });
    const shown = findingOf(evidence, 'dust_from_listed');
    expect(shown).toMatchObject([{ initiated_by_subject: false, evidence_count: 1 }]);
    expect(shown?.[0].statement).toContain('the address itself signed none of it');
    expect(findingOf(evidence, 'listed_counterparty')).toMatchObject([
      { initiated_by_subject: false },
    ]);
  });

  test.each([
    ['solana', 'solana', 10n ** 8n, 50_000_000n * 10n ** 9n],
    ['bitcoin', 'bitcoin', 10n ** 5n, 10n ** 7n],
  ] as const)('dust of %s is judged by its own decimals', async (_, chain, small, large) => {
    const [own, sender] = [addressNamed(chain, 'own'), addressNamed(chain, 'listed')];
    const sent = async (raw_amount: bigint) => {
      const transfers = [memoryTransfer(1, sender, own, { chain, raw_amount, initiator: sender })];
      const entries = [listedEntry(sender)];
      const history = { chains: [chain] };
      return findingOf(
        await scoreAddress(own, { listed: entries, transfers, history }),
        'dust_from_listed',
      );
    };
    expect(await sent(small)).toMatchObject([{ initiated_by_subject: false }]);
    expect(await sent(large)).toBeNull();
  });

  test('what is left out of every contact is told as that, and not as small', async () => {
    const spam = {
      kind: 'token',
      token: evm('token'),
      has_market: false,
      initiator: LISTED,
    } as const;
    const transfers = [memoryTransfer(1, LISTED, SUBJECT, spam)];
    const [dust] =
      findingOf(await scoreAddress(SUBJECT, { listed, transfers }), 'dust_from_listed') ?? [];
    expect(dust?.statement).toContain(
      'sent this address something of no value or without a market',
    );
    expect(dust?.statement).not.toContain('small');
  });

  test.each([
    ['a payment of more', { raw_amount: 10n ** 18n }],
    ['what is worth more than dust', { raw_amount: 1n, usd: '501' }],
    ['what the address signed itself', { raw_amount: 1n, initiator: SUBJECT }],
  ])('%s is no dust', async (_, over) => {
    const transfers = [memoryTransfer(1, LISTED, SUBJECT, over)];
    expect(
      findingOf(await scoreAddress(SUBJECT, { listed, transfers }), 'dust_from_listed'),
    ).toBeNull();
  });

  test('the first coins alone make a funder: neither a later payment nor poison before them', async () => {
    const poison = { raw_amount: 0n, initiator: evm('poisoner') };
    const transfers = [
      memoryTransfer(1, FRIEND, SUBJECT, poison),
      memoryTransfer(2, LISTED, SUBJECT),
      memoryTransfer(3, FRIEND, SUBJECT),
    ];
    const funded = findingOf(
      await scoreAddress(SUBJECT, { listed, transfers }),
      'funded_by_listed',
    );
    expect(funded?.[0].evidence).toMatchObject([{ block: 2, from: LISTED }]);
    const late = [memoryTransfer(1, FRIEND, SUBJECT), memoryTransfer(2, LISTED, SUBJECT)];
    const not = await scoreAddress(SUBJECT, { listed, transfers: late });
    expect(findingOf(not, 'funded_by_listed')).toBeNull();
  });

  test('no funder is named of a history that does not reach its beginning', async () => {
    const transfers = [memoryTransfer(20_000_000, LISTED, SUBJECT)];
    const later = { address: null, chain: 'ethereum', from_block: 19_999_000 } as const;
    const coverage = (['native', 'token', 'internal'] as const).map((kind) => ({
      ...later,
      kind,
      to_block: 20_000_000,
      to_time: 1_789_000_000,
      from_first: false,
    }));
    const evidence = await scoreAddress(SUBJECT, { listed, transfers, history: { coverage } });
    expect(findingOf(evidence, 'funded_by_listed')).toBeNull();
    expect(findingOf(evidence, 'listed_counterparty')).toHaveLength(1);
  });
});
