// The record of calls for people: each picture stands beside a table of the same figures.
// `edge.route.ts` reads the record with its candles (`recordOver`). `prepareAnswer` works a
// question out and keeps what it comes to with the record, where `runBacktest` then finds it
// (`question.ts`). `pages/plot.tsx` gives a picture its frame, margins, scales and ticks.

import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import type { DATA_MODES } from '../../contract/answer.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { Read } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { Reliability } from '../../evidence/statistics.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import {
  boundsOf,
  dayText,
  Ends,
  Grid,
  LEFT,
  linePath,
  Plot,
  RIGHT,
  scaleOf,
  TOP,
  ticksOf,
  WIDTH,
} from '../../pages/plot.tsx';
import { countWords, Moment, Table } from '../../pages/words.tsx';
import { DETECTOR_KINDS, type DetectorKind, DIRECTIONS } from '../../ports/emitted-calls.ts';
import { SHARPE_DAYS_MIN } from './backtest.ts';
import { type EdgePorts, filterOf, filterQuery, recordMode, recordOver } from './edge.route.ts';
import { COST_BPS_DEFAULT, DAYS_DEFAULT, type Filter } from './filters.ts';
import { measureHealth, type VersionHealth } from './performance.ts';
import {
  type Backtest,
  type CalledPrices,
  calledPrices,
  type Deflation,
  deflateBacktest,
  type EdgeWork,
  hitsByMonth,
  type MonthOfHits,
  prepareAnswer,
  reliabilityOfConviction,
  runBacktest,
} from './question.ts';
import type { EdgeRecord } from './record.ts';

const PATH = '/edge';
const TITLE = 'Edge';
const MONTHS_SHOWN = 12;
const CALLS_SHOWN = 20;

/** A form sends the fields that were left empty too. */
const empty = z.literal('');
const { kinds, asset, direction, days, cost_bps, min_conviction } = filterQuery.shape;
const hours = z
  .string()
  .regex(/^([1-9]\d?|[1-6]\d\d|7[01]\d|720)$/, 'expected hours from 1 to 720');
const pageQuery = z.strictObject({
  kinds: kinds.or(empty),
  asset: asset.or(empty),
  direction: direction.or(empty),
  horizon_h: hours.or(empty).optional(),
  days: days.or(empty),
  cost_bps: cost_bps.or(empty),
  min_conviction: min_conviction.or(empty),
});

export const edgePage = plainRoute({
  surface: 'web',
  method: 'GET',
  access: 'open',
  name: 'edge_page',
  path: PATH,
  summary: 'What detectors called, what came of it, and how much of it may be luck, for people.',
  query: pageQuery,
  responses: { 200: html(), 503: html() },
});

