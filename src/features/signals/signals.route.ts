// The feed of signals, one signal, its bundle and its verification. What is kept by caches carries
// no clock of the request, so that its ETag holds while nothing changed.

import { z } from 'zod';
import { matchKey, parseKnownAddress } from '../../chain/address.ts';
import { formatIsoTime, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type { DATA_MODES } from '../../contract/answer.ts';
import { badAddress, badField } from '../../contract/refusals.ts';
import { bytes } from '../../contract/reply.ts';
import { type AnyPlainRoute, type PlainHandler, plainRoute } from '../../contract/route.ts';
import { addressText, idText } from '../../contract/wire.ts';
import { claim, claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { map, Read, type Reading } from '../../evidence/reading.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { Anchors, AnchorsPort, LeafAnchor } from '../../ports/anchoring.ts';
import type { FeedPage, FeedPlace, KeptSignal, Signals, SignalsPort } from '../../ports/signals.ts';
import type { Bundle } from '../collectors/shapes.ts';
import {
  feedAnswer,
  feedUnreadable,
  type PRODUCER_STATES,
  type ReadThisFirst,
  type SignalAnswer,
  signalAnswer,
  signalNotFound,
  verificationAnswer,
} from './shapes.ts';
import { confidenceShare } from './signal.ts';
import { checkAnchor, checkLog, checkOwn, readBundle, type SignalLog } from './verification.ts';

const KEPT_S = 300;
const FEED_DEFAULT = 50;
const FEED_MAX = 100;
/** The longest cursor that is read. @internal */
export const CURSOR_CHARS_MAX = 64;
const BUNDLE_TYPE = 'application/json';

const ROUTE = { surface: 'signals', method: 'GET', access: 'open' } as const;
const params = z.strictObject({ id: idText });
const NOT_FOUND = signalNotFound.describe('There is no signal of this id.');
const UNREADABLE = feedUnreadable.describe('The signals could not be read. Nothing is said.');

export const signalsFeed = plainRoute({
  ...ROUTE,
  name: 'signals_feed',
  path: '/api/signals',
  summary: 'The current signals, newest first. Poll no faster than every 300 seconds.',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(FEED_MAX).optional(),
    cursor: z.string().max(CURSOR_CHARS_MAX).optional(),
    target: addressText.optional(),
  }),
  keptS: KEPT_S,
  responses: {
    200: feedAnswer.describe(
      'Diff on signal_id, check data_mode every time, and take generated_at for freshness.',
    ),
    503: UNREADABLE,
  },
});

export const signalRoute = plainRoute({
  ...ROUTE,
  name: 'signal',
  path: '/api/signals/{id}',
  summary: 'One signal, current or not, with what its bundle holds and what it lacks.',
  params,
  keptS: KEPT_S,
  responses: { 200: signalAnswer, 404: NOT_FOUND, 503: UNREADABLE },
});

export const signalEvidence = plainRoute({
  ...ROUTE,
  name: 'signal_evidence',
  path: '/api/signals/{id}/evidence',
  summary: 'The whole bundle of a signal, byte for byte as it was hashed.',
  params,
  keptS: KEPT_S,
  responses: {
    200: bytes(BUNDLE_TYPE).describe('Keccak-256 of these bytes is `evidence_hash`.'),
    404: NOT_FOUND,
    503: UNREADABLE,
  },
});

export const signalVerification = plainRoute({
  ...ROUTE,
  name: 'signal_verification',
  path: '/api/signals/verify/{id}',
  summary: 'Whether a signal is what was published: bundle, citations, hash, log and chain.',
  params,
  responses: {
    200: verificationAnswer.describe('Made anew for each question, and kept by nobody.'),
    404: NOT_FOUND,
    503: UNREADABLE,
  },
});

/** The ports of signals. */
export type SignalsPorts = {
  readonly signals: Signals;
  readonly anchors: Anchors;
  readonly transparencyLog: SignalLog;
  readonly service: { readonly simulated: boolean };
};

const GAPS =
  'A source that gave no evidence stands in evidence_summary.gaps with its reason: unavailable ' +
  'is not installed here, dormant holds no data yet, error was asked and failed. A gap says ' +
  'nothing about the address.';
const NOT_ADVICE =
  'A signal shows what its evidence supports. It is no investment, legal or tax advice, and no ' +
  'recommendation to transact.';
