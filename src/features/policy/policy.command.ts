// Policies on the side of their caller: one is checked, or decides over answers that were saved.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Decision, PolicyAnswers } from '../../client/policy.ts';
import {
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  mandatory,
} from '../../command/command.ts';
import { printRecord, rowsPrinter } from '../../command/output.ts';
import { loadEvaluator, readPolicy } from '../../command/policy-file.ts';

export const policyCheck = defineCommand({
  name: 'policy check',
  summary: 'Check a policy: its rules, its fields and what its clauses name.',
  example: 'exhibit policy check payouts.json',
  arguments: { file: mandatory('FILE', 'a policy of at most 64 KiB', filePath) },
  json: 'one document: its name, its clauses, and the fields and answers that it reads',
  notes: [
    'Nothing is asked and nothing is evaluated. Exit status 1: it is no policy, and each fault is',
    'named with its place.',
  ],
  run: async ({ file }, io) => {
    const read = await readPolicy(file, io);
    if ('status' in read) return read.status;
    const { name, clauses, hold, allow, fields, answers } = read.policy;
    const shown = { name, clauses: clauses.map((one) => one.name), hold, allow, fields, answers };
    printRecord(shown, io, [
      'name',
      ['holds by', (one) => one.hold.join(', ')],
      ['allows by', (one) => one.allow.join(', ')],
      ['reads', (one) => one.fields.join(', ')],
      ['of', (one) => one.answers.join(', ')],
    ]);
    return EXIT.done;
  },
});

const EXPECTED = 'expected the answers of one address as JSON';
const ANSWERS_MAX = 100_000;
const LINE_CHARS_MAX = 16 * 1024 * 1024;

const answersRead = z.strictObject({
  screen: z.unknown().optional(),
  ofac: z.unknown().optional(),
  evidence: z.unknown().optional(),
  exchanges: z.unknown().optional(),
  bridges: z.unknown().optional(),
  deployer: z.unknown().optional(),
});

export const policyDecide = defineCommand({
  name: 'policy decide',
  summary: 'Decide by a policy over answers that were saved; nobody is asked.',
  example: 'exhibit policy decide payouts.json answers.jsonl',
  arguments: {
    file: mandatory('FILE', 'a policy', filePath),
    answers: mandatory(
      'ANSWERS.jsonl',
      'the answers about one address a line: {"screen": …, "ofac": …, "exchanges": …}',
      filePath,
    ),
  },
  json: 'one decision a line, with its clauses and hashes',
  notes: ['Exit status 1: an address is held. 3: none is held, and one could not be checked.'],
  run: async ({ file, answers }, io) => {
    const read = await readPolicy(file, io);
    if ('status' in read) return read.status;
    const { evaluatePolicy } = await loadEvaluator();
    const show = rowsPrinter<Decision>(io, { columns: DECISION_COLUMNS });
    const decisions = new Set<Decision['decision']>();
    let line = 0;
    try {
      for await (const text of createInterface({ input: createReadStream(answers) })) {
        line += 1;
        const given = line > ANSWERS_MAX ? null : answersIn(text);
        if (given === null) return fail(io, `Line ${line}: ${EXPECTED}.`);
        const decision = await evaluatePolicy(read.policy, given);
        decisions.add(decision.decision);
        show([decision]);
      }
    } catch (fault) {
      if (fault instanceof SyntaxError) return fail(io, `Line ${line}: ${EXPECTED}.`);
      if (!(fault instanceof Error && 'code' in fault)) throw fault;
      return fail(io, `The answers cannot be read: ${String(fault.code)}.`);
    }
    return exitOf(decisions);
  },
});

function answersIn(text: string): PolicyAnswers | null {
  if (text.length > LINE_CHARS_MAX) return null;
  const value: unknown = JSON.parse(text);
  const parsed = answersRead.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** The exit status of decisions; without any, nothing was checked. */
function exitOf(decisions: ReadonlySet<Decision['decision']>): ExitStatus {
  if (decisions.has('hold')) return EXIT.failed;
  return decisions.size === 1 && decisions.has('allow') ? EXIT.done : EXIT.couldNotCheck;
}

const DECISION_COLUMNS = [
  'address',
  'decision',
  ['decided by', (one: Decision) => one.decided_by.join(', ')],
  ['not read', (one: Decision) => one.unread.map(({ field }) => field).join(', ')],
  ['simulated', (one: Decision) => (one.simulated ? 'simulated' : null)],
] as const;
