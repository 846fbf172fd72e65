import { z } from 'zod';
import { matchKey } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badField } from '../../contract/refusals.ts';
import { html, text } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  addressText,
  askedDay,
  checkedFlag,
  daySpan,
  isoTime,
  LATER_THAN_TO,
  negative,
  prose,
  rowFact,
  rowFacts,
  unavailable,
  words,
} from '../../contract/wire.ts';
import { claim, claimWhole } from '../../evidence/claim.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { decide, Part, Read, Unread } from '../../evidence/reading.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Moment, Table } from '../../pages/words.tsx';
import {
  addressListing,
  type FileEvent,
  fileEvent,
  type ListChange,
  type ListChanges,
  listChange,
} from '../../ports/sanctions.ts';
import { holdsSome, pageOfLog } from '../tables/log-page.ts';

const LOG = { restsOn: ['sanctions_changes'] } as const;

/** The most changes of one answer, and how many where none is named. */
export const LIST_CHANGES_MAX = 500;
export const OFAC_CHANGES_DEFAULT = 100;
/** The most files of one answer. */
export const FILES_MAX = 100;

const programs = rowFact(z.array(words()).readonly().nullable());
const listing = rowFacts(addressListing).extend({ programs });

const change = listing.extend({
  ...rowFacts(listChange).omit({ listing: true }).shape,
  before: listing.nullable(),
  at: isoTime,
});

const file = rowFacts(fileEvent).extend({ at: isoTime });

const answer = z.strictObject({
  changes: negative(z.array(change), LOG),
  /** Ask for what is older with `before` set to this; `null`: there is nothing older. */
  next_before: z.int().positive().nullable(),
  files: negative(z.array(file), LOG),
  /** False: more files than these fall into the span. */
  files_whole: checkedFlag(LOG),
  caveat: prose().min(1),
});
export type PublishedChanges = z.output<typeof answer>;

export const sanctionsChanges = plainRoute({
  name: 'sanctions_changes',
  surface: 'web',
  method: 'GET',
  path: '/api/v1/registry/sanctions/changes',
  summary:
    'What each sanctions list that came into force added, removed and changed, newest first.',
  access: 'open',
  query: z.strictObject({
    address: addressText.optional(),
    from: askedDay.optional(),
    to: askedDay.optional(),
    before: z.coerce.number().int().positive().optional(),
    limit: z.coerce.number().int().min(1).max(LIST_CHANGES_MAX).optional(),
  }),
  responses: {
    200: answer.describe(
      'The changes by the days (UTC) on which lists came into force here, `from` to `to`, both ' +
        'included, and what became of each file: refused ones and lists that came back say so.',
    ),
    503: unavailable.describe(
      'The log could not be read, or no list has come into force since it is kept.',
    ),
  },
});

export const listChangesPage = plainRoute({
  name: 'sanctions_changes_page',
  surface: 'web',
  method: 'GET',
  path: '/registry/sanctions',
  summary: 'What each sanctions list that came into force changed, for people.',
  access: 'open',
  responses: { 200: html(), 503: html() },
});

export const listChangesFeed = plainRoute({
  name: 'sanctions_changes_feed',
  surface: 'web',
  method: 'GET',
  path: '/registry/sanctions/changes.atom',
  summary: 'What each sanctions list that came into force changed, as an Atom feed.',
  access: 'open',
  responses: {
    200: text('application/atom+xml; charset=utf-8'),
    404: text('text/plain; charset=utf-8'),
    503: text('text/plain; charset=utf-8'),
  },
});

// A log that was not read is never shown as an empty one.

export const LIST_CHANGES_CAVEAT =
  'The log tells what came into force on this deployment, and when; it is kept for good. Changes ' +
  'are those of the list before: the first list stands among the files alone. An address that ' +
  'left this list may stand on another.';

/** @internal The handler of the change log. */
export function sanctionsChangesHandler(log: ListChanges): PlainHandler<typeof sanctionsChanges> {
  return async ({ query: { address, from, to, before, limit } }) => {
    const span = daySpan(from, to);
    if (span === null) return badField('from', LATER_THAN_TO);
    const found = await log.newest({
      ...span,
      beforeId: before === undefined ? null : before,
      matchKey: address === undefined ? null : matchKey(address),
      limit: limit === undefined ? OFAC_CHANGES_DEFAULT : limit,
    });
    const filed = await log.files({ ...span, limit: FILES_MAX });
    const page = pageOfLog(found);
    const files = decide(filed, holdsSome);
    if (page instanceof Unread) return refuseUnread(page.why.reason);
    if (files instanceof Unread) return refuseUnread(files.why.reason);
    return sanctionsChanges.reply(200, {
      changes: claim(page.page, (changes) => changes.map(changeShown)),
      next_before: page.next_before,
      files: claim(files, (events) => events.map(fileShown)),
      files_whole: claimWhole(filed),
      caveat: LIST_CHANGES_CAVEAT,
    });
  };
}

