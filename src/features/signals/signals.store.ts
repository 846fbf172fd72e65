// A signal, its bundle, the end of the one before, what chats are told of it, and its leaf in the
// log are one transaction: whoever is killed has published all of it or nothing.

import { z } from 'zod';
import { matchKey, parseKnownAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { placeOrBeginning } from '../../evidence/measure.ts';
import type { FlagDispatch } from '../../ports/integrations.ts';
import {
  type Emission,
  type FeedPage,
  type KeptSignal,
  keptEnd,
  keptSignal,
  type NewSignal,
  SIGNAL_LEASE,
  type SignalEnd,
  type SignalProduction,
  type Signals,
  type SignalTarget,
  type Withdrawal,
} from '../../ports/signals.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
} from '../../stores/control/engine/database.ts';
import { isLeaseHeld } from '../../stores/control/leases.ts';
import { appendLeaf } from '../../stores/control/log-leaves.ts';
import { appendDispatches } from '../../stores/control/outbox.ts';

const WHAT = 'The table of signals';

const SIGNAL = `s.signal_id, s.call_hash, s.version, s.chain, s.address, s.verdict,
  s.confidence_millionths, s.reasoning, s.evidence_used, s.evidence_hash, s.prompt_version, s.model,
  s.run_id, s.generated_at_unix::float8 as generated_at_unix, s.confidence_basis, s.confidence_n,
  s.cost_usd, s.cached, s.source_count, s.simulated, s.leaf::float8 as leaf`;
const ENDED = `e.state, e.at, e.reason, e.by, e.hash, e.leaf::float8 as end_leaf`;
const END = `left join lateral (
    select * from signal_statuses t where t.signal_id = s.signal_id order by t.leaf desc limit 1
  ) e on true`;

const endColumns = z.object({
  state: keptEnd.shape.state.nullable(),
  at: z.string().nullable(),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  hash: keptEnd.shape.hash.nullable(),
  end_leaf: z.number().nullable(),
});
const signalColumns = keptSignal.omit({ end: true }).strip();

function signalIn(row: object): KeptSignal {
  const { state, at, reason, by, hash, end_leaf: leaf } = endColumns.parse(row);
  const signal = signalColumns.parse(row);
  if (state === null) return { ...signal, end: null };
  return { ...signal, end: keptEnd.parse({ state, at, reason, by, hash, leaf }) };
}

const bundleRow = z.object({ bytes: z.instanceof(Uint8Array) });

// One statement, so that a page and what is said of the producer are of one moment. A signal that
// has ended has a row among the statuses.
const FEED = `
  with head as (
    select (select ${epochSecond('last_round_at')} from signal_rounds) as last_round_at,
      (select ${epochSecond('last_emit_at')} from signal_rounds) as last_emit_at,
      ${epochSecond('control_now()', 'asked_at')},
      exists (select from signals c where not exists (
        select from signal_statuses t where t.signal_id = c.signal_id)) as any_current
  ), listed as (
    select s.* from signals s
    where not exists (select from signal_statuses t where t.signal_id = s.signal_id)
      and ($1::text is null or s.match_key = $1)
      and ($2::bigint is null or (s.generated_at_unix, s.signal_id) < ($2::bigint, $3::text))
    order by s.generated_at_unix desc, s.signal_id desc limit $4::int
  )
  select head.*, ${SIGNAL}, null as state, null as at, null as reason, null as by, null as hash,
    null as end_leaf
  from head left join listed s on true
  order by s.generated_at_unix desc, s.signal_id desc`;

const headRow = z.object({
  last_round_at: z.number().nullable(),
  last_emit_at: z.number().nullable(),
  any_current: z.boolean(),
  asked_at: z.number(),
});
const idOrNone = z.object({ signal_id: z.string().nullable() });

