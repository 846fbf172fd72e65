// A field that was not read leads to no `allow`, and less knowledge turns no `hold` into one.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { POLICY_FIELDS } from '../contract/policy-fields.ts';
import { lotteryOf } from '../testing/lottery.ts';
import {
  drawAnswers,
  drawPolicy,
  EXAMPLE_POLICIES,
  type RandomAnswers,
} from '../testing/policy-cases.ts';
import {
  type Decision,
  evaluatePolicy,
  type ParsedPolicy,
  POLICY_LIMITS,
  type Policy,
  parsePolicy,
  screenOf,
} from './policy.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const parse = (document: unknown): ParsedPolicy => parsePolicy(bytesOf(JSON.stringify(document)));

function policyOf(document: unknown): Policy {
  const parsed = parse(document);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.policy;
}

const FORMAT = 'exhibit-policy/1';
const ruled = (hold: { [name: string]: string }, allow: { [name: string]: string }) => ({
  format: FORMAT,
  name: 'Ours',
  clauses: Object.fromEntries(
    Object.entries({ ...hold, ...allow }).map(([name, rule]) => [name, { rule }]),
  ),
  hold: Object.keys(hold),
  allow: Object.keys(allow),
});

const ADDRESS = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const ofac = (data: object, more: object = {}) => ({
  state: 'ok',
  subject: ADDRESS,
  simulated: false,
  data,
  ...more,
});
const walk = (checked: boolean, found: boolean | null, hops: number | null = null) => ({
  sanctioned: false,
  proximity: { checked, found, hops },
});
const NEAR = { near: 'ofac.reaches_listed = true' };
const CLEAR = { clear: 'ofac.sanctioned = false' };

