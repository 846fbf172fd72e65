// The shapes of signals on the wire. What `call_hash` binds, what follows from it, and what stands
// beside it is told in docs/guides/signals.md; a test walks these shapes and names each field.

import { z } from 'zod';
import { DATA_MODES } from '../../contract/answer.ts';
import {
  checkedFlag,
  claimedWords,
  isoTime,
  negative,
  oneOf,
  prose,
  rowFact,
  sharedShape,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { ANCHOR_STATUSES } from '../../ports/anchoring.ts';
import { SIGNAL_CONFIDENCE_BASES, SIGNAL_STATES, SIGNAL_VERDICTS } from '../../ports/signals.ts';
import { SOURCE_STATUSES } from '../collectors/shapes.ts';

const SIGNALS = { restsOn: ['signals'] } as const;
const LOG = { restsOn: ['transparency_log'] } as const;
const ANCHORS = { restsOn: ['anchors'] } as const;
const PROOF_HASHES_MAX = 63;
const FEED_MAX = 100;

const hex = words(z.string().regex(/^0x[0-9a-f]{64}$/));

export const signalView = sharedShape(
  'Signal',
  z.strictObject({
    version: words(),
    signal_id: words(),
    target: z.strictObject({ chain: words(), address: words() }),
    verdict: oneOf(SIGNAL_VERDICTS),
    confidence: rowFact(z.number().min(0).max(1)),
    reasoning: rowFact(z.string().min(1)),
    evidence_used: rowFact(z.array(words()).readonly(), SIGNALS).describe(
      'The keys of the bundle that it cites.',
    ),
    evidence_hash: hex.describe('Keccak-256 of the bytes that /evidence answers.'),
    prompt_version: words(),
    model: words(),
    generated_at: isoTime,
    generated_at_unix: unixSeconds,
    call_hash: hex.describe('hashStruct of EIP-712 over everything that the signal states.'),
    anchor_tx: words(z.string().nullable()),
    anchor_status: oneOf(ANCHOR_STATUSES),
    anchor_chain_id: z
      .int()
      .positive()
      .describe('The chain that the anchors are meant for, also while nothing was sent.'),
    cost_usd: rowFact(z.number().nonnegative()),
    cached: rowFact(z.boolean()),
    run_id: words(),
    evidence_source_count: rowFact(z.int().nonnegative()),
  }),
);
export type SignalView = z.output<typeof signalView>;

const evidenceSummary = z.strictObject({
  source_count: rowFact(z.int().nonnegative(), SIGNALS),
  present: rowFact(z.int().nonnegative(), SIGNALS),
  gaps: rowFact(
    z.array(
      z.strictObject({
        source: words(),
        status: oneOf(SOURCE_STATUSES),
        reason: rowFact(z.string().min(1)),
      }),
    ),
    SIGNALS,
  ).describe('The sources that gave no evidence, each with why.'),
  citable_key_count: rowFact(z.int().nonnegative(), SIGNALS),
});

export const statusShown = sharedShape(
  'StatusOfSignal',
  z.strictObject({
    state: oneOf(SIGNAL_STATES),
    at: isoTime,
    reason: rowFact(z.string().min(1).nullable()),
    by: words(z.string().nullable()),
  }),
);

export const readThisFirst = sharedShape(
  'ReadThisFirst',
  z.strictObject({
    gaps: prose().min(1),
    anchoring: prose().min(1),
    not_advice: prose().min(1),
  }),
);
export type ReadThisFirst = z.output<typeof readThisFirst>;

export const signalAnswer = z.strictObject({
  signal: signalView,
  confidence_basis: z
    .strictObject({
      basis: oneOf(SIGNAL_CONFIDENCE_BASES),
      n: z.int().positive().nullable(),
    })
    .describe('What the confidence rests on: measured on n outcomes, or assumed by who set it.'),
  evidence_summary: evidenceSummary,
  status: statusShown.describe(
    'Whether it stands. `by` names the newer signal, or who withdrew it.',
  ),
  read_this_first: readThisFirst,
});
export type SignalAnswer = z.output<typeof signalAnswer>;

export const PRODUCER_STATES = ['running', 'stalled', 'never_ran'] as const;

export const feedAnswer = z.strictObject({
  signals: negative(z.array(signalView).max(FEED_MAX), SIGNALS),
  count: negative(z.int().nonnegative(), SIGNALS).describe('The signals in this answer.'),
  data_mode: claimedWords(DATA_MODES, ['empty'], SIGNALS).describe(
    'Of the producer, whatever is asked for. `empty`: nothing was published within an hour, or ' +
      'nothing stands. It does not say that risk is gone.',
  ),
  generated_at: isoTime.nullable().describe('The end of the last completed round.'),
  next_cursor: words(z.string().min(1).nullable()),
  producer: z.strictObject({
    state: claimedWords(PRODUCER_STATES, ['never_ran'], SIGNALS),
    last_round_at: isoTime.nullable(),
  }),
  read_this_first: readThisFirst,
});
export type FeedAnswer = z.output<typeof feedAnswer>;

/** What a verification found, by stable codes. */
export const VERIFICATION_CODES = [
  'bundle_differs',
  'bundle_not_canonical',
  'bundle_malformed',
  'citation_missing',
  'call_hash_differs',
  'not_in_log',
  'log_waits',
  'log_unread',
  'log_behind',
  'signature_wrong',
  'signature_unread',
  'anchor_waits',
  'anchor_unread',
  'anchor_gone',
  'anchor_differs',
  'anchor_simulated',
] as const;
export type VerificationCode = (typeof VERIFICATION_CODES)[number];

export const verificationAnswer = z.strictObject({
  signal_id: words(),
  reproducible: negative(z.boolean(), SIGNALS).describe(
    'Whether the published bundle hashes to the recorded `evidence_hash`.',
  ),
  citations_valid: negative(z.boolean(), SIGNALS).describe(
    'Whether every key in `evidence_used` exists in the bundle and can be cited.',
  ),
  anchored: checkedFlag({ restsOn: ['anchors', 'transparency_log'] }).describe(
    'Whether the contract on the chain holds, at a finalised block, a root that covers the leaf.',
  ),
  call_hash_valid: negative(z.boolean(), SIGNALS).describe(
    'Whether everything that the signal states hashes to `call_hash`, and its id begins it.',
  ),
  logged: negative(z.boolean().nullable(), LOG).describe(
    'Whether the newest checkpoint of the log covers its leaf; `null`: that was not read, or the ' +
      'checkpoint is older than the signal.',
  ),
  log: z
    .strictObject({
      origin: words(),
      index: rowFact(z.int().nonnegative()),
      size: rowFact(z.int().nonnegative()),
      root: hex,
      proof: rowFact(z.array(hex).max(PROOF_HASHES_MAX).readonly()),
    })
    .nullable(),
  signature_valid: rowFact(z.boolean().nullable(), LOG).describe(
    'Whether a published key of this service signed that checkpoint.',
  ),
  anchor_checked: checkedFlag(ANCHORS).describe('Whether the chain was asked.'),
  status: statusShown,
  reasons: rowFact(
    z.array(z.strictObject({ code: oneOf(VERIFICATION_CODES), reason: prose().min(1) })),
    SIGNALS,
  ).describe('Everything that does not hold or could not be checked, by a stable code.'),
  checked_at: isoTime,
  cannot_establish: prose().min(1),
  read_this_first: readThisFirst,
});
export type VerificationAnswer = z.output<typeof verificationAnswer>;

export const signalNotFound = sharedShape(
  'NoSuchSignal',
  z.strictObject({
    error: z.literal('not_found'),
    signal_id: words(),
    detail: prose().min(1),
  }),
);

export const feedUnreadable = sharedShape(
  'UnreadableFeed',
  z.strictObject({
    error: z.literal('feed_unreadable'),
    detail: prose().min(1),
  }),
);
