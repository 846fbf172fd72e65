// Turns good input into bad: bytes and texts that a parser meets from whoever wants to break it.
// The same seed spoils in the same ways.

import type { Lottery } from './lottery.ts';

/** The most changes of one input. */
const CHANGES_MAX = 6;
/** A changed input is at most so long, so that a run takes no memory that grows. */
const BYTES_MAX = 64 * 1024;
const DEPTH = 2_000;

const bytesOf = (text: string) => Buffer.from(text, 'utf8');

/** Pieces that have broken parsers of text, JSON, XML, YAML and CSV; and bytes that are no text. */
const PIECES: readonly Buffer[] = [
  ...[
    '\u0000',
    '\r',
    '\n',
    '\n\n',
    '\u2028',
    '\ufeff',
    '\u202e',
    '😀',
    '"',
    "'",
    '\\',
    '\\u0000',
    '\\ud800',
    '{"__proto__":{"polluted":true}}',
    '"__proto__":{"polluted":true},',
    '"constructor":{"prototype":{"polluted":true}},',
    '"a":1,"a":2,',
    '{}',
    '[]',
    'null',
    'true',
    'NaN',
    '-0',
    '1e400',
    '9007199254740993',
    '0x',
    '-1',
    '00',
    '[',
    '{"a":',
    ']]>',
    '<!DOCTYPE a [<!ENTITY b "c">]>',
    '&b;',
    '&#x0;',
    '<![CDATA[',
    '<!--',
    '&a [*a, *a]',
    '*a',
    '!!js/function',
    '<<: *a',
    '""',
    '","',
    ';'.repeat(100),
    '=',
    '==',
    '— ',
    '%00',
    '../',
    'x'.repeat(300),
  ].map(bytesOf),
  Buffer.from([0xff]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xf4, 0x90, 0x80, 0x80]),
];

/** One input from one of the good ones, changed at one to six places. */
export function spoilBytes(seeds: readonly Uint8Array[], lottery: Lottery): Buffer {
  let bytes: Buffer = Buffer.from(lottery.oneOf(seeds));
  for (let left = 1 + lottery.below(CHANGES_MAX); left > 0; left -= 1) {
    bytes = changeOnce(bytes, seeds, lottery).subarray(0, BYTES_MAX);
  }
  return bytes;
}

function changeOnce(bytes: Buffer, seeds: readonly Uint8Array[], lottery: Lottery): Buffer {
  const at = lottery.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + lottery.below(40));
  const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
  const change = lottery.below(8);
  switch (change) {
    case 0: {
      const flipped = Buffer.from(bytes);
      if (at < flipped.length) flipped[at] = lottery.below(256);
      return flipped;
    }
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, cut, cut, after]);
    case 3:
      return before;
    case 4: {
      const other = Buffer.from(lottery.oneOf(seeds));
      return Buffer.concat([before, other.subarray(lottery.below(other.length + 1))]);
    }
    case 5: {
      const opener = lottery.oneOf(['[', '{"a":', '<a>', '- ', '(', '"'].map(bytesOf));
      const many = Buffer.concat(Array.from({ length: lottery.below(DEPTH) }, () => opener));
      return Buffer.concat([before, many, after]);
    }
    case 6:
      return Buffer.concat([before, lottery.oneOf(PIECES), after]);
    default:
      return Buffer.concat([before, lottery.oneOf(PIECES), cut, after]);
  }
}
