// The scores of a wallet and the events about them are one transaction: a killed process leaves all
// of it or nothing. A process that scores a wallet second finds that it was scored.

import { z } from 'zod';
import { DAY_S, HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { unread } from '../../evidence/reading.ts';
import {
  type DeployerWalk,
  type LaunchedWith,
  omissionsIn,
  WRAPPED_ETHER,
} from '../../ports/deployers.ts';
import { staleness } from '../../ports/launches.ts';
import type { NewFlagEvent } from '../../ports/rug-flags.ts';
import {
  type Committed,
  type Due,
  type LaunchRecord,
  type LaunchScoring,
  type LaunchScoringPort,
  SCORED_CHAINS,
  type ScoredChainName,
  type ScoredLaunch,
  type ScoredWallet,
  type ScoringModel,
  type WalletToScore,
} from '../../ports/rug-model.ts';
import { walkIn } from './deployers.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  type Param,
  type Session,
  storeTime,
} from './engine/database.ts';
import { appendFlagEvents } from './rug-flags.ts';
import { readFates } from './rug-models.ts';

/** Runs are kept for so long, and the newest of each chain for good. */
const RUNS_KEPT_DAYS = 7;

// Nothing comes back where the same, or something newer, was scored already.
const CLAIM = `
  insert into scored_wallets as w (chain, address, observed_at, model_version)
  values ($1, $2, $3, $4)
  on conflict (chain, address) do update
    set observed_at = excluded.observed_at, model_version = excluded.model_version
    where w.observed_at <= excluded.observed_at
      and (w.observed_at, w.model_version) <> (excluded.observed_at, excluded.model_version)
  returning address`;
const FORGET = `
  delete from launch_scores where chain = $1 and address = $2 and token = any($3::text[])`;
// A token that another wallet is on record with, by an observation of the same time or later, is
// not this wallet's; one of an earlier observation was attributed anew.
const HELD = `
  select token, address, outcome = 'flagged' as is_flagged, flag_seq::float8 as flag_seq,
    model_version, observed_at > $4::timestamptz as is_newer
  from launch_scores where chain = $1 and (address = $2 or token = any($3::text[]))
  order by token for update`;
const NOTE_UNSCORED = `
  update launch_scores set unscored_at = $3, unscored_reason = $4
  where chain = $1 and token = $2`;
const KEEP = `
  insert into launch_scores as s (chain, token, address, launched_at, observed_at, liquidity_usd,
    scored_at, model_version, outcome, score, first_flagged_at, top_evidence, flag_seq, reason,
    deployer_history)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
  on conflict (chain, token) do update set address = excluded.address,
    launched_at = excluded.launched_at, observed_at = excluded.observed_at,
    liquidity_usd = excluded.liquidity_usd, scored_at = excluded.scored_at,
    model_version = excluded.model_version, outcome = excluded.outcome, score = excluded.score,
    first_flagged_at = case
      when excluded.outcome = 'flagged' and s.address = excluded.address
        then coalesce(s.first_flagged_at, excluded.first_flagged_at)
      else excluded.first_flagged_at end,
    top_evidence = excluded.top_evidence, reason = excluded.reason,
    flag_seq = excluded.flag_seq, deployer_history = excluded.deployer_history,
    unscored_at = null, unscored_reason = null`;
const END = `
  insert into scorer_runs (chain, began_at, ended_at, model_version, wallets, scored, flagged,
    suppressed, unscored, retracted, waiting)
  values ($1, $2, control_now(), $3, $4, $5, $6, $7, $8, $9, $10)`;
const TRIM = `
  delete from scorer_runs r
  where r.chain = $1 and r.ended_at < control_now() - make_interval(days => $2::int)
    and r.id < (select max(id) from scorer_runs where chain = $1)`;

// A launch that was flagged once counts as flagged, whatever the model said of it later.
const SAID = `
  insert into launch_fates as f (model_version, chain, token, address, flagged, settles_at)
  select $1, $2, s.token, $3, s.flagged, to_timestamp(s.settles_at)
  from unnest($4::text[], $5::boolean[], $6::float8[]) as s (token, flagged, settles_at)
  on conflict (model_version, chain, token) do update
    set flagged = f.flagged or excluded.flagged`;