/** @internal */
export function edgePageHandler(
  ports: Omit<EdgePorts, 'edgeTrials'>,
  facts: PageFacts,
  work: EdgeWork,
): PlainHandler<typeof edgePage> {
  return async ({ query }, { signal }) => {
    const filter = filterOf(withoutEmpty(query));
    const fail = (title: string, { reason }: Why) => {
      const back = { path: PATH, text: 'Try again' };
      return edgePage.reply(503, messagePage(facts, { title, why: reason, current: PATH, back }));
    };
    const read = await recordOver(ports)('priced');
    if ('silent' in read) return fail('The record of calls could not be read', read.silent);
    const record = read.record.value;
    const late = await prepareAnswer(record, filter, work, { signal });
    if (late !== null) return fail('The question could not be worked out in time', late);
    const told = runBacktest(record, filter);
    const unreadCandles = told.instruments.some((at) => !(read.candles[at] instanceof Read));
    const children = (
      <Edge record={record} filter={filter} told={told} unreadCandles={unreadCandles} />
    );
    return edgePage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

function withoutEmpty(query: z.output<typeof pageQuery>): z.output<typeof filterQuery> {
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return filterQuery.parse(Object.fromEntries(filled.map(([name, value]) => [name, value])));
}

const MODES: { readonly [mode in (typeof DATA_MODES)[number]]: string } = {
  measured: 'The calls are those of this deployment, and what came of them is what venues told.',
  simulated: 'Simulated: the markets, the calls and what became of them are made up.',
  empty: 'No call is on record here. That says nothing about any market.',
};

type EdgeProps = {
  record: EdgeRecord;
  filter: Filter;
  told: Backtest;
  unreadCandles: boolean;
};

function Edge({ record, filter, told, unreadCandles }: EdgeProps) {
  const mode = recordMode(record);
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Detectors call an asset to rise (long) or to fall (short) within some hours. Here is what
        they called, what came of it after costs and funding, and how much of it may be luck. Each
        call is a leaf of <a href="/log">the log</a> when it is made, and stays as it was said.{' '}
        <a href="/docs/guides/calls">What each kind looks at</a>
      </p>
      <p class={mode === 'empty' ? 'notice' : 'quiet'}>
        {MODES[mode]}
        {record.as_of !== null && (
          <>
            {' '}
            The record reaches <Moment at={record.as_of} />.
          </>
        )}
      </p>
      <Asking filter={filter} />
      <Figures told={told} filter={filter} />
      {told.calls.closed > 0 && (
        <>
          {(told.hours_unread > 0 || unreadCandles) && <p class="notice">{candlesText(told)}</p>}
          <Equity told={told} />
          {/* The page is open to all, so it knows of no tries beside the listed family. */}
          <Luck told={told} deflation={deflateBacktest(told, [])} />
          <Months months={hitsByMonth(record, filter, MONTHS_SHOWN)} />
          <Convictions groups={reliabilityOfConviction(record, filter)} />
        </>
      )}
      <Called prices={calledPrices(record, filter)} />
      <Health rows={measureHealth(record)} />
      <p class="quiet">
        As a machine reads it: <a href="/edge/backtest.json">/edge/backtest.json</a>,{' '}
        <a href="/edge/replay.json">/edge/replay.json</a>,{' '}
        <a href="/edge/performance.json">/edge/performance.json</a>. The definitions:{' '}
        <a href="/docs/concepts/edge">the edge</a>. A rule about calls can be tried in{' '}
        <a href="/edge/rules">the editor of rules</a>.
      </p>
    </>
  );
}

function candlesText({ hours_unread, equity }: Backtest): string {
  if (hours_unread === 0) {
    return 'The candles between entries and exits were not read to their end, or are made up.';
  }
  const hours = countWords(hours_unread, 'hour');
  const so =
    equity === null
      ? 'equity, drawdown and the ratio of Sharpe are not measured'
      : 'the curve moves over them at once';
  return `Candles of ${hours} between entries and exits were not read: ${so}.`;
}

function Asking({ filter }: { filter: Filter }) {
  const chosen = filter.kinds === null ? '' : filter.kinds.join(',');
  return (
    <form class="asking" method="get" action={PATH}>
      <Field name="kinds" label="Kind">
        <select id="kinds" name="kinds">
          <option value="">All kinds</option>
          {DETECTOR_KINDS.map((kind) => (
            <option key={kind} value={kind} selected={chosen === kind}>
              {kind}
            </option>
          ))}
          {chosen.includes(',') && (
            <option value={chosen} selected>
              {chosen}
            </option>
          )}
        </select>
      </Field>
      <Field name="asset" label="Asset">
        <input id="asset" name="asset" value={textOf(filter.asset)} maxLength={20} />
      </Field>
      <Field name="direction" label="Direction">
        <select id="direction" name="direction">
          <option value="">Both</option>
          {DIRECTIONS.map((one) => (
            <option key={one} value={one} selected={filter.direction === one}>
              {one}
            </option>
          ))}
        </select>
      </Field>
      <Field name="days" label="Days">
        <input id="days" name="days" value={String(filter.days)} inputMode="decimal" />
      </Field>
      <Field name="cost_bps" label="Round trip, basis points">
        <input id="cost_bps" name="cost_bps" value={String(filter.cost_bps)} inputMode="decimal" />
      </Field>
      <Field name="min_conviction" label="Least conviction">
        <input
          id="min_conviction"
          name="min_conviction"
          value={textOf(filter.min_conviction)}
          inputMode="decimal"
        />
      </Field>
      <button type="submit">Show</button>
    </form>
  );
}

type FieldProps = { name: string; label: string; children: ComponentChildren };

function Field({ name, label, children }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
    </div>
  );
}

