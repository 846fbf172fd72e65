// Answers one question: which wallets did the rug model flag in the last day, and on what evidence?
// A quiet window, a table that nobody ever wrote and one that was not read each look their own way.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { Scroll } from '../../pages/words.tsx';
import type { ShownCharts } from './launch-chart.contract.ts';
import { ChartSection } from './launch-chart.page.tsx';
import type { ListedWallet } from './leaderboard.contract.ts';

const PATH = '/leaderboard';
const TITLE = 'Leaderboard';

/** What the page shows of a window. */
type ShownWindow = {
  readonly entries: readonly ListedWallet[];
  /** Wallets in the window, of which `entries` are the first. */
  readonly total: number;
  readonly window_hours: number;
  /** Why the list is empty: a quiet window, or one that nobody ever scored. */
  readonly empty: { readonly isQuiet: boolean; readonly says: string } | null;
  /** What of the window was not scored; `null` where it was scored to its end. */
  readonly partial: string | null;
  readonly suppressed: number | null;
  readonly scored: readonly {
    readonly chain: string;
    readonly scored: number;
    readonly unscored: number;
    readonly waiting: number;
    readonly last_scored_at: string;
  }[];
  readonly caveat: string;
};

/** The page; `reason` stands where nothing can be said of the window. */
export function leaderboardHtml(
  facts: PageFacts,
  shown: ShownWindow | { readonly reason: string },
  charts: ShownCharts,
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
        <Live />
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

function Window({ shown }: { shown: ShownWindow }) {
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

function Empty({ isQuiet, says }: NonNullable<ShownWindow['empty']>) {
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
  const { address, chain, score, top_evidence, token, launches } = entry;
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
        <code>{top_evidence.feature}</code>
        {top_evidence.value === null ? ' has no value' : ` ${numberText(top_evidence.value)}`},
        moves the score by {signed(top_evidence.contribution)} · token <code>{token}</code>
      </p>
      <p class="quiet">
        Flagged <Time at={entry.first_flagged_at} />, scored <Time at={entry.last_scored_at} />
      </p>
      <p class="quiet">Model {entry.model_version}</p>
    </li>
  );
}

/** Shown by the script alone: without one nothing on the page waits for anything. */
function Live() {
  return (
    <section id="live" aria-labelledby="live-title" hidden>
      <h2 class="section" id="live-title">
        As it happens
      </h2>
      <form class="search" autocomplete="off">
        <label for="live-token">
          An access token of the intelligence service. It stays in this page’s memory.
        </label>
        <input id="live-token" type="password" autocomplete="off" maxLength={200} />
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

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${numberText(Math.abs(value))}`;
}

const MINUTE_CHARS = 16;

function Time({ at }: { at: string }) {
  return <time dateTime={at}>{at.slice(0, MINUTE_CHARS).replace('T', ' ')} UTC</time>;
}

function Scored({ shown: { scored, suppressed, window_hours } }: { shown: ShownWindow }) {
  if (scored.length === 0) return null;
  return (
    <>
      <Scroll>
        <table class="tight">
          <caption>What was scored in the last {window_hours} hours</caption>
          <thead>
            <tr>
              <th scope="col">Chain</th>
              <th scope="col">Launches scored</th>
              <th scope="col">Could not be scored</th>
              <th scope="col">Wallets waiting</th>
              <th scope="col">Last run</th>
            </tr>
          </thead>
          <tbody>
            {scored.map((one) => (
              <tr key={one.chain}>
                <th scope="row">{one.chain}</th>
                <td>{one.scored}</td>
                <td>{one.unscored}</td>
                <td>{one.waiting}</td>
                <td class="whole">
                  <Time at={one.last_scored_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="quiet">
        Established tokens left out: {suppressed === null ? 'not known' : suppressed}.
      </p>
    </>
  );
}
