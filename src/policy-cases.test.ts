// Do the client, the command line and a program in Python that shares no code with them decide the
// same over the published cases, and are the published files what the sources make of them?

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, test } from 'vitest';
import { type Decision, evaluatePolicy, type PolicyAnswers, parsePolicy } from './client/policy.ts';
import { POLICY_FIELDS } from './contract/policy-fields.ts';
import { policyDecide } from './features/policy/policy.command.ts';
import { CASES, drawCases, type PolicyDocument } from './testing/policy-cases.ts';
import { policyScriptText } from './testing/policy-script.ts';
import { ran } from './testing/recording-io.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PUBLISHED = join(ROOT, 'docs/reference/policy');
function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}
const FIELDS_TEXT = `${JSON.stringify({ fields: Object.fromEntries(POLICY_FIELDS) }, null, 1)}\n`;
const LINES_PYTHON_MAX = 150;

type Case = { readonly policy: PolicyDocument; readonly answers: PolicyAnswers };

const { policies, answers, cases } = drawCases();

function caseAt(at: number): Case {
  const places = cases[at];
  const policy = policies[Number(places?.policy)];
  const given = answers[Number(places?.answers)];
  if (policy === undefined || given === undefined) throw new Error(`there is no case ${at}`);
  return { policy, answers: given };
}

async function decideCase(at: number): Promise<Decision> {
  const { policy, answers: given } = caseAt(at);
  const parsed = parsePolicy(new TextEncoder().encode(JSON.stringify(policy)));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return evaluatePolicy(parsed.policy, given);
}

function casesText(decisions: readonly Decision[]): string {
  const lines = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).join(',\n');
  const results = decisions.map((decision, at) => ({ ...cases[at], decision }));
  return (
    `{"policies":[\n${lines(policies)}\n],\n"answers":[\n${lines(answers)}\n],\n` +
    `"cases":[\n${lines(results)}\n]}\n`
  );
}

/** The decisions of the client. */
const decided = Promise.all(cases.map((_, at) => decideCase(at)));

/** The cases of each policy, in order, so that a program is started once for each. */
function casesByPolicy(): ReadonlyMap<number, readonly number[]> {
  const by = new Map<number, number[]>();
  for (const [at, { policy }] of cases.entries()) by.set(policy, [...(by.get(policy) ?? []), at]);
  return by;
}

const PYTHON = join(ROOT, 'examples/policy.py');
const MAX = 16 * 1024 * 1024;
/** Decides all published cases in one process. */
const OVER_ALL = `
import json, sys
sys.path.insert(0, sys.argv[1])
from policy import decide
fields, published = (json.load(open(path, encoding="utf-8")) for path in sys.argv[2:4])
for case in published["cases"]:
    policy, answers = published["policies"][case["policy"]], published["answers"][case["answers"]]
    print(json.dumps(decide(policy, answers, fields["fields"]), ensure_ascii=False))
`;

const home = mkdtempSync(join(tmpdir(), 'exhibit-policy-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

function fileOf(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
}

const files = () =>
  [...casesByPolicy()].map(([policy, places]) => {
    const lines = places.map((at) => JSON.stringify(caseAt(at).answers));
    return {
      places,
      policy: fileOf(`policy-${policy}.json`, JSON.stringify(policies[policy])),
      answers: fileOf(`answers-${policy}.jsonl`, `${lines.join('\n')}\n`),
    };
  });

describe('the published files', () => {
  test('hold the fields, and the cases with their decisions, as they are made', async () => {
    await expect(FIELDS_TEXT).toMatchFileSnapshot(join(PUBLISHED, 'fields.json'));
    await expect(casesText(await decided)).toMatchFileSnapshot(join(PUBLISHED, 'cases.json'));
  });

  test('hold 500 cases, of which each decision has its share', async () => {
    const words = (await decided).map(({ decision }) => decision);
    expect(words).toHaveLength(CASES);
    for (const word of ['allow', 'hold', 'could_not_check'] as const) {
      expect([word, words.filter((one) => one === word).length > 40]).toEqual([word, true]);
    }
  });

  test('hold the evaluator as pages run it', async () => {
    await expect(policyScriptText(ROOT)).toMatchFileSnapshot(join(PUBLISHED, 'evaluator.js'));
  });
});

describe('the same decision', () => {
  test('by the command line', async () => {
    const expected = await decided;
    for (const { places, policy, answers: given } of files()) {
      const line = `policy decide ${policy} ${given} --json`;
      const { lines } = await ran(line, [policyDecide], {}, { cwd: '/' });
      const said: unknown[] = lines.map(parseJson);
      expect(said).toEqual(places.map((at) => expected[at]));
    }
  });

  test('by the evaluator that pages run, without a module or a global of Node.js', async () => {
    const { crypto, TextEncoder, TextDecoder, structuredClone } = globalThis;
    const context = { crypto, TextEncoder, TextDecoder, Uint8Array, structuredClone };
    const text = policyScriptText(ROOT);
    const policy = runInNewContext(`${text}\nexhibitPolicy;`, context);
    const expected = await decided;
    for (const [at, decision] of expected.entries()) {
      const given = caseAt(at);
      const bytes = new TextEncoder().encode(JSON.stringify(given.policy));
      const parsed = policy.parsePolicy(bytes);
      const own = JSON.stringify(await policy.evaluatePolicy(parsed.policy, given.answers));
      expect(JSON.parse(own)).toEqual(decision);
    }
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  test.skipIf(!hasPython)(
    hasPython ? 'by 150 lines of Python' : 'by Python (skipped: no python3)',
    async () => {
      const length = readFileSync(PYTHON, 'utf8').trimEnd().split('\n').length;
      expect(length).toBeLessThanOrEqual(LINES_PYTHON_MAX);
      const expected = await decided;
      const published = [
        fileOf('fields.json', FIELDS_TEXT),
        fileOf('cases.json', casesText(expected)),
      ];
      const args = ['-B', '-c', OVER_ALL, join(ROOT, 'examples'), ...published];
      const { stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8', maxBuffer: MAX });
      expect(stderr).toBe('');
      const said: unknown[] = stdout.trim().split('\n').map(parseJson);
      expect(said).toEqual(expected);
      const [first] = files();
      if (first === undefined) throw new Error('there is no case');
      const asTyped = ['-B', PYTHON, String(published[0]), first.policy, first.answers];
      const typed = spawnSync('python3', asTyped, { encoding: 'utf8' }).stdout.trim().split('\n');
      expect(typed.map(parseJson)).toEqual(first.places.map((at) => expected[at]));
    },
    60_000,
  );
});
