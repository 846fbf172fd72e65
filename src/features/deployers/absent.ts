// Why does an address or a chain have no deployer record?

import { formatIsoTime } from '../../chain/time.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type CommittedRecord,
  type DeployerWalk,
  SKIP_REASONS,
} from '../../ports/launches/deployer-records.ts';

/** What keeps each chain's creations from being read whole; the rest were never reviewed. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['base', 'the free plan of its explorer answers no contract and transaction lists'],
  ['bsc', 'the free plan of its explorer answers no contract and transaction lists'],
  ['arbitrum', 'what runs before and after a transaction shows in no trace or receipt'],
  ['hyperevm', 'what its system transactions do shows in no trace or receipt'],
  ['solana', 'its launches have no creating account; they are read from a corpus by signer'],
  ['bitcoin', 'it makes no contracts'],
]);
const UNREVIEWED = 'no source of its contract creations has been reviewed';

/** Why a chain is not served. */
export function chainNotServed(chain: string): Why {
  const refusal = REFUSALS.get(chain);
  const because = refusal === undefined ? UNREVIEWED : refusal;
  return why('deployer_chain_not_served', { chain, refusal: because });
}

/** Why a walk that ran answers no record. */
export function noLaunchFound({ failed, ...walk }: CommittedRecord): Why {
  const at = formatIsoTime(walk.captured_at);
  const newer =
    failed === null
      ? ''
      : ` A newer walk, of ${formatIsoTime(failed.at)}, failed: ${failed.reason}`;
  return why('no_record', { at, examined: `${examined(walk)}${newer}` });
}

function examined({ skipped, truncated }: DeployerWalk): string {
  const cut = truncated ? ' Not everything was read.' : '';
  if (skipped.length === 0) return `No creation by it was met.${cut}`;
  const kinds = SKIP_REASONS.flatMap((reason) => {
    const count = skipped.filter((one) => one.reason === reason).length;
    return count === 0 ? [] : [`${count} ${reason}`];
  });
  return `Skipped: ${kinds.join(', ')}.${cut}`;
}
