// Removes a wrong import, so that nothing rests on it any more. Coverage goes first, since
// negatives rest on it; then, once no earlier read can still rest on it, the rows. Rows that
// another source vouches for stay.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { TRANSFER_KINDS, type TransferKind } from '../../../chain/transfer.ts';
import { slices, tally } from '../../../evidence/measure.ts';
import {
  type ForgetOrder,
  type Forgetting,
  type Forgotten,
  STAYING_BECAUSE,
  type Staying,
  type Withdrawn,
} from '../../../ports/indexing.ts';
import {
  type Call,
  hasRows,
  queryNumber,
  type Warehouse,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { COVERAGE_COLUMNS, FINALITY, insertRows, textHex, WRITE } from './append.ts';
import { degreeCount, keepCounts, markChanged } from './counts.ts';
import { importLedger, warehouseReadings } from './imports.ts';

/**
 * No read goes on for longer: what is held is kept for a second, and each of the statements after
 * it has fifteen. Rows that a read may still rest on are not touched before.
 */
export const READS_END_MS = 61_000;

/** Ranges that are named in one statement. */
const NAMED_MAX = 1_000;

/**
 * Forgetting in a warehouse. `now` is Unix seconds; `settled` resolves when no read that began
 * before it was called is under way any more, or when the signal is aborted.
 */
export function warehouseForgetting(
  warehouse: Warehouse,
  now: () => number,
  settled: (signal: AbortSignal) => Promise<void>,
): Forgetting {
  const ledger = importLedger(warehouse, now);

  const ask = warehouseReadings('transfer_store', now, false);

  /** Waits until no read rests on what was withdrawn; whoever stops it keeps the rows. */
  async function unread(signal: AbortSignal): Promise<void> {
    await settled(signal);
    if (signal.aborted) throw new WarehouseUnavailable('aborted');
  }

  async function plan(order: ForgetOrder): Promise<Forgotten | null> {
    const target = await forgetTarget(warehouse, order);
    return target === null ? null : planForgetting(warehouse, target);
  }

  async function forget(order: ForgetOrder, signal: AbortSignal): Promise<Forgotten | null> {
    const target = await forgetTarget(warehouse, order);
    if (target === null) return null;
    const planned = await planForgetting(warehouse, target);
    const { chain, import_id, from_block, to_block } = target;
    // One that is under way does not come to its end: what it counts is no longer there.
    for (const standing of await ledger.standing(chain)) {
      const isThis = standing.import_id === import_id;
      if (isThis) await ledger.change(standing.import_id, 'forgetting');
      else if (import_id === null && standing.state === 'begun') {
        await ledger.change(standing.import_id, 'forgotten');
      }
    }
    await withdraw(warehouse, target);
    await unread(signal);
    // A writer that was about to record coverage has done so by now.
    await withdraw(warehouse, target);
    // Marked before and after, so that no count of what was there is taken for fresh.
    await markChanged(warehouse, chain, from_block, to_block);
    for await (const going of goingIn(warehouse, target, new Map())) {
      await deleteFacts(warehouse, chain, going);
    }
    await markChanged(warehouse, chain, from_block, to_block);
    // A live read may have written before its rows went, and recorded its range after.
    await unread(signal);
    await deleteRows(warehouse, 'address_coverage', touching(target));
    await deleteRows(warehouse, 'degrees', `chain = '${chain}'`);
    await degreeCount(warehouse).count();
    await keepCounts(warehouse);
    if (import_id !== null) {
      const own = `import_id = '${import_id}'`;
      await deleteRows(warehouse, 'import_coverage', own);
      await ledger.change(import_id, 'forgotten');
      await deleteRows(warehouse, 'import_blocks', own);
    }
    return planned;
  }

  return {
    plan: (order) => ask(() => plan(order)),
    forget: (order, signal) => ask(() => forget(order, signal)),
  };
}

async function* goingIn(
  warehouse: Warehouse,
  target: Target,
  staying: Map<string, number>,
): AsyncGenerator<readonly Going[]> {
  const vouched = await readVouched(warehouse, target, await goingCoverage(warehouse, target));
  let above = -1;
  // Each turn is at least one run further, so it ends with the last of them.
  for (;;) {
    const runs = await runsOf(warehouse, target, above);
    const last = runs.at(-1);
    if (last === undefined) return;
    above = last.to;
    const found = goingOf(runs, vouched);
    for (const [key, blocks] of found.staying) tally(staying, key, blocks);
    const going = found.going.filter(({ kinds, whole }) => kinds.length > 0 || whole);
    if (going.length > 0) yield going;
  }
}

async function planForgetting(warehouse: Warehouse, target: Target): Promise<Forgotten> {
  const { chain, from_block, to_block } = target;
  const covered = await goingCoverage(warehouse, target);
  const withdrawn = covered.map(([kind, from, to, source]): Withdrawn => {
    const range = { from_block: Math.max(from, from_block), to_block: Math.min(to, to_block) };
    return { kind, ...range, source };
  });
  const ranges = `SELECT count() FROM address_coverage FINAL WHERE ${touching(target)}`;
  const addresses = await queryNumber(warehouse, ranges, WRITE);
  const stays = new Map<string, number>();
  let transfers = 0;
  for await (const going of goingIn(warehouse, target, stays)) {
    const sql = `SELECT count() FROM transfers FINAL WHERE ${goingTransfers(chain, going)}`;
    transfers += await queryNumber(warehouse, sql, WRITE);
  }
  const staying = STAYING_BECAUSE.flatMap((because) =>
    TRANSFER_KINDS.flatMap((kind): Staying[] => {
      const blocks = stays.get(`${because} ${kind}`);
      return blocks === undefined ? [] : [{ because, kind, blocks }];
    }),
  );
  return { ...target, transfers, withdrawn, addresses, staying };
}

/** Coverage beside these blocks is recorded anew before the ranges are removed. */
async function withdraw(warehouse: Warehouse, target: Target): Promise<void> {
  const { chain, import_id, from_block, to_block } = target;
  const rows = await goingCoverage(warehouse, target);
  const rest: (string | number)[][] = [];
  for (const [kind, from, to, source, observed, to_time] of import_id === null ? rows : []) {
    const before = from < from_block ? await lastTime(warehouse, chain, from_block - 1) : null;
    if (before !== null) rest.push([chain, kind, from, from_block - 1, source, observed, before]);
    if (to > to_block) rest.push([chain, kind, to_block + 1, to, source, observed, to_time]);
  }
  await insertRows(warehouse, 'coverage', { columns: COVERAGE_COLUMNS, rows: rest });
  if (import_id === null) await deleteRows(warehouse, 'coverage', touching(target));
  for (const some of import_id === null ? [] : slices(rows, NAMED_MAX)) {
    const named = some.map(([kind, from, to, source, observed]) => {
      return `('${kind}', ${from}, ${to}, unhex('${textHex(source)}'), ${observed})`;
    });
    const columns = '(toString(kind), from_block, to_block, source, observed)';
    const gone = `chain = '${chain}' AND ${columns} IN (${named.join(', ')})`;
    await deleteRows(warehouse, 'coverage', gone);
  }
  await deleteRows(warehouse, 'address_coverage', touching(target));
}

/** The last time that is known of a block up to this one; without one its range is not kept. */
async function lastTime(
  warehouse: Warehouse,
  chain: ChainName,
  block: number,
): Promise<number | null> {
  const headers = `SELECT max(time) FROM (SELECT time FROM blocks
    WHERE chain = '${chain}' AND number <= ${block} ORDER BY number DESC LIMIT 1)`;
  const transfers = headers
    .replace('SELECT time FROM blocks', 'SELECT block_time AS time FROM transfers')
    .replaceAll('number', 'block');
  const sql = `SELECT greatest((${headers}), (${transfers}))`;
  const time = await queryNumber(warehouse, sql, WRITE);
  return time === 0 ? null : time;
}

// Selects the blocks and kinds to forget, and those that another source vouches for: a follower for
// its blocks, other coverage for its ranges, another import for the blocks that it wrote.

/** Blocks of one chain, both ends included, of an import or of whoever brought them. */
export type Target = {
  readonly chain: ChainName;
  readonly import_id: string | null;
  readonly from_block: number;
  readonly to_block: number;
};

/** The bit of each kind in `import_blocks`. */
const BITS: Readonly<Record<TransferKind, number>> = {
  native: 1,
  internal: 2,
  token: 4,
  nft: 8,
};
const ALL_KINDS = 15;
/** Says that another import wrote there, in whichever kinds. */
const ANOTHER = 16;
/** Runs of blocks that are taken out by one statement for each table. */
const RUNS_MAX = 2_000;
const RANGES_MAX = 100_000;

const whole = z.coerce.number();
const followedRow = z.tuple([whole, z.array(z.enum(TRANSFER_KINDS))]);
const coverageRow = z.tuple([
  z.enum(TRANSFER_KINDS),
  ...[whole, whole, z.string(), z.number(), z.number()],
] as const);
const runRow = z.tuple([whole, whole, whole, whole]);
const spanRow = z.tuple([z.enum(CHAIN_NAMES), whole, whole]);

/** A row of coverage: kind, from, to, source, whether observed, and the time of its last block. */
export type CoverageRow = z.infer<typeof coverageRow>;

/** Blocks of a kind for which somebody vouches. */
export type Vouched = {
  readonly because: Exclude<Staying['because'], 'another_import'>;
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
};

/** The blocks of an order; `null` if no such import is listed, or it wrote nothing. */
export async function forgetTarget(
  warehouse: Warehouse,
  order: ForgetOrder,
): Promise<Target | null> {
  if (!('import_id' in order)) return { ...order, import_id: null };
  const sql = `SELECT chain, min(block), max(block) FROM import_blocks
    WHERE import_id = {id:String} GROUP BY chain`;
  const params = { id: order.import_id };
  const [row] = await warehouse.query(sql, { ...WRITE, row: spanRow, tuples: true, params });
  if (row === undefined) return null;
  const [chain, from_block, to_block] = row;
  return { chain, import_id: order.import_id, from_block, to_block };
}

/** The coverage that goes: all of these blocks, or what the import alone recorded. */
export async function goingCoverage(
  warehouse: Warehouse,
  target: Target,
): Promise<readonly CoverageRow[]> {
  const row = '(toString(chain), toString(kind), from_block, to_block, source, observed)';
  const recordedSql = (which: string) =>
    `SELECT chain, kind, from_block, to_block, source, observed FROM import_coverage
     WHERE chain = '${target.chain}' AND ${which}`;
  // Another import that is still there may have recorded the same.
  const which =
    target.import_id === null
      ? ''
      : `AND ${row} IN (${recordedSql(`import_id = '${target.import_id}'`)})
         AND ${row} NOT IN (${recordedSql(standingOthers(target.import_id))})`;
  const sql = `SELECT toString(kind), from_block, to_block, source, observed, max(to_time)
    FROM coverage WHERE ${touching(target)} ${which}
    GROUP BY chain, kind, from_block, to_block, source, observed ORDER BY kind, from_block`;
  const query = { ...WRITE, row: coverageRow, tuples: true, rowsMax: RANGES_MAX };
  return warehouse.query(sql, query);
}

/** The condition for what another import than this recorded that is still there. */
function standingOthers(importId: string): string {
  return `import_id != '${importId}' AND import_id IN (
    SELECT import_id FROM imports FINAL WHERE state IN ('begun', 'completed'))`;
}

/** The condition for ranges of blocks that touch these. */
export function touching({ chain, from_block, to_block }: Target): string {
  return `chain = '${chain}' AND from_block <= ${to_block} AND to_block >= ${from_block}`;
}

/** The blocks that the chain's follower and other coverage vouch for. */
export async function readVouched(
  warehouse: Warehouse,
  target: Target,
  going: readonly CoverageRow[],
): Promise<readonly Vouched[]> {
  const sql = `SELECT from_block, kinds FROM following FINAL WHERE chain = '${target.chain}'`;
  const rows = await warehouse.query(sql, { ...WRITE, row: followedRow, tuples: true });
  // From where it follows on all blocks are its own, those that become final meanwhile too.
  const followed = rows.flatMap(([from_block, kinds]) =>
    kinds.map((kind): Vouched => {
      return { because: 'followed', kind, from_block, to_block: Number.POSITIVE_INFINITY };
    }),
  );
  if (target.import_id === null) return followed;
  const all = await goingCoverage(warehouse, { ...target, import_id: null });
  const gone = new Set(going.map((one) => JSON.stringify(one)));
  const held = all.filter((one) => !gone.has(JSON.stringify(one)));
  return [
    ...followed,
    ...held.map(([kind, from_block, to_block]): Vouched => {
      return { because: 'held_in_full', kind, from_block, to_block };
    }),
  ];
}

/** A run of blocks with the kinds of it that are to go, and of those other imports wrote. */
type Run = { readonly from: number; readonly to: number; kinds: number; readonly others: number };

/** The next runs of blocks of a target above a block. */
export async function runsOf(
  warehouse: Warehouse,
  target: Target,
  above: number,
): Promise<readonly Run[]> {
  const { chain, import_id, from_block, to_block } = target;
  if (import_id === null) {
    const all = { from: from_block, to: to_block, kinds: ALL_KINDS, others: 0 };
    return above < from_block ? [all] : RAN_OUT;
  }
  const blocks = (which: string) => `SELECT block, groupBitOr(kinds) AS kinds FROM import_blocks
    WHERE chain = '${chain}' AND block > ${above} AND ${which} GROUP BY block`;
  const theirs = blocks(standingOthers(import_id));
  const sql = `SELECT min(block) AS first, max(block), kinds, others FROM (
      SELECT block, kinds, others, toInt64(block)
        - row_number() OVER (PARTITION BY kinds, others ORDER BY block) AS run
      FROM (${blocks(`import_id = '${import_id}'`)}) AS mine
      LEFT JOIN (SELECT block, kinds + ${ANOTHER} AS others FROM (${theirs})) AS theirs
      USING (block)
    ) GROUP BY kinds, others, run ORDER BY first LIMIT ${RUNS_MAX}`;
  const rows = await warehouse.query(sql, { ...WRITE, row: runRow, tuples: true });
  return rows.map(([from, to, kinds, others]) => ({ from, to, kinds, others }));
}

const RAN_OUT: readonly Run[] = Object.freeze([]);

/** The runs to remove, and the number of blocks of each kind that stay, by reason. */
export function goingOf(
  runs: readonly Run[],
  vouched: readonly Vouched[],
): { readonly going: readonly Going[]; readonly staying: ReadonlyMap<string, number> } {
  const going: Going[] = [];
  const staying = new Map<string, number>();
  for (const run of runs) {
    const here = vouched.filter((one) => one.from_block <= run.to && one.to_block >= run.from);
    for (const piece of piecesOf(run, here)) {
      const by = here.filter((one) => one.from_block <= piece.from && one.to_block >= piece.to);
      const kinds = TRANSFER_KINDS.filter((kind) => {
        if ((run.kinds & BITS[kind]) === 0) return false;
        const reason =
          (run.others & BITS[kind]) !== 0
            ? 'another_import'
            : by.find((one) => one.kind === kind)?.because;
        if (reason === undefined) return true;
        tally(staying, `${reason} ${kind}`, piece.to - piece.from + 1);
        return false;
      });
      const range = { from_block: piece.from, to_block: piece.to };
      going.push({ ...range, kinds, whole: run.others === 0 && by.length === 0 });
    }
  }
  return { going, staying };
}

function piecesOf({ from, to }: Run, vouched: readonly Vouched[]) {
  const cuts = vouched.flatMap((one) => [one.from_block, one.to_block + 1]);
  const begins = [from, ...cuts.filter((block) => block > from && block <= to)];
  const sorted = [...new Set(begins)].sort((a, b) => a - b);
  return sorted.map((begin, at) => {
    const next = sorted[at + 1];
    return { from: begin, to: next === undefined ? to : next - 1 };
  });
}

// Deletes the rows of some blocks from each table. Each statement waits until its rows are gone,
// and may be repeated.

/** Blocks, both ends included, of which the rows of some kinds go. */
export type Going = {
  readonly from_block: number;
  readonly to_block: number;
  readonly kinds: readonly TransferKind[];
  /** Whether nobody vouches for any kind of them: headers, signers and creations go too. */
  readonly whole: boolean;
};

/** How long one statement may rewrite a table. */
const DELETE: Call = { timeoutMs: 3_600_000 };
const engineRow = z.tuple([z.string()]);

/** The numbers that kinds have in the tables. */
const KIND_CODES: Readonly<Record<TransferKind, number>> = {
  native: 1,
  internal: 2,
  token: 3,
  nft: 4,
};

const SIDE_KIND = 'bitAnd(reinterpretAsUInt8(substring(id, 1, 1)), 7)';
const SIDE_BLOCK = 'reinterpretAsUInt64(reverse(substring(detail, 4, 8)))';

/**
 * Deletes rows where there are any: asking is cheaper than rewriting parts for nothing. The
 * condition is of the row alone. Each replica of a cluster works out for itself what to delete, and
 * whenever it comes to it: one that asks other rows would delete others on each.
 */
export async function deleteRows(
  warehouse: Warehouse,
  table: string,
  where: string,
): Promise<void> {
  if (/\bSELECT\b/i.test(where)) throw new RangeError('a row is deleted by what it says itself');
  if (!(await hasRows(warehouse, `SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`, DELETE))) return;
  const engines = `SELECT engine FROM system.tables
    WHERE database = currentDatabase() AND name = {table:String}`;
  const query = { ...DELETE, row: engineRow, tuples: true, params: { table } };
  const [engine] = await warehouse.query(engines, query);
  // In a cluster the rows of a sharded table lie in the parts of it that each node has.
  const parts = `${table}_local ON CLUSTER '{cluster}'`;
  const target = engine?.[0] === 'Distributed' ? parts : table;
  // Answered once each replica has done it, however long the slowest takes.
  const settings = `mutations_sync = 2, distributed_ddl_task_timeout = ${DELETE.timeoutMs / 1_000}`;
  const sql = `ALTER TABLE ${target} DELETE WHERE ${where} SETTINGS ${settings}`;
  await warehouse.command(sql, DELETE);
}

/** The condition for transfers in `going`; `kind` and `block` are expressions of the table. */
function within(going: readonly Going[], kind: string, block: string): string {
  const moved = going.filter(({ kinds }) => kinds.length > 0);
  if (moved.length === 0) return 'false';
  const each = moved.map(({ from_block, to_block, kinds }) => {
    const codes = kinds.map((name) => KIND_CODES[name]).join(', ');
    return `(${kind} IN (${codes}) AND ${block} BETWEEN ${from_block} AND ${to_block})`;
  });
  return `(${each.join(' OR ')})`;
}

export function goingTransfers(chain: ChainName, going: readonly Going[]): string {
  return `chain = '${chain}' AND ${within(going, 'toUInt8(kind)', 'block')}`;
}

/** Deletes the facts of blocks, the sides of addresses first: they are what is read. */
export async function deleteFacts(
  warehouse: Warehouse,
  chain: ChainName,
  going: readonly Going[],
): Promise<void> {
  const ofChain = `chain = '${chain}'`;
  await deleteRows(warehouse, 'sides', `${ofChain} AND ${within(going, SIDE_KIND, SIDE_BLOCK)}`);
  await deleteRows(warehouse, 'transfers', goingTransfers(chain, going));
  const whole = going.filter((one) => one.whole);
  if (whole.length === 0) return;
  const blocks = (name: string) =>
    whole.map((one) => `${name} BETWEEN ${one.from_block} AND ${one.to_block}`).join(' OR ');
  const imported = `finality < ${FINALITY.followed}`;
  for (const table of ['creators', 'creations', 'transactions']) {
    await deleteRows(warehouse, table, `${ofChain} AND (${blocks('block')})`);
  }
  await deleteRows(warehouse, 'blocks', `${ofChain} AND ${imported} AND (${blocks('number')})`);
}