function textOf(value: string | number | null): string {
  return value === null ? '' : String(value);
}

function Figures({ told, filter }: { told: Backtest; filter: Filter }) {
  const { calls, by_kind, biases } = told;
  if (calls.n === 0) {
    return (
      <p class="nothing">
        No call on record is kept by this filter. Days without a running producer are told by{' '}
        <a href="/edge/replay.json">the replay</a>.
      </p>
    );
  }
  const days = countWords(filter.days, 'day');
  const rows = [{ name: 'all', ...calls }, ...by_kind.map((one) => ({ name: one.kind, ...one }))];
  return (
    <>
      <Table
        caption={`Calls of ${days}, at a round trip of ${bpsWords(filter.cost_bps)}`}
        rows={rows.filter(({ n }) => n > 0)}
        columns={[
          { head: 'Kind', cell: ({ name }) => name, isName: true },
          { head: 'Calls', cell: ({ n }) => n, look: 'number' },
          { head: 'Closed', cell: ({ closed }) => closed, look: 'number' },
          { head: 'Open', cell: ({ open }) => open, look: 'number' },
          { head: 'Unpriced', cell: ({ unpriced }) => unpriced, look: 'number' },
          { head: 'Hit', cell: hitText },
          { head: 'Mean, net', cell: (row) => bpsText(row.mean_return_bps), look: 'number' },
          {
            head: 'Mean, gross',
            cell: (row) => bpsText(row.gross.mean_return_bps),
            look: 'number',
          },
          { head: 'Break-even', cell: (row) => bpsText(row.breakeven_cost_bps), look: 'number' },
        ]}
      />
      <p class="prose quiet">
        Means are in basis points, hundredths of a per cent. Gross is the move of the price; net is
        after funding and the round trip, and a call hits where it is over zero. At the break-even
        round trip the mean is zero. An unpriced call lacks the candle of one of its ends, and is
        left out of the rates.
      </p>
      {biases.length > 0 && (
        <p class="notice">
          This question reaches under the highest bar that was in force:{' '}
          {biases.map(({ kind, bar }) => `${kind} ${bar}`).join(', ')}. Calls under it exist in
          part, so that these figures are biased.
        </p>
      )}
    </>
  );
}

type HitRate = Pick<VersionHealth, 'hit_rate' | 'interval' | 'hits' | 'closed'>;

function hitText({ hit_rate, interval, hits, closed }: HitRate): string {
  if (hit_rate === null || interval === null) return 'not measured yet';
  return `${hits} of ${closed}: ${rangeText(hit_rate, interval)}`;
}

function rangeText(value: number, { low, high }: { low: number; high: number }): string {
  return `${percent(value)}, between ${percent(low)} and ${percent(high)}`;
}

const PERCENT = 100;

function percent(share: number, places = 1): string {
  return `${(share * PERCENT).toFixed(places)}%`;
}

function bpsText(value: number | null): string {
  return value === null ? 'not measured' : signedText(value, 1);
}

function bpsWords(bps: number): string {
  return countWords(bps, 'basis point');
}

/** A number as people write it, with a minus sign that is as wide as a digit. */
function signedText(value: number, places: number): string {
  return value.toFixed(places).replace('-', '−');
}

const CURVE_BASE = 200;
const FALL_TOP = 236;
const FALL_BASE = 296;
const CURVE_HEIGHT = 326;

