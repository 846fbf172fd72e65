// Reads the records of a file of addresses for commands that run in this process.

import { createReadStream, rmSync } from 'node:fs';
import { appendFile, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileUnreadable } from '../command/address-file.ts';
import { csvDialect, csvRecords } from '../sources/files/csv.ts';
import { FileFault } from '../sources/files/text-lines.ts';

/** The records of a CSV file. Throws `FileUnreadable`. */
export async function* readRecords(path: string): ReturnType<typeof csvRecords> {
  try {
    yield* csvRecords(path);
  } catch (fault) {
    throw fault instanceof FileFault ? new FileUnreadable(fault.message) : fault;
  }
}

/** Stands for standard input among paths. */
const STANDARD_INPUT = '-';
/** The most bytes that are taken from standard input or a pipe. */
const PIPED_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Reads as `readRecords` does, from standard input (`-`) and pipes too. Those can be read once, and
 * records are read twice: they are held in a file of their own until the process ends.
 */
export function pipedRecords(input: () => AsyncIterable<Uint8Array>): {
  readonly readRecords: (path: string) => ReturnType<typeof csvRecords>;
  readonly readDialect: typeof csvDialect;
} {
  const held = new Map<string, string>();
  const fileAt = async (path: string) => {
    const isPiped = path === STANDARD_INPUT || (await isPipe(path));
    if (isPiped && !held.has(path)) {
      held.set(path, await holdPiped(path === STANDARD_INPUT ? input() : createReadStream(path)));
    }
    const file = held.get(path);
    return file === undefined ? path : file;
  };
  return {
    async *readRecords(path) {
      yield* readRecords(await fileAt(path));
    },
    readDialect: async (path) => csvDialect(await fileAt(path)),
  };
}

/** Whether a path is a named pipe or a descriptor of one, as a shell's `<(…)` makes it. */
async function isPipe(path: string): Promise<boolean> {
  try {
    const facts = await stat(path);
    return facts.isFIFO() || facts.isSocket() || facts.isCharacterDevice();
  } catch (fault) {
    throw new FileUnreadable(
      fault instanceof Error && 'code' in fault ? `${fault.code}` : 'it fails',
    );
  }
}

async function holdPiped(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-piped-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'addresses.csv');
  let bytes = 0;
  await appendFile(file, '');
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > PIPED_BYTES_MAX) throw new FileUnreadable('it is over 512 MiB');
    await appendFile(file, chunk);
  }
  return file;
}
