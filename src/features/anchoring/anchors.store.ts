// The sends to anchoring contracts. Nothing is written by a holder whose lease another one took.

import { z } from 'zod';
import {
  ANCHOR_LEASE,
  type AnchorEnd,
  type AnchorNonce,
  type AnchorSend,
  type AnchorSends,
  type AnchorsPort,
  LEAVES_ASKED_MAX,
  type LeafAnchor,
  leafAnchor,
  OPEN_SENDS_MAX,
  SENT_FOR_ONE_MAX,
  type SignedAnchor,
} from '../../ports/anchoring.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  type Session,
} from '../../stores/control/engine/database.ts';
import { isLeaseHeld } from '../../stores/control/leases.ts';

const OF = 'a.chain_id = $1 and a.contract = $2';
const IS_OPEN = "a.status in ('queued', 'submitted')";
const OPEN = `
  select a.chain_id::float8 as chain_id, a.contract, a.sender, a.nonce::float8 as nonce,
    a.log_size::float8 as size, a.root, a.gas::text as gas, a.status
  from anchors a where ${IS_OPEN}
  order by a.began_at, a.chain_id, a.sender limit ${OPEN_SENDS_MAX}`;
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
    max(a.origin) filter (where a.contract = $2 and a.status <> 'failed') as origin,
    ${epochSecond('max(a.began_at) filter (where a.contract = $2)', 'began_at')}
  from anchors a where a.chain_id = $1`;
// A contract takes growing sizes and an account one nonce after another: one send at a time.
const BEGIN = `
  insert into anchors (chain_id, contract, sender, nonce, origin, log_size, root, gas, status,
    began_at)
  select $1::bigint, $2, $3, $4::bigint, $5, $6::bigint, $7, $8::numeric, 'queued', control_now()
  where not exists (select from anchors a
    where ${IS_OPEN} and a.chain_id = $1 and (a.contract = $2 or a.sender = $3))
  returning nonce`;
const KEEP = `
  insert into anchor_transactions (tx, chain_id, sender, nonce, raw, max_fee_wei, tip_wei, at)
  values ($1, $2, $3, $4, $5, $6, $7, control_now())`;
const OF_NONCE = 'a.chain_id = $1 and a.sender = $2 and a.nonce = $3';
const MARK = `
  update anchors a set status = $4, tx = $5, block = $6, reason = $7
  where ${OF_NONCE} and ${IS_OPEN} returning a.nonce`;
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
  chain_id: z.int(),
  contract: z.string(),
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

/** The sends over the control database. */
export function anchorTable(database: Database, context: ControlContext): AnchorSends {
  const { ask } = controlReadings<AnchorsPort>('anchors', 'The table of anchors', context);
  const keep = (
    session: Session,
    { chain_id, sender, nonce }: AnchorNonce,
    { tx, raw, max_fee_wei, tip_wei }: SignedAnchor,
  ) => session.query(KEEP, [tx, chain_id, sender, nonce, raw, `${max_fee_wei}`, `${tip_wei}`]);
  /** Runs work in one transaction under the lease; `false`: another holder has it. */
  const underLease = (epoch: number, work: (session: Session) => Promise<boolean>) =>
    ask(() =>
      database.transaction(async (session) => {
        return (await isLeaseHeld(session, ANCHOR_LEASE, epoch)) && (await work(session));
      }),
    );
  const settle = (
    { chain_id, sender, nonce }: AnchorNonce,
    status: string,
    end: AnchorEnd | null,
    epoch: number,
  ) =>
    underLease(epoch, async (session) => {
      const mined = end?.status === 'confirmed' ? end : null;
      const reason = end?.status === 'failed' ? end.reason : null;
      const { tx, block } = mined ?? { tx: null, block: null };
      const params = [chain_id, sender, nonce, status, tx, block, reason];
      return (await session.query(MARK, params)).length > 0;
    });
  return {
    open: () => ask(() => openSends(database)),
    newest: ({ chain_id, contract, sender }) =>
      ask(async () => {
        const rows = await database.query(NEWEST, [chain_id, contract, sender]);
        return newestRow.parse(onlyRow(rows));
      }),
    begin: (send, epoch) =>
      underLease(epoch, async (session) => {
        const { chain_id, contract, sender, nonce, origin, size, root, gas } = send;
        const row = [chain_id, contract, sender, nonce, origin, size, root, `${gas}`];
        if ((await session.query(BEGIN, row)).length === 0) return false;
        await keep(session, send, send.signed);
        return true;
      }),
    replace: (send, signed, epoch) =>
      underLease(epoch, async (session) => {
        const open = `select from anchors a where ${OF_NONCE} and ${IS_OPEN} for update`;
        const rows = await session.query(open, [send.chain_id, send.sender, send.nonce]);
        if (rows.length === 0) return false;
        await keep(session, send, signed);
        return true;
      }),
    mark: (send, status, epoch) => settle(send, status, null, epoch),
    end: (send, end, epoch) => settle(send, end.status, end, epoch),
    anchorsOf: ({ chain_id, contract }, origin, indexes) => {
      if (indexes.length > LEAVES_ASKED_MAX) throw new RangeError(`${indexes.length} leaves`);
      return ask(async () => {
        const rows = await database.query(COVERING, [chain_id, contract, indexes, origin], 'often');
        return rows.map((row): LeafAnchor => {
          const { leaf: _, ...anchor } = coveringRow.parse(row);
          return anchor;
        });
      });
    },
  };
}

async function openSends(database: Database): Promise<readonly AnchorSend[]> {
  const sends: AnchorSend[] = [];
  for (const row of z.array(openRow).parse(await database.query(OPEN))) {
    const rows = await database.query(SENT, [row.chain_id, row.sender, row.nonce]);
    const [newest, ...before] = z.array(sentRow).parse(rows);
    if (newest === undefined) throw new Error('anchors: a send without a transaction');
    sends.push({ ...row, sent: [newest, ...before] });
  }
  return sends;
}
