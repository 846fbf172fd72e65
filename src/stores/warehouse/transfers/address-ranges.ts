// Which ranges are held of single addresses, as the fewest that say the same?
// Who reads an address on and on leaves a range each time: readers get them joined by the
// statement, and now and then those of the past are replaced by the one that they come to.

import { z } from 'zod';
import { DAY_S } from '../../../chain/time.ts';
import type { AddressRange } from '../../../ports/indexing/transfer-store.ts';
import type { Warehouse } from '../engine/executor.ts';
import { insertRows, WRITE } from './append.ts';
import { addressHex } from './bytes.ts';
import { observed } from './fact-rows.ts';
import { deleteRows } from './forget-rows.ts';

const OF_ONE_LINE = 'PARTITION BY chain, addr, kind, observed ORDER BY first, last ROWS';

/** Adjoining and overlapping ranges of one address, chain, kind and origin as one row. */
export const addressRuns = (where: string): string => `
SELECT chain, addr, kind, observed, min(first) AS from_block, max(last) AS to_block,
  argMax(time, (last, bitNot(first))) AS to_time, max(is_first) AS from_first, max(read) AS read_at,
  count() AS ranges
FROM (
  SELECT *, sum(begins) OVER (${OF_ONE_LINE} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS run
  FROM (
    SELECT *, first > 1 + max(last) OVER (
      ${OF_ONE_LINE} BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
    FROM (
      SELECT chain, addr, kind, observed, a.from_block AS first, a.to_block AS last,
        max(a.to_time) AS time, max(a.from_first) AS is_first, max(a.read_at) AS read
      FROM address_coverage AS a WHERE ${where}
      GROUP BY chain, addr, kind, observed, first, last)))
GROUP BY chain, addr, kind, observed, run`;

/** So many ranges of one address, chain and kind are worth joining. */
const JOINED_FROM = 16;

/**
 * Replaces ranges that ended over a day ago by those that reach from the first block past them. A
 * row that is deleted is within one that stays: whatever is cut off loses nothing.
 */
export async function joinAddressRanges(warehouse: Warehouse, now: number): Promise<void> {
  const fresh = `to_time >= ${Math.floor(now) - DAY_S}`;
  const whole = `from_block = 0 AND from_first = 1 AND ${fresh}`;
  await warehouse.command(
    `INSERT INTO address_coverage (chain, addr, kind, from_block, to_block, source, observed,
       to_time, from_first, read_at)
     SELECT chain, addr, kind, from_block, to_block, 'joined', observed, to_time, from_first,
       read_at
     FROM (${addressRuns('true')}) WHERE ranges >= ${JOINED_FROM} AND ${whole}`,
    WRITE,
  );
  const ended = `NOT (${fresh})`;
  const lines = `SELECT toString(chain), lower(hex(addr)), toString(kind), observed
    FROM address_coverage GROUP BY chain, addr, kind, observed
    HAVING countIf(source = 'joined' AND ${whole}) > 0 AND countIf(${ended}) > 0
    LIMIT ${NAMED_MAX}`;
  for (;;) {
    const found = await warehouse.query(lines, { ...WRITE, row: lineRow, tuples: true });
    const named = found.map(([chain, addr, kind, isObserved]) => {
      return `('${chain}', unhex('${addr}'), '${kind}', ${isObserved})`;
    });
    if (named.length === 0) return;
    const line = '(toString(chain), addr, toString(kind), observed)';
    await deleteRows(
      warehouse,
      'address_coverage',
      `${ended} AND ${line} IN (${named.join(', ')})`,
    );
    if (named.length < NAMED_MAX) return;
  }
}

/** Addresses, chains and kinds that one statement names. */
const NAMED_MAX = 2_000;
const lineRow = z.tuple([z.string(), z.string(), z.string(), z.number()]);

/** After so many ranges those of the past are joined. */
const JOINED_AFTER = 5_000;

/** Records ranges of single addresses. `now` is Unix seconds. */
export function addressRanges(
  warehouse: Warehouse,
  now: () => number,
): (ranges: readonly AddressRange[]) => Promise<true> {
  let unjoined = 0;
  return async (ranges) => {
    await recordAddressRanges(warehouse, ranges);
    unjoined += ranges.length;
    if (unjoined >= JOINED_AFTER) {
      unjoined = 0;
      await joinAddressRanges(warehouse, now());
    }
    return true;
  };
}

/** Records the ranges that are whole; one whose source's window ended early is none. */
async function recordAddressRanges(
  warehouse: Warehouse,
  ranges: readonly AddressRange[],
): Promise<void> {
  const columns = [
    ...['chain', 'addr_hex', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'],
    ...['from_first', 'read_at'],
  ];
  const whole = ranges.filter(({ truncated }) => !truncated);
  const rows = whole.map((range) => [
    ...[range.chain, addressHex(range.address), range.kind, range.from_block, range.to_block],
    ...[range.source, observed(range.origin), Math.floor(range.to_time)],
    ...[range.from_first ? 1 : 0, Math.floor(range.read_at)],
  ]);
  await insertRows(warehouse, 'address_coverage', { columns, rows });
}
