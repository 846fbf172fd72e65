// Training reads the record of calls and writes a file, which is in force nowhere until it is
// published.

import { writeFile } from 'node:fs/promises';
import { formatIsoDate } from '../../chain/time.ts';
import {
  anyDay,
  anySeed,
  defineCommand,
  EXIT,
  fail,
  fileArgument,
  filePath,
  mandatory,
  optional,
} from '../../command/command.ts';
import { factLines, formatTime, print, printJson, printRecord } from '../../command/output.ts';
import { Read, type Reading } from '../../evidence/reading.ts';
import type { Artefact, Figure } from '../../ports/boosted-trees.ts';
import type { EmittedCalls } from '../../ports/emitted-calls.ts';
import type { PublishedRankers, Ranker, RankerHoldout } from '../../ports/ranker.ts';
import { readRecord } from './standing.ts';
import { evaluateRanker, RankingFault, rankerArtefact, trainWhileServing } from './training.ts';

/** What the commands work on. */
export type RankServices = {
  readonly rank: {
    readonly emittedCalls: Pick<EmittedCalls, 'changedSince'>;
    readonly published: PublishedRankers;
    /** Reads an artefact from a file of this machine. */
    readonly readFile: (path: string) => Promise<Reading<Artefact<Ranker>, 'model_file'>>;
    readonly codeVersion: string;
    readonly simulated: boolean;
    readonly now: () => number;
  };
};

const OUT = 'call-ranker.json';
const SEED = 1;

export const rankTrain = defineCommand({
  name: 'rank train',
  summary: 'Train a ranker on the record of calls, and write it.',
  example: 'exhibit rank train',
  options: {
    out: optional('FILE', `where the artefact is written; ${OUT}`, filePath),
    seed: optional(
      'N',
      `draws rows and resamples; ${SEED}. The same record and seed give the same bytes`,
      anySeed,
    ),
    split: optional(
      'DAY',
      'calls from this day on are the hold-out; the Monday after 70% of the weeks',
      anyDay,
    ),
  },
  json: 'prints {version, file, card}',
  notes: ['Exit status 1: the record is too short to learn an order. 3: it was not read.'],
  run: async ({ out, seed, split }, io, { rank }: RankServices) => {
    const record = await readRecord(rank.emittedCalls);
    if (!(record instanceof Read)) return fail(io, record.why.reason, EXIT.couldNotCheck);
    const file = out === null ? fileArgument(OUT, io) : out;
    try {
      const order = {
        seed: seed === null ? SEED : seed,
        splitAt: split,
        codeVersion: rank.codeVersion,
      };
      const artefact = rankerArtefact(await trainWhileServing(record.value, order));
      await writeFile(file, artefact.text);
      const { version, model } = artefact;
      if (io.json) printJson(io, { version, file, card: model.card });
      else print(io, [...cardLines(artefact, io), '', `Written to ${file}.`]);
      return EXIT.done;
    } catch (fault) {
      if (!(fault instanceof RankingFault)) throw fault;
      return fail(io, fault.message);
    }
  },
});

export const rankEvaluate = defineCommand({
  name: 'rank evaluate',
  summary: 'Hold the published ranker against later calls.',
  example: 'exhibit rank evaluate',
  options: {
    model: optional('FILE', 'an artefact instead of the published one', filePath),
    from: optional('DAY', 'count calls from this day on; the end of what it learnt from', anyDay),
  },
  json: 'prints {version, from, holdout}',
  notes: [
    'Exit status 1: no week of calls can be counted, or the ranker could have learnt from them.',
    '3: no ranker is published, or a file or the record was not read.',
  ],
  run: async ({ model, from }, io, { rank }: RankServices) => {
    const found = model === null ? await rank.published.inForce() : await rank.readFile(model);
    if (!(found instanceof Read)) return fail(io, found.why.reason, EXIT.couldNotCheck);
    if (found.value === null) {
      return fail(io, 'No ranker was published here.', EXIT.couldNotCheck);
    }
    const { version, model: ranker } = found.value;
    const record = await readRecord(rank.emittedCalls);
    if (!(record instanceof Read)) return fail(io, record.why.reason, EXIT.couldNotCheck);
    const since = from === null ? ranker.card.split.at : from;
    try {
      const holdout = evaluateRanker(ranker, record.value, since);
      if (holdout === null) return fail(io, 'The record holds no week of closed calls since then.');
      if (io.json) printJson(io, { version, from: formatTime(since), holdout });
      else {
        io.out(`Ranker ${version}, calls from ${formatTime(since)} on.`);
        print(io, holdoutLines(holdout));
      }
      return EXIT.done;
    } catch (fault) {
      if (!(fault instanceof RankingFault)) throw fault;
      return fail(io, fault.message);
    }
  },
});

