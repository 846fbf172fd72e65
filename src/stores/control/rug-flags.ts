// Runs are read before the flags, so that a flag may be newer than its run and none is missing that
// its run wrote. A late or incomplete run makes a part.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { formatIsoTime, HOUR_S } from '../../chain/time.ts';
import { listOrNone, placeOrBeginning } from '../../evidence/measure.ts';
import { read, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { FlagPlace } from '../../ports/integrations.ts';
import {
  DEPLOYER_HISTORIES,
  FLAG_EVENTS_AT_ONCE_MAX,
  FLAG_EVENTS_KEPT,
  type FlagEvent,
  type FlagEvents,
  type FlagWindow,
  launchFlag,
  type NewFlagEvent,
  type RugFlags,
  type RugFlagsPort,
  scoredChain,
  topEvidence,
} from '../../ports/rug-flags.ts';
import {
  type EstablishedTokens,
  type PublishedModel,
  type PublishedModels,
  SCORED_CHAINS,
  type ScoredChainName,
} from '../../ports/rug-model.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  type Session,
} from './engine/database.ts';
import { appendDispatches } from './outbox.ts';

const PORT = 'rug_flags';
/** Seconds after a chain's last run from which on its window says nothing of who is missing. */
export const SCORER_MAX_AGE_S = HOUR_S;
/** Flags of one window that are read. */
const FLAGS_MAX = 5_000;

const CHAINS = `
  select r.chain, ${epochSecond('r.ended_at', 'last_scored_at')}, r.model_version, r.waiting,
    r.ended_at < control_now() - make_interval(secs => $2::int) as late,
    count(*) filter (where s.outcome <> 'unscored' and s.is_recent)::int4 as scored,
    count(*) filter (where s.outcome = 'suppressed' and s.is_recent)::int4 as suppressed,
    count(*) filter (where s.outcome = 'unscored' or s.unscored_at is not null)::int4 as unscored
  from (select distinct on (chain) * from scorer_runs order by chain, id desc) r
  left join (
    select *, scored_at > control_now() - make_interval(secs => $1::int) as is_recent
    from launch_scores
    where greatest(scored_at, unscored_at) > control_now() - make_interval(secs => $1::int)
  ) s on s.chain = r.chain
  group by r.chain, r.ended_at, r.model_version, r.waiting
  order by r.chain`;
const FLAGS = `
  select chain, address, token, ${epochSecond('launched_at')}, liquidity_usd, score,
    ${epochSecond('first_flagged_at')}, ${epochSecond('scored_at', 'last_scored_at')}, top_evidence,
    model_version, deployer_history
  from launch_scores
  where outcome = 'flagged' and scored_at > control_now() - make_interval(secs => $1::int)
  order by score desc, scored_at desc, chain, token limit $2::int`;

const chainRow = scoredChain.extend({ late: z.boolean() });
const flagRow = launchFlag.omit({ is_listed_token: true }).extend({
  top_evidence: z.string().transform((text) => topEvidence.parse(JSON.parse(text))),
});

type Kept = {
  /** Whether a run of any chain ever ended. */
  readonly isScored: boolean;
  readonly chains: readonly z.output<typeof chainRow>[];
  readonly flags: readonly z.output<typeof flagRow>[];
};

type TableParts = {
  /** Which tokens are established by review. */
  readonly listed: EstablishedTokens;
  readonly inForce: PublishedModels['inForce'];
};

/** The table over the control database. */
export function rugFlagTable(
  database: Database,
  context: ControlContext,
  { listed, inForce }: TableParts,
): RugFlags {
  const { ask, source } = controlReadings<RugFlagsPort>(PORT, 'The table of flags', context);
  return {
    inWindow: async (windowS) => {
      const model = await inForce();
      // Without a model nothing is scored, which a table that was written before still tells.
      if (!model.checked && model.why.code !== 'model_not_published') {
        return unread(PORT, model.why);
      }
      const wanted = model.checked ? chainsOf(model.value) : null;
      const kept = await ask(async () => {
        const chains = await database.query(
          CHAINS,
          [Math.ceil(windowS), SCORER_MAX_AGE_S],
          'often',
        );
        const flags = await database.query(FLAGS, [Math.ceil(windowS), FLAGS_MAX + 1], 'often');
        const scored = z.array(chainRow).parse(chains);
        return {
          isScored: scored.length > 0,
          // A chain that an earlier model scored, and this one does not, blocks nothing.
          chains: scored.filter(({ chain }) => wanted?.some((one) => one === chain) !== false),
          flags: z.array(flagRow).parse(flags),
        };
      });
      if (!kept.checked) return kept;
      const established = await listed.among(kept.value.flags);
      if (!established.checked) return unread(PORT, established.why);
      const { chains, flags } = kept.value;
      const shown: FlagWindow = {
        chains: chains.map(({ late: _, ...one }) => one),
        flags: flags.slice(0, FLAGS_MAX).map((flag) => {
          return { ...flag, is_listed_token: established.value.has(flag) };
        }),
      };
      const window = read(shown, { port: PORT, source: windowSource(shown, source()) });
      const version = model.checked ? model.value.version : null;
      // A table that nobody has ever written is said to be that, and is no window.
      const gaps = [
        ...gapsOf(kept.value),
        ...(kept.value.isScored ? unscoredChains(wanted, kept.value, version) : []),
      ];
      const flagless = model.checked && kept.value.isScored ? whyFlagless(model.value) : null;
      if (flagless !== null) return weaken(window, flagless);
      if (gaps.length > 0) {
        const filling = { hours: String(windowS / HOUR_S), gaps: gaps.join('; ') };
        return weaken(window, why('scoring_partial', filling));
      }
      // A window that was never scored is none, simulated or not.
      return context.simulated && chains.length > 0 ? weaken(window, why('simulated')) : window;
    },
  };
}

