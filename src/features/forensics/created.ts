// What became of the contracts that an address made, as its last committed walk observed it?
// Nobody is walked for this answer: an address without a record is one that nobody looked at.

import type { ParsedAddress } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { claim } from '../../evidence/claim.ts';
import { Read, type Reading, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type {
  CommittedRecord,
  DeployerRecords,
  DeployerRecordsPort,
} from '../../ports/launches/deployer-records.ts';
import { countsOf } from '../deployers/record.ts';

/** The record of what an address made. */
export type RecordHeld = Reading<CommittedRecord, DeployerRecordsPort>;

/** How many launches are shown; all of them are counted. */
const SHOWN_MAX = 10;

/** The committed record, of an address of a kind that is walked. */
export async function recordHeld(
  records: Pick<DeployerRecords, 'heldOf'>,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<RecordHeld> {
  if (kind !== 'evm') return unread('deployer_records', why('not_for_this_kind'));
  const record = await inTime(() => records.heldOf(address), signal);
  return record === OUT_OF_TIME ? unread('deployer_records', STOPPED_BY_TIME) : record;
}

/** What became of what it made; null for addresses of other kinds than are walked. */
export function createdShown({ kind }: ParsedAddress, held: RecordHeld) {
  if (kind !== 'evm') return null;
  const counted = (count: (record: CommittedRecord) => number) => claim(held, count, () => null);
  const record = held instanceof Read ? held.value : null;
  return {
    checked: claim(
      held,
      () => true as const,
      () => false as const,
    ),
    reason: held instanceof Read ? null : held.why.reason,
    captured_at: record === null ? null : formatIsoTime(record.captured_at),
    contracts: counted(({ launches, skipped }) => launches.length + skipped.length),
    died: counted(({ launches }) => countsOf(launches).died),
    survived: counted(({ launches }) => countsOf(launches).survived),
    never_listed: counted(({ launches }) => countsOf(launches).never_listed),
    unchecked: counted(({ launches }) => countsOf(launches).unchecked),
    truncated: claim(
      held,
      ({ truncated }) => truncated,
      () => null,
    ),
    launches: record === null || record.launches.length === 0 ? null : launchesOf(record),
  };
}

function launchesOf({ launches }: CommittedRecord) {
  const ordered = [...launches].sort(
    (a, b) =>
      Number(b.outcome === 'died') - Number(a.outcome === 'died') || b.created_at - a.created_at,
  );
  return ordered.slice(0, SHOWN_MAX).map(({ address, outcome, created_at }) => {
    return { address, outcome, created_at: formatIsoTime(created_at) };
  });
}
