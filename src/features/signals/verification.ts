// Whether a signal is what was published: its bundle, its citations, its hash, its place in the log
// and the root on the chain. Everything is recomputed; no row is taken at its word.

import { type HexBytes, hashBundle, hashCall, signalIdOf } from '../../chain/call-hash.ts';
import { hashLeaf, isIncluded } from '../../chain/merkle-tree.ts';
import { type ParsedCanonical, parseCanonical } from '../../contract/canonical.ts';
import { present } from '../../evidence/measure.ts';
import { both, map, Read, type Reading, type Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { Anchors, AnchorsPort } from '../../ports/anchoring.ts';
import type { KeptSignal } from '../../ports/signals.ts';
import {
  LEAF_KINDS,
  type TransparencyLog,
  type TransparencyLogPort,
} from '../../ports/transparency-log.ts';
import { type Bundle, bundleShape } from '../collectors/shapes.ts';
import type { VerificationCode } from './shapes.ts';
import { callOf } from './signal.ts';

/** The log as a verification asks it. */
export type SignalLog = Pick<TransparencyLog, 'head' | 'find' | 'inclusion' | 'isSigned'>;

/** One thing that does not hold, or could not be checked. */
export type VerificationReason = { readonly code: VerificationCode; readonly reason: string };

/** What a bundle is by its bytes alone. */
export type ReadBundle = {
  readonly evidence_hash: HexBytes;
  /** `null`: the bytes are no bundle. */
  readonly bundle: Bundle | null;
  readonly canonical: ParsedCanonical;
};

/** Reads published bytes as a stranger would. */
export function readBundle(bytes: Uint8Array): ReadBundle {
  const canonical = parseCanonical(bytes);
  const parsed = canonical.ok ? bundleShape.safeParse(canonical.value) : null;
  return {
    evidence_hash: hashBundle(bytes),
    canonical,
    bundle: parsed?.success === true ? parsed.data : null,
  };
}

/** What the bytes and the row show of themselves. */
export type OwnChecks = {
  readonly reproducible: boolean;
  readonly citations_valid: boolean;
  readonly call_hash_valid: boolean;
  readonly reasons: readonly VerificationReason[];
};

/** Recomputes the hashes of a signal and looks its citations up. */
export function checkOwn(signal: KeptSignal, read: ReadBundle): OwnChecks {
  const reproducible = read.evidence_hash === signal.evidence_hash;
  const missing = missingKeys(signal, read.bundle);
  const call_hash = callHashOf(signal);
  const call_hash_valid =
    call_hash === signal.call_hash && signalIdOf(signal.call_hash) === signal.signal_id;
  return {
    reproducible,
    citations_valid: missing.length === 0,
    call_hash_valid,
    reasons: present([
      reproducible
        ? null
        : { code: 'bundle_differs', reason: `The bundle hashes to ${read.evidence_hash}.` },
      bundleFault(read),
      missing.length === 0
        ? null
        : { code: 'citation_missing', reason: `Not to be cited: ${missing.join(', ')}.` },
      call_hash_valid ? null : { code: 'call_hash_differs', reason: hashText(call_hash) },
    ]),
  };
}

function hashText(call_hash: HexBytes | null): string {
  if (call_hash === null) return 'What the signal states cannot be hashed.';
  return `What the signal states hashes to ${call_hash}.`;
}

function bundleFault({ canonical, bundle }: ReadBundle): VerificationReason | null {
  if (!canonical.ok) {
    const code = canonical.fault === 'not_canonical' ? 'bundle_not_canonical' : 'bundle_malformed';
    return { code, reason: `The bundle: ${canonical.says}.` };
  }
  if (bundle !== null) return null;
  return { code: 'bundle_malformed', reason: 'The bundle has another shape than it names.' };
}

/** The keys that are cited and stand in no bundle, or with a value that is nothing to cite. */
function missingKeys({ evidence_used }: KeptSignal, bundle: Bundle | null): readonly string[] {
  return evidence_used.filter((key) => {
    if (bundle === null || !Object.hasOwn(bundle.evidence, key)) return true;
    return bundle.evidence[key]?.value === null;
  });
}

/** A row whose texts no contract could hash has no hash. */
function callHashOf(signal: KeptSignal): HexBytes | null {
  try {
    return hashCall(callOf(signal));
  } catch (fault) {
    if (fault instanceof Error) return null;
    throw fault;
  }
}

/** The place of a signal in the log, as its newest checkpoint shows it. */
export type LogCheck = {
  /** `null`: its newest checkpoint is older than the signal. */
  readonly logged: Reading<boolean | null, TransparencyLogPort>;
  /** Of the checkpoint that proves it; `null` where none does. */
  readonly signed: Reading<boolean | null, TransparencyLogPort>;
  readonly log: {
    readonly origin: string;
    readonly index: number;
    readonly size: number;
    readonly root: string;
    readonly proof: readonly string[];
  } | null;
  readonly reasons: readonly VerificationReason[];
};

const DIGITS_OF_BYTE = 2;
const RADIX = 16;

function bytesOf(hex: string): Uint8Array {
  const digits = hex.slice('0x'.length);
  return Uint8Array.from({ length: digits.length / DIGITS_OF_BYTE }, (_, at) =>
    Number.parseInt(digits.slice(at * DIGITS_OF_BYTE, (at + 1) * DIGITS_OF_BYTE), RADIX),
  );
}

/** The hash of the leaf that a signal has to have. */
export function leafHashOf({ call_hash }: Pick<KeptSignal, 'call_hash'>): Uint8Array {
  return hashLeaf(Uint8Array.from([LEAF_KINDS.signal, ...bytesOf(call_hash)]));
}

type Tree = { readonly size: number; readonly root: string; readonly proof: readonly string[] };

function isInTree(signal: KeptSignal, { size, root, proof }: Tree): boolean {
  return isIncluded({
    index: signal.leaf,
    size,
    leafHash: leafHashOf(signal),
    root: bytesOf(root),
    proof: proof.map(bytesOf),
  });
}

/** Whether a signal stands in the log where its row says. */
export async function checkLog(signal: KeptSignal, log: SignalLog): Promise<LogCheck> {
  const found = await log.find({ kind: 'signal', hash: signal.call_hash });
  if (!(found instanceof Read)) return unreadLog(found);
  const head = await log.head();
  if (!(head instanceof Read)) return unreadLog(head);
  const { origin, frozen } = head.value;
  const standing = found.value;
  if (standing.state !== 'proved' || origin === null) {
    const isAbsent = standing.state === 'absent';
    const logged = map(found, () => (isAbsent ? false : null));
    const reason = isAbsent ? ANOTHER_LEAF : waitsFor(signal);
    return { logged, signed: map(found, () => null), log: null, reasons: [reason] };
  }
  const { entry, size, root, hashes, checkpoint } = standing;
  const { index } = entry;
  const isThere = index === signal.leaf && isInTree(signal, { size, root, proof: hashes });
  const signed = await log.isSigned(checkpoint);
  return {
    logged: map(found, () => isThere),
    signed,
    log: { origin, index, size, root, proof: hashes },
    reasons: present([
      isThere ? null : ANOTHER_LEAF,
      frozen === null ? null : logReason(frozen),
      signatureFault(signed),
    ]),
  };
}

const ANOTHER_LEAF: VerificationReason = {
  code: 'not_in_log',
  reason: 'The log does not hold this call hash at the index of the signal.',
};

function waitsFor({ leaf }: KeptSignal): VerificationReason {
  const reason = `The newest checkpoint is older than the signal, which is leaf ${leaf}.`;
  return { code: 'log_waits', reason };
}

/** A log that lost what it signed says so itself. */
function logReason({ code, reason }: Why): VerificationReason {
  return { code: code === 'log_behind' ? 'log_behind' : 'log_unread', reason };
}

function unreadLog(silent: Unread<TransparencyLogPort>): LogCheck {
  return { logged: silent, signed: silent, log: null, reasons: [logReason(silent.why)] };
}

function signatureFault(signed: Reading<boolean, TransparencyLogPort>): VerificationReason | null {
  if (!(signed instanceof Read)) return { code: 'signature_unread', reason: signed.why.reason };
  if (signed.value) return null;
  return { code: 'signature_wrong', reason: NO_OWN_KEY };
}

/** A key that is marked compromised is published still. */
const NO_OWN_KEY = 'No published key that its operator alone holds signed the checkpoint.';

/** Whether the chain holds a root that covers the signal. */
export type AnchorCheck = {
  /** `null`: not established. What was read says whether it is anchored. */
  readonly anchored: Read<boolean, AnchorsPort | TransparencyLogPort> | null;
  /** The contract as it was read; `null`: the chain was not asked, or did not answer. */
  readonly checked: Read<unknown, AnchorsPort> | null;
  readonly reasons: readonly VerificationReason[];
};

/** Asks the chain for the root that was sent over a signal, and proves the signal in it. */
export async function checkAnchor(
  signal: KeptSignal,
  { anchors, log }: { readonly anchors: Anchors; readonly log: SignalLog },
  until: AbortSignal,
): Promise<AnchorCheck> {
  if (signal.simulated) return notAnchored('anchor_simulated', SIMULATED);
  const sent = await anchors.anchorsOf([signal.leaf]);
  if (!(sent instanceof Read)) return notAnchored('anchor_unread', sent.why.reason);
  const [anchor] = sent.value;
  if (anchor === undefined || anchor.anchor_size === null) {
    return notAnchored('anchor_waits', NOT_SENT);
  }
  const size = anchor.anchor_size;
  const root = await anchors.rootAt(size, until);
  if (!(root instanceof Read)) return notAnchored('anchor_unread', root.why.reason);
  if (root.value.root === null) {
    const isFinal = anchor.anchor_status === 'confirmed';
    const fault = isFinal
      ? ({ code: 'anchor_gone', reason: goneText(size, root.value.block) } as const)
      : ({ code: 'anchor_waits', reason: waitsText(size, root.value.block) } as const);
    return { anchored: null, checked: root, reasons: [fault] };
  }
  const proof = await log.inclusion(signal.leaf, size);
  if (!(proof instanceof Read)) {
    return {
      anchored: null,
      checked: root,
      reasons: [{ code: 'anchor_unread', reason: proof.why.reason }],
    };
  }
  const tree = { size, root: root.value.root, proof: proof.value };
  const anchored = map(both({ root, proof }), () => isInTree(signal, tree));
  return {
    anchored: anchored instanceof Read ? anchored : null,
    checked: root,
    reasons: isInTree(signal, tree) ? [] : [ANOTHER_ROOT],
  };
}

const ANOTHER_ROOT: VerificationReason = {
  code: 'anchor_differs',
  reason: 'The root on the chain does not cover this signal at its index.',
};

/** A log or a contract before this one may hold it. */
const NOT_SENT = 'No root of this log that covers the signal was sent to the contract that is set.';
const SIMULATED = 'The evidence is made up, and what is made up is anchored nowhere.';

function notAnchored(
  code: 'anchor_simulated' | 'anchor_unread' | 'anchor_waits',
  reason: string,
): AnchorCheck {
  return { anchored: null, checked: null, reasons: [{ code, reason }] };
}

function goneText(size: number, block: number): string {
  return `The root of ${size} leaves was final, and at block ${block} the contract lacks it.`;
}

function waitsText(size: number, block: number): string {
  return `The root of ${size} leaves was sent and is not final: the contract lacks it at ${block}.`;
}
