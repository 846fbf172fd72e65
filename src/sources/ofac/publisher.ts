// Downloads from the publisher and its mirrors, and spools the files. The publisher redirects to an
// expiring link, which is followed and never kept.

import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MS_PER_S } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { type Origin, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { OnCallEnd } from '../../ports/providers.ts';
import type { Mirror, PublisherPort, SpooledFile, Validators } from '../../ports/sanctions.ts';
import { type FetchLimits, fetchBytes } from '../http/fetch.ts';
import { FetchFault, type IsInside, isInsideAddress, originText } from '../http/outbound-call.ts';
import { attempt } from '../http/provider.ts';
import { UNWATCHED } from '../http/provider-watch.ts';

/** The publisher's largest file took over five minutes at 190 KB/s; four times that is the end. */
export const DOWNLOAD_LIMITS: FetchLimits = {
  deadlineMs: 20 * 60 * 1_000,
  headersMs: 30_000,
  bytesMax: 512 * 1024 * 1024,
  redirectsMax: 5,
  dripWindowMs: 30_000,
  dripBytesMin: 64 * 1024,
};

/**
 * The User-Agent of list requests: the publisher's firewall refuses one that does not begin like a
 * browser's.
 */
export function listUserAgent(version: string): string {
  return `Mozilla/5.0 (compatible; exhibit/${version}; sanctions list refresh)`;
}

/** The longest validator that is kept; a longer one is as good as none. */
const VALIDATOR_CHARS_MAX = 256;

export type HttpMirrorOptions = {
  readonly url: URL;
  readonly spool: Spool;
  /** The publisher's firewall refuses what does not look like a browser's. */
  readonly userAgent: string;
  readonly now: () => number;
  readonly limits: FetchLimits;
  /** Which addresses lie inside this network; the real ones unless a test names others. */
  readonly isInside?: IsInside;
  /** Called with the end of each download. */
  readonly onCallEnd?: OnCallEnd;
};

export function httpMirror({
  isInside = isInsideAddress,
  onCallEnd = UNWATCHED,
  ...options
}: HttpMirrorOptions): Mirror {
  const { url, spool, now } = options;
  const shown = publicAddress(url);
  const origin = () => originAt(shown, now());

  return {
    key: addressKey(url),
    url: shown,
    kind: 'http',
    obtained_at: null,
    deliver: async (known, signal) => {
      let spooling: Spooling | null = null;
      try {
        spooling = await spool.begin();
        const answer = await fetchBytes({
          url,
          signal,
          limits: options.limits,
          isInside,
          headers: { 'user-agent': options.userAgent, accept: '*/*', ...conditions(known) },
          into: spooling.write,
        });
        if (answer.status === 304) {
          await spooling.abandon();
          if (known === null) throw new FetchFault('answered 304 to an unconditional request');
          onCallEnd({ outcome: 'answered' });
          return read({ kind: 'unchanged', validators: known }, origin());
        }
        const file = await spooling.finish();
        onCallEnd({ outcome: 'answered' });
        const validators = {
          etag: shortValidator(answer.header('etag')),
          last_modified: shortValidator(answer.header('last-modified')),
        };
        return read({ kind: 'file', validators, file }, origin());
      } catch (error) {
        await spooling?.abandon();
        const fault = faultOf(error);
        if (fault === null) throw error;
        if (signal.aborted) onCallEnd({ outcome: 'stopped' });
        else if (error instanceof FetchFault) onCallEnd({ outcome: 'failed', fault });
        const because = why('provider_failed', { provider: shown, fault });
        const waitMs = error instanceof FetchFault ? error.waitMs : null;
        if (waitMs === null) return unread('publisher', because);
        const after_s = Math.ceil(waitMs / MS_PER_S);
        return read({ kind: 'later', reason: because.reason, after_s }, origin());
      }
    },
  };
}

function originAt(shown: string, as_of: number): Origin<PublisherPort> {
  const source = { name: shown, url: shown, as_of, kind: 'observation', simulated: false } as const;
  return { port: 'publisher', source };
}

/** The fault of the network or of the disk; `null` for a bug. */
function faultOf(error: unknown): string | null {
  if (error instanceof FetchFault) return error.fault;
  const code = systemFault(error);
  return code === null ? null : `what it sent could not be written here (${code})`;
}

function conditions(known: Validators | null): Record<string, string> {
  const sent = [
    ['if-none-match', known?.etag],
    ['if-modified-since', known?.last_modified],
  ] as const;
  return Object.fromEntries(
    present(sent.map(([name, value]) => (value == null ? null : ([name, value] as const)))),
  );
}

function shortValidator(value: string | null): string | null {
  return value !== null && value.length <= VALIDATOR_CHARS_MAX ? value : null;
}

// A mirror on disk is read where it lies and never changed.

/** A mirror that is a file. Its time stamp and size are its validators. */
export function fileMirror(options: {
  readonly url: URL;
  readonly spool: Spool;
  readonly now: () => number;
  /** When an operator says that it was obtained (Unix seconds); `null` where nobody says so. */
  readonly obtained_at: number | null;
}): Mirror {
  const { url, spool, now, obtained_at } = options;
  const path = fileURLToPath(url);
  const shown = publicAddress(url);
  const origin = () => originAt(shown, now());

  return {
    key: addressKey(url),
    url: shown,
    kind: 'file',
    obtained_at,
    deliver: async (known) => {
      try {
        const validators = await stampOf(path);
        if (known !== null && known.etag === validators.etag) {
          return read({ kind: 'unchanged', validators }, origin());
        }
        return read({ kind: 'file', validators, file: await digestFile(path, spool) }, origin());
      } catch (error) {
        const fault = fileFault(error);
        if (fault === null) throw error;
        return unread('publisher', why('provider_failed', { provider: shown, fault }));
      }
    },
  };
}

async function stampOf(path: string): Promise<Validators> {
  const found = await stat(path, { bigint: true });
  if (!found.isFile()) throw new NotAFile();
  return { etag: `${found.ino}-${found.size}-${found.mtimeNs}`, last_modified: null };
}

class NotAFile extends Error {}

async function digestFile(path: string, spool: Spool): Promise<SpooledFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a file gave text, not bytes');
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  const sha256 = hash.digest('hex');
  const file = { path, sha256, ours: false };
  return {
    path,
    sha256,
    bytes,
    discard: async () => undefined,
    keepAside: (code, reason) => spool.keepAside(file, code, reason),
    keep: () => spool.keep(file),
  };
}

