// The records of screens of the membership whose key is given, through a running service.

import { hash } from 'node:crypto';
import { z } from 'zod';
import { anyText, defineCommand, EXIT, mandatory, optional } from '../../command/command.ts';
import {
  askFor,
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type ConnectionServices,
  findConnection,
} from '../../command/connection.ts';
import { type Fact, factLines, print, printRecord, rowsPrinter } from '../../command/output.ts';

const PATH = '/api/v1/screens';
const asked = z.looseObject({
  route: z.string(),
  addresses: z.array(z.string()),
  on: z.string().nullable(),
});
const record = z.looseObject({
  id: z.string(),
  made_at: z.string(),
  kept_until: z.string(),
  key_id: z.string(),
  asked,
  list: z
    .looseObject({
      name: z.string(),
      published: z.string(),
      sha256: z.string(),
      as_of: z.string(),
      reason: z.string().nullable(),
    })
    .nullable(),
  list_reason: z.string().nullable(),
  tables: z.array(
    z.looseObject({
      table: z.string(),
      source: z.string(),
      sha256: z.string(),
      imported_at: z.string(),
    }),
  ),
  code_version: z.string(),
  state: z.string(),
  answer: z.string(),
  answer_sha256: z.string(),
  caveats: z.array(z.string()),
  not_read: z.array(z.string()),
});
type ScreeningRecord = z.output<typeof record>;

function aboutText({ addresses, on }: z.output<typeof asked>): string {
  return on === null ? addresses.join(' ') : `${addresses.join(' ')} on ${on}`;
}

/** The facts of a record without its answer, the unread parts first. */
function recordFacts(of: ScreeningRecord): Fact[] {
  const { list } = of;
  const agrees = hash('sha256', of.answer) === of.answer_sha256;
  return [
    ['record', of.id],
    ['made', `${of.made_at}, kept until ${of.kept_until}`],
    ['asked', `${aboutText(of.asked)}, by ${of.key_id}`],
    ['state', of.state],
    ...of.not_read.map((text): Fact => ['not read', text]),
    ['list', list === null ? `not read: ${of.list_reason}` : `${list.name}, ${list.published}`],
    ...(list === null ? [] : [['list sha256', list.sha256] as const]),
    ...(list === null || list.reason === null ? [] : [['list age', list.reason] as const]),
    ...of.tables.map(({ table, source, sha256, imported_at: at }): Fact => {
      return ['table', `${table}: ${source}, imported ${at}, sha256 ${sha256}`];
    }),
    ['code', of.code_version],
    ['answer sha256', agrees ? of.answer_sha256 : `${of.answer_sha256} IS NOT THAT OF THE ANSWER`],
    ...of.caveats.map((text): Fact => ['caveat', text]),
  ];
}

const SHOW_NEXT = { 404: 'exhibit records list names the newest.' };
const id = mandatory('ID', 'as exhibit records list names it', anyText);
const ofOne = { arguments: { id }, options: CONNECTION_OPTIONS, notes: [CONNECTION_NOTE] } as const;

