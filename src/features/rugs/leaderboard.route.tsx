import { z } from 'zod';
import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { html, text } from '../../contract/reply.ts';
import {
  evidenceRoute,
  type Handler,
  type PlainHandler,
  plainRoute,
} from '../../contract/route.ts';
import {
  checkedFlag,
  harmless,
  isoTime,
  negative,
  prose,
  rowFact,
  rowFacts,
  sharedShape,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { claim } from '../../evidence/claim.ts';
import { basis, decide, map, type Partly, Read, type Reading } from '../../evidence/reading.ts';
import { isOutage } from '../../evidence/reason-kinds.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Moment, Table } from '../../pages/words.tsx';
import {
  DEPLOYER_HISTORIES,
  HISTORY_WORDS,
  type RugFlagsPort,
  type ScoredChain,
  scoredChain,
  topEvidence,
} from '../../ports/rug-flags.ts';
import {
  featureTitle,
  modelCardPath,
  modelPagePath,
  SCORE_SENTENCE,
} from '../../ports/rug-model.ts';
import { ChartSection, type ChartsView } from './launch-chart.route.tsx';
import { type Board, boardOf, type FlaggedWallet, sumOf } from './scoring.ts';
import { readWindow, WINDOW_HOURS, type WindowPorts } from './watch.ts';

/** On what everything here rests that could deny something. */
export const FLAGS = { restsOn: ['rug_flags'] } as const;

/** The most entries of one answer, and how many where none is named. */
export const BOARD_ENTRIES_MAX = 100;
export const ENTRIES_DEFAULT = 50;

const modelCardWords = words().describe('Where the card of that version is answered.');

/** How many entries are asked for. */
export const limit = z.coerce.number().int().min(1).max(BOARD_ENTRIES_MAX).optional();
/** A wallet with the strongest of its flags. `launches`: how many of its launches are flagged. */
export const entry = sharedShape(
  'FlaggedWallet',
  z.strictObject({
    address: words(),
    chain: words(),
    score: rowFact(z.number().min(0).max(1)).describe(SCORE_SENTENCE),
    deployer_history: rowFact(z.enum(DEPLOYER_HISTORIES).nullable()).describe(
      'Whether the fate of an earlier launch of the deployer was known: of `none` the score ' +
        'rests on the launch itself. Null of what an earlier version flagged.',
    ),
    first_flagged_at: isoTime,
    last_scored_at: isoTime,
    top_evidence: rowFacts(topEvidence).extend({ statement: prose().min(1) }),
    model_version: words(),
    model_card: modelCardWords,
    token: words(),
    launches: z.int().positive(),
  }),
);

export type ListedWallet = z.output<typeof entry>;

/** The scored launches of a chain in the window. */
const scored = rowFacts(scoredChain).extend({
  chain: words(),
  last_scored_at: isoTime,
  model_card: modelCardWords,
});

/** Why `empty` denies nothing by itself. */
export const SAID_BY_EMPTY_REASON = 'empty_reason beside it says why';

export const leaderboard = evidenceRoute({
  name: 'leaderboard',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/leaderboard',
  summary: 'The wallets that the rug model flagged in the last 24 hours, the highest score first.',
  access: 'analyst',
  query: z.strictObject({ limit }),
  data: z.strictObject({
    entries: negative(z.array(entry).max(BOARD_ENTRIES_MAX), FLAGS),
    count: negative(z.int().nonnegative(), FLAGS),
    empty: harmless(z.boolean(), SAID_BY_EMPTY_REASON),
    empty_reason: prose().min(1).nullable(),
    window_hours: z.int().positive(),
    suppressed: negative(z.int().nonnegative().nullable(), FLAGS),
    window_checked: checkedFlag(FLAGS),
    window_reason: prose().min(1).nullable(),
    scored: harmless(z.array(scored), 'it is empty where no scorer has ever written', FLAGS),
    caveat: prose().min(1),
  }),
  absences: ['not_deployed'],
  tool: {
    name: 'flag_leaderboard',
    description:
      'Lists the wallets whose launches the rug model flagged in the last 24 hours, with the ' +
      'single strongest evidence for each. Who is missing from it has not been cleared: only ' +
      'launches that became known here were scored.',
  },
});

export const leaderboardPage = plainRoute({
  name: 'leaderboard_page',
  surface: 'web',
  method: 'GET',
  path: '/leaderboard',
  summary: 'The wallets that the rug model flagged in the last 24 hours, for people.',
  access: 'visitor',
  responses: { 200: html(), 503: html() },
});

export const leaderboardScript = plainRoute({
  name: 'leaderboard_script',
  surface: 'web',
  method: 'GET',
  path: '/assets/leaderboard.js',
  summary: 'Shows flags on the page of the leaderboard as they are told.',
  access: 'open',
  keptS: 300,
  responses: { 200: text('text/javascript; charset=utf-8') },
});

/** The longest token that may stand in a query. */
const TOKEN_CHARS_MAX = 200;

const SCHEMA = z.literal('rugs-leaderboard/1');

export const rugsLeaderboard = plainRoute({
  name: 'rugs_leaderboard',
  surface: 'intelligence',
  method: 'GET',
  path: '/api/leaderboard/rugs',
  summary: 'The wallets that the rug model flagged in the last 24 hours, as one plain object.',
  access: 'bearer',
  query: z.strictObject({ limit, token: z.string().max(TOKEN_CHARS_MAX).optional() }),
  responses: {
    200: z
      .strictObject({
        schema: SCHEMA,
        state: z.literal('ok'),
        available: z.literal(true),
        entries: negative(z.array(entry).max(BOARD_ENTRIES_MAX), FLAGS),
        count: negative(z.int().nonnegative(), FLAGS),
        empty: harmless(z.boolean(), SAID_BY_EMPTY_REASON),
        empty_reason: prose().min(1).nullable(),
        reason: prose().min(1).nullable(),
        window_hours: z.int().positive(),
        generated_at: unixSeconds,
        snapshot: z
          .strictObject({
            as_of: unixSeconds,
            age_s: harmless(z.int().nonnegative(), 'it is of the table, not of a wallet'),
          })
          .describe('Up to when launches were observed and scored: what is shown is so old.'),
        served: z.strictObject({ window: words(), rows: negative(z.int().nonnegative(), FLAGS) }),
        suppressed: negative(z.int().nonnegative().nullable(), FLAGS),
        simulated: harmless(z.boolean(), 'it is of the data, not of a wallet'),
        caveat: prose().min(1),
      })
      .describe(
        'The window was read. An empty list is a quiet day of a window that was scored to its ' +
          'end; `reason` says what of a window with entries was not scored.',
      ),
    503: z
      .strictObject({
        schema: SCHEMA,
        state: z.literal('no_snapshot'),
        available: harmless(z.literal(false), 'it says that nothing was checked'),
        entries: harmless(z.array(entry).length(0), 'its state says that nothing was checked'),
        count: harmless(z.literal(0), 'its state says that nothing was checked'),
        empty: z.literal(true),
        empty_reason: prose().min(1).nullable(),
        reason: prose().min(1),
        window_hours: z.int().positive(),
        generated_at: unixSeconds,
        simulated: harmless(z.boolean(), 'it is of the data, not of a wallet'),
      })
      .describe(
        'Nothing can be said of the window: the table could not be read, was scored in part and ' +
          'holds no flag, or was never written, which `empty_reason` says. It is no quiet day.',
      ),
  },
});

// An empty list is said of a window that was scored to its end, or of a table that no scorer has
// ever written, which is said as such; everything else is no answer.

export type LeaderboardPorts = WindowPorts & {
  readonly service: { readonly simulated: boolean };
};

const SUBJECT = 'leaderboard';

const LEADERBOARD_CAVEAT =
  `${SCORE_SENTENCE} Scored are new launches of wallets whose launches are collected here, on ` +
  'what was known when they were scored; whoever is missing from this list was not cleared by it.';

/** The window of a leaderboard. A part is shown where it holds a wallet, else it says nothing. */
async function windowOf(ports: WindowPorts, now: UnixSeconds) {
  const window = await readWindow(ports);
  const board = map(window, (held) => boardOf(held, now));
  return { board, shown: decide(board, ({ wallets }) => wallets.length > 0) };
}

/** @internal The handler of the hosted leaderboard. */
export function leaderboardHandler(ports: WindowPorts): Handler<typeof leaderboard> {
  return async ({ query: { limit } }, { now }) => {
    const { board, shown } = await windowOf(ports, now());
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

/** @internal The handler of the leaderboard of the intelligence service. */
export function rugsLeaderboardHandler({
  service: { simulated },
  ...ports
}: LeaderboardPorts): PlainHandler<typeof rugsLeaderboard> {
  const window = { window_hours: WINDOW_HOURS, simulated };
  return async ({ query: { limit } }, asked) => {
    const generated_at = Math.floor(asked.now());
    const { board, shown } = await windowOf(ports, generated_at);
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
      snapshot: snapshotOf(shown, generated_at),
      served: { window: `${WINDOW_HOURS}h`, rows: count },
      suppressed,
      caveat: simulated ? SIMULATED_CAVEAT + LEADERBOARD_CAVEAT : LEADERBOARD_CAVEAT,
      ...window,
    });
  };
}

/** Up to when everything that the window rests on was looked at. */
function snapshotOf(shown: Read<Board, RugFlagsPort>, now: UnixSeconds) {
  const as_of = Math.min(now, ...basis(shown).sources.map((source) => source.as_of));
  return { as_of, age_s: now - as_of };
}

function claimsOf(
  board: Partly<Board, RugFlagsPort>,
  shown: Read<Board, RugFlagsPort>,
  limit: number | undefined,
) {
  const most = limit === undefined ? ENTRIES_DEFAULT : limit;
  const firstEntries = (held: Board) => held.wallets.slice(0, most).map(entryOf);
  const suppressed: Reading<Board, RugFlagsPort> = decide(board, (held) => held.suppressed > 0);
  return {
    entries: claim(shown, firstEntries),
    count: claim(shown, (held) => firstEntries(held).length),
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

/** @internal The window as the page shows it, or why nothing can be said of it. */
export async function viewWindow(ports: WindowPorts, now: UnixSeconds) {
  const { board, shown } = await windowOf(ports, now);
  if (!(shown instanceof Read)) {
    return { reason: shown.why.reason, isOutage: isOutage(shown.why) };
  }
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
  const model_card = modelCardPath(one.model_version);
  return { ...one, last_scored_at: formatIsoTime(last_scored_at), model_card };
}

/** A wallet as it is listed. */
function entryOf(wallet: FlaggedWallet): ListedWallet {
  return {
    address: wallet.address,
    chain: wallet.chain,
    score: wallet.score,
    deployer_history: wallet.deployer_history,
    first_flagged_at: formatIsoTime(wallet.first_flagged_at),
    last_scored_at: formatIsoTime(wallet.last_scored_at),
    top_evidence: wallet.top_evidence,
    model_version: wallet.model_version,
    model_card: modelCardPath(wallet.model_version),
    token: wallet.token,
    launches: wallet.launches,
  };
}

// A quiet window, a table that nobody ever wrote and one that was not read each look their own way.

const PATH = '/leaderboard';
const TITLE = 'Leaderboard';

type WindowView = {
  readonly entries: readonly ListedWallet[];
  /** Wallets in the window, of which `entries` are the first. */
  readonly total: number;
  readonly window_hours: number;
  /** Why the list is empty: a quiet window, or one that nobody ever scored. */
  readonly empty: { readonly isQuiet: boolean; readonly says: string } | null;
  /** The part of the window that was not scored; `null` if all of it was. */
  readonly partial: string | null;
  readonly suppressed: number | null;
  readonly scored: readonly Omit<
    z.output<typeof scored>,
    'model_version' | 'model_card' | 'suppressed'
  >[];
  readonly caveat: string;
};

/** @internal The page; `reason` stands where nothing can be said of the window. */
export function leaderboardHtml(
  facts: PageFacts,
  shown: WindowView | { readonly reason: string },
  charts: ChartsView,
  isMember: boolean,
): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children: (
      <>
        <h1>{TITLE}</h1>
        <p class="lead">
          Wallets with a launch that the rug model flagged in the last 24 hours, the highest score
          first, each with the one piece of evidence that weighs most.
        </p>
        {'reason' in shown ? <Unread reason={shown.reason} /> : <Window shown={shown} />}
        <Live isMember={isMember} />
        <ChartSection charts={charts} />
      </>
    ),
  });
}

