import { html } from '../../contract/reply.ts';
import { plainRoute } from '../../contract/route.ts';
import { listFrom, rate } from '../../evidence/measure.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Table } from '../../pages/words.tsx';
import {
  CALIBRATION,
  DATA_SET_NAMES,
  DATA_SETS,
  intervalOf,
  type LinkCalibration,
  NETWORK,
  RECALL,
} from './calibration.ts';

export const entitiesCalibrationPage = plainRoute({
  name: 'entities_calibration_page',
  surface: 'web',
  method: 'GET',
  path: '/entities/calibration',
  summary: 'How often the links of entities are right, for people.',
  access: 'open',
  responses: { 200: html() },
});

/** @internal The table as the page shows it. */
export function publishedCalibration() {
  return {
    rows: CALIBRATION.map((row) => ({ ...row, counted: countsOf(row) })),
    recall: RECALL.flatMap(({ interval, ...row }) =>
      listFrom(interval, (ends) => [{ ...row, ...ends }]),
    ),
    sets: DATA_SET_NAMES.map((name) => {
      const counts = name === 'token_network' ? networkText() : null;
      return { name, counts, ...DATA_SETS[name] };
    }),
  };
}

type PublishedCalibration = ReturnType<typeof publishedCalibration>;
type CalibrationRow = PublishedCalibration['rows'][number];

/** The counts of a form, with its interval (Wilson, 95%); `null`: no data set shows it. */
function countsOf(row: LinkCalibration) {
  const interval = intervalOf(row);
  const share = row.measured === null ? null : rate(row.measured.right, row.measured.n);
  if (row.measured === null || interval === null || share === null) return null;
  return { ...row.measured, ...interval, share };
}

function networkText(): string {
  const { inferred, shared, later, pairs } = NETWORK;
  return (
    `${inferred} deposit addresses are inferred there, ${shared} of them with several payers. Of ` +
    `${later.n} that were inferred by the earlier four fifths and sent again later, ` +
    `${later.right} sent to that exchange alone. Of the pairs of payers into one, ` +
    `${pairs.joined} deal with each other or share another account, ${pairs.parted} have ` +
    `accounts apart at the same exchange, and ${pairs.open} show neither, so that this network ` +
    'does not tell how often two payers are one.'
  );
}

const TITLE = 'Calibration of entity links';

/** @internal The page of what was measured of the weights. */
export function calibrationPage(facts: PageFacts, table: PublishedCalibration): string {
  const points = table.rows
    .flatMap((row) => listFrom(row.counted, (counted) => [{ row, counted }]))
    .map((one, i) => ({ ...one, number: i + 1 }));
  const children = (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        A weight says how often two addresses of one item have one controller. Here each stands
        beside what was counted with the rules that run.
      </p>
      <p>
        A link is an inference. <em>Assumed</em> means that no data set that was reached tells how
        often such a link is right on a chain; what a simulation shows of it stands beside it.
        Intervals are Wilson’s, at 95%.
      </p>
      <Plot points={points} />
      <Weights table={table} points={points} />
      <Found table={table} />
      <section aria-labelledby="data-sets">
        <h2 id="data-sets">Data sets</h2>
        {table.sets.map(({ name, title, source, shows, counts }) => (
          <section class="route" id={name} key={name}>
            <h2>{title}</h2>
            <p>{source}</p>
            <p>{shows}</p>
            {counts !== null && <p>{counts}</p>}
          </section>
        ))}
      </section>
    </>
  );
  return page({ ...facts, title: TITLE, current: '/entities/calibration', children });
}

type Point = {
  readonly row: CalibrationRow;
  readonly counted: NonNullable<CalibrationRow['counted']>;
  readonly number: number;
};

const SIDE = 320;
const LEFT = 46;
const TOP = 12;
const WIDTH = LEFT + SIDE + 24;
const HEIGHT = TOP + SIDE + 46;
const TICKS = [0, 0.25, 0.5, 0.75, 1] as const;
/** Rows of one weight stand beside each other. */
const APART = 7;

const across = (share: number): number => LEFT + share * SIDE;
const down = (share: number): number => TOP + (1 - share) * SIDE;