const make = defineCommand({
  name: 'records make',
  summary: 'Screen an address, and keep the answer as a record.',
  example: 'exhibit records make 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  arguments: { address: mandatory('ADDRESS', null, anyText) },
  options: {
    on: optional('DAY', 'against the list of a past day, such as 2026-11-01', anyText),
    ...CONNECTION_OPTIONS,
  },
  json: 'the record, as the service answers it',
  notes: [CONNECTION_NOTE],
  run: async ({ address, on, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const body = on === null ? { address } : { address, on };
    const said = await askFor(to, { method: 'POST', path: PATH, body }, record, io);
    if (!said.isAnswered) return said.status;
    return printRecord(said.value, io, factsShown(said.value));
  },
});

function factsShown(of: ScreeningRecord) {
  return recordFacts(of).map(([name, value]) => [name, () => value] as const);
}

const listed = asked.extend({
  id: z.string(),
  made_at: z.string(),
  state: z.string(),
  answer_sha256: z.string(),
});
const list = z.object({
  records: z.array(listed),
  whole: z.boolean(),
  reason: z.string().nullable(),
});

const listRecords = defineCommand({
  name: 'records list',
  summary: 'List the newest records of screens of a membership.',
  example: 'exhibit records list',
  options: CONNECTION_OPTIONS,
  json: 'one record a line, as the service answers it',
  notes: [CONNECTION_NOTE],
  run: async (named, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const said = await askFor(to, { method: 'GET', path: PATH }, list, io);
    if (!said.isAnswered) return said.status;
    const { records, whole, reason } = said.value;
    if (records.length > 0) {
      rowsPrinter<z.output<typeof listed>>(io, {
        columns: ['id', ['made', ({ made_at: at }) => at], ['about', aboutText], 'state'],
      })(records);
    } else if (whole && !io.json) io.out('None was made. exhibit records make ADDRESS does.');
    if (!whole) io.err(`Not all are listed: ${reason}`);
    return EXIT.done;
  },
});

const show = defineCommand({
  ...ofOne,
  name: 'records show',
  summary: 'Show a record: what was asked, on which versions, and what was not read.',
  example: 'exhibit records show scr_8ah2',
  json: 'the record, as the service answers it',
  run: async ({ id: which, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const path = `${PATH}/${encodeURIComponent(which)}`;
    const said = await askFor(to, { method: 'GET', path }, record, io, SHOW_NEXT);
    if (!said.isAnswered) return said.status;
    return printRecord(said.value, io, factsShown(said.value));
  },
});

const printOne = defineCommand({
  ...ofOne,
  name: 'records print',
  summary: 'Print a record with its whole answer, for a file or for paper.',
  example: 'exhibit records print scr_8ah2 > record.txt',
  json: null,
  run: async ({ id: which, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const path = `${PATH}/${encodeURIComponent(which)}`;
    const said = await askFor(to, { method: 'GET', path }, record, io, SHOW_NEXT);
    if (!said.isAnswered) return said.status;
    const answer: unknown = JSON.parse(said.value.answer);
    const lines = JSON.stringify(answer, null, 2).split('\n');
    print(io, [...factLines(recordFacts(said.value), io), '', ...lines]);
    return EXIT.done;
  },
});

const replayed = z.looseObject({
  id: z.string(),
  replayed_at: z.string(),
  same: z.boolean(),
  reason: z.string(),
  inputs: z.array(z.looseObject({ input: z.string(), state: z.string() })),
  differs: z.array(z.string()),
  not_read: z.array(z.string()),
});

const replay = defineCommand({
  ...ofOne,
  name: 'records replay',
  summary: 'Ask a recorded screen again on the versions held, and compare the answers.',
  example: 'exhibit records replay scr_8ah2',
  json: 'the comparison, as the service answers it',
  notes: [CONNECTION_NOTE, 'Exit status 1: the answer is another one than was recorded.'],
  run: async ({ id: which, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const path = `${PATH}/${encodeURIComponent(which)}/replay`;
    const said = await askFor(to, { method: 'GET', path }, replayed, io, SHOW_NEXT);
    if (!said.isAnswered) return said.status;
    const { same, reason, inputs, differs, not_read: unread } = said.value;
    printRecord(said.value, io, [
      ['record', () => said.value.id],
      ['replayed', () => said.value.replayed_at],
      ['result', () => reason],
      ...inputs.map((one) => [one.input, () => one.state.replaceAll('_', ' ')] as const),
      ...unread.map((text) => ['not read', () => text] as const),
      ...differs.map((at) => ['differs', () => at] as const),
    ]);
    return same ? EXIT.done : EXIT.failed;
  },
});

export const RECORD_COMMANDS = [make, listRecords, show, printOne, replay];
