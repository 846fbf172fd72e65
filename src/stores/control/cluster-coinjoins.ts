// In which joint transactions of Bitcoin did an address take part, of the blocks held?

import { z } from 'zod';
import type { BlockHarvest } from '../../ports/entities/cluster-store.ts';
import { type CoinJoins, JOINT_FORMS } from '../../ports/entities/entity-clusters.ts';
import { INSERT_ROWS_MAX } from './cluster-kept-ties.ts';
import type { Database, Session } from './engine/database.ts';

const form = z.enum(JOINT_FORMS);
const formRow = z.object({ form, transactions: z.number() });
const joinedRow = z.object({
  tx: z.string(),
  block: z.coerce.number(),
  at: z.coerce.number(),
  form,
  spent: z.boolean(),
  paid: z.boolean(),
});
/** The most transactions that are told one by one; all of them are counted. */
const NEWEST_MAX = 100;

/** The joint transactions of an address. */
export async function coinJoinsOf(database: Database, address: string): Promise<CoinJoins> {
  const forms = await database.query(
    `select form, count(*)::int as transactions from entity_coinjoins
     where address = $1 group by form order by form`,
    [address],
  );
  const newest = await database.query(
    `select tx, block, at, form, spent, paid from entity_coinjoins
     where address = $1 order by block desc, tx limit ${NEWEST_MAX}`,
    [address],
  );
  return { forms: z.array(formRow).parse(forms), newest: z.array(joinedRow).parse(newest) };
}

/** Keeps who took part in joint transactions. */
export async function insertJoined(
  session: Session,
  joined: BlockHarvest['joined'],
): Promise<void> {
  for (let from = 0; from < joined.length; from += INSERT_ROWS_MAX) {
    const some = joined.slice(from, from + INSERT_ROWS_MAX);
    await session.query(
      `insert into entity_coinjoins (address, tx, block, at, form, spent, paid)
       select * from unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::text[],
         $6::bool[], $7::bool[]) on conflict do nothing`,
      [
        some.map((one) => one.address),
        some.map((one) => one.tx),
        some.map((one) => one.block),
        some.map((one) => one.at),
        some.map((one) => one.form),
        some.map((one) => one.spent),
        some.map((one) => one.paid),
      ],
    );
  }
}
