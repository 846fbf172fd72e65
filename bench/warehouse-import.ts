// The files are made here, in the layouts of the tools that export; what was imported is compared
// by counts and a hash with what the same rows doubled and shuffled came to.
// Arguments: --transfers N, --traces N, --only NAMES (etl-parquet, etl-csv, bigquery-parquet,
// cryo-parquet, traces-parquet, traces-csv, traces-cryo), --dir PATH, --without-equality.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { bulkImporter } from '../src/stores/warehouse/bulk-import/bulk-import.ts';
import { type EmbeddedWarehouse, openEmbedded } from '../src/stores/warehouse/engine/embedded.ts';
import { migrateWarehouse } from '../src/stores/warehouse/engine/migrate.ts';
import { transferStore } from '../src/stores/warehouse/transfers/store.ts';
import { peakMib, treeCpuMs } from './children.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/warehouse', import.meta.url));
const CALL = { timeoutMs: 3_600_000 };
const { values: options } = parseArgs({
  options: {
    transfers: { type: 'string', default: '10000000' },
    traces: { type: 'string', default: '2000000' },
    only: { type: 'string' },
    dir: { type: 'string' },
    'without-equality': { type: 'boolean', default: false },
  },
});
const folder = options.dir ?? mkdtempSync(join(tmpdir(), 'exhibit-bench-import-'));
const now = () => Math.floor(Date.now() / 1_000);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Rows of one block, and the blocks' times. */
const BLOCK_ROWS = 200;
const BLOCK_S = 12;
const FIRST_S = 1_600_000_000;
const ADDRESSES = 2_000_000;
const HUGE = '18446744073709551616.';
const hex = (bytes: string) => `concat('0x', lower(hex(${bytes})))`;
const party = (salt: number) =>
  `SHA1(toString(toUInt64(${ADDRESSES} * pow(sipHash64(number, ${salt}) / ${HUGE}, 3))))`;
const BLOCK = `intDiv(number, ${BLOCK_ROWS})`;
const TX = `SHA256(concat('t', toString(intDiv(number, 3))))`;
const TIME = `toUInt32(${FIRST_S}) + ${BLOCK} * ${BLOCK_S}`;
const TOKEN = `SHA1(concat('k', toString(sipHash64(number, 3) % 1000)))`;
const AMOUNT = `toUInt256(sipHash64(number, 4)) * (1 + sipHash64(number, 5) % 1000)`;
const AT = `number % ${BLOCK_ROWS}`;
const WRITTEN = `formatDateTime(toDateTime(${TIME}, 'UTC'), '%Y-%m-%d %H:%i:%S UTC', 'UTC')`;

// Traces: a transaction's outermost call, then two calls within it, of which some failed.
const PATH = `multiIf(number % 3 = 0, '', number % 3 = 1, '0', '1')`;
const FAILED = '(number % 3 = 2 AND sipHash64(number, 6) % 20 = 0)';

type Layout = {
  readonly name: string;
  readonly of: 'transfers' | 'traces';
  readonly format: 'Parquet' | 'CSVWithNames';
  readonly files: number;
  readonly columns: string;
};

const ETL_COLUMNS = `${hex(TOKEN)} AS token_address, ${hex(party(1))} AS from_address,
  ${hex(party(2))} AS to_address, toString(${AMOUNT}) AS value, ${hex(TX)} AS transaction_hash,
  toInt64(${AT}) AS log_index, toInt64(${BLOCK}) AS block_number`;
const TRACE_COLUMNS = `toInt64(${BLOCK}) AS block_number, ${hex(TX)} AS transaction_hash,
  ${hex(party(1))} AS from_address, ${hex(party(2))} AS to_address, toString(${AMOUNT}) AS value,
  'call' AS trace_type, 'call' AS call_type, toInt64(if(number % 3 = 0, 2, 0)) AS subtraces,
  ${PATH} AS trace_address, if(${FAILED}, 'Reverted', '') AS error,
  toInt64(NOT ${FAILED}) AS status, ${WRITTEN} AS block_timestamp`;

