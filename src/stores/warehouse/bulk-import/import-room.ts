// An import waits for its turn where the warehouse has no room for one of its statements: behind a
// full queue, and where the engine lacks memory for what may be done again. Both waits are bounded.

import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../../../sources/http/provider.ts';
import { type LocalFiles, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';

/** How long an import waits for room in all at one place, and between two attempts. */
export type RoomBounds = {
  readonly waitMaxMs: number;
  readonly pauseFirstMs: number;
  readonly pauseMaxMs: number;
};

export const ROOM_BOUNDS: RoomBounds = {
  waitMaxMs: 15 * 60_000,
  pauseFirstMs: 250,
  pauseMaxMs: 5_000,
};

export type RoomWatch = {
  readonly onNote: (line: string) => void;
  readonly signal: AbortSignal;
};

export function isWithoutRoom(fault: unknown): boolean {
  return fault instanceof WarehouseUnavailable && fault.code === 'overloaded';
}

/** Does work that may be done again, until there was room for it. `attempts` counts from 0. */
export async function waitForRoom<T>(
  { onNote, signal }: RoomWatch,
  work: (attempts: number) => Promise<T>,
  { waitMaxMs, pauseFirstMs, pauseMaxMs }: RoomBounds = ROOM_BOUNDS,
): Promise<T> {
  let waitedMs = 0;
  for (let attempts = 0; ; attempts += 1) {
    const told = await attempt(WarehouseUnavailable, async () => ({ done: await work(attempts) }));
    if (!(told instanceof WarehouseUnavailable)) return told.done;
    if (!isWithoutRoom(told) || waitedMs >= waitMaxMs) throw told;
    if (attempts === 0) onNote(WAITS);
    const pauseMs = Math.min(pauseFirstMs * 2 ** attempts, pauseMaxMs);
    waitedMs += pauseMs;
    await sleep(pauseMs);
    if (signal.aborted) throw new WarehouseUnavailable('aborted');
  }
}

const WAITS = 'The warehouse has no room now: the import waits for its turn.';

type Into = Warehouse | (Warehouse & LocalFiles);

/** The same warehouse, whose statements wait behind a full queue, as long as each of them may. */
export function patientWarehouse<W extends Into>(warehouse: W, { onNote }: RoomWatch): W {
  let isTold = false;
  const waiting = <C extends object>(call: C): C & { readonly waits: true } => {
    if (!isTold && warehouse.load().waiting > 0) {
      isTold = true;
      onNote(WAITS);
    }
    return { ...call, waits: true };
  };
  const patient: Warehouse = {
    ...warehouse,
    query: (sql, options) => warehouse.query(sql, waiting(options)),
    insert: (table, source, call) => warehouse.insert(table, source, waiting(call)),
    command: (sql, options) => warehouse.command(sql, waiting(options)),
    commandFile: (file, sql, options) => warehouse.commandFile(file, sql, waiting(options)),
  };
  return Object.assign({}, warehouse, patient);
}
