// Which deployer records were put into this memory? Whoever has none was walked, and made nothing.
// An adapter, not a mock: its readings are the real ones.

import { read } from '../../evidence/reading.ts';
import type { CommittedRecord, DeployerRecords, DeployerWalk } from '../../ports/deployers.ts';

/** What the memory holds. `as_of` is Unix seconds. */
export type MemoryDeployers = {
  readonly records: readonly CommittedRecord[];
  readonly simulated: boolean;
  readonly as_of: number;
};

/** A walk that met nothing. */
export function emptyWalk(address: string, captured_at: number): DeployerWalk {
  return {
    address,
    captured_at,
    exit_liquidity_usd: 1_000,
    launches: [],
    skipped: [],
    direct_creations: 0,
    factories_walked: 0,
    truncated: false,
    truncated_factories: [],
    providers: ['memory'],
  };
}

/** The records in memory. */
export function memoryDeployerRecords(held: MemoryDeployers): DeployerRecords {
  const { records, as_of, simulated } = held;
  const recordOf: DeployerRecords['recordOf'] = async (address) => {
    const found = records.find((one) => one.address === address);
    const none = { ...emptyWalk(address, as_of), failed: null };
    const record = found === undefined ? none : found;
    return read(record, {
      port: 'deployer_records',
      source: {
        name: 'Deployer walk',
        url: 'memory:',
        as_of: record.captured_at,
        kind: 'observation',
        simulated,
      },
    });
  };
  return { recordOf, heldOf: recordOf };
}