function refuseUnread(reason: string) {
  return sanctionsChanges.reply(503, { error: 'unavailable', reason });
}

function changeShown({ listing, ...change }: ListChange) {
  return { ...change, ...listing, at: formatIsoTime(change.at) };
}

function fileShown(event: FileEvent) {
  return { ...event, at: formatIsoTime(event.at) };
}

const ALL_OF_IT = { from: null, until: null, beforeId: null, matchKey: null };

/** @internal The newest of the log, or why there is nothing to show. */
export async function readChanges(log: ListChanges) {
  const found = await log.newest({ ...ALL_OF_IT, limit: LIST_CHANGES_MAX });
  const filed = await log.files({ ...ALL_OF_IT, limit: FILES_MAX });
  const page = decide(found, holdsSome);
  const files = decide(filed, holdsSome);
  if (!(page instanceof Read)) return { reason: page.why.reason };
  if (!(files instanceof Read)) return { reason: files.why.reason };
  return { changes: page.value, files: files.value, whole: filed instanceof Read };
}

/** @internal The newest changes of the log, or why there is nothing to show. */
export async function newestChanges(log: ListChanges) {
  const found = await readChanges(log);
  if (found.files === undefined) return { reason: found.reason };
  return {
    changes: found.changes.map(changeShown),
    files: found.files.map(fileShown),
    files_whole: found.whole,
    caveat: LIST_CHANGES_CAVEAT,
  };
}

/** Pages of the log that are read for one list; the rest of its removals is counted. */
const REMOVAL_PAGES_MAX = 100;

/**
 * The listings that a file took off the list when it last came into force, and how many more there
 * are; or why not read.
 * @internal
 */
export async function removalsBy(
  log: ListChanges,
  sha256: string,
): Promise<{ readonly removed: readonly ListChange[]; readonly unnamed: number } | string> {
  const removed: ListChange[] = [];
  let at: number | null = null;
  let beforeId: number | null = null;
  for (let pages = 0; pages < REMOVAL_PAGES_MAX; pages += 1) {
    const found = await log.newest({ ...ALL_OF_IT, beforeId, limit: LIST_CHANGES_MAX });
    const page = decide(found, holdsSome);
    if (!(page instanceof Read)) return page.why.reason;
    const last = page.value.at(-1);
    if (last === undefined) return { removed, unnamed: 0 };
    if (at === null && page.value[0] !== undefined) at = page.value[0].at;
    const own = page.value.filter((one) => one.at === at && one.to.sha256 === sha256);
    removed.push(...own.filter(({ change }) => change === 'removed'));
    if (own.length < page.value.length || !(found instanceof Part)) return { removed, unnamed: 0 };
    beforeId = last.id;
  }
  const filed = await log.files({ ...ALL_OF_IT, limit: FILES_MAX });
  const files = decide(filed, holdsSome);
  if (!(files instanceof Read)) return files.why.reason;
  const file = files.value.find((one) => one.at === at && one.sha256 === sha256);
  if (file === undefined || file.counts === null) return 'The list is not in its change log.';
  return { removed, unnamed: file.counts.removed - removed.length };
}

type Changes = Pick<PublishedChanges, 'changes' | 'files' | 'files_whole' | 'caveat'>;
type Change = Changes['changes'][number];
type File = Changes['files'][number];

const PATH = listChangesPage.path;
const MACHINE = sanctionsChanges.path;
const FEED = listChangesFeed.path;
const TITLE = 'Changes of the sanctions list';

/** @internal The page of the change log; `reason` stands where the log could not be read. */
export function sanctionsChangesPage(
  facts: PageFacts,
  log: Changes | { readonly reason: string },
): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children:
      'reason' in log ? (
        <>
          <h1>{TITLE}</h1>
          <p class="lead">The log could not be read: {log.reason}</p>
        </>
      ) : (
        <>
          <h1>{TITLE}</h1>
          <p class="lead">What each list that came into force here changed of the one before.</p>
          <p>{log.caveat}</p>
          <p>
            The same as a machine reads it, by address and by date: <a href={MACHINE}>{MACHINE}</a>.
            As a feed: <a href={FEED}>{FEED}</a>.
          </p>
          <Files files={log.files} whole={log.files_whole} />
          {log.changes.length === 0 ? (
            <p class="nothing">No list changed an address of the one before.</p>
          ) : (
            <Rows changes={log.changes} />
          )}
        </>
      ),
  });
}

const OUTCOMES: { readonly [K in File['outcome']]: string } = {
  first: 'in force, the first',
  next: 'in force',
  replayed: 'in force again',
  read_again: 'read again',
  refused: 'refused',
};

