// What an operator types to see what stands behind a rug model.

import {
  type Command,
  EXIT,
  fileArgument,
  type Io,
  readArgs,
  UsageError,
} from '../../command/command.ts';
import { cardLines } from '../../command/model-card-text.ts';
import { print, printJson } from '../../command/output.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { PublishedModels } from '../../ports/flags/published-model.ts';
import type { ModelArtefact } from '../../ports/flags/rug-model.ts';

/** What commands on models need. */
export type ModelServices = {
  readonly model: {
    readonly published: PublishedModels;
    /** Reads an artefact from a file of this machine. */
    readonly readFile: (path: string) => Promise<Reading<ModelArtefact, 'model_file'>>;
  };
};

/** The model of a file where one is named, else the published one. */
export async function modelAsked(
  file: string | undefined,
  io: Io,
  { model }: ModelServices,
): Promise<Reading<ModelArtefact, never>> {
  return file === undefined ? model.published.inForce() : model.readFile(fileArgument(file, io));
}

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
