// A command writes lines and returns a status; it never touches the process it runs in, because
// it may run in the process that owns the stores while its caller sits at another terminal.

import { resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { MS_PER_S, parseIsoDate, type UnixSeconds } from '../chain/time.ts';
import { listOrNone } from '../evidence/measure.ts';

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
  /** The columns of the caller's terminal; absent where a line may have any length. */
  readonly width?: number | undefined;
  /** The directory the caller stands in. */
  readonly cwd: string;
  /** Aborted when the caller has gone or has asked to stop. */
  readonly signal: AbortSignal;
};

/** Writes why a command ends without having done what was wanted, and returns its exit status. */
export function fail<E extends ExitStatus = typeof EXIT.failed>(
  io: Pick<Io, 'err'>,
  reason: string,
  status?: E,
): E | typeof EXIT.failed {
  io.err(reason);
  return status === undefined ? EXIT.failed : status;
}

/**
 * One command, as `defineCommand` makes it of a declaration. `S` is what it needs of the stores;
 * `run` gets its arguments without its own name and without `--json`. `usage` and `example` begin
 * with `exhibit`.
 */
export type Command<S> = {
  /** One word or two: `doctor`, `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly example: string;
  /** Further lines of its help: options and their meaning. */
  readonly details?: readonly string[];
  /** The words that shells complete after its name. */
  readonly completes: Completes;
  readonly run: (argv: readonly string[], io: Io, services: S) => Promise<ExitStatus>;
};

/**
 * The completions of a command: its options, each with whether a value follows, and the closed
 * lists of words; `argument`: those of its arguments.
 */
export type Completes = {
  readonly argument: readonly string[];
  readonly options: readonly {
    readonly name: string;
    readonly hasValue: boolean;
    readonly words: readonly string[];
  }[];
};

/** Bad usage: the words of a command are not what it takes. Shown with its usage, exit status 2. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Expected<O extends Options> = {
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
  expected: Expected<O>,
): Parsed<O> {
  const names = listOrNone(expected.positionals);
  const parsed = strictly(argv, expected.options);
  const missing = names[parsed.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  if (expected.many !== true && parsed.positionals.length > names.length) {
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

/** The value of a required option, or a `UsageError` that names the option. */
export function requireOption<T>(value: T | null | undefined, option: string): T {
  if (value === null || value === undefined || value === '') {
    throw new UsageError(`${option} is missing.`);
  }
  return value;
}