const LAYOUTS: readonly Layout[] = [
  {
    name: 'etl-parquet',
    of: 'transfers',
    format: 'Parquet',
    files: 5,
    columns: `${ETL_COLUMNS}, ${WRITTEN} AS block_timestamp`,
  },
  {
    name: 'etl-csv',
    of: 'transfers',
    format: 'CSVWithNames',
    files: 5,
    columns: `${ETL_COLUMNS}, ${WRITTEN} AS block_timestamp`,
  },
  {
    name: 'bigquery-parquet',
    of: 'transfers',
    format: 'Parquet',
    files: 5,
    columns: `${ETL_COLUMNS}, toDateTime64(${TIME}, 6, 'UTC') AS block_timestamp,
      ${hex(`SHA256(concat('b', toString(${BLOCK})))`)} AS block_hash`,
  },
  {
    name: 'cryo-parquet',
    of: 'transfers',
    format: 'Parquet',
    files: 5,
    columns: `toUInt32(${BLOCK}) AS block_number, toUInt32(${AT}) AS log_index,
      concat(${TX}, '') AS transaction_hash, concat(${TOKEN}, '') AS erc20,
      concat(${party(1)}, '') AS from_address, concat(${party(2)}, '') AS to_address,
      reverse(reinterpretAsFixedString(${AMOUNT})) AS value_binary, toString(${AMOUNT})
      AS value_string, toUInt64(1) AS chain_id, ${TIME} AS timestamp`,
  },
  { name: 'traces-parquet', of: 'traces', format: 'Parquet', files: 4, columns: TRACE_COLUMNS },
  { name: 'traces-csv', of: 'traces', format: 'CSVWithNames', files: 4, columns: TRACE_COLUMNS },
  {
    name: 'traces-cryo',
    of: 'traces',
    format: 'Parquet',
    files: 4,
    columns: `toUInt32(${BLOCK}) AS block_number, concat(${TX}, '') AS transaction_hash,
      'call' AS action_type, 'call' AS action_call_type, concat(${party(1)}, '') AS action_from,
      concat(${party(2)}, '') AS action_to, toString(${AMOUNT}) AS action_value,
      '' AS result_address, ${PATH} AS trace_address, toUInt32(if(number % 3 = 0, 2, 0))
      AS subtraces, if(${FAILED}, 'Reverted', '') AS error, toUInt64(1) AS chain_id,
      ${TIME} AS timestamp`,
  },
];

/** Rows that make a file larger than one statement's memory are written in their order. */
async function makeFiles(
  maker: EmbeddedWarehouse,
  layout: Layout,
  rows: number,
  into: string,
  shuffled: boolean,
): Promise<void> {
  mkdirSync(into, { recursive: true });
  const { files, format, columns } = layout;
  const ending = format === 'Parquet' ? 'parquet' : 'csv';
  const each = Math.ceil(rows / files);
  for (let file = 0; file < files; file += 1) {
    const of = Math.min(each, rows - file * each);
    // Where shuffled, a file holds rows from everywhere.
    const numbers = shuffled
      ? `(SELECT number * ${files} + ${file} AS number FROM numbers(${each})
          WHERE number < ${rows} ORDER BY sipHash64(number, 7))`
      : `numbers(${file * each}, ${of})`;
    await maker.command(
      `INSERT INTO FUNCTION file('${join(into, `part-${file}.${ending}`)}', '${format}')
       SELECT ${columns} FROM ${numbers}
       SETTINGS output_format_parquet_string_as_string = 0, max_threads = 1`,
      CALL,
    );
  }
}

const tableRow = z.tuple([z.coerce.number(), z.string()]);

/** Rows of the tables of facts and a hash of what they hold. */
async function holds(warehouse: EmbeddedWarehouse): Promise<string> {
  const told: string[] = [];
  for (const table of ['transfers', 'sides', 'transactions']) {
    const sql = `SELECT count(), toString(sum(cityHash64(*))) FROM ${table} FINAL`;
    const [row] = await warehouse.query(sql, { ...CALL, row: tableRow, tuples: true });
    told.push(`${table} ${row?.join(' ')}`);
  }
  return told.join(', ');
}