/** Why a model flags nothing, so that no flag of it can be missed; `null` where it flags. */
function whyFlagless({ version, model, withdrawn }: PublishedModel): Why | null {
  if (withdrawn !== null) return why('model_withdrawn', { withdrawn: withdrawn.reason });
  return model.card.level === null ? why('model_without_level', { version }) : null;
}

/** The chains of a model whose launches are scored here. */
function chainsOf({ model }: PublishedModel): ScoredChainName[] {
  return SCORED_CHAINS.filter((chain) => model.card.data.chains.includes(chain));
}

/** The chains of the model in force that it has not scored. */
function unscoredChains(
  wanted: readonly ScoredChainName[] | null,
  { chains }: Kept,
  version: string | null,
): string[] {
  return listOrNone(wanted)
    .filter((chain) => !chains.some((one) => one.chain === chain && one.model_version === version))
    .map((chain) => `${chain} was not scored by the model in force`);
}

/** The window is as old as the chain that was scored longest ago. */
function windowSource({ chains }: FlagWindow, table: Source): Source {
  if (chains.length === 0) return table;
  const as_of = Math.min(...chains.map(({ last_scored_at }) => last_scored_at));
  return { ...table, name: 'Rug scorer', as_of, kind: 'observation' };
}

function gapsOf({ isScored, chains, flags }: Kept): string[] {
  const unended = !isScored && flags.length > 0;
  return [
    ...(unended ? ['the first run has not ended'] : []),
    ...(flags.length > FLAGS_MAX ? [`it holds more than ${FLAGS_MAX} flags`] : []),
    ...chains.flatMap(({ chain: of, last_scored_at, late, unscored, waiting }) => [
      ...(late ? [`${of} was last scored at ${formatIsoTime(last_scored_at)}`] : []),
      ...(waiting > 0 ? [`${countText(waiting, 'wallet')} of ${of} to be scored yet`] : []),
      ...(unscored > 0 ? [`${countText(unscored, 'launch', 'launches')} of ${of} unscored`] : []),
    ]),
  ];
}

function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

// An appending transaction holds the counter until its end, so that numbers become visible in order
// and an undone one was never given.

const COUNT = `
  insert into flag_log as l (newest) values ($1)
  on conflict (one) do update set newest = l.newest + excluded.newest
  returning newest`;

const APPEND = `
  insert into flag_events (seq, kind, chain, address, token, at, model_version, simulated, score,
    evidence, deployer_history, retracts, reason, appended_at)
  select $1::bigint + e.n, e.kind, e.chain, e.address, e.token, to_timestamp(e.at),
    e.model_version, e.simulated, e.score, e.evidence, e.deployer_history, e.retracts, e.reason,
    control_now()
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::text[],
      $8::boolean[], $9::float8[], $10::text[], $11::text[], $12::bigint[], $13::text[])
    with ordinality as e (kind, chain, address, token, at, model_version, simulated, score,
      evidence, deployer_history, retracts, reason, n)`;

// A prefix goes, so that what is left has no gap, whatever the clock did.
const PRUNE = `
  delete from flag_events where seq <= greatest(
    (select newest from flag_log) - $1::bigint,
    (select max(seq) from flag_events
      where appended_at < control_now() - make_interval(secs => $2::int)))`;

/**
 * Appends to the log inside a transaction of its caller, and tells the number of the first event;
 * the others follow it one by one. It belongs at the end of the transaction: until that ends, all
 * others who append wait for it.
 */
