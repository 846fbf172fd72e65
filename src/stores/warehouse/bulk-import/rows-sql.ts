// Converts a row of any layout into one row of `import_rows`, or names its fault. All of it is SQL,
// so that no loop runs over rows here. Column names come from the layouts; no contents of a file
// are ever part of a statement.

import type { EvmChainName } from '../../../chain/chain.ts';
import { wholeKinds } from '../../../chain/transfer.ts';
import { FINALITY } from '../transfers/append.ts';
import { columnOf, type ExportLayout, FIELDS, type Field } from './layout.ts';

/** A column of a file: its name, and its type where the format has types. */
export type FileColumn = { readonly name: string; readonly type: string | null };

/** The facts of a file that its rows are made from. */
export type FileRows = {
  readonly import_id: string;
  readonly number: number;
  readonly layout: ExportLayout;
  readonly columns: readonly FileColumn[];
  readonly chainId: number;
};

const HEX_FIELDS: ReadonlySet<Field> = new Set([
  ...(['tx', 'from', 'to', 'created', 'token', 'hash', 'parent', 'initiator'] as const),
]);

const BLOCK = "'^[0-9]{1,15}$'";
const ADDRESS = "'^0x[0-9a-f]{40}$'";
const HASH = "'^0x[0-9a-f]{64}$'";
const AMOUNT_MAX = (2n ** 256n - 1n).toString();
/** Cryo's address of a contract whose creation failed. */
export const FAILED_CREATE = `0x${'0'.repeat(64)}`;

