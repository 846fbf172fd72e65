// Does the scan of the history find a secret that was committed and removed, and does the audit of
// packages say that it could not look where it could not?

import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { mintSecret } from './access/secret.ts';

const AUDIT = fileURLToPath(new URL('../bin/audit.mjs', import.meta.url));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'exhibit-audit-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A repository with one commit for each of these texts of one file, in their order. */
function repository(texts: readonly string[]): string {
  const cwd = folder();
  const git = (...words: string[]) => execFileSync('git', words, { cwd, stdio: 'ignore' });
  git('init', '-q');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  for (const text of texts) {
    writeFileSync(join(cwd, 'notes.txt'), `${text}\n`);
    git('add', '-A');
    git('commit', '-qm', 'notes: say something');
  }
  return cwd;
}

function audit(what: string, cwd: string, env: NodeJS.ProcessEnv = process.env) {
  const { status, stderr } = spawnSync('node', [AUDIT, what], { cwd, env, encoding: 'utf8' });
  return { status, said: stderr };
}

function pemOf(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

test('finds a secret that was removed again, and repeats nothing of it', () => {
  const planted = {
    'key of this service': mintSecret('scp'),
    'GitHub token': `ghp_${'a1B2'.repeat(9)}`,
    'AWS key': `AKIA${'ABCD'.repeat(4)}`,
    'private key': pemOf(),
  };
  const cwd = repository(['first', ...Object.values(planted), 'last']);
  const { status, said } = audit('secrets', cwd);
  expect(status).toBe(1);
  for (const [kind, text] of Object.entries(planted)) {
    expect(said).toContain(`a ${kind} in notes.txt of `);
    expect(said).not.toContain(text);
  }
  expect(said).toContain(`${Object.keys(planted).length} found in`);
});

test('passes what merely has the form of a key, and tells how much it looked at', () => {
  const wrong = `sc_${'A'.repeat(49)}`;
  const { status, said } = audit('secrets', repository(['first', wrong, 'sc_4fQz81Lm']));
  expect([status, said.trim()]).toEqual([
    0,
    'audit: secrets: 0 found in 3 added lines of 3 commits',
  ]);
});

test('says that it did not look where the clone is not whole, and where there is none', () => {
  const whole = repository(['first', 'second']);
  const shallow = join(folder(), 'clone');
  const from = `file://${whole}`;
  execFileSync('git', ['clone', '-q', '--depth', '1', from, shallow], { stdio: 'ignore' });
  for (const cwd of [shallow, folder()]) {
    const { status, said } = audit('secrets', cwd, {
      ...process.env,
      GIT_CEILING_DIRECTORIES: tmpdir(),
    });
    expect([status, said]).toEqual([2, expect.stringContaining('not looked at')]);
  }
});

const COUNTS = { info: 0, low: 1, moderate: 0, high: 0, critical: 0, total: 1 };
test.each([
  ['counts', { metadata: { vulnerabilities: COUNTS } }, 0, '1 known weaknesses'],
  ['high', { metadata: { vulnerabilities: { ...COUNTS, high: 2, total: 3 } } }, 1, 'high 2'],
  ['405', { statusCode: 405, error: { summary: '' } }, 3, 'NOT CHECKED'],
  ['an empty object', {}, 3, 'NOT CHECKED'],
  ['a page', '<html>', 3, 'NOT CHECKED'],
])('of a registry that answers %s it says what was asked', (_, answer, status, words) => {
  const cwd = folder();
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho '${text}'\n`);
  chmodSync(join(bin, 'npm'), 0o755);
  const said = audit('packages', cwd, {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
  });
  expect([said.status, said.said]).toEqual([status, expect.stringContaining(words)]);
  if (status === 3) expect(said.said).not.toMatch(/\b0 known/);
});
