// What an operator types to bring a newer list into force: from its publisher, or from a file.

import type { ReadRecords } from '../../command/address-file.ts';
import {
  type Command,
  EXIT,
  type ExitStatus,
  fileArgument,
  type Io,
  readArgs,
  UsageError,
} from '../../command/command.ts';
import { factLines, formatTime, print, printJson, timeText } from '../../command/output.ts';
import { timeStated } from '../../command/time-option.ts';
import { Read } from '../../evidence/reading.ts';
import type { PublicationStore } from '../../ports/sanctions/publication-store.ts';
import type {
  Acceptance,
  Gate,
  ListDiff,
  PublicationReader,
  ReadList,
  RefreshedList,
  RefreshOutcome,
} from '../../ports/sanctions/publisher.ts';
import type { ListEntry, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { refusalAdvice } from './refusal-advice.ts';

type Rows = { readonly addresses: readonly ListEntry[] };

/** The services of the commands of this group; compose fills them. */
export type SanctionsServices = {
  readonly sanctions: {
    readonly store: PublicationStore;
    readonly list: SanctionsList;
    /** Brings `list` up to date with the store. */
    readonly poll: () => Promise<void>;
    readonly refresh: (
      acceptance: Acceptance | null,
      signal: AbortSignal,
    ) => Promise<RefreshOutcome>;
    /** The same from a file, with the time at which an operator says it was obtained. */
    readonly importFile: (
      path: string,
      obtained_at: number | null,
      acceptance: Acceptance | null,
      signal: AbortSignal,
    ) => Promise<RefreshOutcome>;
    readonly reader: PublicationReader;
    readonly gate: Gate;
    /** Asks a list that was read from a file; its age runs from its own date. */
    readonly lookUpIn: (list: ReadList) => SanctionsList['lookUp'];
    /** Reads the records of a file of addresses. */
    readonly readRecords: ReadRecords;
    readonly diff: (before: Rows, after: Rows) => ListDiff;
    /** Whether the list is made up. */
    readonly simulated: boolean;
    /** Seconds; `null` where the limit is lifted. */
    readonly maxAgeS: number | null;
  };
};

type SanctionsCommand = Command<SanctionsServices>;

const DIGEST = /^[0-9a-f]{64}$/;

export const sanctionsRefresh: SanctionsCommand = {
  name: 'sanctions refresh',
  summary: 'Ask the publisher for a newer list; in force if it passes the gate.',
  usage: 'exhibit sanctions refresh [--accept SHA256 --why TEXT] [--json]',
  example: 'exhibit sanctions refresh',
  details: [
    '--accept SHA256  let exactly this file pass where only its size speaks against it',
    '--why TEXT       the reason, kept with the list',
    'Exit status 1: what was served is refused, the list in force stays. 3: no source answered.',
  ],
  run: async (argv, io, { sanctions }) => {
    const { values } = readArgs(argv, {
      options: { accept: { type: 'string' }, why: { type: 'string' } },
    });
    const outcome = await sanctions.refresh(acceptanceOf(values.accept, values.why), io.signal);
    return told(outcome, 'refresh', io);
  },
};

export const sanctionsImport: SanctionsCommand = {
  name: 'sanctions import',
  summary: 'Put a file of the publisher’s in force, for a machine without a network.',
  usage: 'exhibit sanctions import FILE [--obtained TIME] [--accept SHA256 --why TEXT] [--json]',
  example: 'exhibit sanctions import SDN_ADVANCED.ZIP --obtained 2026-11-21T09:00Z',
  details: [
    '--obtained TIME  when the file was obtained from the publisher, with its zone; every answer',
    '                 says that you state so. Without it the list is as old as its date.',
    '--accept SHA256  let exactly this file pass where only its size speaks against it',
    '--why TEXT       the reason, kept with the list',
    'Exit status 1: the file is refused, the list in force stays. 3: it could not be read.',
  ],
  run: async (argv, io, { sanctions }) => {
    const { values, positionals } = readArgs(argv, {
      options: {
        obtained: { type: 'string' },
        accept: { type: 'string' },
        why: { type: 'string' },
      },
      positionals: ['FILE'],
    });
    const [file] = positionals;
    if (file === undefined) throw new UsageError('FILE is missing.');
    const inForce = await sanctions.store.inForce();
    if (!(inForce instanceof Read)) return couldNot(inForce.why.reason, io);
    const obtained = timeStated(values.obtained, '--obtained', inForce.value.now);
    const acceptance = acceptanceOf(values.accept, values.why);
    const path = fileArgument(file, io);
    const outcome = await sanctions.importFile(path, obtained, acceptance, io.signal);
    return told(outcome, `import ${file}`, io);
  },
};

/** Tells an outcome, and gives the exit status for it. */
function told(outcome: RefreshOutcome, command: string, io: Io): ExitStatus {
  if (io.json) printJson(io, jsonOf(outcome));
  else tell(outcome, command, io);
  if (outcome.kind === 'refused') return EXIT.failed;
  return outcome.kind === 'unreachable' ? EXIT.couldNotCheck : EXIT.done;
}

function acceptanceOf(accept: string | undefined, why: string | undefined): Acceptance | null {
  if (accept === undefined && why === undefined) return null;
  if (accept === undefined || why === undefined || why.trim() === '') {
    throw new UsageError('--accept SHA256 and --why TEXT go together.');
  }
  const sha256 = accept.toLowerCase();
  if (!DIGEST.test(sha256)) throw new UsageError('--accept takes a SHA-256 of 64 hex digits.');
  return { sha256, why: why.trim() };
}

function tell(outcome: RefreshOutcome, command: string, io: Io): void {
  switch (outcome.kind) {
    case 'updated': {
      const before = outcome.replaced === null ? '' : `, instead of ${outcome.replaced.published}`;
      io.out(`The list of ${outcome.list.published} is in force${before}.`);
      print(io, listLines(outcome.list));
      if (outcome.accepted_why !== null) io.out(`Size rule set aside: ${outcome.accepted_why}`);
      break;
    }
    case 'unchanged':
      io.out(`No newer list: the one of ${outcome.list.published} was checked again.`);
      print(io, listLines(outcome.list));
      break;
    case 'refused':
      io.err(`Refused (${outcome.code}), from ${outcome.source}: ${outcome.reason}.`);
      io.err('The list in force before stays in force.');
      for (const line of refusalAdvice(outcome, command)) io.err(line);
      break;
    case 'unreachable':
      io.err(`Could not check: ${outcome.reason}`);
  }
  // One source that failed or was refused was named above.
  const served = outcome.kind === 'updated' || outcome.kind === 'unchanged';
  if (!served && outcome.tried.length < 2) return;
  for (const { source, result } of outcome.tried) io.err(`Tried ${source}: ${result}`);
}

function listLines(list: RefreshedList): string[] {
  return factLines([
    ['published', list.published],
    ['addresses', list.addresses],
    ['sha256', list.sha256],
    ['source', list.source],
    ['checked', timeText(list.checked_at)],
  ]);
}

function jsonOf(outcome: RefreshOutcome): object {
  const { kind, ...rest } = outcome;
  if (!('list' in rest)) return { outcome: kind, ...rest };
  const { list, ...others } = rest;
  return { outcome: kind, ...list, checked_at: formatTime(list.checked_at), ...others };
}

/** Says what could not be checked, and gives the exit status for it. */
export function couldNot(reason: string, io: Io): ExitStatus {
  io.err(`Could not check: ${reason}`);
  return EXIT.couldNotCheck;
}
