// The whole text of a page, whose pieces are drawn one after another.

import type { Reply } from '../contract/answer.ts';

/** The text of a reply, with all that follows its beginning. A piece that fails throws. */
export async function wholePageOf(reply: Pick<Reply<never>, 'body' | 'rest'>): Promise<string> {
  const { rest } = reply;
  if (rest === null) return String(reply.body);
  const drawn = await Promise.all(rest.pieces.map(({ draw }) => draw()));
  return String(reply.body) + drawn.join('') + rest.end;
}
