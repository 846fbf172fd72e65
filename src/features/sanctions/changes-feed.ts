// Answers one question: how does a feed reader see what each list in force changed?
// One Atom entry (RFC 4287) for each file: those that came into force and those refused.
// It links to the change log by references, so that it holds under any address of the service.

import { formatIsoTime } from '../../chain/time.ts';
import { given } from '../../evidence/measure.ts';
import type { FileEvent, ListChange } from '../../ports/sanctions/list-changes.ts';

const CHANGES = '/api/v1/registry/sanctions/changes';
const FEED = '/registry/sanctions/changes.atom';
const PAGE = '/registry/sanctions';
const TITLE = 'Changes of the sanctions list';
/** Changes that one entry spells out; the rest are in the log that it links to. */
const SPELLED_MAX = 100;

/** The feed of some files, newest first, with the changes that are at hand. */
export function changesFeed(
  files: readonly FileEvent[],
  changes: readonly ListChange[],
  simulated: boolean,
): string {
  const [newest] = files;
  if (newest === undefined) throw new Error('a feed of no file has no time');
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>urn:exhibit:sanctions-changes</id>`,
    `<title>${simulated ? `Simulated: ${TITLE}` : TITLE}</title>`,
    `<updated>${formatIsoTime(newest.at)}</updated>`,
    '<author><name>Exhibit</name></author>',
    `<link rel="self" type="application/atom+xml" href="${FEED}"/>`,
    `<link rel="alternate" type="text/html" href="${PAGE}"/>`,
    ...files.map((file) =>
      entryOf(
        file,
        changes.filter((one) => isOf(one, file)),
      ),
    ),
    '</feed>',
  ];
  return `${lines.join('\n')}\n`;
}

function isOf({ to, at }: ListChange, file: FileEvent): boolean {
  return to.sha256 === file.sha256 && at === file.at;
}

function entryOf(file: FileEvent, changes: readonly ListChange[]): string {
  const { sha256, at, outcome } = file;
  const day = formatIsoTime(at).slice(0, 10);
  return [
    '<entry>',
    `<id>urn:exhibit:sanctions-changes:${at}:${outcome}:${sha256}</id>`,
    `<title>${escaped(titleOf(file))}</title>`,
    `<updated>${formatIsoTime(at)}</updated>`,
    `<link rel="alternate" type="application/json" href="${CHANGES}?from=${day}&amp;to=${day}"/>`,
    `<content type="text">${escaped(textOf(file, changes))}</content>`,
    '</entry>',
  ].join('\n');
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

/** Text for an element: characters that XML 1.0 does not allow are left out. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
