import { describe, expect, test } from 'vitest';
import { recordingIo } from '../testing/recording-io.ts';
import { EXIT } from './command.ts';
import {
  type AnswerPart,
  factLines,
  formatTime,
  printParts,
  rowsPrinter,
  tableLines,
  timeText,
  wantsColour,
} from './output.ts';

const PLAIN = { colour: false, width: undefined };

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
      factLines(
        [
          ['a', 1],
          ['long', null],
        ],
        PLAIN,
      ),
    ).toEqual(['a     1', 'long  –']);
  });
});

describe('a terminal of a width', () => {
  const NARROW = { colour: false, width: 40 };
  const LONG = Array.from({ length: 30 }, (_, i) => `word${i}`).join(' ');
  const wordsIn = (lines: readonly string[]) => lines.join(' ').match(/word\d+/g);

  test('a long fact goes on below, under its value, and loses nothing', () => {
    const lines = factLines([['name', LONG]], NARROW);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines[1]).toMatch(/^ {6}word/);
    expect(wordsIn(lines)).toEqual(LONG.split(' '));
  });

  test('a long cell goes on below in its column, and loses nothing', () => {
    const columns = [{ title: 'a' }, { title: 'b' }];
    const lines = tableLines(columns, [['first', LONG]], NARROW);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines[2]).toMatch(/^ {7}word/);
    expect(wordsIn(lines)).toEqual(LONG.split(' '));
  });

  test('without a terminal a cell of any length stands whole on its line', () => {
    const cell = 'x'.repeat(500);
    expect(tableLines([{ title: 'a' }], [[cell]], PLAIN)).toEqual(['a', cell]);
  });

  test('rows that fit into no table are printed as facts, no word broken', () => {
    const io = recordingIo({ width: 50 });
    const address = `0x${'a'.repeat(40)}`;
    const columns = ['address', 'other lists'] as const;
    rowsPrinter(io, { columns })([{ address, 'other lists': LONG }]);
    expect(io.lines[0]).toBe(`address      ${address}`);
    expect(wordsIn(io.lines)).toEqual(LONG.split(' '));
    expect(io.lines.slice(1).every((line) => line.length <= 50)).toBe(true);
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

test('rows that come in batches stand under one heading, or a line each as JSON', () => {
  const print = (json: boolean) => {
    const io = recordingIo({ json });
    const show = rowsPrinter<{ a: string; n: number }>(io, {
      columns: ['a', ['count', ({ n }) => n, 'right']],
    });
    show([{ a: 'x', n: 1 }]);
    show([{ a: 'y', n: 20 }]);
    return io.lines;
  };
  expect(print(false)).toEqual(['a  count', 'x      1', 'y     20']);
  expect(print(true)).toEqual(['{"a":"x","n":1}', '{"a":"y","n":20}']);
});

describe('an answer of several parts', () => {
  const print = (parts: readonly AnswerPart[]) => {
    const io = recordingIo();
    return { status: printParts({ whole: true }, io, '0xa', parts), lines: io.lines };
  };
  const read = {
    facts: [['list', 'no entry']],
    caveat: 'A list.',
    simulated: false,
    status: EXIT.done,
  } as const;

  test('says not checked of a part that was not read, and the worst part decides the status', () => {
    const unread = { name: 'tables', unread: 'Silent.', status: EXIT.couldNotCheck };
    expect(print([read, unread, read])).toEqual({
      status: EXIT.couldNotCheck,
      lines: [
        '0xa',
        'list    no entry',
        'tables  not checked: Silent.',
        'list    no entry',
        'A list.',
      ],
    });
    expect(print([unread, { ...unread, status: EXIT.badUsage }]).status).toBe(EXIT.badUsage);
  });

  test('shows a long fact whole, and behind it that it is made up', () => {
    const path = 'x'.repeat(300);
    expect(print([{ ...read, facts: [['path', path]], simulated: true }]).lines).toEqual([
      '0xa',
      `path  ${path} (simulated)`,
      'A list.',
    ]);
  });
});
