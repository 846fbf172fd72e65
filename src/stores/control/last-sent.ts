// The last nonce and size that this machine sent to each place, in a file of its own: a control
// store that was put back to an earlier state lies behind it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isSamePlace, type LastSent, type LastSentFile } from '../../ports/anchoring.ts';
import { writeWhole } from '../../sources/files/write-whole.ts';
import { jsonIn } from '../../sources/http/fetch.ts';

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

/** The file in the data directory. */
export function lastSentFile(dataDir: string): LastSentFile {
  const path = join(dataDir, 'anchoring.json');
  const readAll = async () => {
    const text = await readOrNull(path);
    return text === null ? NOTHING_SENT : anySent.parse(jsonIn(text));
  };
  return {
    read: readAll,
    write: async (sent) => {
      const others = (await readAll()).filter((one) => !isSamePlace(one, sent));
      await writeWhole(path, JSON.stringify(allSent.parse([...others, sent])));
    },
  };
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
