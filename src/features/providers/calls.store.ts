// The calls of providers over the control database. A call and its leaf are one transaction, and so
// are a question and what became of it: whoever is killed has kept all of a step or nothing.

import { z } from 'zod';
import type { UnixSeconds } from '../../chain/time.ts';
import { slices } from '../../evidence/measure.ts';
import {
  type AskEnd,
  askCount,
  type CallProduction,
  type CallResult,
  callResult,
  callStatement,
  countedCall,
  type DueAsk,
  dueAsk,
  type HashedRule,
  type KeptCall,
  keptCall,
  type LaunchSighting,
  launchSighting,
  type NewCall,
  OWN_PROVIDER,
  outcomeRule,
  ownStatement,
  type ProviderCalls,
  providerGap,
} from '../../ports/provider-calls.ts';
import { walkIn } from '../../stores/control/deployers.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
  storeTime,
} from '../../stores/control/engine/database.ts';
import { appendLeaf } from '../../stores/control/log-leaves.ts';

const PORT = 'provider_calls';
const WHAT = 'The table of calls of providers';
/** Records that one round looks through for new launches, and launches of Solana. */
const RECORDS_MAX = 50;
const LAUNCHES_MAX = 1_000;
/** Only launches whose window is open are asked about. */
const ASKED_WITHIN_S = 30 * 86_400;
const SECOND_AFTER_S = 86_400;
/** A question that nobody answered within this is missed. */
const EXPIRES_AFTER_S = 6 * 3_600;
/** A question without an answer is asked again after so long: others have their turn before. */
const AGAIN_AFTER_S = 600;
/** A launch that nobody observed waits for so long, and holds up none that was. */
const UNSEEN_S = 7 * 86_400;
/** Rounds further apart than this leave a gap. */
const ROUND_GAP_S = 300;
const LISTED_MAX = 10_000;
const STATEMENT_ROWS = 500;

const CALL = `c.call_id, c.hash, c.leaf::float8 as leaf, c.provider, c.kind, c.chain, c.subject,
  c.horizon_h, c.says, c.probability, c.reference, c.rests_on, c.called_at::float8 as called_at,
  c.received_at::float8 as received_at, c.rule_version, c.window_end::float8 as window_end,
  c.prospective, o.happened, o.cause, o.rests_on as outcome_rests_on,
  o.scored_at::float8 as scored_at`;
const CALLS = `select ${CALL} from provider_calls c left join provider_outcomes o using (call_id)`;

const statementColumns = callStatement.omit({ subject: true });
const callColumns = z.object({
  ...statementColumns.shape,
  ...keptCall.pick({ call_id: true, hash: true, leaf: true }).shape,
  kind: z.string(),
  chain: z.string().nullable(),
  subject: z.string(),
  horizon_h: z.int().nullable(),
  happened: z.boolean().nullable(),
  cause: z.string().nullable(),
  outcome_rests_on: z.unknown(),
  scored_at: z.number().nullable(),
});

function callIn(row: object): KeptCall {
  const { kind, chain, subject, horizon_h, happened, cause, ...rest } = callColumns.parse(row);
  const { outcome_rests_on, scored_at, ...said } = rest;
  const about =
    kind === 'token_risk' ? { kind, chain, token: subject } : { kind, asset: subject, horizon_h };
  return keptCall.parse({
    ...said,
    subject: about,
    outcome: outcomeIn({ happened, cause, rests_on: outcome_rests_on, scored_at }),
  });
}

function outcomeIn({
  happened,
  cause,
  rests_on,
  scored_at,
}: {
  readonly happened: boolean | null;
  readonly cause: string | null;
  readonly rests_on: unknown;
  readonly scored_at: number | null;
}): CallResult {
  if (scored_at === null) return { state: 'pending' };
  return callResult.parse(
    happened === null
      ? { state: 'unscorable', cause, scored_at }
      : { state: 'scored', happened, rests_on, scored_at },
  );
}

const ruleRow = outcomeRule.extend({
  hash: z.string(),
  leaf: z.number(),
  in_force_from: z.number(),
});
const MISSES = `${CALLS} where o.happened is not null and o.happened <> c.says
    and ($1::bigint is null or c.leaf < $1::bigint)
  order by c.leaf desc limit $2::int`;

const BOARD = `
  select ${epochSecond('b.made_at')}, b.text, exists (select from provider_calls) as any_call
  from (select) one left join provider_board b on true`;
const boardRow = z.object({
  made_at: z.number().nullable(),
  text: z.string().nullable(),
  any_call: z.boolean(),
});