const ANCHORED_BY =
  'Every signal is a leaf of a log, whose root is what is anchored. anchor_status tells how far ' +
  'the root over its leaf is on the chain of anchor_chain_id. A verification alone asks the ' +
  'chain. An anchor is worth what that chain is: a test network can be begun anew.';
const ANCHOR_UNREAD =
  'Every signal is a leaf of a log and queued for the chain of anchor_chain_id. How far its root ' +
  'is there was not read:';

/** What a reader of signals has to know first. @internal */
export function noticesOf(
  anchors: Reading<unknown, AnchorsPort>,
  simulated: boolean,
): ReadThisFirst {
  const anchoring =
    anchors instanceof Read ? ANCHORED_BY : `${ANCHOR_UNREAD} ${anchors.why.reason}`;
  return {
    gaps: simulated ? `${SIMULATED_CAVEAT}${GAPS}` : GAPS,
    anchoring,
    not_advice: NOT_ADVICE,
  };
}

const QUEUED: LeafAnchor = { anchor_status: 'queued', anchor_tx: null, anchor_size: null };

/** Signals made of simulated evidence are never anchored, whatever was sent. */
function anchorOf(signal: KeptSignal, at: number, anchors: Reading<readonly LeafAnchor[], never>) {
  const known = anchors instanceof Read && !signal.simulated ? anchors.value[at] : undefined;
  return known === undefined ? QUEUED : known;
}

/** A signal as the interface shows it. @internal */
export function showSignal(signal: KeptSignal, anchor: LeafAnchor, anchor_chain_id: number) {
  const { anchor_status, anchor_tx } = anchor;
  return {
    version: signal.version,
    signal_id: signal.signal_id,
    target: { chain: signal.chain, address: signal.address },
    verdict: signal.verdict,
    confidence: confidenceShare(signal),
    reasoning: signal.reasoning,
    evidence_used: signal.evidence_used,
    evidence_hash: signal.evidence_hash,
    prompt_version: signal.prompt_version,
    model: signal.model,
    generated_at: formatIsoTime(signal.generated_at_unix),
    generated_at_unix: signal.generated_at_unix,
    call_hash: signal.call_hash,
    anchor_tx,
    anchor_status,
    anchor_chain_id,
    cost_usd: signal.cost_usd,
    cached: signal.cached,
    run_id: signal.run_id,
    evidence_source_count: signal.source_count,
  };
}

/** The status of a signal. @internal */
export function showStatus({ end, generated_at_unix }: KeptSignal) {
  if (end !== null) return { state: end.state, at: end.at, reason: end.reason, by: end.by };
  const state = 'current' as const;
  return { state, at: formatIsoTime(generated_at_unix), reason: null, by: null };
}

function summaryOf({ sources, evidence }: Bundle) {
  const gaps = sources.flatMap(({ source, status, code, reason }) =>
    status === 'present'
      ? []
      : [{ source, status, reason: reason === null ? `${status}: ${code}` : reason }],
  );
  return {
    source_count: sources.length,
    present: sources.length - gaps.length,
    gaps,
    citable_key_count: Object.values(evidence).filter(({ value }) => value !== null).length,
  };
}

const CURSOR = /^(\d{1,15})\.(sig_[0-9a-f]{32})$/;

/** The place that a cursor names; `null`: it names none. @internal */
export function placeIn(cursor: string): FeedPlace | null {
  const match = CURSOR.exec(cursor);
  const [seconds, signal_id] = match === null ? [] : match.slice(1);
  if (seconds === undefined || signal_id === undefined) return null;
  return { generated_at_unix: Number(seconds), signal_id };
}

/** What the rest of a feed is asked for with; `null`: there is none. @internal */
export function nextCursor({
  more,
  signals,
}: {
  readonly more: boolean;
  readonly signals: readonly FeedPlace[];
}): string | null {
  const last = signals.at(-1);
  return more && last !== undefined ? `${last.generated_at_unix}.${last.signal_id}` : null;
}

/** A producer without a round for so long is stalled; a feed without anything published, empty. */
export const STALLED_S = 1_800;
export const EMPTY_S = HOUR_S;

/** Of the producer, whatever is asked for. @internal */
export function dataModeOf(
  { any_current, last_emit_at, last_round_at, asked_at }: Omit<FeedPage, 'signals' | 'more'>,
  simulated: boolean,
): (typeof DATA_MODES)[number] {
  const isRecent = [last_round_at, last_emit_at].some(
    (at) => at !== null && asked_at - at <= EMPTY_S,
  );
  if (!any_current || !isRecent) return 'empty';
  return simulated ? 'simulated' : 'measured';
}

