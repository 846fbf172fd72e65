// Is every reason one finished sentence, filled, in one voice, and without advice?

import { describe, expect, test } from 'vitest';
import { REASONS, why } from './reasons.ts';

const HOLE = /\{[a-z_]+\}/;
const ADVICE = /\b(buy|safe|clean|risk-free|guarantee\w*)\b/i;
const CODE = /^[a-z][a-z0-9_]*$/;

describe.each(Object.entries(REASONS))('%s', (code, row) => {
  test('has a code, a sentence, a meaning and a next step', () => {
    expect(code).toMatch(CODE);
    for (const text of [row.sentence, row.means, row.next]) expect(text.trim()).toBe(text);
    expect(row.sentence.length).toBeGreaterThan(0);
    expect(row.means).toMatch(/\.$/);
    expect(row.next).toMatch(/\.$/);
  });

  test('advises nothing and clears nobody', () => {
    for (const text of [row.sentence, row.means, row.next]) expect(text).not.toMatch(ADVICE);
  });

  test('only its sentence has holes', () => {
    expect(row.means).not.toMatch(HOLE);
    expect(row.next).not.toMatch(HOLE);
  });
});

describe('why', () => {
  test('fills each hole', () => {
    expect(why('timed_out', { what: 'The list', limit: '20 s' })).toEqual({
      code: 'timed_out',
      reason: 'The list did not answer within 20 s.',
    });
  });

  test('a filling that looks like a hole of another name is not filled again by chance', () => {
    const { reason } = why('timed_out', { limit: '{what}', what: '{limit}' });
    expect(reason).toBe('{limit} did not answer within {what}.');
  });

  test('a dollar sign in a filling stands for itself', () => {
    expect(why('not_configured', { what: 'A $& price' }).reason).toContain('A $& price');
  });

  test('a sentence without holes is said as it is', () => {
    expect(why('no_history').reason).toBe(REASONS.no_history.sentence);
  });
});
