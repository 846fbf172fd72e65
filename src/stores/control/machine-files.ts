// Files in the data directory in which a machine keeps what it saw, whatever the control store
// says later.

import { readFile } from 'node:fs/promises';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ControlContext } from './engine/database.ts';

/** Thrown of a file whose content is not what is kept there; the message says so. */
export class DamagedFile extends Error {}

/** Why files are of no use: words about their content, or the code of the file system. */
export type MachineFileFault = { readonly damaged: string } | { readonly code: string };

/** A fault in words. */
export function faultText(fault: MachineFileFault): string {
  return 'damaged' in fault ? fault.damaged : `the file system answered ${fault.code}`;
}

/** Answers as a port over files: a fault of theirs is unread, and anything else is a bug. */
export function fileReadings<P extends string>(
  port: P,
  { name, url }: { readonly name: string; readonly url: string },
  whyOf: (fault: MachineFileFault) => Why,
  { simulated, nowMs }: Pick<ControlContext, 'simulated' | 'nowMs'>,
): <T>(work: () => Promise<T>) => Promise<Reading<T, P>> {
  return async (work) => {
    try {
      const as_of = Math.floor(nowMs() / 1_000);
      const source = { name, url, as_of, kind: 'table', simulated } as const;
      return read(await work(), { port, source });
    } catch (error) {
      if (error instanceof DamagedFile) return unread(port, whyOf({ damaged: error.message }));
      const code = fileFaultCode(error);
      if (typeof code !== 'string') throw error;
      return unread(port, whyOf({ code }));
    }
  };
}

/** The code of a fault of the file system. */
export function fileFaultCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}

/** The text of a file; `null`: there is none of this name. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (fileFaultCode(error) === 'ENOENT') return null;
    throw error;
  }
}
