// What the log keeps of itself, and the ports over which it signs.

import { z } from 'zod';
import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { LogEntry, NewLeaf, TransparencyLogPort } from '../../ports/transparency-log.ts';

/** Seconds from one checkpoint to the next at least. */
export const CHECKPOINT_EACH_S = 10;
/** Leaves that one round signs beyond those whose tiles were hashed before. */
export const LEAVES_A_ROUND = 65_536;
/** Entries that one question gives at most. */
export const ENTRIES_MAX = 1_000;

/** A checkpoint as it is stored. */
export const storedCheckpoint = z.object({
  size: z.int().positive(),
  root: z.instanceof(Uint8Array),
  /** The signed note, without the lines of witnesses. */
  note: z.string(),
  /** The lines of witnesses. */
  lines: z.string(),
  /** Unix seconds. */
  signed_at: z.number(),
});
export type StoredCheckpoint = Omit<z.output<typeof storedCheckpoint>, 'root'> & {
  readonly root: Uint8Array;
};

/** A name under which the log signs, or signed. */
export type StoredOrigin = {
  readonly generation: number;
  readonly origin: string;
  readonly newest: StoredCheckpoint | null;
  readonly freeze: { readonly reason: string; readonly note: string | null } | null;
  readonly end: {
    readonly note: string | null;
    readonly held: number;
    readonly why: string;
    readonly statement: string;
    readonly ended_at: number;
  } | null;
};

/** The log as it is stored; the last origin is the one that signs. */
export type StoredLog = { readonly leaves: number; readonly origins: readonly StoredOrigin[] };

/** What becomes of a checkpoint that is to be published. */
export type PublishEnd =
  | { readonly kind: 'published' }
  /** The one before is too young, or as large, or the origin signs nothing more. */
  | { readonly kind: 'passed' }
  | { readonly kind: 'not_kept'; readonly why: Why };

export type NewCheckpoint = {
  readonly generation: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly note: string;
};

/** The end of an origin and the beginning of the next. */
export type NewEnd = {
  readonly generation: number;
  readonly note: string | null;
  readonly held: number;
  readonly why: string;
  readonly statement: string;
  readonly next: { readonly generation: number; readonly origin: string };
  /** The leaf by which the log itself tells of the end. */
  readonly leaf: NewLeaf;
};

/** The tables of the log. */
export type LogStore = {
  readonly state: () => Promise<Reading<StoredLog, TransparencyLogPort>>;
  /** Begins the first origin, unless there is one. */
  readonly begin: (origin: string) => Promise<Reading<true, TransparencyLogPort>>;
  /** Hashes full tiles that were not, and gives the size whose root can be made quickly. */
  readonly hashTiles: () => Promise<Reading<number, TransparencyLogPort>>;
  readonly rootAt: (size: number) => Promise<Reading<Uint8Array, TransparencyLogPort>>;
  readonly inclusion: (
    index: number,
    size: number,
  ) => Promise<Reading<readonly Uint8Array[], TransparencyLogPort>>;
  readonly consistency: (
    older: number,
    newer: number,
  ) => Promise<Reading<readonly Uint8Array[], TransparencyLogPort>>;
  /** The hashes of a tile, as many as there are up to its width. */
  readonly hashes: (
    level: number,
    index: number,
    width: number,
  ) => Promise<Reading<readonly Uint8Array[], TransparencyLogPort>>;
  readonly entries: (
    from: number,
    limit: number,
  ) => Promise<Reading<readonly LogEntry[], TransparencyLogPort>>;
  readonly find: (
    leaf: Pick<NewLeaf, 'kind' | 'hash'>,
  ) => Promise<Reading<LogEntry | null, TransparencyLogPort>>;
  /**
   * Adds a checkpoint once `keep` has it synced elsewhere, or says why it has not. No other
   * process adds one meanwhile.
   */
  readonly publish: (
    checkpoint: NewCheckpoint,
    keep: () => Promise<Why | null>,
  ) => Promise<Reading<PublishEnd, TransparencyLogPort>>;
  readonly freeze: (
    generation: number,
    reason: string,
    note: string | null,
  ) => Promise<Reading<true, TransparencyLogPort>>;
  readonly end: (end: NewEnd) => Promise<Reading<boolean, TransparencyLogPort>>;
  /** The largest size of an origin that each witness signed. */
  readonly cosigned: (
    generation: number,
  ) => Promise<Reading<ReadonlyMap<string, number>, TransparencyLogPort>>;
  readonly addCosignature: (
    generation: number,
    size: number,
    witness: string,
    line: string,
  ) => Promise<Reading<true, TransparencyLogPort>>;
};
