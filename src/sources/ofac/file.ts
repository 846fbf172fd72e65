// Answers one question: what does a file on this machine hold as the list now.
// It reads the file where it lies and never changes it.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Mirror, SpooledFile, Validators } from '../../ports/sanctions/publisher.ts';
import { addressKey, publicAddress } from './address.ts';
import { type Spool, systemFault } from './spool.ts';

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
  const origin = () =>
    ({
      port: 'publisher',
      source: { name: shown, url: shown, as_of: now(), kind: 'observation', simulated: false },
    }) as const;

  return {
    key: addressKey(url),
    url: shown,
    kind: 'file',
    obtained_at,
    deliver: async (known) => {
      try {
        const validators = await stamped(path);
        if (known !== null && known.etag === validators.etag) {
          return read({ kind: 'unchanged', validators }, origin());
        }
        return read({ kind: 'file', validators, file: await digested(path, spool) }, origin());
      } catch (error) {
        const fault = fileFault(error);
        if (fault === null) throw error;
        return unread('publisher', why('provider_failed', { provider: shown, fault }));
      }
    },
  };
}

async function stamped(path: string): Promise<Validators> {
  const found = await stat(path, { bigint: true });
  if (!found.isFile()) throw new NotAFile();
  return { etag: `${found.ino}-${found.size}-${found.mtimeNs}`, last_modified: null };
}

class NotAFile extends Error {}

async function digested(path: string, spool: Spool): Promise<SpooledFile> {
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

/** What a fault of the file system means, without the path; `null` for a bug. */
function fileFault(error: unknown): string | null {
  if (error instanceof NotAFile) return 'the path is no file';
  const code = systemFault(error);
  if (code === null) return null;
  return code === 'ENOENT' ? 'the file does not exist' : `the file could not be read (${code})`;
}
