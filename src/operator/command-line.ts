// The words of a command line: which command they name, how it runs, and its help.

import { type Command, EXIT, type ExitStatus, type Io, UsageError } from '../command/command.ts';

/** Words that were understood as far as the command's name. */
export type CommandRequest<C> = {
  readonly command: C;
  readonly argv: readonly string[];
  readonly json: boolean;
  readonly help: boolean;
};

/** Finds the command that the first word or two name; `null` where none is named so. */
export function findCommand<C extends { readonly name: string }>(
  words: readonly string[],
  commands: readonly C[],
): CommandRequest<C> | null {
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((one) => one.name === name);
    if (command === undefined || words.length < length) continue;
    const rest = words.slice(length);
    const ends = rest.indexOf('--');
    const [before, after] = ends < 0 ? [rest, []] : [rest.slice(0, ends), rest.slice(ends)];
    const argv = before.filter((word) => word !== '--json' && word !== '--help' && word !== '-h');
    return {
      command,
      argv: [...argv, ...after],
      json: before.includes('--json'),
      help: before.includes('--help') || before.includes('-h'),
    };
  }
  return null;
}

/** Runs a command, or prints its help. Bad usage is said with the usage; a bug is thrown on. */
export async function runCommand<S>(
  asked: CommandRequest<Command<S>>,
  io: Io,
  services: S,
): Promise<ExitStatus> {
  if (asked.help) {
    for (const line of commandHelp(asked.command)) io.out(line);
    return EXIT.done;
  }
  try {
    return await asked.command.run(asked.argv, io, services);
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault;
    io.err(`${asked.command.name}: ${fault.message}`);
    for (const line of usageLines(asked.command.usage)) io.err(line);
    return EXIT.badUsage;
  }
}

/** What a command declares, without what it does. */
export type DeclaredCommand = Omit<Command<never>, 'run'>;

/** Commands under one heading of the help. */
export type HelpGroup = {
  readonly title: string;
  readonly commands: readonly Pick<DeclaredCommand, 'name' | 'summary'>[];
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
  command: Pick<DeclaredCommand, 'summary' | 'usage' | 'example' | 'details'>,
): string[] {
  const { summary, usage, example, details } = command;
  const isPlain = details === undefined || details.length === 0;
  const more = isPlain ? [] : ['', ...details.map((line) => `  ${line}`)];
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

export type ServiceCommand = DeclaredCommand & { readonly roles: readonly ('serve' | 'work')[] };

function flagCompleted(name: string) {
  return { name, hasValue: false, words: [] };
}

const common = [flagCompleted('--allow-anonymous'), flagCompleted('--help')];
const completes = { argument: [], options: common };

const details = [
  '--allow-anonymous   the intelligence service without a token (EXHIBIT_ALLOW_ANONYMOUS)',
  'Everything else is set by the environment: exhibit config.',
];

/** The commands that run until they are stopped. */
export const SERVICE_COMMANDS: readonly ServiceCommand[] = [
  {
    name: 'up',
    roles: ['serve', 'work'],
    summary: 'Serve and work in one process, on embedded stores unless others are set.',
    usage: 'exhibit up [--allow-anonymous]',
    example: 'exhibit up',
    details,
    completes,
  },
  {
    name: 'start',
    roles: ['serve', 'work'],
    summary: 'The same; with no source set, the simulated world (npm start).',
    usage: 'exhibit start [--live] [--allow-anonymous]',
    example: 'exhibit start --live',
    completes: { argument: [], options: [flagCompleted('--live'), ...common] },
    details: ["--live              the publisher's list, never the simulated world", ...details],
  },
  {
    name: 'serve',
    roles: ['serve'],
    summary: 'Answer HTTP requests.',
    usage: 'exhibit serve [--allow-anonymous]',
    example: 'EXHIBIT_SURFACES=hosted exhibit serve',
    details,
    completes,
  },
  {
    name: 'work',
    roles: ['work'],
    summary: 'Refresh lists and do whatever runs without being asked.',
    usage: 'exhibit work',
    example: 'exhibit work',
    details,
    completes,
  },
];
