// What an operator types to fill the Solana launch corpus from a file of observed launches.
// Each refused row is named; an import of which no row was accepted has failed and kept nothing.

import { type Command, fileArgument, readArgs } from '../../command/command.ts';
import { parseOrigin, runImport, sourceName } from '../../command/run-import.ts';
import type { ImportCorpus } from '../../ports/launches/table.ts';

/** What the command needs. Compose fills it. */
export type CorpusServices = {
  readonly corpus: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    readonly importFile: ImportCorpus;
  };
};

/** The source of launches whose file comes without a name. */
const UNNAMED_SOURCE = 'launches';

/** `exhibit corpus import`. */
export const corpusImport: Command<CorpusServices> = {
  name: 'corpus import',
  summary: 'Add observed launches to the Solana launch corpus.',
  usage: 'exhibit corpus import FILE [--source NAME] [--origin observed|simulated] [--json]',
  example: 'exhibit corpus import launches.jsonl --source pump-watch',
  details: [
    'FILE             JSON lines (.jsonl) or CSV (.csv) with mint, deployer, launched_at,',
    '                 listed_after_window (true, false or nothing) and last_checked_at; times in',
    '                 ISO 8601 or Unix seconds',
    `--source NAME    whose observations these are; ${UNNAMED_SOURCE} where it is not said`,
    'A launch settles 24 hours after it was launched. A later check of the same mint takes the',
    'place of an earlier one; a settled launch stays settled.',
    'Exit status 1: no row was accepted, or the file or the store could not be read.',
  ],
  run: async (argv, io, { corpus }) => {
    const { values, positionals } = readArgs(argv, {
      options: { source: { type: 'string' }, origin: { type: 'string' } },
      positionals: ['FILE'],
    });
    const order = {
      path: fileArgument(String(positionals[0]), io),
      source: values.source === undefined ? UNNAMED_SOURCE : sourceName(values.source),
      origin: parseOrigin(values.origin, corpus.simulated),
    };
    return runImport('launch', (watch) => corpus.importFile(order, watch), io);
  },
};
