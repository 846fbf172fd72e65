// Answers one question: where does a delivered file lie while it is read, and after a refusal.
// It keeps the newest few refused files for the operator to look at, and removes everything else.

import { createHash, randomBytes } from 'node:crypto';
import {
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { PublisherPort, SpooledFile } from '../../ports/sanctions/publisher.ts';

/** The system's code of a fault of the file system, such as a full disk; `null` for a bug. */
export function systemFault(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  return String(error.code);
}

const SPOOL = { name: 'Spool', url: 'file:', as_of: 0, kind: 'table', simulated: false } as const;

/** How many refused files are kept aside. */
export const REFUSED_KEPT_MAX = 3;
/** A spooled file older than this was left behind by a process that ended. */
const ABANDONED_MS = 24 * 60 * 60 * 1_000;

/** A file that is being delivered. */
export type Spooling = {
  readonly write: (chunk: Uint8Array) => Promise<void>;
  /** Closes the file and hands it over. */
  readonly finish: () => Promise<SpooledFile>;
  /** Closes and removes it. */
  readonly abandon: () => Promise<void>;
};

/** A folder for deliveries. */
export type Spool = {
  readonly begin: () => Promise<Spooling>;
  /** Puts a file aside: moved where it is ours, copied where it is the operator's. */
  readonly keepAside: (
    from: Kept,
    code: string,
    reason: string,
  ) => Promise<Reading<true, PublisherPort>>;
};

type Kept = { readonly path: string; readonly sha256: string; readonly ours: boolean };

/** Opens a spool in a folder, which is made where it is absent. */
export function spoolIn(directory: string): Spool {
  const refused = join(directory, 'refused');

  const keepAside: Spool['keepAside'] = async (from, code, reason) => {
    try {
      await mkdir(refused, { recursive: true, mode: 0o700 });
      const kept = join(refused, from.sha256);
      if (from.ours) await rename(from.path, kept);
      else await copyFile(from.path, kept);
      await writeFile(`${kept}.txt`, `${code}: ${reason}\n`, { mode: 0o600 });
      await dropOldest(refused);
      return read(true, { port: 'publisher', source: SPOOL });
    } catch (error) {
      const fault = systemFault(error);
      if (fault === null) throw error;
      return unread('publisher', why('store_unreadable', { what: 'The spool', fault }));
    }
  };

  return {
    keepAside,
    begin: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await dropAbandoned(directory);
      const path = join(directory, `${randomBytes(8).toString('hex')}.part`);
      return await spooling(path, keepAside);
    },
  };
}

async function spooling(path: string, keepAside: Spool['keepAside']): Promise<Spooling> {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  const discard = (): Promise<void> => rm(path, { force: true });
  return {
    write: async (chunk) => {
      hash.update(chunk);
      bytes += chunk.byteLength;
      await file.writeFile(chunk);
    },
    abandon: async () => {
      await file.close();
      await discard();
    },
    finish: async () => {
      await file.close();
      const sha256 = hash.digest('hex');
      return {
        path,
        sha256,
        bytes,
        discard,
        keepAside: (code, reason) => keepAside({ path, sha256, ours: true }, code, reason),
      };
    },
  };
}

async function dropOldest(refused: string): Promise<void> {
  const reasons = (await readdir(refused)).filter((name) => name.endsWith('.txt'));
  const dated = await Promise.all(
    reasons.map(async (name) => ({ name, at: (await stat(join(refused, name))).mtimeMs })),
  );
  dated.sort((a, b) => b.at - a.at);
  for (const { name } of dated.slice(REFUSED_KEPT_MAX)) {
    await unlink(join(refused, name));
    await rm(join(refused, name.slice(0, -'.txt'.length)), { force: true });
  }
}

async function dropAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.part')) continue;
    const path = join(directory, name);
    // Another process may remove it in between: then there is nothing left to drop.
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS)
      await rm(path, { force: true });
  }
}