function Unread({ reason }: { reason: string }) {
  return (
    <section class="nothing unread" aria-labelledby="unread">
      <h2 id="unread">Nothing can be said of this window</h2>
      <p>{reason}</p>
      <p class="quiet">This is no quiet day: nobody knows what the window holds.</p>
    </section>
  );
}

function Window({ shown }: { shown: WindowView }) {
  const { entries, total, empty, partial, caveat } = shown;
  return (
    <>
      <p>{caveat}</p>
      {partial !== null && (
        <p class="notice" role="note">
          <strong>Scored in part.</strong> Others may be missing: {partial}
        </p>
      )}
      {empty === null ? (
        <>
          <p class="quiet">{headline(entries.length, total)}</p>
          <ol class="entries flags" id="flags">
            {entries.map((one) => (
              <Flag key={`${one.chain} ${one.address}`} entry={one} />
            ))}
          </ol>
        </>
      ) : (
        <Empty isQuiet={empty.isQuiet} says={empty.says} />
      )}
      <Scored shown={shown} />
    </>
  );
}

function headline(shown: number, total: number): string {
  const wallets = total === 1 ? '1 wallet' : `${total} wallets`;
  return shown === total ? wallets : `${shown} of ${wallets}`;
}

function Empty({ isQuiet, says }: NonNullable<WindowView['empty']>) {
  return (
    <section class={isQuiet ? 'nothing quiet-window' : 'nothing'} aria-labelledby="empty">
      <h2 id="empty">{isQuiet ? 'A quiet window' : 'Nothing was ever scored here'}</h2>
      <p>{says}</p>
      <p class="quiet">
        {isQuiet
          ? 'Everything that became known here was scored. It clears nobody.'
          : 'This is no quiet day: nobody has looked.'}
      </p>
    </section>
  );
}

