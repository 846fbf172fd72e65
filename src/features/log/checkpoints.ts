// Signs the log: one round makes at most one checkpoint. A round that cannot tell what was signed
// before signs nothing, and one that finds less or other than what was signed freezes the log.

import { EMPTY_ROOT, isSameHash } from '../../chain/merkle-tree.ts';
import {
  checkNote,
  cosignatureTime,
  formatCheckpoint,
  formatLogEnd,
  formatNote,
  formatSignatureLine,
  formatWitnessRequest,
  type LogCheckpoint,
  type LogEnd,
  type NoteKey,
  noteBytes,
  noteKey,
  parseCheckpoint,
  parseLogEnd,
  parseNote,
} from '../../chain/signed-note.ts';
import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { countOrZero } from '../../evidence/measure.ts';
import { type Read, type Reading, Unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { LogWitness, SeenHeads, TransparencyLogPort } from '../../ports/transparency-log.ts';
import type {
  LogStore,
  NewCheckpoint,
  StoredCheckpoint,
  StoredLog,
  StoredOrigin,
} from './shapes.ts';

/** What a round and a restart work on. */
export type LogParts = {
  readonly store: LogStore;
  readonly seen: SeenHeads;
  /** The host under whose name the log signs; `null`: none is set. */
  readonly host: string | null;
  /** Signs with the key in force, whose public part `x` gives in base64url. */
  readonly sign: (
    bytes: Uint8Array,
  ) => Promise<Reading<{ readonly x: string; readonly signature: Uint8Array }, never>>;
  /** The hash of a statement that becomes a leaf, as `0x` and 64 hex digits. */
  readonly hashStatement: (bytes: Uint8Array) => string;
  readonly now: () => UnixSeconds;
};

/** How a round ended. */
export type RoundEnd =
  | { readonly kind: 'signed'; readonly size: number }
  /** There is nothing to sign, or it is too early. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'frozen'; readonly why: Why }
  | { readonly kind: 'unread'; readonly why: Why };

const IDLE: RoundEnd = { kind: 'idle' };
/** An origin changes once in a while: a second look finds the one that is there now. */
const LOOKS_MAX = 3;
/** Names that a log had before, as far as files tell of them. */
const GENERATIONS_MAX = 10_000;

/** The name under which a log signs: the address at which its tiles are served, without scheme. */
export function originName(host: string, generation: number): string {
  return `${host}/log/${generation}`;
}

/** Why an origin signs nothing more. */
export function frozenBecause(origin: string, cause: string): Why {
  return why('log_behind', { origin, cause });
}

/** Why an origin signs nothing more; `null` where it does. */
export function whyFrozen(
  { current: { origin, generation }, cause }: Pick<OriginStanding, 'current' | 'cause'>,
  host: string,
): Why | null {
  if (cause !== null) return frozenBecause(origin, cause);
  const named = originName(host, generation);
  return origin === named ? null : why('log_renamed', { origin, named });
}

/** Why nothing is signed where no host is set. */
export const NO_ORIGIN: Why = why('not_configured', { what: 'A signed log (EXHIBIT_LOG_ORIGIN)' });

/** The checkpoint in a note that was signed here; a note that is none was damaged. */
export function checkpointOf(note: string): LogCheckpoint {
  const parsed = parseNote(note);
  const checkpoint = parsed === null ? null : parseCheckpoint(parsed.text);
  if (checkpoint === null) throw new Error('a kept checkpoint is none');
  return checkpoint;
}

/** The origin that signs now, and what is known to have been signed under it. */
export type OriginStanding = {
  readonly kind: 'standing';
  readonly reading: Read<StoredLog, TransparencyLogPort>;
  readonly stored: StoredLog;
  readonly current: StoredOrigin;
  /** The note of the largest checkpoint that was signed under it, wherever it is kept. */
  readonly last: string | null;
  /** Why it signs nothing more; `null` where it does. */
  readonly cause: string | null;
  /** Whether a file tells that it has ended, which the store does not know. */
  readonly hasEnded: boolean;
};
type Standings =
  | OriginStanding
  /** No origin has begun. */
  | {
      readonly kind: 'unbegun';
      readonly reading: Read<StoredLog, TransparencyLogPort>;
      readonly stored: StoredLog;
    }
  | { readonly kind: 'unread'; readonly why: Why };

/**
 * Compares what is stored with what was signed. The files are read before the store: what a file
 * tells of was stored before it was written, so that a store that holds less has lost it.
 */
export async function compareLog(
  { store, seen }: Pick<LogParts, 'store' | 'seen'>,
  how: 'at a glance' | 'thoroughly',
): Promise<Standings> {
  let first = await store.state();
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (first instanceof Unread) return { kind: 'unread', why: first.why };
    const expected = first.value.origins.at(-1);
    if (expected === undefined) {
      return { kind: 'unbegun', reading: first, stored: first.value };
    }
    const file = await seen.newest(expected.origin);
    const ended = await seen.hasEnded(expected.origin);
    const stored = await store.state();
    if (file instanceof Unread) return { kind: 'unread', why: file.why };
    if (ended instanceof Unread) return { kind: 'unread', why: ended.why };
    if (stored instanceof Unread) return { kind: 'unread', why: stored.why };
    const current = stored.value.origins.at(-1);
    if (current?.origin === expected.origin) {
      const cause = await causeToFreeze(store, stored.value, current, { file: file.value, how });
      if (cause instanceof Unread) return { kind: 'unread', why: cause.why };
      const isLost = cause === null && ended.value;
      const last = lastOf(current, file.value);
      const shown = isLost ? 'it has ended, and the store does not know of its end' : cause;
      const found = { reading: stored, stored: stored.value, current, last, cause: shown };
      return { kind: 'standing', ...found, hasEnded: ended.value };
    }
    first = stored;
  }
  return { kind: 'unread', why: why('store_unreadable', { what: WHAT, fault: 'it changes' }) };
}

