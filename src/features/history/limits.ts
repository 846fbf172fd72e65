// Answers one question: how much transfer history does one question read.

/** What bounds a reading of transfer history. */
export const HISTORY_LIMITS = {
  /** The most transfers of one address. */
  rowsMax: 5_000,
  /** The most transfers of all addresses of one question. */
  batchRowsMax: 100_000,
} as const;
