// The last nonce and size that this machine sent to each place, in a file of its own: a control
// store that was put back to an earlier state lies behind it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type AnchorsPort,
  isSamePlace,
  type LastSent,
  type LastSentFile,
} from '../../ports/anchoring.ts';
import { writeWhole } from '../../sources/files/write-whole.ts';
import { jsonIn } from '../../sources/http/fetch.ts';
import type { ControlContext } from './engine/database.ts';

const lastSent = z.strictObject({
  chain_id: z.int(),
  contract: z.string(),
  sender: z.string(),
  nonce: z.int().nonnegative(),
  size: z.int().positive(),
});

/** Places that one file tells of at most. */
const PLACES_MAX = 1_000;
const allSent = z.array(lastSent).max(PLACES_MAX);
/** A file of an earlier version tells of one place. */
const anySent = z.union([allSent, lastSent.transform((one) => [one])]);

const PORT: AnchorsPort = 'anchors';
const NAME = 'anchoring.json';

/** The file in the data directory. */
export function lastSentFile(dataDir: string, { simulated, nowMs }: ControlContext): LastSentFile {
  const path = join(dataDir, NAME);
  const ask = async <T>(work: () => Promise<T>): Promise<Reading<T, AnchorsPort>> => {
    try {
      const as_of = Math.floor(nowMs() / 1_000);
      const dated = { name: NAME, url: 'urn:exhibit:anchoring', as_of } as const;
      const source = { ...dated, kind: 'table', simulated } as const;
      return read(await work(), { port: PORT, source });
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      return unread(PORT, why('anchor_file_unread', { fault }));
    }
  };
  const readAll = async () => {
    const text = await readOrNull(path);
    return text === null ? NOTHING_SENT : parseSent(text);
  };
  return {
    read: () => ask(readAll),
    write: (sent) =>
      ask(async () => {
        const others = (await readAll()).filter((one) => !isSamePlace(one, sent));
        await writeWhole(path, JSON.stringify(allSent.parse([...others, sent])));
        return true as const;
      }),
  };
}

class DamagedFile extends Error {}

function parseSent(text: string): readonly LastSent[] {
  const told = anySent.safeParse(jsonIn(text));
  if (!told.success) throw new DamagedFile('is damaged');
  return told.data;
}

/** Why the file is of no use, in words that follow its name; `null`: a bug. */
function faultOf(error: unknown): string | null {
  if (error instanceof DamagedFile) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? `is closed: the file system answered ${code}` : null;
}

/** From a machine without the file nothing was sent. */
const NOTHING_SENT: readonly LastSent[] = Object.freeze([]);

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  }
}
