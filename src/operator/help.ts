// Answers one question: which commands are there, and how is each used.

import type { Command } from '../command/command.ts';

/** Commands under one heading of the help. */
export type HelpGroup = {
  readonly title: string;
  readonly commands: readonly Pick<Command<never>, 'name' | 'summary'>[];
};

/** The lines of `exhibit --help`. */
export function overallHelp(groups: readonly HelpGroup[], version: string): string[] {
  const names = groups.flatMap((group) => group.commands.map((command) => command.name.length));
  const widest = Math.max(...names);
  const body = groups.flatMap((group) => [
    '',
    group.title,
    ...group.commands.map(({ name, summary }) => `  ${name.padEnd(widest)}  ${summary}`),
  ]);
  return [
    `exhibit ${version}: address intelligence that shows its exhibits.`,
    '',
    'usage: exhibit COMMAND [OPTIONS]',
    ...body,
    '',
    'exhibit COMMAND --help   options and an example',
    '--json                   JSON instead of tables',
    '',
    'Exit status: 0 done, 1 failed, 2 bad usage, 3 could not check (never a "nothing found").',
  ];
}

/** The lines of `exhibit COMMAND --help`. */
export function commandHelp(
  command: Pick<Command<never>, 'summary' | 'usage' | 'example' | 'details'>,
): string[] {
  const { summary, usage, example, details } = command;
  const more = details === undefined ? [] : ['', ...details.map((line) => `  ${line}`)];
  return [summary, '', ...usageLines(usage), ...more, '', 'example:', `  ${example}`];
}

const LINE_CHARS_MAX = 100;
const USAGE_INDENT = ' '.repeat('usage: '.length);

/** A usage as lines of at most 100 characters, broken between its parts. */
export function usageLines(usage: string): string[] {
  const lines: string[] = [];
  let line = 'usage:';
  for (const part of usage.match(/\[[^\]]*\]|\([^)]*\)|\S+/g) ?? []) {
    if (line.length + 1 + part.length > LINE_CHARS_MAX) {
      lines.push(line);
      line = USAGE_INDENT.slice(0, -1);
    }
    line += ` ${part}`;
  }
  return [...lines, line];
}