const WHAT = 'The transparency log';

type Compared = { readonly file: string | null; readonly how: 'at a glance' | 'thoroughly' };

async function causeToFreeze(
  store: LogStore,
  { leaves }: StoredLog,
  { newest, freeze }: StoredOrigin,
  { file, how }: Compared,
): Promise<string | null | Unread<never>> {
  if (freeze !== null) return freeze.reason;
  const known: LogCheckpoint[] = [];
  if (file !== null) known.push(checkpointOf(file));
  if (newest !== null) known.push(checkpointOf(newest.note));
  for (const { size, root } of known) {
    if (size > leaves) return `it signed ${size} leaves, of which ${leaves} are stored`;
    if (how === 'at a glance' && size === newest?.size) continue;
    const stored = await store.rootAt(size);
    if (stored instanceof Unread) return stored;
    if (!isSameHash(stored.value, root)) return `the ${size} leaves that it signed were others`;
  }
  const [one, other] = known;
  const areTwo = one?.size === other?.size && one !== undefined && other !== undefined;
  return areTwo && !isSameHash(one.root, other.root) ? `it signed ${one.size} leaves twice` : null;
}

/** The note of the largest size that is known of an origin. */
function lastOf({ newest, freeze }: StoredOrigin, file: string | null): string | null {
  const notes = [newest?.note, freeze?.note, file];
  const known = notes.filter((note) => note !== null && note !== undefined);
  const bySize = known.map((note) => ({ note, size: checkpointOf(note).size }));
  const largest = bySize.reduce((one, other) => (other.size > one.size ? other : one), NO_NOTE);
  return largest.note;
}

const NO_NOTE: { readonly note: string | null; readonly size: number } = { note: null, size: 0 };

