// The folder of all temporary files of a run. The stores make and remove files by the ten thousand:
// on a disk a third of the processor time of the tests of stores goes into that, for files that
// nobody reads after the run, so the folder lies in memory where that has room.

import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const PREFIX = 'exhibit-suite-';
const GIB = 1024 ** 3;
/** The files of a run at one time are a fraction of it. */
const ROOM_BYTES_MIN = 4 * GIB;
/** The files lie in memory, beside the engines, servers and browsers that three workers start. */
const FREE_BYTES_MIN = 8 * GIB;

/** Makes the folder of this run: in memory, or in the folder that TMPDIR names. */
export function makeRunFolder(): { readonly path: string; readonly remove: () => void } {
  const within = process.env['TMPDIR'] === undefined && memoryHasRoom() ? SHARED_MEMORY : tmpdir();
  removeAbandoned(within);
  const path = mkdtempSync(join(within, `${PREFIX}${process.pid}-`));
  // PostgreSQL runs as a user of its own, who has to get through to its folder.
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function memoryHasRoom(): boolean {
  if (!existsSync(SHARED_MEMORY) || process.availableMemory() < FREE_BYTES_MIN) return false;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  return bavail * bsize >= ROOM_BYTES_MIN;
}

/** A run that was killed removed nothing; its process is gone. */
function removeAbandoned(within: string): void {
  for (const name of readdirSync(within)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !runs(Number(pid))) {
      rmSync(join(within, name), { recursive: true, force: true });
    }
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (fault) {
    // A process of another user runs, although it cannot be signalled.
    return fault instanceof Error && 'code' in fault && fault.code === 'EPERM';
  }
}
