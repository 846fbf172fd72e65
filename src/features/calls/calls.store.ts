// The record of calls over the control database. A tick, its calls and their leaves are one
// transaction: whoever is killed has kept all of it or nothing.

import { z } from 'zod';
import {
  type CallClosing,
  type DetectorKind,
  type DetectorRun,
  detectorRun,
  detectorVersion,
  EMISSION_LEASE,
  type EmissionOutcome,
  type EmissionStore,
  type EmissionTick,
  type EmittedCall,
  type EmittedCalls,
  type EmittedCallsPort,
  emissionOutcome,
  emittedCall,
  type HashedVersion,
  type NewEmission,
  type RanSpan,
} from '../../ports/emitted-calls.ts';
import type { FlagDispatch } from '../../ports/integrations.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
  storeTime,
} from '../../stores/control/engine/database.ts';
import { isLeaseHeld } from '../../stores/control/leases.ts';
import { appendLeaf } from '../../stores/control/log-leaves.ts';
import { appendDispatches } from '../../stores/control/outbox.ts';

const PORT: EmittedCallsPort = 'emitted_calls';
const WHAT = 'The record of calls';
/** Runs of one span: hourly ticks of four kinds over a year, each under other conditions. */
const RUNS_MAX = 40_000;

const SAID = `c.kind, c.asset, c.venue, c.direction, c.conviction, c.price,
  c.emitted_at::float8 as emitted_at, c.horizon_h, c.detector_version, c.bar,
  c.window_number::float8 as "window", c.features, c.simulated`;
const OUTCOME = `o.state, o.cause, o.closing, o.closed_at::float8 as closed_at,
  r.closing as restated_closing, r.restated_at::float8 as restated_at`;
const OUTCOMES = `left join call_outcomes o using (call_id) left join lateral (
    select * from call_restatements t where t.call_id = c.call_id
    order by t.restated_at desc limit 1
  ) r on true`;
const COUNTED = `c.call_id, c.leaf::float8 as leaf, ${SAID}, ${OUTCOME}`;
const CALL = `c.hash, c.inputs, ${COUNTED}`;
const CALLS = `select ${CALL} from emitted_calls c ${OUTCOMES}`;

const outcomeColumns = z.object({
  state: z.string().nullable(),
  cause: z.string().nullable(),
  closing: z.unknown(),
  closed_at: z.number().nullable(),
  restated_closing: z.unknown(),
  restated_at: z.number().nullable(),
});
const stated = emittedCall.omit({ outcome: true });
const statedColumns = stated.strip();
const countedCall = emittedCall.omit({ inputs: true, hash: true });
const countedColumns = countedCall.omit({ outcome: true }).strip();

function outcomeIn(row: object): EmissionOutcome {
  const { state, cause, closed_at, ...told } = outcomeColumns.parse(row);
  if (state === null) return { state: 'open' };
  if (state === 'unpriced') return emissionOutcome.parse({ state, cause, closed_at });
  const { closing, restated_at, restated_closing } = told;
  const restated =
    restated_at === null ? null : Object.assign({}, restated_closing, { restated_at });
  return emissionOutcome.parse(Object.assign({ state, closed_at, restated }, closing));
}

function callIn(row: object): EmittedCall {
  return { ...statedColumns.parse(row), outcome: outcomeIn(row) };
}

function summaryIn(row: object): z.output<typeof countedCall> {
  return { ...countedColumns.parse(row), outcome: outcomeIn(row) };
}

// The places and the calls behind them are of one statement: what became of a call meanwhile is
// told once more behind a later place.
const CHANGED = `
  with page as (
    select place, call_id from call_changes where place > $1::bigint order by place limit $2::int
  ), calls as (select call_id, max(place) as place from page group by call_id)
  select p.place::float8 as place, ${COUNTED}
  from calls p join emitted_calls c using (call_id) ${OUTCOMES}
  order by p.place`;
const placeColumn = z.object({ place: z.number() });

const versionRow = detectorVersion.extend({
  hash: z.string(),
  leaf: z.number(),
  in_force_from: z.number(),
});
const VERSIONS = `
  select version, kind, bar, cooldown_h, horizon_h, parameters, text, hash, leaf::float8 as leaf,
    ${epochSecond('in_force_from')}
  from detector_versions order by leaf`;

const RAN = `
  select kind, from_at::float8 as "from", to_at::float8 as "to" from detector_runs
  where whole order by kind, from_at`;
const ranRow = z.object({ kind: z.string(), from: z.number(), to: z.number() });

/** The calls for whoever reads them. */
export function emittedCallTable(database: Database, context: ControlContext): EmittedCalls {
  const { ask } = controlReadings(PORT, WHAT, context);
  const findOne = (where: string, params: readonly string[]) =>
    ask(async () => {
      const row = rowOrNull(await database.query(`${CALLS} ${where}`, params, 'often'));
      return row === null ? null : callIn(row);
    });
  return {
    changedSince: (place, limit) =>
      ask(async () => {
        const rows = await database.query(CHANGED, [place, limit], 'often');
        const places = rows.map((row) => placeColumn.parse(row).place);
        return { calls: rows.map(summaryIn), place: Math.max(place, ...places) };
      }),
    find: (id) => findOne('where c.call_id = $1', [id]),
    newestOf: (asset) =>
      findOne('where c.asset = $1 order by c.emitted_at desc, c.leaf desc limit 1', [asset]),
    versions: () => ask(async () => z.array(versionRow).parse(await database.query(VERSIONS))),
    ran: () => ask(async () => joinRuns(z.array(ranRow).parse(await database.query(RAN)))),
  };
}