/** The calls for whoever reads them. */
export function providerCallTable(database: Database, context: ControlContext): ProviderCalls {
  const { ask } = controlReadings(PORT, WHAT, context);
  return {
    board: () =>
      ask(async () => {
        const row = boardRow.parse(onlyRow(await database.query(BOARD, [], 'often')));
        const { made_at, text, any_call } = row;
        const kept = made_at === null || text === null ? null : { made_at, text };
        return { kept, any_call };
      }),
    find: (id) =>
      ask(async () => {
        const row = rowOrNull(await database.query(`${CALLS} where c.call_id = $1`, [id]));
        return row === null ? null : callIn(row);
      }),
    misses: ({ before, limit }) =>
      ask(async () => (await database.query(MISSES, [before, limit], 'often')).map(callIn)),
    rules: () =>
      ask(async () =>
        z.array(ruleRow).parse(
          await database.query(
            `select version, kind, text, hash, leaf::float8 as leaf, ${epochSecond('in_force_from')}
             from outcome_rules order by leaf`,
          ),
        ),
      ),
  };
}

const DUE = `
  select provider, chain, token, ordinal::int as ordinal, launched_at::float8 as launched_at
  from provider_asks join recorded_launches using (chain, token)
  where provider = $1 and state = 'due' and due_at <= control_now()
  order by due_at, token limit $2::int`;
const EXPIRE = `
  update provider_asks set state = 'missed'
  where state = 'due' and expires_at <= control_now()`;
const OWN = `
  select s.signal_id, s.chain, s.address as token, a.launched_at::float8 as launched_at,
    s.generated_at_unix::float8 as generated_at_unix, s.leaf > r.leaf as after_rule
  from signals s
  join recorded_launches a on a.chain = s.chain and a.token = s.address
  join outcome_rules r on r.version = $2
  where s.verdict = 'avoid'
    and not exists (
      select from provider_calls c
      where c.provider = '${OWN_PROVIDER}' and c.reference = s.signal_id)
  order by s.leaf limit $1::int`;
const UNDECIDED = `${CALLS}
  where o.call_id is null and c.kind = $4 and c.window_end <= $1::bigint
    and (c.kind <> 'token_risk' or c.window_end <= $1::bigint - $3::int
      or exists (select from launch_sightings s
        where s.chain = c.chain and s.token = c.subject and s.captured_at >= c.window_end))
  order by c.window_end, c.call_id limit $2::int`;
const COUNTED = `
  select c.provider, c.kind, c.rule_version, c.says, c.prospective,
    c.received_at::float8 as received_at, c.leaf::float8 as leaf,
    coalesce(c.chain || ' ', '') || c.subject as subject,
    c.probability::float8 as probability, o.happened,
    case when o.call_id is null then 'pending' when o.happened is null then 'unscorable'
      else 'scored' end as state
  from provider_calls c left join provider_outcomes o using (call_id)
  where c.leaf > $1::bigint order by c.leaf limit $2::int`;
const ASKED = `
  select provider, count(*)::float8 as launches,
    count(*) filter (where was_called)::float8 as called
  from (
    select provider, bool_or(state = 'called') as was_called, bool_or(state = 'due') as waits
    from provider_asks join recorded_launches using (chain, token)
    where first_seen_at >= $1::timestamptz group by provider, chain, token
  ) launches
  where was_called or not waits group by provider order by provider`;
const SIGHTINGS = `
  select chain, token, captured_at::float8 as captured_at, outcome from launch_sightings
  where chain = $1 and token = $2 order by captured_at`;
const ROUND = `
  insert into provider_watch as w (provider, since, answered_at)
  values ($1, control_now(), control_now())
  on conflict (provider) do update set answered_at = case when $2 then w.answered_at
    else control_now() end
  returning provider`;
const GAP = `
  insert into provider_gaps as g (provider, from_at, to_at)
  select provider, answered_at, control_now() from provider_watch
  where provider = $1 and answered_at < control_now() - make_interval(secs => $2::int)
  on conflict (provider, from_at) do update set to_at = excluded.to_at`;

