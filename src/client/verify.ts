// Checks saved signals and answers from nothing but published bytes: what can be computed is taken
// on no word of the service. It asks nobody, but for a node that its caller names.

import { hex } from '@scure/base';
import { parseBase64 } from '../chain/bytes.ts';
import {
  type HexBytes,
  hashBundle,
  hashCall,
  type SignalCall,
  signalIdOf,
} from '../chain/call-hash.ts';
import {
  hashLeaf,
  isConsistent,
  isIncluded,
  isSameHash,
  leafContent,
} from '../chain/merkle-tree.ts';
import {
  checkNote,
  isNoteName,
  type LogCheckpoint,
  type LogProof,
  type Note,
  noteKey,
  parseCheckpoint,
  parseLogProof,
  parseNote,
} from '../chain/signed-note.ts';
import {
  type CanonicalValue,
  type ParsedCanonical,
  parseCanonical,
} from '../contract/canonical.ts';
import {
  keySetOf,
  type PinnedKey,
  SAVED_FORMAT,
  verifySavedAnswer,
} from '../contract/saved-answer.ts';
import {
  fieldOf,
  listField,
  numberField,
  objectOf,
  optionalTextField,
  parseJson,
  textField,
  textListField,
  WrongFile,
} from '../contract/saved-file.ts';
import { type AskNode, readAnchor } from './anchored-root.ts';

/** The form of a saved signal, by name and version. */
export const SAVED_SIGNAL = 'exhibit-saved-signal/1';

/** What one check found. `unchecked` is never to be read as `holds`. */
export type SavedCheck = {
  readonly check:
    | 'file'
    | 'bundle'
    | 'citations'
    | 'call_hash'
    | 'derived'
    | 'log'
    | 'checkpoint'
    | 'pinned_checkpoint'
    | 'anchor'
    | 'signature';
  readonly outcome: 'holds' | 'fails' | 'unchecked';
  /** In one sentence. */
  readonly says: string;
};

/** All checks of a file. `refuted`: one fails. `unchecked`: none does, and one was not made. */
export type Verification = {
  readonly outcome: 'verified' | 'refuted' | 'unchecked';
  readonly checks: readonly SavedCheck[];
};

/** What the caller holds beside the file, and trusts. */
export type Trust = {
  /** The text of a key set as it was saved before; `null`: no signature can be checked. */
  readonly keys: string | null;
  /** A checkpoint that was saved before, as a signed note. */
  readonly checkpoint: string | null;
  /** Asks a node of the chain that anchors; `null`: no chain is asked. */
  readonly node: AskNode | null;
  /** Unix seconds: an answer cannot have been signed later. */
  readonly now: number;
};

/** Checks a saved file. What is no saved file is `refuted`; nothing is thrown for its content. */
export async function verifySaved(file: Uint8Array, trust: Trust): Promise<Verification> {
  try {
    const saved = parseJson(file);
    const format = fieldOf(saved, 'format');
    if (format === SAVED_FORMAT) return judge([checkAnswer(saved, trust)]);
    if (format !== SAVED_SIGNAL) {
      throw new WrongFile(`format: expected ${SAVED_SIGNAL} or ${SAVED_FORMAT}`);
    }
    return judge(await checkSignal(objectOf(saved, 'file'), trust));
  } catch (fault) {
    if (!(fault instanceof WrongFile)) throw fault;
    return judge([{ check: 'file', outcome: 'fails', says: fault.message }]);
  }
}

function judge(checks: readonly SavedCheck[]): Verification {
  const has = (outcome: SavedCheck['outcome']) => checks.some((one) => one.outcome === outcome);
  return {
    outcome: has('fails') ? 'refuted' : has('unchecked') ? 'unchecked' : 'verified',
    checks,
  };
}

const holds = (check: SavedCheck['check'], says: string): SavedCheck => ({
  check,
  outcome: 'holds',
  says,
});
const fails = (check: SavedCheck['check'], says: string): SavedCheck => ({
  check,
  outcome: 'fails',
  says,
});
const lacks = (check: SavedCheck['check'], says: string): SavedCheck => ({
  check,
  outcome: 'unchecked',
  says,
});

