// Answers one question: what is a command, and what do its words and exit statuses mean.
// A command writes lines and returns a status; it never touches the process it runs in, because
// it may run in the process that owns the stores while its caller sits at another terminal.

import { resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { given } from '../evidence/measure.ts';

/** The exit statuses of commands. `couldNotCheck` is never to be read as "nothing found". */
export const EXIT = { done: 0, failed: 1, badUsage: 2, couldNotCheck: 3 } as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Where a command writes and how. Files that it is given are its caller's: `fileArgument`. */
export type Io = {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Resolves when more may be written without limit; absent where writing itself waits. */
  readonly room?: () => Promise<void>;
  /** True where the caller wants JSON: one document, or one a line where the command says so. */
  readonly json: boolean;
  /** True where the caller's terminal shows colour. */
  readonly colour: boolean;
  /** The directory the caller stands in. */
  readonly cwd: string;
  /** Aborted when the caller has gone or has asked to stop. */
  readonly signal: AbortSignal;
};

/**
 * One command. `S` is what it needs of the stores; `run` gets its arguments without its own name
 * and without `--json`. `usage` and `example` begin with `exhibit`.
 */
export type Command<S> = {
  /** One word or two: `doctor`, `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly example: string;
  /** Further lines of its help: options and their meaning. */
  readonly details?: readonly string[];
  readonly run: (argv: readonly string[], io: Io, services: S) => Promise<ExitStatus>;
};

/** Bad usage: the words of a command are not what it takes. Shown with its usage, exit status 2. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Asked<O extends Options> = {
  readonly options: O;
  /** The names of the positional arguments, in order; `many` lets the last repeat. */
  readonly positionals?: readonly string[];
  readonly many?: boolean;
};
type Parsed<O extends Options> = {
  readonly values: ReturnType<
    typeof parseArgs<{ options: O; strict: true; allowPositionals: true }>
  >['values'];
  readonly positionals: readonly string[];
};

/** Reads a command's arguments, or throws `UsageError` with one sentence. */
export function readArgs<const O extends Options>(
  argv: readonly string[],
  asked: Asked<O>,
): Parsed<O> {
  const names = given(asked.positionals);
  const parsed = strictly(argv, asked.options);
  const missing = names[parsed.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  if (asked.many !== true && parsed.positionals.length > names.length) {
    const extra = parsed.positionals.length - names.length;
    throw new UsageError(`${extra} more argument${extra === 1 ? '' : 's'} than expected.`);
  }
  return parsed;
}

function strictly<const O extends Options>(argv: readonly string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (fault) {
    throw new UsageError(fault instanceof Error ? fault.message : 'The arguments do not parse.');
  }
}

/** A required option's text, or `UsageError` naming it. */
export function requireOption(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new UsageError(`${option} is missing.`);
  return value;
}

/** One of a closed list of words, or `UsageError` naming the option and the list. */
export function oneOf<const W extends string>(
  value: string,
  option: string,
  words: readonly W[],
): W {
  const word = words.find((one) => one === value);
  if (word === undefined) throw new UsageError(`${option} takes one of: ${words.join(', ')}.`);
  return word;
}

/** A whole number within bounds, or `UsageError` naming the option and the bounds. */
export function wholeNumber(
  value: string,
  option: string,
  bounds: { readonly min: number; readonly max: number },
): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= bounds.min && number <= bounds.max) return number;
  throw new UsageError(`${option} takes a whole number from ${bounds.min} to ${bounds.max}.`);
}

/** The absolute path of a file that the caller named, wherever the command runs. */
export function fileArgument(path: string, io: Pick<Io, 'cwd'>): string {
  return resolve(io.cwd, path);
}
