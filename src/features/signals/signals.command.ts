// Publishes, withdraws and shows signals, in the process that owns the stores.

import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  type Io,
  mandatory,
  optional,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import { type Fact, factLines, print, printJson, wrapSentence } from '../../command/output.ts';
import type { SignalAnswer } from './shapes.ts';

/** A signal as its route answers it; `null`: there is none. */
type Found = { readonly answer: SignalAnswer } | { readonly reason: string } | null;

/** The result of a look at a target. `unread`: its standing verdict rests on what was not read. */
export type Emitted =
  | { readonly state: 'published' | 'unchanged'; readonly signal_id: string }
  | { readonly state: 'waits'; readonly sources: readonly string[] }
  | { readonly state: 'overtaken' }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'unread'; readonly reason: string };

/** What the commands work on. */
export type SignalsServices = {
  readonly signals: {
    readonly emit: (chain: string, address: string, signal: AbortSignal) => Promise<Emitted>;
    /** Withdraws; a reason: it was not. */
    readonly withdraw: (
      id: string,
      why: string,
    ) => Promise<
      | { readonly done: true }
      | { readonly done: false; readonly reason: string; readonly isUnread: boolean }
    >;
    readonly find: (id: string) => Promise<Found>;
  };
};

const ID = mandatory('ID', 'as the feed gives it: sig_ and 32 hex digits', anyText);

export const signalsEmit = defineCommand({
  name: 'signals emit',
  summary: 'Look at an address or a token, and publish what is new.',
  example:
    'exhibit signals emit --chain ethereum --address 0x8589427373d6d84e98730d7795d8f6f8731fda16',
  usage: '--chain CHAIN --address ADDRESS',
  options: {
    chain: optional('CHAIN', 'the chain of the target, such as ethereum, base or solana', anyText),
    address: optional('ADDRESS', 'an address, or the contract or mint of a token', anyText),
  },
  json: 'prints {outcome, …} with the signal as its route answers it',
  notes: [
    'What is published is public at once, stays readable for good, and is a leaf of the log.',
    'Exit status 3: what the standing verdict rests on, or a store, could not be read.',
  ],
  run: async ({ chain, address }, io, { signals }: SignalsServices) => {
    const [on, about] = [requireOption(chain, '--chain'), requireOption(address, '--address')];
    const emitted = await signals.emit(on, about, io.signal);
    switch (emitted.state) {
      case 'published':
      case 'unchanged':
        return printFound(await signals.find(emitted.signal_id), io, emitted.state);
      case 'waits':
        return fail(io, `${WAITS} ${emitted.sources.join(', ')}.`, EXIT.couldNotCheck);
      case 'overtaken':
        return fail(io, 'Another process published about it meanwhile. Run this again.');
      case 'refused':
        throw new UsageError(emitted.reason);
      case 'unread':
        return fail(io, emitted.reason, EXIT.couldNotCheck);
    }
  },
});

const WAITS = 'Its signal stands, because what that cites was not read now:';

export const signalsWithdraw = defineCommand({
  name: 'signals withdraw',
  summary: 'Withdraw a signal whose ground is gone. It stays readable, and says so.',
  example:
    "exhibit signals withdraw sig_00000000000000000000000000000000 --why 'A reader’s fault.'",
  usage: 'ID --why TEXT',
  arguments: { id: ID },
  options: { why: optional('TEXT', 'the reason, which is published and hashed', anyText) },
  json: 'prints the signal as its route answers it',
  run: async ({ id, why }, io, { signals }: SignalsServices) => {
    const reason = requireOption(why, '--why').trim();
    if (reason === '' || reason.length > REASON_CHARS_MAX) {
      throw new UsageError(`--why takes 1 to ${REASON_CHARS_MAX} characters.`);
    }
    const withdrawn = await signals.withdraw(id, reason);
    if (withdrawn.done) return printFound(await signals.find(id), io, null);
    return fail(io, withdrawn.reason, withdrawn.isUnread ? EXIT.couldNotCheck : EXIT.failed);
  },
});

const REASON_CHARS_MAX = 500;

export const signalsShow = defineCommand({
  name: 'signals show',
  summary: 'Show a signal, its status, and what its bundle holds and lacks.',
  example: 'exhibit signals show sig_00000000000000000000000000000000',
  arguments: { id: ID },
  json: 'prints the signal as its route answers it',
  notes: [
    'GET /api/signals/verify/{id} checks it, and exhibit verify does so without this service.',
  ],
  run: async ({ id }, io, { signals }: SignalsServices) =>
    printFound(await signals.find(id), io, null),
});

function printFound(found: Found, io: Io, outcome: string | null): ExitStatus {
  if (found === null) return fail(io, 'No signal has this id.');
  if ('reason' in found) return fail(io, found.reason, EXIT.couldNotCheck);
  const { answer } = found;
  if (io.json) {
    printJson(io, outcome === null ? answer : { outcome, ...answer });
    return EXIT.done;
  }
  print(io, factLines(factsOf(answer, outcome), io));
  const { gaps, not_advice } = answer.read_this_first;
  print(io, ['', ...wrapSentence(gaps, io), ...wrapSentence(not_advice, io)]);
  return EXIT.done;
}

function factsOf(answer: SignalAnswer, outcome: string | null): Fact[] {
  const { signal, status, evidence_summary: summary, confidence_basis } = answer;
  const { basis, n } = confidence_basis;
  return [
    ...(outcome === null ? [] : [['outcome', outcome] as const]),
    ['signal', signal.signal_id],
    ['target', `${signal.target.address} on ${signal.target.chain}`],
    ['verdict', signal.verdict],
    ['confidence', `${signal.confidence} (${n === null ? basis : `${basis} on ${n} outcomes`})`],
    ['reasoning', signal.reasoning],
    ['cites', signal.evidence_used.join(', ')],
    ['status', status.reason === null ? status.state : `${status.state}: ${status.reason}`],
    ['generated', signal.generated_at],
    ['by', signal.model],
    ['evidence hash', signal.evidence_hash],
    ['call hash', signal.call_hash],
    ['anchor', `${signal.anchor_status}, on chain ${signal.anchor_chain_id}`],
    ['sources', `${summary.present} of ${summary.source_count} read`],
    ...summary.gaps.map(({ source, reason }) => ['not read', `${source}: ${reason}`] as const),
  ];
}
