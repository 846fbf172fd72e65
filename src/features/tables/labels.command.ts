// What an operator types to fill the exchange-wallet table from a file of labels.
// Each refused row is named; an import of which no row was accepted has failed and kept nothing.

import {
  type Command,
  fileArgument,
  oneOf,
  readArgs,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import { parseOrigin, runImport, sourceName } from '../../command/run-import.ts';
import { LABEL_ROLES } from '../../ports/labels/exchange-labels.ts';
import type { ImportLabels } from '../../ports/labels/label-table.ts';

/** What the command needs. Compose fills it. */
export type LabelsServices = {
  readonly labels: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    readonly importFile: ImportLabels;
  };
};

/** `exhibit labels import`. */
export const labelsImport: Command<LabelsServices> = {
  name: 'labels import',
  summary: 'Fill the exchange-wallet table from a file of labels.',
  usage:
    'exhibit labels import FILE --source NAME [--role ROLE] [--source-url URL] ' +
    '[--origin observed|simulated] [--json]',
  example:
    'exhibit labels import binance.yaml --source graphsense-binance ' +
    '--source-url https://github.com/graphsense/graphsense-tagpacks',
  details: [
    'FILE             GraphSense TagPack (.yaml), CSV (.csv), JSON lines (.jsonl), or a JSON list',
    '                 (.json); columns address, entity and, where known, chain, label, role,',
    '                 confidence, source_url, first_seen',
    '--source NAME    whose rows these are; a later import of the same name replaces them all',
    `--role ROLE      for rows whose own words name none: ${LABEL_ROLES.join(', ')}`,
    '--source-url URL a public page of the source, shown beside its rows',
    'Exit status 1: no row was accepted, or the file or the store could not be read.',
  ],
  run: async (argv, io, { labels }) => {
    const { values, positionals } = readArgs(argv, {
      options: {
        source: { type: 'string' },
        role: { type: 'string' },
        'source-url': { type: 'string' },
        origin: { type: 'string' },
      },
      positionals: ['FILE'],
    });
    const role = values.role === undefined ? null : oneOf(values.role, '--role', LABEL_ROLES);
    const order = {
      path: fileArgument(String(positionals[0]), io),
      source: sourceName(requireOption(values.source, '--source')),
      source_url: publicPage(values['source-url']),
      role,
      origin: parseOrigin(values.origin, labels.simulated),
    };
    return runImport('label', (watch) => labels.importFile(order, watch), io);
  },
};

const PAGE_CHARS_MAX = 500;

/** A page that may be shown to anyone, for any import; a user or password in it is a mistake. */
export function publicPage(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) && text.length <= PAGE_CHARS_MAX ? new URL(text) : null;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isWeb || url.username + url.password !== '') {
    throw new UsageError('--source-url takes a public http or https address without a password.');
  }
  return url.href;
}
