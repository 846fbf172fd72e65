// Answers one question: in which words is a change of a watched address told in chat?
// What stood there and what stands there now, with its version; what left is told as what left.

import type { NewDispatch } from '../../ports/chat/dispatches.ts';
import type {
  DueWatch,
  Finding,
  NewWatchChange,
  WatchPart,
} from '../../ports/watchlist/watchlist.ts';

/** What each part is called where a change of it is told. */
export const PART_TITLES: { readonly [P in WatchPart]: string } = {
  sanctions_list: 'The sanctions list',
  other_lists: 'Lists of other authorities',
  exchange_labels: 'The exchange table',
  flagged_addresses: 'The table of flagged addresses',
  entity_clusters: 'The cluster of the address',
  hops: 'Two hops of transfers',
};

const CHANGED: { readonly [C in NewWatchChange['change']]: string } = {
  first_seen: 'it stands there at the first look',
  entered: 'it stands there now, and did not at the last look',
  changed: 'what stands there has changed',
  left: 'it stood there at the last look, and does not any more',
};

const CAVEAT =
  'This tells what changed in what is held here. What left a list was on it, and a list that ' +
  'does not hold an address says that of itself alone.';

/** Findings that one message tells; the page tells all of them. */
const FINDINGS_TOLD_MAX = 6;

/** The message of a change, once for the revision of the address that it came of. */
export function dispatchOf(
  { id, membership_id, address, revision }: DueWatch,
  change: NewWatchChange,
): NewDispatch {
  const { part, before, after, version_before, version_after, not_read } = change;
  const was = before === null ? [] : before.slice(0, FINDINGS_TOLD_MAX).map(findingText);
  const is = after.slice(0, FINDINGS_TOLD_MAX).map(findingText);
  return {
    membership_id,
    key: `${id}:${revision}:${part}`,
    kind: 'watch',
    chain: null,
    address,
    message: {
      title: `${PART_TITLES[part]}: ${CHANGED[change.change]}`,
      facts: [
        `Watched address: ${address}`,
        ...was.map((text) => `Before: ${text}`),
        ...is.map((text) => `Now: ${text}`),
        ...(version_before === null ? [] : [`Version before: ${version_before}`]),
        `Version now: ${version_after}`,
        ...not_read.map((why) => `Not read: ${why}`),
      ],
      caveat: CAVEAT,
      path: '/watchlist',
      at: change.at,
      simulated: change.simulated,
    },
  };
}

function findingText({ source, address, entity, ref, detail }: Finding): string {
  const said = [entity, detail, ref].filter((one) => one !== null);
  return `${source}: ${address}${said.length === 0 ? '' : ` (${said.join('; ')})`}`;
}
