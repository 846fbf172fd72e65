// The command that imports a file into a table. It names each refused row; an import without an
// accepted row fails and stores nothing.

import {
  anyText,
  type Command,
  defineCommand,
  filePath,
  flag,
  mandatory,
  optional,
  pastTime,
  requireOption,
  UsageError,
  wordIn,
} from '../../command/command.ts';
import { parseOrigin, runImport, sourceName } from '../../command/run-import.ts';
import type { ImportFile } from '../../ports/tables.ts';
import type { ImportedTable } from './import-rows.ts';

type ImportServices = {
  readonly tables: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    /** Unix seconds. */
    readonly now: () => number;
    /** The importer of the table with that name. */
    readonly importerOf: (table: string) => ImportFile | undefined;
  };
};

type Fillable = Pick<ImportedTable<never, string, unknown>, 'name' | 'words' | 'leastShare'>;

type Options = {
  [option: string]: ReturnType<typeof flag> | ReturnType<typeof optional<string>>;
};

const ACCEPT_SMALLER = 'accept-smaller';

/** The command that fills a table. */
export function importCommand({ name, words, leastShare }: Fillable): Command<ImportServices> {
  const { command, summary, nouns, example, unnamed, otherwise, sourceOption } = words;
  const options: Options = {
    [sourceOption]: (unnamed === null ? mandatory : optional)('NAME', words.source, (text) =>
      sourceName(text, sourceOption),
    ),
  };
  if (otherwise !== null) {
    options[otherwise.option] = optional(
      otherwise.option.toUpperCase(),
      `for rows whose own words name none: ${otherwise.words.join(', ')}`,
      wordIn(otherwise.words),
    );
  }
  if (words.linked) {
    const help = 'a public page of the source, shown beside its rows';
    options['source-url'] = optional('URL', help, publicPage);
  }
  if (words.datable) {
    const help = 'the date of the list, instead of the one that its file states';
    options['as-of'] = optional('TIME', help, anyText);
  }
  if (leastShare !== undefined)
    options[ACCEPT_SMALLER] = flag('take a file with far fewer rows than the import in force');
  options['origin'] = optional('observed|simulated', null, anyText);
  return defineCommand({
    name: command,
    summary,
    example: `exhibit ${command} ${example}`,
    arguments: { file: mandatory('FILE', words.file.join(' '), filePath) },
    options,
    notes: [
      ...words.notes,
      'Exit status 1: no row was accepted, or the file or the store could not be read.',
    ],
    run: async (values, io, { tables }: ImportServices) => {
      const text = (option: string): string | null => {
        const value = values[option];
        return typeof value === 'string' ? value : null;
      };
      const source = text(sourceOption);
      const [as_of, origin] = [text('as-of'), text('origin')];
      const order = {
        path: values.file,
        source: requireOption(source === null ? unnamed : source, `--${sourceOption}`),
        source_url: text('source-url'),
        otherwise: otherwise === null ? null : text(otherwise.option),
        origin: parseOrigin(origin === null ? undefined : origin, tables.simulated),
        as_of: as_of === null ? null : pastTime(as_of, '--as-of', tables.now(), 'day or time'),
        acceptSmaller: values[ACCEPT_SMALLER] === true,
      };
      const importFile = tables.importerOf(name);
      if (importFile === undefined) throw new Error(`no imported table is named ${name}`);
      return runImport(nouns, (watch) => importFile(order, watch), io);
    },
  });
}

const PAGE_CHARS_MAX = 500;

/** A page that may be shown to anyone; a user or password in it is a mistake. */
function publicPage(text: string): string {
  const url = URL.canParse(text) && text.length <= PAGE_CHARS_MAX ? new URL(text) : null;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isWeb || url.username + url.password !== '') {
    throw new UsageError('--source-url takes a public http or https address without a password.');
  }
  return url.href;
}
