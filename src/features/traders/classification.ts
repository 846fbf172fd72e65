// Which style the times of an account's profit show, if any. A label needs a p-value that holds
// for all tests together, a magnitude, a profit and a record long enough; else the first reason
// stands why there is none.

import { DAY_S, MS_PER_S } from '../../chain/time.ts';
import {
  MODES,
  type Mode,
  type NoLabelReason,
  PARTITIONS,
  type Partition,
} from '../../ports/traders.ts';
import type { Concentration } from './concentration.ts';
import type { Bucket, StyleLabel } from './shapes.ts';

/** What a label needs. */
export const LABEL_NEEDS = {
  q_value_max: 0.05,
  ratio_min: 1.5,
  trades_min: 30,
  record_days_min: 28,
} as const;

export type Classification = {
  readonly labels: readonly StyleLabel[];
  readonly no_label: NoLabelReason | null;
};

/** What of the record decides whether anything can be said. Times in ms. */
export type RecordLength = {
  readonly trades: number;
  readonly from: number | null;
  readonly to: number | null;
  readonly horizon_reached: boolean;
};

/** Whether the first and the last fill lie far enough apart. */
export function isLongEnough({ from, to }: Pick<RecordLength, 'from' | 'to'>): boolean {
  const least = LABEL_NEEDS.record_days_min * DAY_S * MS_PER_S;
  return from !== null && to !== null && to - from >= least;
}

/** The labels that the buckets support. */
export function classify(modes: Concentration, record: RecordLength): Classification {
  const none = (no_label: NoLabelReason): Classification => ({ labels: [], no_label });
  if (record.trades === 0) return none('no_trades');
  if (!isLongEnough(record)) return none('record_too_short');
  if (record.horizon_reached) return none('horizon_reached');
  const rows = MODES.flatMap((mode) =>
    PARTITIONS.flatMap((partition) =>
      modes[mode][partition].map((bucket) => ({ mode, partition, bucket })),
    ),
  );
  const tested = rows.filter(({ bucket }) => bucket.tested);
  if (tested.length === 0) return none('too_few_trades');
  const unlikely = tested.filter(
    ({ bucket: { q_value } }) => q_value !== null && q_value <= LABEL_NEEDS.q_value_max,
  );
  if (unlikely.length === 0) return none('not_more_than_chance');
  const large = unlikely.filter(({ bucket }) => isLarge(bucket));
  if (large.length === 0) return none('too_small');
  const labels = large.filter(({ bucket }) => bucket.pnl_usd > 0).map(labelOf);
  return labels.length === 0 ? none('no_profit') : { labels, no_label: null };
}

/** Whether gains came so much faster in it, or in it alone, where no ratio can be told. */
function isLarge({ ratio, share }: Bucket): boolean {
  return ratio === null ? share === 1 : ratio >= LABEL_NEEDS.ratio_min;
}

function labelOf(row: {
  readonly mode: Mode;
  readonly partition: Partition;
  readonly bucket: Bucket;
}): StyleLabel {
  const { bucket, trades, pnl_usd, ratio, p_value, q_value } = row.bucket;
  return {
    label: STYLE_NAMES[row.partition](bucket),
    mode: row.mode,
    partition: row.partition,
    bucket,
    trades,
    pnl_usd,
    ratio,
    p_value: Number(p_value),
    q_value: Number(q_value),
  };
}

const STYLE_NAMES: { readonly [P in Partition]: (bucket: string) => string } = {
  session: (bucket) => `${bucket}_session`,
  weekpart: (bucket) => bucket,
  hour_of_day: (bucket) => `hour_${bucket}`,
};
