// How is the progress of a long command shown, on a terminal and in a log?
// A terminal sees one line that renews itself; anything else sees a plain line now and then.

import { HOUR_S } from '../chain/time.ts';
import type { Io } from './command.ts';

/** How far the work is: rows so far, and the part done of the phase, from 0 to 1. */
type Progress = {
  readonly phase: string;
  readonly rows: number;
  readonly fraction: number;
};

/** Shows progress, and lines between which it must not be torn. */
type ProgressLine = {
  readonly show: (progress: Progress) => void;
  readonly say: (line: string) => void;
};

const TERMINAL_MS = 200;
const LOG_MS = 10_000;
const BAR_CHARS = 24;
const SECOND_MS = 1_000;
const MINUTE_S = 60;
/** One line up, and that line cleared. */
const RENEW = '\u001b[1A\u001b[2K';

/** Progress on the error stream. `nowMs` is a clock that never goes back. */
export function progressLine(io: Pick<Io, 'err' | 'colour'>, nowMs: () => number): ProgressLine {
  let phase: { readonly name: string; readonly since: number; readonly rows: number } | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;
  let isLast = false;
  return {
    show: (progress) => {
      const now = nowMs();
      if (phase === null || phase.name !== progress.phase) {
        phase = { name: progress.phase, since: now, rows: progress.rows };
        shownAt = Number.NEGATIVE_INFINITY;
        isLast = false;
      }
      const whole = progress.fraction >= 1;
      if (!whole && now - shownAt < (io.colour ? TERMINAL_MS : LOG_MS)) return;
      shownAt = now;
      const elapsed = (now - phase.since) / SECOND_MS;
      const line = lineOf(progress, progress.rows - phase.rows, elapsed, io.colour);
      io.err(io.colour && isLast ? `${RENEW}${line}` : line);
      isLast = true;
    },
    say: (line) => {
      io.err(line);
      isLast = false;
    },
  };
}

function lineOf(
  { phase, rows, fraction }: Progress,
  rowsSince: number,
  elapsed_s: number,
  bar: boolean,
): string {
  const part = Math.min(1, Math.max(0, fraction));
  const filled = Math.round(part * BAR_CHARS);
  const drawn = bar ? ` ${'█'.repeat(filled)}${'░'.repeat(BAR_CHARS - filled)}` : '';
  const said = [`${phase}${drawn} ${Math.floor(part * 100)}%`, `${rows.toLocaleString('en')} rows`];
  if (elapsed_s > 0 && rowsSince > 0) {
    said.push(`${Math.round(rowsSince / elapsed_s).toLocaleString('en')} rows/s`);
    if (part > 0 && part < 1) said.push(`${duration((elapsed_s * (1 - part)) / part)} left`);
  }
  return said.join(', ');
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return `${Math.ceil(whole / MINUTE_S)} min`;
  return `${Math.floor(whole / HOUR_S)} h ${Math.floor((whole % HOUR_S) / MINUTE_S)} min`;
}