export async function appendFlagEvents(
  session: Session,
  events: readonly [NewFlagEvent, ...NewFlagEvent[]],
): Promise<number> {
  if (events.length > FLAG_EVENTS_AT_ONCE_MAX) throw new Error(`${events.length} at once`);
  const counted = await session.query(COUNT, [events.length]);
  const before = countedRow.parse(onlyRow(counted)).newest - events.length;
  const rows = events.map((event) => {
    if (event.kind === 'flag') return { ...NO_EVENT, ...event, at: event.flagged_at };
    if (event.kind === 'retraction') return { ...NO_EVENT, ...event, at: event.retracted_at };
    return { ...NO_EVENT, ...event, at: event.withdrawn_at };
  });
  await session.query(APPEND, [
    before,
    ...columnsOf(rows, ['kind', 'chain', 'address', 'token', 'at', 'model_version', 'simulated']),
    ...columnsOf(rows, ['score', 'evidence', 'deployer_history', 'retracts', 'reason']),
  ]);
  await prune(session);
  return before + 1;
}

/** The fields of an event whose kind does not have them. */
const NO_EVENT = {
  chain: null,
  address: null,
  token: null,
  score: null,
  evidence: null,
  deployer_history: null,
  retracts: null,
  reason: null,
};

async function prune(session: Pick<Session, 'query'>): Promise<void> {
  await session.query(PRUNE, [FLAG_EVENTS_KEPT.eventsMax, FLAG_EVENTS_KEPT.ageMaxS]);
}

// One statement: the ends and the events are of one moment.
const BOUNDS = `
  select (select newest from flag_log) as newest, (select min(seq) from flag_events) as oldest`;
const AFTER = `
  with ends as (${BOUNDS})
  select newest, oldest, e.seq, kind, chain, address, token, ${epochSecond('at')}, model_version,
    simulated, score, evidence, deployer_history, retracts, reason
  from ends left join (
    select * from flag_events where seq > $1::bigint order by seq limit $2::int
  ) e on true
  order by e.seq`;

const number = z.coerce.number().int();
const countedRow = z.object({ newest: number });
const placeRow = z.object({ seq: z.int() });
const numberedRow = z.object({ seq: z.bigint().nullable() });
const boundsRow = z.object({ newest: z.nullable(number), oldest: z.nullable(number) });
const common = { seq: number, model_version: z.string(), simulated: z.boolean(), at: z.int() };
const launch = { chain: z.enum(CHAIN_NAMES), address: z.string(), token: z.string() };
const eventRow = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('flag'),
    ...common,
    ...launch,
    score: z.number(),
    evidence: z.string(),
    deployer_history: z.enum(DEPLOYER_HISTORIES).nullable(),
  }),
  z.object({
    kind: z.literal('retraction'),
    ...common,
    ...launch,
    retracts: number,
    reason: z.string(),
  }),
  z.object({ kind: z.literal('withdrawal'), ...common, reason: z.string() }),
]);

/** The log over the control database. */
export function flagEventLog(database: Database, context: ControlContext): FlagEvents {
  const { ask, run } = controlReadings('flag_events', 'The log of flags', context);
  return {
    after: (seq) =>
      ask(async () => {
        const rows = await database.query(AFTER, [seq, FLAG_EVENTS_AT_ONCE_MAX], 'often');
        const events = rows
          .filter((row) => numberedRow.parse(row).seq !== null)
          .map((row): FlagEvent => {
            const { at, ...event } = eventRow.parse(row);
            if (event.kind === 'flag') return { ...event, flagged_at: at };
            if (event.kind === 'retraction') return { ...event, retracted_at: at };
            return { ...event, withdrawn_at: at };
          });
        return { ...boundsOf(onlyRow(rows.slice(0, 1))), events };
      }),
    bounds: () => ask(async () => boundsOf(onlyRow(await database.query(BOUNDS, [], 'often')))),
    prune: () => run(() => prune(database)),
  };
}

function boundsOf(row: object) {
  const { newest, oldest } = boundsRow.parse(row);
  return { newest: placeOrBeginning(newest), oldest };
}

// One that is there is updated to itself, so that the row is given either way.
const PLACE = `
  insert into flags_dispatched as f (seq) values ($1::bigint)
  on conflict (one) do update set seq = f.seq
  returning seq::float8 as seq`;
const MOVE = 'update flags_dispatched set seq = $2::bigint where seq = $1::bigint returning seq';

/** The place over the control database. */
export function flagsToldTable(database: Database, context: ControlContext): FlagPlace {
  const { ask } = controlReadings('flags_told', 'What chats were told of flags', context);
  return {
    place: (newest) =>
      ask(async () => placeRow.parse(onlyRow(await database.query(PLACE, [newest]))).seq),
    tell: ({ after, up_to, dispatches }) =>
      ask(() =>
        database.transaction(async (session) => {
          const moved = await session.query(MOVE, [after, up_to]);
          if (moved.length === 0) return false;
          const all = dispatches.map((dispatch) =>
            Object.assign({ membership_id: null, kind: 'flag' as const }, dispatch),
          );
          if (all.length > 0) await appendDispatches(session, all);
          return true;
        }),
      ),
  };
}
