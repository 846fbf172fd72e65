// Does the shell itself complete what the commands declare? Each script runs in its own shell.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionScript } from '../command/completion.ts';
import { HELP_GROUPS } from './commands.ts';

const COMMANDS = HELP_GROUPS.flatMap((group) => group.commands);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'exhibit-completion-'));
  writeFileSync(join(folder, 'some-file.csv'), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasShell = (shell: string) => spawnSync(shell, ['-c', 'exit']).status === 0;

/** What a shell is told to print the completions of a line that ends where it completes. */
const ASKED = {
  bash: (words: readonly string[]) => `
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    _exhibit; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p exhibit >&2`,
  // Outside an editor zsh completes nothing: the two words that its functions add by are told here.
  zsh: (words: readonly string[]) => `
    compadd() { shift; print -l -- "$@"; }; _files() { print -l -- files; }
    words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}
    _exhibit`,
  fish: (words: readonly string[]) => `complete -C '${words.join(' ')}' | cut -f1`,
} as const;

function completed(shell: keyof typeof ASKED, words: readonly string[]): string[] {
  const script = completionScript(shell, COMMANDS).join('\n');
  const before = shell === 'zsh' ? 'compdef() { :; }\n' : '';
  const text = `${before}${script}\n${ASKED[shell](words)}\n`;
  const args = shell === 'fish' ? ['--no-config', '-c', text] : ['-c', text];
  const said = spawnSync(shell, args, { cwd: folder, encoding: 'utf8', timeout: 60_000 });
  expect({ status: said.status, err: said.stderr.replace(/^complete .*\n/m, '') }).toEqual({
    status: 0,
    err: '',
  });
  const typed = String(words.at(-1));
  return said.stdout.split('\n').filter((word) => word !== '' && word.startsWith(typed));
}

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  test('completes commands, their words and options', ({ skip }) => {
    skip(!hasShell(shell), `${shell} is not installed`);
    const firsts = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]));
    const named = completed(shell, ['exhibit', '']).filter((word) => !word.startsWith('-'));
    expect(new Set(named)).toEqual(firsts);
    expect(completed(shell, ['exhibit', 'wat']).sort()).toEqual(['watch', 'watchlist']);
    expect(completed(shell, ['exhibit', 'watchlist', '']).sort()).toEqual([
      'add',
      'changes',
      'list',
      'remove',
    ]);
    expect(completed(shell, ['exhibit', 'completion', '']).sort()).toEqual(
      expect.arrayContaining(['bash', 'fish', 'zsh']),
    );
    for (const { name, completes } of COMMANDS) {
      const options = completes.options.map((option) => option.name);
      const seen = completed(shell, ['exhibit', ...name.split(' '), '--']);
      expect([name, ...seen.sort()]).toEqual([name, ...options.sort()]);
      if (shell === 'fish') break;
    }
    expect(completed(shell, ['exhibit', 'screen', 'f.csv', '--require', 's'])).toEqual([
      'sanctions_list',
    ]);
    expect(completed(shell, ['exhibit', 'screen', '--res'])).toEqual(['--resume']);
  });
});

test('every option that a command takes is among those that are completed', () => {
  for (const { name, usage, completes } of COMMANDS) {
    const options = completes.options.map((option) => option.name);
    for (const [option] of usage.matchAll(/--[a-z-]+/g))
      expect([name, options]).toEqual([name, expect.arrayContaining([option])]);
  }
});
