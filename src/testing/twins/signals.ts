// The twin of signals: in memory, planted and silent.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { FeedPage, KeptSignal, NewSignal, Signals } from '../../ports/signals.ts';
import type { NewLeaf } from '../../ports/transparency-log.ts';
import { evm } from '../addresses.ts';
import { signalOf } from '../signals.ts';
import { type Dated, memorySource, PLANTED } from './dated.ts';

/** A signal as it is held, with the bytes of its bundle. */
export type HeldSignal = KeptSignal & { readonly bundle: Uint8Array };

/** The signals of a memory; those without an end are current. */
export type MemorySignals = Dated &
  Pick<FeedPage, 'last_round_at' | 'last_emit_at' | 'asked_at'> & {
    readonly held: readonly HeldSignal[];
  };

/** A new signal as the store keeps it, as the leaf of that index. */
export function heldSignal(signal: NewSignal, leaf = 0): HeldSignal {
  const { content_hash: _, rules_version: __, ...stated } = signal;
  return { ...stated, leaf, end: null };
}

export function memorySignals(memory: MemorySignals): Signals {
  const { held, last_round_at, last_emit_at, asked_at, ...dated } = memory;
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
      const told = { any_current, last_round_at, last_emit_at, asked_at };
      return read({ signals, more, ...told }, origin);
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

/** The leaves of some signals, in their order. */
export function leavesOf(held: readonly KeptSignal[]): readonly NewLeaf[] {
  return held.map(({ call_hash: hash, signal_id: id, generated_at_unix: at }) => ({
    kind: 'signal',
    hash,
    id,
    at,
  }));
}

/** The ports of signals over a memory. */
export type SignalPorts = { readonly signals: Signals };

/** Left out: nothing was ever published. */
export type SignalsHeld = { readonly signals?: MemorySignals };

const NEVER: MemorySignals = {
  ...PLANTED,
  held: [],
  last_round_at: null,
  last_emit_at: null,
  asked_at: PLANTED.as_of,
};

export function memorySignalPorts({ signals = NEVER }: SignalsHeld): SignalPorts {
  return { signals: memorySignals(signals) };
}

export function silentSignals(cause: Why): SignalPorts {
  return {
    signals: {
      find: async () => unread('signals', cause),
      bundleOf: async () => unread('signals', cause),
      feed: async () => unread('signals', cause),
    },
  };
}

/** The signals that a world may plant, each with whether its row was changed since. */
export type PlantedSignals = { readonly signalled?: { readonly isChanged: boolean } };

/** Whom the planted signal is about, and its id. */
const SIGNALLED = evm('written about').toLowerCase();
const STANDS = heldSignal(
  signalOf({ address: SIGNALLED, at: PLANTED.as_of, run_id: 'run_planted' }),
  1,
);
export const SIGNAL_ID = STANDS.signal_id;
/** The same row as somebody changed it: it cites what is in no bundle, and says something else. */
const CHANGED: HeldSignal = {
  ...STANDS,
  verdict: 'no_opinion',
  call_hash: `0x${'1'.repeat(64)}`,
  bundle: new TextEncoder().encode('{"evidence":{}}'),
};

export function plantedSignals({ signalled }: PlantedSignals): SignalPorts {
  if (signalled === undefined) return memorySignalPorts({});
  const held = [signalled.isChanged ? CHANGED : STANDS];
  const last_round_at = PLANTED.as_of + 60;
  const rounds = { last_round_at, last_emit_at: null, asked_at: last_round_at };
  return memorySignalPorts({ signals: { ...PLANTED, held, ...rounds } });
}

/** What the planted signal contradicts: it stands in the log behind one other statement. */
export const SIGNAL_STANDS = {
  signalled: { isChanged: false },
  statements: leavesOf([STANDS]),
  contradicts: {
    signals_feed: ['signals', 'count', 'data_mode', 'producer.state'],
    signal_verification: ['reproducible', 'citations_valid', 'call_hash_valid', 'logged'],
  },
} as const;

/** The lines of pages that deny something of signals. */
export const SIGNAL_DENIALS: readonly (readonly [line: RegExp, restsOn: readonly string[]])[] = [
  [/^No (older )?signal stands now\.$|^There is no signal of this id$/, ['signals']],
  [/^Nothing was published here within the last hour, or nothing stands\. /, ['signals']],
  [/^It cites nothing, and so has no opinion\.$/, ['signals']],
  [/\bno opinion\b/, ['signals']],
];
