import { describe, expect, test } from 'vitest';
import type { FileLayout } from '../../ports/tables.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { flaggedAddresses } from './flagged-rows.ts';

const DAY_S = 86_400;
const TOLD = { source: 'one', source_url: null, otherwise: null, imported_at: 20_000 * DAY_S };
const judge = flaggedAddresses.judge(TOLD);
const ADDRESS = evm('flagged');
const MAKER = evm('maker');
const TX = `0x${'Ab'.repeat(32)}`;

function judged(fields: { readonly [column: string]: string }, layout: FileLayout = 'rows') {
  return judge({ line: 2, fields: new Map(Object.entries(fields)) }, layout);
}

describe('the layouts of flagged rows', () => {
  test('Forta’s malicious contracts: tag, maker and creation', () => {
    const verdict = judged({
      contract_address: ADDRESS,
      contract_tag: '',
      contract_creator: MAKER,
      contract_creation_tx: TX,
      contract_creator_tag: 'xToken Exploiter',
      source: 'Luabase',
      notes: '',
      contract_creator_etherscan_label: 'heist',
    });
    expect(verdict).toMatchObject({
      row: {
        address: ADDRESS,
        tag: 'xToken Exploiter',
        category: 'heist',
        is_contract: true,
        creator: MAKER,
        creation_tx: TX.toLowerCase(),
        source: 'one',
      },
    });
  });

  test('Forta’s phishing addresses and malicious labels', () => {
    const phishing = judged({
      address: ADDRESS,
      etherscan_tag: 'Fake_Phishing1',
      etherscan_labels: 'phish-hack',
      is_contract: 'False',
    });
    expect(phishing).toMatchObject({ row: { tag: 'Fake_Phishing1', is_contract: false } });
    const label = judged({ banned_address: ADDRESS, wallet_tag: 'T', data_source: 'list' });
    expect(label).toMatchObject({ row: { tag: 'T', category: 'list', is_contract: null } });
  });

  test('our own columns, with a date and a link; an address of any kind in its own case', () => {
    const solana = addressNamed('solana', 'flagged');
    const verdict = judged({
      address: solana,
      tag: 'Drainer',
      chain: 'Solana',
      first_seen: '2026-02-03',
      source_url: 'https://example.org/x',
    });
    expect(verdict).toMatchObject({
      row: { address: solana, chain: 'solana', category: 'Drainer', first_seen: '2026-02-03' },
      dated_at: Date.parse('2026-02-03T00:00:00Z') / 1_000,
    });
  });

  test.each([
    ['no address', { tag: 'x' }, 'missing_field'],
    ['nothing it is flagged as', { address: ADDRESS }, 'missing_field'],
    ['an address of no form', { address: 'nobody', tag: 'x' }, 'bad_address'],
    ['the null address', { address: `0x${'0'.repeat(40)}`, tag: 'x' }, 'system_address'],
    ['a maker of no form', { address: ADDRESS, tag: 'x', creator: 'me' }, 'bad_address'],
    ['a hash of no form', { address: ADDRESS, tag: 'x', creation_tx: '0x1' }, 'bad_text'],
    ['a hidden sign in its tag', { address: ADDRESS, tag: 'a\u202eb' }, 'bad_text'],
    ['a flag of no form', { address: ADDRESS, tag: 'x', is_contract: 'maybe' }, 'bad_flag'],
    ['a link of no form', { address: ADDRESS, tag: 'x', source_url: 'ftp://x' }, 'bad_link'],
    ['a day of no form', { address: ADDRESS, tag: 'x', first_seen: 'once' }, 'bad_time'],
  ])('a row with %s is refused', (_, fields, code) => {
    expect(judged(fields)).toMatchObject({ code });
  });
});

describe('a tag of a TagPack', () => {
  const TAG = { address: ADDRESS, currency: 'ETH', label: 'Locky', lastmod: '2023-02-22' };

  test.each([
    ['by its abuse', { abuse: 'ransomware', category: 'user' }, 'ransomware'],
    ['by its concepts', { concepts: 'user ransomware' }, 'ransomware'],
    ['by its category', { category: 'scam', source: 'https://example.org/x' }, 'scam'],
    ['of a hacked exchange', { category: 'exchange', abuse: 'service_hack' }, 'service_hack'],
  ])('flags an address %s', (_, more, category) => {
    expect(judged({ ...TAG, ...more }, 'tagpack')).toMatchObject({
      row: {
        address: ADDRESS,
        tag: 'Locky',
        category,
        chain: 'ethereum',
        first_seen: '2023-02-22',
      },
    });
  });

  test('of no abuse flags nobody, and each refusal names a field of the format', () => {
    const none = { code: 'no_abuse', about: null };
    expect(judged({ ...TAG, category: 'exchange' }, 'tagpack')).toEqual(none);
    const abuse = { ...TAG, abuse: 'scam' };
    for (const [more, refused] of [
      [{ lastmod: 'once' }, { code: 'bad_time', about: 'lastmod' }],
      [{ source: 'ftp://x' }, { code: 'bad_link', about: 'source' }],
      [{ label: 'a\u202eb' }, { code: 'bad_text', about: 'label' }],
    ] as const) {
      expect(judged({ ...abuse, ...more }, 'tagpack')).toEqual(refused);
    }
  });
});
