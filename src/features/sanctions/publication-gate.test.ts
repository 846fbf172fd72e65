import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listOf, row } from '../../ports/publication-store.suite.ts';
import type { LastGood } from '../../ports/sanctions.ts';
import {
  absoluteGate,
  BASELINE,
  clockGate,
  GATE_CODES,
  publicationGate,
  relativeGate,
  SHARES,
  sameDayGate,
} from './publication-gate.ts';

const weighed = (published: string, addresses: number, parties = 1000): LastGood => {
  return { published, distinct_addresses: addresses, parties };
};
const last = weighed('2026-09-30', 1000);
const codeOf = (publication: LastGood, before: LastGood | null) =>
  relativeGate(publication, before, BASELINE, SHARES)?.code;

describe('the absolute gate', () => {
  test('passes at the floor and refuses one below it', () => {
    expect(absoluteGate(weighed('2025-01-01', 500), { floor: 500 })).toBeNull();
    expect(absoluteGate(weighed('2025-01-01', 499), { floor: 500 })).toEqual({
      refused: true,
      code: 'below_floor',
      reason: 'it holds 499 distinct addresses, under 500',
      size: false,
    });
  });

  test('refuses an empty list whatever the floor', () => {
    expect(absoluteGate(weighed('2025-01-01', 0), { floor: 0 })?.code).toBe('no_addresses');
  });
});

describe('the relative gate', () => {
  test('takes the same day again, and refuses an older one before it looks at any size', () => {
    expect(codeOf(weighed('2026-09-30', 1000), last)).toBeUndefined();
    expect(codeOf(weighed('2026-09-29', 1), last)).toBe('older_publication');
  });

  test('holds a list to four fifths of the addresses and nine tenths of the parties', () => {
    expect(codeOf(weighed('2026-10-01', 800, 900), last)).toBeUndefined();
    expect(codeOf(weighed('2026-10-01', 799, 900), last)).toBe('too_few_addresses');
    expect(codeOf(weighed('2026-10-01', 800, 899), last)).toBe('too_few_parties');
  });

  test('without a last good list: to four fifths of the baseline, from its day on', () => {
    expect(codeOf(weighed('2026-09-23', 835), null)).toBeUndefined();
    expect(codeOf(weighed('2026-09-23', 834), null)).toBe('too_few_addresses');
    expect(codeOf(weighed('2026-09-22', 1), null)).toBeUndefined();
  });

  test('names what it compares with', () => {
    expect(relativeGate(weighed('2026-10-01', 10), last, BASELINE, SHARES)?.reason).toBe(
      'it holds 10 distinct addresses, under 80% of the 1000 of the last good list',
    );
  });

  test('never passes a list that lost a quarter of its addresses', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 1e6 }), (n, p) => {
        const cut = weighed('2026-10-01', Math.floor(n * 0.75), p);
        const outcome = relativeGate(cut, weighed('2026-09-30', n, p), BASELINE, SHARES);
        return outcome?.size === true;
      }),
    );
  });
});

describe('the gate of the clock', () => {
  const noon = Date.UTC(2026, 10, 21, 12) / 1_000;
  const aheadAt = (published: string, now = noon) => clockGate({ published }, now)?.code;

  test('passes any day up to tomorrow, and refuses the one after it', () => {
    const days = ['1999-12-31', '2026-11-21', '2026-11-22'];
    expect(days.map((day) => aheadAt(day))).toEqual([undefined, undefined, undefined]);
    expect(clockGate({ published: '2026-11-23' }, noon)).toEqual({
      refused: true,
      code: 'future_publication',
      reason: 'it is of 2026-11-23, over a day ahead of the clock (2026-11-21)',
      size: false,
    });
  });

  test('counts the day from midnight, UTC', () => {
    const midnight = Date.UTC(2026, 10, 22) / 1_000;
    expect(aheadAt('2026-11-23', midnight - 1)).toBe('future_publication');
    expect(aheadAt('2026-11-23', midnight)).toBeUndefined();
  });
});

test('an operator may accept what the rules of size refuse, and nothing else', () => {
  const future = clockGate(weighed('2027-01-01', 1000), 0);
  const older = relativeGate(weighed('2026-09-29', 1000), last, BASELINE, SHARES);
  const fewAddresses = relativeGate(weighed('2026-10-01', 1), last, BASELINE, SHARES);
  const fewParties = relativeGate(weighed('2026-10-01', 1000, 1), last, BASELINE, SHARES);
  const empty = absoluteGate(weighed('2026-10-01', 0), { floor: 1 });
  const below = absoluteGate(weighed('2026-10-01', 1), { floor: 2 });
  const sameDay = sameDayGate({ addresses: [] }, [row('a', '1')]);
  const refused = [empty, below, older, future, fewAddresses, fewParties, sameDay];
  expect(refused.map((one) => one?.code)).toEqual(Object.keys(GATE_CODES));
  expect(refused.map((one) => one?.size)).toEqual([false, false, false, false, true, true, true]);
});

describe('two files of one day from two sources', () => {
  test('the later may add addresses and list them otherwise, and takes none away', () => {
    const held = [row('a', '1'), row('b', '2')];
    const listing = (...addresses: string[]) => ({
      addresses: addresses.map((one) => row(one, '9')),
    });
    expect(sameDayGate(listing('a', 'b', 'c'), held)).toBeNull();
    expect(sameDayGate(listing('a', 'c', 'd'), held)?.reason).toBe(
      'it lacks 1 of the addresses of the list in force, which is of the same day and another source',
    );
  });
});

test('a list of a day to come that is in force keeps no true list out', () => {
  const gate = publicationGate(1);
  const now = Date.UTC(2026, 10, 21) / 1_000;
  const today = { ...listOf('2026-11-20', '1', [row('a', '1')]), parties: 1000 };
  const of = (published: string) => ({ ...weighed(published, 1), parties: 1000 });
  expect(gate.relative(today, of('2027-12-26'), now)).toBeNull();
  expect(gate.relative(today, of('2026-11-21'), now)?.code).toBe('older_publication');
});
