// A signal of what was judged, its end, and how both are told. Pure: no port is asked here.

import { type HexBytes, hashBundle, hashCall, signalIdOf } from '../../chain/call-hash.ts';
import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { writeCanonical } from '../../contract/canonical.ts';
import type { DispatchMessage, FlagDispatch } from '../../ports/integrations.ts';
import {
  type KeptSignal,
  type NewSignal,
  SIGNAL_VERSION,
  type SignalEnd,
} from '../../ports/signals.ts';
import type { Bundle, Judgement } from '../collectors/shapes.ts';

const MILLION = 1_000_000;

/** The page of a signal. */
export function signalPath(id: string): string {
  return `/signals/${id}`;
}

type Call = Parameters<typeof hashCall>[0];

/** What a signal states, as it is hashed. */
export function callOf(signal: Omit<KeptSignal, 'signal_id' | 'call_hash' | 'leaf' | 'end'>): Call {
  return {
    version: signal.version,
    chain: signal.chain,
    target: signal.address,
    verdict: signal.verdict,
    confidence_millionths: signal.confidence_millionths,
    reasoning: signal.reasoning,
    evidence_used: signal.evidence_used,
    evidence_hash: signal.evidence_hash,
    prompt_version: signal.prompt_version,
    model: signal.model,
    run_id: signal.run_id,
    generated_at_unix: signal.generated_at_unix,
  };
}

/** The confidence as it is shown. */
export function confidenceShare({ confidence_millionths }: KeptSignal): number {
  return confidence_millionths / MILLION;
}

/** The digest of what a bundle lets cite: its keys and values, without dates. */
export function contentHashOf({ evidence }: Bundle): HexBytes {
  const content = Object.entries(evidence)
    .filter(([, { value }]) => value !== null)
    .map(([key, { value }]) => [key, value] as const);
  return hashBundle(writeCanonical(Object.fromEntries(content)));
}

type Made = {
  readonly bundle: Bundle;
  readonly judgement: Judgement;
  readonly rules_version: string;
  readonly run_id: string;
  readonly now: UnixSeconds;
  readonly simulated: boolean;
  readonly cached: boolean;
};

/** The signal of a judgement, with the bytes of its bundle. */
export function makeSignal(made: Made): NewSignal {
  const { bundle, judgement, rules_version, run_id, now, simulated, cached } = made;
  const { target, sources } = bundle;
  const bytes = writeCanonical(bundle);
  const stated = {
    version: SIGNAL_VERSION,
    chain: target.chain,
    address: target.address,
    verdict: judgement.verdict,
    confidence_millionths: judgement.confidence_millionths,
    reasoning: judgement.reasoning,
    evidence_used: judgement.evidence_used,
    evidence_hash: hashBundle(bytes),
    prompt_version: judgement.prompt_version,
    model: judgement.model,
    run_id,
    generated_at_unix: Math.floor(now),
    confidence_basis: judgement.confidence_basis,
    confidence_n: judgement.confidence_n,
    cost_usd: judgement.cost_usd,
    cached,
    source_count: sources.length,
    simulated,
  };
  const call_hash = hashCall(callOf(stated));
  return {
    ...stated,
    signal_id: signalIdOf(call_hash),
    call_hash,
    bundle: bytes,
    content_hash: contentHashOf(bundle),
    rules_version,
  };
}

type Ending = Pick<SignalEnd, 'reason' | 'by'> & {
  readonly state: 'superseded' | 'withdrawn';
  readonly now: UnixSeconds;
};

/** The end of a signal with the hash that its leaf holds. */
export function makeEnd(signal_id: string, { state, reason, by, now }: Ending) {
  const end: SignalEnd = { signal_id, state, at: formatIsoTime(Math.floor(now)), reason, by };
  return { end, hash: hashEnd(end) };
}

/** The Keccak of the canonical form of an end. */
export function hashEnd({ signal_id, state, at, reason, by }: SignalEnd): HexBytes {
  return hashBundle(writeCanonical({ signal_id, state, at, reason, by }));
}

const SIGNAL_CAVEAT =
  'A signal states what its evidence supports and shows each key that it cites; what was not ' +
  'read stands among its gaps. It is evidence about an address and no judgement of anybody.';
const WITHDRAWN_CAVEAT =
  'The ground of the signal is gone. That it was withdrawn says nothing else about the address.';

const REASONING_CHARS_MAX = 600;

/** Chats are told of verdicts other than no opinion, and of one that takes such a verdict back. */
export function signalDispatches(
  signal: NewSignal,
  before: KeptSignal | null,
): readonly FlagDispatch[] {
  const wasAvoid = before !== null && before.end === null && before.verdict === 'avoid';
  if (signal.verdict !== 'avoid' && !wasAvoid) return [];
  const { signal_id, chain, address, verdict, simulated } = signal;
  const cited = signal.evidence_used.length === 0 ? '–' : signal.evidence_used.join(', ');
  const message: DispatchMessage = {
    title: `Signal on ${chain}: ${verdict}`,
    facts: [
      `Chain: ${chain}`,
      `Address: ${address}`,
      `Verdict: ${verdict}`,
      `Reasoning: ${cut(signal.reasoning)}`,
      `Evidence cited: ${cut(cited)}`,
      ...(wasAvoid ? [`Before: ${before.verdict} (${before.signal_id})`] : []),
      `Signal: ${signal_id}`,
    ],
    caveat: SIGNAL_CAVEAT,
    path: signalPath(signal_id),
    at: signal.generated_at_unix,
    simulated,
  };
  return [{ key: `signal:${signal_id}`, chain, address, message }];
}

/** Chats are told that a signal other than no opinion was withdrawn. */
export function withdrawalDispatches(
  { signal_id, chain, address, verdict, simulated }: KeptSignal,
  { reason }: SignalEnd,
  now: UnixSeconds,
): readonly FlagDispatch[] {
  if (verdict !== 'avoid') return [];
  const message: DispatchMessage = {
    title: `A signal on ${chain} was withdrawn`,
    facts: [
      `Chain: ${chain}`,
      `Address: ${address}`,
      `Verdict that was withdrawn: ${verdict}`,
      `Why: ${cut(reason)}`,
      `Signal: ${signal_id}`,
    ],
    caveat: WITHDRAWN_CAVEAT,
    path: signalPath(signal_id),
    at: Math.floor(now),
    simulated,
  };
  return [{ key: `signal-withdrawn:${signal_id}`, chain, address, message }];
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= REASONING_CHARS_MAX ? line : `${line.slice(0, REASONING_CHARS_MAX)}…`;
}