/** The signals over the control database, for whoever reads them. */
export function signalTable(database: Database, context: ControlContext): Signals {
  const { ask } = controlReadings('signals', WHAT, context);
  return {
    find: (id) =>
      ask(async () => {
        const rows = await database.query(
          `select ${SIGNAL}, ${ENDED} from signals s ${END} where s.signal_id = $1`,
          [id],
          'often',
        );
        const row = rowOrNull(rows);
        return row === null ? null : signalIn(row);
      }),
    bundleOf: (id) =>
      ask(async () => {
        const rows = await database.query(
          'select bytes from signal_bundles where signal_id = $1',
          [id],
          'often',
        );
        const row = rowOrNull(rows);
        return row === null ? null : bundleRow.parse(row).bytes;
      }),
    feed: ({ matchKey: key, after, limit }) =>
      ask(async () => {
        const place = after === null ? [null, null] : [after.generated_at_unix, after.signal_id];
        const rows = await database.query(FEED, [key, ...place, limit + 1], 'often');
        const head = headRow.parse(onlyRow(rows.slice(0, 1)));
        const found = rows.filter((row) => idOrNone.parse(row).signal_id !== null).map(signalIn);
        const page: FeedPage = {
          ...head,
          signals: found.slice(0, limit),
          more: found.length > limit,
        };
        return page;
      }),
  };
}

const targetRow = z.object({ chain: keptSignal.shape.chain, address: z.string() });
const dueRow = z.object({ is_due: z.boolean() });
const newestColumns = z.object({ content_hash: z.string(), rules_version: z.string() });

// A target that waits comes before one whose signal has come of age.
const DUE = `
  select chain, address from (
    select chain, address, 0 as lane, due_at as since from signal_targets
    where due_at <= control_now()
    union all
    select s.chain, s.address, 1, to_timestamp(s.generated_at_unix) from signals s
    where (s.generated_at_unix <= extract(epoch from control_now()) - $2::int
        or s.rules_version <> $3)
      and not exists (select from signal_statuses t where t.signal_id = s.signal_id)
      and not exists (
        select from signal_targets w where w.chain = s.chain and w.address = s.address)
  ) waiting
  order by lane, since, chain, address limit $1::int`;
const ROUND_DUE = `
  select coalesce(
    (select last_round_at <= control_now() - make_interval(secs => $1::int) from signal_rounds),
    true
  ) or (not exists (select from signals) and exists (select from signal_targets)) as is_due`;
const NEWEST = `
  select ${SIGNAL}, ${ENDED}, s.content_hash, s.rules_version from signals s ${END}
  where s.chain = $1 and s.address = $2 order by s.leaf desc limit 1`;
const WAIT = `
  insert into signal_targets (chain, address, queued_at, due_at)
  values ($1, $2, control_now(), control_now() + make_interval(secs => $3::int))
  on conflict (chain, address) do update set due_at = excluded.due_at`;
const LET_GO = 'delete from signal_targets where chain = $1 and address = $2';
const ROUND = `
  insert into signal_rounds (last_round_at) values (control_now())
  on conflict (one) do update set last_round_at = excluded.last_round_at`;
const EMITTED = `
  insert into signal_rounds (last_emit_at) values (control_now())
  on conflict (one) do update set last_emit_at = excluded.last_emit_at`;

/** The signals over the control database, for whoever publishes them. */
export function signalProductionTable(
  database: Database,
  context: ControlContext,
): SignalProduction {
  const { ask } = controlReadings('signal_production', WHAT, context);
  return {
    queueEvents: (epoch) => ask(() => database.transaction((session) => queue(session, epoch))),
    isRoundDue: (everyS) =>
      ask(async () => dueRow.parse(onlyRow(await database.query(ROUND_DUE, [everyS]))).is_due),
    due: (limit, againS, rules) =>
      ask(async () => z.array(targetRow).parse(await database.query(DUE, [limit, againS, rules]))),
    newestOf: ({ chain, address }) =>
      ask(async () => {
        const row = rowOrNull(await database.query(NEWEST, [chain, address], 'often'));
        return row === null ? null : { signal: signalIn(row), ...newestColumns.parse(row) };
      }),
    emit: (emission) => ask(() => database.transaction((session) => emit(session, emission))),
    withdraw: (one) => ask(() => database.transaction((session) => withdraw(session, one))),
    settle: (target, againS, epoch) =>
      ask(() =>
        database.transaction(async (session) => {
          // A late holder would let go of what an event has queued again meanwhile.
          if (!(await isLeaseHeld(session, SIGNAL_LEASE, epoch))) return false;
          await settleTarget(session, target, againS);
          return true;
        }),
      ),
    endRound: (epoch) =>
      ask(() =>
        database.transaction(async (session) => {
          if (!(await isLeaseHeld(session, SIGNAL_LEASE, epoch))) return false;
          await session.query(ROUND);
          return true;
        }),
      ),
  };
}

