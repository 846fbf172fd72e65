import { FileUnreadable } from '../command/address-file.ts';
import { csvDialect, csvRecords } from '../sources/files/csv.ts';
import { FileFault } from '../sources/files/text-lines.ts';

/** The reader that the commands are given where they run. */
export async function* addressRecords(path: string): ReturnType<typeof csvRecords> {
  try {
    yield* csvRecords(path);
  } catch (fault) {
    throw fault instanceof FileFault ? new FileUnreadable(fault.message) : fault;
  }
}

/** The same, with what tells how a file is written. */
export const addressReader = { readRecords: addressRecords, readDialect: csvDialect };
