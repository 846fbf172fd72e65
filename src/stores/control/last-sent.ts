// The last nonce and size that this machine sent to each place, in a file of its own: a control
// store that was put back to an earlier state lies behind it.

import { join } from 'node:path';
import { z } from 'zod';
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
import { DamagedFile, faultText, fileReadings, readIfThere } from './machine-files.ts';

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
export function lastSentFile(dataDir: string, context: ControlContext): LastSentFile {
  const path = join(dataDir, NAME);
  const named = { name: NAME, url: 'urn:exhibit:anchoring' };
  const ask = fileReadings(
    PORT,
    named,
    (fault) => {
      const says = 'damaged' in fault ? fault.damaged : `is closed: ${faultText(fault)}`;
      return why('anchor_file_unread', { fault: says });
    },
    context,
  );
  const readAll = async () => {
    const text = await readIfThere(path);
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

function parseSent(text: string): readonly LastSent[] {
  const told = anySent.safeParse(jsonIn(text));
  if (!told.success) throw new DamagedFile('is damaged');
  return told.data;
}

/** From a machine without the file nothing was sent. */
const NOTHING_SENT: readonly LastSent[] = Object.freeze([]);
