// How does a row of any layout become one row of `import_rows`, and what is wrong with it?
// All of it is SQL, so that no number of rows is walked here. Column names come from the layouts;
// nothing that a file holds is ever part of a statement.

import { columnOf, type ExportLayout, type Field } from './layout.ts';

/** A column of a file: its name, and its type where the format has types. */
export type FileColumn = { readonly name: string; readonly type: string | null };

/** What of a file its rows are made of. */
export type FileRows = {
  readonly import_id: string;
  readonly number: number;
  readonly layout: ExportLayout;
  readonly columns: readonly FileColumn[];
  readonly chainId: number;
};

const RAW_FIELDS = [
  ...(['block', 'tx', 'path', 'from', 'to', 'created', 'token', 'amount', 'trace'] as const),
  ...(['call', 'status', 'error', 'subtraces', 'trace_id', 'time', 'hash', 'parent'] as const),
  ...(['initiator', 'chain_id', 'tx_count', 'withdrawals'] as const),
] as const satisfies readonly Field[];

const HEX_FIELDS: ReadonlySet<Field> = new Set([
  ...(['tx', 'from', 'to', 'created', 'token', 'hash', 'parent', 'initiator'] as const),
]);

const BLOCK = "'^[0-9]{1,15}$'";
const ADDRESS = "'^0x[0-9a-f]{40}$'";
const HASH = "'^0x[0-9a-f]{64}$'";
const AMOUNT_MAX = (2n ** 256n - 1n).toString();
/** What cryo writes for the address of a contract whose creation failed. */
export const FAILED_CREATE = `0x${'0'.repeat(64)}`;

/** The statement that reads the rows of a file out of a table that is the file. */
export function rowsStatement(file: FileRows, table: string): string {
  const raw = RAW_FIELDS.map((field) => `${rawOf(file, field)} AS r_${field}`).join(',\n    ');
  const bytes = (text: string, pattern: string) =>
    `if(match(${text}, ${pattern}), unhex(substring(${text}, 3)), ${text})`;
  const hash = (text: string) => `if(match(${text}, ${HASH}), unhex(substring(${text}, 3)), '')`;
  return `INSERT INTO import_rows
SELECT '${file.import_id}', ${file.number}, v_line, '${file.layout.dataset}',
  if(match(r_block, ${BLOCK}), toUInt64OrZero(r_block), 0), ${bytes('r_tx', HASH)}, v_path,
  ${bytes('r_from', ADDRESS)}, ${bytes('v_to', ADDRESS)}, ${bytes('r_token', ADDRESS)},
  if(v_reason = '', toUInt256OrZero(v_amount), 0), v_trace, v_status,
  if(match(r_subtraces, '^[0-9]{1,9}$'), toInt32OrZero(r_subtraces), -1), v_time, ${hash('r_hash')},
  ${hash('r_parent')}, ${bytes('r_initiator', ADDRESS)},
  if(match(r_tx_count, '^[0-9]{1,9}$'), toInt32OrZero(r_tx_count), -1), v_withdrawals, v_reason,
  if(v_reason = '', '', substringUTF8(concat('block ', r_block, ', transaction ', r_tx,
    ', from ', r_from, ', to ', r_to, ', amount ', r_amount), 1, 300))
FROM (SELECT *, ${reasonOf(file)} AS v_reason
FROM (SELECT *, ${valuesOf(file.layout)}
FROM (SELECT
    ${raw},
    rowNumberInAllBlocks() + 1 AS v_line
  FROM ${table})))`;
}

/** The statement that tells which blocks a file holds rows of, out of a table that is the file. */
export function reachStatement(file: FileRows, table: string): string {
  const block = rawOf(file, 'block');
  return `SELECT count() AS n, min(block) AS first, max(block) AS last FROM (
  SELECT toUInt64OrZero(r_block) AS block
  FROM (SELECT ${block} AS r_block FROM ${table}) WHERE match(r_block, ${BLOCK}))`;
}

