// Training opens no store: it writes a file, which is in force nowhere until it is published.

import { writeFile } from 'node:fs/promises';
import {
  anyDay,
  anySeed,
  defineCommand,
  EXIT,
  fail,
  fileArgument,
  filePath,
  mandatory,
  numberWithin,
  optional,
  several,
  UsageError,
  wordIn,
} from '../../command/command.ts';
import {
  cardLines,
  evaluationLines,
  flaggedText,
  suspectLines,
} from '../../command/model-card-text.ts';
import { formatTime, print, printJson, printRecord } from '../../command/output.ts';
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
import { examplesOf, lessonsOf, rowsSha256, trainingFile } from './examples.ts';
import { DEFAULTS, TrainingFault, type TrainingOrder, trainModel } from './train.ts';

/** The dependencies of the command. */
export type TrainServices = {
  readonly training: { readonly files: TableFiles; readonly codeVersion: string };
};

const OUT = 'rug-model.json';
const HOURS_MAX = 24 * 3_650;

export const modelTrain = defineCommand({
  name: 'model train',
  summary: 'Train a rug model on a file of launches, and write its artefact.',
  example: 'exhibit model train --data launches.csv',
  options: {
    data: mandatory(
      'FILE',
      'launches in the training layout, as docs/guides/rug-model.md says',
      filePath,
    ),
    out: optional('FILE', `where the artefact is written; ${OUT}`, filePath),
    seed: optional(
      'N',
      `draws rows and resamples; ${DEFAULTS.seed}. The same file and seed give the same bytes`,
      anySeed,
    ),
    split: optional(
      'DAY',
      'launches from this day on are the test; the day on which 70% had come',
      anyDay,
    ),
    horizon: optional(
      'HOURS',
      'what is learnt: that a launch dies within so many hours of its launch; ' +
        `${DEFAULTS.target.horizon_h}`,
      numberWithin(1, HOURS_MAX),
    ),
    'scored-within': optional(
      'HOURS',
      'launches scored later than this after their launch are left out, and are not scored by ' +
        `the model; ${DEFAULTS.target.scored_within_h}`,
      numberWithin(1, HOURS_MAX),
    ),
    origin: optional(
      'O',
      'observed, or simulated where the launches are made up; observed',
      wordIn(IMPORT_ORIGINS),
    ),
  },
  json: 'prints {version, file, card}',
  notes: [
    'Exit status 1: the file or its launches cannot be learnt from. 3: it could not be read.',
  ],
  run: async (values, io, { training }: TrainServices) => {
    const { seed, split, horizon, 'scored-within': within } = values;
    const out = values.out === null ? fileArgument(OUT, io) : values.out;
    const file = await trainingFile(training.files, values.data);
    if (file.end === 'unread') return fail(io, file.reason, EXIT.couldNotCheck);
    if (file.end === 'refused') {
      print({ out: io.err }, file.faults);
      return EXIT.failed;
    }
    const order: TrainingOrder = {
      seed: seed === null ? DEFAULTS.seed : seed,
      splitAt: split,
      target: {
        horizon_h: horizon === null ? DEFAULTS.target.horizon_h : horizon,
        scored_within_h: within === null ? DEFAULTS.target.scored_within_h : within,
      },
      simulated: values.origin === 'simulated',
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
      return fail(io, fault.message);
    }
  },
});

// Without a model there is nothing to evaluate: exit 3, and no figure.

/** The dependencies of the command. */
export type EvaluateServices = ModelServices & {
  readonly model: { readonly trainingFiles: TableFiles };
};