function Plot({ points }: { points: readonly Point[] }) {
  return (
    <figure class="plot">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby="plot-title plot-words">
        <title id="plot-title">Weights against the share of links that were right</title>
        <desc id="plot-words">
          {points
            .map(({ row, number }) => {
              const { form, weight } = row;
              return `${number}: ${form} weighs ${weight}, right in ${countText(row)}.`;
            })
            .join(' ')}
        </desc>
        {TICKS.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={LEFT} x2={LEFT + SIDE} y1={down(tick)} y2={down(tick)} />
            <line class="grid" x1={across(tick)} x2={across(tick)} y1={TOP} y2={TOP + SIDE} />
            <text x={LEFT - 8} y={down(tick) + 4} text-anchor="end">
              {tick}
            </text>
            <text x={across(tick)} y={TOP + SIDE + 18} text-anchor="middle">
              {tick}
            </text>
          </g>
        ))}
        <line class="even" x1={across(0)} y1={down(0)} x2={across(1)} y2={down(1)} />
        {points.map((one) => (
          <PointMark key={one.number} point={one} points={points} />
        ))}
        <text x={LEFT + SIDE / 2} y={HEIGHT - 6} text-anchor="middle">
          weight
        </text>
        <text x={-(TOP + SIDE / 2)} y={12} text-anchor="middle" transform="rotate(-90)">
          share that was right
        </text>
      </svg>
      <figcaption>
        Each number is a row of the table, with its interval; filled points are measured, hollow
        ones assumed. On the line a link is right as often as its weight says; above it, more often.
      </figcaption>
    </figure>
  );
}

function PointMark({ point, points }: { point: Point; points: readonly Point[] }) {
  const { row, counted, number } = point;
  const same = points.filter((one) => one.row.weight === row.weight);
  const place = same.indexOf(point) - (same.length - 1) / 2;
  const x = across(row.weight) + place * APART;
  return (
    <g class={row.basis}>
      <line class="range" x1={x} x2={x} y1={down(counted.low)} y2={down(counted.high)} />
      <circle cx={x} cy={down(counted.share)} r={4} />
      <text class="number" x={x} y={down(counted.low) + 14} text-anchor="middle">
        {number}
      </text>
    </g>
  );
}

function countText({ counted }: CalibrationRow): string {
  return counted === null ? 'not counted' : `${counted.right} of ${counted.n}`;
}

const DIGITS = 3;

function rangeText(interval: { readonly low: number; readonly high: number } | null): string {
  if (interval === null) return 'not counted';
  return `${interval.low.toFixed(DIGITS)}–${interval.high.toFixed(DIGITS)}`;
}

function Weights({ table, points }: { table: PublishedCalibration; points: readonly Point[] }) {
  return (
    <Table
      caption="Weights by form"
      look="wide"
      rows={table.rows}
      columns={[
        {
          head: 'Form',
          cell: ({ form, heuristic }) => (
            <>
              <code>{form}</code>
              <br />
              <span class="quiet">{heuristic}</span>
            </>
          ),
        },
        { head: 'No.', cell: (row) => points.find((one) => one.row === row)?.number ?? '–' },
        { head: 'Weight', cell: ({ weight }) => weight },
        { head: 'Basis', cell: ({ basis }) => basis },
        { head: 'Right', cell: countText },
        { head: 'Interval', cell: ({ counted }) => rangeText(counted) },
        {
          head: 'Data',
          cell: ({ counted }) =>
            counted === null ? 'none reached' : <SetLink name={counted.on} table={table} />,
          look: 'sources',
        },
      ]}
    />
  );
}

function SetLink({ name, table }: { name: string; table: PublishedCalibration }) {
  const set = table.sets.find((one) => one.name === name);
  return <a href={`#${name}`}>{set === undefined ? name : set.title}</a>;
}

function Found({ table }: { table: PublishedCalibration }) {
  return (
    <Table
      caption="How much each heuristic finds"
      look="wide"
      rows={table.recall}
      columns={[
        { head: 'Heuristic', cell: ({ heuristic }) => <code>{heuristic}</code>, isName: true },
        { head: 'Found', cell: ({ found, of }) => `${found} of ${of}` },
        { head: 'Interval', cell: rangeText },
        { head: 'Data', cell: ({ on }) => <SetLink name={on} table={table} />, look: 'sources' },
      ]}
    />
  );
}
