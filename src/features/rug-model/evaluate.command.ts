// What an operator types to hold the published rug model against launches whose fate is known.
// Without a model there is nothing to evaluate: exit 3, and no figure.

import {
  type Command,
  EXIT,
  fileArgument,
  readArgs,
  requireOption,
} from '../../command/command.ts';
import { evaluationLines } from '../../command/model-card-text.ts';
import { formatTime, print, printJson } from '../../command/output.ts';
import type { TableFiles } from '../../ports/tables/table-import.ts';
import { type ModelServices, modelAsked } from './card.command.ts';
import { evaluated } from './evaluation.ts';
import { examplesOf } from './examples.ts';
import { trainingFile } from './training-file.ts';

/** What the command needs. */
export type EvaluateServices = ModelServices & {
  readonly model: { readonly trainingFiles: TableFiles };
};

/** `exhibit model evaluate`. */
export const modelEvaluate: Command<EvaluateServices> = {
  name: 'model evaluate',
  summary: 'Hold the published rug model against launches whose fate is known.',
  usage: 'exhibit model evaluate --data FILE [--model FILE] [--json]',
  example: 'exhibit model evaluate --data launches.csv',
  details: [
    '--data FILE   launches in the training layout: docs/guides/rug-model.md. Of the file that',
    '              the model was trained on, only the test part counts',
    '--model FILE  an artefact instead of the published one',
    '--json        one document',
    'Exit status 1: the file is not in the layout. 3: no model is published, or a file could not',
    'be read.',
  ],
  run: async (argv, io, services) => {
    const { values } = readArgs(argv, { options: OPTIONS });
    const path = fileArgument(requireOption(values.data, '--data'), io);
    const asked = await modelAsked(values.model, io, services);
    if (!asked.checked) {
      io.err(asked.why.reason);
      return EXIT.couldNotCheck;
    }
    const { version, model } = asked.value;
    const file = await trainingFile(services.model.trainingFiles, path);
    if (file.end === 'unread') {
      io.err(file.reason);
      return EXIT.couldNotCheck;
    }
    if (file.end === 'refused') {
      print({ out: io.err }, file.faults);
      return EXIT.failed;
    }
    const { split, data, training } = model.card;
    const all = await examplesOf(file.rows, split.settle_days);
    const isSame = file.sha256 === data.sha256;
    const later = all.filter(({ row }) => row.scored_at >= split.at);
    const counted = isSame ? later : all;
    const baseRate = split.train.died / split.train.rows;
    const found = await evaluated(model, baseRate, counted, training.seed);
    const left_out = all.length - counted.length;
    const before_split = counted.length - later.length;
    const split_at = formatTime(split.at);
    if (io.json) {
      printJson(io, { version, sha256: file.sha256, split_at, left_out, before_split, ...found });
      return EXIT.done;
    }
    io.out(`Model ${version}`);
    if (isSame) {
      io.out(`It learnt from this file: its ${left_out} launches before ${split_at} are left out.`);
    }
    if (before_split > 0) {
      io.out(
        `${before_split} launches came before ${split_at}, when the model had learnt already.`,
      );
    }
    print(io, evaluationLines(found, io));
    return EXIT.done;
  },
};

const OPTIONS = { data: { type: 'string' }, model: { type: 'string' } } as const;