describe('a decision', () => {
  test('names its clauses, what was not read, and the hashes of answers and policy', async () => {
    const policy = policyOf(ruled(NEAR, CLEAR));
    const answer = ofac(walk(false, null));
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(await evaluatePolicy(policy, { ofac: answer })).toEqual({
      format: 'exhibit-decision/1',
      decision: 'could_not_check',
      decided_by: ['near'],
      address: ADDRESS,
      policy: 'Ours',
      policy_sha256: sha256(
        '{"allow":["clear"],"clauses":{"clear":{"rule":"ofac.sanctioned = false"},' +
          '"near":{"rule":"ofac.reaches_listed = true"}},"format":"exhibit-policy/1",' +
          '"hold":["near"],"name":"Ours"}',
      ),
      answers: [
        {
          name: 'ofac',
          sha256: sha256(
            '{"data":{"proximity":{"checked":false,"found":null,"hops":null},' +
              `"sanctioned":false},"simulated":false,"state":"ok","subject":"${ADDRESS}"}`,
          ),
        },
      ],
      clauses: [
        { name: 'near', of: 'hold', value: null, why: null },
        { name: 'clear', of: 'allow', value: true, why: null },
      ],
      unread: [{ field: 'ofac.reaches_listed', code: 'not_read' }],
      simulated: false,
    });
  });

  const words = async (document: object, answers: object): Promise<string> => {
    const { decision, decided_by } = await evaluatePolicy(policyOf(document), answers);
    return `${decision}: ${decided_by.join(', ')}`;
  };

  test('allows where every field was read, and holds by a clause or for want of one', async () => {
    const policy = ruled(NEAR, CLEAR);
    expect(await words(policy, { ofac: ofac(walk(true, false)) })).toBe('allow: near, clear');
    expect(await words(policy, { ofac: ofac(walk(true, true)) })).toBe('hold: near');
    const listed = { ...walk(true, false), sanctioned: true };
    expect(await words(policy, { ofac: ofac(listed) })).toBe('hold: clear');
  });

  test('a part convicts and does not acquit', async () => {
    const policy = ruled(NEAR, CLEAR);
    expect(await words(policy, { ofac: ofac(walk(false, true)) })).toBe('hold: near');
    expect(await words(policy, { ofac: ofac(walk(false, false)) })).toBe('could_not_check: near');
    const far = ruled({ far: 'ofac.hops >= 2' }, CLEAR);
    expect(await words(far, { ofac: ofac(walk(false, true, 2)) })).toBe('could_not_check: far');
    const finding = (findings_checked: boolean, kind: string) =>
      ofac({ findings_checked, findings: [{ kind }] });
    const mixed = ruled({ mixed: 'evidence.finding = mixer_contact' }, CLEAR);
    const both = (evidence: object) => ({ evidence, ofac: ofac(walk(true, false)) });
    expect(await words(mixed, both(finding(false, 'mixer_contact')))).toBe('hold: mixed');
    expect(await words(mixed, both(finding(false, 'coinjoin')))).toBe('could_not_check: mixed');
    expect(await words(mixed, both(finding(true, 'coinjoin')))).toBe('allow: mixed, clear');
    // A kind of finding that this version does not know may be any.
    expect(await words(mixed, both(finding(true, 'of_tomorrow')))).toBe('could_not_check: mixed');
  });

  test('an entity that may be larger, and one whose labels were not read, allow nothing', async () => {
    const small = ruled({ many: 'evidence.cluster_size > 2' }, CLEAR);
    const named = ruled({ named: "evidence.cluster_label = 'Binance'" }, CLEAR);
    const seen = (entity_checked: boolean, entity: object | null) => ({
      evidence: ofac({ entity_checked, entity }),
      ofac: ofac(walk(true, false)),
    });
    const two = { members: ['a', 'b'], confidence: 0.9, labels: null };
    expect(await words(small, seen(true, two))).toBe('allow: many, clear');
    expect(await words(small, seen(false, two))).toBe('could_not_check: many');
    expect(await words(small, seen(true, null))).toBe('allow: many, clear');
    expect(await words(small, seen(false, null))).toBe('could_not_check: many');
    expect(await words(named, seen(true, two))).toBe('could_not_check: named');
    const labelled = { ...two, labels: ['Binance'] };
    expect(await words(named, seen(true, labelled))).toBe('hold: named');
    expect(await words(named, seen(true, { ...two, labels: [] }))).toBe('allow: named, clear');
  });

  test('a field that was not read keeps from allowing although the rule would hold anyway', async () => {
    const either = ruled({}, { any: 'ofac.sanctioned = false or ofac.hops > 2' });
    const answer = ofac(walk(false, null));
    expect(await words(either, { ofac: answer })).toBe('could_not_check: any');
    const asked = ruled({}, { any: 'ofac.reaches_listed is unknown or ofac.hops is unknown' });
    expect(await words(asked, { ofac: answer })).toBe('could_not_check: any');
  });

  test('no answer, an absence, another address and what has no canonical form are not read', async () => {
    const policy = policyOf(ruled({ listed: 'screen.sanctioned = true' }, CLEAR));
    const result = {
      address: ADDRESS,
      sanctions: { listed: false },
      checked: { sanctions_list: true },
    };
    const screen = (address = ADDRESS) => ofac({ results: [{ ...result, address }] });
    const clear = ofac({ sanctioned: false });
    const codesOf = async (answers: object) => {
      const { decision, unread, answers: hashed, address } = await evaluatePolicy(policy, answers);
      const codes = unread.map(({ code }) => code);
      return [decision, ...codes, address, ...hashed.map(({ sha256 }) => sha256 !== null)];
    };
    expect(await codesOf({ ofac: clear, screen: screen() })).toEqual([
      'allow',
      ADDRESS,
      true,
      true,
    ]);
    const upper = ADDRESS.toUpperCase().replace('0X', '0x');
    expect((await codesOf({ ofac: clear, screen: screen(upper) }))[0]).toBe('allow');
    expect(await codesOf({ ofac: clear })).toEqual([
      ...['could_not_check', 'not_given', ADDRESS, true, false],
    ]);
    const absence = { state: 'not_deployed', subject: ADDRESS, simulated: false, data: null };
    expect(await codesOf({ ofac: absence, screen: screen() })).toEqual([
      ...['could_not_check', 'no_data', ADDRESS, true, true],
    ]);
    const several = ofac({ results: [result, result] });
    expect(await codesOf({ ofac: clear, screen: several })).toEqual([
      ...['could_not_check', 'not_one_address', ADDRESS, true, true],
    ]);
    expect(await codesOf({ ofac: clear, screen: screenOf(several, 1) })).toEqual([
      ...['allow', ADDRESS, true, true],
    ]);
    expect(await codesOf({ ofac: clear, screen: screen('another') })).toEqual([
      ...['could_not_check', 'not_one_address', 'not_one_address', null, true, true],
    ]);
    const half = ofac({ sanctioned: false, note: '\ud800' });
    expect(await codesOf({ ofac: half, screen: screen() })).toEqual([
      ...['could_not_check', 'no_canonical_form', ADDRESS, false, true],
    ]);
  });

  test('the hash is of the content, however the answer and the policy are written', async () => {
    const hashes = async (text: string, answer: object) => {
      const parsed = parsePolicy(bytesOf(text));
      if (!parsed.ok) throw new Error('it is no policy');
      const { policy_sha256, answers } = await evaluatePolicy(parsed.policy, { ofac: answer });
      return [policy_sha256, answers[0]?.sha256];
    };
    const document = ruled(NEAR, CLEAR);
    const one = await hashes(JSON.stringify(document), ofac({ a: 1.5, sanctioned: false }));
    const turned = Object.fromEntries(Object.entries(document).reverse());
    const other = await hashes(
      JSON.stringify(turned, null, 4),
      ofac({ sanctioned: false, a: 1.5 }),
    );
    expect(one).toEqual(other);
    const third = await hashes(JSON.stringify(document), ofac({ a: 1.25, sanctioned: false }));
    expect(third[1]).not.toBe(one[1]);
  });
});

