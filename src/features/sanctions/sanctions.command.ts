// What an operator types about the list in force: refresh it, and look at it.

import { DAY_S, HOUR_S } from '../../chain/time.ts';
import {
  type Command,
  EXIT,
  type ExitStatus,
  type Io,
  readArgs,
  UsageError,
} from '../../command/command.ts';
import { factLines, formatTime, print, printJson, timeText } from '../../command/output.ts';
import { Read } from '../../evidence/reading.ts';
import type { PublicationStore } from '../../ports/sanctions/publication-store.ts';
import type {
  Acceptance,
  Gate,
  ListDiff,
  PublicationReader,
  RefreshedList,
  RefreshOutcome,
} from '../../ports/sanctions/publisher.ts';
import type { ListEntry, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';

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
    readonly reader: PublicationReader;
    readonly gate: Gate;
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
  summary: 'Ask the publisher for a newer list, and put it in force if it passes the gate.',
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
    if (io.json) printJson(io, jsonOf(outcome));
    else tell(outcome, io);
    if (outcome.kind === 'refused') return EXIT.failed;
    return outcome.kind === 'unreachable' ? EXIT.couldNotCheck : EXIT.done;
  },
};

function acceptanceOf(accept: string | undefined, why: string | undefined): Acceptance | null {
  if (accept === undefined && why === undefined) return null;
  if (accept === undefined || why === undefined || why.trim() === '') {
    throw new UsageError('--accept SHA256 and --why TEXT go together.');
  }
  const sha256 = accept.toLowerCase();
  if (!DIGEST.test(sha256)) throw new UsageError('--accept takes a SHA-256 of 64 hex digits.');
  return { sha256, why: why.trim() };
}

function tell(outcome: RefreshOutcome, io: Io): void {
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
      if (outcome.acceptable) {
        const accept = `exhibit sanctions refresh --accept ${outcome.sha256} --why TEXT`;
        io.err(`Only its size speaks against it. To accept exactly this file: ${accept}`);
      }
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

export const sanctionsStatus: SanctionsCommand = {
  name: 'sanctions status',
  summary: 'Show the list in force: its date, size, digest, source and last check.',
  usage: 'exhibit sanctions status [--json]',
  example: 'exhibit sanctions status --json',
  details: ['Exit status 3: no list is in force, or the store could not be read.'],
  run: async (argv, io, { sanctions }) => {
    readArgs(argv, { options: {} });
    const inForce = await sanctions.store.inForce();
    if (!(inForce instanceof Read)) return couldNot(inForce.why.reason, io);
    const { publication, newest_refusal: refused } = inForce.value;
    if (io.json) {
      printJson(io, {
        published: publication === null ? null : publication.published,
        addresses: publication === null ? null : publication.distinct_addresses,
        sha256: publication === null ? null : publication.sha256,
        source: publication === null ? null : publication.source_url,
        checked_at: publication === null ? null : formatTime(publication.checked_at),
      });
      return publication === null ? EXIT.couldNotCheck : EXIT.done;
    }
    if (refused !== null) {
      const at = timeText(refused.refused_at);
      io.err(`Newest refusal (${at}, ${refused.source_url}): ${refused.code}, ${refused.reason}`);
    }
    if (publication === null) return couldNot('No list has ever been loaded.', io);
    const { maxAgeS } = sanctions;
    print(
      io,
      factLines([
        ['published', publication.published],
        ['addresses', publication.distinct_addresses],
        ['of no known form', publication.unparsed],
        ['parties', publication.parties],
        ['format', publication.format],
        ['sha256', publication.sha256],
        ['source', publication.source_url],
        ['in force since', timeText(publication.accepted_at)],
        ['checked', timeText(publication.checked_at)],
        ['maximum age', maxAgeS === null ? 'lifted' : limitText(maxAgeS)],
        ['size rule set aside', publication.accepted_why],
      ]),
    );
    return EXIT.done;
  },
};

function limitText(limitS: number): string {
  return limitS % DAY_S === 0 ? `${limitS / DAY_S} days` : `${limitS / HOUR_S} hours`;
}

/** Says what could not be checked, and gives the exit status for it. */
export function couldNot(reason: string, io: Io): ExitStatus {
  io.err(`Could not check: ${reason}`);
  return EXIT.couldNotCheck;
}
