// Answers one question: how is what a model says of launches kept in the control store?
// What it says of a wallet, and the events that tell of it, are one transaction: a process that is
// killed leaves all of it or nothing. Whoever scores a wallet second finds that it was scored.

import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { unread } from '../../evidence/reading.ts';
import type { NewFlagEvent } from '../../ports/flags/flag-events.ts';
import type {
  Committed,
  LaunchScoring,
  LaunchScoringPort,
  ScoredLaunch,
  ScoredWallet,
  ScorerRun,
} from '../../ports/flags/launch-scoring.ts';
import { staleness } from '../../ports/launches/collection-age.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import type { Database, Param, Session } from './engine/database.ts';
import { appendFlagEvents } from './flag-events.ts';
import { collectedUntil, walletsDue } from './launches-to-score.ts';

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
const FLAGGED = `
  select token, flag_seq::float8 as flag_seq, model_version from launch_scores
  where chain = $1 and address = $2 and outcome = 'flagged'`;
const FORGET = `
  delete from launch_scores where chain = $1 and address = $2 and token <> all($3::text[])`;
const KEEP = `
  insert into launch_scores as s (chain, token, address, launched_at, observed_at, liquidity_usd,
    scored_at, model_version, outcome, score, first_flagged_at, top_evidence, flag_seq, reason)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  on conflict (chain, token) do update set address = excluded.address,
    launched_at = excluded.launched_at, observed_at = excluded.observed_at,
    liquidity_usd = excluded.liquidity_usd, scored_at = excluded.scored_at,
    model_version = excluded.model_version, outcome = excluded.outcome, score = excluded.score,
    first_flagged_at = case when excluded.outcome = 'flagged'
      then coalesce(s.first_flagged_at, excluded.first_flagged_at) end,
    top_evidence = excluded.top_evidence, reason = excluded.reason,
    flag_seq = excluded.flag_seq`;
const END = `
  insert into scorer_runs (chain, began_at, ended_at, model_version, wallets, scored, flagged,
    suppressed, unscored, retracted, waiting)
  values ($1, $2, control_now(), $3, $4, $5, $6, $7, $8, $9, $10)`;
const TRIM = `
  delete from scorer_runs r
  where r.chain = $1 and r.ended_at < control_now() - make_interval(days => $2::int)
    and r.id < (select max(id) from scorer_runs where chain = $1)`;

const flaggedRow = z.object({
  token: z.string(),
  flag_seq: z.int().positive(),
  model_version: z.string(),
});
type Standing = ReadonlyMap<string, z.output<typeof flaggedRow>>;

/** The scores over the control database. `onTold` is called when flags were told. */
export function launchScoringTable(
  database: Database,
  context: ControlContext,
  onTold: () => void,
): LaunchScoring {
  const { ask } = controlReadings<LaunchScoringPort>(
    'launch_scoring',
    'The table of scored launches',
    context,
  );
  return {
    due: async (chain, modelVersion, most) => {
      const behind = await ask(async () => (chain === 'solana' ? collectedUntil(database) : null));
      if (!behind.checked) return behind;
      const late = staleness(behind.value, context.nowMs() / MS_PER_S);
      if (late !== null) return unread('launch_scoring', late);
      return ask(() => walletsDue(database, chain, modelVersion, most));
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
      ask(async () => {
        await database.transaction(async (session) => {
          await session.query(END, runRow(run));
          await session.query(TRIM, [run.chain, RUNS_KEPT_DAYS]);
        });
        return true as const;
      }),
  };
}

async function keep(
  session: Session,
  scored: ScoredWallet,
  simulated: boolean,
): Promise<Committed> {
  const { chain, address, observed_at, model_version } = scored;
  const claimed = await session.query(CLAIM, [chain, address, dateOf(observed_at), model_version]);
  if (claimed.length === 0) return false;
  const rows = z.array(flaggedRow).parse(await session.query(FLAGGED, [chain, address]));
  const standing: Standing = new Map(rows.map((row) => [row.token, row]));
  await session.query(FORGET, [chain, address, scored.on_record]);
  const { flags, retractions } = eventsOf(scored, standing, simulated);
  const [first, ...rest] = [...flags.map(({ event }) => event), ...retractions];
  // The log is held until the transaction ends, so that what is slow has been done before.
  const seq = first === undefined ? 0 : await appendFlagEvents(session, [first, ...rest]);
  const told = new Map(flags.map(({ token }, i) => [token, seq + i]));
  for (const launch of scored.launches) {
    const stands = standing.get(launch.token);
    // What could not be scored now says nothing of a flag that stands.
    if (launch.outcome === 'unscored' && stands !== undefined) continue;
    const number = stands === undefined ? told.get(launch.token) : stands.flag_seq;
    await session.query(KEEP, launchRow(scored, launch, number));
  }
  return { flagged: flags.length, retracted: retractions.length };
}

type NewOnes = {
  readonly flags: readonly { readonly token: string; readonly event: NewFlagEvent }[];
  readonly retractions: readonly NewFlagEvent[];
};

/** What is told: flags that did not stand, and the end of those whose ground is gone. */
function eventsOf(scored: ScoredWallet, standing: Standing, simulated: boolean): NewOnes {
  const { chain, address, scored_at: at, model_version } = scored;
  const flags = scored.launches.flatMap((launch) => {
    if (launch.outcome !== 'flagged' || standing.has(launch.token)) return [];
    const { token, score, top_evidence } = launch;
    const of = { kind: 'flag', chain, address, token, model_version, simulated, score } as const;
    const event = { ...of, evidence: top_evidence.statement, flagged_at: at };
    return [{ token, event }];
  });
  const retractions = [...standing.values()].map(({ token, flag_seq, ...flag }) => {
    const reason = whyRetracted(scored, token);
    const of = {
      kind: 'retraction',
      chain,
      address,
      token,
      simulated,
      retracts: flag_seq,
    } as const;
    return reason === null
      ? null
      : { ...of, model_version: flag.model_version, reason, retracted_at: at };
  });
  return { flags, retractions: present(retractions) };
}

/** Why the ground of a flag is gone; `null` where it stands, or where that is not known. */
function whyRetracted({ launches, on_record, model_version }: ScoredWallet, token: string) {
  if (!on_record.includes(token)) return 'The launch is not on record any more.';
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
    dateOf(launch.launched_at),
    dateOf(observed_at),
    launch.liquidity_usd,
    dateOf(scored_at),
    model_version,
    launch.outcome,
    launch.outcome === 'unscored' ? null : launch.score,
    isFlag ? dateOf(scored_at) : null,
    isFlag ? JSON.stringify(launch.top_evidence) : null,
    isFlag && seq !== undefined ? seq : null,
    launch.outcome === 'unscored' ? launch.reason : null,
  ];
}

function runRow(run: ScorerRun): Param[] {
  const counts = [run.wallets, run.scored, run.flagged, run.suppressed, run.unscored];
  const ends = [run.retracted, run.waiting];
  return [run.chain, dateOf(run.began_at), run.model_version, ...counts, ...ends];
}

function dateOf(seconds: number): Date {
  return new Date(seconds * MS_PER_S);
}
