// Answers one question: of which wallets is something on record that a model has not scored yet?
// On Ethereum a wallet is as it was walked, on Solana as its launches of the corpus were checked.

import { z } from 'zod';
import { DAY_S } from '../../chain/time.ts';
import type { Due, ScoredChainName, WalletToScore } from '../../ports/flags/launch-scoring.ts';
import type { DeployerWalk } from '../../ports/launches/deployer-records.ts';
import { walkIn } from './deployers.ts';
import { type Database, epoch, onlyRow } from './engine/database.ts';

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

// A mint that several imports saw counts by its best row: settled first, then the later check. What
// was collected is as it was then. A launch without a score yet makes its wallet due, as of now: of
// two that were collected in one second none is passed over.
const COLLECTED = `
  with known as (
    select l.mint, l.deployer, l.launched_at, l.settled, l.listed_after_window as listed,
           l.last_checked_at as checked_at, l.import_id
      from launches l
      join table_imports i on i.id = l.import_id and i.completed_at is not null
    union all
    select mint, deployer, launched_at, false, null, collected_at, 0
      from collected_launches where not settled and made_by <> 'import'
  ), recent as (
    select distinct deployer from known
    where launched_at > control_now() - make_interval(secs => $3::int)
  ), best as (
    select distinct on (k.mint) k.*
    from known k
    join recent on recent.deployer = k.deployer
    order by k.mint, k.settled desc, k.checked_at desc, k.import_id desc
  ), wallets as (
    select b.deployer, date_trunc('second', max(b.checked_at)) as checked_at,
      bool_or(x.token is null
        and b.launched_at > control_now() - make_interval(secs => $3::int)) as fresh
    from best b
    left join launch_scores x on x.chain = 'solana' and x.token = b.mint
    group by b.deployer
  ), due as (
    select w.deployer as address,
      case when w.fresh then control_now() else w.checked_at end as observed_at
    from wallets w
    left join scored_wallets s on s.chain = 'solana' and s.address = w.deployer
    where s.address is null or w.fresh or s.observed_at < w.checked_at or s.model_version <> $1
  )
  select d.address, ${epoch('d.observed_at')}, count(*) over ()::int4 as due,
    (select json_agg(json_build_object(
       'token', b.mint, 'settled', b.settled, 'listed', b.listed,
       'launched_at', extract(epoch from b.launched_at)::float8,
       'checked_at', extract(epoch from b.checked_at)::float8))
     from (select * from best where best.deployer = d.address
           order by launched_at desc limit $4::int) b) as launches
  from due d order by d.observed_at, d.address limit $2::int`;

const REACHED = `select ${epoch('min(reached_at)', 'reached_at')} from launch_cursors`;
const reachedRow = z.object({ reached_at: z.number().nullable() });

/** Up to when launches of Solana were collected; `null` where nothing is watched. */
export async function collectedUntil(database: Database): Promise<number | null> {
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
  modelVersion: string,
  most: number,
): Promise<Due> {
  if (chain === 'ethereum') {
    const rows = z.array(walkedRow).parse(await database.query(WALKED, [modelVersion, most]));
    return { wallets: rows.map(({ walk }) => walked(walkIn(walk))), due: dueIn(rows) };
  }
  const bounds = [modelVersion, most, LAUNCHED_WITHIN_S, LAUNCHES_MAX];
  const rows = z.array(collectedRow).parse(await database.query(COLLECTED, bounds));
  return { wallets: rows.map(collected), due: dueIn(rows) };
}

/** Every row says how many there are; without a row there is none. */
function dueIn(rows: readonly { readonly due: number }[]): number {
  return Math.max(0, ...rows.map((one) => one.due));
}

function walked(walk: DeployerWalk): WalletToScore {
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
        launched_with_unread: launched_with.state === 'unread' ? launched_with.reason : null,
        listed: outcome === 'unchecked' ? null : outcome !== 'never_listed',
        seen: outcome === 'died' || outcome === 'live' ? { as: outcome, at } : null,
      }),
    ),
    unread: unreadIn(walk),
  };
}

function unreadIn({ launches, skipped, truncated }: DeployerWalk): string | null {
  if (truncated) return 'the launches of its wallet were read in part';
  const unchecked = launches.filter(({ outcome }) => outcome === 'unchecked').length;
  const unknown = skipped.filter(({ reason }) => reason === 'undetermined').length;
  const parts = [
    ...(unchecked > 0
      ? [`what became of ${unchecked} of the launches of its wallet was not read`]
      : []),
    ...(unknown > 0
      ? [`whether ${unknown} of the contracts of its wallet are tokens was not read`]
      : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

function collected({ address, observed_at, launches }: Collected): WalletToScore {
  // What its window has passed and nobody knows of was not read; what is young is not known yet.
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
      return {
        token,
        launched_at,
        liquidity_usd: null,
        launched_with_usd: null,
        launched_with_unread: null,
        listed: true,
        seen,
      };
    }),
    unread:
      unknown > 0
        ? `what became of ${unknown} of the launches of its wallet was not read`
        : isCut
          ? 'the launches of its wallet were read in part'
          : null,
  };
}