// Seen dead only after the horizon, a launch may have died before its end or after it.
const SETTLE = `
  update launch_fates f set fate = s.fate
  from unnest($3::text[], $4::text[], $5::float8[]) as s (token, fate, at)
  where f.chain = $1 and f.address = $2 and f.fate is null and f.token = s.token
    and case s.fate when 'died' then to_timestamp(s.at) <= f.settles_at
      else to_timestamp(s.at) >= f.settles_at end`;
const WITHDRAW = `
  insert into rug_model_withdrawals (version, withdrawn_at, reason, settled, died, unknown)
  values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning version`;
const STANDING = `
  select chain, address, token, flag_seq::float8 as flag_seq from launch_scores
  where model_version = $1 and outcome = 'flagged'
  order by flag_seq limit $2::int for update`;
const UNFLAG = `
  update launch_scores set outcome = 'passed', first_flagged_at = null, top_evidence = null,
    flag_seq = null, deployer_history = null, unscored_at = null, unscored_reason = null
  where chain = $1 and token = $2`;
/** Flags that one transaction takes back: fewer than may be appended to the log at once. */
const WITHDRAWN_AT_ONCE = 500;

const standingRow = z.object({
  chain: z.enum(SCORED_CHAINS),
  address: z.string(),
  token: z.string(),
  flag_seq: z.int().positive(),
});
const heldRow = z.object({
  token: z.string(),
  address: z.string(),
  is_flagged: z.boolean(),
  flag_seq: z.int().positive().nullable(),
  model_version: z.string(),
  is_newer: z.boolean(),
});
type Held = z.output<typeof heldRow>;
/** The flags of a wallet that stand, by token. */
type Standing = ReadonlyMap<string, Pick<Held, 'token' | 'model_version'> & { flag_seq: number }>;

/** The scores over the control database. `onTold` is called when flags were told. */
export function launchScoringTable(
  database: Database,
  context: ControlContext,
  onTold: () => void,
): LaunchScoring {
  const what = 'The table of scored launches';
  const readings = controlReadings<LaunchScoringPort>('launch_scoring', what, context);
  const { ask } = readings;
  return {
    due: async (chain, by, most) => {
      const behind = await ask(async () =>
        chain === 'solana' ? readCollectionReach(database) : null,
      );
      if (!behind.checked) return behind;
      const late = staleness(behind.value, context.nowMs() / MS_PER_S);
      if (late !== null) return unread('launch_scoring', late);
      return ask(() => walletsDue(database, chain, by, most));
    },
    commit: async (scored) => {
      const committed = await ask(() =>
        database.transaction((session) => keep(session, scored, context.simulated)),
      );
      if (committed.checked && committed.value !== false) {
        const { flagged, retracted } = committed.value;
        if (flagged + retracted > 0) onTold();
      }
      return committed;
    },
    end: (run) =>
      readings.run(() =>
        database.transaction(async (session) => {
          const counts = [run.wallets, run.scored, run.flagged, run.suppressed, run.unscored];
          const begun = [run.chain, storeTime(run.began_at), run.model_version];
          await session.query(END, [...begun, ...counts, run.retracted, run.waiting]);
          await session.query(TRIM, [run.chain, RUNS_KEPT_DAYS]);
        }),
      ),
    fates: (version) => ask(() => readFates(database, version)),
    withdraw: async (told) => {
      const done = await ask(() =>
        database.transaction((session) => withdraw(session, told, context.simulated)),
      );
      if (done.checked) onTold();
      return done;
    },
  };
}

