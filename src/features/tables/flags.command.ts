// What an operator types to fill the table of flagged addresses from a published file.
// Each refused row is named; an import of which no row was accepted has failed and kept nothing.

import { type Command, fileArgument, readArgs, requireOption } from '../../command/command.ts';
import { parseOrigin, runImport, sourceName } from '../../command/run-import.ts';
import type { ImportFlagged } from '../../ports/flags/table.ts';
import { publicPage } from './labels.command.ts';

/** What the command needs. Compose fills it. */
export type FindingsServices = {
  readonly findings: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    readonly importFile: ImportFlagged;
  };
};

/** `exhibit findings import`. */
export const findingsImport: Command<FindingsServices> = {
  name: 'findings import',
  summary: 'Fill the table of flagged addresses from a published file.',
  usage:
    'exhibit findings import FILE --source NAME [--source-url URL] ' +
    '[--origin observed|simulated] [--json]',
  example:
    'exhibit findings import phishing_scams.csv --source forta-phishing ' +
    '--source-url https://github.com/forta-network/labelled-datasets',
  details: [
    'FILE             CSV (.csv), JSON lines (.jsonl) or a JSON list (.json); the layouts of the',
    '                 Forta labelled data sets, or columns address, tag and, where known,',
    '                 category, chain, is_contract, creator, creation_tx, source_url, first_seen',
    '--source NAME    whose rows these are; a later import of the same name replaces them all',
    '--source-url URL a public page of the source, shown beside its rows',
    'Exit status 1: no row was accepted, or the file or the store could not be read.',
  ],
  run: async (argv, io, { findings }) => {
    const { values, positionals } = readArgs(argv, {
      options: {
        source: { type: 'string' },
        'source-url': { type: 'string' },
        origin: { type: 'string' },
      },
      positionals: ['FILE'],
    });
    const order = {
      path: fileArgument(String(positionals[0]), io),
      source: sourceName(requireOption(values.source, '--source')),
      source_url: publicPage(values['source-url']),
      origin: parseOrigin(values.origin, findings.simulated),
    };
    return runImport('flagged row', (watch) => findings.importFile(order, watch), io);
  },
};
