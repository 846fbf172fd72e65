// Pictures of figures over time: an SVG that needs no script, beside a table of the same figures.

import type { ComponentChildren } from 'preact';

/** The size of a picture and the room around it, in its own units. */
export const WIDTH = 720;
export const LEFT = 84;
export const RIGHT = 14;
export const TOP = 14;

/** A scale from values to places of a picture. */
export type Scale = (value: number) => number;

export function scaleOf([low, high]: readonly [number, number], from: number, to: number): Scale {
  const span = high - low === 0 ? 1 : high - low;
  return (value) => from + ((value - low) / span) * (to - from);
}

export function boundsOf(values: readonly number[]): readonly [number, number] {
  const low = values.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  return low === high ? [low - Math.abs(low) / 10 - 0.01, high + Math.abs(high) / 10] : [low, high];
}

export function linePath(points: readonly { x: number; y: number | null }[]): string {
  let [isOn, path] = [false, ''];
  for (const { x, y } of points) {
    if (y !== null) path += `${isOn ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    isOn = y !== null;
  }
  return path;
}

type PlotProps = {
  name: string;
  title: string;
  height: number;
  caption: ComponentChildren;
  table: ComponentChildren;
  children: ComponentChildren;
};

/** A picture over its caption, and a table of the same figures that opens. */
export function Plot({ name, title, height, caption, table, children }: PlotProps) {
  return (
    <figure class="plot wide">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-labelledby={name}>
        <title id={name}>{title}</title>
        {children}
      </svg>
      <figcaption>{caption}</figcaption>
      <details>
        <summary>The same as a table</summary>
        {table}
      </details>
    </figure>
  );
}

const TICKS_MAX = 5;
/** Steps that people count by, within one power of ten. */
const STEPS = [1, 2, 2.5, 5, 10];

/** At most five round values within bounds, a step apart that people count by. */
export function ticksOf([low, high]: readonly [number, number]): readonly number[] {
  const least = (high - low) / TICKS_MAX;
  const power = 10 ** Math.floor(Math.log10(least));
  const times = STEPS.find((step) => step * power >= least);
  if (times === undefined) throw new RangeError('bounds without a span have no ticks');
  const step = times * power;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  // A multiple of the step is written without what a sum of steps leaves behind.
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

type GridProps = { ticks: readonly number[]; y: Scale; text: (tick: number) => string };

export function Grid({ ticks, y, text }: GridProps) {
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
            {text(tick)}
          </text>
        </g>
      ))}
    </>
  );
}

const DAY_CHARS = 'YYYY-MM-DD'.length;
const MS_PER_S = 1_000;

export function dayText(t: number): string {
  return new Date(t * MS_PER_S).toISOString().slice(0, DAY_CHARS);
}

export function Ends({ from, to, y }: { from: number; to: number; y: number }) {
  return (
    <>
      <text x={LEFT} y={y}>
        {dayText(from)}
      </text>
      <text x={WIDTH - RIGHT} y={y} text-anchor="end">
        {dayText(to)}
      </text>
    </>
  );
}
