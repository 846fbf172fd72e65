// Answers GET /api/v1/leaderboard and GET /api/leaderboard/rugs from the table of flags.
// An empty list is said of a window that was scored to its end, or of a table that no scorer has
// ever written, which is said as such; everything else is no answer.

import { formatIsoTime, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type { Handler, PlainHandler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { decided, map, type Partly, Read, type Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { RugFlags, RugFlagsPort, ScoredChain } from '../../ports/flags/rug-flags.ts';
import { type Board, boardOf, type FlaggedWallet, sumOf, WINDOW_HOURS } from './board.ts';
import { ENTRIES_DEFAULT, type ListedWallet, leaderboard } from './leaderboard.contract.ts';
import { rugsLeaderboard } from './rugs-leaderboard.contract.ts';

/** What the leaderboards rest on. */
export type LeaderboardGiven = {
  readonly rugFlags: RugFlags;
  readonly service: { readonly simulated: boolean };
};

const SUBJECT = 'leaderboard';

/** What a leaderboard is and is not. */
const LEADERBOARD_CAVEAT =
  'A score is the calibrated output of the model that stands beside it, on what was known when ' +
  'the launch was scored. Scored are new launches of wallets whose launches are collected here; ' +
  'whoever is missing from this list was not cleared by it.';

/** The window of a leaderboard. A part is shown where it holds a wallet, else it says nothing. */
async function windowOf(rugFlags: RugFlags, now: UnixSeconds) {
  const window = await rugFlags.inWindow(WINDOW_HOURS * HOUR_S);
  const board = map(window, (held) => boardOf(held, now));
  return { board, shown: decided(board, ({ wallets }) => wallets.length > 0) };
}

/** The handler of the hosted leaderboard. */
export function leaderboardHandler({ rugFlags }: LeaderboardGiven): Handler<typeof leaderboard> {
  return async ({ query: { limit } }, { now }) => {
    const { board, shown } = await windowOf(rugFlags, now());
    if (!(shown instanceof Read)) {
      return leaderboard.absent.not_deployed({ subject: SUBJECT, silent: shown });
    }
    const { entries, count, suppressed } = claimsOf(board, shown, limit);
    return leaderboard.ok({
      subject: SUBJECT,
      data: {
        entries,
        count,
        empty: shown.value.wallets.length === 0,
        empty_reason: emptyReason(shown.value),
        window_hours: WINDOW_HOURS,
        suppressed,
        window_checked: claim(board, isScored, isInPart),
        window_reason: reasonOf(board),
        scored: shown.value.chains.map(scoredShown),
        caveat: LEADERBOARD_CAVEAT,
      },
    });
  };
}

/** The handler of the leaderboard of the intelligence service. */
export function rugsLeaderboardHandler({
  rugFlags,
  service: { simulated },
}: LeaderboardGiven): PlainHandler<typeof rugsLeaderboard> {
  const window = { window_hours: WINDOW_HOURS, simulated };
  return async ({ query: { limit } }, asked) => {
    const generated_at = Math.floor(asked.now());
    const { board, shown } = await windowOf(rugFlags, generated_at);
    const never = shown instanceof Read && !isScored(shown.value);
    if (!(shown instanceof Read) || never) {
      // A list that a client may take for a quiet day is not given of what nobody ever scored.
      const { reason } = shown instanceof Read ? NEVER_SCORED : shown.why;
      return rugsLeaderboard.reply(503, {
        schema: 'rugs-leaderboard/1',
        state: 'no_snapshot',
        available: false,
        entries: [],
        count: 0,
        empty: true,
        empty_reason: never ? reason : null,
        reason,
        generated_at,
        ...window,
      });
    }
    const { entries, count, suppressed } = claimsOf(board, shown, limit);
    return rugsLeaderboard.reply(200, {
      schema: 'rugs-leaderboard/1',
      state: 'ok',
      available: true,
      entries,
      count,
      empty: shown.value.wallets.length === 0,
      empty_reason: emptyReason(shown.value),
      reason: reasonOf(board),
      generated_at,
      served: { window: `${WINDOW_HOURS}h`, rows: count },
      suppressed,
      caveat: simulated ? SIMULATED_CAVEAT + LEADERBOARD_CAVEAT : LEADERBOARD_CAVEAT,
      ...window,
    });
  };
}

function claimsOf(
  board: Partly<Board, RugFlagsPort>,
  shown: Read<Board, RugFlagsPort>,
  limit: number | undefined,
) {
  const most = limit === undefined ? ENTRIES_DEFAULT : limit;
  const listed = (held: Board) => held.wallets.slice(0, most).map(entryOf);
  const suppressed: Reading<Board, RugFlagsPort> = decided(board, (held) => held.suppressed > 0);
  return {
    entries: claim(shown, listed),
    count: claim(shown, (held) => listed(held).length),
    suppressed: claim(
      suppressed,
      (held) => held.suppressed,
      () => null,
    ),
  };
}

const NEVER_SCORED = why('never_scored');

const isScored = ({ chains }: Board): boolean => chains.length > 0;
const isInPart = (): false => false;

function reasonOf(board: Partly<Board, RugFlagsPort>): string | null {
  return board.checked ? null : board.why.reason;
}

/** Why a board is empty; `null` where it is not. */
function emptyReason(board: Board): string | null {
  const empty = emptyWhy(board);
  return empty === null ? null : empty.reason;
}

function emptyWhy(board: Board): Why | null {
  if (board.wallets.length > 0) return null;
  return isScored(board) ? quiet(board) : NEVER_SCORED;
}

function quiet({ chains, suppressed }: Board): Why {
  return why('quiet_window', {
    scored: String(sumOf(chains.map((one) => one.scored))),
    hours: String(WINDOW_HOURS),
    chains: chains.map(({ chain, scored }) => `${chain} ${scored}`).join(', '),
    but: suppressed === 0 ? '' : `; established tokens left out: ${suppressed}`,
  });
}

/** The most entries that the page shows. */
const PAGE_ENTRIES_MAX = 100;

/** What the page shows of the window, or why nothing can be said of it. */
export async function shownWindow(rugFlags: RugFlags, now: UnixSeconds) {
  const { board, shown } = await windowOf(rugFlags, now);
  if (!(shown instanceof Read)) return { reason: shown.why.reason };
  const empty = emptyWhy(shown.value);
  const { wallets, chains, suppressed } = shown.value;
  return {
    entries: wallets.slice(0, PAGE_ENTRIES_MAX).map(entryOf),
    total: wallets.length,
    window_hours: WINDOW_HOURS,
    empty: empty === null ? null : { isQuiet: isScored(shown.value), says: empty.reason },
    partial: reasonOf(board),
    suppressed: board.checked || suppressed > 0 ? suppressed : null,
    scored: chains.map(scoredShown),
    caveat: LEADERBOARD_CAVEAT,
  };
}

function scoredShown({ last_scored_at, ...one }: ScoredChain) {
  return { ...one, last_scored_at: formatIsoTime(last_scored_at) };
}

/** A wallet as it is listed. */
function entryOf(wallet: FlaggedWallet): ListedWallet {
  return {
    address: wallet.address,
    chain: wallet.chain,
    score: wallet.score,
    first_flagged_at: formatIsoTime(wallet.first_flagged_at),
    last_scored_at: formatIsoTime(wallet.last_scored_at),
    top_evidence: { ...wallet.top_evidence },
    model_version: wallet.model_version,
    token: wallet.token,
    launches: wallet.launches,
  };
}
