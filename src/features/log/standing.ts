// The log for those who read it. That something is not there is said only of a log that lost
// nothing, and a proof is checked before it is given.

import { concatBytes } from '../../chain/bytes.ts';
import { hashLeaf, isIncluded, leafContent } from '../../chain/merkle-tree.ts';
import { noteKey, openCheckpoint } from '../../chain/signed-note.ts';
import { formatEntries, tileWidth } from '../../chain/tile-tree.ts';
import { map, type Read, type Reading, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type FormerOrigin,
  LEAF_KINDS,
  type LeafStanding,
  type LogEntry,
  type LogHead,
  type SeenHeads,
  type SignedState,
  type TransparencyLog,
  type TransparencyLogPort,
} from '../../ports/transparency-log.ts';
import {
  checkpointOf,
  compareLog,
  frozenBecause,
  NO_ORIGIN,
  type OriginStanding,
  whyFrozen,
} from './checkpoints.ts';
import type { LogStore, StoredCheckpoint, StoredOrigin } from './shapes.ts';

const PORT = 'transparency_log';

/** What the port is made of; `host` is `null` where the log is not signed. */
export type LogReading = {
  readonly store: LogStore;
  readonly seen: SeenHeads;
  readonly host: string | null;
  /** The public keys that were ever published: `x` in base64url. */
  readonly keys: () => Promise<
    Reading<readonly { readonly x: string; readonly compromised_since: number | null }[], never>
  >;
};

/** The log over its tables and what this machine saw signed. */
export function transparencyLog({ store, seen, host, keys }: LogReading): TransparencyLog {
  const compare = () => compareLog({ store, seen }, 'at a glance');
  return {
    head: async () => {
      if (host === null) return unread(PORT, NO_ORIGIN);
      const standing = await compare();
      if (standing.kind === 'unread') return unread(PORT, standing.why);
      if (standing.kind === 'standing') {
        return map(standing.reading, () => headOf(standing, host));
      }
      return map(standing.reading, ({ leaves }) => ({ ...UNBEGUN, leaves }));
    },
    find: async (leaf) => {
      if (host === null) return unread(PORT, NO_ORIGIN);
      return standingOf({ store, host }, await compare(), await store.find(leaf));
    },
    at: async (index) => {
      if (host === null) return unread(PORT, NO_ORIGIN);
      const found = await store.entries(index, 1);
      const only = map(found, (entries) => {
        const [entry] = entries;
        return entry?.index === index ? entry : null;
      });
      return standingOf({ store, host }, await compare(), only);
    },
    inclusion: async (index, size) => {
      const state = await store.state();
      if (state instanceof Unread) return state;
      if (index >= size || size > state.value.leaves) {
        const fault = `it holds ${state.value.leaves} of ${size} leaves`;
        return unread(PORT, why('store_unreadable', { what: 'The transparency log', fault }));
      }
      return map(await store.inclusion(index, size), (hashes) => hashes.map(hexOf));
    },
    isSigned: async (checkpoint) => {
      const [state, published] = [await store.state(), await keys()];
      if (state instanceof Unread) return state;
      if (published instanceof Unread) return unread(PORT, published.why);
      const good = published.value.filter((key) => key.compromised_since === null);
      return map(state, ({ origins }) =>
        origins.some(({ origin }) => {
          const named = good.map(({ x }) => noteKey(origin, Buffer.from(x, 'base64url')));
          return openCheckpoint(checkpoint, origin, named).ok;
        }),
      );
    },
    entries: store.entries,
    tile: async (generation, tile) => {
      const state = await store.state();
      if (state instanceof Unread) return state;
      const origin = state.value.origins.find((one) => one.generation === generation);
      const { published, held } = extentOf(origin);
      const { of, level, index, width } = tile;
      if (tileWidth(level, index, published) < width) return map(state, () => null);
      if (origin !== undefined && tileWidth(level, index, held) < width) {
        const cause = `of the ${published} leaves that it signed the first ${held} are stored`;
        return unread(PORT, frozenBecause(origin.origin, cause));
      }
      if (of === 'hashes') return map(await store.hashes(level, index, width), concatBytes);
      const entries = await store.entries(index * FULL, width);
      return map(entries, (all) => formatEntries(all.map(contentOf)));
    },
  };
}

const FULL = 256;
const UNBEGUN = {
  generation: 1,
  origin: null,
  newest: null,
  published: null,
  frozen: null,
  former: [],
} as const;

