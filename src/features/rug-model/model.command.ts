// It opens no store: what it writes is a file, which is in force nowhere until it is published.

import { writeFile } from 'node:fs/promises';
import { parseIsoDate } from '../../chain/time.ts';
import {
  type Command,
  chooseOne,
  EXIT,
  fileArgument,
  type Io,
  readArgs,
  requireOption,
  UsageError,
  wholeNumber,
} from '../../command/command.ts';
import { cardLines, evaluationLines, suspectLines } from '../../command/model-card-text.ts';
import { formatTime, print, printJson } from '../../command/output.ts';
import type { Reading } from '../../evidence/reading.ts';
import { IMPORT_ORIGINS } from '../../evidence/source.ts';
import {
  type ModelArtefact,
  type PublishedModels,
  RUG_FEATURES,
  SCORED_CHAINS,
  type ScoredChainName,
} from '../../ports/rug-model.ts';
import type { TableFiles } from '../../ports/tables.ts';
import { artefactOf } from './artefact.ts';
import { evaluateModel } from './evaluation.ts';
import { examplesOf, trainingFile } from './examples.ts';
import { DEFAULTS, FATES, TrainingFault, type TrainingOrder, trainModel } from './train.ts';

/** What the command needs. */
export type TrainServices = {
  readonly training: { readonly files: TableFiles; readonly codeVersion: string };
};

const OUT = 'rug-model.json';
const SEED_MAX = 2 ** 32 - 1;
const SETTLE_DAYS_MAX = 3_650;

/** `exhibit model train`. */
export const modelTrain: Command<TrainServices> = {
  name: 'model train',
  summary: 'Train a rug model on a file of launches, and write its artefact.',
  usage:
    'exhibit model train --data FILE [--out FILE] [--seed N] [--split DAY] [--settle-days N] ' +
    '[--fates F] [--origin O] [--json]',
  example: 'exhibit model train --data launches.csv',
  details: [
    '--data FILE      launches in the training layout, as docs/guides/rug-model.md says',
    `--out FILE       where the artefact is written; ${OUT}`,
    `--seed N         draws rows and resamples; ${DEFAULTS.seed}. The same file and seed give the`,
    '                 same bytes',
    '--split DAY      launches from this day on are the test; the day on which 70% had come',
    `--settle-days N  age from which a launch seen alive has settled; ${DEFAULTS.settleDays}`,
    '--fates F        last_seen: as the file saw them last; at_split: as they were visible at the',
    `                 split, of launches that had settled by then; ${DEFAULTS.fates}`,
    '--origin O       observed, or simulated where the launches are made up; observed',
    '--json           prints {version, file, card}',
    'Exit status 1: the file or its launches cannot be learnt from. 3: it could not be read.',
  ],
  run: async (argv, io, { training }) => {
    const { values } = readArgs(argv, { options: TRAIN_OPTIONS });
    const path = fileArgument(requireOption(values.data, '--data'), io);
    const out = fileArgument(values.out, io);
    const file = await trainingFile(training.files, path);
    if (file.end === 'unread') {
      io.err(file.reason);
      return EXIT.couldNotCheck;
    }
    if (file.end === 'refused') {
      print({ out: io.err }, file.faults);
      return EXIT.failed;
    }
    const order: TrainingOrder = {
      seed: wholeNumber(values.seed, '--seed', { min: 0, max: SEED_MAX }),
      splitAt: values.split === undefined ? null : dayOf(values.split),
      settleDays: wholeNumber(values['settle-days'], '--settle-days', {
        min: 0,
        max: SETTLE_DAYS_MAX,
      }),
      fates: chooseOne(values.fates, '--fates', FATES),
      sha256: file.sha256,
      simulated: chooseOne(values.origin, '--origin', IMPORT_ORIGINS) === 'simulated',
      codeVersion: training.codeVersion,
    };
    try {
      const artefact = artefactOf(await trainModel(file.rows, order));
      await writeFile(out, artefact.text);
      const { version, model } = artefact;
      print({ out: io.err }, suspectLines(model.card));
      if (io.json) printJson(io, { version, file: out, card: model.card });
      else print(io, [...cardLines(artefact, io), '', `Written to ${out}.`]);
      return EXIT.done;
    } catch (fault) {
      if (!(fault instanceof TrainingFault)) throw fault;
      io.err(fault.message);
      return EXIT.failed;
    }
  },
};

const TRAIN_OPTIONS = {
  data: { type: 'string' },
  out: { type: 'string', default: OUT },
  seed: { type: 'string', default: String(DEFAULTS.seed) },
  split: { type: 'string' },
  'settle-days': { type: 'string', default: String(DEFAULTS.settleDays) },
  fates: { type: 'string', default: DEFAULTS.fates },
  origin: { type: 'string', default: 'observed' },
} as const;

function dayOf(text: string): number {
  const day = parseIsoDate(text);
  if (day === null) throw new UsageError('--split takes a day such as 2026-11-21.');
  return day;
}

// Without a model there is nothing to evaluate: exit 3, and no figure.

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
    const { values } = readArgs(argv, { options: EVALUATE_OPTIONS });
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
    const found = await evaluateModel(model, baseRate, counted, training.seed);
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

const EVALUATE_OPTIONS = { data: { type: 'string' }, model: { type: 'string' } } as const;

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

// A model that learnt from made-up launches scores nothing real.

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
    'An artefact is kept for ever; publish an earlier one again to go back to it. A model that',
    'leans on what the scorer does not read of a chain is published with a warning.',
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
    for (const chain of SCORED_CHAINS) print({ out: io.err }, unreadLines(artefact, chain));
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

/** Warns of what a model learnt from and the scorer never reads of a chain that it scores. */
function unreadLines({ version, model }: ModelArtefact, chain: ScoredChainName): string[] {
  if (!model.card.data.chains.includes(chain)) return [];
  const read: ReadonlySet<string> = new Set(
    RUG_FEATURES.filter(({ read_of }) => read_of.some((one) => one === chain)).map(
      ({ name }) => name,
    ),
  );
  const unread = model.card.features.filter(({ name, gain }) => gain > 0 && !read.has(name));
  if (unread.length === 0) return [];
  const share = unread.reduce((sum, { gain }) => sum + gain, 0);
  const names = unread.map(({ name }) => name).join(', ');
  return [
    `${version} has ${(100 * share).toFixed(0)}% of its gain from what the scorer of this ` +
      `service does not read of ${chain} (${names}).`,
    'Its scores here are not those of its card. Leave these columns out of the file to train on.',
  ];
}
