// Answers one task over its channel: the publication in a file, or why it is refused.
// The entry of the separate reader; it does nothing unless it was started as that.

import { setPriority } from 'node:os';
import { isRefusal } from './publication.ts';
import {
  READER_MARK,
  type ReadingMessage,
  type ReadingTask,
  ROWS_PER_MESSAGE,
  readingTask,
} from './read-apart.ts';
import { readFileDocument } from './read-publication.ts';

const PROGRESS_BYTES = 4 * 1024 * 1024;
/** Serving comes first where cores are few. */
const NICENESS = 10;

async function answer(task: ReadingTask): Promise<void> {
  let told = 0;
  const outcome = await readFileDocument(task.path, task.limits, (bytes) => {
    if (bytes - told < PROGRESS_BYTES) return;
    told = bytes;
    // Progress that cannot be told stops nothing: the disconnect ends this process.
    process.send?.({ kind: 'progress', bytes } satisfies ReadingMessage, () => undefined);
  });
  if (isRefusal(outcome)) {
    await say({ kind: 'refused', refusal: outcome });
    return;
  }
  const { addresses, distinct_addresses: _distinct, currencies: _currencies, ...facts } = outcome;
  for (let from = 0; from < addresses.length; from += ROWS_PER_MESSAGE) {
    const rows = addresses.slice(from, from + ROWS_PER_MESSAGE).map((row) => {
      return { ...row, programs: row.programs === null ? null : [...row.programs] };
    });
    await say({ kind: 'rows', rows });
  }
  await say({ kind: 'read', rows: addresses.length, facts });
}

function say(message: ReadingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) {
      reject(new Error('the reader has no channel'));
      return;
    }
    process.send(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

if (process.argv[2] === READER_MARK && process.send !== undefined) {
  setPriority(NICENESS);
  process.once('disconnect', () => process.exit());
  process.once('message', (message) => {
    // A bug ends the process with its trace, and the parent reports that it ended early.
    void answer(readingTask.parse(message)).then(() => process.disconnect());
  });
}
