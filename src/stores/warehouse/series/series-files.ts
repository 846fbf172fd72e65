// Reads the cells of a file of market series, as Parquet, CSV or JSON lines, packed or not, in the
// order of its rows. An engine of this machine reads all three; it tells no more than the cells.

import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Reading, read, type Unread, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { SeriesFile, SeriesFiles } from '../../../ports/series.ts';
import type { TableFilePort } from '../../../ports/tables.ts';
import { type InputFile, inputFile, textColumns } from '../../../sources/files/input-file.ts';
import { ImportFault } from '../../../sources/files/text-lines.ts';
import { READ_SETTINGS } from '../bulk-import/rows-sql.ts';
import { ENGINE_LIMITS, openEmbedded } from '../engine/embedded.ts';
import {
  type FileSource,
  type LocalFiles,
  type Warehouse,
  WarehouseQueryError,
  WarehouseRefusal,
  WarehouseUnavailable,
} from '../engine/executor.ts';

const PORT: TableFilePort = 'table_file';
const CALL = { timeoutMs: 120_000 };
/** Rows of one file: hourly rows of over thirty years. */
const ROWS_MAX = 300_000;
/** The least that an engine of its own needs. */
const OWN = { ...ENGINE_LIMITS, threadsMax: 1 };
/** A column that can be named in a statement as it stands. */
const PLAIN_NAME = /^\w{1,64}$/;

const columnRow = z.object({ name: z.string(), type: z.string() });

/** Reads files by the warehouse where it runs here, else by an engine that is started for it. */
export function seriesFiles(warehouse: Warehouse | (Warehouse & LocalFiles)): SeriesFiles {
  return {
    read: async (path, wanted, signal) => {
      const folder = await mkdtemp(join(tmpdir(), 'exhibit-series-'));
      const own = 'queryFile' in warehouse ? null : await openEmbedded(join(folder, 'engine'), OWN);
      try {
        const local = 'queryFile' in warehouse ? warehouse : own;
        if (local === null) throw new TypeError('an engine of this machine that was not started');
        return await readFile(local, folder, await inputFile(path), wanted, signal);
      } catch (fault) {
        return silent(fault);
      } finally {
        await own?.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** A fault of the file or of the engine in words; anything else is a bug and is thrown. */
function silent(error: unknown): Unread<TableFilePort> {
  const isFault =
    error instanceof ImportFault ||
    error instanceof WarehouseUnavailable ||
    error instanceof WarehouseRefusal;
  if (isFault) return unreadable(error.message.replace(/\.$/, ''));
  if (!(error instanceof WarehouseQueryError)) throw error;
  // The engine's own words may quote the file.
  const at = /\(at row (\d+)\)/.exec(error.detail);
  const where = at === null ? '' : ` at row ${at[1]}`;
  return unreadable(`it is not what it seems${where} (${error.reason})`);
}

function unreadable(fault: string): Unread<TableFilePort> {
  return unread(PORT, why('file_unreadable', { fault }));
}

async function readFile(
  local: LocalFiles,
  folder: string,
  file: InputFile,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Reading<SeriesFile, TableFilePort>> {
  if (file.format === 'empty') return unreadable(`${file.name} is empty`);
  // The engine reads patterns in paths, and one of ours holds none.
  const path = join(folder, 'file');
  await symlink(file.path, path);
  const source: FileSource = { path, format: file.format, gzip: file.gzip, columns: [] };
  const columns = await columnsOf(local, source, file, signal);
  const found = columns.filter(({ name }) => wanted.includes(name.toLowerCase()));
  const twice = found.find(({ name }, at) => {
    return found.findIndex((one) => one.name.toLowerCase() === name.toLowerCase()) !== at;
  });
  if (twice !== undefined) return unreadable(`${file.name} has two columns ${twice.name}`);
  if (found.length === 0) return unreadable(`${file.name} has no column of a series`);
  const asText = file.format !== 'Parquet';
  const typed = asText ? found.map(({ name }) => [name, 'String'] as const) : [];
  const cells = found.map(({ name, type }) => cellOf(name, asText ? 'String' : type));
  const rows = await local.queryFile(
    { ...source, columns: typed },
    (table) => `SELECT ${cells.join(', ')} FROM ${table} LIMIT ${ROWS_MAX + 1}`,
    { ...CALL, signal, row: z.array(z.string()), tuples: true, settings: READ_SETTINGS },
  );
  if (rows.length > ROWS_MAX) return unreadable(`${file.name} has over ${ROWS_MAX} rows; split it`);
  const value = { name: file.name, columns: found.map(({ name }) => name.toLowerCase()), rows };
  const origin = { name: 'import file', url: 'urn:exhibit:import-file', as_of: 0 } as const;
  return read(value, { port: PORT, source: { ...origin, kind: 'table', simulated: false } });
}

async function columnsOf(
  local: LocalFiles,
  source: FileSource,
  file: InputFile,
  signal: AbortSignal,
): Promise<readonly { readonly name: string; readonly type: string }[]> {
  if (file.format !== 'Parquet') {
    return textColumns(file)
      .filter((name) => PLAIN_NAME.test(name))
      .map((name) => ({ name, type: 'String' }));
  }
  const describe = (table: string) => `DESCRIBE TABLE ${table}`;
  const told = await local.queryFile(source, describe, { ...CALL, signal, row: columnRow });
  return told.filter(({ name }) => PLAIN_NAME.test(name));
}

/** A cell as text. A time that says that it is of UTC is written with its offset. */
function cellOf(name: string, type: string): string {
  if (!/\bDateTime/.test(type)) return `ifNull(toString(\`${name}\`), '')`;
  const zone = /\bDateTime(64)?\((\d+, ?)?'/.test(type) ? "'Z'" : "''";
  const text = `concat(toString(toTimeZone(\`${name}\`, 'UTC')), ${zone})`;
  return `ifNull(${text}, '')`;
}