/** Signs what was added since the last checkpoint. */
export async function signOnce(parts: LogParts): Promise<RoundEnd> {
  const { store, host } = parts;
  if (host === null) return { kind: 'unread', why: NO_ORIGIN };
  // Tiles first: a root is made of them.
  const ready = await store.hashTiles();
  if (ready instanceof Unread) return { kind: 'unread', why: ready.why };
  const standing = await compareLog(parts, 'thoroughly');
  if (standing.kind === 'unread') return standing;
  if (standing.kind === 'unbegun') {
    if (standing.stored.leaves === 0) return IDLE;
    const begun = await store.begin(originName(host, 1));
    return begun.checked ? IDLE : { kind: 'unread', why: begun.why };
  }
  const { current, cause, last } = standing;
  if (cause !== null) return freeze(parts, standing, cause);
  const renamed = whyFrozen(standing, host);
  if (renamed !== null) return { kind: 'frozen', why: renamed };
  // What another machine signed is kept on this one too.
  const unkept =
    current.newest === null ? null : await keepHere(parts, current.origin, current.newest);
  if (unkept !== null) return { kind: 'unread', why: unkept };
  const size = ready.value;
  if (size === 0 || size <= countOrZero(current.newest?.size)) return IDLE;
  if (last !== null && checkpointOf(last).size > size) return IDLE;
  const root = await store.rootAt(size);
  if (root instanceof Unread) return { kind: 'unread', why: root.why };
  const { origin, generation } = current;
  const text = formatCheckpoint({ origin, size, root: root.value });
  const note = await signText(parts, origin, text);
  if (typeof note !== 'string') return { kind: 'unread', why: note.why };
  const added = { generation, size, root: root.value, note };
  const published = await store.publish(added, () => keepHere(parts, origin, added));
  if (published instanceof Unread) return { kind: 'unread', why: published.why };
  if (published.value.kind === 'not_kept') return { kind: 'unread', why: published.value.why };
  return published.value.kind === 'published' ? { kind: 'signed', size } : IDLE;
}

async function freeze(
  { store }: LogParts,
  { current, last }: OriginStanding,
  cause: string,
): Promise<RoundEnd> {
  if (current.freeze === null) {
    const frozen = await store.freeze(current.generation, cause, last);
    if (!frozen.checked) return { kind: 'unread', why: frozen.why };
  }
  return { kind: 'frozen', why: frozenBecause(current.origin, cause) };
}

/** Has this machine keep a checkpoint; why it cannot, or `null`. */
async function keepHere(
  { seen }: LogParts,
  origin: string,
  { size, root, note }: Pick<NewCheckpoint, 'size' | 'root' | 'note'>,
): Promise<Why | null> {
  const kept = await seen.keep(origin, size, root, note);
  if (kept instanceof Unread) return kept.why;
  return kept.value ? null : frozenBecause(origin, `it signed ${size} leaves twice`);
}

/** The note over a text; the signature is checked before anybody sees it. */
async function signText(
  { sign }: LogParts,
  origin: string,
  text: string,
): Promise<string | Unread<never>> {
  const signed = await sign(noteBytes(text));
  if (signed instanceof Unread) return signed;
  const { x, signature } = signed.value;
  const key = noteKey(origin, Uint8Array.from(Buffer.from(x, 'base64url')));
  const note = formatNote(text, [formatSignatureLine(key, signature)]);
  const parsed = parseNote(note);
  if (parsed === null || checkNote(parsed, key) !== 'signed') {
    throw new Error('the key in force does not sign under its public part');
  }
  return note;
}

/** What a restart would end, and what would go on. */
export type RestartPlan = {
  readonly origin: string;
  /** Leaves that it signed, and how many of them are stored as it did. */
  readonly size: number;
  readonly held: number;
  /** The origin that would go on; `null`: it ended before, and its last statement names it. */
  readonly next: string | null;
  /** Why it signs nothing now; `null`: it signs. */
  readonly frozen: Why | null;
};

/** Why nothing can be ended. */
type NoRestart =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unread'; readonly why: Why };
export type PlannedRestart = { readonly kind: 'planned'; readonly plan: RestartPlan } | NoRestart;
/** How a restart ended. */
export type RestartEnd =
  | { readonly kind: 'restarted'; readonly ended: LogEnd; readonly statement: string }
  | NoRestart;