/** The calls for whoever collects and scores them. */
export function callProductionTable(database: Database, context: ControlContext): CallProduction {
  const { ask, run } = controlReadings(PORT, WHAT, context);
  const within = <T>(work: (session: Session) => Promise<T>) =>
    ask(() => database.transaction(work));
  return {
    publishRules: (rules, now) =>
      within(async (session) => {
        let made = 0;
        for (const rule of rules) made += await publishRule(session, rule, now);
        return made;
      }),
    noteLaunches: (providers) =>
      within(async (session) => {
        const found = [...(await newRecorded(session)), ...(await newCollected(session))];
        for (const some of slices(found, STATEMENT_ROWS)) await note(session, some, providers);
        return found.length;
      }),
    dueAsks: (provider, limit) =>
      ask(async () => {
        await database.query(EXPIRE);
        return z.array(dueAsk).parse(await database.query(DUE, [provider, limit]));
      }),
    endAsk: (asked, end) => within((session) => endAsk(session, asked, end)),
    add: (calls) =>
      within(async (session) => {
        let added = 0;
        for (const call of calls) added += await insertCall(session, call);
        return added;
      }),
    ownStatements: (rule_version, limit) =>
      ask(async () =>
        z.array(ownStatement).parse(await database.query(OWN, [limit, rule_version])),
      ),
    noteSightings: () => within(noteSightings),
    sightingsOf: ({ chain, token }) =>
      ask(async () =>
        z.array(launchSighting).parse(await database.query(SIGHTINGS, [chain, token], 'often')),
      ),
    undecided: (kind, now, limit) =>
      ask(async () => (await database.query(UNDECIDED, [now, limit, UNSEEN_S, kind])).map(callIn)),
    decide: (call_id, outcome) => run(() => insertOutcome(database, call_id, outcome)),
    noteRound: (provider, failed) =>
      run(() =>
        database.transaction(async (session) => {
          await session.query(GAP, [provider, ROUND_GAP_S]);
          await session.query(ROUND, [provider, failed]);
        }),
      ),
    counted: (afterLeaf, limit) =>
      ask(async () =>
        z.array(countedCall).parse(await database.query(COUNTED, [afterLeaf, limit])),
      ),
    gaps: () =>
      ask(async () =>
        z.array(providerGap).parse(
          await database.query(
            `select provider, ${epochSecond('from_at')}, ${epochSecond('to_at')} from provider_gaps
             order by to_at desc limit $1::int`,
            [LISTED_MAX],
          ),
        ),
      ),
    asks: (since) =>
      ask(async () => z.array(askCount).parse(await database.query(ASKED, [storeTime(since)]))),
    keepBoard: ({ made_at, text }) =>
      run(() =>
        database.query(
          `insert into provider_board (made_at, text) values ($1, $2)
           on conflict (one) do update set made_at = excluded.made_at, text = excluded.text`,
          [storeTime(made_at), text],
        ),
      ),
  };
}

async function publishRule(session: Session, rule: HashedRule, now: UnixSeconds): Promise<number> {
  const known = await session.query('select 1 from outcome_rules where version = $1', [
    rule.version,
  ]);
  if (known.length > 0) return 0;
  const { hash } = rule;
  const leaf = await appendLeaf(session, { kind: 'outcome_rule', hash, id: rule.version, at: now });
  await session.query(
    `insert into outcome_rules (version, kind, text, hash, leaf, in_force_from)
     values ($1, $2, $3, $4, $5, $6)`,
    [rule.version, rule.kind, rule.text, hash, leaf, storeTime(now)],
  );
  return 1;
}

// The counter of the log is taken last, and only by what is new.
async function insertCall(session: Session, call: NewCall): Promise<number> {
  const { call_id, hash, said_hash, statement } = call;
  const said = await session.query('select 1 from provider_calls where said_hash = $1', [
    said_hash,
  ]);
  if (said.length > 0) return 0;
  const { subject, received_at } = statement;
  const [kind, chain, about, horizon] =
    subject.kind === 'token_risk'
      ? [subject.kind, subject.chain, subject.token, null]
      : [subject.kind, null, subject.asset, subject.horizon_h];
  const leaf = await appendLeaf(session, {
    kind: 'provider_call',
    hash,
    id: call_id,
    at: received_at,
  });
  await session.query(
    `insert into provider_calls (call_id, hash, said_hash, provider, kind, chain, subject,
       horizon_h, says, probability, reference, rests_on, called_at, received_at, rule_version,
       window_end, prospective, leaf)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14, $15, $16, $17,
       $18)`,
    [
      ...[call_id, hash, said_hash, statement.provider, kind, chain, about, horizon],
      ...[statement.says, statement.probability, statement.reference],
      ...[JSON.stringify(statement.rests_on), statement.called_at, received_at],
      ...[statement.rule_version, statement.window_end, statement.prospective, leaf],
    ],
  );
  return 1;
}