function producerStateOf({
  last_round_at,
  asked_at,
}: Pick<FeedPage, 'last_round_at' | 'asked_at'>): (typeof PRODUCER_STATES)[number] {
  if (last_round_at === null) return 'never_ran';
  return asked_at - last_round_at > STALLED_S ? 'stalled' : 'running';
}

/**
 * An answer is public and kept by caches for minutes: equal questions share one. After the first
 * time the next one is made while the one before still answers, so that nobody waits for it.
 */
const SHARED_S = 1;
const SHARED_LATE_S = 5;
const SHARED_MAX = 500;

function shareReplies<R extends AnyPlainRoute>(handle: PlainHandler<R>): PlainHandler<R> {
  type Shared = {
    readonly at: UnixSeconds;
    readonly reply: ReturnType<PlainHandler<R>>;
    isRenewed: boolean;
  };
  const shared = new Map<string, Shared>();
  return (input, request, caller) => {
    const { params: named, query } = Object(input);
    const key = JSON.stringify([named, query]);
    const at = request.now();
    const known = shared.get(key);
    const age = known === undefined ? Number.POSITIVE_INFINITY : at - known.at;
    if (known !== undefined && (age < SHARED_S || (known.isRenewed && age < SHARED_LATE_S))) {
      return known.reply;
    }
    const reply = handle(input, request, caller);
    const keep = (): void => {
      if (shared.size >= SHARED_MAX) shared.clear();
      shared.set(key, { at, reply, isRenewed: false });
    };
    if (known === undefined || age >= SHARED_LATE_S) {
      keep();
      return reply;
    }
    known.isRenewed = true;
    // What fails is no answer of others: whoever asks next asks anew.
    reply.then(keep, () => shared.delete(key));
    return known.reply;
  };
}

/** @internal The handler of the feed. */
export function signalsFeedHandler({
  signals,
  anchors,
  service: { simulated },
}: SignalsPorts): PlainHandler<typeof signalsFeed> {
  return shareReplies<typeof signalsFeed>(async ({ query: { limit, cursor, target } }) => {
    const after = cursor === undefined ? null : placeIn(cursor);
    if (cursor !== undefined && after === null) {
      return badField('cursor', 'expected the next_cursor of an answer');
    }
    const subject = target === undefined ? null : parseKnownAddress(target);
    // An address that lost its letter case has no signal, and nothing may be read into that.
    if (target !== undefined && subject === null) return badAddress(target, 'target');
    const feed = await signals.feed({
      matchKey: subject === null ? null : matchKey(subject.address),
      after,
      limit: limit === undefined ? FEED_DEFAULT : limit,
    });
    if (!(feed instanceof Read)) return signalsFeed.reply(503, unreadable(feed.why.reason));
    const sent = await anchors.anchorsOf(feed.value.signals.map(({ leaf }) => leaf));
    const shown = map(feed, (page) =>
      page.signals.map((one, at) =>
        showSignal(one, anchorOf(one, at, sent), anchors.anchor_chain_id),
      ),
    );
    const { last_round_at } = feed.value;
    const ended = last_round_at === null ? null : formatIsoTime(last_round_at);
    return signalsFeed.reply(200, {
      signals: claim(shown, (all) => all),
      count: claim(shown, (all) => all.length),
      data_mode: claim(feed, (page) => dataModeOf(page, simulated)),
      generated_at: ended,
      next_cursor: nextCursor(feed.value),
      producer: {
        state: claim(feed, producerStateOf),
        last_round_at: ended,
      },
      read_this_first: noticesOf(sent, simulated),
    });
  });
}

const UNKNOWN = 'No signal has this id. An id is `sig_` and 32 hex digits, as the feed gives it.';

function notFound(signal_id: string) {
  return { error: 'not_found', signal_id, detail: UNKNOWN } as const;
}

function unreadable(detail: string) {
  return { error: 'feed_unreadable', detail } as const;
}

const BUNDLE_GONE = 'The bundle of this signal is not where it was stored.';
const BUNDLE_MALFORMED =
  'The stored bundle is malformed. Its verification says how, and /evidence answers its bytes.';