type Restarting = {
  readonly kind: 'restarting';
  readonly host: string;
  readonly standing: OriginStanding;
  readonly generation: number;
  readonly held: number;
};

async function lookBeforeRestart(parts: LogParts): Promise<Restarting | NoRestart> {
  const { store, host } = parts;
  if (host === null) return { kind: 'unread', why: NO_ORIGIN };
  const standing = await compareLog(parts, 'thoroughly');
  if (standing.kind === 'unread') return standing;
  if (standing.kind === 'unbegun') {
    return { kind: 'refused', reason: 'The log has not begun, so there is nothing to end.' };
  }
  const generation = await nextGeneration(parts, host, standing.current.generation + 1);
  if (typeof generation !== 'number') return { kind: 'unread', why: generation.why };
  const held = await countHeld(store, standing);
  if (typeof held !== 'number') return { kind: 'unread', why: held.why };
  return { kind: 'restarting', host, standing, generation, held };
}

/** What a restart would do. Nothing is changed. */
export async function planRestart(parts: LogParts): Promise<PlannedRestart> {
  const found = await lookBeforeRestart(parts);
  if (found.kind !== 'restarting') return found;
  const { host, standing, generation, held } = found;
  const { current, last, hasEnded } = standing;
  const { size } = last === null ? EMPTY : checkpointOf(last);
  const next = hasEnded ? null : originName(host, generation);
  const frozen = whyFrozen(standing, host);
  return { kind: 'planned', plan: { origin: current.origin, size, held, next, frozen } };
}

/** Ends the origin with a last signed statement, and begins another one. */
export async function restartLog(parts: LogParts, because: string): Promise<RestartEnd> {
  const { store, seen } = parts;
  const found = await lookBeforeRestart(parts);
  if (found.kind !== 'restarting') return found;
  const { host, standing, generation, held } = found;
  const { current, last } = standing;
  const { size, root } = last === null ? EMPTY : checkpointOf(last);
  const { origin } = current;
  const at = formatIsoTime(parts.now());
  const next = originName(host, generation);
  const text = formatLogEnd({ origin, size, root, next, held, at, why: because });
  const note = await signText(parts, origin, text);
  if (typeof note !== 'string') return { kind: 'unread', why: note.why };
  const kept = await seen.keepEnd(origin, note);
  if (kept instanceof Unread) return { kind: 'unread', why: kept.why };
  // An end that was kept before, and that the store has lost, is the end.
  const statement = kept.value;
  const ended = endIn(statement);
  const done = await store.end({
    generation: current.generation,
    note: last,
    held: Math.min(held, ended.held),
    why: ended.why,
    statement,
    next: { generation: generationOf(ended.next), origin: ended.next },
    leaf: {
      kind: 'version',
      hash: parts.hashStatement(noteBytes(statement)),
      id: `log:${origin}`,
      at: parts.now(),
    },
  });
  if (done instanceof Unread) return { kind: 'unread', why: done.why };
  if (!done.value) return { kind: 'refused', reason: 'Another process ended it meanwhile.' };
  return { kind: 'restarted', ended, statement };
}

const EMPTY = { size: 0, root: EMPTY_ROOT } as const;

/** The end in a statement that was signed here. */
export function endIn(statement: string): LogEnd {
  const note = parseNote(statement);
  const end = note === null ? null : parseLogEnd(note.text);
  if (end === null) throw new Error('a kept end is none');
  return end;
}

function generationOf(origin: string): number {
  return Number(origin.slice(origin.lastIndexOf('/') + 1));
}

/** The first generation from one on of which no file tells that it signed. */
async function nextGeneration(
  { seen }: LogParts,
  host: string,
  from: number,
): Promise<number | Unread<never>> {
  for (let generation = from; generation < from + GENERATIONS_MAX; generation += 1) {
    const note = await seen.newest(originName(host, generation));
    if (note instanceof Unread) return note;
    const ended = await seen.hasEnded(originName(host, generation));
    if (ended instanceof Unread) return ended;
    if (note.value === null && !ended.value) return generation;
  }
  throw new Error(`over ${GENERATIONS_MAX} generations of one log`);
}

