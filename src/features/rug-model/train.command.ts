// What an operator types to train a rug model on a file of launches.
// It opens no store: what it writes is a file, which is in force nowhere until it is published.

import { writeFile } from 'node:fs/promises';
import { parseIsoDate } from '../../chain/time.ts';
import {
  type Command,
  EXIT,
  fileArgument,
  oneOf,
  readArgs,
  requireOption,
  UsageError,
  wholeNumber,
} from '../../command/command.ts';
import { cardLines, suspectLines } from '../../command/model-card-text.ts';
import { print, printJson } from '../../command/output.ts';
import { IMPORT_ORIGINS } from '../../evidence/origin.ts';
import type { TableFiles } from '../../ports/tables/table-import.ts';
import { artefactOf } from './artefact.ts';
import { DEFAULTS, FATES, TrainingFault, type TrainingOrder, trained } from './train.ts';
import { trainingFile } from './training-file.ts';

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
    const { values } = readArgs(argv, { options: OPTIONS });
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
      fates: oneOf(values.fates, '--fates', FATES),
      sha256: file.sha256,
      simulated: oneOf(values.origin, '--origin', IMPORT_ORIGINS) === 'simulated',
      codeVersion: training.codeVersion,
    };
    try {
      const artefact = artefactOf(await trained(file.rows, order));
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

const OPTIONS = {
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