const HOLD_TARGET = 'select pg_advisory_xact_lock(hashtext($1))';

async function holdTarget(session: Session, { chain, address }: SignalTarget): Promise<void> {
  await session.query(HOLD_TARGET, [`signal ${chain} ${address}`], 'often');
}

async function settleTarget(
  session: Session,
  { chain, address }: SignalTarget,
  againS: number | null,
): Promise<void> {
  if (againS === null) await session.query(LET_GO, [chain, address], 'often');
  else await session.query(WAIT, [chain, address, againS]);
}

const LAST_ID = `
  select signal_id from signals where chain = $1 and address = $2 order by leaf desc limit 1`;

async function emit(session: Session, emission: Emission): Promise<boolean> {
  const { signal, newest, end, dispatches, round } = emission;
  if (round !== null && !(await isLeaseHeld(session, SIGNAL_LEASE, round.epoch))) return false;
  await holdTarget(session, signal);
  const found = rowOrNull(await session.query(LAST_ID, [signal.chain, signal.address], 'often'));
  const before = found === null ? null : idOrNone.parse(found).signal_id;
  if (before !== newest) return false;
  if (round === null) await session.query(EMITTED);
  else await settleTarget(session, signal, round.againS);
  await tell(session, dispatches);
  await insertSignal(session, signal);
  if (end !== null) await insertEnd(session, end.end, end.hash);
  return true;
}

async function withdraw(session: Session, withdrawal: Withdrawal): Promise<boolean> {
  const { end } = withdrawal;
  const found = rowOrNull(
    await session.query('select chain, address from signals where signal_id = $1', [end.signal_id]),
  );
  return found !== null && (await withdrawFound(session, targetRow.parse(found), withdrawal));
}

async function withdrawFound(
  session: Session,
  target: SignalTarget,
  { end, hash, dispatches }: Withdrawal,
): Promise<boolean> {
  await holdTarget(session, target);
  const gone = await session.query(
    `select 1 from signal_statuses where signal_id = $1 and state = 'withdrawn'`,
    [end.signal_id],
  );
  if (gone.length > 0) return false;
  await tell(session, dispatches);
  await insertEnd(session, end, hash);
  return true;
}

async function tell(session: Session, dispatches: readonly FlagDispatch[]): Promise<void> {
  if (dispatches.length === 0) return;
  const all = dispatches.map((one) =>
    Object.assign({ membership_id: null, kind: 'signal' as const }, one),
  );
  await appendDispatches(session, all);
}

const INSERT_SIGNAL = `
  with made as (
    insert into signals (signal_id, call_hash, version, chain, address, match_key, verdict,
      confidence_millionths, reasoning, evidence_used, evidence_hash, prompt_version, model,
      run_id, generated_at_unix, confidence_basis, confidence_n, cost_usd, cached, source_count,
      simulated, content_hash, rules_version, leaf)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11, $12, $13, $14, $15, $16, $17,
      $18, $19, $20, $21, $22, $23, $24)
  )
  insert into signal_bundles (signal_id, bytes) values ($1, $25)`;

