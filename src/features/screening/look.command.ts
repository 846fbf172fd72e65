// `exhibit look`: each part is shown with its sources; a part that was not checked says so and
// exits 3.

import { z } from 'zod';
import { formatIsoDate } from '../../chain/time.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  mandatory,
  several,
  wordIn,
} from '../../command/command.ts';
import {
  askService,
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type ConnectionServices,
  findConnection,
  findStream,
  refusalText,
  type ServiceAnswer,
  type ServiceRequest,
  STREAM_OPTIONS,
} from '../../command/connection.ts';
import { type AnswerPart, type Fact, printParts } from '../../command/output.ts';
import { listOrNone, textOrEmpty } from '../../evidence/measure.ts';
import { DATED_BY, type DatedBy } from '../../evidence/source.ts';
import { LOOK_PARTS, lookPart } from './look-parts.command.ts';
import { leftUnread, screenedBody, screenText } from './screen.command.ts';
import { LOOK_WORDS, lookOfOther } from './shapes.ts';

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
  equivalent_listed: z.boolean().nullable(),
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
  z.object({ state: z.literal('ok'), simulated: z.boolean(), data: ofacData }),
  z.object({ state: z.enum(['not_deployed', 'insufficient_evidence']), reason: z.string() }),
]);

/** The parts that can be asked, in their order: the names in `--json`. */
const PARTS = ['ofac', 'screen', ...Object.keys(LOOK_PARTS)] as const;

export const lookCommand = defineCommand({
  name: 'look',
  summary: 'Look at one address through a running service.',
  usage: 'ADDRESS [--part PART]… [--base-url URL] [--key-file FILE] [--token-file FILE]',
  example: 'exhibit look 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  arguments: { address: mandatory('ADDRESS', null, anyText) },
  options: {
    part: several(
      'PART',
      `ask this part alone; may be given more than once; one of ${PARTS.join(', ')}`,
      wordIn(PARTS),
    ),
    ...CONNECTION_OPTIONS,
    'token-file': STREAM_OPTIONS['token-file'],
    token: STREAM_OPTIONS.token,
  },
  json: 'the answers as they came, each under the name of its part',
  notes: [
    CONNECTION_NOTE,
    'Each part is a request of the allowance, bridges one for each chain. The entity is asked with',
    'an access token: --token-file, or the first of EXHIBIT_INTELLIGENCE_TOKENS here.',
  ],
  run: async ({ address, part: named, ...given }, io, services: ConnectionServices) => {
    const to = await findConnection(given, io, services);
    const { token } = await findStream(given, io, services);
    const isWanted = (part: string) => named.length === 0 || named.includes(part);
    const ask: Ask = (what, key = to.key) => askService({ ...to, key }, what, io.signal);
    const raw: { [part: string]: unknown } = {};
    const parts: AnswerPart[] = [];
    if (isWanted('ofac')) {
      const path = `/api/v1/wallet/${encodeURIComponent(address)}/ofac`;
      const ofac = await ask({ method: 'GET', path });
      raw['ofac'] = rawOf(ofac);
      parts.push(ofacPart(ofac));
      // A text that is no address is told once.
      if (ofac.kind === 'said' && ofac.status === 400) {
        return printParts({ address, ...raw }, io, address, parts);
      }
    }
    if (isWanted('screen')) {
      const body = { addresses: [address] };
      const screen = await ask({ method: 'POST', path: '/api/v1/bulk/wallet-screen', body });
      raw['screen'] = rawOf(screen);
      parts.push(screenPart(screen));
    }
    const others = Object.keys(LOOK_PARTS).filter(isWanted);
    const asked = others.map((part) => askPart(part, address, ask, token));
    for (const [i, said] of (await Promise.all(asked)).entries()) {
      raw[String(others[i])] = said.raw;
      parts.push(...said.parts);
    }
    return printParts({ address, ...raw }, io, address, parts);
  },
});

type Ask = (what: ServiceRequest, key?: string) => Promise<ServiceAnswer>;

/** Asks all requests of a part at once. Several answers of one part stand under their names. */
async function askPart(part: string, address: string, ask: Ask, token: string | null) {
  const requests = listOrNone(LOOK_PARTS[part]?.(encodeURIComponent(address)));
  const said = await Promise.all(
    requests.map(async (request) => {
      const key = request.isByToken === true ? textOrEmpty(token) : undefined;
      const answer = await ask({ method: 'GET', path: request.path }, key);
      return { request, answer };
    }),
  );
  const raw = said.map(({ request, answer }) => [request.name, rawOf(answer)] as const);
  return {
    raw: raw.length === 1 ? raw[0]?.[1] : Object.fromEntries(raw),
    parts: said.map(({ request, answer }) => lookPart(request, answer)),
  };
}

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
  const { data, simulated } = parsed.data;
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
    simulated,
    status: wasWalked(proximity) ? EXIT.done : EXIT.couldNotCheck,
  };
}

function otherListFacts({
  other_lists: lists,
  other_lists_reason: reason,
}: z.output<typeof ofacData>): Fact[] {
  if (lists === null) return [['other lists', `not checked: ${textOrEmpty(reason)}`]];
  return lists.map((one): Fact => {
    const entries = [
      ...listOrNone(one.matches).map(elsewhereText),
      ...listOrNone(one.equivalent_matches).map((form) => `another form: ${elsewhereText(form)}`),
    ];
    const look = lookOfOther(one);
    const word = LOOK_WORDS[look];
    const texts = entries.length === 0 ? [] : [`${word}: ${entries.join('; ')}`];
    if (look === 'not_checked') texts.push(`${word}: ${textOrEmpty(one.reason)}`);
    if (look === 'no_record') texts.push(`${word} on this list (${one.rows} rows)`);
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
  const { simulated, data } = parsed.data;
  const { results, unread, caveat } = data;
  const [result] = results;
  if (result === undefined) return failPart('tables', 'the answer holds no result');
  const facts: Fact[] = [
    ['other forms', screenText.forms(result)],
    ['exchange', screenText.exchange(result)],
    ['launches', screenText.launches(result)],
  ];
  const isWhole = !leftUnread(result, unread);
  return { facts, caveat, simulated, status: isWhole ? EXIT.done : EXIT.couldNotCheck };
}