/** The meaning of a file system fault, without the path; `null` for a bug. */
function fileFault(error: unknown): string | null {
  if (error instanceof NotAFile) return 'the path is no file';
  const code = systemFault(error);
  if (code === null) return null;
  return code === 'ENOENT' ? 'the file does not exist' : `the file could not be read (${code})`;
}

// The spool keeps the newest few refused files for the operator to look at, the file of the list in
// force for a later reader, and removes everything else.

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
    writeToDisk(async () => {
      await mkdir(refused, { recursive: true, mode: 0o700 });
      const kept = join(refused, from.sha256);
      if (from.ours) await rename(from.path, kept);
      else await copyFile(from.path, kept);
      await writeFile(`${kept}.txt`, `${code}: ${reason}\n`, { mode: 0o600 });
      await dropOldest(refused, '.txt', REFUSED_KEPT_MAX);
      return kept;
    });
  const keep: Spool['keep'] = (from) =>
    writeToDisk(async () => {
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

/** The result of writing to the spool, or the reason of its failure. */
async function writeToDisk<T>(write: () => Promise<T>): Promise<Reading<T, PublisherPort>> {
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

// A source shows scheme and host of a configured address, more only of the publisher's own pages.

/** The publisher's own exports that can serve as the list, smallest first. */
export const PUBLISHER_EXPORTS = [
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_XML.ZIP',
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN.XML',
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.ZIP',
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.XML',
] as const;

/** The publisher's public page where the address is exactly that, else scheme and host. */
export function publicAddress(url: URL): string {
  const own = PUBLISHER_EXPORTS.find((known) => known === url.href);
  return own === undefined ? originText(url) : own;
}

/** Tells configured addresses apart. A digest, because an address may hold a credential. */
export function addressKey(url: URL): string {
  return createHash('sha256').update(url.href).digest('hex');
}
