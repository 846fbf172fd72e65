import type { Command, Io } from '../command/command.ts';
import { type CommandRequest, findCommand, runCommand } from '../operator/command-line.ts';

/** An Io that keeps its lines. */
type RecordingIo = Io & { readonly lines: string[]; readonly errors: string[] };

/** Makes one. JSON is off, colour is off, and the caller stands in `cwd`. */
export function recordingIo(how: Partial<Io> = {}): RecordingIo {
  const lines: string[] = [];
  const errors: string[] = [];
  return {
    out: (line) => void lines.push(line),
    err: (line) => void errors.push(line),
    json: false,
    colour: false,
    cwd: '/nowhere',
    signal: new AbortController().signal,
    ...how,
    lines,
    errors,
  };
}

/** The result of a command. */
type Ran = {
  readonly status: number;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
};

/** Runs the words of a command line, without the program's name, among these commands. */
export async function ran<S>(
  line: string,
  commands: readonly Command<S>[],
  services: S,
  how: Partial<Io> = {},
): Promise<Ran> {
  const asked = wordsAsked(line, commands);
  const io = recordingIo({ json: asked.json, ...how });
  const status = await runCommand(asked, io, services);
  return { status, lines: io.lines, errors: io.errors };
}

/** The command that a line asks for; throws where it names none. */
export function wordsAsked<S>(
  line: string,
  commands: readonly Command<S>[],
): CommandRequest<Command<S>> {
  const asked = findCommand(
    line.split(' ').filter((word) => word !== ''),
    commands,
  );
  if (asked === null) throw new Error(`no command: ${line}`);
  return asked;
}
