// Which kinds of transfer do the rows of some blocks prove to hold in full?
// A header counts its transactions and a trace its calls, so what is missing shows. Token logs are
// counted nowhere: nothing proves them whole, and nothing is said of them here.

import { wholeKinds } from '../../../chain/transfer.ts';
import { ofWindow, TELLS_WITHDRAWALS, type Window } from './facts-sql.ts';

/** From when Ethereum's blocks pay no reward, and from when they hold withdrawals: Unix seconds. */
const MERGE_S = 1_663_224_179;
const SHANGHAI_S = 1_681_338_455;

// A header of another fork, or of another chain, counts other transactions than these.
const headers = (window: Window) => `
SELECT block, max(tx_count) AS transactions, max(block_time) AS time, max(${TELLS_WITHDRAWALS})
    AS tells_withdrawals
FROM import_facts WHERE ${ofWindow(window)} AND dataset = 'blocks' AND of_fork = 0
  AND tx_count >= 0
  AND block NOT IN (SELECT block FROM import_facts WHERE ${ofWindow(window)} AND hash_differs = 1)
GROUP BY block`;

/** Calls whose number of calls within is not the one that they tell. */
const traced = (window: Window) => `
SELECT block, countIf(tx != '' AND path = '') AS roots,
  countIf(tx != '' AND subtraces != children) AS cut, countIf(trace = 'reward') AS rewards
FROM (
  SELECT block, tx, path, trace, subtraces FROM import_facts
  WHERE ${ofWindow(window)} AND dataset = 'traces'
) AS calls LEFT JOIN (
  SELECT block, tx, replaceRegexpOne(path, '_?[0-9]+$', '') AS caller,
    toInt32(count()) AS children
  FROM import_facts WHERE ${ofWindow(window)} AND dataset = 'traces' AND tx != '' AND path != ''
  GROUP BY block, tx, caller
) AS within ON calls.block = within.block AND calls.tx = within.tx AND calls.path = within.caller
GROUP BY block`;

const sent = (window: Window) => `
SELECT block, count() AS senders, countIf(status < 0 OR to_address = '') AS untold
FROM import_facts WHERE ${ofWindow(window)} AND dataset = 'transactions' GROUP BY block`;

const spoilt = (window: Window) => `
SELECT block, groupUniqArray(toString(dataset)) AS datasets FROM import_refused
WHERE ${ofWindow(window)} AND block > 0 GROUP BY block`;

/** Ranges of blocks that are proved: native or internal, from, to, and the time of the last. */
export function proofQuery(window: Window, rangesMax: number): string {
  const internal = wholeKinds('trace_files', window.chain, window.from_block).includes('internal');
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
    LEFT JOIN (${traced(window)}) AS traced USING (block)
    LEFT JOIN (${sent(window)}) AS sent USING (block)
    LEFT JOIN (${spoilt(window)}) AS spoilt USING (block)
    WHERE NOT has(datasets, 'blocks')
  )
) GROUP BY kind, island ORDER BY first, kind DESC LIMIT ${rangesMax}`;
}
