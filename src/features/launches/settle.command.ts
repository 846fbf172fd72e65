// What an operator types to settle now what is due.
// A launch of which the venue did not tell waits on: that is no death, and the exit status says it.

import { type Command, EXIT, readArgs } from '../../command/command.ts';
import { printJson } from '../../command/output.ts';
import { noVenue, type Settled } from './settle.ts';

/** What the command needs. `null`: no venue is set. */
export type SettleServices = {
  readonly settleRound: ((signal: AbortSignal) => Promise<Settled>) | null;
};

/** Rounds of one run; what is due after them is left to the job. */
const ROUNDS_MAX = 100;

/** `exhibit corpus settle`. */
export const corpusSettle: Command<SettleServices> = {
  name: 'corpus settle',
  summary: 'Ask the venue what became of launches whose window has passed.',
  usage: 'exhibit corpus settle [--json]',
  example: 'exhibit corpus settle',
  details: [
    'A launch settles once the venue (EXHIBIT_VENUE_URL) has told, from 24 hours after it was made',
    'on, whether it is still listed. One of which it did not tell waits.',
    'Exit status 3: no venue is set, or of some launches it did not tell.',
  ],
  run: async (argv, io, { settleRound }) => {
    readArgs(argv, { options: {}, positionals: [] });
    if (settleRound === null) {
      io.err(noVenue().reason);
      return EXIT.couldNotCheck;
    }
    const sum = { listed: 0, gone: 0, waiting: 0 };
    for (let rounds = 0; rounds < ROUNDS_MAX && !io.signal.aborted; rounds += 1) {
      const { listed, gone, waiting, silent, failed } = await settleRound(io.signal);
      sum.listed += listed;
      sum.gone += gone;
      sum.waiting += waiting;
      for (const [reason, count] of silent) io.err(`${count} wait: ${reason}`);
      if (failed !== null) {
        io.err(failed.reason);
        return EXIT.couldNotCheck;
      }
      if (listed + gone + waiting === 0) break;
    }
    const settled = sum.listed + sum.gone;
    if (io.json) printJson(io, { settled, ...sum });
    else {
      io.out(
        `${settled} settled: ${sum.listed} still listed, ${sum.gone} gone; ${sum.waiting} wait.`,
      );
    }
    return sum.waiting === 0 ? EXIT.done : EXIT.couldNotCheck;
  },
};