/** The statement that reads the rows of a file out of a table that is the file. */
export function rowsStatement(file: FileRows, table: string): string {
  const raw = FIELDS.map((field) => `${rawOf(file, field)} AS r_${field}`).join(',\n    ');
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

/**
 * The settings of reading files. One thread keeps the order of rows, so that each has its number.
 */
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
  const used = new Set(FIELDS.map((field) => columnOf(layout, field, names)));
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
  if (name.endsWith('value_binary')) {
    const bytes = `if(length(${text}) = 32, ${text}, unhex(substring(${text}, 3)))`;
    return `if(length(${bytes}) = 32, toString(reinterpretAsUInt256(reverse(${bytes}))), '')`;
  }
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

// Derives transfers from the rows of some blocks, and separates rows that are none or are refused.
// Set-based: windows group the rows of a transaction. Only successful ones move anything; facts
// that a file lacks are unknown, or refused.

/** Whole blocks of one import, both ends included, and what the operator says of its files. */
export type Window = {
  readonly import_id: string;
  readonly chain: EvmChainName;
  readonly from_block: number;
  readonly to_block: number;
  readonly observed: number;
  readonly failed_excluded: boolean;
  /** The datasets that its files hold: what is not there is not looked for. */
  readonly datasets: ReadonlySet<string>;
};

const MOVING = "('call', 'create', 'suicide')";
const AT = '(file, line)';

/** The good rows of a window. */
export function goodRows({ import_id, from_block, to_block }: Window): string {
  return `import_id = '${import_id}' AND reason = ''
    AND block BETWEEN ${from_block} AND ${to_block}`;
}

/** The facts of a window. */
export function inWindow({ import_id, from_block, to_block }: Window): string {
  return `import_id = '${import_id}' AND block BETWEEN ${from_block} AND ${to_block}`;
}

/** Which blocks are written to, and in which kinds at most: recorded before they are. */
export function blocksStatement(window: Window): string {
  return `INSERT INTO import_blocks (chain, import_id, block, kinds, time)
SELECT '${window.chain}', '${window.import_id}', block, groupBitOr(multiIf(
    dataset = 'token_transfers', 4, dataset = 'transactions', 1, dataset = 'blocks', 2,
    dataset IN ('traces', 'native_transfers'), 3, 0)), max(time)
FROM import_rows WHERE ${goodRows(window)} GROUP BY block`;
}

// The header's own time and hash come first; else what any row tells; else, for the time, a header
// that is held. Of two headers of one number it is not known which of them a row belongs to.
const blocksOf = (window: Window) => `
SELECT block, has_header, if(has_header, header.1, told_hash) AS block_hash,
  multiIf(has_header, header.2, told_time >= 0, told_time, hashes = 1, toInt64(held_time), -1)
    AS block_time,
  block_hash != '' AND held_hash != '' AND block_hash != held_hash AS of_fork
FROM (
  SELECT block, max(time) AS told_time, argMinIf(hash, (tx, file, line), hash != '') AS told_hash,
    countIf(dataset = 'blocks') > 0 AS has_header,
    argMinIf((hash, time), ${AT}, dataset = 'blocks') AS header
  FROM import_rows WHERE ${goodRows(window)} GROUP BY block
) AS told LEFT JOIN (
  SELECT number AS block, max(time) AS held_time, uniqExact(hash) AS hashes,
    argMax(hash, (finality, hash)) AS held_hash
  FROM blocks WHERE chain = '${window.chain}'
    AND number BETWEEN ${window.from_block} AND ${window.to_block}
  GROUP BY number
) AS held USING (block)`;

// Rows of two files that stand at one place are one row; without a place, equal rows of one file
// may both have happened. A block has one header: of its row all these columns are empty.
const distinctRows = (window: Window) => `
SELECT * FROM import_rows WHERE ${goodRows(window)}
ORDER BY block, tx, file, line
LIMIT 1 BY block, dataset, tx, path, trace, from_address, to_address, token, amount,
  if(path != '' OR dataset IN ('blocks', 'traces', 'transactions', 'contracts'), (0, 0), ${AT})`;

/** The facts of a transaction from its own row and from its outermost trace. */
const KNOWN = `
  countIf(dataset = 'transactions') OVER tx_rows > 0 AS has_row,
  argMinIf((status, from_address), ${AT}, dataset = 'transactions') OVER tx_rows AS sent,
  minIf(${AT}, dataset = 'transactions') OVER tx_rows AS sent_at,
  countIf(dataset = 'traces' AND path = '' AND trace IN ${MOVING}) OVER tx_rows > 0 AS has_root,
  argMinIf((status, from_address), ${AT}, dataset = 'traces' AND path = '' AND trace IN ${MOVING})
    OVER tx_rows AS root,
  groupUniqArrayIf(path, dataset = 'traces' AND status = 0) OVER tx_rows AS failed,
  tx != '' AND (has_row OR has_root) AS is_told,
  multiIf(has_row AND sent.1 >= 0, sent.1 + 1, has_root AND root.1 >= 0, root.1 + 1, has_root, 2, 0)
    AS outcome_told,
  multiIf(has_row, sent.2, has_root, root.2, '') AS signer`;

const UNKNOWN = `false AS has_row, (toInt8(-1), '') AS sent, (0, 0) AS sent_at, false AS has_root,
  emptyArrayString() AS failed, false AS is_told, 0 AS outcome_told, '' AS signer`;

// Rows of cryo's native_transfers in order, and rewards, which no transaction holds, in theirs.
const ORDERED = `
  (dataset = 'native_transfers' OR trace = 'reward') AND tx = '' AS is_reward,
  row_number() OVER (PARTITION BY block, tx, dataset ORDER BY toFloat64OrZero(path), file, line)
    AS nth,
  row_number() OVER (PARTITION BY block, is_reward ORDER BY file, line) - 1 AS reward_at,
  min(dataset = 'traces' AND path != '') OVER (PARTITION BY block, is_reward) AS is_numbered`;
const UNORDERED = 'false AS is_reward, 0 AS nth, 0 AS reward_at, 0 AS is_numbered';

// Of a trace that failed all within it failed too, whatever it says of itself.
const FATES = (window: Window) => `
  block_time < 0 AS is_timeless,
  outcome_told = 1 OR arrayExists(of -> of = '' OR path = of OR startsWith(path, concat(of, '_')),
    failed) AS has_failed,
  multiIf(
    dataset = 'blocks', 'none', is_timeless, 'no_time',
    is_reward, if(block_hash = '', 'no_block_hash', 'reward'),
    dataset = 'token_transfers', 'token',
    dataset = 'traces' AND (tx = '' OR trace NOT IN ${MOVING}), 'still',
    dataset = 'traces', if(has_failed, 'failed_trace', 'trace'),
    dataset = 'transactions', if(${AT} != sent_at OR has_root, 'none', 'sent'),
    dataset = 'native_transfers', multiIf(
      to_address = '${FAILED_CREATE}', 'failed', nth = 1 AND is_told, 'told', nth = 1, 'first',
      amount = 0, 'zero', 'call_kind_unknown'),
    dataset = 'contracts', if(tx != '' AND (to_address = '${FAILED_CREATE}' OR outcome_told = 1),
      'failed', 'contract'),
    'none') AS fate,
  fate IN ('trace', 'sent') AND trace = 'create' AND to_address != ''
    AND if(fate = 'sent', outcome_told = 2, true) AS is_made,
  fate = 'contract' AND tx != '' AND (${window.failed_excluded ? 'true' : 'false'}
    OR (from_address = initiator AND outcome_told = 2)) AS is_own`;

// A contract's row repeats what a creation says that came before it, or is one itself. A file
// that names no creator has no transaction either, and may follow any creation of its block.
const MADE = `
  countIf(is_made) OVER made AS makers, minIf(tx, is_made) OVER made AS made_in,
  countIf(is_own) OVER made AS owners, minIf((tx, file, line), is_own) OVER made AS owned_at,
  fate = 'contract' AND if(tx = '', makers + owners > 0, (makers > 0 AND made_in <= tx)
    OR (owners > 0 AND owned_at < (tx, file, line))) AS is_repeated`;

/** The statement that says what each row of a window comes to. */
export function factsStatement(window: Window): string {
  const has = (...names: string[]) => names.some((name) => window.datasets.has(name));
  const known = has('traces', 'transactions') ? KNOWN : UNKNOWN;
  const ordered = has('traces', 'native_transfers') ? ORDERED : UNORDERED;
  const made = has('contracts') ? MADE : 'false AS is_repeated';
  return `INSERT INTO import_facts
SELECT '${window.import_id}', block, tx, dataset, file, line, block_time, block_hash, of_fork,
  has_header AND hash != '' AND hash != block_hash,
  multiIf(fate = 'token', 'token', fate = 'reward', 'internal', fate IN ('sent', 'first'),
    if(to_address = '', '', 'native'), fate = 'trace', if(path = '', 'native', 'internal'),
    fate = 'failed_trace' AND path = '' AND to_address != '', 'native', '') AS moved,
  if(fate = 'reward', concat(block_hash, reward_place), ''), token,
  if(fate = 'reward', unhex('${'0'.repeat(40)}'), from_address), to_address, amount,
  multiIf(fate = 'reward', reward_place, moved IN ('internal', 'token'), path, ''),
  multiIf(fate = 'reward', '', dataset = 'contracts', initiator, signer),
  multiIf(fate IN ('token', 'trace', 'reward'), 2, fate = 'failed_trace', 1,
    fate = 'first' AND ${window.failed_excluded ? 'true' : 'false'}, 2, outcome_told),
  is_told AND NOT is_timeless, outcome_told, is_made OR (is_own AND NOT is_repeated),
  multiIf(fate IN ('no_time', 'no_block_hash', 'call_kind_unknown'), fate,
    fate != 'contract' OR is_repeated OR is_own, '', tx = '', 'no_creator', 'success_unknown'),
  arrayFilter(code -> code != '', [
    multiIf(fate = 'still', concat('trace_', trace), fate IN ('failed', 'failed_trace')
      OR (fate = 'sent' AND outcome_told = 1), 'failed', fate = 'told', 'told_by_transaction',
      fate = 'zero', 'zero_value_call', ''),
    if(fate = 'sent' AND to_address = '', 'created_address_not_told', '')]),
  path, trace, status, subtraces, tx_count, parent_hash, withdrawals
FROM (
  SELECT *, ${made} FROM (
    SELECT *, ${FATES(window)}, if(is_numbered, path, toString(reward_at)) AS reward_place FROM (
      SELECT *, ${known}, ${ordered} FROM (${distinctRows(window)}) AS one
      WINDOW tx_rows AS (PARTITION BY block, tx)
    ) AS rows INNER JOIN (${blocksOf(window)}) AS of_block USING (block)
  ) WINDOW made AS (PARTITION BY block, to_address)
) AS rows`;
}

// Nothing but a list of withdrawals is one: what does not read as that is not told.
const DIGITS = `'^([0-9]{1,16}|"[0-9]{1,20}")$'`;
const SAFE_MAX = Number.MAX_SAFE_INTEGER;
const whole = (name: string) => `JSONExtractRaw(item, '${name}')`;
const isWhole = (name: string) => `match(${whole(name)}, ${DIGITS})
  AND (startsWith(${whole(name)}, '"') OR toUInt64OrZero(${whole(name)}) <= ${SAFE_MAX})`;

/** Whether a header's text is a list of withdrawals; an empty list is one. */
export const TELLS_WITHDRAWALS = `withdrawals != '' AND arrayAll(item -> ${isWhole('index')}
  AND ${isWhole('amount')} AND match(lower(JSONExtractString(item, 'address')),
    '^0x[0-9a-f]{40}$'), JSONExtractArrayRaw(withdrawals))`;

const WEI_PER_GWEI = '1000000000';

/** The coins that the headers of a window say the chain gave to validators. */
export function withdrawalsStatement(window: Window): string {
  const unquote = (name: string) => `replaceAll(${whole(name)}, '"', '')`;
  const address = "unhex(substring(lower(JSONExtractString(item, 'address')), 3))";
  return `INSERT INTO import_facts (import_id, block, dataset, file, line, block_time, block_hash,
  of_fork, kind, place, from_address, to_address, amount, position, success)
SELECT import_id, block, 'withdrawals', file, line, block_time, block_hash, of_fork, 'internal',
  concat(block_hash, ${unquote('index')}), unhex('${'0'.repeat(40)}'), ${address},
  toUInt256(${unquote('amount')}) * ${WEI_PER_GWEI}, ${unquote('index')}, 2
FROM import_facts ARRAY JOIN JSONExtractArrayRaw(withdrawals) AS item
WHERE ${inWindow(window)} AND dataset = 'blocks' AND ${TELLS_WITHDRAWALS}`;
}

/** The statements that write the facts of a window, signers before the transfers they are of. */
export function writingStatements(window: Window): readonly string[] {
  const { chain, observed, datasets } = window;
  const from = `FROM import_facts WHERE ${inWindow(window)}`;
  const standing = `${observed}, ${FINALITY.imported}`;
  const place = 'block, tx, place, kind, token, from_address, to_address, amount';
  // Equal rows at one position are one row; the others are numbered in the order of positions.
  const placed =
    datasets.size === 1 && datasets.has('token_transfers')
      ? ''
      : `ORDER BY block, tx, file, line
    LIMIT 1 BY ${place}, position, if(position = '', ${AT}, (0, 0))`;
  // These rows differ in their key already: to look for equal ones took a third of the writing.
  return [
    ...(datasets.has('blocks')
      ? [
          `INSERT INTO blocks (chain, number, hash, parent_hash, time, finality)
SELECT '${chain}', block, block_hash, parent_hash, block_time, ${FINALITY.imported}
${from} AND dataset = 'blocks' AND of_fork = 0`,
        ]
      : []),
    ...(datasets.has('traces') || datasets.has('transactions')
      ? [
          `INSERT INTO transactions (chain, block, tx_hash, initiator, success)
SELECT '${chain}', block, tx, initiator, outcome ${from} AND signed = 1
  AND dataset != 'contracts'
GROUP BY block, tx, initiator, outcome`,
        ]
      : []),
    `INSERT INTO transfers (chain, block, tx_hash, place, kind, token, from_address, to_address,
  raw_amount, n, block_time, block_hash, position, initiator, success, observed, finality)
SELECT '${chain}', ${place},
  row_number() OVER (PARTITION BY ${place} ORDER BY position, file, line) - 1,
  block_time, block_hash, position, initiator, success, ${standing}
FROM (SELECT * ${from} AND kind != '' AND of_fork = 0 ${placed})
SETTINGS optimize_on_insert = 0`,
    `INSERT INTO creations (chain, block, created, creator, tx_hash, initiator, block_hash,
  block_time, observed, finality)
SELECT '${chain}', block, to_address, from_address, tx, initiator, block_hash, block_time,
  ${standing}
${from} AND creation = 1 AND of_fork = 0`,
    `INSERT INTO import_refused (import_id, file, line, dataset, block, reason, given)
SELECT import_id, file, line, dataset, block, refused, concat('block ', toString(block),
  ', transaction ', if(length(tx) = 32, concat('0x', lower(hex(tx))), tx))
${from} AND refused != ''`,
  ];
}

// Derives the kinds of transfer that the rows of some blocks prove complete. A header counts its
// transactions and a trace its calls, so a missing row shows. Nothing counts token logs: nothing
// proves them complete, and nothing is claimed of them here.

/** From when Ethereum's blocks pay no reward, and from when they hold withdrawals: Unix seconds. */
const MERGE_S = 1_663_224_179;
const SHANGHAI_S = 1_681_338_455;

// A header of another fork, or of another chain, counts other transactions than these.
const headers = (window: Window) => `
SELECT block, max(tx_count) AS transactions, max(block_time) AS time, max(${TELLS_WITHDRAWALS})
    AS tells_withdrawals
FROM import_facts WHERE ${inWindow(window)} AND dataset = 'blocks' AND of_fork = 0
  AND tx_count >= 0
  AND block NOT IN (SELECT block FROM import_facts WHERE ${inWindow(window)} AND hash_differs = 1)
GROUP BY block`;

/** Calls whose number of calls within is not the one that they tell. */
const traceCounts = (window: Window) => `
SELECT block, countIf(tx != '' AND path = '') AS roots,
  countIf(tx != '' AND subtraces != children) AS cut, countIf(trace = 'reward') AS rewards
FROM (
  SELECT block, tx, path, trace, subtraces FROM import_facts
  WHERE ${inWindow(window)} AND dataset = 'traces'
) AS calls LEFT JOIN (
  SELECT block, tx, replaceRegexpOne(path, '_?[0-9]+$', '') AS caller,
    toInt32(count()) AS children
  FROM import_facts WHERE ${inWindow(window)} AND dataset = 'traces' AND tx != '' AND path != ''
  GROUP BY block, tx, caller
) AS within ON calls.block = within.block AND calls.tx = within.tx AND calls.path = within.caller
GROUP BY block`;

const senderCounts = (window: Window) => `
SELECT block, count() AS senders, countIf(status < 0 OR to_address = '') AS untold
FROM import_facts WHERE ${inWindow(window)} AND dataset = 'transactions' GROUP BY block`;

const spoilt = (window: Window) => `
SELECT block, groupUniqArray(toString(dataset)) AS datasets FROM import_refused
WHERE ${inWindow(window)} AND block > 0 GROUP BY block`;

/** Ranges of blocks that are proved: native or internal, from, to, and the time of the last. */
export function proofQuery(window: Window, rangesMax: number): string {
  const whole = wholeKinds('trace_files', window.chain, window.from_block, 'rootless');
  const internal = whole.includes('internal');
  return `
SELECT kind, min(block) AS first, max(block), argMax(time, block) FROM (
  SELECT kind, block, time,
    toInt64(block) - row_number() OVER (PARTITION BY kind ORDER BY block) AS island
  FROM (
    SELECT block, time,
      NOT has(datasets, 'traces') AND roots = transactions AND cut = 0 AS is_traced,
      NOT has(datasets, 'transactions') AND senders = transactions AND untold = 0 AS is_sent,
      ${internal ? 'is_traced' : 'false'} AND multiIf(
        time < ${MERGE_S}, block = 0 OR rewards > 0,
        time < ${SHANGHAI_S}, true, tells_withdrawals) AS is_internal,
      arrayJoin(arrayFilter(one -> one != '', [if(is_traced OR is_sent, 'native', ''),
        if(is_internal, 'internal', '')])) AS kind
    FROM (${headers(window)}) AS header
    LEFT JOIN (${traceCounts(window)}) AS traced USING (block)
    LEFT JOIN (${senderCounts(window)}) AS sent USING (block)
    LEFT JOIN (${spoilt(window)}) AS spoilt USING (block)
    WHERE NOT has(datasets, 'blocks')
  )
) GROUP BY kind, island ORDER BY first, kind DESC LIMIT ${rangesMax}`;
}
