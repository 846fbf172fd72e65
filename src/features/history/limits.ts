// Answers one question: how much history does one question read, and how fresh must it be.

/** What bounds a reading of transfer history where the deployment sets nothing else. */
export const HISTORY_LIMITS = {
  /** The most transfers of one address. */
  rowsMax: 5_000,
  /** The most transfers of all addresses of one question. */
  batchRowsMax: 100_000,
  /** Seconds since a chain's newest held block from which on it carries no negative. */
  tipMaxAgeS: 3_600,
} as const;
