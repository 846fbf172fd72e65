// Reads the rows of a file on disk once, in order and in bounded memory, and hashes the bytes. It
// validates no row; a file that cannot be read completely is unread, whatever was read of it
// before.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { MS_PER_S } from '../../chain/time.ts';
import { type Origin, type Reading, read, type Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BrokenRow,
  FileLayout,
  OpenedFile,
  RawRow,
  TableFilePort,
  TableFiles,
} from '../../ports/tables.ts';
import { csvDialect, csvRows } from './csv.ts';
import { followTheMoneyRows, isFollowTheMoney } from './follow-the-money.ts';
import { describeFault, FileFault, jsonLineRows } from './text-lines.ts';
import { documentRows } from './yaml.ts';

const PORT = 'table_file';
/** The largest file that is read row by row. */
export const FILE_BYTES_MAX = 1024 * 1024 * 1024;
/** The largest file that is read as one document (YAML, a JSON list): it is held in memory. */
export const WHOLE_BYTES_MAX = 16 * 1024 * 1024;
/** How many rows are handed on at once. */
const BATCH_ROWS = 1_000;

/** The output of a format's reader: the layout, and the rows as they come. */
type FormatRows = AsyncIterable<RawRow | BrokenRow>;

type Format = {
  readonly bytesMax: number;
  readonly read: (
    chunks: AsyncIterable<Uint8Array>,
    path: string,
  ) => Promise<{
    readonly layout: FileLayout;
    readonly rows: FormatRows;
  }>;
};

const WHOLE: Format = { bytesMax: WHOLE_BYTES_MAX, read: documentRows };
const CSV: Format = {
  bytesMax: FILE_BYTES_MAX,
  read: async (chunks, path) => asRows(csvRows(chunks, (await csvDialect(path)).delimiter)),
};
const LINES: Format = { bytesMax: FILE_BYTES_MAX, read: async (c) => asRows(jsonLineRows(c)) };

function asRows(rows: FormatRows): { layout: FileLayout; rows: FormatRows } {
  return { layout: 'rows', rows };
}

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['.yaml', WHOLE],
  ['.yml', WHOLE],
  ['.json', WHOLE],
  ['.jsonl', LINES],
  ['.ndjson', LINES],
  ['.csv', CSV],
]);

/** Files of this machine. */
export function localTableFiles(): TableFiles {
  return { open: openFile };
}

async function openFile(path: string): Promise<Reading<OpenedFile, TableFilePort>> {
  const format = FORMATS.get(extname(path).toLowerCase());
  if (format === undefined) {
    return silent(`its name ends in none of ${[...FORMATS.keys()].join(', ')}`);
  }
  try {
    const { size, mtimeMs } = await stat(path);
    const as_of = Math.floor(mtimeMs / MS_PER_S);
    const source = { ...IMPORT_FILE, as_of, kind: 'table', simulated: false } as const;
    const origin = { port: PORT, source } as const;
    const entities = format !== CSV && isFollowTheMoney(await beginningOf(path));
    const bytesMax = entities ? FILE_BYTES_MAX : format.bytesMax;
    if (size > bytesMax) return silent(`it is over ${bytesMax} bytes; split it`);
    if (entities) return read(readTwice(path, size, origin), origin);
    const watched = watch(path);
    const { layout, rows } = await format.read(watched.chunks, path);
    const file: OpenedFile = {
      layout,
      bytes: size,
      rows: () => batches(rows, origin),
      bytesRead: watched.bytesRead,
      sha256: watched.sha256,
    };
    return read(file, origin);
  } catch (fault) {
    return silent(describeFault(fault));
  }
}

const IMPORT_FILE = { name: 'import file', url: 'urn:exhibit:import-file' } as const;
const BEGINNING_BYTES = 4_096;

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(BEGINNING_BYTES) });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A file whose rows are known when it was read a second time. */
function readTwice(path: string, size: number, origin: Origin<TableFilePort>): OpenedFile {
  const passes: Watched[] = [];
  const rows = followTheMoneyRows(() => {
    const pass = watch(path);
    passes.push(pass);
    return pass.chunks;
  });
  async function* readRows(): AsyncGenerator<RawRow | BrokenRow> {
    yield* rows;
    const [first, second] = passes.map(({ sha256 }) => sha256());
    if (first !== second) throw new FileFault('it changed while it was read');
  }
  return {
    layout: 'rows',
    bytes: 2 * size,
    rows: () => batches(readRows(), origin),
    bytesRead: () => passes.reduce((bytes, pass) => bytes + pass.bytesRead(), 0),
    sha256: () => {
      const [first] = passes;
      if (first === undefined) throw new Error('the file has not been read to its end');
      return first.sha256();
    },
  };
}

function silent(fault: string): Unread<TableFilePort> {
  return unread(PORT, why('file_unreadable', { fault }));
}

type Watched = {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly bytesRead: () => number;
  readonly sha256: () => string;
};

function watch(path: string): Watched {
  const hash = createHash('sha256');
  let bytes = 0;
  let digest: string | null = null;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(path)) {
      if (!(chunk instanceof Uint8Array)) continue;
      bytes += chunk.byteLength;
      if (bytes > FILE_BYTES_MAX) throw new FileFault('it grew while it was read');
      hash.update(chunk);
      yield chunk;
    }
    digest = hash.digest('hex');
  }
  return {
    chunks: chunks(),
    bytesRead: () => bytes,
    sha256: () => {
      if (digest === null) throw new Error('the file has not been read to its end');
      return digest;
    },
  };
}

async function* batches(
  rows: FormatRows,
  origin: Origin<TableFilePort>,
): AsyncGenerator<Reading<readonly (RawRow | BrokenRow)[], TableFilePort>> {
  let batch: (RawRow | BrokenRow)[] = [];
  try {
    for await (const row of rows) {
      batch.push(row);
      if (batch.length < BATCH_ROWS) continue;
      yield read(batch, origin);
      batch = [];
    }
  } catch (fault) {
    yield silent(describeFault(fault));
    return;
  }
  if (batch.length > 0) yield read(batch, origin);
}
