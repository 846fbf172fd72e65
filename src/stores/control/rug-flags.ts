// Answers one question: how is the table of rug flags read in the control store?
// What was scored is read before the flags, so that a flag may be newer than its run and none is
// missing that its run wrote. A run that is late, or that left something, makes a part.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { formatIsoTime, HOUR_S } from '../../chain/time.ts';
import { read, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { EstablishedTokens } from '../../ports/flags/established-tokens.ts';
import type {
  FlagWindow,
  LaunchFlag,
  RugFlags,
  RugFlagsPort,
} from '../../ports/flags/rug-flags.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch } from './engine/database.ts';

const PORT = 'rug_flags';
/** Seconds after a chain's last run from which on its window says nothing of who is missing. */
export const SCORER_MAX_AGE_S = HOUR_S;
/** Flags of one window that are read. */
const FLAGS_MAX = 5_000;

const CHAINS = `
  select r.chain, ${epoch('r.ended_at', 'last_scored_at')}, r.model_version, r.waiting,
    r.ended_at < control_now() - make_interval(secs => $2::int) as late,
    count(*) filter (where s.outcome <> 'unscored')::int4 as scored,
    count(*) filter (where s.outcome = 'suppressed')::int4 as suppressed,
    count(*) filter (where s.outcome = 'unscored')::int4 as unscored
  from (select distinct on (chain) * from scorer_runs order by chain, id desc) r
  left join launch_scores s
    on s.chain = r.chain and s.scored_at > control_now() - make_interval(secs => $1::int)
  group by r.chain, r.ended_at, r.model_version, r.waiting
  order by r.chain`;
const FLAGS = `
  select chain, address, token, ${epoch('launched_at')}, liquidity_usd, score,
    ${epoch('first_flagged_at')}, ${epoch('scored_at', 'last_scored_at')}, top_evidence,
    model_version
  from launch_scores
  where outcome = 'flagged' and scored_at > control_now() - make_interval(secs => $1::int)
  order by score desc, scored_at desc, chain, token limit $2::int`;

const chain = z.enum(CHAIN_NAMES);
const seconds = z.number().transform(Math.floor);
const count = z.int().nonnegative();
const chainRow = z.object({
  chain,
  last_scored_at: seconds,
  model_version: z.string(),
  scored: count,
  suppressed: count,
  unscored: count,
  waiting: count,
  late: z.boolean(),
});
const evidence = z.strictObject({
  feature: z.string(),
  value: z.number().nullable(),
  contribution: z.number(),
  statement: z.string(),
});
const flagRow = z.object({
  chain,
  address: z.string(),
  token: z.string(),
  launched_at: seconds,
  liquidity_usd: z.number().nullable(),
  score: z.number(),
  first_flagged_at: seconds,
  last_scored_at: seconds,
  top_evidence: z.string().transform((text): z.output<typeof evidence> => {
    return evidence.parse(JSON.parse(text));
  }),
  model_version: z.string(),
});

type Kept = {
  readonly chains: readonly z.output<typeof chainRow>[];
  readonly flags: readonly Omit<LaunchFlag, 'is_listed_token'>[];
};

/** The table over the control database. `listed` tells which tokens are established by review. */
export function rugFlagTable(
  database: Database,
  context: ControlContext,
  listed: EstablishedTokens,
): RugFlags {
  const { ask, source } = controlReadings<RugFlagsPort>(PORT, 'The table of flags', context);
  return {
    inWindow: async (windowS) => {
      const kept = await ask(() => keptIn(database, windowS));
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
      const window = read(shown, { port: PORT, source: datedBy(shown, source()) });
      const gaps = gapsOf(kept.value);
      if (gaps.length > 0) return weaken(window, partial(windowS, gaps));
      // What nobody ever scored is no window, simulated or not.
      return context.simulated && chains.length > 0 ? weaken(window, why('simulated')) : window;
    },
  };
}

/** The window is as old as the chain that was scored longest ago. */
function datedBy({ chains }: FlagWindow, table: Source): Source {
  if (chains.length === 0) return table;
  const as_of = Math.min(...chains.map(({ last_scored_at }) => last_scored_at));
  return { ...table, name: 'Rug scorer', as_of, kind: 'observation' };
}

async function keptIn(database: Database, windowS: number): Promise<Kept> {
  const chains = await database.query(CHAINS, [Math.ceil(windowS), SCORER_MAX_AGE_S], 'often');
  const flags = await database.query(FLAGS, [Math.ceil(windowS), FLAGS_MAX + 1], 'often');
  return { chains: z.array(chainRow).parse(chains), flags: z.array(flagRow).parse(flags) };
}

function partial(windowS: number, gaps: readonly string[]): Why {
  const filling = { hours: String(windowS / HOUR_S), gaps: gaps.join('; ') };
  return why('scoring_partial', filling);
}

/** What keeps a window from being whole, in words; none where it is. */
function gapsOf({ chains, flags }: Kept): string[] {
  const unended = chains.length === 0 && flags.length > 0;
  return [
    ...(unended ? ['the first run has not ended'] : []),
    ...(flags.length > FLAGS_MAX ? [`it holds more than ${FLAGS_MAX} flags`] : []),
    ...chains.flatMap(({ chain: of, last_scored_at, late, unscored, waiting }) => [
      ...(late ? [`${of} was last scored at ${formatIsoTime(last_scored_at)}`] : []),
      ...(waiting > 0 ? [`${counted(waiting, 'wallet')} of ${of} to be scored yet`] : []),
      ...(unscored > 0 ? [`${counted(unscored, 'launch', 'launches')} of ${of} unscored`] : []),
    ]),
  ];
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
