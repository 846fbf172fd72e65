// Reads the records of a file of addresses for commands that run in this process.

import { FileUnreadable } from '../command/address-file.ts';
import { csvRecords } from '../sources/files/csv.ts';
import { FileFault } from '../sources/files/text-lines.ts';

/** The records of a CSV file. Throws `FileUnreadable`. */
export async function* readRecords(path: string): ReturnType<typeof csvRecords> {
  try {
    yield* csvRecords(path);
  } catch (fault) {
    throw fault instanceof FileFault ? new FileUnreadable(fault.message) : fault;
  }
}
