// Answers one question: how does a message fit into what a platform takes?
// Facts give way, one by one and last first, and what is left out is counted; the title, the caveat
// and the link stay. Characters that are not seen, or that reorder what is, are taken out.

import { formatIsoTime } from '../../chain/time.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { ChatPost } from '../../ports/chat/chat-platforms.ts';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Characters of one line before anything is escaped. */
const LINE_CHARS_MAX = 300;
/** Those of a title: what the platforms take in theirs, escapes included. */
const TITLE_CHARS_MAX = 100;

/** How a platform counts and writes. */
export type Layout = {
  /** UTF-16 units that facts and caveat may have together as they are sent. */
  readonly unitsMax: number;
  readonly escaped: (text: string) => string;
};

/** A message whose parts are escaped and short enough. */
export type LaidOut = {
  readonly title: string;
  readonly facts: string;
  readonly caveat: string;
  /** By whom, which dispatch, when. */
  readonly foot: string;
};

// Behind what begins a mention or holds an address together stands a word joiner: a platform would
// make a link of a text that is none of ours.
const LINKING = /[@.:/](?=[\p{L}/])/gu;

function unlinked(text: string): string {
  return text.replace(LINKING, '$&\u2060');
}

/** One line without anything unseen; what is cut says so. */
export function oneLine(text: string, charsMax = LINE_CHARS_MAX): string {
  const characters = [...text.replace(UNSEEN, ' ').trim()];
  if (characters.length <= charsMax) return characters.join('');
  return `${characters.slice(0, charsMax - 1).join('')}…`;
}

/** Lays a message out for a platform. */
export function laidOut(post: ChatPost, { unitsMax, ...layout }: Layout): LaidOut {
  const escaped = (text: string): string => layout.escaped(unlinked(text));
  const { simulated } = post;
  const title = oneLine(simulated ? `Simulated: ${post.title}` : post.title, TITLE_CHARS_MAX);
  const said = simulated ? SIMULATED_CAVEAT + post.caveat : post.caveat;
  const caveat = escaped(said.replace(UNSEEN, ' '));
  const lines = post.facts.map((fact) => escaped(oneLine(fact)));
  let kept = lines.length;
  while (kept > 0 && factsText(lines, kept, escaped).length + caveat.length > unitsMax) kept -= 1;
  return {
    title: escaped(title),
    facts: factsText(lines, kept, escaped),
    caveat,
    foot: escaped(`Exhibit · dispatch ${post.dispatch} · ${formatIsoTime(post.at)}`),
  };
}

function factsText(lines: readonly string[], kept: number, escaped: Layout['escaped']): string {
  const left = lines.length - kept;
  const more = left === 0 ? [] : [escaped(`${left} more: see the page.`)];
  return [...lines.slice(0, kept), ...more].join('\n');
}
