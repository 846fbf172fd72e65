import { parseKnownAddress } from '../../chain/address.ts';
import { DAY_S, HOUR_S } from '../../chain/time.ts';
import type { ReadRecords } from '../../command/address-file.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  flag,
  type Io,
  mandatory,
  optional,
  pastTime,
  UsageError,
} from '../../command/command.ts';
import {
  factLines,
  formatTime,
  print,
  printJson,
  tableLines,
  timeText,
} from '../../command/output.ts';
import { shellCommand } from '../../contract/shell-command.ts';
import { textOrEmpty } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type Acceptance,
  type AddressListing,
  type CheckedBy,
  type HeldPublication,
  type HeldRefusal,
  type InForce,
  isListRefusal,
  type ListDiff,
  type ListEntry,
  type PublicationGate,
  type PublicationReader,
  type PublicationStore,
  type ReadList,
  type RefreshedList,
  type RefreshOutcome,
  type SanctionsList,
  type SourceCheck,
  UNREADABLE,
} from '../../ports/sanctions.ts';

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
    readonly gate: PublicationGate;
    /** Asks a list that was read from a file; its age runs from its own date. */
    readonly lookUpIn: (list: ReadList) => SanctionsList['lookUp'];
    /** Reads the records of a file of addresses. */
    readonly readRecords: ReadRecords;
    readonly diff: (
      before: Pick<ReadList, 'addresses'>,
      after: Pick<ReadList, 'addresses'>,
    ) => ListDiff;
    /** Whether the list is made up. */
    readonly simulated: boolean;
    /** Seconds; `null` where the limit is lifted. */
    readonly maxAgeS: number | null;
  };
};

const DIGEST = /^[0-9a-f]{64}$/;

const ACCEPTANCE = {
  accept: optional(
    'SHA256',
    'let exactly this file pass where only its size speaks against it',
    anyText,
  ),
  why: optional('TEXT', 'the reason, kept with the list', anyText),
};

export const sanctionsRefresh = defineCommand({
  name: 'sanctions refresh',
  summary: 'Ask the publisher for a newer list; in force if it passes the gate.',
  usage: '[--accept SHA256 --why TEXT]',
  example: 'exhibit sanctions refresh',
  options: ACCEPTANCE,
  notes: [
    'Exit status 1: what was served is refused, the list in force stays. 3: no source answered.',
  ],
  run: async ({ accept, why }, io, { sanctions }: SanctionsServices) => {
    const outcome = await sanctions.refresh(acceptanceOf(accept, why), io.signal);
    return printOutcome(outcome, ['refresh'], io);
  },
});

export const sanctionsImport = defineCommand({
  name: 'sanctions import',
  summary: 'Put a file of the publisher’s in force, for a machine without a network.',
  usage: 'FILE [--obtained TIME] [--accept SHA256 --why TEXT]',
  example: 'exhibit sanctions import SDN_ADVANCED.ZIP --obtained 2026-11-21T09:00Z',
  arguments: { file: mandatory('FILE', null, anyText) },
  options: {
    obtained: optional(
      'TIME',
      'when the file was obtained from the publisher, with its zone; every answer says that you ' +
        'state so. Without it the list is as old as its date.',
      anyText,
    ),
    ...ACCEPTANCE,
  },
  notes: ['Exit status 1: the file is refused, the list in force stays. 3: it could not be read.'],
  run: async ({ file, obtained, accept, why }, io, { sanctions }: SanctionsServices) => {
    const inForce = await sanctions.store.inForce();
    if (!(inForce instanceof Read)) return couldNot(inForce.why.reason, io);
    const at = obtained === null ? null : pastTime(obtained, '--obtained', inForce.value.now);
    const path = filePath(file, 'FILE', io);
    const outcome = await sanctions.importFile(path, at, acceptanceOf(accept, why), io.signal);
    return printOutcome(outcome, ['import', file], io);
  },
});

