// Counts the wrong lines that the tests notice. Changes one line of an engine, a store or a source
// at a time, in a copy of a checkout, and runs the tests related to its file, nearest first:
// npm run bench -- mutants [--repo DIR] [--count N] [--seed N] [--from K] [--tests N] [--seconds N]
// The same seed takes the same lines of the same tree; `--from` passes over those before the K-th,
// which an earlier run judged. Each line that no test noticed is named.

import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sharesFrom } from '../src/evidence/random.ts';
import { codeUnder, sourceAt } from '../src/testing/tidy-source.ts';
import { type Mutant, mutantsOf, mutate } from './mutants-kinds.ts';
import { relatedTests } from './mutants-tests.ts';
import { nameRole } from './roles.ts';

const ROLES = ['engine', 'store', 'source'];
/** Folders that a test run does not need, or creates by itself. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'data']);
const OUTPUT_CHARS_MAX = 20_000;

const { values } = parseArgs({
  options: {
    repo: { type: 'string', default: '.' },
    count: { type: 'string', default: '80' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    tests: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '300' },
  },
});

type Outcome = 'caught' | 'not caught' | 'no test' | 'out of time' | 'undecided';
type Verdict = { readonly mutant: Mutant; readonly outcome: Outcome; readonly by: string };

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

type Ran = { readonly passed: boolean; readonly outOfTime: boolean; readonly failed: string[] };

function runTests(copy: string, tests: readonly string[], bail: number): Promise<Ran> {
  return new Promise((settle) => {
    const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--maxWorkers=1', '--retry=0', `--bail=${bail}`, ...tests];
    // The environment of the tests. Larger data lies beside a checkout: its copy would not find it.
    const repo = resolve(values.repo);
    const beside = join(repo, '../shared/data');
    const child = spawn(process.execPath, args, {
      cwd: copy,
      env: existsSync(beside) ? { EXHIBIT_TEST_DATA: beside, ...process.env } : process.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (bytes: Buffer) => {
      output = (output + String(bytes)).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    let outOfTime = false;
    const timer = setTimeout(() => {
      outOfTime = true;
      // The group: workers and their engines end with it.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, Number(values.seconds) * 1_000);
    child.once('close', (status) => {
      clearTimeout(timer);
      const failed = tests.filter((test) => new RegExp(`FAIL.*${test}`).test(output));
      settle({ passed: status === 0, outOfTime, failed });
    });
  });
}

async function judge(copy: string, mutant: Mutant, tests: readonly string[]): Promise<Verdict> {
  if (tests.length === 0) return { mutant, outcome: 'no test', by: '' };
  const file = join(copy, mutant.path);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, mutate(text, mutant));
  try {
    const { passed, outOfTime, failed } = await runTests(copy, tests, 1);
    if (outOfTime) return { mutant, outcome: 'out of time', by: tests.join(' ') };
    if (passed) return { mutant, outcome: 'not caught', by: tests.join(' ') };
    return { mutant, outcome: 'caught', by: failed[0] ?? String(tests[0]) };
  } finally {
    writeFileSync(file, text);
  }
}

/** A test that fails without the change too caught nothing, and one that ends then was held up. */
async function recheck(copy: string, verdicts: readonly Verdict[]): Promise<Verdict[]> {
  const killers = [...new Set(verdicts.flatMap((one) => (one.outcome === 'caught' ? one.by : [])))];
  const failing = new Set<string>();
  for (const killer of killers) {
    if (!(await runTests(copy, [killer], 0)).passed) failing.add(killer);
  }
  const checked: Verdict[] = [];
  for (const one of verdicts) {
    if (one.outcome === 'caught' && failing.has(one.by)) {
      checked.push({ ...one, outcome: 'undecided' });
    } else if (one.outcome === 'out of time') {
      const { outOfTime } = await runTests(copy, one.by.split(' '), 1);
      checked.push({ ...one, outcome: outOfTime ? 'undecided' : 'caught' });
    } else checked.push(one);
  }
  return checked;
}

function lineOf(root: string, { path, line, kind, start, end, by }: Mutant): string {
  const text = readFileSync(join(root, path), 'utf8');
  const from = text.lastIndexOf('\n', start) + 1;
  const until = text.indexOf('\n', end);
  const was = text.slice(from, until).trim();
  const is = (text.slice(from, start) + by + text.slice(end, until)).trim();
  return `${path}:${line} ${kind}\n    - ${was}\n    + ${is}`;
}

const COLUMNS: readonly Outcome[] = ['caught', 'not caught', 'no test', 'undecided'];

function table(verdicts: readonly Verdict[]): string[] {
  const rows = [...ROLES, 'all'].map((role) => {
    const own = verdicts.filter(({ mutant }) => role === 'all' || nameRole(mutant.path) === role);
    const counts = COLUMNS.map((outcome) => own.filter((one) => one.outcome === outcome).length);
    return [role, own.length, ...counts].map(String);
  });
  return [['role', 'lines', ...COLUMNS], ...rows].map(([role, ...cells]) =>
    String(role)
      .padEnd(10)
      .concat(...cells.map((cell) => cell.padStart(12))),
  );
}

/** So many changes, of each role in turn, no two of them of one line. */
function choose(all: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = sharesFrom(seed);
  const byRole = ROLES.map((role) => all.filter(({ path }) => nameRole(path) === role));
  const taken = new Map<string, Mutant>();
  for (let turn = 0; taken.size < count; turn += 1) {
    const own = byRole[turn % byRole.length] ?? [];
    const one = own[Math.floor(random() * own.length)];
    if (one === undefined) throw new Error(`there is no ${ROLES[turn % ROLES.length]}`);
    const place = `${one.path}:${one.line}`;
    if (taken.has(place)) turn -= 1;
    else taken.set(place, one);
  }
  return [...taken.values()];
}

async function main(): Promise<void> {
  const repo = resolve(values.repo);
  const files = codeUnder(repo, 'src').map((path) => sourceAt(repo, path));
  const ofRoles = files.filter(({ path }) => ROLES.includes(nameRole(path)));
  const all = ofRoles.flatMap(mutantsOf);
  const chosen = choose(all, Number(values.count), Number(values.seed));
  say(
    `${chosen.length} of ${all.length} changes, seed ${values.seed}, nearest ${values.tests} tests`,
  );
  const related = relatedTests(files);
  const copy = mkdtempSync(join(tmpdir(), 'exhibit-mutants-'));
  const isKept = (path: string) => !LEFT_OUT.has(basename(path));
  cpSync(repo, copy, { recursive: true, filter: (path) => path === repo || isKept(path) });
  symlinkSync(join(repo, 'node_modules'), join(copy, 'node_modules'));
  try {
    const verdicts: Verdict[] = [];
    for (const [at, mutant] of chosen.entries()) {
      if (at + 1 < Number(values.from)) continue;
      const verdict = await judge(copy, mutant, related(mutant.path, Number(values.tests)));
      verdicts.push(verdict);
      say(`${at + 1}. ${verdict.outcome}: ${lineOf(repo, mutant)}\n    by ${verdict.by}`);
    }
    const checked = await recheck(copy, verdicts);
    say('');
    for (const line of table(checked)) say(line);
    for (const { mutant, outcome, by } of checked) {
      if (outcome !== 'caught') say(`${outcome}: ${lineOf(repo, mutant)}\n    tests: ${by}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
  }
}

await main();
