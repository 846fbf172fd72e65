// Kills a process at each of its writes. For tests of any code that writes to a warehouse.

import {
  type Call,
  type CommandOptions,
  type InsertSource,
  type Warehouse,
  WarehouseUnavailable,
} from './executor.ts';

/** A warehouse that is lost at one of its writes: before it is done, or after. */
export function lostAt<W extends Warehouse>(
  warehouse: W,
  write: number,
  moment: 'before' | 'after',
): W & { readonly writes: number } {
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
    insert: (table: string, source: InsertSource, call: Call) =>
      lost(() => warehouse.insert(table, source, call)),
    command: (sql: string, options: CommandOptions) => lost(() => warehouse.command(sql, options)),
    commandFile: (...asked: Parameters<Warehouse['commandFile']>) =>
      lost(() => warehouse.commandFile(...asked)),
  };
}
