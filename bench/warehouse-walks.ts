import { parseAddress } from '../src/chain/address.ts';
import { map, rowsSeen, Unread } from '../src/evidence/reading.ts';
import { proximity, WALK_LIMITS } from '../src/features/sanctions/walk.ts';
import { stopsOf } from '../src/features/sanctions/walk-hop.ts';
import { coveredHistory, coveredRing } from '../src/stores/history/covered.ts';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';
import { warehouseHistory, warehouseReads } from '../src/stores/warehouse/history/warehouse.ts';
import { warehouseRing } from '../src/stores/warehouse/ring/ring.ts';
import { TIP_MAX_AGE_S } from '../src/testing/clock.ts';
import { listedEntry, type WalkedPorts, walkedPorts } from '../src/testing/walked-world.ts';
import type { WalkAnswer } from './warehouse-engines.ts';

const BUDGET_MS = 20_000;

/** The ports of a walk over the warehouse. The list is in memory, as it is in a deployment. */
export function walker(
  warehouse: Warehouse,
  listed: readonly string[],
  now: () => number,
): WalkedPorts {
  const world = { now: now(), transfers: [], listed: listed.map(listedEntry), labels: null };
  const tip = { now, tipMaxAgeS: TIP_MAX_AGE_S };
  const reads = warehouseReads(warehouse, now);
  const history = coveredHistory(warehouseHistory(warehouse, now, false, reads), tip);
  const ring = coveredRing(warehouseRing(warehouse, reads, { now, simulated: false }), tip);
  return { ...walkedPorts(world), history, ring };
}

/** Reads one address's neighbourhood; answers how many transfers it came with. */
export async function singleRead({ history }: WalkedPorts, address: string): Promise<number> {
  const { rowsMax, degreeMax, batchRowsMax } = WALK_LIMITS;
  const readings = await history.neighbourhoods([address], {
    rowsMax,
    degreeMax,
    batchRowsMax,
    transfersPerCounterpartyMax: rowsMax,
    signal: AbortSignal.timeout(BUDGET_MS),
  });
  const reading = readings.get(address);
  if (reading === undefined || reading instanceof Unread) {
    throw new Error(`not read: ${reading?.why.reason}`);
  }
  const known = rowsSeen(map(reading, (value) => [value]));
  if (known === null) throw new Error('nothing was seen');
  return known[0].counterparties.reduce((sum, one) => sum + one.transfer_count, 0);
}

/** Walks two hops under the full rules. */
export async function fullWalk(ports: WalkedPorts, address: string): Promise<WalkAnswer> {
  const subject = parseAddress(address);
  if (subject === null) throw new Error('a start is no address');
  const signal = AbortSignal.timeout(BUDGET_MS);
  const walk = await proximity(ports, subject, WALK_LIMITS, { signal });
  if (walk instanceof Unread) throw new Error(`not walked: ${walk.why.reason}`);
  const known = rowsSeen(map(walk, (value) => [value]));
  if (known === null) throw new Error('nothing was seen');
  const { causes, found, nodes_examined, hub_contacts_count, contacts_count } = known[0];
  const [bad] = causes;
  if (bad !== undefined) throw new Error(`cut: ${bad.why.reason}`);
  const counts = [nodes_examined, hub_contacts_count, contacts_count] as const;
  if (found === null) return [0, null, null, ...counts];
  const [, neighbour, listed] = stopsOf(found.way).map((stop) => stop.slice(2));
  if (listed === undefined) return [1, String(neighbour), null, ...counts];
  return [2, listed, String(neighbour), ...counts];
}
