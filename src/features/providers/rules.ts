// What a provider's answer states, and what became of it. Each rule has a version, is a leaf of the
// log before it scores a call, and is never edited: a change is another version. Pure.

import { compareDecimals } from '../../chain/amount.ts';
import { DAY_S, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type {
  CallKind,
  CallResult,
  CallStatement,
  LaunchSighting,
  OutcomeRule,
  RiskProvider,
} from '../../ports/provider-calls.ts';
import type { Candle } from '../../ports/series.ts';
import type { RiskFields } from '../../ports/token-risk.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S } from '../tables/launches.ts';

/** The window of a launch on Ethereum: whether it is dead so long after it was launched. */
const ETHEREUM_WINDOW_S = 30 * DAY_S;
/** A record is captured so soon after a window that it tells what stood at its end. */
const ETHEREUM_LATE_S = 7 * DAY_S;
/** A candle begins so soon after a time that it tells the price then. */
const CANDLE_LATE_S = 2 * HOUR_S;
/** A series that is not whole so long after a horizon will not become so. */
const SERIES_LATE_S = 7 * DAY_S;
/** A call that was received later than this after it was said is retrospective. */
const RECEIVED_LATE_S = 300;

/** Every rule that ever scored, with the newest of each kind last. */
export const OUTCOME_RULES: readonly OutcomeRule[] = [
  {
    version: 'token-risk-1',
    kind: 'token_risk',
    text:
      'The event is that the launch is dead at the end of its window: 30 days after launch on ' +
      'Ethereum, 24 hours on Solana. The first observation of it at or after that end decides, ' +
      'on Ethereum a deployer record captured within 7 days, on Solana its settlement within 72 ' +
      'hours of launch. GoPlus says so where is_honeypot, cannot_sell_all or is_airdrop_scam is ' +
      '1 or is_true_token is 0, and denies it where is_honeypot is 0 and nothing of that stands. ' +
      'RugCheck says so where the report has rugged true or a risk of level danger, and denies ' +
      'it where risks were told and none is. A signal says so where its verdict is avoid. ' +
      'Anything else is no call. A launch that no venue listed, or that no record holds any ' +
      'more, has no outcome. A call is prospective where it was received before the window ' +
      'ended, at most 300 seconds after it was said, and before any observation showed a death.',
  },
  {
    version: 'market-call-1',
    kind: 'market_call',
    text:
      'The event is that the price is higher at the end of the horizon. It is entered at the ' +
      'open of the first hourly candle that begins at or after the call, and left at the open ' +
      'of the first one that begins at or after the call and its horizon. Without a candle ' +
      'within two hours of either, or with a series that is not whole a week later, the call ' +
      'has no outcome. A probability is of the direction that was called. A call is prospective ' +
      'where it was received at most 300 seconds after it was said and before the entry.',
  },
];

/** The rule that scores what is received now. */
export function ruleInForce(kind: CallKind): OutcomeRule {
  const rule = OUTCOME_RULES.findLast((one) => one.kind === kind);
  if (rule === undefined) throw new Error(`no rule scores ${kind}`);
  return rule;
}

/** What an answer says of the death of a launch; `null`: it says neither. */
export function readRisk(provider: RiskProvider, fields: RiskFields): boolean | null {
  return provider === 'goplus' ? readGoplus(fields) : readRugcheck(fields);
}

function readGoplus({
  is_honeypot,
  cannot_sell_all,
  is_airdrop_scam,
  is_true_token,
}: RiskFields): boolean | null {
  const isSaid =
    [is_honeypot, cannot_sell_all, is_airdrop_scam].includes('1') || is_true_token === '0';
  if (isSaid) return true;
  return is_honeypot === '0' ? false : null;
}

function readRugcheck({ rugged, danger }: RiskFields): boolean | null {
  if (rugged === 'true') return true;
  if (danger === undefined) return null;
  return danger !== '0';
}

type RiskChain = LaunchSighting['chain'];

/** When the window of a launch ends. */
export function launchWindowEnd(chain: RiskChain, launched_at: UnixSeconds): UnixSeconds {
  return launched_at + (chain === 'solana' ? LAUNCH_WINDOW_S : ETHEREUM_WINDOW_S);
}

/** When a market call is entered, and when it is left. */
export function marketWindow(called_at: UnixSeconds, horizon_h: number) {
  const entry = Math.ceil(called_at / HOUR_S) * HOUR_S;
  const exit = Math.ceil((called_at + horizon_h * HOUR_S) / HOUR_S) * HOUR_S;
  return { entry, exit, until: exit + CANDLE_LATE_S };
}

type Dated = Pick<CallStatement, 'called_at' | 'received_at'>;

/** Whether a call on a launch came before anything of its outcome was there to be seen. */
export function isLaunchCallProspective(
  { called_at, received_at }: Dated,
  window_end: UnixSeconds,
  sightings: readonly LaunchSighting[],
): boolean {
  const isEarly = received_at < window_end && received_at - called_at <= RECEIVED_LATE_S;
  const isSeenDead = sightings.some(
    ({ outcome, captured_at }) => outcome === 'died' && captured_at <= received_at,
  );
  return isEarly && called_at <= received_at && !isSeenDead;
}

/** The same of a call on a market. */
export function isMarketCallProspective(
  { called_at, received_at }: Dated,
  horizon_h: number,
): boolean {
  const { entry } = marketWindow(called_at, horizon_h);
  const isSoon = received_at - called_at <= RECEIVED_LATE_S;
  return isSoon && called_at <= received_at && received_at <= entry;
}

const PENDING: CallResult = { state: 'pending' };

type Scored = Pick<CallStatement, 'subject' | 'window_end' | 'rule_version'>;

/**
 * What became of a launch, by its sightings in the order of capture. Nothing is said before the
 * whole window has passed, whichever way it went.
 */
export function launchOutcome(
  { subject, window_end }: Scored,
  sightings: readonly LaunchSighting[],
  now: UnixSeconds,
): CallResult {
  if (subject.kind !== 'token_risk') throw new Error('this call is about no launch');
  if (now < window_end) return PENDING;
  const lateS = subject.chain === 'solana' ? LAUNCH_LATE_S - LAUNCH_WINDOW_S : ETHEREUM_LATE_S;
  const after = sightings
    .filter(({ captured_at }) => captured_at >= window_end && captured_at <= window_end + lateS)
    .toSorted((one, other) => one.captured_at - other.captured_at);
  const decides = after.find(({ outcome }) => outcome === 'live' || outcome === 'died');
  if (decides !== undefined) {
    const { outcome, captured_at } = decides;
    return {
      state: 'scored',
      happened: outcome === 'died',
      rests_on: { outcome, captured_at: String(captured_at) },
      scored_at: now,
    };
  }
  const unlisted = after.find(({ outcome }) => outcome === 'never_listed');
  if (unlisted !== undefined) {
    return { state: 'unscorable', cause: 'never_listed', scored_at: now };
  }
  if (now <= window_end + lateS) return PENDING;
  return { state: 'unscorable', cause: 'not_observed', scored_at: now };
}

/** What became of a call on a market, by the candles of its hours; `null`: they are not whole. */
export function marketOutcome(
  { subject }: Scored,
  called_at: UnixSeconds,
  candles: readonly Pick<Candle, 'at' | 'open'>[] | null,
  now: UnixSeconds,
): CallResult {
  if (subject.kind !== 'market_call') throw new Error('this call is about no market');
  const { entry, exit, until } = marketWindow(called_at, subject.horizon_h);
  if (now < until) return PENDING;
  if (candles === null) {
    if (now < until + SERIES_LATE_S) return PENDING;
    return { state: 'unscorable', cause: 'unpriced', scored_at: now };
  }
  const first = firstFrom(candles, entry);
  const last = firstFrom(candles, exit);
  if (first === null || last === null) {
    return { state: 'unscorable', cause: 'unpriced', scored_at: now };
  }
  return {
    state: 'scored',
    happened: compareDecimals(last.open, first.open) > 0,
    rests_on: {
      entry: first.open,
      entry_at: String(first.at),
      exit: last.open,
      exit_at: String(last.at),
    },
    scored_at: now,
  };
}

const MS = 1_000;

function firstFrom(candles: readonly Pick<Candle, 'at' | 'open'>[], at: UnixSeconds) {
  const within = candles.filter((one) => one.at >= at * MS && one.at <= (at + CANDLE_LATE_S) * MS);
  const [first] = within.toSorted((one, other) => one.at - other.at);
  return first === undefined ? null : first;
}
