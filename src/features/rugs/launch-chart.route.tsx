import { wilsonInterval } from '../../evidence/statistics.ts';
import { Table } from '../../pages/words.tsx';
import type { LaunchMonth } from '../../ports/launches.ts';
import { SCORED_CHAINS, type ScoredChainName } from '../../ports/rug-model.ts';

/** One month of a chain; `null` where no launch of it is on record. */
export type ChartMonth = {
  readonly month: string;
  readonly counted: CountedMonth | null;
};

/** A month with its counts. `share` is `died` of `listed`, with its interval at 95%. */
export type CountedMonth = {
  readonly listed: number;
  readonly died: number;
  readonly unchecked: number;
  readonly share: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** A chain of which launches are on record. */
export type LaunchChart = {
  readonly chain: ScoredChainName;
  /** Oldest first. */
  readonly months: readonly ChartMonth[];
  readonly listed_max: number;
};

/** The charts of a page, or why the launches on record could not be read. */
export type ChartsView = readonly LaunchChart[] | { readonly reason: string };

// Each month of the span has a place; of one without a launch on record nothing is drawn.

export const MONTHS_SHOWN = 12;

/**
 * The chart of each chain that has a launch in the span, which ends with the month of `now`.
 * @internal
 */
export function launchCharts(rows: readonly LaunchMonth[], now: number): LaunchChart[] {
  const span = monthsUntil(now);
  return SCORED_CHAINS.flatMap((chain) => {
    const own = rows.filter((one) => one.chain === chain && span.includes(one.month));
    if (own.length === 0) return [];
    const months = span.map((month) => {
      const found = own.find((one) => one.month === month);
      return { month, counted: found === undefined ? null : countMonth(found) };
    });
    return [{ chain, months, listed_max: Math.max(1, ...own.map(({ listed }) => listed)) }];
  });
}

function countMonth({ listed, died, unchecked }: LaunchMonth): CountedMonth {
  const interval = wilsonInterval(died, listed);
  const share = interval === null ? null : { value: died / listed, ...interval };
  return { listed, died, unchecked, share };
}

const MS_PER_S = 1_000;
const MONTH_CHARS = 'YYYY-MM'.length;

function monthsUntil(now: number): string[] {
  const at = new Date(now * MS_PER_S);
  return Array.from({ length: MONTHS_SHOWN }, (_, i) => {
    const back = MONTHS_SHOWN - 1 - i;
    const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - back, 1));
    return first.toISOString().slice(0, MONTH_CHARS);
  });
}

// A picture and a table of the same figures; a month without a launch on record is no zero.

const WIDTH = 400;
const ROW = 24;
const TOP = 30;
const BARS = { from: 62, width: 150 } as const;
const SHARES = { from: 246, width: 134 } as const;
const BAR = 12;
const FULL_PERCENT = 100;

const shareAt = (part: number): number => SHARES.from + part * SHARES.width;

const WORDS: { readonly [K in LaunchChart['chain']]: { title: string; listed: string } } = {
  ethereum: { title: 'Ethereum', listed: 'listed' },
  solana: { title: 'Solana', listed: 'settled' },
};

/** @internal */
export function ChartSection({ charts }: { charts: ChartsView }) {
  return (
    <section aria-labelledby="months">
      <h2 class="section" id="months">
        What became of launches, by month
      </h2>
      {'reason' in charts ? (
        <p class="nothing unread">{charts.reason}</p>
      ) : (
        <Charts charts={charts} />
      )}
    </section>
  );
}

function Charts({ charts }: { charts: readonly LaunchChart[] }) {
  if (charts.length === 0) {
    return (
      <p class="nothing">
        No launch of the last twelve months is on record here. That says nothing about what was
        launched: records are made of wallets that were asked about, and of collected launches.
      </p>
    );
  }
  return (
    <>
      <p class="quiet">
        By the month of the launch. A launch of Ethereum is listed where a venue lists it, and died
        where its pools hold less than the exit level; one of Solana is settled once its window has
        passed, and died where a venue lists it on its launchpad’s curve at most by then. Counted is
        what was collected here.
      </p>
      <div class="charts">
        {charts.map((one) => (
          <Chart key={one.chain} chart={one} />
        ))}
      </div>
    </>
  );
}

