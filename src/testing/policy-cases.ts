// Answers and policies that are drawn at random, and the published cases made of them.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  POLICY_ANSWERS,
  POLICY_FIELDS,
  type PolicyAnswer,
  type PolicyField,
} from '../contract/policy-fields.ts';
import { type Lottery, lotteryOf } from './lottery.ts';

const names = z.array(z.string());
/** A policy as its file holds it. */
const policyDocument = z.strictObject({
  format: z.string(),
  name: z.string(),
  clauses: z.record(z.string(), z.strictObject({ rule: z.string(), why: z.string().optional() })),
  hold: names,
  allow: names,
});
export type PolicyDocument = z.output<typeof policyDocument>;

const EXAMPLES = new URL('../../examples/policies/', import.meta.url);

/** The examples, in the order in which the guide tells of them. */
export const EXAMPLE_POLICIES: readonly PolicyDocument[] = [
  ...['payouts', 'deposits', 'exchange-withdrawals', 'token-listing', 'counterparty-review'],
].map((name) => {
  const value: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, EXAMPLES), 'utf8'));
  return policyDocument.parse(value);
});

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type RandomAnswers = { [A in PolicyAnswer]?: Json };

const ADDRESSES = [
  '0x8589427373d6d84e98730d7795d8f6f8731fda16',
  '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
] as const;
const TEXTS = ['CYBER2', 'IRAN', 'Binance', 'Coinbase', 'Kraken', "O'Neil"] as const;

/** A value of a field as an answer may hold it, now and then of no type that it has. */
function drawValue(field: PolicyField, { oneOf, happens, below }: Lottery): Json {
  if (happens(0.08)) return oneOf<Json>([null, 'new word', 7, [], {}, true]);
  if (field.count === true) return Array.from({ length: below(3) }, () => oneOf(TEXTS));
  switch (field.type) {
    case 'flag':
      return happens(0.3);
    case 'word':
      return oneOf(field.words);
    case 'number':
      return happens(0.2) ? oneOf([0.5, 1e-7, 1.5e21, -3]) : below(6);
    case 'name':
    case 'text':
      return oneOf(TEXTS);
  }
}

type Held = { [name: string]: Json };