describe('refuses by name', () => {
  const faultsOf = (parsed: ParsedPolicy) => {
    if (parsed.ok) throw new Error('it is a policy');
    return parsed.faults.map(({ code, clause }) => [code, clause]);
  };
  const WHOLE = ruled(NEAR, CLEAR);
  const withRule = (rule: string) => ruled({}, { clear: rule });

  test('a file of ten megabytes, before anything of it is looked at', () => {
    const text = bytesOf(' '.repeat(10 * 1024 * 1024));
    expect(faultsOf(parsePolicy(text))).toEqual([['too_large', null]]);
    const fits = bytesOf(JSON.stringify(WHOLE).padEnd(POLICY_LIMITS.bytes));
    expect(parsePolicy(fits).ok).toBe(true);
    expect(faultsOf(parsePolicy(bytesOf(`${new TextDecoder().decode(fits)} `)))).toEqual([
      ['too_large', null],
    ]);
  });

  test('a loop of references, with the clauses on its way', () => {
    const loop = ruled({ a: 'clause.b = true', b: 'clause.c = true', c: 'clause.a = true' }, CLEAR);
    const parsed = parse(loop);
    expect(faultsOf(parsed)).toEqual([['loop', 'a']]);
    expect(JSON.stringify(parsed)).toContain('a → b → c → a');
    expect(faultsOf(parse(withRule('clause.clear = true')))).toEqual([['loop', 'clear']]);
  });

  test('a field and a clause that do not exist, each at its place', () => {
    const parsed = parse(withRule('ofac.sanctioned = false and\n ofac.sanctoned = false'));
    expect(parsed).toEqual({
      ok: false,
      faults: [
        {
          code: 'unknown_field',
          message: 'There is no field ofac.sanctoned.',
          clause: 'clear',
          line: 2,
          column: 2,
        },
      ],
    });
    expect(faultsOf(parse(withRule('clause.other = true')))).toEqual([['unknown_clause', 'clear']]);
    expect(faultsOf(parse(withRule('constructor = true')))).toEqual([['unknown_field', 'clear']]);
    expect(faultsOf(parse(withRule('ofac.sanctioned = 7')))).toEqual([['rule', 'clear']]);
    expect(faultsOf(parse(withRule('')))).toEqual([['rule', 'clear']]);
  });

  test.each([
    ['not_json', '{'],
    ['equal_keys', '{"format":"a","format":"b"}'],
    ['lone_surrogate', '{"format":"\\ud800"}'],
    ['not_integer', '1.5'],
    ['wrong_member', '[]'],
    ['wrong_format', JSON.stringify({ ...WHOLE, format: 'exhibit-policy/2' })],
    ['unknown_member', JSON.stringify({ ...WHOLE, default: 'allow' })],
    ['missing_member', JSON.stringify({ ...WHOLE, hold: undefined })],
    ['wrong_member', JSON.stringify({ ...WHOLE, name: '' })],
    ['wrong_member', JSON.stringify({ ...WHOLE, clauses: [] })],
    ['wrong_member', JSON.stringify({ ...WHOLE, allow: [] })],
    ['unknown_clause', JSON.stringify({ ...WHOLE, hold: ['near', 'other'] })],
    ['clause_twice', JSON.stringify({ ...WHOLE, hold: ['near', 'clear'] })],
    ['clause_unused', JSON.stringify({ ...WHOLE, hold: [] })],
    ['no_clause_name', JSON.stringify(ruled({ 'A b': 'ofac.hops = 1' }, CLEAR))],
    ['unknown_member', JSON.stringify({ ...WHOLE, clauses: { clear: { rule: 'x', if: 1 } } })],
    [
      'too_many_clauses',
      JSON.stringify(
        ruled(
          Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`c${i}`, 'ofac.hops = 1'])),
          CLEAR,
        ),
      ),
    ],
  ])('%s', (code, text) => {
    expect(faultsOf(parsePolicy(bytesOf(text)))[0]?.[0]).toBe(code);
  });
});

