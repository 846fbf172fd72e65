// Answers one question: with which settings does the embedded PostgreSQL run.
// Small buffers: the tables of the control store are small, and memory at rest is bounded.

/** The engine's parameters beside its own defaults. */
export const ENGINE_PARAMETERS: readonly string[] = [
  '-c',
  'shared_buffers=16MB',
  '-c',
  'max_wal_size=64MB',
  '-c',
  'min_wal_size=32MB',
  '-c',
  'timezone=UTC',
];

/** Type ids of PostgreSQL whose values are read otherwise than the drivers do by themselves. */
export const TYPE_ID: {
  readonly [name in
    | 'bytea'
    | 'int8'
    | 'date'
    | 'timestamp'
    | 'textArray'
    | 'int8Array'
    | 'numericArray']: number;
} = {
  bytea: 17,
  int8: 20,
  date: 1082,
  timestamp: 1114,
  textArray: 1009,
  int8Array: 1016,
  numericArray: 1231,
};

/** The id under which the engine's worker says that it is ready. */
export const READY_ID = 1;