/** How files are read. One thread keeps the order of rows, so that each has its number. */
export const READ_SETTINGS = {
  max_threads: 1,
  max_insert_threads: 1,
  max_block_size: 16_384,
  min_insert_block_size_rows: 262_144,
  min_insert_block_size_bytes: 134_217_728,
  input_format_parallel_parsing: 0,
  input_format_parquet_preserve_order: 1,
  input_format_parquet_max_block_size: 16_384,
  // Else whole row groups are read ahead, which some exporters make of a million rows.
  input_format_parquet_enable_row_group_prefetch: 0,
  input_format_parquet_memory_high_watermark: 67_108_864,
  input_format_skip_unknown_fields: 1,
  input_format_null_as_default: 1,
  input_format_with_names_use_header: 1,
  input_format_csv_allow_variable_number_of_columns: 1,
  input_format_json_read_numbers_as_strings: 1,
  input_format_json_read_bools_as_strings: 1,
  input_format_json_read_arrays_as_strings: 1,
  input_format_json_read_objects_as_strings: 1,
} as const;

/** The columns of a file that are read, each with the type to read it as. */
export function structureOf(
  layout: ExportLayout,
  columns: readonly FileColumn[],
): readonly (readonly [name: string, type: string])[] {
  const names = columns.map(({ name }) => name);
  const used = new Set(RAW_FIELDS.map((field) => columnOf(layout, field, names)));
  return columns
    .filter(({ name }) => used.has(name))
    .map(({ name, type }) => [name, type === null ? 'Nullable(String)' : type]);
}

function rawOf({ layout, columns }: FileRows, field: Field): string {
  const name = columnOf(
    layout,
    field,
    columns.map((column) => column.name),
  );
  if (name === null) return "''";
  const type = columns.find((column) => column.name === name)?.type;
  const text = textOf(`\`${name}\``, type === undefined ? null : type);
  if (name.endsWith('value_binary')) return wordOf(text);
  if (!HEX_FIELDS.has(field)) return `trimBoth(${text})`;
  // Binary columns are told by their length: as text they would have 42 or 66 characters.
  const hex = `if(length(${text}) IN (20, 32), concat('0x', hex(${text})), ${text})`;
  return `lower(${type === null ? `trimBoth(${text})` : hex})`;
}

function textOf(column: string, type: string | null): string {
  if (type === null) return `ifNull(${column}, '')`;
  if (type.startsWith('Array(Tuple')) return `toJSONString(${column})`;
  if (type.startsWith('Array(')) {
    return `arrayStringConcat(arrayMap(v -> toString(v), ${column}), ',')`;
  }
  if (type.includes('DateTime')) return `ifNull(toString(toUnixTimestamp(${column})), '')`;
  return `ifNull(toString(${column}), '')`;
}

/** A 32-byte big-endian number as decimal text, from bytes or from their hex. */
function wordOf(text: string): string {
  const bytes = `if(length(${text}) = 32, ${text}, unhex(substring(${text}, 3)))`;
  return `if(length(${bytes}) = 32, toString(reinterpretAsUInt256(reverse(${bytes}))), '')`;
}

const TIME = `multiIf(match(r_time, '^[0-9]{1,10}$'), toInt64OrZero(r_time),
  match(r_time, concat('^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}',
      '([.][0-9]+)?( ?UTC|Z|[+]00(:?00)?)?$'))
    AND parseDateTimeOrNull(v_second, '%Y-%m-%d %H:%i:%s', 'UTC') IS NOT NULL,
  toInt64(toUnixTimestamp(parseDateTimeOrZero(v_second, '%Y-%m-%d %H:%i:%s', 'UTC'))), -1)`;

const STATUS = `multiIf(r_status IN ('1', 'true', 'True'), 1,
  r_status IN ('0', 'false', 'False'), 0, r_error != '', 0, -1)`;

/** CSV leaves out the brackets of the list. What is no list is not told. */
const WITHDRAWALS = `if(r_withdrawals = '' OR startsWith(r_withdrawals, '['), r_withdrawals,
  concat('[', r_withdrawals, ']')) AS v_list, if(isValidJSON(v_list), v_list, '')`;