function Equity({
  told: { equity, max_drawdown, sharpe, sharpe_n, days_unread },
}: {
  told: Backtest;
}) {
  const [first, last] = equity === null ? [] : [equity[0], equity.at(-1)];
  if (equity === null || first === undefined || last === undefined || max_drawdown === null)
    return null;
  let peak = first.v;
  const rows = equity.map(({ t, v }) => {
    peak = Math.max(peak, v);
    return { t, v, fall: peak > 0 ? 1 - v / peak : 0 };
  });
  const x = scaleOf([first.t, last.t], LEFT, WIDTH - RIGHT);
  const bounds = boundsOf([1, ...rows.map(({ v }) => v)]);
  const y = scaleOf(bounds, CURVE_BASE, TOP);
  const deepest = Math.max(0.01, max_drawdown);
  const down = scaleOf([0, deepest], FALL_TOP, FALL_BASE);
  const line = linePath(rows.map(({ t, v }) => ({ x: x(t), y: y(v) })));
  const falls = linePath(rows.map(({ t, fall }) => ({ x: x(t), y: down(fall) })));
  return (
    <section aria-labelledby="equity-head">
      <h2 class="section" id="equity-head">
        Equity and drawdown
      </h2>
      <Plot
        name="equity"
        title={`Equity from 1 to ${last.v.toFixed(3)}, falling by ${percent(max_drawdown)} at most`}
        height={CURVE_HEIGHT}
        caption={
          <>
            Above: what 1 became, an equal part of it in each call that is open in an hour, after
            cost and funding, compounded. Below: how far that lay under the highest that it had
            reached, at most {percent(max_drawdown)} by the hour. {sharpeText(sharpe, sharpe_n)}
            {days_unread > 0 &&
              ` ${countWords(days_unread, 'day')} without a running producer count nowhere.`}
          </>
        }
        table={
          <Table
            look="tight"
            rows={thin(rows, ROWS_MAX)}
            columns={[
              { head: 'Day', cell: ({ t }) => <Moment at={t} />, look: 'whole' },
              { head: 'Equity', cell: ({ v }) => v.toFixed(4), look: 'number' },
              { head: 'Under its highest', cell: ({ fall }) => percent(fall), look: 'number' },
            ]}
          />
        }
      >
        <Grid ticks={ticksOf(bounds)} y={y} text={(tick) => String(tick)} />
        <line class="even" x1={LEFT} x2={WIDTH - RIGHT} y1={y(1)} y2={y(1)} />
        <path class="curve" d={line} />
        <Grid
          ticks={[0, deepest]}
          y={down}
          text={(tick) => (tick === 0 ? '0%' : `−${percent(tick, 0)}`)}
        />
        <path
          class="fall"
          d={`${falls}L${x(last.t).toFixed(1)} ${FALL_TOP}L${x(first.t).toFixed(1)} ${FALL_TOP}Z`}
        />
        <Ends from={first.t} to={last.t} y={CURVE_HEIGHT - 8} />
      </Plot>
    </section>
  );
}

const ROWS_MAX = 120;

/** At most so many of some rows, the first and the last among them. */
function thin<T>(rows: readonly T[], most: number): readonly T[] {
  const step = Math.ceil(rows.length / most);
  return rows.filter((_, at) => at % step === 0 || at === rows.length - 1);
}

function sharpeText(sharpe: number | null, days: number): string {
  const over = countWords(days, 'day');
  if (sharpe !== null)
    return `The ratio of Sharpe of a year is ${signedText(sharpe, 2)}, over ${over}.`;
  return days < SHARPE_DAYS_MIN
    ? `A ratio of Sharpe is told from ${SHARPE_DAYS_MIN} days on; ${days} count so far.`
    : `A ratio of Sharpe is not told: the ${over} are all alike.`;
}

