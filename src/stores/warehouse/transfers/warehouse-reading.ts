// What does a failure of the warehouse mean to its callers?
// A failure is silence with its cause; anything else is a bug and is thrown on.

import { type Unread, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import { type UnavailableCode, WarehouseUnavailable } from '../engine/executor.ts';

const FAULTS: Readonly<Record<UnavailableCode, string>> = {
  down: 'it is not reachable',
  interrupted: 'it stopped before it had answered',
  timeout: 'it did not answer in time',
  aborted: 'nobody waited for it any more',
  overloaded: 'it has no room for this now',
  replicas: 'too few of its replicas can be written or read; see system.replicas and its Keeper',
  disk: 'its disk takes no more; make room there',
  damaged: 'parts of it are lost or damaged; restore them from a replica or a backup',
  rejected: 'it refused our credentials',
  closed: 'it has been closed',
};

/** The silence of a port whose warehouse was not available; throws anything else. */
export function unreadFor<P extends string>(port: P, error: unknown): Unread<P> {
  if (!(error instanceof WarehouseUnavailable)) throw error;
  const filling = { what: 'The transfer warehouse', fault: FAULTS[error.code] };
  return unread(port, why('store_unreadable', filling));
}

/** The source of what the warehouse holds. `as_of` is Unix seconds. */
export function warehouseSource(as_of: number, simulated: boolean) {
  const kind = 'observation' as const;
  return { name: 'Transfer warehouse', url: 'warehouse:', as_of, kind, simulated };
}