export const modelEvaluate = defineCommand({
  name: 'model evaluate',
  summary: 'Hold the published rug model against launches whose fate is known.',
  example: 'exhibit model evaluate --data launches.csv',
  options: {
    data: mandatory(
      'FILE',
      'launches in the training layout: docs/guides/rug-model.md. What the model learnt from is ' +
        'never counted, whatever the file',
      filePath,
    ),
    from: optional(
      'DAY',
      'count launches from this day on; the day from which on the model learnt from none',
      anyDay,
    ),
    model: optional('FILE', 'an artefact instead of the published one', filePath),
  },
  json: 'one document',
  notes: [
    'Exit status 1: the file is not in the layout, or holds no launch to count. 3: no model is',
    'published, or a file could not be read.',
  ],
  run: async (values, io, services: EvaluateServices) => {
    const artefact = await readModel(values.model, services);
    if (!artefact.checked) return fail(io, artefact.why.reason, EXIT.couldNotCheck);
    const { version, model } = artefact.value;
    const { split, data, training, target, level } = model.card;
    const from = values.from === null ? split.at : values.from;
    if (from < split.at) {
      const until = formatTime(split.at);
      return fail(io, `${version} learnt from launches until ${until}: name a day after that.`);
    }
    const file = await trainingFile(services.model.trainingFiles, values.data);
    if (file.end === 'unread') return fail(io, file.reason, EXIT.couldNotCheck);
    if (file.end === 'refused') {
      print({ out: io.err }, file.faults);
      return EXIT.failed;
    }
    const all = await examplesOf(file.rows, target.horizon_h);
    const later = all.filter(({ row }) => row.scored_at >= from);
    const { lessons, scored_late, unsettled } = lessonsOf(later, target);
    if (lessons.length === 0) {
      return fail(io, `No launch of the file can be counted from ${formatTime(from)} on.`);
    }
    const baseRate = split.train.died / split.train.rows;
    const flagsFrom = level === null ? null : level.score_from;
    const judged = { model, baseRate, flagsFrom, seed: training.seed };
    const { evaluation, level: flagged } = await evaluateModel(judged, lessons);
    const left_out = { earlier: all.length - later.length, scored_late, unsettled };
    // The table and the level of the card come from launches of this time.
    const in_card = lessons.filter(({ row }) => row.scored_at <= data.to).length;
    if (io.json) {
      const counted = { from: formatTime(from), left_out, in_card };
      const sha256 = rowsSha256(file.rows);
      printJson(io, { version, sha256, target, ...counted, flagged, ...evaluation });
      return EXIT.done;
    }
    io.out(`Model ${version}. ${target.statement}`);
    io.out(
      `Counted from ${formatTime(from)} on. Left out: ${left_out.earlier} launches before, which ` +
        `it may have learnt from; ${scored_late} scored too late; ${unsettled} of which the fate ` +
        'is not known.',
    );
    if (in_card > 0) io.out(`${in_card} of them are of the time of the card's own table.`);
    io.out(flaggedText(flagged));
    print(io, evaluationLines(evaluation, io));
    return EXIT.done;
  },
});

/** The dependencies of commands on models. */
export type ModelServices = {
  readonly model: {
    readonly published: PublishedModels;
    /** Reads an artefact from a file of this machine. */
    readonly readFile: (path: string) => Promise<Reading<ModelArtefact, 'model_file'>>;
  };
};

/** The model of a file where one is named, else the published one. */
async function readModel(
  file: string | null | undefined,
  { model }: ModelServices,
): Promise<Reading<ModelArtefact, never>> {
  return typeof file === 'string' ? model.readFile(file) : model.published.inForce();
}

export const modelCard = defineCommand({
  name: 'model card',
  summary: 'Show the card of the published rug model, or of an artefact.',
  usage: '[FILE]',
  example: 'exhibit model card',
  arguments: { file: several('FILE', 'an artefact instead of the published model', filePath) },
  json: 'prints {version, card}',
  notes: ['Exit status 3: no model is published, or the artefact cannot be read.'],
  run: async ({ file: [file, ...more] }, io, services: ModelServices) => {
    if (more.length > 0) throw new UsageError('One FILE at a time.');
    const artefact = await readModel(file, services);
    if (!artefact.checked) return fail(io, artefact.why.reason, EXIT.couldNotCheck);
    const { version, model } = artefact.value;
    if (io.json) printJson(io, { version, card: model.card });
    else print(io, cardLines(artefact.value, io));
    return EXIT.done;
  },
});

// A model that learnt from made-up launches scores nothing real.

/** The dependencies of the command. */
export type PublishServices = ModelServices & { readonly model: { readonly simulated: boolean } };

export const modelPublish = defineCommand({
  name: 'model publish',
  summary: 'Put a trained rug model in force.',
  example: 'exhibit model publish rug-model.json',
  arguments: {
    file: mandatory('FILE', 'an artefact that `exhibit model train` wrote', filePath),
  },
  json: 'prints {version, outcome}: published, or in_force_already',
  notes: [
    'An artefact is kept for ever; publish an earlier one again to go back to it. A model that',
    'leans on what the scorer does not read of a chain is published with a warning.',
    'Exit status 1: it learnt from simulated launches, and this deployment is real, or its flags',
    'were withdrawn. 3: the file is no artefact, or nothing could be kept.',
  ],
  run: async ({ file }, io, { model }: PublishServices) => {
    const read = await model.readFile(file);
    if (!read.checked) return fail(io, read.why.reason, EXIT.couldNotCheck);
    const artefact = read.value;
    const { version } = artefact;
    if (artefact.model.card.data.simulated && !model.simulated) {
      return fail(io, `${version} learnt from simulated launches: it scores nothing real.`);
    }
    for (const chain of SCORED_CHAINS) print({ out: io.err }, unreadLines(artefact, chain));
    const kept = await model.published.publish(artefact);
    if (!kept.checked) return fail(io, kept.why.reason, EXIT.couldNotCheck);
    const outcome = kept.value;
    if (outcome === 'withdrawn') {
      return fail(io, `The flags of ${version} were withdrawn: it is not put in force again.`);
    }
    const words = outcome === 'published' ? 'is in force' : 'was in force already';
    return printRecord({ version, outcome }, io, `${version} ${words}.`);
  },
});

/** Warns of features that the model learnt from and the scorer never reads of a chain. */
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
