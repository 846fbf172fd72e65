// Answers one question: how does a feed reader see what each list in force changed?
// One entry for each file: those that came into force and those refused, each with its days of the
// change log.

import { formatIsoTime } from '../../chain/time.ts';
import { given } from '../../evidence/measure.ts';
import type { FileEvent, ListChange } from '../../ports/sanctions/list-changes.ts';

const CHANGES = '/api/v1/registry/sanctions/changes';
const FEED = '/registry/sanctions/changes.atom';
const PAGE = '/registry/sanctions';
const TITLE = 'Changes of the sanctions list';
/** Changes that one entry spells out; the rest are in the log that it links to. */
const SPELLED_MAX = 100;

/** What feed readers see of some files, newest first, with the changes that are at hand. */
export function changesFeed(
  files: readonly FileEvent[],
  changes: readonly ListChange[],
  simulated: boolean,
) {
  const [newest] = files;
  if (newest === undefined) throw new Error('a feed of no file has no time');
  return {
    id: 'urn:exhibit:sanctions-changes',
    title: simulated ? `Simulated: ${TITLE}` : TITLE,
    updated: newest.at,
    self: FEED,
    page: PAGE,
    entries: files.map((file) =>
      entryOf(
        file,
        changes.filter((one) => isOf(one, file)),
      ),
    ),
  };
}

function isOf({ to, at }: ListChange, file: FileEvent): boolean {
  return to.sha256 === file.sha256 && at === file.at;
}

function entryOf(file: FileEvent, changes: readonly ListChange[]) {
  const { sha256, at, outcome } = file;
  const day = formatIsoTime(at).slice(0, 10);
  return {
    id: `urn:exhibit:sanctions-changes:${at}:${outcome}:${sha256}`,
    title: titleOf(file),
    updated: at,
    link: { type: 'application/json', href: `${CHANGES}?from=${day}&to=${day}` },
    text: textOf(file, changes),
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
  const { sha256, before, why, counts, source_url } = file;
  const spelled = changes.slice(0, SPELLED_MAX);
  const all = given(counts === null ? null : Object.values(counts));
  const more = all.reduce((sum, n) => sum + n, -spelled.length);
  return [
    ...given(why === null ? null : [why]),
    `SHA-256 ${sha256}, from ${source_url}`,
    ...given(before === null ? null : [`before: ${before.published}, SHA-256 ${before.sha256}`]),
    ...spelled.map(lineOf),
    ...given(more > 0 ? [`and ${more} more in the change log`] : null),
  ].join('\n');
}

function lineOf({ change, listing, before }: ListChange): string {
  const was = before === null ? '' : `, before: ${partyOf(before)}`;
  return `${change.replace('_', ' ')}: ${listing.address} (${partyOf(listing)})${was}`;
}

function partyOf({ entity, uid, programs }: ListChange['listing']): string {
  return [entity, `entry ${uid}`, ...given(programs)].filter((one) => one !== null).join(', ');
}