export const rankPublish = defineCommand({
  name: 'rank publish',
  summary: 'Put a trained ranker in force.',
  example: 'exhibit rank publish call-ranker.json',
  arguments: { file: mandatory('FILE', 'an artefact that `exhibit rank train` wrote', filePath) },
  json: 'prints {version, outcome}: published, or in_force_already',
  notes: [
    'A ranker is kept for ever, and each version is a leaf of the log; publish an earlier one',
    'again to go back to it.',
    'Exit status 1: it learnt from simulated calls, and this deployment is real. 3: the file is no',
    'artefact, or nothing could be kept.',
  ],
  run: async ({ file }, io, { rank }: RankServices) => {
    const found = await rank.readFile(file);
    if (!(found instanceof Read)) return fail(io, found.why.reason, EXIT.couldNotCheck);
    const { version, model } = found.value;
    if (model.card.data.simulated && !rank.simulated) {
      return fail(io, `${version} learnt from simulated calls: it ranks nothing real.`);
    }
    const kept = await rank.published.publish(found.value, rank.now());
    if (!(kept instanceof Read)) return fail(io, kept.why.reason, EXIT.couldNotCheck);
    const outcome = kept.value;
    const words = outcome === 'published' ? 'is in force' : 'was in force already';
    return printRecord({ version, outcome }, io, `${version} ${words}.`);
  },
});

type How = { readonly colour: boolean; readonly width?: number | undefined };

function cardLines({ version, model }: Artefact<Ranker>, how: How): string[] {
  const { data, split, training, holdout, features, code_version } = model.card;
  const span = (from: number, to: number) => `${formatIsoDate(from)} to ${formatIsoDate(to)}`;
  const parts = (['train', 'stop', 'test'] as const).map((name) => {
    const { calls, weeks, from, to } = split[name];
    return [name, `${calls} calls in ${weeks} weeks; ${span(from, to)}`] as const;
  });
  const used = features.filter(({ splits }) => splits > 0).sort((a, b) => b.gain - a.gain);
  return [
    ...factLines(
      [
        ['version', version],
        ['code version', code_version],
        ['data', `${data.calls} closed calls in ${data.weeks} weeks, ${span(data.from, data.to)}`],
        ['sha256', data.sha256],
        ['simulated', data.simulated ? 'yes: made-up calls' : 'no'],
        ['split', `${formatIsoDate(split.at)}, embargo ${split.embargo_h} h`],
        ...parts,
        [
          'left out',
          `${split.left_out.embargoed} that could have been open, ` +
            `${split.left_out.small_weeks} weeks with few calls`,
        ],
        ['trees', `${training.trees} of ${training.leaves} leaves at most`],
        ['looks at', used.map(({ name, gain }) => `${name} ${hundredthsOf(gain)}`).join(', ')],
      ],
      how,
    ),
    '',
    ...holdoutLines(holdout),
  ];
}

function holdoutLines({
  ndcg,
  random,
  places,
  queries,
  calls,
  resamples,
}: RankerHoldout): string[] {
  return [
    `Hold-out: NDCG@${places} ${figureText(ndcg)} over ${queries} weeks, ${calls} calls; an ` +
      `order by lot has ${random.toFixed(4)}.`,
    `Interval at 95%, ${resamples} resamples of weeks.`,
  ];
}

function hundredthsOf(share: number): string {
  return `${(100 * share).toFixed(0)}%`;
}

function figureText({ value, low, high }: Figure): string {
  const ends = low === null || high === null ? '' : ` (${low.toFixed(4)} to ${high.toFixed(4)})`;
  return `${value.toFixed(4)}${ends}`;
}
