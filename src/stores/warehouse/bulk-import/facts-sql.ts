// What do the rows of some blocks come to: which are transfers, which are none, which are refused?
// Set-based: a transaction's rows are looked at together by windows over them. Only what succeeded
// moves anything; what a file cannot tell is said to be unknown, or refused.

import type { EvmChainName } from '../../../chain/chain.ts';
import { FINALITY } from '../transfers/fact-rows.ts';
import { FAILED_CREATE } from './rows-sql.ts';

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
export function ofWindow({ import_id, from_block, to_block }: Window): string {
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

/** What is known of a transaction from its own row and from its outermost trace. */
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
  const unquoted = (name: string) => `replaceAll(${whole(name)}, '"', '')`;
  const address = "unhex(substring(lower(JSONExtractString(item, 'address')), 3))";
  return `INSERT INTO import_facts (import_id, block, dataset, file, line, block_time, block_hash,
  of_fork, kind, place, from_address, to_address, amount, position, success)
SELECT import_id, block, 'withdrawals', file, line, block_time, block_hash, of_fork, 'internal',
  concat(block_hash, ${unquoted('index')}), unhex('${'0'.repeat(40)}'), ${address},
  toUInt256(${unquoted('amount')}) * ${WEI_PER_GWEI}, ${unquoted('index')}, 2
FROM import_facts ARRAY JOIN JSONExtractArrayRaw(withdrawals) AS item
WHERE ${ofWindow(window)} AND dataset = 'blocks' AND ${TELLS_WITHDRAWALS}`;
}

/** The statements that write the facts of a window, signers before the transfers they are of. */
export function writingStatements(window: Window): readonly string[] {
  const { chain, observed, datasets } = window;
  const from = `FROM import_facts WHERE ${ofWindow(window)}`;
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