function Luck({ told, deflation }: { told: Backtest; deflation: Deflation }) {
  const { entries, hold, calls, sharpe, family } = told;
  return (
    <section aria-labelledby="luck">
      <h2 class="section" id="luck">
        How much of it may be luck
      </h2>
      <p class="prose">
        {entries.p === null
          ? 'Random entries could not be drawn: ' +
            (entries.reason === 'hours_unread'
              ? 'too many hours of these assets have no candle.'
              : 'the span is too short.')
          : 'Calls of the same number, assets, directions and spacing at other times gained as ' +
            `much in ${percent(entries.p)} of ${countWords(entries.entries, 'draw')}.`}{' '}
        {hold !== null && hold.mean_return_bps !== null && (
          <>
            Holding the same assets over the same hours came to {bpsText(hold.mean_return_bps)}{' '}
            basis points a call, beside {bpsText(calls.gross.mean_return_bps)} of the calls before
            funding and cost.
          </>
        )}
      </p>
      <p class="prose">
        Whoever tries many filters finds a good one by luck. Combinations of kind, asset, direction
        and conviction with 30 closed calls or more count as tried by anybody; here there are{' '}
        {family.members}. {deflationText(sharpe, deflation)} It is a floor: whoever tried more has
        to deflate by more. With a key, the filters that its membership tried are counted.
      </p>
    </section>
  );
}

function deflationText(sharpe: number | null, deflation: Deflation): string {
  const { probability, trials, sharpe_0 } = deflation;
  if (probability === null || sharpe_0 === null || sharpe === null) {
    return 'The ratio of Sharpe could not be deflated: it, or the family’s, is not measured.';
  }
  const best = sharpe_0 * Math.sqrt(365);
  return (
    `The best of ${countWords(trials, 'try', 'tries')} without any edge would show a ratio of ` +
    `about ${signedText(best, 2)}; this one is ${signedText(sharpe, 2)}. That its true value ` +
    `is over zero is ${percent(probability)} likely after deflation.`
  );
}

const ROW = 26;
const BARS = { from: 300, to: WIDTH - 3 * RIGHT } as const;

type Interval = {
  readonly name: string;
  readonly text: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  /** What was said beforehand; `null`: nothing was. */
  readonly said: number | null;
};

/** Shares with their intervals, one under another. */
function Intervals({ rows }: { rows: readonly Interval[] }) {
  const x = scaleOf([0, 1], BARS.from, BARS.to);
  const foot = TOP + rows.length * ROW;
  return (
    <>
      {[0, 0.5, 1].map((tick) => (
        <g key={tick}>
          <line
            class={tick === 0.5 ? 'even' : 'grid'}
            x1={x(tick)}
            x2={x(tick)}
            y1={TOP - 8}
            y2={foot}
          />
          <text x={x(tick)} y={foot + 18} text-anchor="middle">
            {percent(tick, 0)}
          </text>
        </g>
      ))}
      {rows.map(({ name, text, share, low, high, said }, at) => {
        const y = TOP + at * ROW + ROW / 2;
        return (
          <g key={name}>
            <text x={0} y={y + 4}>
              {`${name} · ${text}`}
            </text>
            <line class="range" x1={x(low)} x2={x(high)} y1={y} y2={y} />
            <circle cx={x(share)} cy={y} r={4} />
            {said !== null && <line class="said" x1={x(said)} x2={x(said)} y1={y - 8} y2={y + 8} />}
          </g>
        );
      })}
    </>
  );
}

/** A share with its interval; `null` where it has none. */
function intervalOf(share: MonthOfHits['share']) {
  if (share === null || share.low === null || share.high === null) return null;
  return { share: share.value, low: share.low, high: share.high };
}

const MONTHS_CAPTION =
  'By the month of closing. Dot: the share of hits; line: its 95% interval, calls of one asset ' +
  'that overlap counted as one.';
const CONVICTIONS_CAPTION =
  'By conviction, in groups of about one size. Mark: the mean conviction; dot: the share of ' +
  'hits; line: its 95% interval. A conviction orders calls, and is no probability.';
const CALLED_CAPTION =
  'Line: the price. Up: a long call; down: a short one. Filled: it hit; hollow: it missed; pale: ' +
  'it is open or unpriced.';

type SharesProps = {
  readonly name: string;
  readonly head: string;
  readonly title: string;
  readonly caption: string;
  readonly rows: readonly Interval[];
  /** The head of the column of names. */
  readonly of: string;
};

