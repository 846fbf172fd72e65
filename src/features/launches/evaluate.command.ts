import { parseIsoDate } from '../../chain/time.ts';
import { defineCommand, EXIT, fail, optional, UsageError } from '../../command/command.ts';
import { print, printJson, printRecord } from '../../command/output.ts';
import { rate } from '../../evidence/measure.ts';
import { wilsonInterval } from '../../evidence/statistics.ts';
import type { FlagEvaluation, HoldOut, Measured } from '../../ports/deployers.ts';
import { noVenue, type SettledLaunches } from './settle.ts';
import { PUBLISHED_RATES, share } from './solana-deployer.route.ts';

/** The dependencies of the command. */
export type LaunchServices = {
  readonly evaluation: FlagEvaluation;
  /** Hours after its launch at which a token is asked for again. */
  readonly windowHours: number;
};

export const corpusEvaluate = defineCommand({
  name: 'corpus evaluate',
  summary: 'Measure the flag on launches that came after it was set.',
  example: 'exhibit corpus evaluate --split 2026-11-01',
  options: {
    split: optional(
      'DATE',
      'launches from this day (UTC) on are held out; without it, the last quarter',
      (text, name) => {
        if (parseIsoDate(text) === null) {
          throw new UsageError(`${name} takes a day, YYYY-MM-DD.`);
        }
        return text;
      },
    ),
  },
  notes: [
    'A wallet is flagged where every launch of it that had settled before the split had died. It',
    'prints how many held-out launches were still listed, flagged ones and the rest, with 95%',
    'intervals (Wilson).',
    'Exit status 1: no launch was held out. 3: the corpus could not be read.',
  ],
  run: async ({ split: wanted }, io, services: LaunchServices) => {
    const reading = await services.evaluation.heldOut(wanted);
    if (!reading.checked) return fail(io, reading.why.reason, EXIT.couldNotCheck);
    if (reading.value === null) {
      return fail(io, 'No settled launch is held out: nothing was measured.');
    }
    const { split, flagged, rest, history } = reading.value;
    if (!io.json) print(io, linesOf(reading.value));
    else {
      printJson(io, {
        split,
        window_hours: services.windowHours,
        flagged: measurementView(flagged),
        rest: measurementView(rest),
        history,
        published_reference: PUBLISHED_RATES,
      });
    }
    return EXIT.done;
  },
});

function measurementView({ launches, listed }: Measured) {
  const interval = wilsonInterval(listed, launches);
  return { launches, listed_after_window: listed, rate: rate(listed, launches), interval };
}

function linesOf({ split, flagged, rest, history }: HoldOut): string[] {
  const { launches, wallets, flagged_wallets } = history;
  return [
    `Before ${split}: ${launches} settled launches of ${wallets} wallets, ` +
      `${flagged_wallets} flagged.`,
    `Still listed after their window, of the launches from ${split} on:`,
    `  flagged  ${share(flagged)}`,
    `  rest     ${share(rest)}`,
    'Published reference, measured elsewhere: 0.80% of flagged launches, 4.34% of the rest.',
  ];
}

// A launch of which the venue did not tell waits on: that is no death, and the exit status says it.

/** The dependencies of the command. `null`: no venue is set. */
export type SettleServices = {
  readonly settleRound: ((signal: AbortSignal) => Promise<SettledLaunches>) | null;
};

/** Rounds of one run; what is due after them is left to the job. */
const ROUNDS_MAX = 100;

export const corpusSettle = defineCommand({
  name: 'corpus settle',
  summary: 'Ask the venue what became of launches whose window has passed.',
  example: 'exhibit corpus settle',
  notes: [
    'A launch settles once the venue (EXHIBIT_VENUE_URL) has told, from 24 hours after it was made',
    'on, whether it is still listed. One of which it did not tell waits.',
    'Exit status 3: no venue is set, or of some launches it did not tell.',
  ],
  run: async (_values, io, { settleRound }: SettleServices) => {
    if (settleRound === null) return fail(io, noVenue().reason, EXIT.couldNotCheck);
    const sum = { listed: 0, gone: 0, waiting: 0 };
    for (let rounds = 0; rounds < ROUNDS_MAX && !io.signal.aborted; rounds += 1) {
      const { listed, gone, waiting, silent, failed } = await settleRound(io.signal);
      sum.listed += listed;
      sum.gone += gone;
      sum.waiting += waiting;
      for (const [reason, count] of silent) io.err(`${count} wait: ${reason}`);
      if (failed !== null) return fail(io, failed.reason, EXIT.couldNotCheck);
      if (listed + gone + waiting === 0) break;
    }
    const settled = sum.listed + sum.gone;
    const words =
      `${settled} settled: ${sum.listed} still listed, ${sum.gone} gone; ` + `${sum.waiting} wait.`;
    printRecord({ settled, ...sum }, io, words);
    return sum.waiting === 0 ? EXIT.done : EXIT.couldNotCheck;
  },
});