async function keep(session: Session, told: ScoredWallet, simulated: boolean): Promise<Committed> {
  const { chain, address, observed_at, model_version, record, on_record } = told;
  const claimed = await session.query(CLAIM, [
    chain,
    address,
    storeTime(observed_at),
    model_version,
  ]);
  if (claimed.length === 0) return false;
  const asked = [chain, address, on_record, storeTime(observed_at)];
  const held = z.array(heldRow).parse(await session.query(HELD, asked));
  const own = held.filter((one) => one.address === address);
  const anothers = held.filter((one) => one.address !== address);
  const standing: Standing = new Map(own.flatMap(flagIn));
  const lost = new Set(anothers.flatMap(({ token, is_newer }) => (is_newer ? [token] : [])));
  const scored = { ...told, launches: told.launches.filter(({ token }) => !lost.has(token)) };
  const none = new Set([...record.disowned, ...told.unlisted]);
  const recorded = new Set(on_record);
  const gone = own
    .map(({ token }) => token)
    .filter((token) => none.has(token) || (record.is_whole && !recorded.has(token)));
  if (gone.length > 0) await session.query(FORGET, [chain, address, gone]);
  const { flags, retractions } = eventsOf(scored, standing, simulated);
  const moved = present(anothers.map((one) => retractionOf(scored, one, simulated)));
  const [first, ...rest] = [...flags.map(({ event }) => event), ...retractions, ...moved];
  // The log is held until the transaction ends, so that what is slow has been done before.
  const seq = first === undefined ? 0 : await appendFlagEvents(session, [first, ...rest]);
  const numbers = new Map(flags.map(({ token }, i) => [token, seq + i]));
  for (const launch of scored.launches) {
    const stands = standing.get(launch.token);
    if (launch.outcome === 'unscored' && stands !== undefined) {
      // A launch that could not be scored now says nothing about a flag that stands.
      const { token, reason } = launch;
      await session.query(NOTE_UNSCORED, [chain, token, storeTime(scored.scored_at), reason]);
      continue;
    }
    const number = stands === undefined ? numbers.get(launch.token) : stands.flag_seq;
    await session.query(KEEP, launchRow(scored, launch, number));
  }
  await settleFates(session, scored);
  return { flagged: flags.length, retracted: retractions.length + moved.length };
}

function flagIn({ token, model_version, is_flagged, flag_seq }: Held) {
  return is_flagged && flag_seq !== null
    ? [[token, { token, model_version, flag_seq }] as const]
    : [];
}

/** Keeps which launches were flagged and passed, and what was seen to become of those of before. */
async function settleFates(
  session: Session,
  { chain, address, model_version, horizon_h, launches, seen }: ScoredWallet,
): Promise<void> {
  const said = launches.flatMap(({ token, launched_at, outcome }) => {
    if (outcome !== 'flagged' && outcome !== 'passed') return [];
    const settles_at = launched_at + horizon_h * HOUR_S;
    return [{ token, flagged: outcome === 'flagged', settles_at }];
  });
  if (said.length > 0) {
    const saidColumns = columnsOf(said, ['token', 'flagged', 'settles_at']);
    await session.query(SAID, [model_version, chain, address, ...saidColumns]);
  }
  if (seen.length === 0) return;
  const columns = columnsOf(seen, ['token', 'as', 'at']);
  await session.query(SETTLE, [chain, address, ...columns]);
}

/** Withdraws the flags of a model once, and takes back some of those that stand. */
async function withdraw(
  session: Session,
  { version, reason, withdrawn_at, fates }: Parameters<LaunchScoring['withdraw']>[0],
  simulated: boolean,
): Promise<number> {
  const { settled, died, unknown } = fates;
  const values = [version, storeTime(withdrawn_at), reason, settled, died, unknown];
  const isNew = (await session.query(WITHDRAW, values)).length > 0;
  const standing = z
    .array(standingRow)
    .parse(await session.query(STANDING, [version, WITHDRAWN_AT_ONCE]));
  const of = { model_version: version, simulated, reason } as const;
  const retractions = standing.map(({ flag_seq, ...flag }): NewFlagEvent => {
    return { kind: 'retraction', ...of, ...flag, retracts: flag_seq, retracted_at: withdrawn_at };
  });
  const withdrawal = { kind: 'withdrawal', ...of, withdrawn_at } as const;
  const [first, ...rest] = isNew ? [withdrawal, ...retractions] : retractions;
  for (const { chain, token } of standing) await session.query(UNFLAG, [chain, token]);
  if (first !== undefined) await appendFlagEvents(session, [first, ...rest]);
  return standing.length;
}

/** The end of another wallet's flag, of a token that this wallet is on record with now. */
function retractionOf(
  { chain, address, scored_at, launches }: ScoredWallet,
  { token, address: other, is_flagged, flag_seq, model_version, is_newer }: Held,
  simulated: boolean,
): NewFlagEvent | null {
  const isTaken = launches.some((one) => one.token === token);
  if (is_newer || !is_flagged || flag_seq === null || !isTaken) return null;
  return {
    kind: 'retraction',
    chain,
    address: other,
    token,
    model_version,
    simulated,
    retracts: flag_seq,
    reason: `The launch is credited to ${address} now.`,
    retracted_at: scored_at,
  };
}

