import { describe, expect, test } from 'vitest';
import type { HistoryTransfer } from '../../../ports/history.ts';
import { evm } from '../../../testing/addresses.ts';
import { foundOf, scored } from '../../../testing/finding-suite.ts';
import { memoryTransfer } from '../../../testing/twins/history.ts';
import { flaggedRow } from '../../../testing/twins/rug-flags.ts';

const SUBJECT = evm('subject');
const PHISHER = evm('phisher');
const CONTRACT = evm('contract');
const TX = `0x${'ab'.repeat(32)}`;
const made = flaggedRow(CONTRACT, { creator: PHISHER, creation_tx: TX, is_contract: true });

describe('imported tables of flagged addresses', () => {
  test('a flagged subject is found by each source that flags it', async () => {
    const flagged = [flaggedRow(SUBJECT), flaggedRow(SUBJECT, { source: 'others' })];
    const found = foundOf(await scored(SUBJECT, { flagged }), 'flagged_itself');
    expect(found?.map(({ source }) => source)).toEqual(['tests', 'others']);
    expect(found?.[0].statement).toBe('tests flags this address as “Fake_Phishing1” (phish-hack).');
  });

  test('a call of a flagged contract is an interaction that the address signed', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, CONTRACT, { raw_amount: 0n })];
    const found = foundOf(
      await scored(SUBJECT, { flagged: [made], transfers }),
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
    const evidence = await scored(SUBJECT, { flagged: [flaggedRow(PHISHER)], transfers });
    expect(foundOf(evidence, 'flagged_counterparty')).toBeNull();
  });

  test('a maker of flagged contracts is found with the creation, and as a funder', async () => {
    const own = foundOf(await scored(PHISHER, { flagged: [made] }), 'created_flagged_contract');
    expect(own).toMatchObject([{ initiated_by_subject: true, evidence: [{ tx: TX }] }]);
    const transfers = [memoryTransfer(1, PHISHER, SUBJECT)];
    const funded = foundOf(
      await scored(SUBJECT, { flagged: [made], transfers }),
      'funded_by_flagged',
    );
    expect(funded?.[0].statement).toContain(`names as the maker of ${CONTRACT}`);
  });

  test('a flagged funder is named as what it is flagged', async () => {
    const transfers = [memoryTransfer(1, PHISHER, SUBJECT), memoryTransfer(2, evm('x'), SUBJECT)];
    const evidence = await scored(SUBJECT, { flagged: [flaggedRow(PHISHER)], transfers });
    const found = foundOf(evidence, 'funded_by_flagged');
    expect(found?.[0].evidence).toMatchObject([{ block: 1, from: PHISHER }]);
  });
});