/** The same warehouse, timing the statements by their first words. */
function watched(warehouse: EmbeddedWarehouse, spent: Map<string, number>): EmbeddedWarehouse {
  const timed = async <T>(sql: string, work: () => Promise<T>): Promise<T> => {
    const begun = performance.now();
    const result = await work();
    const name = sql.split(/[\s(]+/, 3).join(' ');
    const before = spent.get(name);
    spent.set(name, performance.now() - begun + (before === undefined ? 0 : before));
    return result;
  };
  return {
    ...warehouse,
    command: (sql, call) => timed(sql, () => warehouse.command(sql, call)),
    commandFile: (file, sql, call) => {
      return timed(sql(''), () => warehouse.commandFile(file, sql, call));
    },
  };
}

/** Imports files into an empty store, says how fast, and answers what is held then. */
async function timeImport(name: string, files: readonly string[], rows: number): Promise<string> {
  const directory = join(folder, 'store');
  rmSync(directory, { recursive: true, force: true });
  const warehouse = await openEmbedded(directory);
  await migrateWarehouse(warehouse, MIGRATIONS, { simulated: false });
  const spent = new Map<string, number>();
  const store = transferStore(warehouse, now);
  const importer = bulkImporter(
    { warehouse: watched(warehouse, spent), store, now },
    join(folder, 'imports'),
  );
  const order = { paths: files, chain: 'ethereum', origin: 'observed' } as const;
  const watch = {
    onNote: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  };
  const [begun, cpu] = [performance.now(), treeCpuMs(process.pid)];
  const ended = await importer({ ...order, declared: null, failed_excluded: false }, watch);
  const seconds = (performance.now() - begun) / 1_000;
  const processors = (treeCpuMs(process.pid) - cpu) / 1_000;
  if (ended.outcome !== 'completed') throw new Error(JSON.stringify(ended));
  const [a, b] = [rows / seconds, rows / processors].map((one) => Math.round(one));
  const [load] = loadavg();
  const mib = peakMib([process.pid, warehouse.pid()]).toFixed(0);
  say(`  ${name}: ${rows} rows in ${seconds.toFixed(1)} s, ${a} a second; ${processors.toFixed(1)}
    s of processors, ${b} rows for each; ${mib} MiB in all processes,
    ${ended.record.rows_refused} refused; load ${load?.toFixed(1)}`);
  const most = [...spent].sort(([, x], [, y]) => y - x).slice(0, 6);
  say(`    ${most.map(([what, ms]) => `${what} ${(ms / 1_000).toFixed(1)} s`).join(', ')}`);
  const held = await holds(warehouse);
  await warehouse.close();
  rmSync(directory, { recursive: true, force: true });
  return held;
}

async function main(): Promise<void> {
  const names = options.only?.split(',');
  for (const layout of LAYOUTS) {
    if (names?.includes(layout.name) === false) continue;
    const rows = Number(options[layout.of]);
    const plain = join(folder, 'plain');
    const shuffled = join(folder, 'shuffled');
    const maker = await openEmbedded(join(folder, 'maker'));
    await makeFiles(maker, layout, rows, plain, false);
    if (!options['without-equality']) await makeFiles(maker, layout, rows, shuffled, true);
    await maker.close();
    const held = await timeImport(layout.name, [plain], rows);
    say(`    holds ${held}`);
    if (!options['without-equality']) {
      const both = await timeImport(
        `${layout.name} doubled, shuffled`,
        [plain, shuffled],
        2 * rows,
      );
      say(
        `    doubled and shuffled it comes to the same: ${both === held ? 'yes' : `no, ${both}`}`,
      );
    }
    for (const each of [plain, shuffled]) rmSync(each, { recursive: true, force: true });
  }
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
