// Gauges of what waits or stands still in the control store, read when metrics are. A store that
// does not answer leaves no sample: alerts look for that too.

import { z } from 'zod';
import type { AnchoringReport } from '../ports/anchoring.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  onlyRow,
} from '../stores/control/engine/database.ts';
import type { GaugeReading } from '../transport/metrics.ts';

const STANDING = `
  select
    (select count(*) from deliveries where dead_at is null)::float8 as waiting,
    (select count(*) from deliveries where dead_at is not null)::float8 as dead,
    (select extract(epoch from control_now() - last_round_at) from signal_rounds)::float8
      as round_age_s,
    (select count(*) from log_freezes f
      where f.generation = (select max(generation) from log_origins)
        and not exists (select from log_ends e where e.generation = f.generation))::float8
      as frozen,
    (select extract(epoch from control_now() - min(began_at)) from anchors
      where status in ('queued', 'submitted'))::float8 as anchor_age_s`;

const standing = z.strictObject({
  waiting: z.number(),
  dead: z.number(),
  round_age_s: z.number().nullable(),
  frozen: z.number(),
  anchor_age_s: z.number().nullable(),
});
type Standing = z.output<typeof standing>;

/** One statement serves the gauges of one look at the metrics. */
const SHARED_MS = 1_000;

/** What a deployment is set to do, so that what never began is told from what it does not do. */
type StandingOf = {
  readonly producesSignals: boolean;
  readonly anchoring: () => AnchoringReport;
};

export function storeGauges(
  database: Database,
  context: ControlContext,
  { producesSignals, anchoring }: StandingOf,
): GaugeReading[] {
  const { ask } = controlReadings('store_gauges', 'What waits in the control store', context);
  const look = () => ask(async () => standing.parse(onlyRow(await database.query(STANDING))));
  let last: { readonly atMs: number; readonly asked: ReturnType<typeof look> } | null = null;
  const lookOnce = () => {
    const atMs = performance.now();
    if (last === null || atMs - last.atMs > SHARED_MS) last = { atMs, asked: look() };
    return last.asked;
  };
  const gauge = (name: string, help: string, of: keyof Standing): GaugeReading => ({
    name: `exhibit_${name}`,
    help,
    value: async () => {
      const read = await lookOnce();
      return read.checked ? read.value[of] : null;
    },
  });
  return [
    gauge('dispatches_waiting', 'Deliveries to chats that wait.', 'waiting'),
    gauge('dispatches_dead', 'Deliveries to chats that were given up in the last days.', 'dead'),
    gauge(
      'signals_round_age_seconds',
      'Time since a round of the producer of signals ended; no sample before the first.',
      'round_age_s',
    ),
    {
      name: 'exhibit_signals_never_ran',
      help: 'Whether signals are served and no round of their producer has ever ended.',
      value: async () => {
        if (!producesSignals) return 0;
        const read = await lookOnce();
        return read.checked ? Number(read.value.round_age_s === null) : null;
      },
    },
    gauge('log_frozen', 'Whether the transparency log is frozen and signs nothing.', 'frozen'),
    gauge(
      'anchor_open_seconds',
      'Time since the oldest root that is under way was begun; no sample where none is.',
      'anchor_age_s',
    ),
    {
      name: 'exhibit_anchoring_set',
      help: 'Whether a contract is set that roots of the log are for.',
      value: () => Number(anchoring().state !== 'off'),
    },
    {
      name: 'exhibit_anchoring_waits',
      help: 'What keeps roots of the log from the contract, where this process looked last.',
      value: () => {
        const report = anchoring();
        return report.state === 'looked' ? report.whys.length : null;
      },
    },
  ];
}
