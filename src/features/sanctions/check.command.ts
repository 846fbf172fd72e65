// What an operator types to check addresses against the list in force, and nothing else.
// A check that could not be made exits 3 and never prints unlisted. It refuses to fold a listed
// other form of the same key or account into the answer about the address that was asked.

import { type Command, EXIT, type Io, readArgs, UsageError } from '../../command/command.ts';
import { formatTime, print, printJson, tableLines, timeText } from '../../command/output.ts';
import { Read } from '../../evidence/reading.ts';
import type { ListEntry, ListFacts } from '../../ports/sanctions/sanctions-list.ts';
import { directCaveat } from './caveat.ts';
import {
  directCheck,
  entriesOf,
  listSubject,
  type ScreenedForm,
  spellingsOf,
} from './direct-check.ts';
import type { SanctionsServices } from './sanctions.command.ts';

/** How many addresses one check takes. */
const CHECKED_MAX = 1_000;

/** What a check needs of its group's services. */
export type CheckServices = {
  readonly sanctions: Pick<SanctionsServices['sanctions'], 'list' | 'poll' | 'simulated'>;
};

/** The outcome of a check of one address. `listed` is `null` where it could not be checked. */
type Checked = {
  readonly address: string;
  readonly reason: string | null;
} & (
  | { readonly listed: null }
  | {
      readonly listed: boolean;
      readonly matches: readonly ListEntry[];
      readonly forms: readonly ScreenedForm[];
      readonly listedForms: readonly string[];
      readonly list: ListFacts;
      readonly caveat: string;
    }
);

/** `exhibit sanctions check`. */
export const sanctionsCheck: Command<CheckServices> = {
  name: 'sanctions check',
  summary: 'Check addresses directly against the list in force.',
  usage: 'exhibit sanctions check ADDRESS… [--json]',
  example: 'exhibit sanctions check 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h',
  details: [
    'Not listed is a statement about this list alone. Other forms of the same key or account are',
    'looked for too, and told apart.',
    'Exit status 3: at least one address could not be checked.',
  ],
  run: async (argv, io, { sanctions }) => {
    const asked = { options: {}, positionals: ['ADDRESS'], many: true } as const;
    const { positionals } = readArgs(argv, asked);
    if (positionals.length > CHECKED_MAX) {
      throw new UsageError(`At most ${CHECKED_MAX} addresses at a time.`);
    }
    await sanctions.poll();
    const results: Checked[] = [];
    for (const address of positionals) results.push(await checkOne(address, sanctions));
    const { simulated } = sanctions;
    if (io.json) for (const result of results) printJson(io, jsonOfCheck(result, simulated));
    else showChecks(results, simulated, io);
    return results.some(({ listed }) => listed === null) ? EXIT.couldNotCheck : EXIT.done;
  },
};

const NOT_RECOGNISED = 'Form not recognised; nothing was checked.';

async function checkOne(address: string, { list }: CheckServices['sanctions']): Promise<Checked> {
  const subject = listSubject(address);
  if (subject === null) return { address, listed: null, reason: NOT_RECOGNISED };
  const check = directCheck(subject, await list.lookUp(spellingsOf(subject)));
  if (check.outcome === 'silent') return { address, listed: null, reason: check.why.reason };
  if (check.outcome === 'misformed') return { address, listed: null, reason: NOT_RECOGNISED };
  const { look, forms, listedForms } = check;
  const matches = entriesOf(look.value, subject.address);
  return {
    address,
    listed: matches.length > 0,
    reason: null,
    matches,
    forms,
    listedForms,
    list: look.value.list,
    caveat: directCaveat({
      subject,
      list: look.value.list,
      listedForms,
      named: null,
      on: null,
    }).join(' '),
  };
}

/** What the simulated world is called beside everything that it holds. */
const SIMULATED = 'Simulated: this answer rests on made-up data. ';

function jsonOfCheck(result: Checked, simulated: boolean): object {
  const { address, listed, reason } = result;
  const label = simulated ? { simulated } : {};
  if (result.listed === null) {
    const unread = { matches: null, equivalent_forms: null, list: null, caveat: null };
    return { address, listed, reason, ...unread, ...label };
  }
  const { matches, forms, list, caveat } = result;
  return {
    address,
    listed,
    reason,
    matches,
    equivalent_forms: forms.map(jsonOfForm),
    list: { ...list, as_of: formatTime(list.as_of) },
    caveat: simulated ? SIMULATED + caveat : caveat,
    ...label,
  };
}

function jsonOfForm({ form, address, relation, look, key }: ScreenedForm): object {
  const listed = look instanceof Read ? look.value.found.has(key) : null;
  return { form, address, relation, listed };
}

const COLUMNS = ['address', 'listed', 'entity', 'type', 'programmes', 'uid', 'currency'];

function showChecks(results: readonly Checked[], simulated: boolean, io: Io): void {
  const label = simulated ? ' (simulated)' : '';
  const rows = results.flatMap((result) => {
    const { address } = result;
    if (result.listed === null) return [[address, 'not checked']];
    if (result.matches.length === 0) return [[address, `no${label}`]];
    return result.matches.map((match) => [
      match.address,
      `yes${label}`,
      match.entity,
      match.type,
      match.programs === null ? null : match.programs.join(', '),
      match.uid,
      match.currency,
    ]);
  });
  const columns = COLUMNS.map((title) => ({ title }));
  print(io, tableLines(columns, rows, io));
  for (const result of results) {
    if (result.reason !== null) io.err(`${result.address}: ${result.reason}`);
    if (result.listed === null || result.listedForms.length === 0) continue;
    const forms = result.listedForms.join(', ');
    io.out(`${result.address}: another form of the same key or account is listed: ${forms}`);
  }
  const facts = results.flatMap((one) => (one.listed === null ? [] : [one.list])).at(0);
  if (facts === undefined) return;
  const checked = timeText(facts.as_of);
  io.out(
    `${facts.name}${label} of ${facts.published}, ${facts.addresses} addresses, checked ` +
      `${checked}. Not listed is a statement about this list alone.`,
  );
  for (const note of facts.age_notes) io.out(note);
}
