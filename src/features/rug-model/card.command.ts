// What an operator types to see what stands behind a rug model.

import { type Command, EXIT, readArgs, UsageError } from '../../command/command.ts';
import { print, printJson } from '../../command/output.ts';
import { cardLines } from './card-text.ts';
import { type ModelServices, modelAsked } from './model-asked.ts';

/** `exhibit model card`. */
export const modelCard: Command<ModelServices> = {
  name: 'model card',
  summary: 'Show the card of the published rug model, or of an artefact.',
  usage: 'exhibit model card [FILE] [--json]',
  example: 'exhibit model card',
  details: [
    'FILE    an artefact instead of the published model',
    '--json  prints {version, card}',
    'Exit status 3: no model is published, or the artefact cannot be read.',
  ],
  run: async (argv, io, services) => {
    const { positionals } = readArgs(argv, { options: {}, many: true });
    const [file, ...more] = positionals;
    if (more.length > 0) throw new UsageError('One FILE at a time.');
    const asked = await modelAsked(file, io, services);
    if (!asked.checked) {
      io.err(asked.why.reason);
      return EXIT.couldNotCheck;
    }
    const { version, model } = asked.value;
    if (io.json) printJson(io, { version, card: model.card });
    else print(io, cardLines(asked.value, io));
    return EXIT.done;
  },
};
