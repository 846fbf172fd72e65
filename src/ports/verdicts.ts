// The rules that say which evidence supports a verdict, and the analyst that may word one. Keys are
// those of a bundle; `*` in a key of a rule stands for one segment, the same in all of its keys.

import { z } from 'zod';
import type { Reading } from '../evidence/reading.ts';

/** The name of this port in readings. */
export type VerdictRulesPort = 'verdict_rules';

/** A test of one key: its value equals one of some words, or is at least a number or a key. */
export type RuleTest =
  | { readonly key: string; readonly is: 'one_of'; readonly words: readonly string[] }
  | { readonly key: string; readonly is: 'at_least'; readonly number: string }
  | { readonly key: string; readonly is: 'at_least_key'; readonly other: string };

/** One rule: every test must hold for the verdict to be supported. */
export type VerdictRule = {
  readonly name: string;
  readonly verdict: 'avoid';
  readonly tests: readonly [RuleTest, ...RuleTest[]];
  /** Further keys that must be there, and are cited beside those of the tests. */
  readonly cites: readonly string[];
  /** Our sentence, in which `{key}` stands for the value of a key of the rule. */
  readonly says: string;
  readonly confidence_millionths: number;
  readonly confidence_basis: 'assumed' | 'measured';
  /** The outcomes of a measured confidence. */
  readonly n: number | null;
  readonly source: string;
  readonly source_url: string;
  /** ISO 8601 day of the last review. */
  readonly reviewed: string;
};

/** The table in force. `version` names its exact bytes. */
export type VerdictRuleTable = {
  readonly version: string;
  readonly rules: readonly VerdictRule[];
};

export type VerdictRules = () => Promise<Reading<VerdictRuleTable, VerdictRulesPort>>;

/** The version of a table: the grammar of rules, and the first 12 digits of its SHA-256. */
export function rulesVersion(sha256: string): string {
  return `rules-1-${sha256.slice(0, 12)}`;
}

const KEY = /^[a-z_]+(\.([a-z0-9_]+|\*))+$/;
const WORD = /^[a-z0-9_]+$/;
const NUMBER = /^\d{1,15}(\.\d{1,15})?$/;
/** Keys of the sources of which nothing ever supports a verdict. */
const NEVER_SUPPORT = ['labels', 'venue', 'bridges', 'cluster', 'funding', 'net_flow', 'holders'];

/** Whether a text names a key of a bundle, in which `*` may stand for a segment. */
export function isRuleKey(text: string): boolean {
  return KEY.test(text);
}

/**
 * The tests of a cell: `key = word|word`, `key >= 3` or `key >= other.key`, several joined by
 * ` & `; what is wrong with it otherwise.
 */
export function parseRuleTests(cell: string): [RuleTest, ...RuleTest[]] | string {
  const tests: RuleTest[] = [];
  for (const text of cell.split(' & ')) {
    const [key, sign, value, ...rest] = text.split(' ');
    if (key === undefined || sign === undefined || value === undefined || rest.length > 0) {
      return `not a test: ${text}`;
    }
    if (!KEY.test(key)) return `not a key: ${key}`;
    if (NEVER_SUPPORT.some((source) => key.startsWith(`${source}.`))) {
      return `a key that never supports a verdict: ${key}`;
    }
    const test = testOf(key, sign, value);
    if (test === null) return `not a test: ${text}`;
    tests.push(test);
  }
  const [first, ...more] = tests;
  return first === undefined ? 'no test' : [first, ...more];
}

function testOf(key: string, sign: string, value: string): RuleTest | null {
  if (sign === '=') {
    const words = value.split('|');
    return words.every((word) => WORD.test(word)) ? { key, is: 'one_of', words } : null;
  }
  if (sign !== '>=') return null;
  if (NUMBER.test(value)) return { key, is: 'at_least', number: value };
  return KEY.test(value) ? { key, is: 'at_least_key', other: value } : null;
}

/** Every key that a rule rests on, in the order of its tests; `*` stands in them as it is. */
export function keysOfRule({ tests, cites }: VerdictRule): string[] {
  const tested = tests.flatMap((one) =>
    one.is === 'at_least_key' ? [one.key, one.other] : [one.key],
  );
  return [...new Set([...tested, ...cites])];
}

// An analyst is asked for words and a choice. It has no tools, and nothing that it says stands
// unless the bundle holds it.

/** The name of this port in readings. */
export type VerdictAnalystPort = 'verdict_analyst';

/** The message that an analyst is sent: what it is to do, and the bundle as data. */
export type AnalystRequest = {
  readonly instructions: string;
  /** JSON. Nothing in it is an instruction. */
  readonly bundle: string;
};

/** The bounds of what an analyst may say. */
export const ANALYST_BOUNDS = { sentencesMax: 12, sentenceCharsMax: 400, keysMax: 40 } as const;

/** What an analyst proposes. */
export const analystProposal = z.strictObject({
  verdict: z.string().max(40),
  evidence_used: z.array(z.string().max(120)).max(ANALYST_BOUNDS.keysMax).readonly(),
  sentences: z
    .array(
      z.strictObject({
        text: z.string().max(ANALYST_BOUNDS.sentenceCharsMax),
        keys: z.array(z.string().max(120)).max(ANALYST_BOUNDS.keysMax).readonly(),
      }),
    )
    .max(ANALYST_BOUNDS.sentencesMax)
    .readonly(),
});
export type AnalystProposal = Readonly<z.output<typeof analystProposal>>;

/** An answer that was paid for; `proposal` is `null` where it is none. */
export type AnalystAnswer = {
  readonly proposal: AnalystProposal | null;
  readonly cost_usd: number;
};

/** A language model, or whatever words a verdict. It is unread where it is silent or too dear. */
export type VerdictAnalyst = {
  /** Its name, as answers show it. */
  readonly model: string;
  readonly propose: (
    request: AnalystRequest,
    signal: AbortSignal,
  ) => Promise<Reading<AnalystAnswer, VerdictAnalystPort>>;
};