/** Shares with their intervals as a picture and as a table. */
function Shares({ name, head, title, caption, rows, of }: SharesProps) {
  const isSaid = rows.some(({ said }) => said !== null);
  const said = {
    head: 'Mean',
    cell: (row: Interval) => meanText(row.said),
    look: 'number',
  } as const;
  return (
    <section aria-labelledby={`${name}-head`}>
      <h2 class="section" id={`${name}-head`}>
        {head}
      </h2>
      <Plot
        name={name}
        title={title}
        height={TOP + (rows.length + 1) * ROW}
        caption={caption}
        table={
          <Table
            look="tight"
            rows={rows}
            columns={[
              { head: of, cell: (row) => row.name, isName: true, look: 'whole' },
              ...(isSaid ? [said] : []),
              { head: 'Hits', cell: ({ text }) => text },
              { head: 'Share', cell: ({ share }) => percent(share), look: 'number' },
              {
                head: '95% interval',
                cell: ({ low, high }) => `${percent(low)} to ${percent(high)}`,
              },
            ]}
          />
        }
      >
        <Intervals rows={rows} />
      </Plot>
    </section>
  );
}

function meanText(said: number | null): string {
  return said === null ? '–' : said.toFixed(3);
}

function Months({ months }: { months: readonly MonthOfHits[] }) {
  const rows = months.flatMap(({ month, closed, hits, share }) => {
    const shown = intervalOf(share);
    return shown === null
      ? []
      : [{ name: month, text: `${hits} of ${closed}`, ...shown, said: null }];
  });
  const title = `Share of closed calls that hit in ${countWords(rows.length, 'month')}`;
  const words = { head: 'Hits over time', title, caption: MONTHS_CAPTION, of: 'Month' };
  return <Shares name="months" rows={rows} {...words} />;
}

function Convictions({ groups }: { groups: readonly Reliability[] }) {
  const rows = groups.flatMap(({ score_from, score_to, rows: n, mean_score, hits, share }) => {
    const shown = intervalOf(share);
    const name = `${score_from.toFixed(2)} to ${score_to.toFixed(2)}`;
    return shown === null ? [] : [{ name, text: `${hits} of ${n}`, ...shown, said: mean_score }];
  });
  const title = `What convictions said beside hits, in ${countWords(rows.length, 'group')}`;
  const head = 'Convictions beside hits';
  const words = { head, title, caption: CONVICTIONS_CAPTION, of: 'Conviction' };
  return <Shares name="convictions" rows={rows} {...words} />;
}

const PRICE_BASE = 220;
const PRICE_HEIGHT = 250;
const MARK = 6;
const PRICE = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });

function Called({ prices }: { prices: CalledPrices | null }) {
  if (prices === null) return null;
  const { instrument, of, points, calls } = prices;
  const name = `${instrument.asset} on ${instrument.venue}`;
  const newest = calls.slice(-CALLS_SHOWN).toReversed();
  const table = (
    <Table
      caption={`The newest ${newest.length} of ${countWords(of, 'call')} of ${name}`}
      rows={newest}
      columns={[
        { head: 'Emitted', cell: ({ t }) => <Moment at={t} />, look: 'whole' },
        { head: 'Kind', cell: ({ call }) => call.kind },
        { head: 'Direction', cell: ({ call }) => call.direction },
        { head: 'Conviction', cell: ({ call }) => call.conviction, look: 'number' },
        { head: 'Horizon', cell: ({ call }) => `${call.horizon_h} h`, look: 'number' },
        { head: 'Outcome', cell: ({ call, hit }) => outcomeText(call.outcome.state, hit) },
        { head: 'Call', cell: ({ call }) => <code>{call.call_id}</code> },
      ]}
    />
  );
  const opens = points.flatMap(({ open }) => (open === null ? [] : [open]));
  const [first, last] = [points[0], points.at(-1)];
  return (
    <section aria-labelledby="called-head">
      <h2 class="section" id="called-head">
        Calls of {name}
      </h2>
      {opens.length < 2 || first === undefined || last === undefined ? (
        <>
          <p class="nothing unread">The candles of {name} were not read.</p>
          {table}
        </>
      ) : (
        <PricePlot prices={prices} span={[first.t, last.t]} opens={opens} table={table} />
      )}
    </section>
  );
}