function Files({ files, whole }: { files: readonly File[]; whole: boolean }) {
  return (
    <Table
      caption={
        <>Lists and files, newest first{whole ? '' : ` (the newest ${files.length} of more)`}</>
      }
      rows={files}
      columns={[
        { head: 'When', cell: ({ at }) => <Moment at={at} />, look: 'whole' },
        {
          head: 'List',
          cell: ({ published }) => (published === null ? '–' : published),
          look: 'whole',
        },
        {
          head: 'Outcome',
          cell: (file) =>
            file.outcome === 'refused'
              ? `refused: ${file.why}`
              : file.why === null
                ? OUTCOMES[file.outcome]
                : `${OUTCOMES[file.outcome]}: ${file.why}`,
        },
        { head: 'Changed', cell: countsText },
        { head: 'SHA-256', cell: ({ sha256 }) => <code>{sha256.slice(0, 12)}</code> },
      ]}
    />
  );
}

function countsText({ counts }: File): string {
  if (counts === null) return '–';
  const said = [
    `${counts.added} added`,
    `${counts.removed} removed`,
    ...(counts.moved > 0 ? [`${counts.moved} moved`] : []),
    ...(counts.programmes_changed > 0 ? [`${counts.programmes_changed} in programme`] : []),
    ...(counts.renamed > 0 ? [`${counts.renamed} renamed`] : []),
  ];
  return said.join(', ');
}

const WORDS: { readonly [K in Change['change']]: string } = {
  added: 'added',
  removed: 'removed',
  moved: 'moved',
  programmes_changed: 'programme',
  renamed: 'renamed',
};

function Rows({ changes }: { changes: readonly Change[] }) {
  return (
    <Table
      caption={<>The newest {changes.length} changes by address</>}
      rows={changes}
      columns={[
        { head: 'Address', cell: ({ address }) => <code>{address}</code> },
        { head: 'Change', cell: ({ change }) => WORDS[change] },
        { head: 'List', cell: ({ to }) => to.published, look: 'whole' },
        { head: 'Entity', cell: entityText },
        { head: 'Programme', cell: programmesText },
        { head: 'Before', cell: beforeText },
      ]}
    />
  );
}

function entityText({ entity, uid }: Pick<Change, 'entity' | 'uid'>): string {
  return entity === null ? `entry ${uid}` : `${entity} (${uid})`;
}

function programmesText({ programs }: Pick<Change, 'programs'>): string {
  return programs === null ? 'left open' : programs.join(', ');
}

function beforeText({ change, before }: Change): string {
  if (before === null) return '–';
  return change === 'programmes_changed' ? programmesText(before) : entityText(before);
}

// One entry for each file: those that came into force and those refused, each with its days of the
// change log.

/** Changes that one entry spells out; the rest are in the log that it links to. */
const SPELLED_MAX = 100;

/** Renders the feed of some files, newest first, with the changes that are at hand. @internal */
export function changesFeed(
  files: readonly FileEvent[],
  changes: readonly ListChange[],
  simulated: boolean,
) {
  const [newest] = files;
  if (newest === undefined) throw new Error('a feed of no file has no time');
  return {
    title: simulated ? `Simulated: ${TITLE}` : TITLE,
    updated: newest.at,
    self: FEED,
    page: PATH,
    entries: files.map((file) => {
      const { sha256, at, outcome } = file;
      const day = formatIsoTime(at).slice(0, 10);
      const own = changes.filter((one) => one.to.sha256 === sha256 && one.at === at);
      return {
        id: `${at}-${outcome}-${sha256}`,
        title: titleOf(file),
        updated: at,
        link: { type: 'application/json', href: `${MACHINE}?from=${day}&to=${day}` },
        text: textOf(file, own),
      };
    }),
  };
}

function titleOf({ outcome, published, code, counts }: FileEvent): string {
  if (outcome === 'refused') return `A file was refused: ${code}`;
  const list = `The list of ${published}`;
  if (counts === null) return `${list} is in force, the first here`;
  const told = `${counts.added} added, ${counts.removed} removed, ${counts.moved} moved`;
  const how = { next: 'is in force', replayed: 'is in force again', read_again: 'was read again' };
  return `${list} ${outcome === 'first' ? how.next : how[outcome]}: ${told}`;
}

function textOf(file: FileEvent, changes: readonly ListChange[]): string {
  const { sha256, before, why, counts, source } = file;
  const spelled = changes.slice(0, SPELLED_MAX);
  const all = listOrNone(counts === null ? null : Object.values(counts));
  const more = all.reduce((sum, n) => sum + n, -spelled.length);
  return [
    ...listOrNone(why === null ? null : [why]),
    `SHA-256 ${sha256}, from ${source}`,
    ...listOrNone(
      before === null ? null : [`before: ${before.published}, SHA-256 ${before.sha256}`],
    ),
    ...spelled.map(lineOf),
    ...listOrNone(more > 0 ? [`and ${more} more in the change log`] : null),
  ].join('\n');
}

function lineOf({ change, listing, before }: ListChange): string {
  const was = before === null ? '' : `, before: ${partyOf(before)}`;
  return `${change.replace('_', ' ')}: ${listing.address} (${partyOf(listing)})${was}`;
}

function partyOf({ entity, uid, programs }: ListChange['listing']): string {
  return [entity, `entry ${uid}`, ...listOrNone(programs)].filter((one) => one !== null).join(', ');
}
