// Each part is shown with what it rests on; a part that was not checked says so and exits 3.

import { z } from 'zod';
import { formatIsoDate } from '../../chain/time.ts';
import { anyText, defineCommand, EXIT, type ExitStatus, mandatory } from '../../command/command.ts';
import {
  askService,
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type ConnectionServices,
  findConnection,
  refusalText,
  type ServiceAnswer,
} from '../../command/connection.ts';
import { type AnswerPart, type Fact, printParts } from '../../command/output.ts';
import { listOrNone, textOrEmpty } from '../../evidence/measure.ts';
import { DATED_BY, type DatedBy } from '../../evidence/source.ts';
import { leftUnread, screenedBody, screenText } from './screen.command.ts';

const list = z.object({ name: z.string(), published: z.string(), addresses: z.number() });
const match = z.object({
  entity: z.string().nullable(),
  programs: z.array(z.string()).nullable(),
  uid: z.string(),
});
const otherMatch = z.object({
  listed_address: z.string(),
  entity: z.string().nullable(),
  programs: z.string().nullable(),
  ended_at: z.string().nullable(),
});
const otherList = z.object({
  list: z.string(),
  as_of: z.number(),
  dated_by: z.enum(DATED_BY),
  rows: z.number(),
  listed: z.boolean().nullable(),
  matches: z.array(otherMatch).nullable(),
  equivalent_matches: z.array(otherMatch).nullable(),
  reason: z.string().nullable(),
});
const ofacData = z.object({
  sanctioned: z.boolean(),
  matches: z.array(match),
  list,
  other_lists: z.array(otherList).nullable(),
  other_lists_reason: z.string().nullable(),
  proximity: z.object({
    checked: z.boolean(),
    reason: z.string().nullable(),
    found: z.boolean().nullable(),
    hops: z.number().nullable(),
    path: z.array(z.string()).nullable(),
    entity: z.string().nullable(),
  }),
  caveat: z.string(),
});
const ofacBody = z.union([
  z.object({ state: z.literal('ok'), data: ofacData }),
  z.object({ state: z.enum(['not_deployed', 'insufficient_evidence']), reason: z.string() }),
]);

