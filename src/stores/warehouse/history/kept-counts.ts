// How many rows are held of these addresses?
// The same busy neighbours are counted in every walk, so what is final is kept for as long as the
// engine's parts are the same; the tip is counted each time.

import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { type Held, tipRows } from '../transfers/held.ts';
import { keptByParts, type Mark } from '../transfers/written.ts';
import { countSides, type SidesCounted } from './warehouse-rows.ts';

/** Addresses whose counts are kept. */
const KEPT_MAX = 50_000;
/** How often a count may be made again because blocks became final under it. */
const READS_MAX = 5;

type Counts = ReadonlyMap<string, SidesCounted>;

/** Counts the rows of addresses without reading what they are. */
export function keptCounts(
  warehouse: Warehouse,
  marked: () => Promise<Mark>,
  tells: (call: Call) => Promise<boolean>,
) {
  const kept = keptByParts<SidesCounted>(KEPT_MAX);

  async function final(asked: readonly string[], epoch: number, call: Call): Promise<Counts> {
    const known = new Map<string, SidesCounted>();
    for (const address of asked) {
      const count = kept.of(address);
      if (count !== undefined) known.set(address, count);
    }
    const missing = asked.filter((address) => !known.has(address));
    if (missing.length === 0) return known;
    const fresh = await countSides(warehouse, 'final', missing, call);
    for (const [address, count] of fresh) kept.add(address, count, 1, epoch);
    return new Map([...known, ...fresh]);
  }

  return async (held: Held, asked: readonly string[], call: Call): Promise<Counts> => {
    const isTold = await tells(call);
    const tip = tipRows(held.followed);
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const epoch = kept.epoch();
      // The tip first: what becomes final meanwhile is counted twice then, and not left out.
      const more = tip === null ? null : await countSides(warehouse, held, asked, call);
      if (!isTold) return sumOf(await countSides(warehouse, 'final', asked, call), more);
      const counts = await final(asked, epoch, call);
      // What is kept may be older than the tip that was counted.
      kept.renew((await marked()).parts.sides);
      if (kept.epoch() === epoch) return sumOf(counts, more);
    }
    throw new WarehouseUnavailable('interrupted');
  };
}

function sumOf(final: Counts, tip: Counts | null): Counts {
  if (tip === null) return final;
  return new Map(
    [...final].map(([address, { sides, simulated }]) => {
      const more = tip.get(address);
      if (more === undefined) throw new RangeError('an address was not counted');
      return [address, { sides: sides + more.sides, simulated: simulated + more.simulated }];
    }),
  );
}
