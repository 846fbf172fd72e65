// How far did an import come before it ended, or was ended?
// A checkpoint is whole or is not there; what it does not count is done again and changes nothing.

import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { TRANSFER_KINDS } from '../../../chain/transfer.ts';

const whole = z.number().int().nonnegative();
const counts = z.record(z.string(), whole);
const checkpoint = z.strictObject({
  /** Rows of each file that was read, by its number, and files of which all is written. */
  read: counts,
  dropped: z.array(whole),
  /** The first block that was not written yet. */
  next_block: whole,
  rows_written: whole,
  transfers: whole,
  creations: whole,
  /** Transfers of which no file told whether they succeeded. */
  success_unknown: whole,
  of_another_fork: whole,
  /** Blocks of which a row told another hash than their header. */
  contradicted: whole,
  left_out: counts,
  proved: z.array(
    z.strictObject({
      kind: z.enum(TRANSFER_KINDS),
      from_block: whole,
      to_block: whole,
      to_time: whole,
    }),
  ),
});

/** How far an import is. */
export type Checkpoint = z.infer<typeof checkpoint>;

const FILE = 'checkpoint.json';

/** Where an import begins. */
export function begun(): Checkpoint {
  const facts = { rows_written: 0, transfers: 0, creations: 0, success_unknown: 0 };
  const apart = { of_another_fork: 0, contradicted: 0, left_out: {}, proved: [] };
  return { read: {}, dropped: [], next_block: 0, ...facts, ...apart };
}

/** The checkpoint in a folder, `null` where there is none, or none of this version. */
export async function readCheckpoint(folder: string): Promise<Checkpoint | null> {
  const text = await readFile(join(folder, FILE), 'utf8').catch((fault: unknown) => {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  });
  if (text === null) return null;
  const { data } = checkpoint.safeParse(JSON.parse(text));
  return data === undefined ? null : data;
}

/** Takes the checkpoint of a folder away: what it counts is not there any more. */
export async function forgetCheckpoint(folder: string): Promise<void> {
  await rm(join(folder, FILE), { force: true });
}

/** Replaces the checkpoint of a folder in one step. */
export async function writeCheckpoint(folder: string, state: Checkpoint): Promise<void> {
  await writeWhole(join(folder, FILE), JSON.stringify(state));
}

/** Writes a file so that a crash leaves the old one or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}
