// How much was pooled when a token was launched, in US dollars, both sides together?
// By the first liquidity of its first pool, where its deployer put it in and no other pool could be
// older. What anybody else could have put there is told as not known, and what a source did not
// tell as not read: neither is ever an amount.

import { multiplyDecimals } from '../../chain/amount.ts';
import { type Partly, seen } from '../../evidence/reading.ts';
import { DEPLOYER_CHAIN, type LaunchedWith } from '../../ports/launches/deployer-records.ts';
import type {
  FirstLiquidity,
  ListedPool,
  WalkSources,
} from '../../ports/launches/deployer-walk.ts';

/** A launch as a walk knows it. `note` is told every reading. */
type Launched = {
  readonly token: string;
  readonly deployer: string;
  readonly pools: readonly ListedPool[];
  readonly note: (reading: Partly<unknown, never>) => void;
};

/** What a token was launched with. */
export async function launchedWith(
  { launchPools, prices }: Pick<WalkSources, 'launchPools' | 'prices'>,
  { token, deployer, pools, note }: Launched,
  signal: AbortSignal,
): Promise<LaunchedWith> {
  const reading = await launchPools.firstLiquidity(token, signal);
  note(reading);
  if (!reading.checked) return { state: 'unread', reason: reading.why.reason };
  const first = reading.value;
  if (first === null) return { state: 'unknown', cause: 'no_pool' };
  if (first.signer !== deployer) return { state: 'unknown', cause: 'not_by_deployer' };
  if (first.others_before || pools.some((pool) => isOlder(pool, first))) {
    return { state: 'unknown', cause: 'older_pool' };
  }
  return priced(first, prices, note, signal);
}

/** A pool whose age the venue does not tell could be the older one. */
function isOlder({ address, created_at }: ListedPool, { pool, at }: FirstLiquidity): boolean {
  return address !== pool && (created_at === null || created_at <= at);
}

async function priced(
  first: FirstLiquidity,
  prices: WalkSources['prices'],
  note: Launched['note'],
  signal: AbortSignal,
): Promise<LaunchedWith> {
  const { pool, coin, amount, tx, at, priced_as } = first;
  const ask = { chain: DEPLOYER_CHAIN, token: priced_as, at } as const;
  const reading = await prices.historical([ask], signal);
  note(reading);
  const told = seen(reading)?.find((one) => one.ask.token === priced_as);
  if (told === undefined && !reading.checked) {
    // Without a source of prices nobody will ever know it.
    if (reading.why.code === 'not_configured') return { state: 'unknown', cause: 'unpriced' };
    return { state: 'unread', reason: reading.why.reason };
  }
  if (told === undefined || told.price === null) return { state: 'unknown', cause: 'unpriced' };
  const { usd, basis } = told.price;
  // Both sides of a pool of this layout are worth the same when it begins.
  const both = multiplyDecimals(BOTH_SIDES, multiplyDecimals(amount, usd));
  return { state: 'known', usd: both, pool, coin, amount, tx, at, price: basis };
}

const BOTH_SIDES = '2';
