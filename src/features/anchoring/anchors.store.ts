// The sends to one contract. Nothing is written by a holder whose lease another one took.

import { z } from 'zod';
import type {
  AnchorEnd,
  AnchorSend,
  AnchorSends,
  AnchorsPort,
  LeafAnchor,
  SignedAnchor,
} from '../../ports/anchoring.ts';
import {
  ANCHOR_LEASE,
  LEAVES_ASKED_MAX,
  leafAnchor,
  SENT_FOR_ONE_MAX,
} from '../../ports/anchoring.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  type Session,
} from '../../stores/control/engine/database.ts';

const OF = 'a.chain_id = $1 and a.contract = $2';
const OPEN = `
  select a.sender, a.nonce::float8 as nonce, a.log_size::float8 as size, a.root, a.gas::text as gas,
    a.status
  from anchors a where ${OF} and a.status in ('queued', 'submitted')`;
const SENT = `
  select t.tx, t.raw, t.max_fee_wei::text as max_fee_wei, t.tip_wei::text as tip_wei,
    ${epochSecond('t.at')}
  from anchor_transactions t where t.chain_id = $1 and t.sender = $2 and t.nonce = $3
  order by t.max_fee_wei desc limit ${SENT_FOR_ONE_MAX}`;
// Another contract has sizes of its own; a nonce is of the key, whatever it was used for.
const NEWEST = `
  select max(a.nonce) filter (where a.sender = $3)::float8 as nonce,
    coalesce(max(a.log_size) filter (where a.contract = $2 and a.status <> 'failed'), 0)::float8
      as size,
    max(a.origin) filter (where a.contract = $2) as origin,
    ${epochSecond('max(a.began_at) filter (where a.contract = $2)', 'began_at')}
  from anchors a where a.chain_id = $1`;
const BEGIN = `
  insert into anchors (chain_id, contract, sender, nonce, origin, log_size, root, gas, status,
    began_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', control_now())`;
const KEEP = `
  insert into anchor_transactions (tx, chain_id, sender, nonce, raw, max_fee_wei, tip_wei, at)
  values ($1, $2, $3, $4, $5, $6, $7, control_now())`;
const MARK = `
  update anchors a set status = $4, tx = $5, block = $6, reason = $7
  where ${OF} and a.log_size = $3 and a.status in ('queued', 'submitted') returning a.nonce`;
// The first root that covers a leaf and was not refused; else the last that was.
const COVERING = `
  select i.leaf::float8 as leaf, coalesce(a.status, 'queued') as anchor_status,
    a.tx as anchor_tx, a.log_size::float8 as anchor_size
  from unnest($3::bigint[]) with ordinality as i (leaf, place)
  left join lateral (
    select a.status, a.tx, a.log_size from anchors a
    where ${OF} and a.origin = $4 and a.log_size > i.leaf
    order by a.status = 'failed', a.log_size limit 1) a on true
  order by i.place`;

const wei = z.string().transform((text) => BigInt(text));
const sentRow = z.strictObject({
  tx: z.string(),
  raw: z.string(),
  max_fee_wei: wei,
  tip_wei: wei,
  at: z.int(),
});
const openRow = z.strictObject({
  sender: z.string(),
  nonce: z.int().nonnegative(),
  size: z.int().positive(),
  root: z.string(),
  gas: wei,
  status: z.enum(['queued', 'submitted']),
});
const newestRow = z.strictObject({
  nonce: z.int().nonnegative().nullable(),
  size: z.int().nonnegative(),
  origin: z.string().nullable(),
  began_at: z.int().nullable(),
});
const coveringRow = leafAnchor.extend({ leaf: z.int() });

/** The contract that is sent to. */
export type AnchorPlace = {
  readonly chain_id: number;
  /** `null`: none is set, and nothing was sent to it. */
  readonly contract: string | null;
};

/** The sends to a contract over the control database. */
export function anchorTable(
  database: Database,
  { chain_id, contract }: AnchorPlace,
  context: ControlContext,
): AnchorSends {
  const { ask } = controlReadings<AnchorsPort>('anchors', 'The table of anchors', context);
  const of = [chain_id, contract] as const;
  const keep = (
    session: Session,
    { sender, nonce }: { readonly sender: string; readonly nonce: number },
    { tx, raw, max_fee_wei, tip_wei }: SignedAnchor,
  ) => session.query(KEEP, [tx, chain_id, sender, nonce, raw, `${max_fee_wei}`, `${tip_wei}`]);
  /** Runs work in one transaction under the lease; `false`: another holder has it. */
  const underLease = (epoch: number, work: (session: Session) => Promise<boolean>) =>
    ask(() =>
      database.transaction(async (session) => {
        // Until this ends nobody takes the lease: a holder who was paused meanwhile keeps nothing.
        const lease = 'select 1 from leases where name = $1 and epoch = $2 for share';
        const rows = await session.query(lease, [ANCHOR_LEASE, epoch]);
        return rows.length > 0 && (await work(session));
      }),
    );
  const settle = (size: number, status: string, end: AnchorEnd | null, epoch: number) =>
    underLease(epoch, async (session) => {
      const mined = end?.status === 'confirmed' ? end : null;
      const reason = end?.status === 'failed' ? end.reason : null;
      const { tx, block } = mined ?? { tx: null, block: null };
      return (await session.query(MARK, [...of, size, status, tx, block, reason])).length > 0;
    });
  return {
    open: () => ask(() => openSend(database, of)),
    newest: (sender) =>
      ask(async () => newestRow.parse(onlyRow(await database.query(NEWEST, [...of, sender])))),
    begin: ({ origin, size, root, sender, nonce, gas, signed }, epoch) =>
      underLease(epoch, async (session) => {
        await session.query(BEGIN, [...of, sender, nonce, origin, size, root, `${gas}`]);
        await keep(session, { sender, nonce }, signed);
        return true;
      }),
    replace: (size, signed, epoch) =>
      underLease(epoch, async (session) => {
        const open = await session.query(`${OPEN} and a.log_size = $3`, [...of, size]);
        for (const row of open) await keep(session, openRow.parse(row), signed);
        return open.length > 0;
      }),
    mark: (size, status, epoch) => settle(size, status, null, epoch),
    end: (size, end, epoch) => settle(size, end.status, end, epoch),
    anchorsOf: (origin, indexes) => {
      if (indexes.length > LEAVES_ASKED_MAX) throw new RangeError(`${indexes.length} leaves`);
      return ask(async () => {
        const rows = await database.query(COVERING, [...of, indexes, origin], 'often');
        return rows.map((row): LeafAnchor => {
          const { leaf: _, ...anchor } = coveringRow.parse(row);
          return anchor;
        });
      });
    },
  };
}

async function openSend(
  database: Database,
  of: readonly [chain_id: number, contract: string | null],
): Promise<AnchorSend | null> {
  const [row] = (await database.query(OPEN, [...of])).map((one) => openRow.parse(one));
  if (row === undefined) return null;
  const sent = await database.query(SENT, [of[0], row.sender, row.nonce]);
  const [newest, ...before] = sent.map((one) => sentRow.parse(one));
  if (newest === undefined) throw new Error('anchors: a send without a transaction');
  return { ...row, sent: [newest, ...before] };
}
