// Answers one question: was what an import brought observed, or made up.

/** Whether the rows were observed or made up. It is said at import, never read from a file. */
export const IMPORT_ORIGINS = ['observed', 'simulated'] as const;
export type ImportOrigin = (typeof IMPORT_ORIGINS)[number];

/** Whose word the date of an import is: its rows', its importer's, or it is when it was done. */
export const DATED_BY = ['file', 'operator', 'import'] as const;
export type DatedBy = (typeof DATED_BY)[number];
