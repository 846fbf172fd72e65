// Worlds of an address whose transfers are held only in part. In each world the facts lie in blocks
// that nobody holds: a hole, the time before a late start, the time after an old tip, an unread
// kind of transfer.

import type { TransferKind } from '../chain/transfer.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import { HOUR_S, type Plan, SUBJECT, walkPlan } from './planted.ts';
import { type MemoryCoverage, transferOf } from './twins/history.ts';
import type { Planted } from './twins/ports.ts';

const KINDS: readonly TransferKind[] = ['native', 'token', 'internal'];
const TIP = 1_000_000;
const FRESH = STILL_NOW - 60;
const OLD = STILL_NOW - 48 * HOUR_S;

type Range = Pick<MemoryCoverage, 'from_block' | 'to_block' | 'to_time' | 'from_first'>;

function rangesOf(
  ranges: readonly Range[],
  kinds: readonly TransferKind[] = KINDS,
): MemoryCoverage[] {
  return kinds.flatMap((kind) =>
    ranges.map((range) => ({ address: null, chain: 'ethereum' as const, kind, ...range })),
  );
}

const ALL: Range = { from_block: 0, to_block: TIP, to_time: FRESH, from_first: true };

const COVERAGES: { readonly [name: string]: readonly MemoryCoverage[] } = {
  'a hole': rangesOf([
    { ...ALL, to_block: 400_000, to_time: OLD },
    { ...ALL, from_block: 600_000, from_first: false },
  ]),
  'a late start': rangesOf([
    { from_block: 1_000, to_block: 2_000, to_time: FRESH, from_first: false },
  ]),
  'an old tip': rangesOf([{ ...ALL, to_block: 900_000, to_time: OLD }]),
  'one kind of transfer left out': rangesOf([ALL], ['native', 'internal']),
  'no block at all': [],
};

const TRACE = [
  ...['bridges', 'protocols_seen', 'contacts', 'contacts_count', 'total_usd', 'truncated'],
  ...['messaging_only', 'unpriced_transfers', 'liquidity_actions', 'coverage.checked'],
  ...['totals.out_usd', 'totals.in_usd', 'totals.transfers', 'totals.transactions'],
];
const ACTIVITY = ['checked', 'exchanges', 'inferred_deposit_addresses', 'candidates_read'];

/**
 * The negatives that every one of the facts contradicts, flags that say "read to its end" included.
 */
const CONTRADICTED: Plan['contradicts'] = {
  wallet_ofac: ['proximity_checked', 'proximity.checked', 'proximity.found'],
  wallet_bridges: TRACE,
  wallet_cex: ACTIVITY.map((name) => `activity.${name}`),
  wallet_score: ['findings_checked', 'findings_found'],
  wallet_entity: ['checked', 'evidence', 'explain.linked'],
  planted_screen: ['results[].linked', 'results[].linked_checked'],
};

/** The worlds: of each coverage one that holds nothing of the subject, and one that holds some. */
export function unheldPlans({
  near,
  listedFar,
}: {
  readonly near: string;
  readonly listedFar: NonNullable<Planted['entries']>;
}): Plan[] {
  const some = [transferOf(SUBJECT, near), transferOf(near, evm('next'))];
  return Object.entries(COVERAGES).flatMap(([name, coverage]) =>
    [[], some].map((transfers) =>
      walkPlan({
        name: `${name}, ${transfers.length === 0 ? 'nothing' : 'some'} held beside it`,
        entries: listedFar,
        coverage,
        transfers,
        contradicts: CONTRADICTED,
      }),
    ),
  );
}
