// Finds the files that an import names, with format, columns and fingerprint. The contents decide,
// not the name. Refuses URLs and anything that is no file.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { ImportFault } from './text-lines.ts';

/** A file of an import. `head` are its first bytes, unpacked. */
export type InputFile = {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  /** Path, size, time of change and first bytes in one hash: it differs where the file does. */
  readonly fingerprint: string;
  readonly format: 'Parquet' | 'CSVWithNames' | 'JSONEachRow' | 'empty';
  readonly gzip: boolean;
  readonly head: Buffer;
};

/** The most files of one import. */
const FILES_MAX = 100_000;
/** Folders within folders, which a loop of links would make endless. */
const DEPTH_MAX = 16;
/** How much of a file is looked at to tell what it is: one row of a contract may be this long. */
const HEAD_BYTES = 1024 * 1024;
const FINGERPRINT_BYTES = 64 * 1024;
const WEB = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The files that paths name, each once, in the order of their paths. */
export async function inputPaths(paths: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    if (WEB.test(path)) {
      throw new ImportFault(`${path}: this is an address; fetch the file first, then import it.`);
    }
    const here = new Set<string>();
    for (const one of await matching(path)) await collectFiles(one, 0, here);
    if (here.size === 0) throw new ImportFault(`${path}: there is no file there.`);
    for (const one of here) found.add(one);
    if (found.size > FILES_MAX) throw new ImportFault(`More than ${FILES_MAX} files; split them.`);
  }
  return [...found].sort();
}

/** The files that match a path with `*` or `?` in its last part; any other path matches itself. */
async function matching(path: string): Promise<readonly string[]> {
  const pattern = basename(path);
  if (!/[*?]/.test(pattern)) return [path];
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  const wanted = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
  const names = await readdir(dirname(path)).catch(faulty(path));
  return names.filter((name) => wanted.test(name)).map((name) => join(dirname(path), name));
}

async function collectFiles(path: string, depth: number, found: Set<string>): Promise<void> {
  const real = await realpath(path).catch(faulty(path));
  const facts = await stat(real).catch(faulty(path));
  if (facts.isFile()) {
    found.add(real);
    if (found.size > FILES_MAX) throw new ImportFault(`More than ${FILES_MAX} files; split them.`);
    return;
  }
  if (!facts.isDirectory()) throw new ImportFault(`${path}: this is neither a file nor a folder.`);
  if (depth === DEPTH_MAX) throw new ImportFault(`${path}: folders lie too deep within folders.`);
  const names = await readdir(real).catch(faulty(path));
  for (const name of names.filter((one) => !one.startsWith('.'))) {
    await collectFiles(join(real, name), depth + 1, found);
  }
}

function faulty(path: string): (fault: unknown) => never {
  return (fault) => {
    const code = fault instanceof Error && 'code' in fault ? String(fault.code) : 'unreadable';
    const words = code === 'ENOENT' ? 'there is no such file' : code;
    throw new ImportFault(`${path}: ${words}.`);
  };
}

/** Looks into a file. */
export async function inputFile(path: string): Promise<InputFile> {
  const fingerprint = await fingerprintOf(path);
  const first = await headOf(path, false);
  const gzip = first[0] === 0x1f && first[1] === 0x8b;
  const head = gzip ? await headOf(path, true) : first;
  const { size } = await stat(path).catch(faulty(path));
  const format = formatOf(head, basename(path));
  return { path, name: basename(path), bytes: size, fingerprint, format, gzip, head };
}

/** The fingerprint of the file that is there now. */
export async function fingerprintOf(path: string): Promise<string> {
  const file = await open(path).catch(faulty(path));
  try {
    const { size, mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FINGERPRINT_BYTES), 0);
    const hash = createHash('sha256').update(JSON.stringify([path, size, mtimeMs]));
    return hash.update(buffer.subarray(0, bytesRead)).digest('hex');
  } finally {
    await file.close();
  }
}

async function headOf(path: string, gzip: boolean): Promise<Buffer> {
  const file = createReadStream(path, gzip ? {} : { end: HEAD_BYTES - 1 });
  const unpacked = gzip ? file.pipe(createGunzip()) : file;
  if (gzip) file.on('error', (fault) => unpacked.destroy(fault));
  const pieces: Buffer[] = [];
  let held = 0;
  try {
    for await (const piece of unpacked) {
      if (!Buffer.isBuffer(piece)) continue;
      pieces.push(piece);
      held += piece.length;
      if (held >= HEAD_BYTES) break;
    }
  } catch (fault) {
    return faulty(path)(fault);
  } finally {
    file.destroy();
  }
  return Buffer.concat(pieces).subarray(0, HEAD_BYTES);
}

function formatOf(head: Buffer, name: string): InputFile['format'] {
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return 'Parquet';
  if (head.includes(0))
    throw new ImportFault(`${name}: no Parquet, CSV or JSON lines, gzip or not.`);
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text === '') return 'empty';
  return text.startsWith('{') || text.startsWith('[') ? 'JSONEachRow' : 'CSVWithNames';
}

/** The columns of a CSV or JSON file, from its first lines. */
export function textColumns({ name, format, head }: InputFile): readonly string[] {
  const lines = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  if (format === 'CSVWithNames') {
    const heading = lines.find((line) => line !== '');
    const cells = heading === undefined ? [] : heading.split(',');
    return cells.map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
  }
  // The last line may be cut, unless it is the only one.
  const whole = head.length < HEAD_BYTES || lines.length === 1 ? lines : lines.slice(0, -1);
  const keys = new Set(whole.flatMap((line) => keysOf(line, name)));
  return [...keys];
}

function keysOf(line: string, name: string): readonly string[] {
  const text = line
    .trim()
    .replace(/^\[/, '')
    .replace(/[\],]$/, '')
    .trim();
  if (text === '') return [];
  try {
    const row: unknown = JSON.parse(text);
    if (typeof row === 'object' && row !== null) return Object.keys(row);
  } catch {
    throw new ImportFault(`${name}: not one JSON object on each line.`);
  }
  throw new ImportFault(`${name}: not one JSON object on each line.`);
}
