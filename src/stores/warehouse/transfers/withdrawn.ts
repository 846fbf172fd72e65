// Coverage that was recorded from nodes before it was known that their blocks do not prove it: it
// is withdrawn once, and kept apart to be told. The transfers stay, and show.

import { z } from 'zod';
import { type ChainName, EVM_CHAINS } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import { sameKindsUntil, TRANSFER_KINDS, wholeKinds } from '../../../chain/transfer.ts';
import { type Call, hasRows, type Warehouse } from '../engine/executor.ts';
import { textHex, WRITE } from './append.ts';
import { deleteRows } from './forget.ts';

/** A range that no longer counts as held in full. */
const rowSchema = z.object({
  chain: z.string(),
  kind: z.string(),
  from_block: z.coerce.number(),
  to_block: z.coerce.number(),
});
export type WithdrawnRange = z.infer<typeof rowSchema>;

/** Nodes of chains whose blocks prove less than was recorded of them. */
const UNPROVED = 'unproved_blocks';
/** Nodes whose traces name no number of calls. */
const UNCOUNTED = 'uncounted_calls';
const RANGES_MAX = 1_000;

/** Kinds that no node's blocks of a chain prove below a block; `null`: in any. */
type Unproved = {
  readonly chain: ChainName;
  readonly kind: TransferKind;
  readonly below: number | null;
};

/** What a node proves at most where no root is recomputed, as it was before roots were. */
function unprovedKinds(): readonly Unproved[] {
  return EVM_CHAINS.flatMap((chain) => {
    const until = sameKindsUntil('trace_block', chain, 0);
    const early = wholeKinds('trace_block', chain, 0, 'rootless');
    const late = wholeKinds('trace_block', chain, Number.MAX_SAFE_INTEGER, 'rootless');
    return TRANSFER_KINDS.filter((kind) => !early.includes(kind)).map((kind) => {
      return { chain, kind, below: late.includes(kind) && until !== null ? until + 1 : null };
    });
  });
}

/** Nodes are told by their origin, files by their names. */
const BY_NODE = "(source LIKE 'http://%' OR source LIKE 'https://%')";

/** Withdraws once what earlier versions recorded. May be cut off, and is repeated whole then. */
export async function withdrawUnproved(warehouse: Warehouse): Promise<void> {
  const done = `SELECT 1 FROM withdrawn_coverage WHERE correction = '${UNPROVED}' AND chain = ''`;
  if (await hasRows(warehouse, `${done} LIMIT 1`, WRITE)) return;
  for (const { chain, kind, below } of unprovedKinds()) {
    const of = `chain = '${chain}' AND kind = '${kind}' AND ${BY_NODE}`;
    const touched = below === null ? of : `${of} AND from_block < ${below}`;
    await keepApart(warehouse, UNPROVED, touched, below);
    if (below !== null) await keepAbove(warehouse, touched, below);
    await deleteRows(warehouse, 'coverage', touched);
    await withdrawFollowed(warehouse, UNPROVED, { chain, kind, below });
  }
  const mark = `('${UNPROVED}', '', '', 0, 0, '')`;
  await warehouse.command(`INSERT INTO withdrawn_coverage (${KEPT}) VALUES ${mark}`, WRITE);
}

/** Withdraws a kind that a node's traces do not count, of all that this node was read for. */
export async function withdrawUncounted(
  warehouse: Warehouse,
  { chain, kind, source }: Pick<Unproved, 'chain' | 'kind'> & { readonly source: string },
): Promise<void> {
  const of = `chain = '${chain}' AND kind = '${kind}' AND source = unhex('${textHex(source)}')`;
  await keepApart(warehouse, UNCOUNTED, of, null);
  await deleteRows(warehouse, 'coverage', of);
  await withdrawFollowed(warehouse, UNCOUNTED, { chain, kind, below: null });
}

/** The ranges that no longer count, as they were. */
export async function withdrawnRanges(
  warehouse: Warehouse,
  call: Call,
): Promise<readonly WithdrawnRange[]> {
  const sql = `SELECT chain, kind, min(from_block) AS from_block, max(to_block) AS to_block
    FROM withdrawn_coverage WHERE chain != '' GROUP BY chain, kind ORDER BY chain, kind
    LIMIT ${RANGES_MAX}`;
  return warehouse.query(sql, { ...call, row: rowSchema });
}

const KEPT = 'correction, chain, kind, from_block, to_block, source';

async function keepApart(
  warehouse: Warehouse,
  correction: string,
  where: string,
  below: number | null,
): Promise<void> {
  const to = below === null ? 'to_block' : `least(to_block, ${below - 1})`;
  const sql = `INSERT INTO withdrawn_coverage (${KEPT})
    SELECT '${correction}', toString(chain), toString(kind), from_block, ${to}, source
    FROM coverage WHERE ${where}`;
  await warehouse.command(sql, WRITE);
}

/** The rest of ranges that reach over the block from which on they are proved. */
async function keepAbove(warehouse: Warehouse, where: string, below: number): Promise<void> {
  const columns = 'chain, kind, from_block, to_block, source, observed, to_time';
  const sql = `INSERT INTO coverage (${columns})
    SELECT chain, kind, ${below}, to_block, source, observed, max(to_time)
    FROM coverage WHERE ${where} AND to_block >= ${below}
    GROUP BY chain, kind, to_block, source, observed`;
  await warehouse.command(sql, WRITE);
}

/**
 * Takes a kind from what is followed, whose final blocks count by its position alone. Those from
 * `below` on are recorded as held first. The follower begins a range of its own for what it proves.
 */
async function withdrawFollowed(
  warehouse: Warehouse,
  correction: string,
  { chain, kind, below }: Unproved,
): Promise<void> {
  const before = below === null ? '' : `AND from_block < ${below}`;
  const of = `FROM following FINAL WHERE chain = '${chain}' AND has(kinds, '${kind}') ${before}`;
  const to = below === null ? 'final_block' : `least(final_block, ${below - 1})`;
  const isFinal = 'AND final_block IS NOT NULL AND final_block >= from_block';
  const apart = `INSERT INTO withdrawn_coverage (${KEPT})
    SELECT '${correction}', toString(chain), '${kind}', from_block, assumeNotNull(${to}), source
    ${of} ${isFinal}`;
  await warehouse.command(apart, WRITE);
  if (below !== null) {
    const kept = `INSERT INTO coverage
      (chain, kind, from_block, to_block, source, observed, to_time)
      SELECT chain, '${kind}', ${below}, assumeNotNull(final_block), source, observed,
        assumeNotNull(final_time)
      ${of} AND final_block >= ${below} AND final_time IS NOT NULL`;
    await warehouse.command(kept, WRITE);
  }
  const columns = `from_block, source, observed, final_block, final_hash, final_time, rollbacks,
    epoch, stamp_blocks, stamps, sealed_block`;
  const next = `INSERT INTO following (chain, kinds, version, ${columns})
    SELECT chain, arrayFilter(one -> one != '${kind}', kinds), version + 1, ${columns} ${of}`;
  await warehouse.command(next, WRITE);
}
