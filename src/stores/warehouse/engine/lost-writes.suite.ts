// What if a process dies at one of its writes? For tests of whatever writes to a warehouse.

import { type Warehouse, WarehouseUnavailable } from './executor.ts';

/** A warehouse that is lost at one of its writes: before it is done, or after. */
export function lostAt(
  warehouse: Warehouse,
  write: number,
  moment: 'before' | 'after',
): Warehouse & { readonly writes: number } {
  let writes = 0;
  const lost = async (work: () => Promise<void>): Promise<void> => {
    writes += 1;
    if (writes > write) throw new WarehouseUnavailable('down');
    if (writes === write && moment === 'before') throw new WarehouseUnavailable('interrupted');
    await work();
    if (writes === write) throw new WarehouseUnavailable('interrupted');
  };
  return {
    ...warehouse,
    get writes() {
      return writes;
    },
    insert: (table, source, call) => lost(() => warehouse.insert(table, source, call)),
    command: (sql, options) => lost(() => warehouse.command(sql, options)),
  };
}