/** A signal with the bytes of its bundle; a reason: one of them was not read. */
async function findSignal(
  signals: Signals,
  id: string,
): Promise<FoundSignal | { readonly reason: string } | null> {
  const found = await signals.find(id);
  if (!(found instanceof Read)) return { reason: found.why.reason };
  const signal = found.value;
  if (signal === null) return null;
  const stored = await signals.bundleOf(id);
  if (!(stored instanceof Read)) return { reason: stored.why.reason };
  const bundle = stored.value;
  if (bundle === null) return { reason: BUNDLE_GONE };
  return { found, signal, bundle };
}

/** @internal The handler of one signal. */
export function signalHandler(ports: SignalsPorts): PlainHandler<typeof signalRoute> {
  return shareReplies<typeof signalRoute>(async ({ params: { id } }) => {
    const answered = await answerSignal(ports, id);
    if (answered === null) return signalRoute.reply(404, notFound(id));
    if ('reason' in answered) return signalRoute.reply(503, unreadable(answered.reason));
    return signalRoute.reply(200, answered.answer);
  });
}

type Answered = { readonly answer: SignalAnswer; readonly bundle: Bundle };
type FoundSignal = {
  readonly found: Read<KeptSignal | null, SignalsPort>;
  readonly signal: KeptSignal;
  readonly bundle: Uint8Array;
};

/** The answer about one signal; `null`: there is none. @internal */
export async function answerSignal(
  {
    signals,
    anchors,
    service: { simulated },
  }: Pick<SignalsPorts, 'signals' | 'anchors' | 'service'>,
  id: string,
): Promise<Answered | { readonly reason: string } | null> {
  const held = await findSignal(signals, id);
  if (held === null || 'reason' in held) return held;
  const { signal } = held;
  const { bundle } = readBundle(held.bundle);
  if (bundle === null) return { reason: BUNDLE_MALFORMED };
  const sent = await anchors.anchorsOf([signal.leaf]);
  const answer = {
    signal: showSignal(signal, anchorOf(signal, 0, sent), anchors.anchor_chain_id),
    confidence_basis: { basis: signal.confidence_basis, n: signal.confidence_n },
    evidence_summary: summaryOf(bundle),
    status: showStatus(signal),
    read_this_first: noticesOf(sent, simulated),
  };
  return { answer, bundle };
}

/** @internal The handler of a bundle. */
export function signalEvidenceHandler({
  signals,
}: SignalsPorts): PlainHandler<typeof signalEvidence> {
  return async ({ params: { id } }) => {
    const held = await findSignal(signals, id);
    if (held === null) return signalEvidence.reply(404, notFound(id));
    if ('reason' in held) return signalEvidence.reply(503, unreadable(held.reason));
    return signalEvidence.reply(200, held.bundle);
  };
}

/** The limit of the interface's own document. */
const CANNOT_ESTABLISH =
  'It cannot establish that the evidence was true when it was collected: only that what was ' +
  'published is what is shown, where it was logged, and when that was anchored.';

/** @internal The handler of a verification. */
export function signalVerificationHandler({
  signals,
  anchors,
  transparencyLog: log,
  service: { simulated },
}: SignalsPorts): PlainHandler<typeof signalVerification> {
  return async ({ params: { id } }, { now, signal: until }) => {
    const held = await findSignal(signals, id);
    if (held === null) return signalVerification.reply(404, notFound(id));
    if ('reason' in held) return signalVerification.reply(503, unreadable(held.reason));
    const { found, signal } = held;
    const own = checkOwn(signal, readBundle(held.bundle));
    const logCheck = await checkLog(signal, log);
    const anchor = await checkAnchor(signal, { anchors, log }, until);
    const { logged, signed } = logCheck;
    const sent = await anchors.anchorsOf([signal.leaf]);
    return signalVerification.reply(200, {
      signal_id: signal.signal_id,
      reproducible: claim(found, () => own.reproducible),
      citations_valid: claim(found, () => own.citations_valid),
      anchored: anchor.anchored === null ? false : claim(anchor.anchored, (is) => is),
      call_hash_valid: claim(found, () => own.call_hash_valid),
      logged: claimOrNull(logged, (is) => is),
      log: logCheck.log,
      signature_valid: signed instanceof Read ? signed.value : null,
      anchor_checked: anchor.checked === null ? false : claimWhole(anchor.checked),
      status: showStatus(signal),
      reasons: [...own.reasons, ...logCheck.reasons, ...anchor.reasons],
      checked_at: formatIsoTime(Math.floor(now())),
      cannot_establish: CANNOT_ESTABLISH,
      read_this_first: noticesOf(sent, simulated),
    });
  };
}
