// Answers one question: where does a delivered file lie while it is read, and afterwards.
// It keeps the newest few refused files for the operator to look at, the file of the list in force
// for a later reader, and removes everything else.

import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { PublisherPort, SpooledFile } from '../../ports/sanctions/publisher.ts';
import { attempt } from '../http/provider.ts';

/** The system's code of a fault of the file system, such as a full disk; `null` for a bug. */
export function systemFault(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  return String(error.code);
}

const SPOOL = { name: 'Spool', url: 'file:', as_of: 0, kind: 'table', simulated: false } as const;

/** How many refused files are kept aside. */
export const REFUSED_KEPT_MAX = 3;
/** How many files of lists in force are kept: the newest, and the one before it. */
const HELD_KEPT_MAX = 2;
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
  /** Puts a file aside and gives its path there. */
  readonly keepAside: (
    from: Kept,
    code: string,
    reason: string,
  ) => Promise<Reading<string, PublisherPort>>;
  /** Keeps a copy of the file of a list in force. */
  readonly keep: (from: Kept) => Promise<Reading<true, PublisherPort>>;
  /** The kept file of a list in force; `null` where there is none. */
  readonly kept: (sha256: string) => Promise<SpooledFile | null>;
};

/** A file to be kept: moved where it is ours, copied where it is somebody else's. */
type Kept = { readonly path: string; readonly sha256: string; readonly ours: boolean };

/** Opens a spool in a folder, which is made where it is absent. */
export function spoolIn(directory: string): Spool {
  const refused = join(directory, 'refused');
  const held = join(directory, 'held');

  const keepAside: Spool['keepAside'] = (from, code, reason) =>
    written(async () => {
      await mkdir(refused, { recursive: true, mode: 0o700 });
      const kept = join(refused, from.sha256);
      if (from.ours) await rename(from.path, kept);
      else await copyFile(from.path, kept);
      await writeFile(`${kept}.txt`, `${code}: ${reason}\n`, { mode: 0o600 });
      await dropOldest(refused, '.txt', REFUSED_KEPT_MAX);
      return kept;
    });
  const keep: Spool['keep'] = (from) =>
    written(async () => {
      await mkdir(held, { recursive: true, mode: 0o700 });
      const kept = join(held, from.sha256);
      // Copied under another name first: a process that ends halfway leaves no half a file here.
      await copyFile(from.path, `${kept}.part`);
      await rename(`${kept}.part`, kept);
      await dropOldest(held, '', HELD_KEPT_MAX);
      return true as const;
    });

  return {
    keepAside,
    keep,
    kept: async (sha256) => {
      const path = join(held, sha256);
      const found = await attempt(Error, () => stat(path));
      if (found instanceof Error) return null;
      const file = { path, sha256, ours: false };
      return {
        path,
        sha256,
        bytes: found.size,
        keepAside: (code, reason) => keepAside(file, code, reason),
        keep: async () => read(true as const, { port: 'publisher', source: SPOOL }),
        discard: async () => undefined,
      };
    },
    begin: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await dropAbandoned(directory);
      const path = join(directory, `${randomBytes(8).toString('hex')}.part`);
      return await spooling(path, { keepAside, keep });
    },
  };
}

/** What was written to the spool, or why it could not be. */
async function written<T>(write: () => Promise<T>): Promise<Reading<T, PublisherPort>> {
  try {
    return read(await write(), { port: 'publisher', source: SPOOL });
  } catch (error) {
    const fault = systemFault(error);
    if (fault === null) throw error;
    return unread('publisher', why('store_unreadable', { what: 'The spool', fault }));
  }
}

async function spooling(
  path: string,
  { keepAside, keep }: Pick<Spool, 'keepAside' | 'keep'>,
): Promise<Spooling> {
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
      const ours = { path, sha256, ours: true };
      return {
        path,
        sha256,
        bytes,
        discard,
        keepAside: (code, reason) => keepAside(ours, code, reason),
        keep: () => keep(ours),
      };
    },
  };
}

/** Drops all but the newest files of a folder; `note` ends the name of what dates each of them. */
async function dropOldest(folder: string, note: string, most: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(note));
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  dated.sort((a, b) => b.at - a.at);
  for (const { name } of dated.slice(most)) {
    await rm(join(folder, name), { force: true });
    await rm(join(folder, name.slice(0, name.length - note.length)), { force: true });
  }
}

async function dropAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.part')) continue;
    const path = join(directory, name);
    // Another process may remove it in between: then there is nothing left to drop.
    const found = await attempt(Error, () => stat(path));
    if (found instanceof Error) continue;
    if (Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
}
