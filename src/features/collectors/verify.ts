// Decides what stands of a proposed verdict. A verdict stands if a rule holds in the bundle and all
// of its keys are cited; a citation, if the bundle holds it; a sentence, if nothing is in it but
// the values of its keys, each behind the name of its key, and a few plain words. So a sentence of
// a language model can order what was read, and can say nothing else.

import type { AnalystProposal, VerdictRuleTable } from '../../ports/verdicts.ts';
import { citable } from './bundle.ts';
import { plainText, type Support, supportsOf } from './rules.ts';
import type { Bundle } from './shapes.ts';

/** What stands of a proposal. `supports` are the rules whose keys it cites. */
export type ProposalCheck = {
  readonly supports: readonly Support[];
  /** Whether the verdict is one that stands: `no_opinion` always does. */
  readonly isSupported: boolean;
  readonly citations: readonly string[];
  readonly sentences: readonly { readonly text: string; readonly keys: readonly string[] }[];
};

/** Verifies a proposal against the bundle and the rules. */
export function verifyProposal(
  bundle: Bundle,
  table: VerdictRuleTable,
  { verdict, evidence_used, sentences }: AnalystProposal,
): ProposalCheck {
  const citations = [...new Set(evidence_used)].filter((key) => citable(bundle, key) !== null);
  const cited = new Set(citations);
  const supports = supportsOf(bundle, table).filter(
    ({ rule, keys }) => rule.verdict === verdict && keys.every((key) => cited.has(key)),
  );
  return {
    supports,
    isSupported: verdict === 'no_opinion' || supports.length > 0,
    citations,
    sentences: sentences.filter(({ text, keys }) => saysItsKeys(bundle, text, keys)),
  };
}

/** The words that may stand between the names and values of keys. None denies and none advises. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the of on in at by to for from with and as is are was were has have its it this that ' +
    'these those value values key keys source sources address target token record records read ' +
    'says shows gives states reported observed held'
  ).split(' '),
);

const SENTENCE_CHARS_MAX = 400;
const KEYS_MAX = 12;
/** What is a word: a run without space, less the marks around it. */
const MARKS_BEFORE = /^[("'“]+/;
const MARKS_BEHIND = /[.,;:!?)"'”]+$/;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/**
 * Whether a sentence says its keys and nothing else. In the order of its keys it has the words of
 * each key's last segment and then its value; every other word is a plain one.
 */
export function saysItsKeys(bundle: Bundle, text: string, keys: readonly string[]): boolean {
  if (text.length > SENTENCE_CHARS_MAX || !PRINTABLE_ASCII.test(text)) return false;
  if (keys.length === 0 || keys.length > KEYS_MAX || new Set(keys).size < keys.length) return false;
  const words = text
    .split(' ')
    .map(wordOf)
    .filter((word) => word !== '');
  const past = keys.reduce<number | null>(
    (at, key) => (at === null ? null : endOfStatement(words, at, key, plainText(bundle, key))),
    0,
  );
  return past !== null && words.slice(past).every((word) => PLAIN_WORDS.has(word.toLowerCase()));
}

function wordOf(run: string): string {
  return run.replace(MARKS_BEFORE, '').replace(MARKS_BEHIND, '');
}

/** Where the statement of a key ends: behind its value. `null` where it is none. */
function endOfStatement(
  words: readonly string[],
  from: number,
  key: string,
  value: string | null,
): number | null {
  const [source, ...path] = key.split('.');
  const last = path.at(-1);
  if (source === undefined || last === undefined || value === null) return null;
  const missing = new Set(last.split('_'));
  // A number in a path is no value: it may not be said.
  const parts = [source, ...path].flatMap((one) => [one, ...one.split('_')]);
  const allowed = new Set(parts.filter((one) => !DIGIT.test(one)));
  const valueWords = value.split(' ').map(wordOf);
  for (let at = from; at < words.length; at += 1) {
    if (missing.size === 0 && valueWords.every((word, i) => words[at + i] === word)) {
      return at + valueWords.length;
    }
    const word = String(words[at]).toLowerCase();
    if (!PLAIN_WORDS.has(word) && !allowed.has(word)) return null;
    if (word === last) missing.clear();
    missing.delete(word);
  }
  return null;
}

const DIGIT = /[0-9]/;
