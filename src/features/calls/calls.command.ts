// Shows the record of calls: one with every observation it rests on, those of a time, and versions.

import { formatIsoTime, HOUR_S, MS_PER_S } from '../../chain/time.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  type Io,
  mandatory,
  optional,
  pastTime,
} from '../../command/command.ts';
import {
  type Fact,
  factLines,
  formatTime,
  print,
  printJson,
  printRows,
  rowsPrinter,
} from '../../command/output.ts';
import { Read } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type CallClosing,
  type CallInput,
  DETECTOR_KINDS,
  type EmissionStore,
  type EmittedCall,
  type EmittedCalls,
  type RanSpan,
} from '../../ports/emitted-calls.ts';
import type { Difference, Replay } from './replay.ts';

/** What the commands work on. */
export type CallsServices = {
  readonly calls: Pick<EmittedCalls, 'find' | 'ran' | 'versions'> &
    Pick<EmissionStore, 'emitted'> & {
      readonly now: () => number;
      readonly replay: (span: RanSpan, signal: AbortSignal) => Promise<Replay | Why>;
    };
};

const LISTED_DAYS = 30;
const LISTED_MAX = 10_000;
/** Every leaf is behind it. */
const BEFORE_ALL = -1;
const DAY_S = 86_400;
const FROM = optional('TIME', 'from when on, a day or a time', anyText);
const TO = optional('TIME', 'up to when; left out: now', anyText);

/** The span that both options name; without them the newest days. */
function spanOf(from: string | null, to: string | null, now: number): RanSpan {
  const ends = pastTime(to === null ? undefined : to, '--to', now, 'day or time');
  const begins = pastTime(from === null ? undefined : from, '--from', now, 'day or time');
  const until = ends === null ? now + 1 : ends;
  return { from: begins === null ? until - LISTED_DAYS * DAY_S : begins, to: until };
}

export const callsList = defineCommand({
  name: 'calls list',
  summary: 'List calls of our detectors, and what became of each.',
  example: 'exhibit calls list --from 2026-11-01',
  options: { from: FROM, to: TO },
  json: 'prints a call a line',
  notes: [
    `Without a time the last ${LISTED_DAYS} days, and no more than the first ${LISTED_MAX} calls.`,
    'On stderr it tells in how many hours each detector ran; others lack calls.',
    'Exit status 3: the record was not read.',
  ],
  run: async ({ from, to }, io, { calls }: CallsServices) => {
    const span = spanOf(from, to, calls.now());
    const [emitted, ran] = [await calls.emitted(span, BEFORE_ALL, LISTED_MAX), await calls.ran()];
    const status = printRows(emitted, io, {
      none: 'No call of this time is on record.',
      columns: [
        ['call', ({ call_id }) => call_id],
        ['emitted', ({ emitted_at }) => formatTime(emitted_at)],
        'detector_version',
        'asset',
        'direction',
        ['conviction', ({ conviction }) => conviction, 'right'],
        ['horizon', ({ horizon_h }) => `${horizon_h} h`, 'right'],
        ['came', outcomeText],
      ],
    });
    if (!(ran instanceof Read)) return fail(io, ran.why.reason, EXIT.couldNotCheck);
    const hours = DETECTOR_KINDS.map((kind) => `${kind} ${hoursWithin(ran.value[kind], span)}`);
    const of = hoursWithin([span], span);
    io.err(`Hours in which detectors ran, of ${of}: ${hours.join(', ')}.`);
    return status;
  },
});

/** Whole hours of a time that some spans hold together. */
function hoursWithin(spans: readonly RanSpan[], { from, to }: RanSpan): number {
  const held = spans.map((one) => Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)));
  return Math.floor(held.reduce((sum, one) => sum + one, 0) / HOUR_S);
}

export const callsVersions = defineCommand({
  name: 'calls versions',
  summary: 'Show every version of the detectors, each with its leaf in the log.',
  example: 'exhibit calls versions',
  json: 'prints a version a line',
  notes: ['A version never changes: other parameters are another version, and a leaf before use.'],
  run: async (_values, io, { calls }: CallsServices) =>
    printRows(await calls.versions(), io, {
      none: 'No version is in force yet: the first round of the producer publishes them.',
      columns: [
        'version',
        ['bar', ({ bar }) => bar, 'right'],
        ['cooldown', ({ cooldown_h }) => `${cooldown_h} h`, 'right'],
        ['horizon', ({ horizon_h }) => `${horizon_h} h`, 'right'],
        ['leaf', ({ leaf }) => leaf, 'right'],
        ['in force from', ({ in_force_from: at }) => formatTime(at)],
        ['parameters', ({ parameters }) => pairsText(parameters)],
        ['rule', ({ text }) => text],
      ],
    }),
});

