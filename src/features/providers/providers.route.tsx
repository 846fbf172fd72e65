// The leaderboard of providers, for machines and for people. Both show the board as the collector
// last made it; the page lists the misses behind it.

import { z } from 'zod';
import { formatIsoTime, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type { DATA_MODES } from '../../contract/answer.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { keepParses } from '../../evidence/kept-parses.ts';
import { map, Read, type Reading, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { Address, countWords, Moment, Table } from '../../pages/words.tsx';
import type { KeptCall, ProviderCalls, ProviderCallsPort } from '../../ports/provider-calls.ts';
import { countBoard } from './board.ts';
import {
  BOARD_WINDOWS,
  type BoardRow,
  type BoardWindow,
  boardUnreadable,
  type CountedBoard,
  countedBoard,
  providerBoard,
} from './shapes.ts';

const PATH = '/providers';
const MACHINE = '/api/leaderboard/providers';
const KEPT_S = 60;
/** Three times the longest interval of collecting, which is a day. */
const EMPTY_AFTER_S = 3 * 24 * HOUR_S;
const MISSES_MAX = 100;
const query = z.strictObject({ window: z.enum(BOARD_WINDOWS).optional() });
const pageQuery = query.extend({ before: z.coerce.number().int().positive().optional() });

export const providersBoard = plainRoute({
  surface: 'signals',
  method: 'GET',
  access: 'open',
  name: 'providers_board',
  path: MACHINE,
  summary: 'How right outside services were: rates with their numbers, intervals and baselines.',
  query,
  keptS: KEPT_S,
  responses: {
    200: providerBoard.describe('Check `scored` before quoting a `hit_rate`.'),
    503: boardUnreadable.describe('The calls could not be read, or were not counted yet.'),
  },
});

export const providersPage = plainRoute({
  surface: 'web',
  method: 'GET',
  access: 'open',
  name: 'providers_page',
  path: PATH,
  summary: 'How right outside services were, for people.',
  query: pageQuery,
  responses: { 200: html(), 503: html() },
});

export type ProvidersPorts = {
  readonly providerCalls: Pick<ProviderCalls, 'board' | 'misses'>;
  readonly service: { readonly simulated: boolean };
};

const READ_FIRST = {
  meaning:
    'A row tells how often the statements of one provider came true, by a rule that was ' +
    'published before the first of them. It measures statements, and tokens and markets only ' +
    'through them.',
  null_means: 'unmeasured, never zero',
  every_rate_has_a_denominator:
    'hit_rate and base_rate are of `scored`, brier is of `brier_n`, and every other rate stands ' +
    'beside the number that it is of. Check `scored` before quoting a hit_rate.',
  methodology:
    'A call is scored when its whole window has passed, whichever way it went. Rows count calls ' +
    'that were received before anything of their window could be seen; all others stand under ' +
    'retrospective and are left out of these rates. Rows are ordered by the lower end of the ' +
    'interval, and each version of a rule has rows of its own. exhibit providers rules prints ' +
    'the rules.',
} as const;

const MODES: { readonly [mode in (typeof DATA_MODES)[number]]: string } = {
  measured: 'The newest call was received within three days.',
  simulated: 'Simulated: the providers, their calls and what became of them are made up.',
  empty:
    'Calls were received here before and none within three days: whoever collects them may have ' +
    'stopped. That says nothing about any provider.',
};

/** A board without a row is the normal state before the first call, also where nobody is asked. */
const NO_CALL = 'No call was ever received here. A board without a row is measured.';

function modeText(mode: keyof typeof MODES, { newest_call_at }: CountedBoard): string {
  return mode === 'measured' && newest_call_at === null ? NO_CALL : MODES[mode];
}

/**
 * The newest board, or an empty one of now where no call was ever received. Unread where calls are
 * not counted yet, or another version counted them.
 */
async function readBoard(
  calls: ProvidersPorts['providerCalls'],
  parse: BoardParser,
  now: UnixSeconds,
): Promise<Reading<CountedBoard, ProviderCallsPort>> {
  const found = await calls.board();
  if (!(found instanceof Read)) return found;
  const fault = (text: string) =>
    unread(
      'provider_calls',
      why('store_unreadable', { what: 'The board of providers', fault: text }),
    );
  const { kept, any_call } = found.value;
  if (kept === null) {
    if (any_call) return fault('no round has counted the calls yet');
    const made_at = Math.floor(now);
    return map(found, () => countBoard({ calls: [], gaps: [], asked: new Map(), made_at }));
  }
  const parsed = parse('board', kept.text);
  if (!parsed.success) return fault('another version made it');
  return map(found, () => parsed.data);
}

type BoardParser = ReturnType<typeof boardParser>;

function boardParser() {
  return keepParses((text) => countedBoard.safeParse(JSON.parse(text)), 1);
}

function dataModeOf(
  { newest_call_at }: CountedBoard,
  simulated: boolean,
  now: UnixSeconds,
): (typeof DATA_MODES)[number] {
  if (newest_call_at !== null && now - newest_call_at > EMPTY_AFTER_S) return 'empty';
  return simulated ? 'simulated' : 'measured';
}

/** @internal */
export function providersBoardHandler({
  providerCalls,
  service: { simulated },
}: ProvidersPorts): PlainHandler<typeof providersBoard> {
  const parse = boardParser();
  return async ({ query: { window } }, { now }) => {
    const read = await readBoard(providerCalls, parse, now());
    if (!(read instanceof Read)) {
      const detail = read.why.reason;
      return providersBoard.reply(503, { error: 'board_unreadable', detail });
    }
    const shown: readonly BoardWindow[] = window === undefined ? BOARD_WINDOWS : [window];
    const windows = Object.fromEntries(
      shown.map((name) => [
        name,
        {
          from: isoOrNull(read.value.windows[name].from),
          rows: claim(read, (value) => value.windows[name].rows),
          retrospective: claim(read, (value) => value.windows[name].retrospective),
        },
      ]),
    );
    const mode = dataModeOf(read.value, simulated, now());
    return providersBoard.reply(200, {
      data_mode: mode,
      generated_at_iso: formatIsoTime(read.value.made_at),
      total_scores: claim(read, ({ total_scores }) => total_scores),
      windows,
      window_requested: window === undefined ? null : window,
      served: {
        window: window === undefined ? null : window,
        rows: claim(read, (value) =>
          shown.reduce((sum, name) => sum + value.windows[name].rows.length, 0),
        ),
      },
      read_this_first: {
        ...READ_FIRST,
        data_mode: modeText(mode, read.value),
        meaning: simulated ? `${SIMULATED_CAVEAT}${READ_FIRST.meaning}` : READ_FIRST.meaning,
      },
    });
  };
}

function isoOrNull(at: UnixSeconds | null): string | null {
  return at === null ? null : formatIsoTime(at);
}

const TITLE = 'Providers';
const PAGE_WINDOW: BoardWindow = '90d';

/** @internal */
export function providersPageHandler(
  { providerCalls, service: { simulated } }: ProvidersPorts,
  facts: PageFacts,
): PlainHandler<typeof providersPage> {
  const parse = boardParser();
  const fail = (reason: string) =>
    providersPage.reply(
      503,
      messagePage(facts, {
        title: 'The leaderboard could not be read',
        why: reason,
        current: PATH,
        back: { path: PATH, text: 'Try again' },
      }),
    );
  return async ({ query: { window = PAGE_WINDOW, before } }, { now }) => {
    const read = await readBoard(providerCalls, parse, now());
    if (!(read instanceof Read)) return fail(read.why.reason);
    const misses = await providerCalls.misses({
      before: before === undefined ? null : before,
      limit: MISSES_MAX,
    });
    if (!(misses instanceof Read)) return fail(misses.why.reason);
    const mode = dataModeOf(read.value, simulated, now());
    const children = (
      <Leaderboard value={read.value} window={window} mode={mode} misses={misses.value} />
    );
    return providersPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

type BoardProps = {
  value: CountedBoard;
  window: BoardWindow;
  mode: (typeof DATA_MODES)[number];
  misses: readonly KeptCall[];
};

const WINDOW_WORDS: { readonly [window in BoardWindow]: string } = {
  '30d': 'the last 30 days',
  '90d': 'the last 90 days',
  all: 'the whole record',
};

function Leaderboard({ value, window, mode, misses }: BoardProps) {
  const { rows, retrospective } = value.windows[window];
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        How often the statements of outside services came true, by rules that were published before
        the first of them. Every rate stands beside its number, and every miss is listed.
      </p>
      <p class={mode === 'empty' ? 'notice' : 'quiet'}>
        {modeText(mode, value)} Counted <Moment at={value.made_at} />.
      </p>
      <nav aria-label="Window">
        Received within{' '}
        {BOARD_WINDOWS.map((one, at) => (
          <>
            {at > 0 && ' · '}
            {one === window ? (
              <strong aria-current="true">{WINDOW_WORDS[one]}</strong>
            ) : (
              <a href={`${PATH}?window=${one}`}>{WINDOW_WORDS[one]}</a>
            )}
          </>
        ))}
      </nav>
      {rows.length === 0 ? (
        <p class="nothing">No call was received in this window.</p>
      ) : (
        <Rates caption={`Calls received in ${WINDOW_WORDS[window]}, before the fact`} rows={rows} />
      )}
      {retrospective.length > 0 && (
        <Rates
          caption="Retrospective: received late, or after something of the outcome could be seen"
          rows={retrospective}
          isRetrospective
        />
      )}
      <Bins rows={rows} />
      <Misses misses={misses} window={window} />
      <section aria-labelledby="first">
        <h2 id="first">How to read this</h2>
        <p class="prose">{READ_FIRST.meaning}</p>
        <p class="prose">
          A call is scored when its whole window has passed, whichever way it went. The first table
          counts calls that were received before anything of their outcome could be seen, and is
          ordered by the lower end of the interval: nine of nine stand below 95 of 100. Whoever
          always says so, or always denies it, has the hits of the next two columns on the same
          calls.
        </p>
      </section>
      <p class="quiet">
        As a machine reads it: <a href={MACHINE}>{MACHINE}</a>. The rules, and their bounds:{' '}
        <a href="/docs/guides/providers">the guide</a>.
      </p>
    </>
  );
}

const KIND_WORDS: { readonly [kind in BoardRow['kind']]: string } = {
  token_risk: 'deaths of launches',
  market_call: 'prices',
};

type RatesProps = {
  caption: string;
  rows: readonly BoardRow[];
  /** What was asked is counted once, beside the calls that came in time. */
  isRetrospective?: true;
};

function Rates({ caption, rows, isRetrospective }: RatesProps) {
  return (
    <Table
      caption={caption}
      rows={rows}
      columns={[
        {
          head: 'Provider',
          cell: ({ provider, kind, rule_version: rule }) => (
            <>
              <strong>{provider}</strong>{' '}
              <span class="quiet">
                {KIND_WORDS[kind]}, by {rule}
              </span>
            </>
          ),
          look: 'whole',
        },
        { head: 'Right', cell: rateText },
        {
          head: 'Always saying so',
          cell: ({ baselines, scored }) => shareText(baselines.always_yes, scored),
        },
        {
          head: 'Always denying',
          cell: ({ baselines, scored }) => shareText(baselines.always_no, scored),
        },
        { head: 'Waiting', cell: ({ pending }) => pending, look: 'number' },
        { head: 'Not scorable', cell: ({ unscorable }) => unscorable, look: 'number' },
        { head: 'Brier', cell: brierText },
        ...(isRetrospective === true ? [] : [{ head: 'Asked about', cell: coverageText }]),
      ]}
    />
  );
}

function rateText({ hit_rate, interval, hits, scored }: BoardRow): string {
  if (hit_rate === null || interval === null) return 'not measured yet';
  const [low, high] = [interval.low, interval.high].map(percent);
  return `${shareText(hits, scored)}, between ${low} and ${high}`;
}

function shareText(hits: number, of: number): string {
  return of === 0 ? 'not measured' : `${hits} of ${of}: ${percent(hits / of)}`;
}

function brierText({ brier, brier_n, scored }: BoardRow): string {
  if (scored === 0) return 'not measured';
  return brier === null ? 'without a probability' : `${brier.toFixed(3)} of ${brier_n}`;
}

function coverageText({ coverage, missed_s }: BoardRow): string {
  if (coverage === null || missed_s === null) return 'not asked here';
  const { rate, of } = coverage;
  const share =
    rate === null ? 'not asked yet' : `${percent(rate)} of ${countWords(of, 'launch', 'launches')}`;
  if (missed_s === 0) return share;
  const hours = missed_s < HOUR_S ? 'under 1' : Math.round(missed_s / HOUR_S);
  return `${share}; ${hours} h without an answer`;
}

const PERCENT = 100;

function percent(share: number): string {
  return `${(share * PERCENT).toFixed(1)}%`;
}

function Bins({ rows }: { rows: readonly BoardRow[] }) {
  const bins = rows.flatMap(({ provider, bins: own }) => own.map((bin) => ({ provider, ...bin })));
  if (bins.length === 0) return null;
  return (
    <Table
      caption="What probabilities said, beside what happened"
      rows={bins}
      columns={[
        { head: 'Provider', cell: ({ provider }) => provider, look: 'whole' },
        { head: 'Said', cell: ({ mean_probability: said }) => percent(said), look: 'number' },
        { head: 'Happened', cell: ({ happened, n }) => shareText(happened, n), look: 'number' },
      ]}
    />
  );
}

function Misses({ misses, window }: Pick<BoardProps, 'misses' | 'window'>) {
  const last = misses.at(-1);
  if (last === undefined) return null;
  return (
    <>
      <Table
        caption="Misses, the newest first"
        look="lines"
        rows={misses}
        columns={[
          { head: 'Received', cell: ({ received_at: at }) => <Moment at={at} />, look: 'whole' },
          { head: 'Provider', cell: ({ provider }) => provider },
          { head: 'Said', cell: Statement },
          {
            head: 'Came',
            cell: (call) => (
              <>
                <span class="narrow quiet">Came: </span>
                {outcomeText(call)}
              </>
            ),
          },
          {
            head: 'Counts as',
            cell: ({ prospective }) => (prospective ? 'before the fact' : 'retrospective'),
          },
          { head: 'Call', cell: ({ call_id: id }) => <code>{id}</code> },
        ]}
      />
      {misses.length === MISSES_MAX && (
        <nav aria-label="Pages of misses">
          <a rel="next" href={`${PATH}?window=${window}&before=${last.leaf}`}>
            Older misses
          </a>
        </nav>
      )}
    </>
  );
}

function Statement({ subject, says }: Pick<KeptCall, 'subject' | 'says'>) {
  if (subject.kind === 'market_call') return <>{statementText({ subject, says })}</>;
  return (
    <>
      <Address of={subject.token} chain={subject.chain} /> {says ? 'dies' : 'lives on'}
    </>
  );
}

/** What a call said, in words. */
export function statementText({ subject, says }: Pick<KeptCall, 'subject' | 'says'>): string {
  if (subject.kind === 'token_risk') {
    return `${subject.token} ${says ? 'dies' : 'lives on'}`;
  }
  return `${subject.asset} ${says ? 'is higher' : 'is not higher'} after ${subject.horizon_h} h`;
}

/** What came of it, in words. */
export function outcomeText({ subject, outcome }: Pick<KeptCall, 'subject' | 'outcome'>): string {
  if (outcome.state === 'pending') return 'not decided yet';
  if (outcome.state === 'unscorable')
    return `without an outcome: ${outcome.cause.replaceAll('_', ' ')}`;
  if (subject.kind === 'token_risk') return outcome.happened ? 'it died' : 'it lives';
  return outcome.happened ? 'it was higher' : 'it was not higher';
}
