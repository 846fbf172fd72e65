// Answers one question: is there room in memory for the temporary files of a run, and where.
// The stores make and remove files by the ten thousand. On a disk a third of the processor time of
// the tests of stores goes into that, for files that nobody reads after the run.

import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const PREFIX = 'exhibit-suite-';
const GIB = 1024 ** 3;
/** What a run keeps at once is a fraction of it. */
const ROOM_BYTES_MIN = 4 * GIB;
/** The files lie in memory, beside the engines, servers and browsers that three workers start. */
const FREE_BYTES_MIN = 8 * GIB;

/** A folder in memory, to be removed after the run; `null` where there is too little room. */
export function memoryFolder(): { readonly path: string; readonly remove: () => void } | null {
  if (!existsSync(SHARED_MEMORY) || process.availableMemory() < FREE_BYTES_MIN) return null;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  if (bavail * bsize < ROOM_BYTES_MIN) return null;
  removeAbandoned();
  const path = mkdtempSync(join(SHARED_MEMORY, `${PREFIX}${process.pid}-`));
  // PostgreSQL runs as a user of its own, who has to get through to its folder.
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A run that was killed removed nothing; its process is gone. */
function removeAbandoned(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
    }
  }
}
