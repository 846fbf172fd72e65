// The watchlist of the membership whose key is given, through a running service.

import { z } from 'zod';
import {
  anyText,
  atLeastOne,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  type Io,
  numberWithin,
  optional,
} from '../../command/command.ts';
import {
  askFor,
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type Connection,
  type ConnectionServices,
  type FetchResult,
  findConnection,
} from '../../command/connection.ts';
import { rowsPrinter } from '../../command/output.ts';
import { present, textOrEmpty } from '../../evidence/measure.ts';
import { WATCH_PART_TITLES } from './shapes.ts';

const PATH = '/api/v1/watchlist';
const finding = z.looseObject({ source: z.string(), entity: z.string().nullable() });
const watched = z.looseObject({
  id: z.string(),
  address: z.string(),
  added_at: z.string(),
  parts: z.array(
    z.looseObject({
      part: z.string(),
      found: z.array(finding).nullable(),
      not_read: z.string().nullable(),
    }),
  ),
});
type Watched = z.output<typeof watched>;
const page = z.object({ watched: z.array(watched), next_after: z.string().nullable() });

type Finding = z.output<typeof finding>;

function findingText({ source, entity }: Finding): string {
  return entity === null ? source : `${source}: ${entity}`;
}

const TITLES = new Map<string, string>(Object.entries(WATCH_PART_TITLES));

/** The name of a part for people; one of a newer service has its name in answers. */
function titleOf(part: string): string {
  const title = TITLES.get(part);
  return title === undefined ? part : title;
}

/** Sentences as one text of a cell: of those before the last, a semicolon replaces the stop. */
function joinSentences(texts: readonly string[]): string {
  const last = texts.length - 1;
  return texts.map((text, n) => (n === last ? text : text.replace(/\.$/, ''))).join('; ');
}

/** Each part in its own words: nothing found is said of a part that was read alone. */
function partsText({ parts }: Watched): string {
  if (parts.length === 0) return 'not screened yet';
  const texts = parts.map(({ part, found, not_read: why }) => {
    const seen = found === null ? [] : found.map(findingText);
    const unread = found === null && why === null ? 'not known' : null;
    const told = present([...seen, why === null ? unread : `not read: ${why}`]);
    return `${titleOf(part)}: ${told.length === 0 ? 'nothing found' : told.join(', ')}`;
  });
  return joinSentences(texts);
}

const SHOWN = ['id', 'address', 'added_at', ['found', partsText]] as const;

/** All pages of the watchlist. A part of it is no list: an address beyond it would be missed. */
async function askAll(to: Connection, io: Io): Promise<FetchResult<Watched[]>> {
  const all: Watched[] = [];
  let after = '';
  for (;;) {
    const query = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const said = await askFor(to, { method: 'GET', path: PATH + query }, page, io);
    if (!said.isAnswered) return said;
    all.push(...said.value.watched);
    if (said.value.next_after === null) return { isAnswered: true, value: all };
    after = said.value.next_after;
  }
}

const shared = { options: CONNECTION_OPTIONS } as const;
const NOTES = [CONNECTION_NOTE, 'Each address is a request of the allowance.'];

const listWatched = defineCommand({
  ...shared,
  name: 'watchlist list',
  summary: 'List the watched addresses of a membership, and what was last found.',
  example: 'exhibit watchlist list',
  json: 'one address a line, as the service answers it',
  notes: [CONNECTION_NOTE],
  run: async (named, io, services: ConnectionServices) => {
    const said = await askAll(await findConnection(named, io, services), io);
    if (!said.isAnswered) return said.status;
    if (said.value.length > 0) rowsPrinter<Watched>(io, { columns: SHOWN })(said.value);
    else if (!io.json) io.out('Nothing is watched. exhibit watchlist add ADDRESS begins it.');
    return EXIT.done;
  },
});

