// Answers one question: which receipts does a folder hold, read to its end or not at all?
// A file that cannot be read leaves all of it unread: it could be the one that was asked for.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collect, given } from '../../evidence/measure.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ReceiptFile,
  ReceiptFiles,
  ReceiptFolder,
  ReceiptsPort,
} from '../../ports/receipts/published-receipts.ts';
import { observation } from '../http/provider.ts';
import { parseReceipt } from './receipt-file.ts';

const PORT = 'receipts';
const WHAT = 'The folder of receipts';
const FILES_MAX = 10_000;
const FILE_BYTES_MAX = 256 * 1024;
/** For how long one reading serves whoever asks. */
const KEPT_S = 10;
/** It explains the folder to people, and is no receipt. */
const README = 'README.md';

type Options = {
  readonly folder: string | URL;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};
type Held = { readonly stamp: string; readonly read: ReceiptFile };

/** A folder of files `*.md`; others, hidden ones, README.md and folders within are left aside. */
export function receiptsFolder({ folder, simulated, now }: Options): ReceiptFolder {
  let held = new Map<string, Held>();
  let kept: { at: number; files: Promise<Reading<ReceiptFiles, ReceiptsPort>> } | null = null;

  async function everyFile(): Promise<ReceiptFiles> {
    const path = folder instanceof URL ? fileURLToPath(folder) : folder;
    const names = (await readdir(path)).filter(isReceipt).sort();
    if (names.length > FILES_MAX) throw new RangeError(`over ${FILES_MAX} files`);
    const next = new Map<string, Held>();
    for (const name of names) {
      const one = await fileAt(join(path, name), name, held.get(name));
      if (one !== null) next.set(name, one);
    }
    held = next;
    return withoutTwins([...next.values()].map((one) => one.read));
  }

  async function asReading(at: number): Promise<Reading<ReceiptFiles, ReceiptsPort>> {
    try {
      // What a folder holds is seen by looking, like what a node says: it has no date of its own.
      const named = { name: 'Receipts of this deployment', url: 'urn:exhibit:receipts', simulated };
      return read(await everyFile(), { port: PORT, source: observation(named, () => at) });
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) return unread(PORT, why('not_configured', { what: WHAT }));
      return unread(PORT, why('store_unreadable', { what: WHAT, fault }));
    }
  }

  return {
    files: () => {
      const at = now();
      if (kept === null || at - kept.at >= KEPT_S || at < kept.at) {
        kept = { at, files: asReading(at) };
      }
      return kept.files;
    },
  };
}

const isReceipt = (name: string): boolean =>
  name.endsWith('.md') && !name.startsWith('.') && name !== README;

/** A file as it is, or as it was read before where nothing of it changed; `null` for a folder. */
async function fileAt(path: string, file: string, before: Held | undefined): Promise<Held | null> {
  const facts = await stat(path);
  if (!facts.isFile()) return null;
  const stamp = `${facts.ino} ${facts.size} ${facts.mtimeMs}`;
  if (before?.stamp === stamp) return before;
  if (facts.size > FILE_BYTES_MAX) {
    const reasons = [`its size: expected ${FILE_BYTES_MAX} bytes at most`];
    return { stamp, read: { file, state: 'refused', reasons } };
  }
  return { stamp, read: parseReceipt(file, await readFile(path, 'utf8')) };
}

/** Of files that give one id to several receipts none is published: no reader could tell them. */
function withoutTwins(files: ReceiptFiles): ReceiptFiles {
  const filesOf = new Map<string, string[]>();
  for (const one of files) {
    if (one.state === 'published') collect(filesOf, one.receipt.id, one.file);
  }
  return files.map((one) => {
    if (one.state !== 'published') return one;
    const twins = given(filesOf.get(one.receipt.id)).filter((file) => file !== one.file);
    if (twins.length === 0) return one;
    const reasons = [`id: given by ${twins.join(', ')} too`];
    return { file: one.file, state: 'refused', reasons };
  });
}

/** What went wrong, in a word; `null` where there is no such folder. */
function faultOf(error: unknown): string | null {
  if (error instanceof RangeError) return error.message;
  if (!(error instanceof Error) || !('code' in error)) throw error;
  return error.code === 'ENOENT' && 'syscall' in error && error.syscall === 'scandir'
    ? null
    : String(error.code);
}