/** Leaves that are stored as the origin published them. */
async function countHeld(
  store: LogStore,
  { stored, current, last }: OriginStanding,
): Promise<number | Unread<never>> {
  const known = [last, current.newest === null ? null : current.newest.note];
  for (const note of known) {
    if (note === null) continue;
    const { size, root } = checkpointOf(note);
    if (size > stored.leaves) continue;
    const now = await store.rootAt(size);
    if (now instanceof Unread) return now;
    if (isSameHash(now.value, root)) return size;
  }
  return 0;
}

/** Asks each witness that has not signed the newest checkpoint to do so; what failed, in words. */
export async function askWitnesses(
  parts: Pick<LogParts, 'store' | 'seen'>,
  witnesses: readonly LogWitness[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const standing = await compareLog(parts, 'at a glance');
  const { current } = standing.kind === 'standing' && standing.cause === null ? standing : CLOSED;
  return current?.newest ? askAll(parts.store, current, current.newest, witnesses, signal) : [];
}

const CLOSED: { readonly current: StoredOrigin | null } = { current: null };

async function askAll(
  store: LogStore,
  current: StoredOrigin,
  newest: StoredCheckpoint,
  witnesses: readonly LogWitness[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { generation } = current;
  const cosigned = await store.cosigned(generation);
  if (cosigned instanceof Unread) return [cosigned.why.reason];
  const faults = await Promise.all(
    witnesses.map((witness) => {
      const before = countOrZero(cosigned.value.get(witness.key.name));
      if (before >= newest.size) return null;
      return askWitness(store, current, { newest, witness, before, signal });
    }),
  );
  return faults.filter((fault) => fault !== null);
}

/** A witness is asked again where it knows of another size than we do. */
const ASKED_AGAIN_MAX = 2;

async function askWitness(
  store: LogStore,
  { generation, origin }: StoredOrigin,
  request: {
    readonly newest: StoredCheckpoint;
    readonly witness: LogWitness;
    readonly before: number;
    readonly signal: AbortSignal;
  },
): Promise<string | null> {
  const { newest, witness, signal } = request;
  let { before } = request;
  for (let asked = 0; asked < ASKED_AGAIN_MAX; asked += 1) {
    const proof = before === 0 ? null : await store.consistency(before, newest.size);
    if (proof instanceof Unread) return proof.why.reason;
    const hashes = proof === null ? [] : proof.value;
    const text = formatWitnessRequest(before, hashes, newest.note);
    const answer = await witness.submit(text, signal);
    if (answer instanceof Unread) return answer.why.reason;
    if (answer.value.kind === 'signed') {
      const line = lineOf(answer.value.lines, newest.note, witness.key);
      if (line === null) return `${witness.key.name} answered without a signature of its key.`;
      const added = await store.addCosignature(generation, newest.size, witness.key.name, line);
      return added.checked ? null : added.why.reason;
    }
    before = answer.value.size;
    if (before > newest.size) {
      // Somebody signed more under this name than is stored here.
      const { name } = witness.key;
      const cause = `${name} says that it saw ${before} leaves, and ${newest.size} are signed here`;
      const frozen = await store.freeze(generation, cause, newest.note);
      return frozen.checked ? frozenBecause(origin, cause).reason : frozen.why.reason;
    }
  }
  return `${witness.key.name} does not hold still.`;
}

/** The line of a witness that holds for a note; `null`: there is none. */
function lineOf(lines: string, note: string, key: NoteKey): string | null {
  const signed = parseNote(`${note}${lines}`);
  if (signed === null || checkNote(signed, key) !== 'signed') return null;
  const own = signed.signatures.find(({ name, id }) => name === key.name && id === key.id);
  if (own === undefined || cosignatureTime(own.signature) === null) return null;
  return formatSignatureLine(key, own.signature);
}
