// Answers GET /api/v1/registry/bridges: the table of bridge contracts, as it is in force.

import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { tally } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import {
  BRIDGE_CHAINS,
  BRIDGE_PROTOCOLS,
  type BridgeRegistry,
  type RegistryTable,
} from '../../ports/bridges/bridge-registry.ts';
import { type PublishedRegistry, registryBridges } from './registry-bridges.contract.ts';

const CAVEAT =
  'Partial by construction: seven protocols, and of each the contracts that a published source ' +
  'names. A contract that is not in the table may still be a bridge.';

/** The handler of the published table. */
export function registryBridgesHandler(
  registry: BridgeRegistry,
): PlainHandler<typeof registryBridges> {
  return async () => {
    const table = await registry.table();
    if (table instanceof Read && table.value.rows.length > 0) {
      return registryBridges.reply(200, published(table.value));
    }
    const reason = table instanceof Read ? NO_ROWS : table.why.reason;
    return registryBridges.reply(503, { error: 'The table of bridges is not readable.', reason });
  };
}

const NO_ROWS = 'The table holds no row.';

/** Makes the published form of a table that has rows. */
export function published({ id, reviewed, rows }: RegistryTable): PublishedRegistry {
  return {
    id,
    reviewed,
    contracts: rows.length,
    caveat: CAVEAT,
    protocols: BRIDGE_PROTOCOLS.filter((one) => rows.some(({ protocol }) => protocol === one)),
    coverage: BRIDGE_CHAINS.flatMap((chain) => {
      const own = rows.filter((row) => row.chain === chain);
      if (own.length === 0) return [];
      const counts = new Map<string, number>();
      for (const { protocol } of own) tally(counts, protocol);
      const protocols = [...counts].map(([protocol, contracts]) => ({ protocol, contracts }));
      return { chain, contracts: own.length, protocols };
    }),
    rows: rows.map(({ address, sources, also_on, ...row }) => {
      const parsed = parseEvmAddress(address);
      const shown = parsed === null ? address : checksumAddress(parsed);
      return { ...row, address: shown, also_on: [...also_on], sources: [...sources] };
    }),
  };
}
