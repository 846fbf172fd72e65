// Is each refusal a row with a body of its own, and is bad input named but never echoed at length?

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { badInput, PROBLEMS_SHOWN_MAX, REFUSALS } from './refusals.ts';

describe('bad input', () => {
  const text = fc.string({ maxLength: 2_000 });
  const wrong = fc.record({
    path: fc.array(fc.oneof(text, fc.nat()), { maxLength: 2 }),
    says: text,
  });

  test('names each problem in order', () => {
    const fields = [
      { path: ['limit'], says: 'an integer of 1 to 100' },
      { path: ['addresses', 3, 'form'], says: 'at most 64 characters' },
    ];
    const refusal = badInput(fields);
    expect(refusal.status).toBe(400);
    expect(refusal.body).toEqual({
      error: 'limit: an integer of 1 to 100; addresses[3].form: at most 64 characters',
      fields,
    });
  });

  test('however many and long the problems, the body stays under 8 KiB and counts the rest', () => {
    fc.assert(
      fc.property(fc.array(wrong, { minLength: 1, maxLength: 600 }), (problems) => {
        const { error, fields } = REFUSALS.bad_input.body.parse(badInput(problems).body);
        expect(error.length).toBeLessThan(8 * 1024);
        expect(JSON.stringify(fields.map(({ path }) => path)).length).toBeLessThan(16 * 1024);
        const rest = problems.length - PROBLEMS_SHOWN_MAX;
        if (rest > 0) expect(error.endsWith(`; and ${rest} more`)).toBe(true);
      }),
    );
  });
});

test('every refusal has an error status and says what it means', () => {
  for (const row of Object.values(REFUSALS)) {
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    expect(row.means).toMatch(/\.$/);
  }
});