function isHeld(value: Json | undefined): value is Held {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Puts a value where a path leads, and makes what is on its way. Each `*` is one item. */
function put(answer: Held, path: string, value: Json): void {
  const steps = path.split('.');
  let at: Held = answer;
  for (let i = 0; i < steps.length; i += 1) {
    const name = String(steps[i]);
    const isList = steps[i + 1] === '*';
    if (i === steps.length - (isList ? 2 : 1)) {
      at[name] = isList ? [value] : value;
      return;
    }
    const [held] = isList ? [Object(at[name])[0] as Json | undefined] : [at[name]];
    const next: Held = isHeld(held) ? held : {};
    at[name] = isList ? [next] : next;
    at = next;
    if (isList) i += 1;
  }
}

function drawAnswer(name: PolicyAnswer, address: string, lottery: Lottery): Json {
  const { happens, oneOf } = lottery;
  const state = happens(0.1) ? oneOf(['not_deployed', 'insufficient_evidence']) : 'ok';
  const answer: Held = { state, subject: name === 'screen' ? 'bulk' : address };
  if (state !== 'ok') return { ...answer, simulated: false, data: null, reason: 'It is not read.' };
  for (const [, field] of POLICY_FIELDS) {
    if (field.answer !== name) continue;
    for (const standing of [...field.read, ...field.nothing.flat()]) {
      if (happens(0.1)) put(answer, standing.at, oneOf<Json>([false, null]));
      else if (happens(0.8)) put(answer, standing.at, oneOf(standing.in));
    }
  }
  for (const [, field] of POLICY_FIELDS) {
    if (field.answer === name && happens(0.85)) put(answer, field.at, drawValue(field, lottery));
  }
  for (const [, field] of POLICY_FIELDS) {
    const [condition] = field.read;
    if (field.answer === name && condition !== undefined && happens(0.8)) {
      put(answer, condition.at, lottery.oneOf(condition.in));
    }
  }
  if (name === 'screen') put(answer, 'data.results.*.address', address);
  return answer;
}

/** The answers about one address, of which some are missing. */
export function drawAnswers(lottery: Lottery): RandomAnswers {
  const address = lottery.oneOf(ADDRESSES);
  const answers: RandomAnswers = {};
  for (const name of Object.keys(POLICY_ANSWERS) as PolicyAnswer[]) {
    if (lottery.happens(0.06)) continue;
    const other = lottery.happens(0.03) ? 'another' : address;
    answers[name] = drawAnswer(name, other, lottery);
  }
  return answers;
}

function drawConstant(field: PolicyField, lottery: Lottery): string {
  if (field.type === 'number') return lottery.oneOf(['0', '1', '2', '0.5', '-3', '0.0000001']);
  if (field.type === 'flag') return lottery.oneOf(['true', 'false']);
  if (field.type === 'word') return lottery.oneOf(field.words);
  const text = lottery.oneOf(TEXTS);
  return text.includes("'") ? `"${text}"` : `'${text}'`;
}

function drawComparison(names: readonly string[], clauses: readonly string[], lottery: Lottery) {
  const { oneOf, happens } = lottery;
  if (clauses.length > 0 && happens(0.2)) {
    const clause = `clause.${oneOf(clauses)}`;
    return happens(0.2) ? `${clause} is known` : `${clause} ${oneOf(['=', '!='])} true`;
  }
  const name = oneOf(names);
  const field = POLICY_FIELDS.get(name);
  if (field === undefined) throw new Error(`no field ${name}`);
  if (happens(0.1)) return `${name} is ${oneOf(['known', 'unknown'])}`;
  if (happens(0.2)) {
    const values = [drawConstant(field, lottery), drawConstant(field, lottery)];
    return `${name} ${oneOf(['in', 'not in'])} (${values.join(', ')})`;
  }
  const signs = field.type === 'number' ? ['=', '!=', '<', '<=', '>', '>='] : ['=', '!='];
  return `${name}${oneOf([' ', ''])}${oneOf(signs)} ${drawConstant(field, lottery)}`;
}

function drawRule(names: readonly string[], clauses: readonly string[], lottery: Lottery): string {
  const { oneOf, happens, below } = lottery;
  const parts = Array.from({ length: 1 + below(3) }, () => {
    const comparison = drawComparison(names, clauses, lottery);
    if (happens(0.15)) return `not ${comparison}`;
    return happens(0.15)
      ? `(${comparison} or ${drawComparison(names, clauses, lottery)})`
      : comparison;
  });
  return parts.reduce((left, right) => `${left} ${oneOf(['and', 'or'])} ${right}`);
}

/** A policy over a few fields, whose clauses may name earlier ones. */
export function drawPolicy(lottery: Lottery): PolicyDocument {
  const fields = [...POLICY_FIELDS.keys()];
  const names = Array.from({ length: 1 + lottery.below(3) }, () => lottery.oneOf(fields));
  const clauses: { [name: string]: { rule: string; why?: string } } = {};
  const made = Array.from({ length: 1 + lottery.below(4) }, (_, i) => `c${i}`);
  for (const [i, name] of made.entries()) {
    const rule = drawRule(names, made.slice(0, i), lottery);
    clauses[name] = lottery.happens(0.3) ? { rule, why: `Because of ${name}: “so”.` } : { rule };
  }
  const isAllow = made.map((_, i) => i === made.length - 1 || lottery.happens(0.4));
  return {
    format: 'exhibit-policy/1',
    name: 'Drawn',
    clauses,
    hold: made.filter((_, i) => isAllow[i] === false),
    allow: made.filter((_, i) => isAllow[i] === true),
  };
}

/** How many cases are published. */
export const CASES = 500;
const DRAWN_POLICIES = 95;
const DRAWN_ANSWERS = 125;
const SEED = 3030;

/** The places of a policy and of answers in the lists beside the cases. */
type CasePlaces = { readonly policy: number; readonly answers: number };

/** The policies, the answers and which of them meet: the same on every run. */
export function drawCases(): {
  readonly policies: readonly PolicyDocument[];
  readonly answers: readonly RandomAnswers[];
  readonly cases: readonly CasePlaces[];
} {
  const lottery = lotteryOf(SEED);
  const drawn = Array.from({ length: DRAWN_POLICIES }, () => drawPolicy(lottery));
  const policies = [...EXAMPLE_POLICIES, ...drawn];
  const answers = Array.from({ length: DRAWN_ANSWERS }, () => drawAnswers(lottery));
  const cases = Array.from({ length: CASES }, (_, i) => {
    return { policy: i % policies.length, answers: lottery.below(answers.length) };
  });
  return { policies, answers, cases };
}