/** Whether a pinned key signed an answer as it was sent, to the request that the file names. */
function checkAnswer(saved: unknown, { keys, now }: Trust): SavedCheck {
  if (keys === null) {
    return lacks('signature', 'No pinned key set was given to check the signature with.');
  }
  const found = verifySavedAnswer(saved, keys, { now });
  if (found.state === 'unproven') return lacks('signature', found.says);
  if (found.state === 'refused') return fails('signature', found.says);
  const { kid, created, method, url, status, simulated } = found.signed;
  const at = new Date(created * MS_PER_S).toISOString();
  const made = simulated ? ' It is of the simulated world: all of it is made up.' : '';
  return holds('signature', `Key ${kid} signed ${status} to ${method} ${url} at ${at}.${made}`);
}

/** A saved signal, taken apart. */
type SavedSignal = {
  readonly call: SignalCall;
  readonly call_hash: string;
  readonly signal_id: string;
  readonly anchor: {
    readonly tx: string | null;
    readonly status: string;
    readonly chain_id: number;
  };
  readonly answer: object;
  readonly bundle: Uint8Array;
  readonly proof: string | null;
  /** From the pinned checkpoint, or to it, where their sizes differ. */
  readonly consistency: readonly Uint8Array[] | null;
  /** The proof under the anchored size, where that is another than the checkpoint's. */
  readonly anchorProof: readonly Uint8Array[] | null;
};

async function checkSignal(file: object, trust: Trust): Promise<SavedCheck[]> {
  const saved = readSavedSignal(file);
  const parsed = parseCanonical(saved.bundle);
  const bundle = parsed.ok && isRecord(parsed.value) ? parsed.value : null;
  const log = checkLog(saved, trust);
  return [
    checkBundle(saved, parsed),
    checkCitations(saved, bundle),
    checkCall(saved),
    checkDerived(saved, bundle),
    ...log.checks,
    ...(await checkAnchor(saved, log.proof, trust)),
  ];
}

const MILLION = 1_000_000;

function readSavedSignal(file: object): SavedSignal {
  const answer = objectOf(fieldOf(file, 'answer'), 'answer');
  const signal = objectOf(fieldOf(answer, 'signal'), 'answer.signal');
  const target = objectOf(fieldOf(signal, 'target'), 'answer.signal.target');
  const evidence_hash = textField(signal, 'evidence_hash');
  return {
    call: {
      version: textField(signal, 'version'),
      chain: textField(target, 'chain'),
      target: textField(target, 'address'),
      verdict: textField(signal, 'verdict'),
      confidence_millionths: Math.round(numberField(signal, 'confidence') * MILLION),
      reasoning: textField(signal, 'reasoning'),
      evidence_used: textListField(signal, 'evidence_used'),
      evidence_hash: evidence_hash as HexBytes,
      prompt_version: textField(signal, 'prompt_version'),
      model: textField(signal, 'model'),
      run_id: textField(signal, 'run_id'),
      generated_at_unix: numberField(signal, 'generated_at_unix'),
    },
    call_hash: textField(signal, 'call_hash'),
    signal_id: textField(signal, 'signal_id'),
    anchor: {
      tx: optionalTextField(signal, 'anchor_tx'),
      status: textField(signal, 'anchor_status'),
      chain_id: numberField(signal, 'anchor_chain_id'),
    },
    answer,
    bundle: bytesIn(textField(file, 'bundle_base64'), 'bundle_base64'),
    proof: optionalTextField(file, 'proof'),
    consistency: hashesIn(file, 'consistency'),
    anchorProof: hashesIn(file, 'anchor_proof'),
  };
}

function bytesIn(text: string, name: string): Uint8Array {
  const bytes = parseBase64(text);
  if (bytes === null) throw new WrongFile(`${name}: expected base64`);
  return bytes;
}

const HASH = /^0x[0-9a-f]{64}$/;

function hashesIn(file: object, name: string): readonly Uint8Array[] | null {
  const field = fieldOf(file, name);
  if (field === undefined || field === null) return null;
  return textListField(file, name).map((text) => {
    if (!HASH.test(text)) throw new WrongFile(`${name}: expected hashes of 0x and 64 hex digits`);
    return hex.decode(text.slice('0x'.length));
  });
}

type Bundle = { readonly [field: string]: CanonicalValue };

