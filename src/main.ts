// Reads the arguments and hands them on. The only file with side effects on import.
// A first signal stops in order, within ten seconds after the time to drain; a second one ends the
// process at once.

import { EXIT, type ExitStatus, type Io, readArgs, UsageError } from './command/command.ts';
import { wantsColour } from './command/output.ts';
import { nearest } from './config/settings.ts';
import { type Config, type Configured, readConfig, readTerminal } from './config.ts';
import {
  commandHelp,
  findCommand,
  type HelpGroup,
  overallHelp,
  runCommand,
  SERVICE_COMMANDS,
  type ServiceCommand,
} from './operator/command-line.ts';

/** From the first signal, and the time to drain, to the end, whatever still runs. */
const STOP_MAX_MS = 9_500;
/** After a command is done, open handles may keep the process for so long. */
const LINGER_MAX_MS = 2_000;
const ALIVE_MS = 3_600_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const SIGNAL_STATUS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Aborted at the first signal; a second one ends the process. */
function stopSignal(drainMs = 0): AbortSignal {
  const stopping = new AbortController();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(SIGNAL_STATUS[signal]);
      stopping.abort();
      setTimeout(() => process.exit(EXIT.failed), drainMs + STOP_MAX_MS).unref();
    });
  }
  return stopping.signal;
}

const out = (line: string) => void process.stdout.write(`${line}\n`);
const err = (line: string) => void process.stderr.write(`${line}\n`);

function ioOf(json: boolean): Io {
  const colour = wantsColour(process.stdout, readTerminal());
  const width = process.stdout.isTTY === true ? process.stdout.columns : undefined;
  return { out, err, json, colour, width, cwd: process.cwd(), signal: stopSignal() };
}

async function main(words: readonly string[]): Promise<number> {
  const [first] = words;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const { HELP_GROUPS } = await import('./compose/commands.ts');
    for (const line of overallHelp(HELP_GROUPS, await version())) out(line);
    return first === undefined ? EXIT.badUsage : EXIT.done;
  }
  if (first === '--version') {
    out(await version());
    return EXIT.done;
  }
  const service = SERVICE_COMMANDS.find((one) => one.name === first);
  if (service !== undefined) return runUntilStopped(service, words.slice(1));
  const { HELP_GROUPS } = await import('./compose/commands.ts');
  const asked = findCommand(
    words,
    HELP_GROUPS.flatMap(({ commands }) => commands),
  );
  if (asked === null) return unknown(words, HELP_GROUPS);
  if (asked.help) return say(commandHelp(asked.command));
  const configured = readConfig();
  const started = readConfig({ start: true });
  const { name, local } = asked.command;
  if (local !== null) {
    const { loadLocal } = await import('./compose/local.ts');
    const command = await loadLocal({ name, local }, { configured, started });
    const json = asked.json || (ASKING.includes(first) && process.stdout.isTTY !== true);
    return runCommand({ ...asked, command, json }, ioOf(json), null);
  }
  const set = configOf(configured);
  const meant = set === null ? null : configOf(started);
  if (set === null || meant === null) return EXIT.badUsage;
  const { operate } = await import('./operator/operate.ts');
  const operations = await import('./compose/operate.ts');
  return operate(asked, ioOf(asked.json), { set, started: meant }, operations);
}

/** These print tables for people and JSON for pipes. */
const ASKING: readonly string[] = ['look', 'screen'];

function say(lines: readonly string[]): ExitStatus {
  for (const line of lines) out(line);
  return EXIT.done;
}

function configOf(configured: Configured): Config | null {
  if (configured.ok) return configured.config;
  for (const problem of configured.problems) err(problem);
  return null;
}

function unknown(words: readonly string[], groups: readonly HelpGroup[]): ExitStatus {
  const names = groups.flatMap((group) => group.commands.map((one) => one.name));
  const [first] = words;
  const within = names.filter((name) => name.startsWith(`${first} `));
  if (within.length > 0) err(`exhibit ${first} takes one of: ${within.join(', ')}`);
  else {
    const near = nearest(words.slice(0, 2).join(' '), names) ?? nearest(String(first), names);
    err(`There is no such command.${near === null ? '' : ` Did you mean exhibit ${near}?`}`);
  }
  err('exhibit --help lists all commands.');
  return EXIT.badUsage;
}

async function version(): Promise<string> {
  const { VERSION } = await import('./compose/version.ts');
  return VERSION;
}

async function runUntilStopped(
  command: ServiceCommand,
  words: readonly string[],
): Promise<ExitStatus> {
  if (words.includes('--help') || words.includes('-h')) return say(commandHelp(command));
  const { values } = readArgs(words, {
    options: { 'allow-anonymous': { type: 'boolean' }, live: { type: 'boolean' } },
  });
  if (values.live === true && command.name !== 'start') {
    throw new UsageError('--live is for exhibit start; the others are live by themselves.');
  }
  const flags = {
    ...(values['allow-anonymous'] === true ? { EXHIBIT_ALLOW_ANONYMOUS: 'true' } : {}),
    ...(values.live === true ? { EXHIBIT_SIMULATE: 'false' } : {}),
  };
  const config = configOf(readConfig({ start: command.name === 'start', flags }));
  if (config === null) return EXIT.badUsage;
  const stopping = stopSignal(config.drainMs);
  const { runService } = await import('./compose/run.ts');
  const running = await runService(config, command.roles);
  await waitForAbort(stopping);
  await running.stop();
  return EXIT.done;
}

// A role whose timers keep no process alive still runs until it is stopped.
async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const alive = setInterval(() => undefined, ALIVE_MS);
  await new Promise<void>((stop) => {
    signal.addEventListener('abort', () => stop(), { once: true });
  });
  clearInterval(alive);
}

function reportFailure(fault: unknown): ExitStatus {
  if (fault instanceof UsageError) {
    err(`exhibit: ${fault.message}`);
    return EXIT.badUsage;
  }
  if (fault instanceof Error && 'code' in fault && fault.code === 'EADDRINUSE') {
    const next =
      'Stop what listens there, or set EXHIBIT_PORT or EXHIBIT_OPS_PORT to another port.';
    err(`exhibit: ${fault.message}\n${next}`);
    return EXIT.failed;
  }
  const isBug = fault instanceof TypeError || fault instanceof RangeError;
  if (!(fault instanceof Error)) err('exhibit: it failed');
  else err(isBug && fault.stack !== undefined ? fault.stack : `exhibit: ${fault.message}`);
  return EXIT.failed;
}

// The reader of the output may stop reading: that is no fault of the command's.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  process.exit(fault.code === 'EPIPE' ? EXIT.done : EXIT.failed);
});
process.exitCode = await main(process.argv.slice(2)).catch(reportFailure);
setTimeout(() => process.exit(), LINGER_MAX_MS).unref();