function Flag({ entry }: { entry: ListedWallet }) {
  const { address, chain, score, top_evidence, token, launches, deployer_history: known } = entry;
  const { feature, value } = top_evidence;
  return (
    <li>
      <h2>
        <a href={`/deployer/${chain}/${address}`}>
          <code>{address}</code>
        </a>
      </h2>
      <p class="score">
        <strong>{score.toFixed(SCORE_DIGITS)}</strong> on {chain}
        {launches > 1 ? `, ${launches} launches flagged` : ''}
      </p>
      <p>{top_evidence.statement}</p>
      <p class="quiet">
        {featureTitle(feature)}
        {value === null ? ' has no value' : `: ${numberText(value)}`} · {moveText(entry)}
      </p>
      <p class="quiet">
        Token <code>{token}</code>
      </p>
      {known !== null && <p class="quiet">By a deployer {HISTORY_WORDS[known]}.</p>}
      <p class="quiet">
        Flagged <Moment at={entry.first_flagged_at} />, scored <Moment at={entry.last_scored_at} />
      </p>
      <p class="quiet">
        Model <a href={modelPagePath(entry.model_version)}>{entry.model_version}</a>
      </p>
    </li>
  );
}

/** By how much the evidence moves the log-odds, and by how many hundredths so the score. */
function moveText({ score, top_evidence: { contribution } }: ListedWallet): string {
  const odds = score / (1 - score) / Math.exp(contribution);
  const points = Number((100 * (score - odds / (1 + odds))).toFixed(1));
  return `${signedText(contribution)} in log-odds, ${signedText(points)} points of the score`;
}

