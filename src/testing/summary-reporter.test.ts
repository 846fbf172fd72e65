import { describe, expect, test } from 'vitest';
import { closingLines, reasonInTitle, refusalLines, refuseInCi } from './summary-reporter.ts';

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

describe('in CI', () => {
  const data = { reason: 'no shared data', title: 'real rows' };
  const server = { reason: 'no PostgreSQL server', title: 'a server' };
  const silent = { reason: null, title: 'left out' };

  test('a skipped test fails the run by its name, whatever its reason', () => {
    const refused = refuseInCi([server, silent], {});
    expect(refused).toEqual([server, silent]);
    expect(refusalLines(refused)).toEqual([
      'a test that is skipped in CI is a failure; 2 of them:',
      '    a server',
      '    left out',
    ]);
    expect(refusalLines(refuseInCi([], {}))).toEqual([]);
  });

  test('tests of the shared data may be left out where it is absent altogether, and only there', () => {
    expect(refuseInCi([data, server], { 'no shared data': () => true })).toEqual([server]);
    expect(refuseInCi([data], { 'no shared data': () => false })).toEqual([data]);
  });
});