function isRecord(value: CanonicalValue | undefined): value is Bundle {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// The words "same content, other bytes" are true of a document that means what was published, and
// of nothing else.
function checkBundle({ call, bundle }: SavedSignal, parsed: ParsedCanonical): SavedCheck {
  const hash = hashBundle(bundle);
  const isHashed = hash === call.evidence_hash;
  if (parsed.ok) {
    if (isHashed) return holds('bundle', `It is canonical and hashes to ${hash}.`);
    return fails('bundle', `Other content: it hashes to ${hash}, not to evidence_hash.`);
  }
  if (parsed.fault !== 'not_canonical') return fails('bundle', `It is refused: ${parsed.says}.`);
  const isSame = hashBundle(parsed.canonical) === call.evidence_hash;
  if (isSame) return fails('bundle', 'Not canonical: same content, other bytes.');
  return fails('bundle', 'Not canonical, and other content than evidence_hash names.');
}

function checkCitations({ call }: SavedSignal, bundle: Bundle | null): SavedCheck {
  const evidence = bundle?.['evidence'];
  if (!isRecord(evidence)) return lacks('citations', 'The bundle has no evidence to read.');
  const missing = call.evidence_used.filter((key) => {
    const item = Object.hasOwn(evidence, key) ? evidence[key] : undefined;
    return !isRecord(item) || item['value'] === null || item['value'] === undefined;
  });
  if (missing.length > 0) return fails('citations', `Not to be cited: ${missing.join(', ')}.`);
  return holds('citations', `All ${call.evidence_used.length} stand in the bundle.`);
}

function checkCall({ call, call_hash, signal_id }: SavedSignal): SavedCheck {
  try {
    const hash = hashCall(call);
    if (hash !== call_hash) return fails('call_hash', `What it states hashes to ${hash}.`);
    if (signalIdOf(hash) !== signal_id) return fails('call_hash', 'The id is of another signal.');
    return holds('call_hash', `What it states hashes to ${hash}.`);
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault;
    return fails('call_hash', `What it states has no hash (${fault.message}).`);
  }
}

/** What the answer shows beside the hash, and follows from what the hash binds. */
function checkDerived({ call, answer }: SavedSignal, bundle: Bundle | null): SavedCheck {
  const signal = objectOf(fieldOf(answer, 'signal'), 'answer.signal');
  const wrong: string[] = [];
  const confirm = (name: string, is: boolean) => {
    if (!is) wrong.push(name);
  };
  confirm('confidence', fieldOf(signal, 'confidence') === call.confidence_millionths / MILLION);
  confirm('generated_at', isTime(fieldOf(signal, 'generated_at'), call.generated_at_unix));
  if (bundle === null) return lacks('derived', 'The bundle cannot be read.');
  const target = bundle['target'];
  confirm(
    'target',
    isRecord(target) && target['chain'] === call.chain && target['address'] === call.target,
  );
  const sources = listField(bundle, 'sources');
  const present = sources.filter((one) => fieldOf(one, 'status') === 'present').length;
  confirm('evidence_source_count', fieldOf(signal, 'evidence_source_count') === sources.length);
  const summary = objectOf(fieldOf(answer, 'evidence_summary'), 'answer.evidence_summary');
  confirm('source_count', fieldOf(summary, 'source_count') === sources.length);
  confirm('present', fieldOf(summary, 'present') === present);
  const { evidence } = bundle;
  const citable = isRecord(evidence)
    ? Object.values(evidence).filter((item) => fieldOf(item, 'value') !== null).length
    : null;
  confirm('citable_key_count', fieldOf(summary, 'citable_key_count') === citable);
  confirm('gaps', areGaps(listField(summary, 'gaps'), sources));
  if (wrong.length > 0) {
    return fails('derived', `Not as hash and bundle have it: ${wrong.join(', ')}.`);
  }
  return holds('derived', 'What follows from hash and bundle is shown as it is.');
}

const MS_PER_S = 1_000;

function isTime(text: unknown, seconds: number): boolean {
  return typeof text === 'string' && Date.parse(text) === seconds * MS_PER_S;
}

function areGaps(gaps: readonly unknown[], sources: readonly unknown[]): boolean {
  const absent = sources.filter((one) => fieldOf(one, 'status') !== 'present');
  return (
    gaps.length === absent.length &&
    gaps.every(
      (gap, at) =>
        ['source', 'status'].every((name) => fieldOf(gap, name) === fieldOf(absent[at], name)) &&
        fieldOf(gap, 'reason') === reasonOf(absent[at]),
    )
  );
}

/** The reason of a gap: that of its source, or its status and code where the source gives none. */
function reasonOf(source: unknown): unknown {
  const reason = fieldOf(source, 'reason');
  if (reason !== null) return reason;
  return `${String(fieldOf(source, 'status'))}: ${String(fieldOf(source, 'code'))}`;
}

/** The kind byte of a signal's leaf. */
const SIGNAL_LEAF = 1;

/** A proof whose leaf is of the signal, with the state of the log that it leads to. */
type Proved = {
  readonly proof: LogProof;
  readonly leafHash: Uint8Array;
  readonly tree: LogCheckpoint;
};

function checkLog(
  saved: SavedSignal,
  trust: Trust,
): { readonly checks: readonly SavedCheck[]; readonly proof: Proved | null } {
  if (saved.proof === null) {
    return { checks: [lacks('log', 'The file holds no proof.')], proof: null };
  }
  const proof = parseLogProof(saved.proof);
  const note = proof === null ? null : parseNote(proof.checkpoint);
  const tree = note === null ? null : parseCheckpoint(note.text);
  if (proof === null || note === null || tree === null || !isNoteName(tree.origin)) {
    return { checks: [fails('log', 'The proof is none of the form tlog-proof.')], proof: null };
  }
  if (!HASH.test(saved.call_hash)) {
    return { checks: [fails('log', 'No leaf has the hash of this signal.')], proof: null };
  }
  const leafHash = hashLeaf(leafContent(SIGNAL_LEAF, saved.call_hash));
  const proved = { proof, leafHash, tree };
  const { index, hashes } = proof;
  const { size, root, origin } = tree;
  const isIn = isIncluded({ index, size, root, leafHash, proof: hashes });
  const where = `leaf ${index} of the ${size} of ${origin}`;
  return {
    checks: [
      isIn ? holds('log', `It is ${where}.`) : fails('log', `It is not ${where}.`),
      checkSignature({ note, tree, saved, trust }),
      ...checkPinned(tree, saved, trust),
    ],
    proof: isIn ? proved : null,
  };
}

function keysIn(text: string): readonly PinnedKey[] {
  const keys = keySetOf(parseJson(new TextEncoder().encode(text)));
  if (keys === null) throw new WrongFile('keys: expected a set of Ed25519 keys');
  return keys;
}

type Signed = {
  readonly note: Note;
  readonly tree: LogCheckpoint;
  readonly saved: SavedSignal;
  readonly trust: Trust;
};

function checkSignature({ note, tree, saved, trust }: Signed): SavedCheck {
  if (trust.keys === null) {
    return lacks('checkpoint', 'No pinned key set was given to check its signature with.');
  }
  const found = signersOf(note, tree, keysIn(trust.keys));
  if (found === 'forged') return fails('checkpoint', 'A signature of it is forged.');
  if (found.length === 0) return fails('checkpoint', 'No pinned key signed it.');
  // A checkpoint over a statement is younger than the statement.
  const [signer] = found.filter(({ exp }) => saved.call.generated_at_unix < exp);
  if (signer === undefined) {
    return fails('checkpoint', 'Its key had expired before the signal was made.');
  }
  const since = signer.compromised_since;
  if (since === null) return holds('checkpoint', `The pinned key ${signer.kid} signed it.`);
  const at = new Date(since * MS_PER_S).toISOString();
  const held = `the key ${signer.kid}, which somebody else may have held since ${at}, signed it`;
  if (saved.call.generated_at_unix >= since) return fails('checkpoint', `Only ${held}.`);
  const isOlder = trust.checkpoint !== null && isPinnedOver(trust.checkpoint, saved, trust.keys);
  if (isOlder) return holds('checkpoint', `A pinned checkpoint covers the leaf; ${held}.`);
  return lacks('checkpoint', `Only ${held}: a checkpoint saved before then is needed.`);
}

/** The pinned keys that signed a note, those that nobody else may have held first. */
function signersOf(
  note: Note,
  { origin }: LogCheckpoint,
  keys: readonly PinnedKey[],
): readonly PinnedKey[] | 'forged' {
  const states = keys.map((key) => {
    return { key, state: checkNote(note, noteKey(origin, key.publicKey)) };
  });
  if (states.some(({ state }) => state === 'forged')) return 'forged';
  const signers = states.filter(({ state }) => state === 'signed').map(({ key }) => key);
  return signers.sort((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ compromised_since }: PinnedKey): number {
  return compromised_since === null ? 0 : 1;
}

/** Whether a checkpoint that the caller held before covers the leaf of the signal by itself. */
function isPinnedOver(pinned: string, saved: SavedSignal, keys: string): boolean {
  const note = parseNote(pinned);
  const tree = note === null ? null : parseCheckpoint(note.text);
  const proof = saved.proof === null ? null : parseLogProof(saved.proof);
  if (note === null || tree === null || proof === null || proof.index >= tree.size) return false;
  const signers = signersOf(note, tree, keysIn(keys));
  if (signers === 'forged' || !signers.some((key) => key.compromised_since === null)) return false;
  return checkPinned(treeOf(proof), saved, { checkpoint: pinned }).every(
    ({ outcome }) => outcome === 'holds',
  );
}

function treeOf({ checkpoint }: LogProof): LogCheckpoint {
  const note = parseNote(checkpoint);
  const tree = note === null ? null : parseCheckpoint(note.text);
  if (tree === null) throw new WrongFile('proof: expected a checkpoint in it');
  return tree;
}

/** Whether the log of the proof is the one that the caller saw before. */
function checkPinned(
  tree: LogCheckpoint,
  saved: SavedSignal,
  { checkpoint }: Pick<Trust, 'checkpoint'>,
): SavedCheck[] {
  if (checkpoint === null) return [];
  const note = parseNote(checkpoint);
  const pinned = note === null ? null : parseCheckpoint(note.text);
  if (pinned === null) return [fails('pinned_checkpoint', 'It is no signed checkpoint.')];
  if (pinned.origin !== tree.origin) {
    return [fails('pinned_checkpoint', `It is of another log, ${pinned.origin}.`)];
  }
  if (pinned.size === tree.size) {
    return [
      isSameHash(pinned.root, tree.root)
        ? holds('pinned_checkpoint', `Both are the log of ${tree.size} leaves.`)
        : fails('pinned_checkpoint', `The log shows two roots of ${tree.size} leaves.`),
    ];
  }
  const [older, newer] = pinned.size < tree.size ? [pinned, tree] : [tree, pinned];
  const between = `${older.size} and ${newer.size} leaves`;
  if (older.size === 0) return [holds('pinned_checkpoint', 'The pinned log was empty.')];
  if (saved.consistency === null) {
    const says = `The file holds no proof that the logs of ${between} are one.`;
    return [lacks('pinned_checkpoint', says)];
  }
  return [
    isConsistent({ older, newer, proof: saved.consistency })
      ? holds('pinned_checkpoint', `The logs of ${between} are one.`)
      : fails('pinned_checkpoint', `The logs of ${between} are not shown to be one.`),
  ];
}

async function checkAnchor(
  { anchor, anchorProof }: SavedSignal,
  proved: Proved | null,
  { node }: Trust,
): Promise<SavedCheck[]> {
  const { tx, status, chain_id } = anchor;
  if (tx === null) {
    if (node === null && status === 'queued') return [];
    return [lacks('anchor', `The file names no transaction; it says ${status}.`)];
  }
  if (node === null) return [lacks('anchor', 'No node of the chain was named.')];
  if (proved === null) return [lacks('anchor', 'No proof in the file holds.')];
  const read = await readAnchor(node, { tx, chain_id });
  if (read.kind !== 'anchored') {
    const make = read.kind === 'unread' ? lacks : fails;
    return [make('anchor', read.says)];
  }
  const { tree, leafHash, proof } = proved;
  const { size, root, block, contract } = read;
  const hashes = size === tree.size ? proof.hashes : anchorProof;
  if (hashes === null) {
    return [lacks('anchor', `The file holds no proof under the ${size} leaves anchored.`)];
  }
  const isIn = isIncluded({ index: proof.index, size, root, leafHash, proof: hashes });
  const where =
    `the root of ${size} leaves of which the contract ${contract} of chain ${chain_id} tells, ` +
    `final since block ${block}`;
  return [
    isIn ? holds('anchor', `It is under ${where}.`) : fails('anchor', `It is not under ${where}.`),
  ];
}
