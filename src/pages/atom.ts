// Writes feeds as Atom (RFC 4287). Readers keep an entry by its id and open its link without the
// address of the feed: both are absolute, and of this deployment alone.

import { formatIsoTime } from '../chain/time.ts';

/** One entry. `id` is its name within the feed; `href` is a path; times are Unix seconds. */
type Entry = {
  readonly id: string;
  readonly title: string;
  readonly updated: number;
  readonly link: { readonly type: string; readonly href: string };
  readonly text: string;
};

/** A feed, newest first. `updated` is that of its newest entry, or when it was looked at. */
export type Feed = {
  readonly title: string;
  readonly updated: number;
  /** Its own path, and that of the page that shows the same. */
  readonly self: string;
  readonly page: string;
  readonly entries: readonly Entry[];
};

/** Writes a feed of the service at `base`, without a final slash. */
export function atomFeed(base: string, { title, updated, self, page, entries }: Feed): string {
  const own = escapeXml(base + self);
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${own}</id>`,
    `<title>${escapeXml(title)}</title>`,
    `<updated>${formatIsoTime(updated)}</updated>`,
    '<author><name>Exhibit</name></author>',
    `<link rel="self" type="application/atom+xml" href="${own}"/>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(base + page)}"/>`,
    ...entries.map((entry) => entryOf(base, self, entry)),
    '</feed>',
  ];
  return `${lines.join('\n')}\n`;
}

function entryOf(base: string, self: string, { id, title, updated, link, text }: Entry): string {
  return [
    '<entry>',
    `<id>${escapeXml(`${base}${self}#${id}`)}</id>`,
    `<title>${escapeXml(title)}</title>`,
    `<updated>${formatIsoTime(updated)}</updated>`,
    `<link rel="alternate" type="${escapeXml(link.type)}" href="${escapeXml(base + link.href)}"/>`,
    `<content type="text">${escapeXml(text)}</content>`,
    '</entry>',
  ].join('\n');
}

/** Text for an element or attribute: characters that XML 1.0 does not allow are left out. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
