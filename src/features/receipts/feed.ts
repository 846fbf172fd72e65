import { parseIsoDate } from '../../chain/time.ts';
import type { Receipt } from '../../ports/receipts.ts';

const TITLE = 'Receipts';
/** The newest so many. */
const ENTRIES_MAX = 50;

/** The feed of receipts, newest first. `now` (Unix seconds) dates a feed without any. */
export function receiptsFeedOf(receipts: readonly Receipt[], simulated: boolean, now: number) {
  const entries = receipts.slice(0, ENTRIES_MAX).map(entryOf);
  const [newest] = entries;
  return {
    id: 'urn:exhibit:receipts',
    title: simulated ? `Simulated: ${TITLE}` : TITLE,
    updated: newest === undefined ? now : newest.updated,
    self: '/receipts.atom',
    page: '/receipts',
    entries,
  };
}

function entryOf({ id, slug, title, date, description, subject }: Receipt) {
  return {
    id: `urn:exhibit:receipts:${id}`,
    title,
    updated: Number(parseIsoDate(date)),
    link: { type: 'text/html', href: `/receipts/${slug}` },
    text: `${description}\n${subject}`,
  };
}
