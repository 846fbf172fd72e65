// Which blocks are forgotten, in which kinds, and for which does somebody else vouch?
// A follower vouches for what it follows, other coverage for what it says is held in full, another
// import for the blocks into which it wrote.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import type { ForgetOrder, Staying } from '../../../ports/indexing/imports.ts';
import type { Warehouse } from '../engine/executor.ts';
import { WRITE } from './append.ts';
import type { Going } from './forget-rows.ts';

/** Blocks of one chain, both ends included, of an import or of whoever brought them. */
export type Target = {
  readonly chain: ChainName;
  readonly import_id: string | null;
  readonly from_block: number;
  readonly to_block: number;
};

export const KINDS = [
  'native',
  'internal',
  'token',
  'nft',
] as const satisfies readonly TransferKind[];
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
const followedRow = z.tuple([whole, z.array(z.enum(KINDS))]);
const coverageRow = z.tuple([
  z.enum(KINDS),
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

/** What an order is about; `null` where no such import is listed, or it wrote nothing. */
export async function targetOf(warehouse: Warehouse, order: ForgetOrder): Promise<Target | null> {
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
  const own = `import_id = '${target.import_id}'`;
  const columns = 'chain, kind, from_block, to_block, source, observed';
  const recorded = (which: string) => `SELECT ${columns} FROM import_coverage
    WHERE chain = '${target.chain}' AND ${which}`;
  // Another import that is still there may have recorded the same.
  const standing = `import_id != '${target.import_id}' AND import_id IN (
    SELECT import_id FROM imports FINAL WHERE state IN ('begun', 'completed'))`;
  const which =
    target.import_id === null
      ? ''
      : `AND (toString(chain), toString(kind), from_block, to_block, source, observed)
           IN (${recorded(own)})
         AND (toString(chain), toString(kind), from_block, to_block, source, observed)
           NOT IN (${recorded(standing)})`;
  const sql = `SELECT toString(kind), from_block, to_block, source, observed, max(to_time)
    FROM coverage WHERE ${touching(target)} ${which}
    GROUP BY chain, kind, from_block, to_block, source, observed ORDER BY kind, from_block`;
  const query = { ...WRITE, row: coverageRow, tuples: true, rowsMax: RANGES_MAX };
  return warehouse.query(sql, query);
}

/** The condition for ranges of blocks that touch these. */
export function touching({ chain, from_block, to_block }: Target): string {
  return `chain = '${chain}' AND from_block <= ${to_block} AND to_block >= ${from_block}`;
}

/** What the follower of the chain vouches for, and other coverage than what goes. */
export async function vouchedOf(
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
  const standing = `import_id != '${import_id}' AND import_id IN (
    SELECT import_id FROM imports FINAL WHERE state IN ('begun', 'completed'))`;
  const sql = `SELECT min(block) AS first, max(block), kinds, others FROM (
      SELECT block, kinds, others, toInt64(block)
        - row_number() OVER (PARTITION BY kinds, others ORDER BY block) AS run
      FROM (${blocks(`import_id = '${import_id}'`)}) AS mine
      LEFT JOIN (SELECT block, kinds + ${ANOTHER} AS others FROM (${blocks(standing)})) AS theirs
      USING (block)
    ) GROUP BY kinds, others, run ORDER BY first LIMIT ${RUNS_MAX}`;
  const rows = await warehouse.query(sql, { ...WRITE, row: runRow, tuples: true });
  return rows.map(([from, to, kinds, others]) => ({ from, to, kinds, others }));
}

const RAN_OUT: readonly Run[] = Object.freeze([]);

/** What of some runs goes, and how many blocks of each kind stay for which reason. */
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
      const kinds = KINDS.filter((kind) => {
        if ((run.kinds & BITS[kind]) === 0) return false;
        const reason =
          (run.others & BITS[kind]) !== 0
            ? 'another_import'
            : by.find((one) => one.kind === kind)?.because;
        if (reason === undefined) return true;
        const key = `${reason} ${kind}`;
        const before = staying.get(key);
        const blocks = piece.to - piece.from + 1;
        staying.set(key, before === undefined ? blocks : before + blocks);
        return false;
      });
      const range = { from_block: piece.from, to_block: piece.to };
      going.push({ ...range, kinds, whole: run.others === 0 && by.length === 0 });
    }
  }
  return { going, staying };
}

/** A run cut wherever what is vouched for begins or ends. */
function piecesOf({ from, to }: Run, vouched: readonly Vouched[]) {
  const cuts = vouched.flatMap((one) => [one.from_block, one.to_block + 1]);
  const begins = [from, ...cuts.filter((block) => block > from && block <= to)];
  const sorted = [...new Set(begins)].sort((a, b) => a - b);
  return sorted.map((begin, at) => {
    const next = sorted[at + 1];
    return { from: begin, to: next === undefined ? to : next - 1 };
  });
}
