// What an operator types to fill an imported table from a file.
// Each refused row is named; an import of which no row was accepted has failed and kept nothing.

import {
  type Command,
  chooseOne,
  fileArgument,
  pastTime,
  readArgs,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import { parseOrigin, runImport, sourceName } from '../../command/run-import.ts';
import type { ImportFile } from '../../ports/tables.ts';
import type { ImportWords } from './import-rows.ts';

type ImportServices = {
  readonly tables: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    /** Unix seconds. */
    readonly now: () => number;
    /** What imports a file into the table of that name. */
    readonly importerOf: (table: string) => ImportFile | undefined;
  };
};

type Fillable = {
  readonly name: string;
  readonly words: ImportWords;
  readonly leastShare?: number;
};

const ACCEPT_SMALLER = 'accept-smaller';

/** The command that fills a table. */
export function importCommand({ name, words, leastShare }: Fillable): Command<ImportServices> {
  const { command, summary, nouns, example, unnamed, otherwise, sourceOption } = words;
  const { linked, datable } = words;
  const option = otherwise === null ? null : otherwise.option;
  const given = `--${sourceOption} NAME`;
  const source = unnamed === null ? given : `[${given}]`;
  const isHeld = leastShare !== undefined;
  const smaller = isHeld ? ' [--accept-smaller]' : '';
  const choice = option === null ? '' : ` [--${option} ${option.toUpperCase()}]`;
  const link = linked ? ' [--source-url URL]' : '';
  const date = datable ? ' [--as-of TIME]' : '';
  const names = [sourceOption, 'origin'];
  if (linked) names.push('source-url');
  if (datable) names.push('as-of');
  if (option !== null) names.push(option);
  const texts = Object.fromEntries(names.map((one) => [one, { type: 'string' } as const]));
  const options = isHeld ? { ...texts, [ACCEPT_SMALLER]: { type: 'boolean' } as const } : texts;
  return {
    name: command,
    summary,
    usage:
      `exhibit ${command} FILE ${source}${choice}${link}${date}${smaller} ` +
      '[--origin observed|simulated] [--json]',
    example: `exhibit ${command} ${example}`,
    details: detailsOf(words),
    run: async (argv, io, { tables }) => {
      const { values, positionals } = readArgs(argv, { options, positionals: ['FILE'] });
      const said = new Map<string, unknown>(Object.entries(values));
      const text = (one: string): string | undefined => {
        const value = said.get(one);
        return typeof value === 'string' ? value : undefined;
      };
      const named = text(sourceOption) ?? unnamed ?? undefined;
      const word = option === null ? undefined : text(option);
      const isTold = otherwise !== null && word !== undefined;
      const order = {
        path: fileArgument(String(positionals[0]), io),
        source: sourceName(requireOption(named, `--${sourceOption}`), sourceOption),
        source_url: publicPage(text('source-url')),
        otherwise: isTold ? chooseOne(word, `--${option}`, otherwise.words) : null,
        origin: parseOrigin(text('origin'), tables.simulated),
        as_of: pastTime(text('as-of'), '--as-of', tables.now(), 'day or time'),
        acceptSmaller: said.get(ACCEPT_SMALLER) === true,
      };
      const importFile = tables.importerOf(name);
      if (importFile === undefined) throw new Error(`no imported table is named ${name}`);
      return runImport(nouns, (watch) => importFile(order, watch), io);
    },
  };
}

const ARGUMENT_CHARS = 17;

function detailsOf({
  file,
  source,
  sourceOption,
  linked,
  datable,
  otherwise,
  notes,
}: ImportWords): string[] {
  const row = (argument: string, text: string) => `${argument.padEnd(ARGUMENT_CHARS)}${text}`;
  const lines = file.map((text, i) => row(i === 0 ? 'FILE' : '', text));
  lines.push(row(`--${sourceOption} NAME`, source));
  if (otherwise !== null) {
    const { option, words } = otherwise;
    const text = `for rows whose own words name none: ${words.join(', ')}`;
    lines.push(row(`--${option} ${option.toUpperCase()}`, text));
  }
  if (linked) {
    lines.push(row('--source-url URL', 'a public page of the source, shown beside its rows'));
  }
  if (datable)
    lines.push(
      row('--as-of TIME', 'the date of the list, instead of the one that its file states'),
    );
  return [
    ...[...lines, ...notes],
    'Exit status 1: no row was accepted, or the file or the store could not be read.',
  ];
}

const PAGE_CHARS_MAX = 500;

/** A page that may be shown to anyone; a user or password in it is a mistake. */
function publicPage(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) && text.length <= PAGE_CHARS_MAX ? new URL(text) : null;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isWeb || url.username + url.password !== '') {
    throw new UsageError('--source-url takes a public http or https address without a password.');
  }
  return url.href;
}
