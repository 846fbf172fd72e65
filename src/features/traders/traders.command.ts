// Has traders analysed, in the process that owns the stores.

import {
  anyText,
  atLeastOne,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  type Io,
  UsageError,
} from '../../command/command.ts';
import { print, printJson } from '../../command/output.ts';
import type { TraderAttempt } from './analyse.ts';

/** What the command works on. */
export type TradersServices = {
  readonly traders: {
    /** Analyses an address in lower case now, and keeps the result. */
    readonly analyse: (
      address: string,
      signal: AbortSignal,
    ) => Promise<TraderAttempt | { readonly end: 'unkept'; readonly reason: string }>;
  };
};

const ADDRESSES_MAX = 100;

export const tradersAnalyse = defineCommand({
  name: 'traders analyse',
  summary: 'Analyse when traders make money, now.',
  example: 'exhibit traders analyse 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  arguments: {
    addresses: atLeastOne('ADDRESS', 'an account of the venue: 0x and 40 hex digits', anyText),
  },
  json: 'prints {address, outcome, …} for each address, one object a line',
  notes: [
    'It takes no place in the queue of those that were asked about, and waits for none.',
    'Exit status 3: the venue or a store could not be read; the analysis before it is kept.',
    'GET /api/traders/{address}/temporal answers what was kept.',
  ],
  run: async ({ addresses }, io, { traders }: TradersServices) => {
    if (addresses.length > ADDRESSES_MAX) {
      throw new UsageError(`At most ${ADDRESSES_MAX} addresses at once.`);
    }
    for (const address of addresses) {
      if (!/^0x[0-9a-fA-F]{40}$/.test(address)) {
        throw new UsageError(`${address} is not 0x and 40 hex digits.`);
      }
    }
    let status: ExitStatus = EXIT.done;
    for (const address of addresses) {
      const own = address.toLowerCase();
      const outcome = await traders.analyse(own, io.signal);
      if (printOutcome(own, outcome, io) !== EXIT.done) status = EXIT.couldNotCheck;
    }
    return status;
  },
});

type Attempt = Awaited<ReturnType<TradersServices['traders']['analyse']>>;

function printOutcome(address: string, outcome: Attempt, io: Io): ExitStatus {
  const told = tellOutcome(outcome);
  if (io.json) printJson(io, { address, outcome: outcome.end, ...told.fields });
  if (told.fault !== null) return fail(io, `${address}: ${told.fault}`, EXIT.couldNotCheck);
  if (!io.json) print(io, [`${address}: ${told.text}`]);
  return EXIT.done;
}

function tellOutcome(outcome: Attempt): {
  readonly fields: object;
  readonly text: string;
  readonly fault: string | null;
} {
  switch (outcome.end) {
    case 'failed':
      return fault(outcome.why.reason);
    case 'unkept':
      return fault(outcome.reason);
    case 'unanalysable': {
      const { because, of } = outcome;
      const text = of === null ? UNABLE[because] : `an agent wallet, which signs for ${of}`;
      return { fields: { because, of }, text, fault: null };
    }
    case 'analysed': {
      const { classification, coverage, null_model } = outcome.analysis;
      const { labels, no_label } = classification;
      const names = labels.map(({ label, mode }) => `${label} by ${mode}`).join(', ');
      const text = no_label === null ? names : `${NO_LABEL} ${no_label.replaceAll('_', ' ')}`;
      return {
        fields: { labels, no_label, coverage, null_model },
        text: `${coverage.fills} fills, ${null_model.tests} tests; ${text}`,
        fault: null,
      };
    }
  }
}

const NO_LABEL = 'not labelled:';
const UNABLE = {
  agent: 'an agent wallet',
  no_account: 'the venue was asked, and has no account there',
  no_fills: 'the venue was asked, and holds no fills of it',
} as const;

function fault(reason: string) {
  return { fields: { reason }, text: reason, fault: reason };
}
