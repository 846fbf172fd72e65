// What an operator types to put a rug model in force.
// A model that learnt from made-up launches scores nothing real.

import { type Command, EXIT, fileArgument, readArgs } from '../../command/command.ts';
import { printJson } from '../../command/output.ts';
import type { ModelServices } from './card.command.ts';

/** What the command needs. */
export type PublishServices = ModelServices & { readonly model: { readonly simulated: boolean } };

/** `exhibit model publish`. */
export const modelPublish: Command<PublishServices> = {
  name: 'model publish',
  summary: 'Put a trained rug model in force.',
  usage: 'exhibit model publish FILE [--json]',
  example: 'exhibit model publish rug-model.json',
  details: [
    'FILE    an artefact that `exhibit model train` wrote',
    '--json  prints {version, outcome}: published, or in_force_already',
    'An artefact is kept for ever; publish an earlier one again to go back to it.',
    'Exit status 1: it learnt from simulated launches, and this deployment is real. 3: the file',
    'is no artefact, or nothing could be kept.',
  ],
  run: async (argv, io, { model }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: ['FILE'] });
    const [file] = positionals;
    const read = await model.readFile(fileArgument(String(file), io));
    if (!read.checked) {
      io.err(read.why.reason);
      return EXIT.couldNotCheck;
    }
    const artefact = read.value;
    if (artefact.model.card.data.simulated && !model.simulated) {
      io.err(`${artefact.version} learnt from simulated launches: it scores nothing real.`);
      return EXIT.failed;
    }
    const kept = await model.published.publish(artefact);
    if (!kept.checked) {
      io.err(kept.why.reason);
      return EXIT.couldNotCheck;
    }
    if (io.json) printJson(io, { version: artefact.version, outcome: kept.value });
    else if (kept.value === 'published') io.out(`${artefact.version} is in force.`);
    else io.out(`${artefact.version} was in force already.`);
    return EXIT.done;
  },
};
