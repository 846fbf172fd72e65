// Takes in calls, tells the rules, scores what has come to its end, and explains one call.

import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  filePath,
  mandatory,
  optional,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import {
  type Fact,
  factLines,
  formatTime,
  print,
  printable,
  printJson,
  printRows,
} from '../../command/output.ts';
import { Read } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type KeptCall,
  OWN_PROVIDER,
  type ProviderCalls,
  providerName,
} from '../../ports/provider-calls.ts';
import type { CallImport, RefusedCall } from './import-calls.ts';
import { outcomeText, statementText } from './providers.route.tsx';
import type { ScoreCounts } from './score.ts';

/** What the commands work on. */
export type ProvidersServices = {
  readonly providers: Pick<ProviderCalls, 'find' | 'rules'> & {
    readonly importCalls: (
      order: { readonly path: string; readonly provider: string },
      onRefused: (row: RefusedCall) => void,
    ) => Promise<CallImport | Why>;
    readonly score: (signal: AbortSignal) => Promise<ScoreCounts | Why>;
  };
};

const readProvider = (text: string): string => {
  if (providerName.safeParse(text).success && text !== OWN_PROVIDER) return text;
  throw new UsageError(
    '--provider takes up to 40 small letters, digits, dashes and underscores, and not ' +
      `${OWN_PROVIDER}.`,
  );
};

export const providersImport = defineCommand({
  name: 'providers import',
  summary: 'Take in market calls of an outside service. They are received now.',
  example: 'exhibit providers import calls.csv --provider desk-letter',
  arguments: { file: mandatory('FILE', 'CSV or JSON lines of calls', filePath) },
  options: { provider: optional('NAME', 'whose calls they are', readProvider) },
  json: 'prints {added, known, retrospective, refused}',
  notes: [
    'Columns: asset, direction (long or short), horizon_h, called_at, probability (optional), id.',
    'A call with an old date is retrospective. The same row again changes nothing, and a changed',
    'one is a second call beside the first. Exit status 1: no row was accepted. 3: not read.',
  ],
  run: async ({ file, provider }, io, { providers }: ProvidersServices) => {
    const order = { path: file, provider: requireOption(provider, '--provider') };
    const taken = await providers.importCalls(order, ({ line, problem }) =>
      io.err(`line ${line}: ${printable(problem)}`),
    );
    if ('reason' in taken) return fail(io, taken.reason, EXIT.couldNotCheck);
    if (io.json) printJson(io, taken);
    else
      print(
        io,
        factLines(
          [
            ['new calls', taken.added],
            ['taken in before', taken.known],
            ['of these retrospective', taken.retrospective],
            ['refused rows', taken.refused],
          ],
          io,
        ),
      );
    return taken.added + taken.known === 0 ? EXIT.failed : EXIT.done;
  },
});

export const providersRules = defineCommand({
  name: 'providers rules',
  summary: 'Show the rules by which calls are scored, each with its leaf in the log.',
  example: 'exhibit providers rules',
  json: 'prints an object a line: {version, kind, text, hash, leaf, in_force_from}',
  run: async (_values, io, { providers }: ProvidersServices) =>
    printRows(await providers.rules(), io, {
      none: 'No rule is in force yet: the first round of the collector publishes them.',
      columns: [
        'version',
        'kind',
        ['leaf', ({ leaf }) => leaf, 'right'],
        ['in force from', ({ in_force_from: at }) => formatTime(at)],
        ['rule', ({ text }) => text],
      ],
    }),
});

export const providersScore = defineCommand({
  name: 'providers score',
  summary: 'Score now what has come to its end, and count the leaderboard anew.',
  example: 'exhibit providers score',
  json: 'prints {scored, unscorable, pending}',
  notes: ['A service that works does so each minute. Exit status 3: a store could not be read.'],
  run: async (_values, io, { providers }: ProvidersServices) => {
    const counts = await providers.score(io.signal);
    if ('reason' in counts) return fail(io, counts.reason, EXIT.couldNotCheck);
    if (io.json) printJson(io, counts);
    else {
      const { scored, unscorable, pending } = counts;
      const facts: Fact[] = [
        ['scored now', scored],
        ['not scorable', unscorable],
        ['waiting for what decides them', pending],
      ];
      print(io, factLines(facts, io));
    }
    return EXIT.done;
  },
});

export const providersExplain = defineCommand({
  name: 'providers explain',
  summary: 'Show a call: what was said, on what, by which rule, and what became of it.',
  example: 'exhibit providers explain pc_00000000000000000000000000000000',
  arguments: { call: mandatory('CALL', 'its id: pc_ and 32 hex digits', anyText) },
  json: 'prints the call with its outcome',
  run: async ({ call }, io, { providers }: ProvidersServices) => {
    const found = await providers.find(call);
    if (!(found instanceof Read)) return fail(io, found.why.reason, EXIT.couldNotCheck);
    if (found.value === null) return fail(io, 'No call has this id.');
    if (io.json) printJson(io, found.value);
    else print(io, factLines(factsOf(found.value), io));
    return EXIT.done;
  },
});

function factsOf(call: KeptCall): Fact[] {
  const { outcome } = call;
  const grounds = outcome.state === 'scored' ? textOf(outcome.rests_on) : null;
  return [
    ['call', call.call_id],
    ['provider', call.provider],
    ['said', statementText(call)],
    ['rests on', textOf(call.rests_on)],
    ['probability', call.probability],
    ['its own name for it', call.reference],
    ['said at', formatTime(call.called_at)],
    ['received at', formatTime(call.received_at)],
    ['counts as', call.prospective ? 'prospective' : 'retrospective'],
    ['rule', call.rule_version],
    ['window ends', formatTime(call.window_end)],
    ['leaf of the log', call.leaf],
    ['hash', call.hash],
    ['came', outcomeText(call)],
    ['decided by', grounds],
  ];
}

function textOf(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