function printOutcome(outcome: RefreshOutcome, command: readonly string[], io: Io): ExitStatus {
  if (io.json) printJson(io, jsonOf(outcome));
  else tell(outcome, command, io);
  if (outcome.kind === 'refused') return EXIT.failed;
  return outcome.kind === 'unreachable' ? EXIT.couldNotCheck : EXIT.done;
}

function acceptanceOf(accept: string | null, why: string | null): Acceptance | null {
  if (accept === null && why === null) return null;
  if (accept === null || why === null || why.trim() === '') {
    throw new UsageError('--accept SHA256 and --why TEXT go together.');
  }
  const sha256 = accept.toLowerCase();
  if (!DIGEST.test(sha256)) throw new UsageError('--accept takes a SHA-256 of 64 hex digits.');
  return { sha256, why: why.trim() };
}

function tell(outcome: RefreshOutcome, command: readonly string[], io: Io): void {
  switch (outcome.kind) {
    case 'updated': {
      const before = outcome.replaced === null ? '' : `, instead of ${outcome.replaced.published}`;
      io.out(`The list of ${outcome.list.published} is in force${before}.`);
      print(io, listLines(outcome.list, io));
      if (outcome.accepted_why !== null) io.out(`Size rule set aside: ${outcome.accepted_why}`);
      break;
    }
    case 'unchanged':
      io.out(`No newer list: the one of ${outcome.list.published} was checked again.`);
      print(io, listLines(outcome.list, io));
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

function listLines(list: RefreshedList, io: Io): string[] {
  return factLines(
    [
      ['published', list.published],
      ['addresses', list.addresses],
      ['sha256', list.sha256],
      ['source', list.source],
      ['checked', timeText(list.checked_at)],
    ],
    io,
  );
}

function jsonOf(outcome: RefreshOutcome): object {
  const { kind, ...rest } = outcome;
  if (!('list' in rest)) return { outcome: kind, ...rest };
  const { list, ...others } = rest;
  return { outcome: kind, ...list, checked_at: formatTime(list.checked_at), ...others };
}

/** Says what could not be checked, and gives the exit status for it. */
export function couldNot(reason: string, io: Io): ExitStatus {
  return fail(io, `Could not check: ${reason}`, EXIT.couldNotCheck);
}

// The command exits 3 where a miss would be no answer.

const CHECKED_BY: { readonly [B in CheckedBy]: string } = {
  asked: 'the publisher',
  obtained: 'an operator’s statement',
  own_date: 'its own publication date: the publisher did not confirm it',
};

export const sanctionsStatus = defineCommand({
  name: 'sanctions status',
  summary: 'Show the list in force, whose word its age is, and what was refused.',
  example: 'exhibit sanctions status --json',
  options: {
    literals: flag(
      'list the values of no known address form, which are matched as they are printed',
    ),
  },
  notes: [
    'Exit status 3: no list is in force, it is too old or superseded, so that a miss is no answer,',
    'or the store could not be read.',
  ],
  run: async ({ literals: isAsked }, io, { sanctions }: SanctionsServices) => {
    const { store } = sanctions;
    const inForce = await store.inForce();
    if (!(inForce instanceof Read)) return couldNot(inForce.why.reason, io);
    const refusals = await store.refusals();
    if (!(refusals instanceof Read)) return couldNot(refusals.why.reason, io);
    const asked = await store.asked();
    if (!(asked instanceof Read)) return couldNot(asked.why.reason, io);
    const { publication } = inForce.value;
    const entries = isAsked && publication !== null ? await store.entries(publication.id) : null;
    if (entries !== null && !(entries instanceof Read)) return couldNot(entries.why.reason, io);
    const literals =
      entries === null
        ? null
        : entries.value.filter(({ address }) => parseKnownAddress(address) === null);
    await sanctions.poll();
    const look = await sanctions.list.lookUp([]);
    const short = look instanceof Read ? null : look.why.reason;
    const facts = {
      ...inForce.value,
      refused: refusals.value,
      asked: asked.value,
      short,
      literals,
    };
    if (io.json) printJson(io, statusJson(facts));
    else show(facts, sanctions.maxAgeS, io);
    return short === null ? EXIT.done : EXIT.couldNotCheck;
  },
});

type Facts = Pick<InForce, 'publication' | 'superseded'> & {
  readonly refused: readonly HeldRefusal[];
  readonly asked: readonly SourceCheck[];
  /** Why a miss is no answer; `null` where it is one. */
  readonly short: string | null;
  /** The rows of no known address form; `null` where nobody asks, or no list is in force. */
  readonly literals: readonly ListEntry[] | null;
};

function statusJson({ publication, superseded, refused, asked, short, literals }: Facts): object {
  return {
    published: publication === null ? null : publication.published,
    addresses: publication === null ? null : publication.distinct_addresses,
    sha256: publication === null ? null : publication.sha256,
    source: publication === null ? null : publication.source_url,
    checked_at: publication === null ? null : formatTime(publication.checked_at),
    checked_by: publication === null ? null : publication.checked_by,
    shows_absence: short === null,
    reason: short,
    superseded: superseded === null ? null : { ...superseded, since: formatTime(superseded.since) },
    refusals: refused.map(({ first_at, refused_at, sha256, source_url, ...row }) => ({
      sha256,
      source: source_url,
      code: row.code,
      reason: row.reason,
      published: row.published,
      acceptable: row.acceptable,
      kept_as: row.kept_as,
      first_at: formatTime(first_at),
      refused_at: formatTime(refused_at),
    })),
    asked: asked.map(({ source, asked_at, result }) => ({
      source: source.url,
      asked_at: formatTime(asked_at),
      result,
    })),
    ...(literals === null ? {} : { literals: literals.map(pickLiteral) }),
  };
}

function pickLiteral({ address, currency, entity, uid, note }: ListEntry) {
  return { address, currency, entity, uid, note };
}

function show(facts: Facts, maxAgeS: number | null, io: Io): void {
  const { publication, superseded, refused, asked, short, literals } = facts;
  for (const { refused_at, source_url, code, reason, kept_as } of refused) {
    const kept = kept_as === null ? '' : `; kept as ${kept_as}`;
    io.err(`Refused (${timeText(refused_at)}, ${source_url}): ${code}, ${reason}${kept}`);
  }
  if (superseded !== null) {
    const { published, source_url, since } = superseded;
    const seen = `a list of ${published} from ${source_url}, first seen ${timeText(since)}`;
    io.err(`Not the newest: ${seen}, was refused.`);
  }
  if (publication !== null) print(io, factLines(linesOf(publication, asked, maxAgeS), io));
  if (literals !== null) {
    const titles = ['of no known form', 'currency', 'entity', 'uid', 'note'];
    const columns = titles.map((title) => ({ title }));
    const rows = literals.map((one) => Object.values(pickLiteral(one)));
    print(io, tableLines(columns, rows, io));
  }
  if (short !== null) couldNot(short, io);
}

function linesOf(
  publication: HeldPublication,
  asked: readonly SourceCheck[],
  maxAgeS: number | null,
) {
  const lines: [string, string | number | null][] = [
    ['published', publication.published],
    ['addresses', publication.distinct_addresses],
    ['of no known form', publication.unparsed],
    ['parties', publication.parties],
    ['format', publication.format],
    ['sha256', publication.sha256],
    ['source', publication.source_url],
    ['in force since', timeText(publication.accepted_at)],
    ['checked', timeText(publication.checked_at)],
    ['checked by', CHECKED_BY[publication.checked_by]],
    [
      'maximum age',
      maxAgeS === null
        ? 'lifted'
        : maxAgeS % DAY_S === 0
          ? `${maxAgeS / DAY_S} days`
          : `${maxAgeS / HOUR_S} hours`,
    ],
    ['size rule set aside', publication.accepted_why],
  ];
  const [last] = asked;
  if (last !== undefined) {
    const { source, asked_at, result } = last;
    lines.push(['last asked', `${source.url}, ${timeText(asked_at)}: ${result}`]);
  }
  return lines;
}

// A publication is a file of the publisher's, or one that is held, named by its date. Files pass
// the same absolute rules as the list in force, so that a cut file is refused here too.

type Services = SanctionsServices['sanctions'];

type Found = { readonly list: ReadList } | { readonly status: ExitStatus };

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The publication that a file of the publisher's holds, where it is whole. */
export async function fromFile(
  path: string,
  io: Io,
  { reader, gate }: Pick<Services, 'reader'> & { readonly gate: Pick<PublicationGate, 'absolute'> },
): Promise<Found> {
  const outcome = await reader(filePath(path, 'FILE', io), io.signal);
  const refused = isListRefusal(outcome) ? outcome : gate.absolute(outcome);
  if (refused === null && !isListRefusal(outcome)) return { list: outcome };
  if (refused === null || refused.code === UNREADABLE) {
    return { status: couldNot(`${path}: ${refused === null ? 'not read' : refused.reason}.`, io) };
  }
  return { status: fail(io, `${path} is refused (${refused.code}): ${refused.reason}.`) };
}

async function fromStore(day: string | null, io: Io, { store }: Services): Promise<Found> {
  const inForce = await store.inForce();
  if (!(inForce instanceof Read)) return { status: couldNot(inForce.why.reason, io) };
  const held = await store.held();
  if (!(held instanceof Read)) return { status: couldNot(held.why.reason, io) };
  const publication =
    day === null
      ? inForce.value.publication
      : held.value.find(({ published }) => published === day);
  if (publication === undefined || publication === null) {
    const dates = held.value.map(({ published }) => published).join(', ');
    const about = day === null ? 'No list is in force' : `No publication of ${day} is held`;
    return { status: couldNot(`${about}; held: ${dates === '' ? 'none' : dates}.`, io) };
  }
  const entries = await store.entries(publication.id);
  if (!(entries instanceof Read)) return { status: couldNot(entries.why.reason, io) };
  return { list: { ...publication, addresses: entries.value } };
}

function findPublication(text: string, io: Io, services: Services): Promise<Found> {
  return ISO_DAY.test(text) ? fromStore(text, io, services) : fromFile(text, io, services);
}

export const sanctionsDiff = defineCommand({
  name: 'sanctions diff',
  summary: 'Show what changed from one publication to another, by address and entry.',
  example: 'exhibit sanctions diff 2026-11-15 2026-11-18',
  arguments: { a: mandatory('A', null, anyText), b: mandatory('B', null, anyText) },
  notes: [
    'A, B  a file of the publisher’s formats, or the date (YYYY-MM-DD) of a publication held',
    'Moved: the same address under another entry. Exit status 1: a file is refused. 3: not held.',
  ],
  run: async ({ a, b }, io, { sanctions }: SanctionsServices) => {
    const before = await findPublication(a, io, sanctions);
    if ('status' in before) return before.status;
    const after = await findPublication(b, io, sanctions);
    if ('status' in after) return after.status;
    const diff = sanctions.diff(before.list, after.list);
    if (io.json) printJson(io, { from: facts(before.list), to: facts(after.list), ...diff });
    else showDiff(before.list, after.list, diff, io);
    return EXIT.done;
  },
});

function facts({ published, sha256, distinct_addresses }: ReadList): object {
  return { published, addresses: distinct_addresses, sha256 };
}

function showDiff(before: ReadList, after: ReadList, diff: ListDiff, io: Io): void {
  const { added, removed, moved, programmes_changed: programmes, renamed } = diff;
  const counts = [
    `${added.length} added`,
    `${removed.length} removed`,
    `${moved.length} moved`,
    `${programmes.length} with other programmes`,
    `${renamed.length} renamed`,
  ];
  io.out(
    `From ${before.published} (${before.distinct_addresses} addresses) to ${after.published} ` +
      `(${after.distinct_addresses}): ${counts.join(', ')}.`,
  );
  const rows = [
    ...added.map((to) => row('added', to)),
    ...removed.map((from) => row('removed', from)),
    ...moved.map(({ from, to }) => row('moved', to, `from ${nameText(from)} (${from.uid})`)),
    ...programmes.map(({ from, to }) => row('programmes', to, `from ${programmesText(from)}`)),
    ...renamed.map(({ from, to }) => row('renamed', to, `from ${nameText(from)}`)),
  ];
  if (rows.length === 0) return;
  const columns = ['change', 'address', 'currency', 'entity', 'programmes', 'uid', 'before'];
  const titles = columns.map((title) => ({ title }));
  print(io, tableLines(titles, rows, io));
}

function row(change: string, listing: AddressListing, before: string | null = null) {
  const { address, currencies, uid } = listing;
  const [name, programmes] = [nameText(listing), programmesText(listing)];
  return [change, address, currencies.join(', '), name, programmes, uid, before];
}

const LEFT_OPEN = '(left open)';

function nameText({ entity }: Pick<AddressListing, 'entity'>): string {
  return entity === null ? LEFT_OPEN : entity;
}

function programmesText({ programs }: Pick<AddressListing, 'programs'>): string {
  return programs === null ? LEFT_OPEN : programs.join(', ');
}

export const sanctionsExport = defineCommand({
  name: 'sanctions export',
  summary: 'Write every listed address and entry, of the list in force or of a file.',
  usage: '[--source FILE] [--json | --csv]',
  json: null,
  example: 'exhibit sanctions export --csv > list.csv',
  options: {
    source: optional(
      'FILE',
      'a file of the publisher’s formats, instead of the list in force',
      anyText,
    ),
    csv: flag('comma-separated with a heading (the default); --json: one document a line'),
  },
  run: async ({ source, csv }, io, { sanctions }: SanctionsServices) => {
    if (csv && io.json) throw new UsageError('Either --json or --csv.');
    const found =
      source === null
        ? await fromStore(null, io, sanctions)
        : await fromFile(source, io, sanctions);
    if ('status' in found) return found.status;
    const { published, addresses } = found.list;
    if (!io.json) io.out('address,currency,entity,type,programs,uid,published');
    for (const { address, currency, entity, type, programs, uid } of addresses) {
      if (io.json) {
        printJson(io, { address, currency, entity, type, programs, uid, published });
      } else {
        const programmes = programs === null ? null : programs.join('; ');
        const cells = [address, currency, entity, type, programmes, uid, published];
        io.out(cells.map(csvCell).join(','));
      }
    }
    return EXIT.done;
  },
});

function csvCell(cell: string | null): string {
  const text = textOrEmpty(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A refusal names the file kept, the command that shows its changes, and the one that accepts it.

/** Lines for an operator. `command` is what was typed, or would be, word by word: `refresh`. */
export function refusalAdvice(
  refused: Extract<RefreshOutcome, { kind: 'refused' }>,
  command: readonly string[],
): string[] {
  const { kept_as, in_force, acceptable, sha256 } = refused;
  const lines: string[] = [];
  if (kept_as !== null) lines.push(`The file is kept as ${kept_as}`);
  if (kept_as !== null && in_force !== null && acceptable) {
    const diff = shellCommand(['exhibit', 'sanctions', 'diff', in_force, kept_as]);
    lines.push(`What it would change: ${diff}`);
  }
  if (acceptable) {
    const accept = shellCommand([
      'exhibit',
      'sanctions',
      ...command,
      '--accept',
      sha256,
      '--why',
      'TEXT',
    ]);
    lines.push(`Only its size speaks against it. To accept exactly this file: ${accept}`);
  }
  return lines;
}
