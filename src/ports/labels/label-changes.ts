// Answers one question: what did each import of exchange labels add, change and remove?
// The log is public and only grows. It tells of imports that completed, and of no others.

import type { Partly } from '../../evidence/reading.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import type { ExchangeLabel } from './exchange-labels.ts';

/** The name of this port in readings. */
export type LabelChangesPort = 'label_changes';

/** What a label says that may change under the same source, address, chain and entity. */
export type LabelWords = Pick<ExchangeLabel, 'label' | 'role' | 'confidence' | 'source_url'>;

/** One change of the table. */
export type LabelChange = Omit<ExchangeLabel, 'clusterable'> & {
  /** Grows with time: a later change has a larger one. */
  readonly id: number;
  readonly change: 'added' | 'changed' | 'removed';
  /** What it said before; `null` but where it changed. */
  readonly before: LabelWords | null;
  readonly import_id: number;
  /** Unix seconds at which the import completed. */
  readonly at: number;
  /** SHA-256 of the file imported. */
  readonly sha256: string;
  readonly origin: ImportOrigin;
};

/** Which changes are asked for. */
export type ChangesAsked = {
  /** Only older ones than this; `null`: from the newest on. */
  readonly beforeId: number | null;
  /** Only of this address, in the form that `matchKey` gives; `null`: of any. */
  readonly matchKey: string | null;
  readonly limit: number;
};

/** The log. Unread while no import of labels has completed. A part holds the newest of more. */
export type LabelChanges = {
  readonly newest: (
    asked: ChangesAsked,
  ) => Promise<Partly<readonly LabelChange[], LabelChangesPort>>;
};
