// The word of each table comes from typed fields, and never mistakes one state for another.

import { expect, test } from 'vitest';
import { looksOf } from './shapes.ts';

const CHECKED = {
  exchange_table: true,
  launch_corpus: null,
  other_lists: true,
  sanctions_list: true,
} as const;
const MISS = { listed: false, entity: null, equivalent_forms: [] } as const;
const RESULT = {
  kind: 'evm',
  exchange: null,
  launches: null,
  sanctions: { listed: false },
  equivalent_forms: [],
  other_lists: [MISS],
  checked: CHECKED,
} as const;

test('no record, not checked, not asked and does not apply are four words', () => {
  expect(looksOf(RESULT)).toEqual({
    sanctions_list: 'no_record',
    equivalent_forms: 'no_record',
    other_lists: 'no_record',
    exchange_table: 'no_record',
    launch_corpus: 'does_not_apply',
  });
  const checked = { ...CHECKED, other_lists: false, sanctions_list: false, exchange_table: null };
  const unread = { sanctions: null, equivalent_forms: null, other_lists: null, kind: 'solana' };
  expect(looksOf({ ...RESULT, ...unread, checked })).toEqual({
    sanctions_list: 'not_checked',
    equivalent_forms: 'not_checked',
    other_lists: 'not_checked',
    exchange_table: 'not_asked',
    launch_corpus: 'not_asked',
  });
});

test('another form, another list and a list in part each have a word of their own', () => {
  const form = { ...RESULT, equivalent_forms: [{}] };
  expect(looksOf(form)).toMatchObject({ sanctions_list: 'no_record', equivalent_forms: 'listed' });
  const othersOf = (...lists: NonNullable<Parameters<typeof looksOf>[0]['other_lists']>) =>
    looksOf({ ...RESULT, other_lists: lists }).other_lists;
  const open = { listed: null, entity: null, equivalent_forms: null };
  expect(othersOf(MISS, open)).toBe('not_checked');
  expect(othersOf(open, { ...MISS, listed: true })).toBe('listed');
  expect(othersOf(open, { ...MISS, equivalent_forms: [{}] })).toBe('form_listed');
  expect(othersOf(MISS, { ...MISS, entity: 'Doe' })).toBe('ended');
});
