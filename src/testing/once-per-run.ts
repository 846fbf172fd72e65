// Makes an expensive value once for all tests of a run: the first process that needs it makes it,
// and all others read it from the folder of the run.

import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WAIT_MS = 20;
/** A maker that takes longer is taken for dead. */
const WAITS_MAX = 10_000;

const known = new Map<string, Promise<string>>();

/** The text that `make` gave in whichever process of this run first asked for the name. */
export function oncePerRun(name: string, make: () => Promise<string>): Promise<string> {
  const before = known.get(name);
  if (before !== undefined) return before;
  const asked = readOrMake(join(tmpdir(), `exhibit-once-${name}`), make);
  known.set(name, asked);
  return asked;
}

async function readOrMake(path: string, make: () => Promise<string>): Promise<string> {
  for (let waits = 0; waits < WAITS_MAX; waits += 1) {
    if (existsSync(path)) return readFile(path, 'utf8');
    if (await isFirst(path)) {
      try {
        const text = await make();
        await writeFile(`${path}.part`, text);
        await rename(`${path}.part`, path);
        return text;
      } finally {
        await rmdir(lockOf(path));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error(`test: nobody made ${path}`);
}

const lockOf = (path: string) => `${path}.making`;

async function isFirst(path: string): Promise<boolean> {
  try {
    await mkdir(lockOf(path));
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'EEXIST') return false;
    throw fault;
  }
  // The first process may have ended between the look and the lock.
  if (!existsSync(path)) return true;
  await rmdir(lockOf(path));
  return false;
}
