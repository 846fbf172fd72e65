import { describe, expect, test } from 'vitest';
import { closingLines, reasonInTitle } from './summary-reporter.ts';

describe('the closing lines', () => {
  test('the last line stands alone and counts everything', () => {
    expect(closingLines({ passed: 3, failed: 0, skipped: [] }).at(-1)).toBe(
      '3 passed, 0 failed, 0 skipped',
    );
  });

  test('every skipped test is counted under its reason, one without a reason too', () => {
    const skipped = [
      { reason: 'no PostgreSQL', title: 'a' },
      { reason: null, title: 'b' },
      ...Array.from({ length: 7 }, (_, i) => ({ reason: 'no data', title: `t${i}` })),
    ];
    expect(closingLines({ passed: 1, failed: 2, skipped })).toEqual([
      '',
      'skipped 1: no PostgreSQL',
      '    a',
      'skipped 1: no reason given',
      '    b',
      'skipped 7: no data',
      '    t0',
      '    t1',
      '    t2',
      '    t3',
      '    t4',
      '    and 2 more',
      '1 passed, 2 failed, 9 skipped',
    ]);
  });

  test.each([
    ['a server (skipped: no data) > works', 'no data'],
    [
      'a server skipped: no PostgreSQL server (install postgresql-15)',
      'no PostgreSQL server (install postgresql-15)',
    ],
    ['listed (skipped where the real list is absent)', 'where the real list is absent'],
    ['nothing is left out', null],
  ])('the reason in %j is %j', (title, reason) => {
    expect(reasonInTitle(title)).toBe(reason);
  });
});
