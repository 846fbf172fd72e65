import { describe, expect, test } from 'vitest';
import { factLines, formatTime, tableLines, timeText, wantsColour } from './output.ts';

const PLAIN = { colour: false };

describe('tables', () => {
  test('columns are aligned, numbers to the right, and nothing is left blank', () => {
    expect(
      tableLines(
        [{ title: 'name' }, { title: 'n', right: true }, { title: 'x' }],
        [
          ['a', 1, null],
          ['longer', 200, ''],
        ],
        PLAIN,
      ),
    ).toEqual(['name      n  x', 'a         1  –', 'longer  200  –']);
  });

  test('a cell cannot move the cursor, change colours or break its line', () => {
    const [, row] = tableLines([{ title: 'x' }], [['a\u001b[2Jb\nc\u202e']], PLAIN);
    expect(row).toBe('a�[2Jb�c�');
  });

  test('headings are bold on a terminal that shows colour, and only there', () => {
    const [head] = tableLines([{ title: 'x' }], [], { colour: true });
    expect(head).toBe('\u001b[1mx\u001b[0m');
  });

  test('facts are aligned', () => {
    expect(
      factLines([
        ['a', 1],
        ['long', null],
      ]),
    ).toEqual(['a     1', 'long  –']);
  });
});

describe('colour', () => {
  const TTY = { isTTY: true };
  test('a terminal gets it; a pipe, NO_COLOR and a dumb terminal do not', () => {
    expect(wantsColour(TTY, { noColour: false, dumb: false })).toBe(true);
    expect(wantsColour({}, { noColour: false, dumb: false })).toBe(false);
    expect(wantsColour(TTY, { noColour: true, dumb: false })).toBe(false);
    expect(wantsColour(TTY, { noColour: false, dumb: true })).toBe(false);
  });
});

test('times are UTC', () => {
  expect(timeText(1_763_700_000)).toBe('2025-11-21 04:40 UTC');
  expect(timeText(null)).toBeNull();
  expect(formatTime(1_763_700_000.9)).toBe('2025-11-21T04:40:00Z');
});