/** `exhibit look`. */
export const lookCommand = defineCommand({
  name: 'look',
  summary: 'Look at one address through a running service.',
  usage: 'ADDRESS [--base-url URL] [--key-file FILE]',
  example: 'exhibit look 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  arguments: { address: mandatory('ADDRESS', null, anyText) },
  options: CONNECTION_OPTIONS,
  json: 'the answers as they came: {address, ofac, screen}',
  notes: [
    CONNECTION_NOTE,
    'It asks the list route and the bulk screen: two requests of the allowance.',
  ],
  run: async ({ address, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const path = `/api/v1/wallet/${encodeURIComponent(address)}/ofac`;
    const ofac = await askService(to, { method: 'GET', path }, io.signal);
    const body = { addresses: [address] };
    const bulk = { method: 'POST', path: '/api/v1/bulk/wallet-screen', body } as const;
    // A text that is no address is told once.
    const misformed = ofac.kind === 'said' && ofac.status === 400;
    const screen = misformed ? ofac : await askService(to, bulk, io.signal);
    const parts = misformed ? [ofacPart(ofac)] : [ofacPart(ofac), screenPart(screen)];
    const answer = { address, ofac: rawOf(ofac), screen: rawOf(screen) };
    return printParts(answer, io, address, parts);
  },
});

function rawOf(said: ServiceAnswer): unknown {
  return said.kind === 'said' ? said.body : { error: said.reason };
}

function failPart(
  name: string,
  unread: string,
  status: ExitStatus = EXIT.couldNotCheck,
): AnswerPart {
  return { name, unread, status };
}

function notAnswered(name: string, said: ServiceAnswer): AnswerPart {
  if (said.kind === 'silent') return failPart(name, said.reason);
  const status = said.status === 400 ? EXIT.badUsage : EXIT.couldNotCheck;
  return failPart(name, refusalText(said.status, said.body), status);
}

function ofacPart(said: ServiceAnswer): AnswerPart {
  if (said.kind === 'silent' || said.status !== 200) return notAnswered('sanctions', said);
  const parsed = ofacBody.safeParse(said.body);
  if (!parsed.success) return failPart('sanctions', 'the answer is not one of this interface');
  if (parsed.data.state !== 'ok') return failPart('sanctions', parsed.data.reason);
  const { data } = parsed.data;
  const { sanctioned, matches, list: of, proximity, caveat } = data;
  const listed = sanctioned
    ? matches.map(({ entity, programs, uid }): Fact => {
        const programmes = programs === null ? '' : ` (${programs.join(', ')})`;
        const whom = entity === null ? '' : `${entity}${programmes}, `;
        return ['sanctions', `LISTED: ${whom}entry ${uid}`];
      })
    : [['sanctions', `no record on this list (${of.addresses} addresses)`] as const];
  return {
    facts: [
      ...listed,
      ['list', `${of.name}, published ${of.published}`],
      ...otherListFacts(data),
      ['proximity', proximityText(proximity)],
    ],
    caveat,
    status: wasWalked(proximity) ? EXIT.done : EXIT.couldNotCheck,
  };
}

function otherListFacts({
  other_lists: lists,
  other_lists_reason: reason,
}: z.output<typeof ofacData>): Fact[] {
  if (lists === null) return [['other lists', `not checked: ${textOrEmpty(reason)}`]];
  return lists.map((one): Fact => {
    const own = listOrNone(one.matches).map(elsewhereText);
    const forms = listOrNone(one.equivalent_matches).map(elsewhereText);
    const texts: string[] = [];
    if (own.length > 0)
      texts.push(`${one.listed === true ? 'LISTED' : 'ended'}: ${own.join('; ')}`);
    if (forms.length > 0) texts.push(`another form: ${forms.join('; ')}`);
    if (one.listed === null) texts.push(`not checked: ${textOrEmpty(one.reason)}`);
    else if (texts.length === 0) texts.push(`no record on this list (${one.rows} rows)`);
    const dated = `${one.list} of ${formatIsoDate(one.as_of)}, ${DATED[one.dated_by]}`;
    return ['other list', `${texts.join('; ')}; ${dated}`];
  });
}

const DATED: Readonly<Record<DatedBy, string>> = {
  file: 'the date of its file',
  operator: 'as the operator states',
  import: 'the day of its import',
};

function elsewhereText({
  listed_address,
  entity,
  programs,
  ended_at,
}: z.output<typeof otherMatch>) {
  const whom = [entity, programs].filter((text) => text !== null).join(', ');
  const end = ended_at === null ? '' : `, until ${ended_at}`;
  return `${whom === '' ? listed_address : `${whom} (${listed_address})`}${end}`;
}

type Proximity = z.output<typeof ofacData>['proximity'];

/** A way that was found stands, however far the walk came. */
function wasWalked({ checked, found }: Proximity): boolean {
  return found === true || (checked && found === false);
}

function proximityText(walk: Proximity): string {
  if (walk.found === true && walk.path !== null) {
    const entity = walk.entity === null ? 'a listed address' : walk.entity;
    return `${walk.hops} hop${walk.hops === 1 ? '' : 's'} to ${entity}: ${walk.path.join(' → ')}`;
  }
  return wasWalked(walk) && walk.found === false
    ? 'no path found within 2 hops in the history that was read'
    : `not checked: ${walk.reason === null ? 'no reason given' : walk.reason}`;
}

function screenPart(said: ServiceAnswer): AnswerPart {
  if (said.kind === 'silent' || said.status !== 200) return notAnswered('tables', said);
  const parsed = screenedBody.safeParse(said.body);
  if (!parsed.success) return failPart('tables', 'the answer is not one of this interface');
  if (parsed.data.state === 'not_deployed') return failPart('tables', parsed.data.reason);
  const { results, unread, caveat } = parsed.data.data;
  const [result] = results;
  if (result === undefined) return failPart('tables', 'the answer holds no result');
  const facts: Fact[] = [
    ['other forms', screenText.forms(result)],
    ['exchange', screenText.exchange(result)],
    ['launches', screenText.launches(result)],
  ];
  const isWhole = !leftUnread(result, unread);
  return { facts, caveat, status: isWhole ? EXIT.done : EXIT.couldNotCheck };
}