// The counter of the log is taken last: all others who append wait for it.
async function insertSignal(session: Session, signal: NewSignal): Promise<void> {
  const { signal_id, call_hash: hash, generated_at_unix: at } = signal;
  const leaf = await appendLeaf(session, { kind: 'signal', hash, id: signal_id, at });
  await session.query(
    INSERT_SIGNAL,
    [
      ...[signal_id, hash, signal.version, signal.chain, signal.address],
      ...[matchKey(signal.address), signal.verdict, signal.confidence_millionths],
      signal.reasoning,
      signal.evidence_used,
      ...[signal.evidence_hash, signal.prompt_version, signal.model, signal.run_id, at],
      ...[signal.confidence_basis, signal.confidence_n, signal.cost_usd, signal.cached],
      ...[signal.source_count, signal.simulated, signal.content_hash, signal.rules_version, leaf],
      signal.bundle,
    ],
    'often',
  );
}

async function insertEnd(session: Session, end: SignalEnd, hash: `0x${string}`): Promise<void> {
  const { signal_id: id, state, at, reason, by } = end;
  const atUnix = Math.floor(Date.parse(at) / 1_000);
  const leaf = await appendLeaf(session, { kind: 'signal_status', hash, id, at: atUnix });
  await session.query(
    `insert into signal_statuses (signal_id, state, at, reason, by, hash, leaf)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, state, at, reason, by, hash, leaf],
  );
}

// What follows reads logs that anybody may read, and nothing else: a private question leaves no
// trace in them. A flag is read of chains whose launches are collected from the chain itself; on
// the others it is known only of wallets that somebody asked about.

/** Events of one kind that one round takes in. */
const EVENTS_MAX = 5_000;
/** Targets that may wait; while there are as many, the logs wait. */
const WAITING_MAX = 20_000;
/** A launch is an event for so long, and its launcher a target from so many settled ones on. */
const LAUNCH_AGE_S = 604_800;
const SETTLED_MIN = 3;
/** An import that never came to its end holds up those after it no longer than this. */
const IMPORT_OPEN_S = 86_400;
const FLAGS_OF = 'solana';

const PLACES = 'select source, place::float8 as place from signal_places';
const MOVE = `
  insert into signal_places as p (source, place) values ($1, $2)
  on conflict (source) do update set place = greatest(p.place, excluded.place)`;
const FLAGS = `
  select seq::float8 as place, chain, address, token from flag_events
  where seq > $1 and kind in ('flag', 'retraction') order by seq limit $2::int`;
const LISTED = `
  select distinct e.address from sanctions_entries e
  join sanctions_current c on c.publication_id = e.publication_id
  order by e.address limit $1::int`;
const LIST_PLACE = `
  select (select max(id)::float8 from sanctions_changes) as place,
    exists (select from sanctions_current where publication_id is not null) as is_loaded`;
const CHANGED = `
  select id::float8 as place, listing ->> 'address' as address from sanctions_changes
  where id > $1 order by id limit $2::int`;
const IMPORTED = `
  select coalesce(
    min(id) filter (where completed_at is null
      and started_at > control_now() - make_interval(secs => $1::int)) - 1,
    max(id))::float8 as place
  from table_imports where table_name = 'launches'`;
const LAUNCHERS = `
  select distinct l.deployer as address from launches l
  join table_imports i on i.id = l.import_id and i.completed_at is not null
  where l.import_id > $1 and l.import_id <= $2 and l.settled
    and l.launched_at > control_now() - make_interval(secs => $3::int)
    and (select count(distinct o.mint) from launches o
      where o.deployer = l.deployer and o.settled) >= $4::int
  order by l.deployer limit $5::int`;
const QUEUE = `
  insert into signal_targets as w (chain, address, queued_at, due_at)
  select q.chain, q.address, control_now(), control_now()
  from unnest($1::text[], $2::text[]) as q (chain, address)
  on conflict (chain, address) do update set due_at = least(w.due_at, excluded.due_at)`;

const waitingRow = z.object({ waiting: z.number() });
const placeRow = z.object({ source: z.string(), place: z.number() });
const placeOnly = z.object({ place: z.number().nullable() });
const loadedRow = placeOnly.extend({ is_loaded: z.boolean() });
const flagRow = z.object({
  place: z.number(),
  chain: z.string(),
  address: z.string(),
  token: z.string(),
});
const changeRow = z.object({ place: z.number(), address: z.string() });
const addressRow = z.object({ address: z.string() });

async function queue(session: Session, epoch: number): Promise<number> {
  if (!(await isLeaseHeld(session, SIGNAL_LEASE, epoch))) return 0;
  const counted = await session.query('select count(*)::float8 as waiting from signal_targets');
  if (waitingRow.parse(onlyRow(counted)).waiting >= WAITING_MAX) return 0;
  const places = new Map(
    z
      .array(placeRow)
      .parse(await session.query(PLACES))
      .map(({ source, place }) => [source, place]),
  );
  const targets = new Map<string, SignalTarget>();
  const add = (one: SignalTarget) => targets.set(`${one.chain} ${one.address}`, one);
  for (const one of await readFlags(session, places.get('flags'))) add(one);
  for (const one of await readList(session, places.get('list'))) add(one);
  for (const one of await readLaunches(session, places.get('launches'))) add(one);
  if (targets.size > 0) {
    await session.query(QUEUE, columnsOf([...targets.values()], ['chain', 'address']));
  }
  return targets.size;
}

async function readFlags(session: Session, before: number | undefined): Promise<SignalTarget[]> {
  const after = placeOrBeginning(before);
  const rows = z.array(flagRow).parse(await session.query(FLAGS, [after, EVENTS_MAX]));
  const last = rows.at(-1);
  if (last !== undefined) await session.query(MOVE, ['flags', last.place]);
  return rows
    .filter(({ chain }) => chain === FLAGS_OF)
    .flatMap(({ address, token }) => [
      { chain: FLAGS_OF, address },
      { chain: FLAGS_OF, address: token },
    ]);
}

/** The addresses that changed; of the list that is there at the beginning, all. */
async function readList(session: Session, before: number | undefined): Promise<SignalTarget[]> {
  if (before !== undefined) {
    const rows = z.array(changeRow).parse(await session.query(CHANGED, [before, EVENTS_MAX]));
    const last = rows.at(-1);
    if (last !== undefined) await session.query(MOVE, ['list', last.place]);
    return rows.flatMap(({ address }) => targetsOf(address));
  }
  const { place, is_loaded } = loadedRow.parse(onlyRow(await session.query(LIST_PLACE)));
  if (!is_loaded) return [];
  await session.query(MOVE, ['list', placeOrBeginning(place)]);
  const rows = z.array(addressRow).parse(await session.query(LISTED, [EVENTS_MAX]));
  return rows.flatMap(({ address }) => targetsOf(address));
}

async function readLaunches(session: Session, before: number | undefined): Promise<SignalTarget[]> {
  const newest = placeOnly.parse(onlyRow(await session.query(IMPORTED, [IMPORT_OPEN_S])));
  const place = placeOrBeginning(newest.place);
  await session.query(MOVE, ['launches', place]);
  const bounds = [placeOrBeginning(before), place, LAUNCH_AGE_S, SETTLED_MIN, EVENTS_MAX];
  const rows = z.array(addressRow).parse(await session.query(LAUNCHERS, bounds));
  return rows.flatMap(({ address }) => targetsOf(address));
}

const CHAIN_OF_KIND: { readonly [kind: string]: ChainName } = {
  evm: 'ethereum',
  solana: 'solana',
  bitcoin: 'bitcoin',
};

/** An address as a target, on the chain of its kind; of a kind that is not served, none. */
function targetsOf(text: string): SignalTarget[] {
  const known = parseKnownAddress(text);
  const chain = known === null ? undefined : CHAIN_OF_KIND[known.kind];
  return known === null || chain === undefined ? [] : [{ chain, address: known.address }];
}
