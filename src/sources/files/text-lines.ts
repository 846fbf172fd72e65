// Which lines does a text hold, numbered from 1, and does the last of them end?
// Blank lines are counted and passed over; a line without end is a fault of the file.

import { StringDecoder } from 'node:string_decoder';
import { written } from '../../evidence/measure.ts';
import { FileFault } from './fault.ts';

/** One line. Only the last of a text may have no end. */
export type TextLine = {
  readonly line: number;
  readonly text: string;
  readonly isEnded: boolean;
};

/** The lines of a text in UTF-8, with or without a byte order mark. */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array>,
  charsMax: number,
): AsyncGenerator<TextLine> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let line = 0;
  const numbered = (held: string, isEnded: boolean): TextLine => {
    line += 1;
    return { line, text: line === 1 ? held.replace(/^\ufeff/, '') : held, isEnded };
  };
  for await (const chunk of chunks) {
    const whole = (rest + decoder.write(Buffer.from(chunk))).split('\n');
    rest = written(whole.pop());
    if (rest.length > charsMax) throw new FileFault('a line is too long');
    for (const held of whole) {
      const one = numbered(held, true);
      if (one.text.trim() !== '') yield one;
    }
  }
  const last = numbered(rest + decoder.end(), false);
  if (last.text.trim() !== '') yield last;
}
