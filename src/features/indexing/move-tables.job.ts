// Moves the filled tables of an earlier version while a service runs: one process at a time, step
// by step, from where it was cut off. Nobody waits for it; `/health` says how far it is.

import { untilStopped } from '../../evidence/until-stopped.ts';
import type { Leases } from '../../ports/indexing/leases.ts';
import type { TableMoveReport, TableMoving } from '../../ports/indexing/table-move.ts';

type MoveTablesWorld = {
  readonly moving: TableMoving;
  readonly leases: Leases;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long a statement may be on its way from a process that is heard of no more. */
  readonly settleMs: number;
  readonly now: () => number;
  readonly onBug: (fault: unknown) => void;
};

const LEASE = 'move tables';
const LEASE_S = 300;
/** After a step that failed, while another process has the lease, and while a table is written. */
const AGAIN_MS = 30_000;

/** Makes step after step until all is moved. */
export function moveTables(world: MoveTablesWorld) {
  const { moving, leases, sleep, settleMs, now, onBug } = world;
  let report: TableMoveReport = null;

  async function isOurs(): Promise<boolean> {
    const lease = await leases.take(LEASE, LEASE_S);
    return lease.checked && lease.value !== null;
  }

  /** How long to wait for the next turn; `null` where nothing is left to be moved. */
  async function turn(signal: AbortSignal): Promise<number | null> {
    let told = await moving.status();
    if (told.checked && told.value.state === 'moving' && (await isOurs())) {
      told = await moving.step(isOurs, signal);
    }
    report = { as_of: now(), told };
    if (!told.checked) return AGAIN_MS;
    if (told.value.state === 'moved') return null;
    if (told.value.state === 'swapped') return settleMs;
    if (told.value.state === 'settling') return AGAIN_MS;
    return (await isOurs()) ? 0 : AGAIN_MS;
  }

  async function work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let wait: number | null = AGAIN_MS;
      try {
        wait = await turn(signal);
      } catch (fault) {
        onBug(fault);
      }
      if (wait === null) break;
      await sleep(wait, signal);
    }
    await leases.release(LEASE);
  }

  return { report: () => report, start: () => untilStopped(work) };
}
