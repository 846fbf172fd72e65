// Answers one question: which configuration is in effect here.
// Of a secret it shows that there is one, of a URL its scheme and host.

import { type Command, EXIT, readArgs, UsageError } from '../command/command.ts';
import { print, printJson, tableLines } from '../command/output.ts';
import { configurationPage, exampleFile } from '../config/settings.ts';
import type { Configured } from '../config.ts';

/** The services of the command: the configuration, or its problems. */
type ConfigServices = { readonly configured: Configured };

/** `exhibit config`. */
export const configCommand: Command<ConfigServices> = {
  name: 'config',
  summary: 'Print the configuration in effect, secrets masked.',
  usage: 'exhibit config [--json | --reference | --example]',
  example: 'exhibit config',
  details: [
    '--json        one object, by setting',
    '--reference   the reference page of all settings, in Markdown',
    '--example     an example of a .env file',
  ],
  run: async (argv, io, { configured }) => {
    const { values } = readArgs(argv, {
      options: { reference: { type: 'boolean' }, example: { type: 'boolean' } },
    });
    if (values.reference === true && values.example === true) {
      throw new UsageError('Give --reference or --example, not both.');
    }
    if (values.reference === true) return page(configurationPage());
    if (values.example === true) return page(exampleFile());
    if (!configured.ok) {
      for (const problem of configured.problems) io.err(problem);
      return EXIT.badUsage;
    }
    const { shown } = configured.config;
    if (io.json) {
      const facts = shown.map(({ name, value, from }) => [name, { value, from }]);
      printJson(io, Object.fromEntries(facts));
    } else {
      const titles = ['setting', 'value', 'from'];
      const rows = shown.map(({ name, value, from }) => [name, value, from]);
      print(
        io,
        tableLines(
          titles.map((title) => ({ title })),
          rows,
          io,
        ),
      );
    }
    return EXIT.done;

    function page(text: string): typeof EXIT.done {
      print(io, text.trimEnd().split('\n'));
      return EXIT.done;
    }
  },
};