/** The events: new flags, and the end of flags whose ground is gone. */
function eventsOf(
  scored: ScoredWallet,
  standing: Standing,
  simulated: boolean,
): {
  flags: { readonly token: string; readonly event: NewFlagEvent }[];
  retractions: NewFlagEvent[];
} {
  const { chain, address, scored_at: at, model_version } = scored;
  const flags = scored.launches.flatMap((launch) => {
    if (launch.outcome !== 'flagged' || standing.has(launch.token)) return [];
    const { token, score, top_evidence, deployer_history } = launch;
    const of = { kind: 'flag', chain, address, token, model_version, simulated, score } as const;
    const evidence = top_evidence.statement;
    const event = { ...of, evidence, deployer_history, flagged_at: at };
    return [{ token, event }];
  });
  const retractions = [...standing.values()].map(({ token, flag_seq, ...flag }) => {
    const reason = whyRetracted(scored, token);
    const of = { kind: 'retraction', chain, address, token, simulated } as const;
    return reason === null
      ? null
      : { ...of, ...flag, retracts: flag_seq, reason, retracted_at: at };
  });
  return { flags, retractions: present(retractions) };
}

/** Why the ground of a flag is gone; `null` where it stands, or where that is not known. */
function whyRetracted(
  { launches, on_record, unlisted, record, model_version }: ScoredWallet,
  token: string,
): string | null {
  if (record.disowned.includes(token)) return 'It was read to be no launch of this wallet.';
  if (!on_record.includes(token)) {
    return record.is_whole ? 'The launch is not on record any more.' : null;
  }
  if (unlisted.includes(token)) return 'No venue ever listed the token.';
  const launch = launches.find((one) => one.token === token);
  if (launch?.outcome === 'passed') return `The model ${model_version} does not flag it any more.`;
  return launch?.outcome === 'suppressed' ? 'The token has become an established one.' : null;
}

function launchRow(
  { chain, address, observed_at, scored_at, model_version }: ScoredWallet,
  launch: ScoredLaunch,
  seq: number | undefined,
): Param[] {
  const isFlag = launch.outcome === 'flagged';
  return [
    chain,
    launch.token,
    address,
    storeTime(launch.launched_at),
    storeTime(observed_at),
    launch.liquidity_usd,
    storeTime(scored_at),
    model_version,
    launch.outcome,
    launch.outcome === 'unscored' ? null : launch.score,
    isFlag ? storeTime(scored_at) : null,
    isFlag ? JSON.stringify(launch.top_evidence) : null,
    isFlag && seq !== undefined ? seq : null,
    launch.outcome === 'unscored' ? launch.reason : null,
    launch.outcome === 'flagged' ? launch.deployer_history : null,
  ];
}

// On Ethereum a wallet is as it was walked, on Solana as its launches of the corpus were checked.

/** Wallets whose newest launch is older than this are not looked at on Solana. */
const LAUNCHED_WITHIN_S = 30 * DAY_S;
/** A launch of Solana settles when so long has passed; then its fate should be known. */
const WINDOW_S = DAY_S;
/** Launches of one wallet that are read. */
const LAUNCHES_MAX = 5_000;

const WALKED = `
  select r.walk, count(*) over ()::int4 as due
  from deployer_records r
  left join scored_wallets s on s.chain = 'ethereum' and s.address = r.address
  where s.address is null or s.observed_at < r.captured_at or s.model_version <> $1
  order by r.captured_at, r.address limit $2::int`;

/** The rows `l` of the corpus and of what waits, joined to others, of which a condition holds. */
function knownRows(join: string, condition: string): string {
  return `
    select l.mint, l.deployer, l.launched_at, l.settled, l.listed_after_window as listed,
           l.last_checked_at as checked_at, l.import_id
      from launches l
      join table_imports i on i.id = l.import_id and i.completed_at is not null ${join}
      where ${condition}
    union all
    select l.mint, l.deployer, l.launched_at, false, null, l.collected_at, 0
      from collected_launches l ${join}
      where not l.settled and l.made_by <> 'import' and ${condition}`;
}

const LAUNCHED_SINCE = 'l.launched_at > control_now() - make_interval';
/** Something of a wallet was checked in a second after the one of which it was scored. */
const CHECKED_SINCE = `
  exists (
    select from launches l
    join table_imports i on i.id = l.import_id and i.completed_at is not null
    where l.deployer = r.deployer and l.last_checked_at >= s.observed_at + interval '1 second'
  ) or exists (
    select from collected_launches l
    where l.deployer = r.deployer and not l.settled and l.made_by <> 'import'
      and l.collected_at >= s.observed_at + interval '1 second'
  )`;

