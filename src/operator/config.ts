// Of a secret the command shows that there is one, of a URL its scheme and host.

import { defineCommand, EXIT, flag, UsageError } from '../command/command.ts';
import { print, printJson, tableLines } from '../command/output.ts';
import { configurationPage, exampleFile } from '../config/settings.ts';
import type { Configured } from '../config.ts';

export const configCommand = defineCommand({
  name: 'config',
  summary: 'Print the configuration in effect, secrets masked.',
  usage: '[--reference | --example]',
  example: 'exhibit config',
  options: {
    reference: flag('the reference page of all settings, in Markdown'),
    example: flag('an example of a .env file'),
  },
  json: 'one object, by setting',
  run: async ({ reference, example }, io, { configured }: { readonly configured: Configured }) => {
    if (reference && example) throw new UsageError('Give --reference or --example, not both.');
    if (reference || example) {
      const page = reference ? configurationPage() : exampleFile();
      print(io, page.trimEnd().split('\n'));
      return EXIT.done;
    }
    if (!configured.ok) {
      for (const problem of configured.problems) io.err(problem);
      return EXIT.badUsage;
    }
    const { shown } = configured.config;
    if (io.json) {
      const facts = shown.map(({ name, value, from }) => [name, { value, from }]);
      printJson(io, Object.fromEntries(facts));
    } else {
      const titles = ['setting', 'value', 'from'].map((title) => ({ title }));
      const rows = shown.map(({ name, value, from }) => [name, value, from]);
      print(io, tableLines(titles, rows, io));
    }
    return EXIT.done;
  },
});
