// How is a committed record shown in an answer?
// Every count and list of it is a claim on the one reading that held the record.

import { claim } from '../../evidence/claim.ts';
import type { Read } from '../../evidence/reading.ts';
import type {
  CommittedRecord,
  DeployerRecordsPort,
} from '../../ports/launches/deployer-records.ts';
import { recordFields } from './record.ts';

/** A record of somebody who made a contract, as answers show it. */
export function recordShown(reading: Read<CommittedRecord, DeployerRecordsPort>) {
  const { coverage, ...record } = recordFields(reading.value);
  return {
    ...record,
    state: claim(reading, () => record.state),
    listed_launches: claim(reading, () => record.listed_launches),
    died: claim(reading, () => record.died),
    survived: claim(reading, () => record.survived),
    never_listed: claim(reading, () => record.never_listed),
    death_rate: claim(reading, () => record.death_rate),
    launches: claim(reading, () => record.launches),
    coverage: {
      ...coverage,
      factories_walked: claim(reading, () => coverage.factories_walked),
      truncated: claim(reading, () => coverage.truncated),
      truncated_factories: claim(reading, () => coverage.truncated_factories),
      skipped: claim(reading, () => coverage.skipped),
      unchecked: claim(reading, () => coverage.unchecked),
    },
  };
}