type PricePlotProps = {
  prices: CalledPrices;
  span: readonly [number, number];
  opens: readonly number[];
  table: ComponentChildren;
};

function PricePlot({ prices, span, opens, table }: PricePlotProps) {
  const { instrument, of, points, calls } = prices;
  const x = scaleOf(span, LEFT, WIDTH - RIGHT);
  const bounds = boundsOf(opens);
  const y = scaleOf(bounds, PRICE_BASE, TOP + MARK);
  const line = linePath(
    points.map(({ t, open }) => ({ x: x(t), y: open === null ? null : y(open) })),
  );
  return (
    <Plot
      name="called"
      title={`Opens of ${instrument.asset} with ${countWords(calls.length, 'call')}`}
      height={PRICE_HEIGHT}
      caption={
        of > calls.length
          ? `${CALLED_CAPTION} The newest ${calls.length} of ${countWords(of, 'call')} are shown.`
          : CALLED_CAPTION
      }
      table={table}
    >
      <Grid ticks={ticksOf(bounds)} y={y} text={(tick) => PRICE.format(tick)} />
      <path class="curve" d={line} />
      {calls.map(({ t, call, hit }) => {
        const at = x(Math.max(t, span[0]));
        const price = y(Math.min(bounds[1], Math.max(bounds[0], Number(call.price))));
        const side = call.direction === 'long' ? -1 : 1;
        const tip = (price + side * MARK).toFixed(1);
        const d = `M${at.toFixed(1)} ${tip}l${MARK} ${-side * MARK * 2}h${-2 * MARK}z`;
        const came = outcomeText(call.outcome.state, hit);
        return (
          <path
            key={call.call_id}
            class={hit === null ? 'mark open' : hit ? 'mark hit' : 'mark'}
            d={d}
          >
            <title>{`${dayText(t)} ${call.kind} ${call.direction}: ${came}`}</title>
          </path>
        );
      })}
      <Ends from={span[0]} to={span[1]} y={PRICE_HEIGHT - 8} />
    </Plot>
  );
}

function outcomeText(state: string, hit: boolean | null): string {
  if (hit === null) return state;
  return hit ? 'hit' : 'missed';
}

function Health({ rows }: { rows: readonly VersionHealth[] }) {
  return (
    <section aria-labelledby="health-head">
      <h2 class="section" id="health-head">
        Detectors
      </h2>
      <Table
        caption={`Each version, at a round trip of ${bpsWords(COST_BPS_DEFAULT)}`}
        rows={rows}
        columns={[
          { head: 'Kind', cell: ({ kind }: { kind: DetectorKind }) => kind, isName: true },
          { head: 'Version', cell: ({ detector_version: of }) => (of === null ? 'none yet' : of) },
          { head: 'Closed', cell: ({ closed }) => closed, look: 'number' },
          { head: 'Hit', cell: hitText },
          { head: 'Decay', cell: ({ decay }) => decay },
          { head: 'Standing', cell: ({ deprecation }) => deprecation },
          { head: 'Over a half', cell: ({ posterior }) => chanceText(posterior), look: 'number' },
          {
            head: 'Weight',
            cell: ({ weight }) => (weight === null ? '–' : percent(weight)),
            look: 'number',
          },
        ]}
      />
      <p class="prose">
        Over a half: the chance that the true rate of hits is over a half. Weight: that chance, of
        the sum of all rows. Under 30 closed calls a version is a hypothesis. One that is decaying
        (its newer calls hit less often) twice in a row, a week apart, is on probation; one whose
        rate is over a half with a chance of less than 5%, after 100 closed calls, is deprecated for
        good. The figures above are of {DAYS_DEFAULT} days unless others are asked for; this table
        is of the whole record.
      </p>
    </section>
  );
}

function chanceText(posterior: VersionHealth['posterior']): string {
  return posterior === null ? '–' : percent(posterior.over_half);
}