async function insertOutcome(
  database: Database,
  call_id: string,
  outcome: CallResult,
): Promise<void> {
  if (outcome.state === 'pending') return;
  const isScored = outcome.state === 'scored';
  await database.query(
    `insert into provider_outcomes (call_id, happened, cause, rests_on, scored_at)
     values ($1, $2, $3, $4::jsonb, $5) on conflict (call_id) do nothing`,
    [
      call_id,
      isScored ? outcome.happened : null,
      isScored ? null : outcome.cause,
      JSON.stringify(isScored ? outcome.rests_on : {}),
      outcome.scored_at,
    ],
  );
}

async function endAsk(
  session: Session,
  { provider, chain, token, ordinal }: z.output<typeof dueAsk>,
  end: AskEnd,
): Promise<boolean> {
  const key = [provider, chain, token, ordinal];
  const OF = 'provider = $1 and chain = $2 and token = $3 and ordinal = $4';
  if (end.state === 'unread') {
    await session.query(
      `update provider_asks
       set failure = $5, due_at = control_now() + make_interval(secs => $6::int)
       where ${OF} and state = 'due'`,
      [...key, end.reason, AGAIN_AFTER_S],
    );
    return false;
  }
  const waits = await session.query(
    `update provider_asks set state = $5, failure = null
     where ${OF} and state = 'due' returning provider`,
    [...key, end.state],
  );
  if (waits.length === 0) return false;
  if (end.state === 'called') await insertCall(session, end.call);
  return true;
}

// New launches are found by the time at which their record was captured, or they were collected.

type NewLaunch = {
  readonly chain: 'ethereum' | 'solana';
  readonly token: string;
  readonly deployer: string;
  readonly launched_at: UnixSeconds;
  /** What its record says of it already; `null`: it was seen to be launched, and no more. */
  readonly seen: Pick<LaunchSighting, 'outcome' | 'captured_at'> | null;
};

const placeRow = z.object({ at: z.date(), key: z.string() });
const RECORDED = `
  select address as key, captured_at as at, walk from deployer_records
  where (captured_at, address) > ($1::timestamptz, $2::text)
  order by captured_at, address limit $3::int`;
const COLLECTED = `
  select mint as key, collected_at as at, deployer,
    floor(extract(epoch from launched_at))::float8 as launched_at
  from collected_launches where (collected_at, mint) > ($1::timestamptz, $2::text)
  order by collected_at, mint limit $3::int`;
const recordRow = placeRow.extend({ walk: z.string() });
const collectedRow = placeRow.extend({ deployer: z.string(), launched_at: z.int() });

/** Where a source was left; the first look begins now, so that no old launch is asked about. */
async function placeOf(session: Session, source: string): Promise<z.output<typeof placeRow>> {
  const rows = await session.query(
    `insert into provider_places (source, at, key) values ($1, control_now(), '')
     on conflict (source) do update set source = excluded.source returning at, key`,
    [source],
  );
  return placeRow.parse(onlyRow(rows));
}

async function movePlace(
  session: Session,
  source: string,
  last: z.output<typeof placeRow> | undefined,
): Promise<void> {
  if (last === undefined) return;
  await session.query('update provider_places set at = $2, key = $3 where source = $1', [
    source,
    last.at,
    last.key,
  ]);
}

async function newRecorded(session: Session): Promise<NewLaunch[]> {
  const { at, key } = await placeOf(session, 'ethereum');
  const rows = z.array(recordRow).parse(await session.query(RECORDED, [at, key, RECORDS_MAX]));
  await movePlace(session, 'ethereum', rows.at(-1));
  return rows.flatMap(({ walk }) => {
    const { address: deployer, captured_at, launches } = walkIn(walk);
    return launches.map(({ address: token, created_at: launched_at, outcome }) => ({
      chain: 'ethereum' as const,
      token,
      deployer,
      launched_at,
      seen: { outcome, captured_at },
    }));
  });
}

async function newCollected(session: Session): Promise<NewLaunch[]> {
  const { at, key } = await placeOf(session, 'solana');
  const rows = z.array(collectedRow).parse(await session.query(COLLECTED, [at, key, LAUNCHES_MAX]));
  await movePlace(session, 'solana', rows.at(-1));
  return rows.map(({ key: token, deployer, launched_at }) => ({
    chain: 'solana' as const,
    token,
    deployer,
    launched_at,
    seen: null,
  }));
}

