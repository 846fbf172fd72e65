// Reads the launches of an account from the end of the last step on. The list is read from its
// newest entry back to that position and processed from there, oldest first. Unread transactions in
// between become a gap, with its span and its reason.

import { type Why, why } from '../../evidence/reasons.ts';
import type {
  AccountCursor,
  AccountPage,
  CollectionGap,
  LaunchCollection,
  LaunchFeed,
  ListedTransaction,
  SeenLaunch,
} from '../../ports/launches.ts';

export type CollectLimits = {
  /** Transactions of one account that are read in a round; the rest waits for the next. */
  readonly transactionsMax: number;
  /** Transactions after which the place is kept. */
  readonly stepMax: number;
  /** How often a transaction that cannot be read is tried before it becomes a gap. */
  readonly attemptsMax: number;
};

type Parts = {
  readonly feed: LaunchFeed;
  readonly collection: LaunchCollection;
  readonly limits: CollectLimits;
};

/** The result of a round over one account. `failed`: why it did not complete. */
export type Collected = {
  readonly launches: number;
  readonly gaps: number;
  /** Whether the account is read up to its newest. */
  readonly whole: boolean;
  readonly failed: Why | null;
};

/** Reads an account on, as far as one round goes. */
export async function collectAccount(
  parts: Parts,
  account: string,
  signal: AbortSignal,
): Promise<Collected> {
  const { feed, collection } = parts;
  const place = await collection.cursorOf(account);
  if (!place.checked) return stoppedRound(place.why);
  const after = place.value === null ? null : place.value.signature;
  const listing = await feed.listed(account, after, signal);
  if (!listing.checked) return stoppedRound(listing.why);
  return workThrough(parts, { account, from: place.value, listing: listing.value }, signal);
}

function stoppedRound(failed: Why): Collected {
  return { launches: 0, gaps: 0, whole: false, failed };
}

type Work = {
  readonly account: string;
  readonly from: AccountCursor | null;
  readonly listing: AccountPage;
};

/** Launches and gaps that were read and not stored yet. */
type Pending = {
  cursor: AccountCursor;
  launches: SeenLaunch[];
  gaps: CollectionGap[];
  transactions: number;
};

async function workThrough(
  { feed, collection, limits }: Parts,
  { account, from, listing }: Work,
  signal: AbortSignal,
): Promise<Collected> {
  const { transactions, asked_at } = listing;
  let last = from;
  const at = pendingFrom(from, listing);
  const done = { launches: 0, gaps: 0 };
  const keep = async (): Promise<Why | null> => {
    const { cursor: to, launches, gaps } = at;
    const kept = await collection.keep({ account, from: last, to, launches, gaps });
    if (!kept.checked) return kept.why;
    if (!kept.value) return why('collected_elsewhere');
    done.launches += launches.length;
    done.gaps += gaps.length;
    last = to;
    Object.assign(at, { launches: [], gaps: [], transactions: 0 });
    return null;
  };
  const endRound = async (failed: Why | null, whole: boolean): Promise<Collected> => {
    // Without a place in the list the next round would begin at another end of it.
    if (!whole && at.cursor.signature === null) return { ...done, whole, failed };
    const unkept = await keep();
    return { ...done, whole: whole && unkept === null, failed: unkept === null ? failed : unkept };
  };
  let read = 0;
  for (const one of transactions) {
    if (read >= limits.transactionsMax || signal.aborted) return endRound(null, false);
    if (!one.failed) {
      read += 1;
      const told = await feed.launchesOf(one.signature, signal);
      if (!told.checked) {
        at.cursor = { ...at.cursor, attempts: at.cursor.attempts + 1 };
        if (signal.aborted || at.cursor.attempts < limits.attemptsMax)
          return endRound(told.why, false);
        at.gaps.push(gapAt(at.cursor, one, `it could not be read: ${told.why.reason}`));
      } else if ('rejected' in told.value) {
        at.gaps.push(gapAt(at.cursor, one, `a broken transaction: ${told.value.rejected}`));
      } else {
        at.launches.push(...told.value.launches);
        for (const { mint, reason } of told.value.unread) {
          at.gaps.push({ ...gapAt(at.cursor, one, `who made a mint: ${reason}`), mint });
        }
      }
    }
    const reached_at = Math.max(at.cursor.reached_at, one.at === null ? -Infinity : one.at);
    at.cursor = { ...at.cursor, signature: one.signature, reached_at, attempts: 0 };
    at.transactions += 1;
    if (at.transactions < limits.stepMax) continue;
    const unkept = await keep();
    if (unkept !== null) return { ...done, whole: false, failed: unkept };
  }
  at.cursor = { ...at.cursor, reached_at: Math.max(at.cursor.reached_at, asked_at) };
  return endRound(null, true);
}

/** Where the work begins: at the place of the cursor, or behind a gap where that was not met. */
function pendingFrom(
  from: AccountCursor | null,
  { transactions, met, asked_at }: AccountPage,
): Pending {
  const first = transactions.find(({ at }) => at !== null)?.at;
  const since = first === undefined || first === null ? asked_at : first;
  const none = { launches: [], gaps: [], transactions: 0 };
  if (from === null) {
    const cursor = { signature: null, since, reached_at: since, attempts: 0 };
    return { ...none, cursor };
  }
  if (met) return { ...none, cursor: from };
  const gap = {
    from_at: from.reached_at,
    to_at: Math.max(from.reached_at, since),
    reason: UNLISTED,
    mint: null,
  };
  return { ...none, cursor: { ...from, reached_at: gap.to_at }, gaps: [gap] };
}

const UNLISTED = 'the list of the node, or its bound, ended before it was met';

function gapAt(
  { reached_at }: AccountCursor,
  { at }: ListedTransaction,
  reason: string,
): CollectionGap {
  const moment = at === null ? reached_at : at;
  return { from_at: moment, to_at: moment, reason, mint: null };
}

/** How many launches are credited again in a round. */
const CREDITED_AGAIN_MAX = 25;

/**
 * Reads who made the mints whose launches an earlier version credited to whoever made the pool.
 * What cannot be read is nobody's. Gives why it ended before all of them, or `null`.
 */
export async function creditAgain(
  { feed, collection }: Pick<Parts, 'feed' | 'collection'>,
  signal: AbortSignal,
): Promise<Why | null> {
  const waiting = await collection.uncredited(CREDITED_AGAIN_MAX);
  if (!waiting.checked) return waiting.why;
  for (const { mint, signature } of waiting.value) {
    const told = await feed.launchesOf(signature, signal);
    if (!told.checked) return told.why;
    const launches = 'rejected' in told.value ? [] : told.value.launches;
    const launch = launches.find((one) => one.mint === mint);
    const credited = await collection.credit(mint, launch === undefined ? null : launch);
    if (!credited.checked) return credited.why;
  }
  return null;
}