type Compared = Awaited<ReturnType<typeof compareLog>>;

function contentOf({ kind, hash }: Pick<LogEntry, 'kind' | 'hash'>): Uint8Array {
  return leafContent(LEAF_KINDS[kind], hash);
}

function hexOf(hash: Uint8Array): string {
  return `0x${Buffer.from(hash).toString('hex')}`;
}

/** How many leaves an origin published, and how many of them are stored as it did. */
function extentOf(origin: StoredOrigin | undefined): { published: number; held: number } {
  if (origin === undefined) return { published: 0, held: 0 };
  const { newest, freeze, end } = origin;
  const stored = newest === null ? 0 : newest.size;
  const note = end === null ? freeze?.note : end.note;
  const signed = typeof note === 'string' ? checkpointOf(note).size : stored;
  return { published: Math.max(stored, signed), held: end === null ? stored : end.held };
}

/** What the log signed, in words; of a frozen one why it is, and how much it signed at last. */
export function signedText(head: LogHead): string | { readonly frozen: string } {
  const { frozen, newest, leaves, published } = head;
  if (frozen !== null) {
    const last = published === null ? 'nothing' : `${checkpointOf(published).size} leaves`;
    return { frozen: `${frozen.reason} It has signed ${last}.` };
  }
  return newest === null
    ? `${leaves} leaves await the first checkpoint`
    : `${newest.size} of ${leaves} leaves are signed`;
}

function headOf(standing: OriginStanding, host: string): LogHead {
  const { stored, current, last } = standing;
  const { generation, origin, newest } = current;
  const signed = newest === null ? null : stateView(newest);
  const isNewest = newest !== null && last === newest.note;
  return {
    generation,
    origin,
    leaves: stored.leaves,
    newest: signed,
    published: isNewest && signed !== null ? signed.note : last,
    frozen: whyFrozen(standing, host),
    former: stored.origins.flatMap(formerOf),
  };
}

function stateView({ size, root, note, lines, signed_at }: StoredCheckpoint): SignedState {
  return { size, root: hexOf(root), signed_at, note: `${note}${lines}` };
}

function formerOf({ generation, origin, end }: StoredOrigin): FormerOrigin[] {
  return end === null ? [] : [{ generation, origin, ...end }];
}

async function standingOf(
  { store, host }: { readonly store: LogStore; readonly host: string },
  compared: Compared,
  found: Reading<LogEntry | null, TransparencyLogPort>,
): Promise<Reading<LeafStanding, TransparencyLogPort>> {
  if (compared.kind === 'unread') return unread(PORT, compared.why);
  if (found instanceof Unread) return found;
  const entry = found.value;
  const standing = compared.kind === 'standing' ? compared : null;
  const frozen = standing === null ? null : whyFrozen(standing, host);
  const newest = standing === null ? null : standing.current.newest;
  if (entry !== null && newest !== null && entry.index < newest.size) {
    return proofOf(store, found, { entry, newest, origin: compared });
  }
  // A log that lost leaves cannot tell what was none of them; a frozen one signs no further leaf.
  const hasLost = standing !== null && standing.cause !== null;
  if (frozen !== null && (hasLost || entry !== null)) return unread(PORT, frozen);
  return map(found, () => (entry === null ? ABSENT : { state: 'awaiting', entry }));
}

const ABSENT: LeafStanding = { state: 'absent' };

async function proofOf(
  store: LogStore,
  found: Read<LogEntry | null, TransparencyLogPort>,
  {
    entry,
    newest,
    origin,
  }: {
    readonly entry: LogEntry;
    readonly newest: StoredCheckpoint;
    readonly origin: Compared;
  },
): Promise<Reading<LeafStanding, TransparencyLogPort>> {
  const { index } = entry;
  const { size, root } = newest;
  const proof = await store.inclusion(index, size);
  if (proof instanceof Unread) return proof;
  const leafHash = hashLeaf(contentOf(entry));
  if (!isIncluded({ index, size, leafHash, root, proof: proof.value })) {
    const name = origin.kind === 'standing' ? origin.current.origin : 'none';
    return unread(PORT, frozenBecause(name, `leaf ${index} is not the one that it signed`));
  }
  const signed = stateView(newest);
  return map(found, () => ({
    state: 'proved',
    entry,
    size,
    root: signed.root,
    hashes: proof.value.map(hexOf),
    checkpoint: signed.note,
  }));
}
