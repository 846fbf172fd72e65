import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ageOf, listAgeText } from './sanctions.ts';

const HOUR = 3_600;
const DAY = 86_400;
const WEEK = 7 * DAY;
const NOW = Date.UTC(2026, 10, 21) / 1_000;

const CHECKED = (span: string) => `The list was last checked against its publisher ${span} ago.`;
const PUBLISHED = (day: string, span: string) => `The publication is of ${day}, ${span} ago.`;
const LIFTED = 'The age limit of the list is lifted on this deployment.';
const TOO_OLD = (age: string, limit: string) =>
  `The list was last checked ${age} ago; past ${limit} it can show a listing, not an absence.`;

const ASKED = { now: NOW, checked_by: 'asked', superseded: null } as const;
const REFUSED = {
  published: '2026-11-21',
  source_url: 'https://publisher.example',
  code: 'unknown_root',
};
const STANDS = (span: string) =>
  `A list of 2026-11-21 from https://publisher.example, first seen ${span} ago, was refused ` +
  '(unknown_root) and is not in force.';

const SUPERSEDED = (span: string) =>
  `A list of 2026-11-21 stands refused for ${span} (unknown_root); an older one shows no absence.`;

describe('the age rule', () => {
  const table: readonly [
    name: string,
    age_s: number,
    published: string,
    maxAgeS: number | null,
    notes: string[],
    tooOld: string | null,
  ][] = [
    ['checked just now', 0, '2026-11-20', WEEK, [], null],
    ['checked a second under a day ago', DAY - 1, '2026-11-20', WEEK, [], null],
    ['checked a day ago', DAY, '2026-11-20', WEEK, [CHECKED('24 hours')], null],
    ['checked three days ago', 3 * DAY, '2026-11-10', WEEK, [CHECKED('3 days')], null],
    ['at its maximum age', WEEK, '2026-11-10', WEEK, [CHECKED('7 days')], null],
    [
      'past its maximum age',
      WEEK + 1,
      '2026-11-10',
      WEEK,
      [CHECKED('7 days')],
      TOO_OLD('7 days', '7 days'),
    ],
    [
      'past a maximum age of hours',
      2 * HOUR,
      '2026-11-20',
      HOUR,
      [],
      TOO_OLD('2 hours', '60 minutes'),
    ],
    ['a limit that is lifted is always said', 0, '2026-11-20', null, [LIFTED], null],
    [
      'very old with the limit lifted',
      600 * DAY,
      '2025-03-31',
      null,
      [CHECKED('600 days'), PUBLISHED('2025-03-31', '600 days'), LIFTED],
      null,
    ],
    ['a publication of 30 days', 0, '2026-10-22', WEEK, [], null],
    [
      'a publication of 31 days, however recently checked',
      0,
      '2026-10-21',
      WEEK,
      [PUBLISHED('2026-10-21', '31 days')],
      null,
    ],
  ];
  test.each(table)('%s', (_name, age_s, published, maxAgeS, notes, tooOld) => {
    const age = ageOf({ ...ASKED, checked_at: NOW - age_s, published, maxAgeS });
    expect(age.notes).toEqual(notes);
    expect(age.tooOld === null ? null : age.tooOld.reason).toBe(tooOld);
  });

  test.each([
    ['at once, without a word of the limit', 60, WEEK, null],
    ['for a day', DAY, WEEK, null],
    ['and no longer', DAY + 1, WEEK, SUPERSEDED('24 hours')],
    ['whether the age limit is lifted or not', 3 * DAY, null, SUPERSEDED('3 days')],
  ] as const)('a newer refused list is told %s', (_name, since_s, maxAgeS, tooOld) => {
    const superseded = { ...REFUSED, since: NOW - since_s };
    const times = { ...ASKED, checked_at: NOW, published: '2026-11-20', superseded, maxAgeS };
    const age = ageOf(times);
    expect(age.notes.slice(0, 1)).toEqual([STANDS(listAgeText(since_s))]);
    expect(age.tooOld === null ? null : age.tooOld.reason).toBe(tooOld);
  });

  test('what nobody vouched for says so, and what an operator states is always said', () => {
    const checked = { ...ASKED, checked_at: NOW - 2 * DAY, published: '2026-11-19', maxAgeS: WEEK };
    expect(ageOf({ ...checked, checked_by: 'own_date' }).notes).toEqual([
      'The publisher did not confirm the list: it counts as checked on its own publication date, ' +
        '2 days ago.',
    ]);
    expect(ageOf({ ...checked, checked_at: NOW - 60, checked_by: 'obtained' }).notes).toEqual([
      'The operator states that the list was obtained at 2026-11-20T23:59Z, 60 seconds ago.',
    ]);
  });

  test('a list of a day to come shows no absence, however recently it was checked', () => {
    const ahead = (published: string) =>
      ageOf({ ...ASKED, checked_at: NOW, published, maxAgeS: null }).tooOld;
    expect(ahead('2026-11-22')).toBeNull();
    expect(ahead('2026-11-23')?.reason).toBe(
      'The list is of 2026-11-23, ahead of its clock (2026-11-21); it shows no absence.',
    );
  });

  test('no age past the limit is ever let through, whatever the limit', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000 * DAY),
        fc.integer({ min: 1, max: 9_999 * DAY }),
        (age, maxAgeS) => {
          const { tooOld } = ageOf({
            ...ASKED,
            checked_at: NOW - age,
            published: '2026-11-20',
            maxAgeS,
          });
          expect(tooOld !== null).toBe(age > maxAgeS);
        },
      ),
    );
  });

  test('spans are told in the largest unit of which there are two or more', () => {
    const spans = [-5, 0, 1, 90, 119, 120, 7_199, 7_200, DAY, 2 * DAY - 1, 2 * DAY, 400 * DAY];
    expect(spans.map(listAgeText)).toEqual([
      '0 seconds',
      '0 seconds',
      '1 second',
      '90 seconds',
      '119 seconds',
      '2 minutes',
      '119 minutes',
      '2 hours',
      '24 hours',
      '47 hours',
      '2 days',
      '400 days',
    ]);
  });
});
