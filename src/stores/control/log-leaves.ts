// An appending transaction holds the counter until its end, so that indexes become visible in order
// and an undone one was never given.

import { z } from 'zod';
import { LEAF_KINDS, type NewLeaf } from '../../ports/transparency-log.ts';
import { onlyRow, type Session, storeTime } from './engine/database.ts';

const APPEND = `
  with counted as (
    insert into log_size as l (leaves) values (1)
    on conflict (one) do update set leaves = l.leaves + 1
    returning leaves
  )
  insert into log_leaves (leaf_index, kind, hash, id, at)
  select leaves - 1, $1::smallint, decode($2, 'hex'), $3, $4 from counted
  returning leaf_index`;

const leafRow = z.object({ leaf_index: z.coerce.number().int() });
const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Makes a statement a leaf of the log inside the transaction that makes it true, and gives the
 * index of the leaf. It belongs at the end of the transaction: until that ends, all others who
 * append wait for it.
 */
export async function appendLeaf(session: Session, leaf: NewLeaf): Promise<number> {
  if (!HASH.test(leaf.hash)) throw new Error(`no 32 bytes in lower-case hex: ${leaf.hash}`);
  const { kind, hash, id, at } = leaf;
  const row = [LEAF_KINDS[kind], hash.slice('0x'.length), id, storeTime(at)];
  return leafRow.parse(onlyRow(await session.query(APPEND, row, 'often'))).leaf_index;
}
