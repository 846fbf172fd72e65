// Whatever a subject holds, a shell takes the command for the words that were meant.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { shellCommand } from './shell-command.ts';

const SUBJECTS = 10_000;
const SEED = 1_911;
const BYTES_MAX = 64 * 1_024 * 1_024;

const hostile = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          ...["'", '"', '`', '$(touch owned)', ';touch owned;', '\n', '\r', '\\', "\\'", '!!', '~'],
          ...['|', '&', '>owned', '<', '#', '*', '?', '[a]', '{a,b}', '=', '-o', ' ', '\t', '%27'],
          ...['$IFS', '$HOME', "$'", '\u001b[201~', '\u0003', '\u202e', '\u2028', '\u009b', '»'],
        ),
      },
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join('').replaceAll('\0', ''));

/** Runs many commands in one shell, each `printf` of what it was given: what the shell took. */
function takenBy(shell: readonly string[], subjects: readonly string[]) {
  const place = mkdtempSync(join(tmpdir(), 'shell-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const lines = subjects.map((one) => shellCommand(['printf', '%s\\0'], ['-', one]));
  writeFileSync(join(place, 'script'), `${lines.join('\n')}\n`);
  const [program = '', ...options] = shell;
  const said = spawnSync(program, [...options, 'script'], { cwd: place, maxBuffer: BYTES_MAX });
  const [last, ...rest] = said.stdout.toString().split('\0').reverse();
  const left = readdirSync(place);
  return { taken: rest.reverse(), last, err: said.stderr.toString(), left, status: said.status };
}

test('a shell takes each of 10,000 hostile subjects for one word, and runs none of it', () => {
  const subjects = fc.sample(hostile, { numRuns: SUBJECTS, seed: SEED });
  const { taken, err, left, status } = takenBy(['bash', '--norc'], subjects);
  expect({ err, left, status }).toEqual({ err: '', left: ['script'], status: 0 });
  expect(taken).toHaveLength(2 * SUBJECTS);
  expect(taken.filter((_, i) => i % 2 === 1)).toEqual(subjects);
});

test('a shell that knows less quoting takes the subject for another word, and runs none of it', () => {
  const subjects = fc.sample(hostile, { numRuns: SUBJECTS, seed: SEED + 1 });
  const { taken, err, left, status } = takenBy(['sh'], subjects);
  expect({ err, left, status }).toEqual({ err: '', left: ['script'], status: 0 });
  const plain = subjects.flatMap((one, i) => (/[\p{C}\p{Zl}\p{Zp}]/u.test(one) ? [] : [i]));
  expect(plain.length).toBeGreaterThan(SUBJECTS / 10);
  expect(plain.map((i) => taken[2 * i + 1])).toEqual(plain.map((i) => subjects[i]));
});

test('a secret is read from a variable where the command is pasted', () => {
  const command = shellCommand(
    ['curl', '-H', { before: 'Authorization: Bearer ', variable: 'EXHIBIT_API_KEY' }],
    ['https://exhibit.example/a?b=1&c=2'],
  );
  expect(command).toBe(
    `curl -H 'Authorization: Bearer '"$EXHIBIT_API_KEY" \\\n  'https://exhibit.example/a?b=1&c=2'`,
  );
  expect(() => shellCommand([{ before: '', variable: 'A$(b)' }])).toThrow('another form');
});
