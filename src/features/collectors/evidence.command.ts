// Shows the bundle of evidence about a target and what the rules say of it. It keeps nothing: a
// signal is emitted by another command.

import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  type Io,
  optional,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import { factLines, print, printJson, tableLines } from '../../command/output.ts';
import { Read, type Reading } from '../../evidence/reading.ts';
import type { VerdictRulesPort } from '../../ports/verdicts.ts';
import type { Bundle, BundleTarget, EvidenceValue, Judgement } from './shapes.ts';

/** What others do with evidence: collect it about a target, and judge it. */
export type EvidenceServices = {
  readonly evidence: {
    /** The target that a chain and a text name, or why they name none. */
    readonly parse: (
      chain: string,
      address: string,
    ) => { readonly target: BundleTarget } | { readonly refused: string };
    /** Collects until the signal ends its time. `now` is Unix seconds. */
    readonly collect: (target: BundleTarget, now: number, signal: AbortSignal) => Promise<Bundle>;
    /** Judges by the rules in force. Unread where their table cannot be read. */
    readonly judge: (
      bundle: Bundle,
      signal: AbortSignal,
    ) => Promise<Reading<Judgement, VerdictRulesPort>>;
    /** The version of the rules in force. */
    readonly rulesVersion: () => Promise<Reading<string, VerdictRulesPort>>;
    /** Unix seconds. */
    readonly now: () => number;
    /** How long collecting may take for whoever waits for it. */
    readonly timeMs: number;
  };
};

export const evidenceShow = defineCommand({
  name: 'evidence show',
  summary: 'Show the evidence about an address or a token, and its verdict.',
  example:
    'exhibit evidence show --chain ethereum --address 0x28c6c06298d514db089934071355e5743bf21d60',
  usage: '--chain CHAIN --address ADDRESS',
  options: {
    chain: optional('CHAIN', 'the chain of the target, such as ethereum, base or solana', anyText),
    address: optional('ADDRESS', 'an address, or the contract or mint of a token', anyText),
  },
  json: 'prints one document: the bundle and the judgement',
  notes: [
    'Nothing is kept and nothing is published: exhibit signals emit does that.',
    'Exit status 3: no source gave evidence, or the rules could not be read.',
  ],
  run: async ({ chain, address }, io, { evidence }: EvidenceServices) => {
    const { parse, collect, judge, now, timeMs } = evidence;
    const parsed = parse(requireOption(chain, '--chain'), requireOption(address, '--address'));
    if ('refused' in parsed) throw new UsageError(parsed.refused);
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(timeMs)]);
    const bundle = await collect(parsed.target, now(), signal);
    const judged = await judge(bundle, io.signal);
    if (!(judged instanceof Read)) return fail(io, judged.why.reason, EXIT.couldNotCheck);
    show(io, bundle, judged.value);
    const isBare = bundle.sources.every(({ status }) => status !== 'present');
    return isBare ? EXIT.couldNotCheck : EXIT.done;
  },
});

function show(io: Io, bundle: Bundle, judgement: Judgement): void {
  if (io.json) {
    printJson(io, { bundle, judgement });
    return;
  }
  const { verdict, confidence_millionths, confidence_basis, model, reasoning } = judgement;
  print(
    io,
    factLines(
      [
        ['verdict', verdict],
        ['confidence', `${confidence_millionths} millionths, ${confidence_basis}`],
        ['by', model],
        ['reasoning', reasoning],
      ],
      io,
    ),
  );
  const sources = bundle.sources.map(({ source, status, code, reason }) => {
    return [source, status, code, reason];
  });
  const columns = ['source', 'status', 'code', 'reason'].map((title) => ({ title }));
  print(io, ['', ...tableLines(columns, sources, io)]);
  const items = Object.entries(bundle.evidence).map(([key, { value }]) => [key, valueWords(value)]);
  const keyed = ['key', 'value'].map((title) => ({ title }));
  print(io, ['', ...tableLines(keyed, items, io)]);
}

/** Text of others stands in quotes; whatever is not printable is escaped by the table. */
function valueWords(value: EvidenceValue): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? JSON.stringify(value.untrusted) : String(value);
}
