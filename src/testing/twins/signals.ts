// The twin of signals, of the log that they are leaves of, and of its anchors: in memory, planted
// and silent.

import { rootOfLeaves } from '../../chain/merkle-tree.ts';
import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { leafHashOf, type SignalLog } from '../../features/signals/verification.ts';
import type { Anchors } from '../../ports/anchoring.ts';
import type { FeedPage, KeptSignal, NewSignal, Signals } from '../../ports/signals.ts';
import { memoryAnchors, silentAnchors } from './anchors.ts';
import { type Dated, memorySource, PLANTED } from './dated.ts';

/** A signal as it is held, with the bytes of its bundle. */
export type HeldSignal = KeptSignal & { readonly bundle: Uint8Array };

/** The signals of a memory; those without an end are current. */
export type MemorySignals = Dated &
  Pick<FeedPage, 'last_round_at' | 'last_emit_at'> & { readonly held: readonly HeldSignal[] };

/** A new signal as the store keeps it, as the leaf of that index. */
export function heldSignal(signal: NewSignal, leaf = 0): HeldSignal {
  const { content_hash: _, rules_version: __, ...stated } = signal;
  return { ...stated, leaf, end: null };
}

export function memorySignals(memory: MemorySignals): Signals {
  const { held, last_round_at, last_emit_at, ...dated } = memory;
  const origin = { port: 'signals', source: memorySource('Signals', 'table', dated) } as const;
  const find = (id: string) => held.find(({ signal_id }) => signal_id === id);
  const current = held.filter(({ end }) => end === null).toSorted(isNewer);
  return {
    find: async (id) => {
      const found = find(id);
      if (found === undefined) return read(null, origin);
      const { bundle: _, ...kept } = found;
      return read(kept, origin);
    },
    bundleOf: async (id) => {
      const found = find(id);
      return read(found === undefined ? null : found.bundle, origin);
    },
    feed: async ({ matchKey, after, limit }) => {
      const listed = current
        .filter(({ address }) => matchKey === null || address === matchKey)
        .filter((one) => after === null || isNewer({ ...one, ...after }, one) < 0);
      const signals = listed.slice(0, limit).map(({ bundle: _, ...kept }) => kept);
      const any_current = current.length > 0;
      const more = listed.length > limit;
      return read({ signals, more, any_current, last_round_at, last_emit_at }, origin);
    },
  };
}

type Placed = Pick<KeptSignal, 'generated_at_unix' | 'signal_id'>;

function isNewer(one: Placed, other: Placed): number {
  const [at, otherAt] = [one.generated_at_unix, other.generated_at_unix];
  if (at !== otherAt) return otherAt - at;
  if (one.signal_id === other.signal_id) return 0;
  return one.signal_id < other.signal_id ? 1 : -1;
}

/** What the log of a memory says of itself beside its leaves. */
export type MemoryLog = Dated & {
  /** The leaves by their hash, in order. */
  readonly leaves: readonly Uint8Array[];
  /** How many the newest checkpoint holds; left out, all. */
  readonly size?: number;
  readonly frozen?: Why | null;
  readonly signed?: boolean;
};

export const MEMORY_ORIGIN = 'log.exhibit.example';

export function memorySignalLog(memory: MemoryLog): SignalLog {
  const { leaves, size = leaves.length, frozen = null, signed = true, ...dated } = memory;
  const source = memorySource('Transparency log', 'table', dated);
  const origin = { port: 'transparency_log', source } as const;
  const hashes = (index: number, of: number) => pathOf(leaves.slice(0, of), index).map(hex);
  return {
    head: async () => read({ origin: MEMORY_ORIGIN, frozen }, origin),
    find: async ({ hash }) => {
      const own = hex(leafHashOf({ call_hash: hash as `0x${string}` }));
      const index = leaves.findIndex((one) => hex(one) === own);
      if (index < 0) return read({ state: 'absent' }, origin);
      if (index >= size) return read({ state: 'awaiting', entry: { index } }, origin);
      return read(
        {
          state: 'proved',
          entry: { index },
          size,
          root: hex(rootOfLeaves(leaves.slice(0, size))),
          hashes: hashes(index, size),
          checkpoint: 'a checkpoint',
        },
        origin,
      );
    },
    inclusion: async (index, of) => read(hashes(index, of), origin),
    isSigned: async () => read(signed, origin),
  };
}

/** The hashes from a leaf's sibling up to below the root (RFC 6962, 2.1.1). */
function pathOf(leaves: readonly Uint8Array[], index: number): readonly Uint8Array[] {
  if (leaves.length < 2) return [];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...pathOf(left, index), rootOfLeaves(right)]
    : [...pathOf(right, index - split), rootOfLeaves(left)];
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

/** The ports of signals over a memory. */
export type SignalPorts = {
  readonly signals: Signals;
  readonly anchors: Anchors;
  readonly transparencyLog: SignalLog;
};

/** Left out: nothing was ever published. */
export type SignalsHeld = { readonly signals?: MemorySignals };

const NEVER: MemorySignals = { ...PLANTED, held: [], last_round_at: null, last_emit_at: null };

export function memorySignalPorts({ signals = NEVER }: SignalsHeld): SignalPorts {
  const { held, as_of, simulated } = signals;
  const leaves = held.map((one) => leafHashOf(one));
  return {
    signals: memorySignals(signals),
    anchors: memoryAnchors({ as_of, simulated }),
    transparencyLog: memorySignalLog({ as_of, simulated, leaves }),
  };
}

export function silentSignals(cause: Why): SignalPorts {
  const log = async () => unread('transparency_log', cause);
  return {
    signals: {
      find: async () => unread('signals', cause),
      bundleOf: async () => unread('signals', cause),
      feed: async () => unread('signals', cause),
    },
    ...silentAnchors(cause),
    transparencyLog: { head: log, find: log, inclusion: log, isSigned: log },
  };
}