function Chart({ chart }: { chart: LaunchChart }) {
  const { title, listed } = WORDS[chart.chain];
  const foot = TOP + chart.months.length * ROW;
  const name = `chart-${chart.chain}`;
  return (
    <figure class="plot months">
      <svg viewBox={`0 0 ${WIDTH} ${foot + ROW}`} role="img" aria-labelledby={name}>
        <title id={name}>
          {title}: launches {listed} and died by month, with the share that died. The table below
          has the same figures.
        </title>
        <text x={BARS.from} y={TOP - 12}>
          {listed}, of them died
        </text>
        <text x={SHARES.from} y={TOP - 12}>
          share that died
        </text>
        {[0, 0.5, 1].map((tick) => (
          <g key={tick}>
            <line class="grid" x1={shareAt(tick)} x2={shareAt(tick)} y1={TOP - 6} y2={foot} />
            <text x={shareAt(tick)} y={foot + 16} text-anchor="middle">
              {tick * FULL_PERCENT}%
            </text>
          </g>
        ))}
        {chart.months.map((one, i) => (
          <Row key={one.month} month={one} chart={chart} y={TOP + i * ROW + ROW / 2} />
        ))}
      </svg>
      <figcaption>
        {title}. Long bar: {listed}; filled part: died. Dot: the share that died, from 0 to 100%;
        line: its 95% interval. A dash: no launch of that month is on record.
      </figcaption>
      <details>
        <summary>{title} as a table</summary>
        <Months chart={chart} />
      </details>
    </figure>
  );
}

function Row({ month, chart, y }: { month: ChartMonth; chart: LaunchChart; y: number }) {
  const { counted } = month;
  return (
    <g>
      <text x={0} y={y + 4}>
        {month.month}
      </text>
      {counted === null ? (
        <text x={BARS.from} y={y + 4}>
          –
        </text>
      ) : (
        <Bars counted={counted} most={chart.listed_max} y={y} />
      )}
    </g>
  );
}

function Bars({ counted, most, y }: { counted: CountedMonth; most: number; y: number }) {
  const { listed, died, share } = counted;
  const wide = (count: number) => (count / most) * (BARS.width - COUNT_WIDTH);
  return (
    <>
      <rect class="listed" x={BARS.from} y={y - BAR / 2} width={wide(listed)} height={BAR} />
      <rect class="died" x={BARS.from} y={y - BAR / 2} width={wide(died)} height={BAR} />
      <text class="number" x={BARS.from + wide(listed) + 5} y={y + 4}>
        {listed === 0 ? '0' : `${listed} · ${died}`}
      </text>
      {share !== null && (
        <>
          <line class="range" x1={shareAt(share.low)} x2={shareAt(share.high)} y1={y} y2={y} />
          <circle cx={shareAt(share.value)} cy={y} r={4} />
        </>
      )}
    </>
  );
}

/** The space beside the longest bar for its counts. */
const COUNT_WIDTH = 72;

function Months({ chart }: { chart: LaunchChart }) {
  const { title, listed } = WORDS[chart.chain];
  return (
    <Table
      caption={<>{title}: launches by month</>}
      look="tight"
      rows={chart.months}
      instead={({ counted }) => (counted === null ? 'none on record' : null)}
      columns={[
        { head: 'Month', cell: ({ month }) => month, isName: true, look: 'whole' },
        { head: listed, cell: ({ counted }) => counted?.listed },
        { head: 'died', cell: ({ counted }) => counted?.died },
        { head: 'share that died', cell: ({ counted }) => valueText(counted) },
        { head: '95% interval', cell: ({ counted }) => intervalText(counted), look: 'whole' },
        { head: 'not known', cell: ({ counted }) => counted?.unchecked },
      ]}
    />
  );
}

function valueText(counted: CountedMonth | null): string {
  const share = counted?.share;
  return share === undefined || share === null ? '–' : percent(share.value);
}

function intervalText(counted: CountedMonth | null): string {
  const share = counted?.share;
  return share === undefined || share === null
    ? '–'
    : `${percent(share.low)} to ${percent(share.high)}`;
}

function percent(share: number): string {
  return `${(share * FULL_PERCENT).toFixed(1)}%`;
}
