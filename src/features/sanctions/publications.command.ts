// What an operator types about whole publications: what changed between two, and what one lists.
// A publication is a file of the publisher's, or one that is held, named by its date. Files pass
// the same absolute rules as the list in force, so that a cut file is refused here too.

import {
  type Command,
  EXIT,
  type ExitStatus,
  fileArgument,
  type Io,
  readArgs,
  UsageError,
} from '../../command/command.ts';
import { printJson, tableLines } from '../../command/output.ts';
import { written } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type Gate,
  isListRefusal,
  type ListDiff,
  type Listing,
  type ReadList,
  UNREADABLE,
} from '../../ports/sanctions/publisher.ts';
import { couldNot, type SanctionsServices } from './sanctions.command.ts';

type Services = SanctionsServices['sanctions'];
type SanctionsCommand = Command<SanctionsServices>;

/** A publication, or the exit status after saying why there is none. */
type Found = { readonly list: ReadList } | { readonly status: ExitStatus };

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The publication that a file of the publisher's holds, where it is whole. */
export async function fromFile(
  path: string,
  io: Io,
  { reader, gate }: Pick<Services, 'reader'> & { readonly gate: Pick<Gate, 'absolute'> },
): Promise<Found> {
  const outcome = await reader(fileArgument(path, io), io.signal);
  const refused = isListRefusal(outcome) ? outcome : gate.absolute(outcome);
  if (refused === null && !isListRefusal(outcome)) return { list: outcome };
  if (refused === null || refused.code === UNREADABLE) {
    return { status: couldNot(`${path}: ${refused === null ? 'not read' : refused.reason}.`, io) };
  }
  io.err(`${path} is refused (${refused.code}): ${refused.reason}.`);
  return { status: EXIT.failed };
}

/** The held publication of a day, or the one in force where no day is named. */
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

function named(text: string, io: Io, services: Services): Promise<Found> {
  return ISO_DAY.test(text) ? fromStore(text, io, services) : fromFile(text, io, services);
}

export const sanctionsDiff: SanctionsCommand = {
  name: 'sanctions diff',
  summary: 'Show what changed from one publication to another, by address and entry.',
  usage: 'exhibit sanctions diff A B [--json]',
  example: 'exhibit sanctions diff 2026-11-15 2026-11-18',
  details: [
    'A, B  a file of the publisher’s formats, or the date (YYYY-MM-DD) of a publication held',
    'Moved: the same address under another entry. Exit status 1: a file is refused. 3: not held.',
  ],
  run: async (argv, io, { sanctions }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: ['A', 'B'] });
    const [a, b] = positionals;
    if (a === undefined || b === undefined) throw new UsageError('A and B are missing.');
    const before = await named(a, io, sanctions);
    if ('status' in before) return before.status;
    const after = await named(b, io, sanctions);
    if ('status' in after) return after.status;
    const diff = sanctions.diff(before.list, after.list);
    if (io.json) printJson(io, { from: facts(before.list), to: facts(after.list), ...diff });
    else showDiff(before.list, after.list, diff, io);
    return EXIT.done;
  },
};

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
  const lines = tableLines(
    columns.map((title) => ({ title })),
    rows,
    io,
  );
  for (const line of lines) io.out(line);
}

function row(change: string, listing: Listing, before: string | null = null) {
  const { address, currencies, uid } = listing;
  const [name, programmes] = [nameText(listing), programmesText(listing)];
  return [change, address, currencies.join(', '), name, programmes, uid, before];
}

const LEFT_OPEN = '(left open)';

function nameText({ entity }: Pick<Listing, 'entity'>): string {
  return entity === null ? LEFT_OPEN : entity;
}

function programmesText({ programs }: Pick<Listing, 'programs'>): string {
  return programs === null ? LEFT_OPEN : programs.join(', ');
}

export const sanctionsExport: SanctionsCommand = {
  name: 'sanctions export',
  summary: 'Write every listed address and entry, of the list in force or of a file.',
  usage: 'exhibit sanctions export [--source FILE] [--json | --csv]',
  example: 'exhibit sanctions export --csv > list.csv',
  details: [
    '--source FILE  a file of the publisher’s formats, instead of the list in force',
    '--json         one JSON document a line; --csv (the default): comma-separated with a heading',
  ],
  run: async (argv, io, { sanctions }) => {
    const { values } = readArgs(argv, {
      options: { source: { type: 'string' }, csv: { type: 'boolean' } },
    });
    if (values.csv === true && io.json) throw new UsageError('Either --json or --csv.');
    const { source } = values;
    const found =
      source === undefined
        ? await fromStore(null, io, sanctions)
        : await fromFile(source, io, sanctions);
    if ('status' in found) return found.status;
    const { published, addresses } = found.list;
    if (!io.json) io.out(EXPORTED.join(','));
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
};

const EXPORTED = ['address', 'currency', 'entity', 'type', 'programs', 'uid', 'published'];

function csvCell(cell: string | null): string {
  const text = written(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
