// Which model does a command mean: the published one, or that of a file?

import { fileArgument, type Io } from '../../command/command.ts';
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