const add = defineCommand({
  ...shared,
  name: 'watchlist add',
  summary: 'Watch addresses: each change of a list or a table screens them again.',
  example: 'exhibit watchlist add 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  arguments: { addresses: atLeastOne('ADDRESS', null, anyText) },
  json: 'one address a line, as the service answers it',
  notes: NOTES,
  run: async ({ addresses, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const show = rowsPrinter<Watched>(io, { columns: SHOWN });
    for (const address of addresses) {
      const what = { method: 'POST', path: PATH, body: { address } } as const;
      const said = await askFor(to, what, watched, io, {
        409: 'exhibit watchlist remove ID makes room.',
      });
      if (!said.isAnswered) return said.status;
      show([said.value]);
    }
    return EXIT.done;
  },
});

const UNWATCHED = 'exhibit watchlist list names what is watched.';

async function removeOne(to: Connection, id: string, io: Io): Promise<ExitStatus> {
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const removed = z.object({ removed: z.string() });
  const said = await askFor(to, { method: 'DELETE', path }, removed, io, { 404: UNWATCHED });
  if (!said.isAnswered) return said.status;
  rowsPrinter<{ removed: string }>(io, { columns: ['removed'] })([said.value]);
  return EXIT.done;
}

const remove = defineCommand({
  ...shared,
  name: 'watchlist remove',
  summary: 'Watch addresses no more. Their changes stay.',
  example: 'exhibit watchlist remove 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  arguments: { which: atLeastOne('ID|ADDRESS', 'as exhibit watchlist list names it', anyText) },
  json: 'one {removed} a line',
  notes: NOTES,
  run: async ({ which, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const all = await askAll(to, io);
    if (!all.isAnswered) return all.status;
    for (const one of which) {
      const found = all.value.find(({ id, address }) => {
        return id === one || address === one || address === one.toLowerCase();
      });
      if (found === undefined) return fail(io, `${one} is not watched. ${UNWATCHED}`);
      const status = await removeOne(to, found.id, io);
      if (status !== EXIT.done) return status;
    }
    return EXIT.done;
  },
});

const change = z.looseObject({
  seq: z.number(),
  at: z.string(),
  address: z.string(),
  part: z.string(),
  change: z.string(),
  after: z.array(finding),
  not_read: z.array(z.string()),
});
type Change = z.output<typeof change>;
const changes = z.object({
  changes: z.array(change),
  next_since: z.number(),
  newest: z.number(),
  gap: z.object({ from: z.number(), to: z.number() }).nullable(),
  caveat: z.string(),
});

const listChanges = defineCommand({
  name: 'watchlist changes',
  summary: 'Show what changed of watched addresses, each change once and in order.',
  example: 'exhibit watchlist changes --since 120',
  options: {
    since: optional('SEQ', 'after this number', numberWithin(0, Number.MAX_SAFE_INTEGER)),
    ...CONNECTION_OPTIONS,
  },
  json: 'one change a line, as the service answers it',
  notes: [CONNECTION_NOTE],
  run: async ({ since, ...named }, io, services: ConnectionServices) => {
    const to = await findConnection(named, io, services);
    const query = since === null ? '' : `?since=${since}`;
    const path = `${PATH}/changes${query}`;
    const said = await askFor(to, { method: 'GET', path }, changes, io);
    if (!said.isAnswered) return said.status;
    const { changes: rows, newest, next_since: next, gap, caveat } = said.value;
    if (gap !== null) io.err(`Changes ${gap.from} to ${gap.to} can no longer be had.`);
    rowsPrinter<Change>(io, {
      columns: [
        ['seq', ({ seq }) => seq, 'right'],
        'at',
        'address',
        'part',
        'change',
        ['now', ({ after }) => after.map(findingText).join(', ')],
        ['not read', ({ not_read: unread }) => textOrEmpty(joinSentences(unread))],
      ],
    })(rows);
    if (!io.json) io.out(caveat);
    if (next < newest) io.err(`More: exhibit watchlist changes --since ${next}`);
    return EXIT.done;
  },
});

export const WATCHLIST_COMMANDS = [listWatched, add, remove, listChanges];
