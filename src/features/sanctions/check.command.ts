// What an operator types to check addresses against the list in force, and nothing else.
// A check that could not be made exits 3 and never prints unlisted. It refuses to fold a listed
// other form of the same key or account into the answer about the address that was asked.

import {
  type Command,
  type ExitStatus,
  fileArgument,
  type Io,
  readArgs,
  UsageError,
} from '../../command/command.ts';
import { print, printJson, tableLines, timeText } from '../../command/output.ts';
import { given } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import type { OtherLists } from '../../ports/lists/other-lists.ts';
import type { PublicationStore } from '../../ports/sanctions/publication-store.ts';
import type { Gate } from '../../ports/sanctions/publisher.ts';
import type { ListEntry, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { checkFile } from './check-file.command.ts';
import {
  type Checked,
  checkOne,
  countChecked,
  jsonOfCheck,
  newTally,
  shortfallOf,
  statusOf,
} from './check-result.command.ts';
import { caseHint } from './letter-case.ts';
import { fromFile } from './publications.command.ts';
import type { SanctionsServices } from './sanctions.command.ts';

/** How many addresses one check takes from its arguments. */
const CHECKED_MAX = 1_000;

/** What a check needs of its group's services. */
export type CheckServices = {
  readonly sanctions: Pick<
    SanctionsServices['sanctions'],
    'list' | 'poll' | 'simulated' | 'reader' | 'lookUpIn' | 'readRecords'
  > & {
    readonly gate: Pick<Gate, 'absolute'>;
    readonly store: Pick<PublicationStore, 'inForce' | 'entries'>;
  };
  /** The lists of other authorities, read anew by `poll`. */
  readonly otherLists: OtherLists & {
    readonly poll: () => Promise<void>;
    /** Unix seconds. */
    readonly now: () => number;
  };
};

/** `exhibit sanctions check`. */
export const sanctionsCheck: Command<CheckServices> = {
  name: 'sanctions check',
  summary: 'Check addresses, or those of a file, directly against the lists in force.',
  usage: 'exhibit sanctions check ADDRESS… | --file FILE.csv [--source FILE] [--json]',
  example: 'exhibit sanctions check 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h',
  details: [
    '--file FILE.csv   check every column that holds addresses; one line for each of them',
    '--column NAME     of the file read this column alone; may be given more than once',
    '--source FILE     ask this file of the publisher’s formats, instead of the list in force',
    '--fail-on-listed  exit status 1 where an address, or another form of it, is on any list',
    '--json            one address a line, with the caveat',
    'Not listed is a statement about the sanctions list alone. The lists of other authorities that',
    'were imported are asked too, and other forms of the same key or account; each told apart.',
    'Exit status 3: at least one address or row could not be checked. 1: a --source is refused.',
  ],
  run: async (argv, io, { sanctions, otherLists }) => {
    const { values, positionals } = readArgs(argv, {
      options: {
        file: { type: 'string' },
        column: { type: 'string', multiple: true },
        source: { type: 'string' },
        'fail-on-listed': { type: 'boolean' },
      },
      many: true,
    });
    const { file, column, source } = values;
    if (file === undefined) checkArguments(positionals, column);
    else if (positionals.length > 0) throw new UsageError('Either ADDRESS or --file FILE.csv.');
    const list = await listAsked(source, io, sanctions);
    if ('status' in list) return list.status;
    await otherLists.poll();
    const { simulated, readRecords } = sanctions;
    const hint = caseHint(list.entries);
    const asked = { lookUp: list.lookUp, otherLists, now: otherLists.now, simulated, hint };
    const ask = (address: string) => checkOne(address, asked);
    const tally = newTally();
    if (file === undefined) {
      const results: Checked[] = [];
      for (const address of positionals) results.push(await ask(address));
      for (const result of results) countChecked(result, tally);
      if (io.json) for (const result of results) printJson(io, jsonOfCheck(result, simulated));
      else showChecks(results, simulated, io);
    } else {
      const columns = given(column);
      const path = fileArgument(file, io);
      await checkFile({ path, columns, readRecords, ask, simulated }, tally, io);
    }
    return statusOf(tally, values['fail-on-listed'] === true);
  },
};

function checkArguments(addresses: readonly string[], column: readonly string[] | undefined): void {
  if (addresses.length === 0) throw new UsageError('ADDRESS is missing.');
  if (column !== undefined) throw new UsageError('--column goes with --file FILE.csv.');
  if (addresses.length <= CHECKED_MAX) return;
  throw new UsageError(`At most ${CHECKED_MAX} addresses at a time; --file takes more.`);
}

type ListAsked =
  | (Pick<SanctionsList, 'lookUp'> & {
      /** Its rows; `null` where they could not be read. */
      readonly entries: () => Promise<readonly ListEntry[] | null>;
    })
  | { readonly status: ExitStatus };

/** The list in force, or that of a file. */
async function listAsked(
  source: string | undefined,
  io: Io,
  sanctions: CheckServices['sanctions'],
): Promise<ListAsked> {
  if (source === undefined) {
    await sanctions.poll();
    return { lookUp: sanctions.list.lookUp, entries: () => entriesInForce(sanctions.store) };
  }
  const found = await fromFile(source, io, sanctions);
  if ('status' in found) return found;
  const { list } = found;
  return { lookUp: sanctions.lookUpIn(list), entries: async () => list.addresses };
}

async function entriesInForce(
  store: CheckServices['sanctions']['store'],
): Promise<readonly ListEntry[] | null> {
  const inForce = await store.inForce();
  if (!(inForce instanceof Read) || inForce.value.publication === null) return null;
  const entries = await store.entries(inForce.value.publication.id);
  return entries instanceof Read ? entries.value : null;
}

const COLUMNS = [
  'address',
  'listed',
  'entity',
  'type',
  'programmes',
  'uid',
  'currency',
  'other lists',
];

/** The cells of an entry where there is none. */
const NO_ENTRY = [null, null, null, null, null] as const;

function showChecks(results: readonly Checked[], simulated: boolean, io: Io): void {
  const label = simulated ? ' (simulated)' : '';
  const rows = results.flatMap((result) => {
    const { address } = result;
    const { text: others } = result.others;
    if (result.listed === null) return [[address, 'not checked', ...NO_ENTRY, others]];
    if (result.matches.length === 0) return [[address, `no${label}`, ...NO_ENTRY, others]];
    return result.matches.map((match) => [
      match.address,
      `yes${label}`,
      match.entity,
      match.type,
      match.programs === null ? null : match.programs.join(', '),
      match.uid,
      match.currency,
      others,
    ]);
  });
  const columns = COLUMNS.map((title) => ({ title }));
  print(io, tableLines(columns, rows, io));
  for (const result of results) {
    if (result.reason !== null) io.err(`${result.address}: ${result.reason}`);
    if (result.others.isShort) io.err(`${result.address}: ${shortfallOf(result)}`);
    if (result.listed === null || result.listedForms.length === 0) continue;
    const forms = result.listedForms.join(', ');
    io.out(`${result.address}: another form of the same key or account is listed: ${forms}`);
  }
  const told = results.flatMap((one) => (one.listed === null ? [] : [one.caveat]));
  print(io, [...new Set(told)]);
  const facts = results.flatMap((one) => (one.listed === null ? [] : [one.list])).at(0);
  if (facts === undefined) return;
  const checked = timeText(facts.as_of);
  io.out(
    `${facts.name}${label} of ${facts.published}, ${facts.addresses} addresses, checked ` +
      `${checked}. Not listed is a statement about this list alone.`,
  );
}
