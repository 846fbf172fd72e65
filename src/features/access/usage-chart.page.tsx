// Draws the requests of each day, as a picture and as a table.

import { countOrZero } from '../../evidence/measure.ts';
import { Table } from '../../pages/words.tsx';

/** A day and its requests; of a day on which nothing was charged there is no counter. */
export type UsageDay = { readonly day: string; readonly used: number | undefined };

const WIDTH = 720;
const HEIGHT = 190;
const LEFT = 62;
const TOP = 12;
const BASE = 150;
const BAR_SHARE = 0.72;
/** Slots of the picture, so that few days do not make wide bars. */
const SLOTS_MIN = 14;

const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });
const number = (value: number): string => value.toLocaleString('en');

/** The use by day. */
export function UsageChart({ days }: { days: readonly UsageDay[] }) {
  const highest = Math.max(...days.map(useOn));
  const top = ceilingOf(Math.max(1, highest));
  const slots = Math.max(days.length, SLOTS_MIN);
  const slot = (WIDTH - LEFT) / slots;
  const height = (used: number) => ((BASE - TOP) * used) / top;
  const total = days.reduce((sum, day) => sum + useOn(day), 0);
  return (
    <figure class="plot wide">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby="usage-title">
        <title id="usage-title">
          {`Requests by day: ${number(total)} in all, at most ${number(highest)} on one`}
        </title>
        {[0, top / 2, top].map((tick) => (
          <g key={tick}>
            <line
              class="grid"
              x1={LEFT}
              x2={WIDTH}
              y1={BASE - height(tick)}
              y2={BASE - height(tick)}
            />
            <text x={LEFT - 8} y={BASE - height(tick) + 4} text-anchor="end">
              {SHORT.format(tick)}
            </text>
          </g>
        ))}
        {days.map((one, i) => (
          <rect
            key={one.day}
            class="bar"
            data-day={one.day}
            x={LEFT + (slots - days.length + i) * slot + (slot * (1 - BAR_SHARE)) / 2}
            y={BASE - height(useOn(one))}
            width={slot * BAR_SHARE}
            height={height(useOn(one))}
          >
            <title>{`${one.day}: ${number(useOn(one))}`}</title>
          </rect>
        ))}
        <Ends days={days} slots={slots} slot={slot} />
      </svg>
      <figcaption>
        Requests that were charged, by UTC day, over all keys of the membership but the publishable
        ones; today so far.
      </figcaption>
      <details>
        <summary>The same as a table</summary>
        <Table
          look="tight"
          rows={days.toReversed()}
          columns={[
            { head: 'Day', cell: ({ day }) => day },
            { head: 'Requests', cell: (one) => number(useOn(one)) },
          ]}
        />
      </details>
    </figure>
  );
}

type EndsProps = { days: readonly UsageDay[]; slots: number; slot: number };

function Ends({ days, slots, slot }: EndsProps) {
  const [first] = days;
  const last = days.at(-1);
  const under = HEIGHT - 18;
  return (
    <>
      {first !== undefined && first !== last && (
        <text x={LEFT + (slots - days.length) * slot} y={under}>
          {first.day}
        </text>
      )}
      {last !== undefined && (
        <text x={WIDTH} y={under} text-anchor="end">
          {last.day}
        </text>
      )}
    </>
  );
}

function useOn({ used }: UsageDay): number {
  return countOrZero(used);
}

/** The top of the scale: the next of 1, 2, 4, 6, 8 times a power of ten, and at least 2. */
function ceilingOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= most);
  return Math.max(2, (step === undefined ? 10 : step) * power);
}
