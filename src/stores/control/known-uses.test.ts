import { describe, expect, test } from 'vitest';
import { knownUses, SEEN_FRESH_MS } from './keys.ts';

const DAY = '2026-11-21';

describe('uses that were seen', () => {
  test('a spent allowance stays spent for its period without a question', () => {
    let nowMs = 0;
    const known = knownUses(() => nowMs);
    known.saw('a', DAY, 10);
    nowMs = 80_000_000;
    expect(known.recent('a', DAY, 10)).toBe(10);
    expect(known.recent('a', '2026-11-22', 10)).toBeNull();
    expect(known.recent('a', DAY, 11)).toBeNull();
  });

  test('what is not spent is known for two seconds, and not when the clock was set back', () => {
    let nowMs = 1_000_000;
    const known = knownUses(() => nowMs);
    expect(known.recent('a', DAY, 10)).toBeNull();
    known.saw('a', DAY, 3);
    nowMs += SEEN_FRESH_MS - 1;
    expect(known.recent('a', DAY, 10)).toBe(3);
    nowMs += 1;
    expect(known.recent('a', DAY, 10)).toBeNull();
    nowMs = 0;
    expect(known.recent('a', DAY, 10)).toBeNull();
  });

  test('an answer that comes late does not take a larger use back', () => {
    const known = knownUses(() => 0);
    known.saw('a', DAY, 10);
    known.saw('a', DAY, 9);
    expect(known.recent('a', DAY, 10)).toBe(10);
    known.saw('a', '2026-11-22', 1);
    expect(known.recent('a', '2026-11-22', 10)).toBe(1);
  });
});
