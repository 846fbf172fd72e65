// Statements that stay said: each is a leaf of one tree, and whoever keeps a root can ask for proof
// that what was in it still stands where it stood.

import { z } from 'zod';
import type { NoteKey } from '../chain/signed-note.ts';
import type { Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';

/** The name of this port in readings. */
export type TransparencyLogPort = 'transparency_log';

/**
 * The kinds of statement, by the byte that begins their leaf. The hash of a signal is its call
 * hash, and of a status the Keccak of its canonical object.
 */
export const LEAF_KINDS = {
  signal: 1,
  signal_status: 2,
  call: 3,
  provider_call: 4,
  outcome_rule: 5,
  version: 6,
} as const;
export type LeafKind = keyof typeof LEAF_KINDS;
/** The same as a list. */
export const LEAF_KIND_NAMES = [
  'signal',
  'signal_status',
  'call',
  'provider_call',
  'outcome_rule',
  'version',
] as const satisfies readonly LeafKind[];

/** A statement that becomes a leaf. */
export type NewLeaf = {
  readonly kind: LeafKind;
  /** `0x` and 64 hex digits in lower case. */
  readonly hash: string;
  /** What the statement is called where it is shown. */
  readonly id: string;
  /** When it became true, in Unix seconds. */
  readonly at: number;
};

/** A leaf with its place in the tree. */
export type LogEntry = NewLeaf & { readonly index: number };

const hash = z.string().regex(/^0x[0-9a-f]{64}$/);

/** A state of the log that it signed. */
export const signedState = z.strictObject({
  size: z.int().positive(),
  root: hash,
  /** Unix seconds. */
  signed_at: z.number(),
  /** The signed note as it is published, with the lines of witnesses. */
  note: z.string().min(1),
});
export type SignedState = z.output<typeof signedState>;

/** An origin that signs nothing more. */
export type FormerOrigin = {
  readonly generation: number;
  readonly origin: string;
  /** The last checkpoint that it signed; `null` where it signed none. */
  readonly note: string | null;
  /** Leaves that are stored as it published them. */
  readonly held: number;
  readonly why: string;
  /** The signed statement of its end. */
  readonly statement: string;
  /** Unix seconds. */
  readonly ended_at: number;
};

/** The log as it stands. */
export type LogHead = {
  readonly generation: number;
  /** The name under which it signs; `null` until its first round. */
  readonly origin: string | null;
  /** Statements that are leaves, those included that await the next checkpoint. */
  readonly leaves: number;
  /** The newest checkpoint whose leaves are stored; `null` where there is none of this name. */
  readonly newest: SignedState | null;
  /** The signed note of the largest size under this name. It is `newest` unless leaves are lost. */
  readonly published: string | null;
  /** Why it signs nothing; `null` where it does. */
  readonly frozen: Why | null;
  readonly former: readonly FormerOrigin[];
};

/** Where a statement stands in the log. */
export type LeafStanding =
  | { readonly state: 'absent' }
  /** It is a leaf, and the next checkpoint will hold it. */
  | { readonly state: 'awaiting'; readonly entry: LogEntry }
  | {
      readonly state: 'proved';
      readonly entry: LogEntry;
      readonly size: number;
      readonly root: string;
      /** From the leaf's sibling up to below the root, as `0x` and 64 hex digits. */
      readonly hashes: readonly string[];
      /** The signed note of that size. */
      readonly checkpoint: string;
    };

/** The log for those who publish statements, or show that they stand. */
export type TransparencyLog = {
  readonly head: () => Promise<Reading<LogHead, TransparencyLogPort>>;
  /** Where the statement of this kind and hash stands. */
  readonly find: (
    leaf: Pick<NewLeaf, 'kind' | 'hash'>,
  ) => Promise<Reading<LeafStanding, TransparencyLogPort>>;
  /** The same of the leaf at an index. */
  readonly at: (index: number) => Promise<Reading<LeafStanding, TransparencyLogPort>>;
  /** The hashes (`0x…`) that prove a leaf in the tree of a size, from its sibling upwards. */
  readonly inclusion: (
    index: number,
    size: number,
  ) => Promise<Reading<readonly string[], TransparencyLogPort>>;
  /** Whether a key of this deployment, of which nobody else may hold it, signed a checkpoint. */
  readonly isSigned: (checkpoint: string) => Promise<Reading<boolean, TransparencyLogPort>>;
  /** Leaves from an index on, up to `limit` of them. */
  readonly entries: (
    from: number,
    limit: number,
  ) => Promise<Reading<readonly LogEntry[], TransparencyLogPort>>;
  /** The hashes, or the bytes of the entries, of a tile as `generation` published it; `null`: it
   * published no such tile, or not this much of it. */
  readonly tile: (
    generation: number,
    tile: {
      readonly of: 'hashes' | 'entries';
      readonly level: number;
      readonly index: number;
      readonly width: number;
    },
  ) => Promise<Reading<Uint8Array | null, TransparencyLogPort>>;
};

/** What this machine saw signed, in files that no restored store takes back. */
export type SeenHeads = {
  /** The note of the largest size of an origin; `null`: none was seen here. */
  readonly newest: (origin: string) => Promise<Reading<string | null, SeenHeadsPort>>;
  /** Whether the origin has ended. */
  readonly hasEnded: (origin: string) => Promise<Reading<boolean, SeenHeadsPort>>;
  /** Syncs a note; `false`: another root of the same size is there, which stays. */
  readonly keep: (
    origin: string,
    size: number,
    root: Uint8Array,
    note: string,
  ) => Promise<Reading<boolean, SeenHeadsPort>>;
  /** Syncs the last statement of an origin, and gives the one that is kept: a former one stays. */
  readonly keepEnd: (origin: string, statement: string) => Promise<Reading<string, SeenHeadsPort>>;
};
export type SeenHeadsPort = 'seen_heads';

/** What a witness answers. */
export type WitnessAnswer =
  | { readonly kind: 'signed'; readonly lines: string }
  /** It last signed another size than it was told. */
  | { readonly kind: 'conflict'; readonly size: number };

/** A witness that signs what it saw of the log. */
export type LogWitness = {
  readonly key: NoteKey;
  readonly submit: (request: string, signal: AbortSignal) => Promise<Reading<WitnessAnswer, never>>;
};