// Properties over random policies and answers.

const drawn = fc.nat(0xffff_ffff).map((seed) => {
  const lottery = lotteryOf(seed);
  return { policy: policyOf(drawPolicy(lottery)), answers: drawAnswers(lottery), lottery };
});

/** The places of an answer, each of which may be forgotten. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, one]) => placesIn(one, [...path, name]))];
}

/** Where null says that there is nothing, which is no lack of knowledge. */
const SAYS_NOTHING = new Set(
  [...POLICY_FIELDS.values()].flatMap(({ answer, nothing }) =>
    nothing.flat().map(({ at }) => `${answer}.${at.replaceAll('*', '0')}`),
  ),
);

/** Answers of which something is not known: a place that is gone, or null. */
function forget(answers: RandomAnswers, path: readonly string[], isNull: boolean): RandomAnswers {
  const copy: object = structuredClone(answers);
  const last = String(path.at(-1));
  const holder = path.slice(0, -1).reduce<object>((at, name) => Reflect.get(at, name), copy);
  if (isNull && !SAYS_NOTHING.has(path.join('.'))) Reflect.set(holder, last, null);
  else if (Array.isArray(holder)) Reflect.set(holder, last, undefined);
  else Reflect.deleteProperty(holder, last);
  return copy as RandomAnswers;
}

const isReadWhole = ({ unread }: Decision) => unread.length === 0;

describe('over random policies and answers', () => {
  test('a field that was not read never leads to allow', async () => {
    const seen = { allow: 0, hold: 0, could_not_check: 0 };
    await fc.assert(
      fc.asyncProperty(drawn, async ({ policy, answers }) => {
        const decision = await evaluatePolicy(policy, answers);
        seen[decision.decision] += 1;
        if (decision.decision === 'allow') expect(isReadWhole(decision)).toBe(true);
        if (decision.decision === 'could_not_check') expect(isReadWhole(decision)).toBe(false);
      }),
      { numRuns: 1_000 },
    );
    // Each of the three came up, so that none of the above is about nothing.
    expect(Object.values(seen).every((count) => count > 20)).toBe(true);
  });

  test('without the value of any one field that it names, nobody allows', async () => {
    let left = 0;
    await fc.assert(
      fc.asyncProperty(drawn, async ({ policy, answers, lottery }) => {
        if ((await evaluatePolicy(policy, answers)).decision !== 'allow') return;
        const places = new Set(placesIn(answers).map((path) => path.join('.')));
        for (const name of policy.fields) {
          const field = POLICY_FIELDS.get(name);
          const path = `${field?.answer}.${field?.at.replaceAll('*', '0')}`;
          if (!places.has(path)) continue;
          left += 1;
          const less = forget(answers, path.split('.'), lottery.happens(0.5));
          expect((await evaluatePolicy(policy, less)).decision).not.toBe('allow');
        }
      }),
      { numRuns: 1_000 },
    );
    expect(left).toBeGreaterThan(20);
  });

  test('removing knowledge never turns hold into allow', async () => {
    let held = 0;
    await fc.assert(
      fc.asyncProperty(drawn, async ({ policy, answers, lottery }) => {
        if ((await evaluatePolicy(policy, answers)).decision !== 'hold') return;
        held += 1;
        let less = answers;
        for (let step = 0; step < 4; step += 1) {
          const places = placesIn(less).filter((path) => path.length > 0);
          if (places.length === 0) break;
          less = forget(less, lottery.oneOf(places), lottery.happens(0.5));
          expect((await evaluatePolicy(policy, less)).decision).not.toBe('allow');
        }
      }),
      { numRuns: 600 },
    );
    expect(held).toBeGreaterThan(50);
  });
});

test('the five examples are policies, and each clause of them says why', () => {
  expect(EXAMPLE_POLICIES).toHaveLength(5);
  for (const document of EXAMPLE_POLICIES) {
    for (const { why } of policyOf(document).clauses) expect(why).toMatch(/^[A-Z].*\.$/);
  }
});
