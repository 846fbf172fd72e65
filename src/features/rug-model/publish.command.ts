// What an operator types to put a rug model in force.
// A model that learnt from made-up launches scores nothing real.

import { type Command, EXIT, fileArgument, readArgs } from '../../command/command.ts';
import { print, printJson } from '../../command/output.ts';
import { SCORED_CHAINS, type ScoredChainName } from '../../ports/flags/launch-scoring.ts';
import { RUG_FEATURES } from '../../ports/flags/rug-features.ts';
import type { ModelArtefact } from '../../ports/flags/rug-model.ts';
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