function valuesOf({ name, dataset }: ExportLayout): string {
  const path = `replaceAll(replaceRegexpAll(r_path, '[\\\\[\\\\]\\\\s"]', ''), ',', '_')`;
  const isCryo = name === 'cryo';
  const call = isCryo ? "replaceAll(lower(r_call), '_', '')" : 'lower(r_call)';
  const trace =
    dataset === 'traces'
      ? `if(r_trace = 'call' AND r_call != '', ${call}, lower(r_trace))`
      : `if('${dataset}' = 'transactions' AND r_to IN ('', '0x'), 'create', '')`;
  // Cryo names whom a reward goes to where others name who sends.
  const to =
    isCryo && dataset === 'traces'
      ? "multiIf(r_to NOT IN ('', '0x'), r_to, r_trace = 'reward', r_from, r_created)"
      : "if(r_to IN ('', '0x'), r_created, r_to)";
  return `replaceAll(substring(r_time, 1, 19), 'T', ' ') AS v_second, ${TIME} AS v_time,
  ${STATUS} AS v_status, ${trace} AS v_trace,
  if(r_trace = 'reward', extract(r_trace_id, '^reward_[0-9]+_([0-9]+)$'), ${path}) AS v_path,
  ${to} AS v_to,
  ${WITHDRAWALS} AS v_withdrawals,
  if(match(r_amount, '^0+$'), '0', replaceRegexpOne(r_amount, '^0+', '')) AS v_amount`;
}

const BAD_AMOUNT = `(NOT match(v_amount, '^[0-9]{1,78}$')
  OR (length(v_amount) = 78 AND v_amount > '${AMOUNT_MAX}'))`;
const isNot = (field: string, pattern: string) => `NOT match(${field}, ${pattern})`;

/** The conditions under which a row of a dataset is refused, in order, each with its code. */
function conditionsOf(
  dataset: ExportLayout['dataset'],
  isCryo: boolean,
): readonly [string, string][] {
  const noTx: [string, string] = [isNot('r_tx', HASH), 'no_transaction_hash'];
  const amount: [string, string] = [BAD_AMOUNT, 'amount_not_integer'];
  const bad = (condition: string): [string, string] => [condition, 'bad_address'];
  const badFrom = bad(isNot('r_from', ADDRESS));
  const badTo = isNot('v_to', ADDRESS);
  switch (dataset) {
    case 'token_transfers':
      return [noTx, badFrom, bad(`${badTo} OR ${isNot('r_token', ADDRESS)}`), amount];
    case 'traces':
      return [
        [
          "v_trace NOT IN ('call', 'create', 'suicide', 'reward', 'callcode', 'delegatecall', " +
            "'staticcall', 'genesis', 'daofork')",
          'trace_kind_unknown',
        ],
        [`v_trace NOT IN ('reward', 'genesis', 'daofork') AND ${noTx[0]}`, noTx[1]],
        [isNot('v_path', "'^([0-9]+(_[0-9]+)*)?$'"), 'bad_trace_address'],
        bad(`v_trace NOT IN ('reward', 'genesis', 'daofork') AND ${badFrom[0]}`),
        bad(`NOT (v_trace = 'create' AND v_status = 0) AND ${badTo}`),
        amount,
      ];
    case 'transactions':
      return [noTx, badFrom, bad(`v_to != '' AND ${badTo}`), amount];
    case 'native_transfers':
      return [
        [`r_tx != '' AND ${noTx[0]}`, noTx[1]],
        bad(`r_tx != '' AND ${badFrom[0]}`),
        bad(`v_to != '${FAILED_CREATE}' AND ${badTo}`),
        [isNot('v_path', "'^[0-9]+$'"), 'bad_trace_address'],
        amount,
      ];
    case 'contracts':
      if (!isCryo) return [bad(badTo)];
      return [
        noTx,
        bad(`v_to != '${FAILED_CREATE}' AND ${badTo}`),
        bad(`${badFrom[0]} OR ${isNot('r_initiator', ADDRESS)}`),
      ];
    case 'blocks':
      return [
        [isNot('r_hash', HASH), 'no_block_hash'],
        ['v_time < 0', 'no_time'],
      ];
    case 'left_aside':
      return [];
  }
}

function reasonOf({ layout, chainId }: FileRows): string {
  const conditions = conditionsOf(layout.dataset, layout.name === 'cryo');
  const cases = [
    [`r_chain_id NOT IN ('', '${chainId}')`, 'other_chain'] as const,
    [`NOT match(r_block, ${BLOCK})`, 'no_block_number'] as const,
    ...conditions,
  ];
  return `multiIf(${cases.map(([when, code]) => `${when}, '${code}'`).join(', ')}, '')`;
}