/** Stretches of each kind that do not touch, whatever changed between them. */
function joinRuns(rows: readonly z.output<typeof ranRow>[]): {
  readonly [K in DetectorKind]: readonly RanSpan[];
} {
  const spansOf = (kind: DetectorKind) => {
    const joined: { from: number; to: number }[] = [];
    for (const { from, to } of rows.filter((row) => row.kind === kind)) {
      const last = joined.at(-1);
      if (last !== undefined && last.to >= from) last.to = Math.max(last.to, to);
      else joined.push({ from, to });
    }
    return joined;
  };
  return {
    funding: spansOf('funding'),
    liq: spansOf('liq'),
    netflow: spansOf('netflow'),
    whale: spansOf('whale'),
  };
}

const RUNS = `
  select kind, detector_version, from_at::float8 as "from", to_at::float8 as "to", whole, assets
  from detector_runs where from_at < $2::bigint and to_at > $1::bigint
  order by from_at, kind limit ${RUNS_MAX + 1}`;
const LAST_RUN = `
  select kind, detector_version, from_at::float8 as "from", to_at::float8 as "to", whole, assets
  from detector_runs where kind = $1 order by from_at desc limit 1`;
const DUE = 'c.emitted_at + c.horizon_h * 3600';

/** The calls for whoever emits and settles them. */
export function emissionTable(database: Database, context: ControlContext): EmissionStore {
  const { ask } = controlReadings(PORT, WHAT, context);
  const within = <T>(work: (session: Session) => Promise<T>) =>
    ask(() => database.transaction(work));
  return {
    publishVersions: (versions, now) =>
      within(async (session) => {
        let made = 0;
        for (const version of versions) made += await publishVersion(session, version, now);
        return made;
      }),
    emit: (tick) => within((session) => emitTick(session, tick)),
    runs: ({ from, to }) =>
      ask(async () => {
        const rows = z.array(detectorRun).parse(await database.query(RUNS, [from, to]));
        if (rows.length > RUNS_MAX) throw new RangeError(`over ${RUNS_MAX} runs in a span`);
        return rows;
      }),
    emitted: ({ from, to }, afterLeaf, limit) =>
      ask(async () => {
        const rows = await database.query(
          `${CALLS} where c.emitted_at >= $1::bigint and c.emitted_at < $2::bigint
             and c.leaf > $3::bigint order by c.leaf limit $4::int`,
          [from, to, afterLeaf, limit],
        );
        return rows.map(callIn);
      }),
    undecided: (now, { due, leaf }, limit) =>
      ask(async () => {
        const rows = await database.query(
          `${CALLS} where o.call_id is null and ${DUE} <= $1::bigint
             and (${DUE}, c.leaf) > ($2::bigint, $3::bigint)
           order by ${DUE}, c.leaf limit $4::int`,
          [now, due, leaf, limit],
        );
        return rows.map(callIn);
      }),
    settle: (id, outcome, epoch) => within((session) => settleCall(session, id, outcome, epoch)),
    closed: (since, afterLeaf, limit) =>
      ask(async () => {
        const rows = await database.query(
          `${CALLS} where o.state = 'closed' and o.closed_at >= $1::bigint
             and c.leaf > $2::bigint order by c.leaf limit $3::int`,
          [since, afterLeaf, limit],
        );
        return rows.map(callIn);
      }),
    restate: (id, closing, epoch) => within((session) => restateCall(session, id, closing, epoch)),
  };
}

async function publishVersion(
  session: Session,
  version: HashedVersion,
  now: number,
): Promise<number> {
  const { version: id, hash } = version;
  const known = rowOrNull(
    await session.query('select hash from detector_versions where version = $1', [id]),
  );
  if (known !== null) {
    if (z.object({ hash: z.string() }).parse(known).hash === hash) return 0;
    throw new Error(`${id} was published with other parameters: a change is another version`);
  }
  const leaf = await appendLeaf(session, { kind: 'version', hash, id, at: now });
  await session.query(
    `insert into detector_versions (version, kind, bar, cooldown_h, horizon_h, parameters, text,
       hash, leaf, in_force_from)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10)`,
    [
      ...[id, version.kind, version.bar, version.cooldown_h, version.horizon_h],
      ...[JSON.stringify(version.parameters), version.text, hash, leaf, storeTime(now)],
    ],
  );
  return 1;
}