// A mint that several imports saw counts by its best row, whoever that credits: settled first, then
// the later check. What was collected is as it was then. A launch that is of an age to be scored
// and has no score yet makes its wallet due, as of now: of two that were collected in one second,
// none is passed over. So does a flag whose mint is not on record as the wallet's any more; one
// that stands on an old launch has nobody read anew. The launches of a wallet are read where it may
// be due: of most, nothing changed since they were scored.
const COLLECTED = `
  with lost as (
    select distinct f.address from launch_scores f
    left join lateral (
      select k.deployer from (${knownRows('', 'l.mint = f.token')}) k
      order by k.settled desc, k.checked_at desc, k.import_id desc limit 1
    ) credited on true
    where f.chain = 'solana' and f.outcome = 'flagged'
      and credited.deployer is distinct from f.address
  ), recent as (
    select distinct k.deployer
    from (${knownRows('', `${LAUNCHED_SINCE}(secs => $3::int)`)}) k
  ), candidates as (
    select r.deployer from recent r
    left join scored_wallets s on s.chain = 'solana' and s.address = r.deployer
    where s.address is null or s.model_version <> $1 or ${CHECKED_SINCE}
    union
    select k.deployer from (${knownRows('', `${LAUNCHED_SINCE}(hours => $5::int)`)}) k
    left join launch_scores x
      on x.chain = 'solana' and x.token = k.mint and x.address = k.deployer
    where x.token is null
    union
    select address from lost
  ), mints as (
    select k.mint
    from (${knownRows('join candidates d on d.deployer = l.deployer', 'true')}) k
    group by k.mint
  ), best as (
    select distinct on (k.mint) k.*
    from (${knownRows('join mints m on m.mint = l.mint', 'true')}) k
    order by k.mint, k.settled desc, k.checked_at desc, k.import_id desc
  ), wallets as (
    select b.deployer, count(*) as held, date_trunc('second', max(b.checked_at)) as checked_at,
      bool_or(x.token is null
        and b.launched_at > control_now() - make_interval(hours => $5::int)) as fresh
    from best b
    join candidates d on d.deployer = b.deployer
    left join launch_scores x
      on x.chain = 'solana' and x.token = b.mint and x.address = b.deployer
    group by b.deployer
  ), gone as (
    select l.address from lost l
    left join wallets w on w.deployer = l.address
    where w.held is null or w.held < $4::int
  ), due as (
    select w.deployer as address,
      case when w.fresh or g.address is not null then control_now() else w.checked_at end
        as observed_at
    from wallets w
    left join gone g on g.address = w.deployer
    left join scored_wallets s on s.chain = 'solana' and s.address = w.deployer
    where s.address is null or w.fresh or s.observed_at < w.checked_at or s.model_version <> $1
      or g.address is not null
    union all
    select address, control_now() from gone
    where address not in (select deployer from wallets)
  ), next as (
    select address, observed_at, count(*) over ()::int4 as due
    from due order by observed_at, address limit $2::int
  ), own as (
    select b.*, row_number() over (partition by b.deployer order by b.launched_at desc) as nth
    from best b join next on next.address = b.deployer
  )
  select n.address, ${epoch('n.observed_at')}, n.due,
    coalesce(json_agg(json_build_object(
      'token', o.mint, 'settled', o.settled, 'listed', o.listed,
      'launched_at', extract(epoch from o.launched_at)::float8,
      'checked_at', extract(epoch from o.checked_at)::float8)
      order by o.launched_at desc) filter (where o.mint is not null), '[]'::json) as launches
  from next n left join own o on o.deployer = n.address and o.nth <= $4::int
  group by n.address, n.observed_at, n.due
  order by n.observed_at, n.address`;

const REACHED = `select ${epoch('min(reached_at)', 'reached_at')} from launch_cursors`;
const reachedRow = z.object({ reached_at: z.number().nullable() });

/** Up to when launches of Solana were collected; `null` where nothing is watched. */
export async function readCollectionReach(database: Database): Promise<number | null> {
  return reachedRow.parse(onlyRow(await database.query(REACHED))).reached_at;
}

