// What the rules support of a bundle, and the rules' own words. A rule rests on keys of sources
// that were read whole; a key that is missing, `null` or text of others supports nothing.

import { compareDecimals, parseDecimal } from '../../chain/amount.ts';
import {
  keysOfRule,
  type RuleTest,
  type VerdictRule,
  type VerdictRuleTable,
} from '../../ports/verdicts.ts';
import { citable } from './bundle.ts';
import type { Bundle, EvidenceValue, Judgement } from './shapes.ts';

/** A rule that holds in a bundle, with the keys that it rests on there. */
export type Support = {
  readonly rule: VerdictRule;
  readonly keys: readonly string[];
  readonly sentence: string;
};

/** Every rule that holds in a bundle, the most confident first; of several rows each one. */
export function supportsOf(bundle: Bundle, { rules }: VerdictRuleTable): Support[] {
  const found = rules.flatMap((rule) =>
    segmentsFor(bundle, rule).flatMap((segment) => {
      const support = supportBy(bundle, rule, segment);
      return support === null ? [] : [support];
    }),
  );
  return found.sort((a, b) => b.rule.confidence_millionths - a.rule.confidence_millionths);
}

/** What `*` may stand for in the keys of a rule; a rule without it has one way to hold. */
function segmentsFor({ evidence }: Bundle, { tests }: VerdictRule): readonly string[] {
  const pattern = tests.find(({ key }) => key.includes('*'))?.key;
  if (pattern === undefined) return [NO_SEGMENT];
  const [before, after] = pattern.split('*');
  const segments = Object.keys(evidence).flatMap((key) => {
    if (!key.startsWith(String(before)) || !key.endsWith(String(after))) return [];
    const middle = key.slice(String(before).length, key.length - String(after).length);
    return middle === '' || middle.includes('.') ? [] : [middle];
  });
  return [...new Set(segments)].sort();
}

const NO_SEGMENT = '';

function supportBy(bundle: Bundle, rule: VerdictRule, segment: string): Support | null {
  const keyOf = (key: string): string => key.replaceAll('*', segment);
  const keys = keysOfRule(rule).map(keyOf);
  if (keys.some((key) => citable(bundle, key) === null)) return null;
  if (!rule.tests.every((test) => holds(bundle, test, keyOf))) return null;
  return { rule, keys, sentence: fillSentence(bundle, rule.says, keyOf) };
}

function holds(bundle: Bundle, test: RuleTest, keyOf: (key: string) => string): boolean {
  const text = plainText(bundle, keyOf(test.key));
  if (test.is === 'one_of') return test.words.some((word) => word === text);
  const level = test.is === 'at_least' ? test.number : plainText(bundle, keyOf(test.other));
  const [value, least] = [decimalIn(text), decimalIn(level)];
  return value !== null && least !== null && compareDecimals(value, least) >= 0;
}

function decimalIn(text: string | null): string | null {
  return text === null ? null : parseDecimal(text);
}

/** A value as a sentence shows it; `null` where it is missing, or text of others. */
export function plainText(bundle: Bundle, key: string): string | null {
  const item = citable(bundle, key);
  return item === null ? null : textOf(item.value);
}

function textOf(value: EvidenceValue): string | null {
  return value === null || typeof value === 'object' ? null : String(value);
}

const PLACE = /\{([a-z0-9_.*]+)\}/g;

function fillSentence(bundle: Bundle, says: string, keyOf: (key: string) => string): string {
  return says.replace(PLACE, (place, key: string) => {
    const text = plainText(bundle, keyOf(key));
    return text === null ? place : text;
  });
}

/** A sentence with the keys that it rests on, as reasoning shows it. */
export function citedSentence(text: string, keys: readonly string[]): string {
  return `${text.trim().replace(/\.$/, '')} [${keys.join(', ')}].`;
}

/** How many rules speak in one reasoning: the others are cited beside them. */
const SENTENCES_MAX = 5;

/** What is judged by the rules alone, in their own words. */
export function judgeByRules(bundle: Bundle, table: VerdictRuleTable): Judgement {
  const supports = supportsOf(bundle, table);
  const sentences = supports
    .slice(0, SENTENCES_MAX)
    .map(({ sentence, keys }) => citedSentence(sentence, keys));
  return {
    ...verdictOf(supports),
    reasoning: supports.length === 0 ? noOpinionText(bundle) : sentences.join(' '),
    evidence_used: keysOf(supports),
    model: table.version,
    prompt_version: NO_PROMPT,
    cost_usd: 0,
  };
}

/** Stands where no language model was asked. */
export const NO_PROMPT = 'none';

/** The verdict of some supports, and the confidence that their rules set. */
export function verdictOf(
  supports: readonly Support[],
): Pick<Judgement, 'verdict' | 'confidence_millionths' | 'confidence_basis' | 'confidence_n'> {
  const [first] = supports;
  if (first === undefined) return NO_OPINION;
  const { verdict, confidence_millionths, confidence_basis, n } = first.rule;
  return { verdict, confidence_millionths, confidence_basis, confidence_n: n };
}

export const NO_OPINION = {
  verdict: 'no_opinion',
  confidence_millionths: 0,
  confidence_basis: 'assumed',
  confidence_n: null,
} as const;

/** Every key of some supports, once, in the order of a bundle. */
export function keysOf(supports: readonly Support[]): string[] {
  return [...new Set(supports.flatMap(({ keys }) => keys))].sort();
}

/** Why nothing is said, in numbers of sources. It denies nothing of the target. */
export function noOpinionText({ sources }: Bundle): string {
  const present = sources.filter(({ status }) => status === 'present').length;
  const gaps = sources.length - present;
  return (
    `What was read supports no verdict: ${present} sources gave evidence and ${gaps} are gaps. ` +
    'That is no statement about the target.'
  );
}
