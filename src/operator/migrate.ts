// Opening the stores migrates them, as every start does: the command opens them and ends. It is
// what one job runs where the other processes may change no table.

import { defineCommand, EXIT } from '../command/command.ts';
import { printJson } from '../command/output.ts';

export const migrateCommand = defineCommand({
  name: 'migrate',
  summary: 'Bring both stores up to date, and end.',
  example: 'exhibit migrate',
  notes: [
    'Every process does so when it starts. Where their roles may change no table, the owner',
    'of the tables runs this first (deploy/roles.sql).',
  ],
  run: async (_values, io, _services: null) => {
    if (io.json) printJson(io, { up_to_date: true });
    else io.out('The control store and the warehouse are up to date.');
    return EXIT.done;
  },
});