async function emitTick(
  session: Session,
  { epoch, run, calls, dispatches, at }: EmissionTick,
): Promise<readonly string[] | null> {
  if (!(await isLeaseHeld(session, EMISSION_LEASE, epoch))) return null;
  if (!(await keepRun(session, run))) return null;
  const fresh: NewEmission[] = [];
  for (const call of calls) if (!(await isKnown(session, call))) fresh.push(call);
  await tell(session, fresh, dispatches);
  // The counter of the log is taken last, and only by what is new.
  for (const call of fresh) await insertCall(session, call, at);
  return fresh.map(({ call_id }) => call_id);
}

async function keepRun(session: Session, run: DetectorRun): Promise<boolean> {
  const { kind, detector_version, from, to, whole, assets } = run;
  const row = rowOrNull(await session.query(LAST_RUN, [kind]));
  const last = row === null ? null : detectorRun.parse(row);
  if (last !== null && last.to > from) return false;
  const isSame =
    last?.to === from &&
    last.detector_version === detector_version &&
    last.whole === whole &&
    last.assets.join(' ') === assets.join(' ');
  if (isSame) {
    await session.query('update detector_runs set to_at = $3 where kind = $1 and from_at = $2', [
      ...[kind, last.from, to],
    ]);
    return true;
  }
  await session.query(
    `insert into detector_runs (kind, from_at, to_at, detector_version, whole, assets)
     values ($1, $2, $3, $4, $5, $6::text[])`,
    [kind, from, to, detector_version, whole, assets],
  );
  return true;
}

async function isKnown(session: Session, { said }: NewEmission): Promise<boolean> {
  const known = await session.query(
    `select 1 from emitted_calls where kind = $1 and asset = $2 and direction = $3
       and detector_version = $4 and window_number = $5`,
    [said.kind, said.asset, said.direction, said.detector_version, said.window],
  );
  return known.length > 0;
}

async function tell(
  session: Session,
  calls: readonly NewEmission[],
  dispatches: ReadonlyMap<string, FlagDispatch>,
): Promise<void> {
  const all = calls.flatMap(({ call_id }) => {
    const one = dispatches.get(call_id);
    return one === undefined
      ? []
      : [Object.assign({ membership_id: null, kind: 'call' as const }, one)];
  });
  if (all.length > 0) await appendDispatches(session, all);
}

async function insertCall(session: Session, call: NewEmission, at: number): Promise<void> {
  const { call_id, hash, said } = call;
  const leaf = await appendLeaf(session, { kind: 'call', hash, id: call_id, at });
  const { kind, asset, venue, direction, conviction, price, emitted_at, horizon_h } = said;
  await session.query(
    `insert into emitted_calls (call_id, hash, kind, asset, venue, direction, conviction, price,
       emitted_at, horizon_h, detector_version, bar, window_number, inputs, features, simulated,
       leaf)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15::jsonb, $16,
       $17)`,
    [
      ...[call_id, hash, kind, asset, venue, direction, conviction, price, emitted_at, horizon_h],
      ...[said.detector_version, said.bar, said.window, JSON.stringify(said.inputs)],
      ...[JSON.stringify(said.features), said.simulated, leaf],
    ],
  );
  await notePlace(session, call_id);
}

/** Numbers an addition to a call. */
async function notePlace(session: Session, call_id: string): Promise<void> {
  const counted = await session.query(
    `insert into call_places as p (place) values (1)
     on conflict (one) do update set place = p.place + 1 returning place::float8 as place`,
  );
  const { place } = placeColumn.parse(onlyRow(counted));
  await session.query('insert into call_changes (place, call_id) values ($1, $2)', [
    place,
    call_id,
  ]);
}

async function settleCall(
  session: Session,
  call_id: string,
  outcome: Exclude<EmissionOutcome, { readonly state: 'open' }>,
  epoch: number,
): Promise<boolean> {
  if (!(await isLeaseHeld(session, EMISSION_LEASE, epoch))) return false;
  const { state, closed_at } = outcome;
  const [cause, closing] =
    outcome.state === 'closed' ? [null, closingText(outcome)] : [outcome.cause, null];
  const kept = await session.query(
    `insert into call_outcomes (call_id, state, cause, closing, closed_at)
     values ($1, $2, $3, $4::jsonb, $5) on conflict (call_id) do nothing returning 1 as one`,
    [call_id, state, cause, closing, closed_at],
  );
  if (kept.length === 0) return false;
  await notePlace(session, call_id);
  return true;
}

async function restateCall(
  session: Session,
  call_id: string,
  { restated_at, ...closing }: CallClosing & { readonly restated_at: number },
  epoch: number,
): Promise<boolean> {
  if (!(await isLeaseHeld(session, EMISSION_LEASE, epoch))) return false;
  const kept = await session.query(
    `insert into call_restatements (call_id, restated_at, closing) values ($1, $2, $3::jsonb)
     on conflict do nothing returning 1 as one`,
    [call_id, restated_at, closingText(closing)],
  );
  if (kept.length === 0) return false;
  await notePlace(session, call_id);
  return true;
}

function closingText(closing: CallClosing): string {
  const { entry_at_ms, entry, exit_at_ms, exit, gross_return, funding_paid, delisted } = closing;
  return JSON.stringify({
    entry_at_ms,
    entry,
    exit_at_ms,
    exit,
    gross_return,
    funding_paid,
    delisted,
  });
}