export const callsReplay = defineCommand({
  name: 'calls replay',
  summary: 'Run the detectors over the record, and compare with what was emitted.',
  example: 'exhibit calls replay --from 2026-11-01 --to 2026-11-08',
  options: { from: FROM, to: TO },
  json: 'prints {ticks, emitted, replayed, differences}',
  notes: [
    `Without a time the last ${LISTED_DAYS} days. Nothing is kept and nothing is emitted.`,
    'Exit status 1: the record gives other calls. 3: a store could not be read, or',
    'no detector ran in the time.',
  ],
  run: async ({ from, to }, io, { calls }: CallsServices) => {
    const replay = await calls.replay(spanOf(from, to, calls.now()), io.signal);
    if ('reason' in replay) return fail(io, replay.reason, EXIT.couldNotCheck);
    const { ticks, emitted, replayed, differences } = replay;
    const status = differences.length === 0 ? EXIT.done : EXIT.failed;
    const isCompared = ticks > 0 || differences.length > 0;
    if (io.json) printJson(io, replay);
    if (!isCompared) {
      const reason = 'No detector ran in this time: nothing was compared.';
      return fail(io, reason, EXIT.couldNotCheck);
    }
    if (io.json) return status;
    const facts: Fact[] = [
      ['hours that were run, by version', ticks],
      ['calls that were emitted', emitted],
      ['calls of the record', replayed],
      ['differences', differences.length],
    ];
    print(io, factLines(facts, io));
    if (differences.length > 0) printDifferences(differences, io);
    return status;
  },
});

const FOUND: { readonly [found in Difference['found']]: string } = {
  only_emitted: 'emitted, and not of the record',
  only_replayed: 'of the record, and not emitted',
  whole: 'one side read everything, the other did not',
};

function printDifferences(differences: readonly Difference[], io: Io): void {
  rowsPrinter<Difference>(io, {
    columns: [
      ['found', ({ found }) => FOUND[found]],
      ['tick', ({ at }) => formatTime(at)],
      'detector_version',
      'asset',
      'direction',
      ['call', ({ call_id }) => call_id],
    ],
  })(differences);
}

export const callsShow = defineCommand({
  name: 'calls show',
  summary: 'Show a call with every observation that it rests on.',
  example: 'exhibit calls show call_00000000000000000000000000000000',
  arguments: { id: mandatory('ID', 'call_ and 32 hex digits', anyText) },
  json: 'prints the call with its inputs and its outcome',
  run: async ({ id }, io, { calls }: CallsServices) => {
    const found = await calls.find(id);
    if (!(found instanceof Read)) return fail(io, found.why.reason, EXIT.couldNotCheck);
    const call = found.value;
    if (call === null) return fail(io, 'No call has this id.');
    if (io.json) {
      printJson(io, call);
      return EXIT.done;
    }
    print(io, [...factLines(factsOf(call), io), '', 'Observations:']);
    rowsPrinter<CallInput>(io, {
      columns: [
        'venue',
        'series',
        'of',
        ['at', ({ at_ms }) => msText(at_ms)],
        ['received', ({ received_at_ms }) => msText(received_at_ms)],
        ['revision', ({ revision }) => revision, 'right'],
        ['value', ({ value }) => value, 'right'],
      ],
    })(call.inputs);
    return EXIT.done;
  },
});

function factsOf(call: EmittedCall): Fact[] {
  const { outcome } = call;
  return [
    ['call', call.call_id],
    ['detector', call.detector_version],
    ['asset', call.simulated ? `${call.asset} (simulated)` : call.asset],
    ['direction', call.direction],
    ['conviction', `${call.conviction} (emitted from ${call.bar} on)`],
    [`price at ${call.venue}`, call.price],
    ['emitted', formatTime(call.emitted_at)],
    ['horizon', `${call.horizon_h} h`],
    ['cooldown window', call.window],
    ['features', pairsText(call.features)],
    ['leaf of the log', call.leaf],
    ['hash', call.hash],
    ['came', outcomeText(call)],
    ...(outcome.state === 'closed' ? closingFacts(outcome, '') : []),
    ...(outcome.state === 'closed' && outcome.restated !== null
      ? closingFacts(outcome.restated, 'restated ')
      : []),
  ];
}

function closingFacts(closing: CallClosing, before: string): Fact[] {
  return [
    [`${before}entry`, `${closing.entry} at ${msText(closing.entry_at_ms)}`],
    [`${before}exit`, `${closing.exit} at ${msText(closing.exit_at_ms)}`],
    [`${before}return before funding and cost`, closing.gross_return],
    [`${before}funding paid while held`, closing.funding_paid],
  ];
}

function outcomeText({ outcome }: Pick<EmittedCall, 'outcome'>): string {
  if (outcome.state === 'open') return 'open: its horizon is not over, or not priced yet';
  if (outcome.state === 'unpriced') return `unpriced: ${outcome.cause.replaceAll('_', ' ')}`;
  const settled = outcome.delisted ? 'closed at the last price before it was taken off' : 'closed';
  return outcome.restated === null ? settled : `${settled}, revised by the venue since`;
}

function pairsText(fields: Readonly<Record<string, string | null>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${value === null ? 'unmeasured' : value}`)
    .join(', ');
}

function msText(at: number): string {
  return formatIsoTime(at / MS_PER_S);
}