/**
 * Shown by the script alone: without one nothing on the page waits for anything. The session of a
 * member opens the stream at once; anybody else needs a token.
 */
function Live({ isMember }: { isMember: boolean }) {
  return (
    <section id="live" aria-labelledby="live-title" data-member={String(isMember)} hidden>
      <h2 class="section" id="live-title">
        As it happens
      </h2>
      <form class="search" autocomplete="off">
        {!isMember && (
          <>
            <label for="live-token">
              An access token of the intelligence service. It stays in this page’s memory. Members
              need none: <a href="/activate">sign in</a>.
            </label>
            <input id="live-token" type="password" autocomplete="off" maxLength={200} />
          </>
        )}
        <button type="submit">Watch</button>
      </form>
      <p id="live-state" role="status">
        Not watching: what is told now is not shown here.
      </p>
      <ol class="entries flags" id="live-flags" aria-live="polite" />
      <script src="/assets/leaderboard.js" defer />
    </section>
  );
}

const SCORE_DIGITS = 2;
const FIGURES = 4;

function numberText(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: FIGURES });
}

function signedText(value: number): string {
  return `${value < 0 ? '−' : '+'}${numberText(Math.abs(value))}`;
}

function Scored({ shown: { scored, suppressed, window_hours } }: { shown: WindowView }) {
  if (scored.length === 0) return null;
  return (
    <>
      <Table
        caption={<>What was scored in the last {window_hours} hours</>}
        look="tight"
        rows={scored}
        columns={[
          { head: 'Chain', cell: (one) => one.chain, isName: true },
          { head: 'Launches scored', cell: (one) => one.scored },
          { head: 'Could not be scored', cell: (one) => one.unscored },
          { head: 'Wallets waiting', cell: (one) => one.waiting },
          { head: 'Last run', cell: (one) => <Moment at={one.last_scored_at} />, look: 'whole' },
        ]}
      />
      <p class="quiet">
        Established tokens left out: {suppressed === null ? 'not known' : suppressed}.
      </p>
    </>
  );
}