const NOTE = `
  insert into recorded_launches (chain, token, deployer, launched_at, first_seen_at)
  select chain, token, deployer, launched_at, control_now()
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
    as q (chain, token, deployer, launched_at)
  where to_timestamp(launched_at) > control_now() - make_interval(secs => $5::int)
  on conflict do nothing returning token`;
const tokenRow = z.object({ token: z.string() });
const ASK = `
  insert into provider_asks (provider, chain, token, ordinal, due_at, expires_at, state)
  select $1, $2, q.token, n.ordinal, control_now() + n.after,
    control_now() + n.after + make_interval(secs => $4::int), 'due'
  from unnest($3::text[]) as q (token),
    (values (1::smallint, interval '0'), (2::smallint, make_interval(secs => $5::int)))
      as n (ordinal, after)`;

async function note(
  session: Session,
  launches: readonly NewLaunch[],
  providers: readonly Pick<DueAsk, 'provider' | 'chain'>[],
): Promise<void> {
  const columns = columnsOf(launches, ['chain', 'token', 'deployer', 'launched_at']);
  const rows = await session.query(NOTE, [...columns, ASKED_WITHIN_S]);
  const noted = new Set(
    z
      .array(tokenRow)
      .parse(rows)
      .map(({ token }) => token),
  );
  // A death that is on record already makes what is said of it retrospective.
  const sightings = launches.flatMap(({ chain, token, seen }) =>
    seen !== null && noted.has(token) ? [{ chain, token, ...seen }] : [],
  );
  await keepSightings(session, sightings);
  for (const { provider, chain } of providers) {
    const tokens = launches.flatMap((one) =>
      one.chain === chain && noted.has(one.token) ? [one.token] : [],
    );
    const times = [EXPIRES_AFTER_S, SECOND_AFTER_S];
    await session.query(ASK, [provider, chain, [...new Set(tokens)], ...times]);
  }
}

// A launch on which calls wait is looked up where its outcome stands anyway.

const WAITING = `
  select c.chain, c.subject as token, a.deployer
  from provider_calls c
  join recorded_launches a on a.chain = c.chain and a.token = c.subject
  where c.kind = 'token_risk'
    and not exists (select from provider_outcomes o where o.call_id = c.call_id)
  group by c.chain, c.subject, a.deployer order by min(c.window_end) limit $1::int`;
const waitingRow = z.object({ chain: z.string(), token: z.string(), deployer: z.string() });
const WALKS = 'select walk from deployer_records where address = any($1::text[])';
const walkRow = z.object({ walk: z.string() });
const SETTLED = `
  select distinct on (l.mint) 'solana' as chain, l.mint as token,
    floor(extract(epoch from l.last_checked_at))::float8 as captured_at,
    case when l.listed_after_window then 'live' else 'died' end as outcome
  from launches l join table_imports i on i.id = l.import_id and i.completed_at is not null
  where l.mint = any($1::text[]) and l.settled
  order by l.mint, l.last_checked_at desc`;
const KEEP = `
  insert into launch_sightings (chain, token, captured_at, outcome)
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[])
  on conflict do nothing returning 1`;

async function noteSightings(session: Session): Promise<number> {
  const waiting = z.array(waitingRow).parse(await session.query(WAITING, [LISTED_MAX]));
  const sightings: LaunchSighting[] = [];
  const ethereum = waiting.filter(({ chain }) => chain === 'ethereum');
  const tokens = new Set(ethereum.map(({ token }) => token));
  for (const some of slices([...new Set(ethereum.map(({ deployer }) => deployer))], RECORDS_MAX)) {
    for (const { walk } of z.array(walkRow).parse(await session.query(WALKS, [some]))) {
      const { captured_at, launches } = walkIn(walk);
      for (const { address: token, outcome } of launches) {
        if (tokens.has(token)) sightings.push({ chain: 'ethereum', token, outcome, captured_at });
      }
    }
  }
  const mints = waiting.flatMap(({ chain, token }) => (chain === 'solana' ? [token] : []));
  sightings.push(...z.array(launchSighting).parse(await session.query(SETTLED, [mints])));
  return keepSightings(session, sightings);
}

async function keepSightings(
  session: Session,
  sightings: readonly LaunchSighting[],
): Promise<number> {
  let kept = 0;
  for (const some of slices(sightings, STATEMENT_ROWS)) {
    const columns = columnsOf(some, ['chain', 'token', 'captured_at', 'outcome']);
    kept += (await session.query(KEEP, columns)).length;
  }
  return kept;
}
