// What this machine saw the log sign, one file for each size. A file comes into its place whole and
// synced, and never in the place of another: two roots of one size cannot both be kept.

import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSameHash } from '../../chain/merkle-tree.ts';
import { NOTE_CHARS_MAX, parseCheckpoint, parseNote } from '../../chain/signed-note.ts';
import { why } from '../../evidence/reasons.ts';
import type { SeenHeads } from '../../ports/transparency-log.ts';
import { syncFolder, writeSynced } from '../../sources/files/write-whole.ts';
import type { ControlContext } from './engine/database.ts';
import { DamagedFile, faultText, fileFaultCode, fileReadings } from './machine-files.ts';

const PORT = 'seen_heads';
const WHAT = 'The folder of what the log signed';
const OWNER_ONLY = 0o700;
const NAME_CHARS = 16;
const SIZE_DIGITS = 16;
const END = 'end';
/** Files of smaller sizes that stay, for who looks. */
const KEPT = 2;

/** The files in a folder, which is made when the first one is kept. */
export function seenHeads(folder: string, context: ControlContext): SeenHeads {
  const nameOf = (origin: string) =>
    createHash('sha256').update(origin).digest('hex').slice(0, NAME_CHARS);
  const ask = fileReadings(
    PORT,
    { name: WHAT, url: 'urn:exhibit:log' },
    (fault) => why('store_unreadable', { what: WHAT, fault: faultText(fault) }),
    context,
  );
  /** The names of an origin's files, the smallest size first. */
  const filesOf = async (origin: string): Promise<string[]> => {
    const names = await namesIn(folder);
    const start = `${nameOf(origin)}-`;
    return names.filter((name) => name.startsWith(start) && name.endsWith('.note')).sort();
  };
  return {
    newest: (origin) =>
      ask(async () => {
        const newest = (await filesOf(origin)).at(-1);
        if (newest === undefined) return null;
        const text = await readFile(join(folder, newest), 'utf8');
        checkpointIn(text, origin);
        return text;
      }),
    hasEnded: (origin) =>
      ask(async () => (await namesIn(folder)).includes(`${nameOf(origin)}.${END}`)),
    keep: (origin, size, root, note) =>
      ask(async () => {
        const name = `${nameOf(origin)}-${String(size).padStart(SIZE_DIGITS, '0')}.note`;
        const isNew = await makeWhole(folder, name, note);
        if (!isNew) {
          const text = await readFile(join(folder, name), 'utf8');
          return isSameHash(checkpointIn(text, origin).root, root);
        }
        const smaller = (await filesOf(origin)).filter((one) => one < name).slice(0, -KEPT);
        for (const one of smaller) await rm(join(folder, one), { force: true });
        return true;
      }),
    keepEnd: (origin, statement) =>
      ask(async () => {
        const name = `${nameOf(origin)}.${END}`;
        const isNew = await makeWhole(folder, name, statement);
        return isNew ? statement : await readFile(join(folder, name), 'utf8');
      }),
  };
}

function checkpointIn(text: string, origin: string) {
  const note = text.length > NOTE_CHARS_MAX ? null : parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (checkpoint?.origin !== origin) throw new DamagedFile('a file in it is damaged');
  return checkpoint;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (fileFaultCode(error) === 'ENOENT') return NOTHING_KEPT;
    throw error;
  }
}

/** A folder that was never made holds nothing. */
const NOTHING_KEPT: readonly string[] = Object.freeze([]);

/** Makes a file that is synced before it has its name; `false`: one of that name stays. */
async function makeWhole(folder: string, name: string, text: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  const draft = join(folder, `.${name}.${randomUUID()}`);
  await writeSynced(draft, text);
  try {
    await link(draft, join(folder, name));
    return true;
  } catch (error) {
    if (fileFaultCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
    await syncFolder(folder);
  }
}