/** One of a closed list of words, or `UsageError` naming the option and the list. */
export function chooseOne<const W extends string>(
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

/** A time with its zone: `2026-11-21T09:00Z`, `2026-11-21T09:00:00-05:00`. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/** The Unix seconds of a time that has been, or `UsageError`; `null` where the option is absent. */
export function pastTime(
  text: string | undefined,
  option: string,
  now: number,
  takes: 'time' | 'day or time' = 'time',
): number | null {
  if (text === undefined) return null;
  const day = takes === 'time' ? null : parseIsoDate(text);
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  const at = day === null ? Math.floor(ms / MS_PER_S) : day;
  if (Number.isNaN(at)) {
    const or = takes === 'time' ? '' : ' or a day such as 2026-11-21';
    throw new UsageError(`${option} takes a time such as 2026-11-21T09:00Z${or}.`);
  }
  if (at > now) throw new UsageError(`${option} takes a time that has been.`);
  return at;
}

/** The absolute path of a file that the caller named, wherever the command runs. */
export function fileArgument(path: string, io: Pick<Io, 'cwd'>): string {
  return resolve(io.cwd, path);
}

/** Reads the text of one argument or option, or throws `UsageError` that names it. */
export type Parse<T> = ((text: string, name: string, io: Pick<Io, 'cwd'>) => T) & {
  /** The closed list that it takes; absent where it takes other texts. */
  readonly words?: readonly string[];
};

/** An argument or an option of a command: usage, help and parsing follow from it. */
type Parameter<T> = {
  /** The placeholder of its value in the usage: `FILE`; `null` for a flag. */
  readonly value: string | null;
  /** The help text; `null` if the name explains it. */
  readonly help: string | null;
  readonly isMandatory: boolean;
  readonly isMany: boolean;
  /** The closed list that its value is of; none where it is of no such list. */
  readonly words: readonly string[];
  readonly read: (texts: readonly string[], name: string, io: Pick<Io, 'cwd'>) => T;
};
type Parameters = { readonly [name: string]: Parameter<unknown> };
type None = Readonly<Record<never, never>>;
type Values<P extends Parameters> = {
  readonly [N in keyof P]: P[N] extends Parameter<infer T> ? T : never;
};

export const anyText: Parse<string> = (text) => text;

/** Takes one word of a closed list. */
export function wordIn<const W extends string>(words: readonly W[]): Parse<W> {
  const parse = (text: string, name: string) => chooseOne(text, name, words);
  return Object.assign(parse, { words });
}

/** Takes a whole number within bounds. */
export function numberWithin(min: number, max: number): Parse<number> {
  return (text, name) => wholeNumber(text, name, { min, max });
}

/** Takes the 32-bit number from which a generator draws. */
export const anySeed: Parse<number> = numberWithin(0, 2 ** 32 - 1);

/** Takes a day, and gives its midnight in UTC. */
export const anyDay: Parse<UnixSeconds> = (text, name) => {
  const day = parseIsoDate(text);
  if (day === null) throw new UsageError(`${name} takes a day such as 2026-11-21.`);
  return day;
};

/** Takes a path and makes it absolute, from where the caller stands. */
export const filePath: Parse<string> = (text, _name, io) => fileArgument(text, io);

const NO_WORDS: readonly string[] = [];

/** An option without a value: true where it stands. */
export function flag(help: string): Parameter<boolean> {
  const read = (texts: readonly string[]) => texts.length > 0;
  return { value: null, help, isMandatory: false, isMany: false, words: NO_WORDS, read };
}

/** An argument or option that must stand. */
export function mandatory<T>(value: string, help: string | null, parse: Parse<T>): Parameter<T> {
  const read: Parameter<T>['read'] = ([text], name, io) =>
    parse(requireOption(text, name), name, io);
  return { value, help, isMandatory: true, isMany: false, words: listOrNone(parse.words), read };
}

/** An argument or option that may stand; `null` where it does not. */
export function optional<T>(
  value: string,
  help: string | null,
  parse: Parse<T>,
): Parameter<T | null> {
  const read: Parameter<T | null>['read'] = ([text], name, io) =>
    text === undefined ? null : parse(text, name, io);
  return { value, help, isMandatory: false, isMany: false, words: listOrNone(parse.words), read };
}

/** An argument or option that may stand any number of times. */
export function several<T>(value: string, help: string | null, parse: Parse<T>): Parameter<T[]> {
  const read: Parameter<T[]>['read'] = (texts, name, io) =>
    texts.map((text) => parse(text, name, io));
  return { value, help, isMandatory: false, isMany: true, words: listOrNone(parse.words), read };
}

/** An argument or option that stands at least once. */
export function atLeastOne<T>(value: string, help: string | null, parse: Parse<T>): Parameter<T[]> {
  const { read } = several(value, help, parse);
  return {
    value,
    help,
    isMandatory: true,
    isMany: true,
    words: listOrNone(parse.words),
    read: (texts, name, io) => {
      requireOption(texts[0], name);
      return read(texts, name, io);
    },
  };
}

/** A command as it is declared. The words of `arguments` stand in their order. */
type Declaration<S, A extends Parameters, O extends Parameters> = {
  readonly name: string;
  readonly summary: string;
  readonly example: string;
  readonly arguments?: A;
  readonly options?: O;
  /** Stands in the usage between the name and `[--json]`, where options exclude each other. */
  readonly usage?: string;
  /** The output of `--json`; `null` for a command without that option. */
  readonly json?: string | null;
  /** Further lines of the help: what the command changes, what an exit status means. */
  readonly notes?: readonly string[];
  readonly run: (values: Values<A> & Values<O>, io: Io, services: S) => Promise<ExitStatus>;
};

/** Makes a command: its usage, its help and how it is parsed follow from the declaration. */
export function defineCommand<S, A extends Parameters = None, O extends Parameters = None>(
  declaration: Declaration<S, A, O>,
): Command<S> {
  const { name, summary, example, json, run } = declaration;
  const { words, options } = parametersOf(declaration);
  const derived = [
    ...words.map(([, parameter]) => bracket(`${parameter.value}`, parameter)),
    ...options.map(([option, parameter]) => bracket(optionLabel(option, parameter), parameter)),
  ];
  const usage = declaration.usage === undefined ? derived : [declaration.usage];
  const rows = [
    ...words.map(([, { value, help }]) => [`${value}`, help] as const),
    ...options.map(([option, one]) => [optionLabel(option, one), one.help] as const),
    ['--json', json === undefined ? null : json] as const,
  ];
  return {
    name,
    summary,
    usage: ['exhibit', name, ...usage, ...(json === null ? [] : ['[--json]'])].join(' '),
    example,
    details: [...helpLines(rows), ...listOrNone(declaration.notes)],
    completes: {
      argument: words.flatMap(([, one]) => [...one.words]),
      options: [
        ...options.map(([option, one]) => {
          return { name: `--${option}`, hasValue: one.value !== null, words: one.words };
        }),
        ...(json === null && declaration.usage?.includes('--json') !== true
          ? []
          : [{ name: '--json', hasValue: false, words: NO_WORDS }]),
        { name: '--help', hasValue: false, words: NO_WORDS },
      ],
    },
    run: (argv, io, services) => run(readValues(declaration, argv, io), io, services),
  };
}

type Named = readonly [name: string, parameter: Parameter<unknown>];

function parametersOf(of: { readonly arguments?: Parameters; readonly options?: Parameters }): {
  readonly words: readonly Named[];
  readonly options: readonly Named[];
} {
  const entries = (some: Parameters | undefined) =>
    some === undefined ? [] : Object.entries(some);
  return { words: entries(of.arguments), options: entries(of.options) };
}

function optionLabel(option: string, { value }: Parameter<unknown>): string {
  return value === null ? `--${option}` : `--${option} ${value}`;
}

function bracket(label: string, { isMandatory, isMany }: Parameter<unknown>): string {
  return `${isMandatory ? label : `[${label}]`}${isMany ? '…' : ''}`;
}

const HELP_CHARS_MAX = 98;
const HELP_GAP = 3;

function helpLines(rows: readonly (readonly [label: string, help: string | null])[]): string[] {
  const widest = rows.reduce((most, [label, help]) => {
    return help === null ? most : Math.max(most, label.length);
  }, 0);
  const indent = widest + HELP_GAP;
  const lines: string[] = [];
  for (const [label, help] of rows) {
    if (help === null) continue;
    let line = label.padEnd(indent - 1);
    for (const word of help.split(' ')) {
      if (line.length + 1 + word.length > HELP_CHARS_MAX) {
        lines.push(line);
        line = ' '.repeat(indent - 1);
      }
      line += ` ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

function readValues<S, A extends Parameters, O extends Parameters>(
  declaration: Declaration<S, A, O>,
  argv: readonly string[],
  io: Io,
): Values<A> & Values<O> {
  const { words, options } = parametersOf(declaration);
  const types = options.map(([option, { value }]) => {
    const type = value === null ? 'boolean' : 'string';
    return [option, { type, multiple: true }] as const;
  });
  const { values, positionals } = strictly(argv, Object.fromEntries(types));
  const extra = positionals.length - words.length;
  const textsOf = ({ isMany }: Parameter<unknown>, i: number) =>
    positionals.slice(i, isMany ? positionals.length : i + 1);
  const read = words.map(([name, one], i) => [name, one.read(textsOf(one, i), `${one.value}`, io)]);
  if (extra > 0 && !words.some(([, { isMany }]) => isMany)) {
    throw new UsageError(`${extra} more argument${extra === 1 ? '' : 's'} than expected.`);
  }
  for (const [option, one] of options) {
    const texts = listOrNone(values[option]).map(String);
    read.push([option, one.read(one.isMany ? texts : texts.slice(-1), `--${option}`, io)]);
  }
  return Object.fromEntries(read);
}
