import { FileUnreadable } from '../command/address-file.ts';
import { csvRecords } from '../sources/files/csv.ts';
import { FileFault } from '../sources/files/text-lines.ts';

/** The reader that the commands are given where they run. */
export async function* addressRecords(path: string): ReturnType<typeof csvRecords> {
  try {
    yield* csvRecords(path);
  } catch (fault) {
    throw fault instanceof FileFault ? new FileUnreadable(fault.message) : fault;
  }
}