const seconds = z.number().transform(Math.floor);
const due = z.int().positive();
const walkedRow = z.object({ walk: z.string(), due });
const collectedRow = z.object({
  address: z.string(),
  observed_at: seconds,
  due,
  launches: z.array(
    z.object({
      token: z.string(),
      settled: z.boolean(),
      listed: z.boolean().nullable(),
      launched_at: seconds,
      checked_at: seconds,
    }),
  ),
});
type Collected = z.output<typeof collectedRow>;

/** The wallets that are due for a model, those first that were observed longest ago. */
export async function walletsDue(
  database: Database,
  chain: ScoredChainName,
  { version, scored_within_h }: ScoringModel,
  most: number,
): Promise<Due> {
  if (chain === 'ethereum') {
    const rows = z.array(walkedRow).parse(await database.query(WALKED, [version, most]));
    return { wallets: rows.map(({ walk }) => walletOfWalk(walkIn(walk))), due: dueIn(rows) };
  }
  const bounds = [version, most, LAUNCHED_WITHIN_S, LAUNCHES_MAX, scored_within_h];
  const rows = z.array(collectedRow).parse(await database.query(COLLECTED, bounds));
  return { wallets: rows.map(walletOfCollected), due: dueIn(rows) };
}

/** Every row says how many there are; without a row there is none. */
function dueIn(rows: readonly { readonly due: number }[]): number {
  return Math.max(0, ...rows.map((one) => one.due));
}

function walletOfWalk(walk: DeployerWalk): WalletToScore {
  const at = walk.captured_at;
  return {
    chain: 'ethereum',
    address: walk.address,
    observed_at: at,
    launches: walk.launches.map(
      ({ address, created_at, liquidity_usd, outcome, launched_with }) => ({
        token: address,
        launched_at: created_at,
        liquidity_usd,
        launched_with_usd: launched_with.state === 'known' ? Number(launched_with.usd) : null,
        launched_with_ether: etherIn(launched_with),
        launched_with_unread: launched_with.state === 'unread' ? launched_with.reason : null,
        listed: outcome === 'unchecked' ? null : outcome !== 'never_listed',
        seen: outcome === 'died' || outcome === 'live' ? { as: outcome, at } : null,
      }),
    ),
    unread: unreadIn(walk),
    record: recordIn(walk),
  };
}

/** The ether of a launch; `null` where it is not known, or another coin was pooled. */
function etherIn(launched: LaunchedWith): string | null {
  return launched.state === 'known' && launched.coin === WRAPPED_ETHER ? launched.amount : null;
}

/** A contract that could not be told may be a launch, as may one that a cut walk did not reach. */
function recordIn({ skipped, truncated }: DeployerWalk): LaunchRecord {
  const determined = skipped.filter(({ reason }) => reason !== 'undetermined');
  return {
    is_whole: !truncated && determined.length === skipped.length,
    disowned: determined.map(({ address }) => address),
  };
}

function unreadIn(walk: DeployerWalk): string | null {
  const { truncated, unchecked, undetermined } = omissionsIn(walk);
  if (truncated) return READ_IN_PART;
  const contracts = `${undetermined} of the contracts of its wallet are tokens`;
  const told = present([
    unchecked > 0 ? fateUnread(unchecked) : null,
    undetermined > 0 ? `whether ${contracts} was not read` : null,
  ]);
  return told.length === 0 ? null : told.join('; ');
}

const READ_IN_PART = 'the launches of its wallet were read in part';

function fateUnread(launches: number): string {
  return `what became of ${launches} of the launches of its wallet was not read`;
}

function walletOfCollected({ address, observed_at, launches }: Collected): WalletToScore {
  // A launch with a passed window and an unknown outcome was not read; a young one is not known
  // yet.
  const unknown = launches.filter(
    ({ settled, launched_at }) => !settled && launched_at + 2 * WINDOW_S < observed_at,
  ).length;
  const isCut = launches.length === LAUNCHES_MAX;
  return {
    chain: 'solana',
    address,
    observed_at,
    launches: launches.map(({ token, launched_at, settled, listed, checked_at }) => {
      const as = listed === true ? ('live' as const) : ('died' as const);
      const seen = settled ? { as, at: checked_at } : null;
      const unread = {
        launched_with_usd: null,
        launched_with_ether: null,
        launched_with_unread: null,
      };
      return { token, launched_at, liquidity_usd: null, ...unread, listed: true, seen };
    }),
    unread: unknown > 0 ? fateUnread(unknown) : isCut ? READ_IN_PART : null,
    record: { is_whole: !isCut, disowned: [] },
  };
}
