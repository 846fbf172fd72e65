// What does the chart of launches by month show?
// Each month of the span has a place; of one without a launch on record nothing is drawn.

import { wilsonInterval } from '../../evidence/measure.ts';
import type { LaunchMonth } from '../../ports/launches/launch-months.ts';
import type { CountedMonth, LaunchChart } from './launch-chart.contract.ts';

/** The months that are shown. */
export const MONTHS_SHOWN = 12;

/** The chart of each chain that has a launch in the span, which ends with the month of `now`. */
export function launchCharts(rows: readonly LaunchMonth[], now: number): LaunchChart[] {
  const span = monthsUntil(now);
  return (['ethereum', 'solana'] as const).flatMap((chain) => {
    const own = rows.filter((one) => one.chain === chain && span.includes(one.month));
    if (own.length === 0) return [];
    const months = span.map((month) => {
      const found = own.find((one) => one.month === month);
      return { month, counted: found === undefined ? null : counted(found) };
    });
    return [{ chain, months, listed_max: Math.max(1, ...own.map(({ listed }) => listed)) }];
  });
}

function counted({ listed, died, unchecked }: LaunchMonth): CountedMonth {
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
