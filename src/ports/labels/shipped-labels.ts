// What is a table of labels that comes with the product, once its rows are judged?

import type { RefusedLine } from '../tables/table-import.ts';
import type { ExchangeLabel } from './exchange-labels.ts';

/** A row of the table, and the day (ISO 8601) of its last review. */
export type ShippedLabel = ExchangeLabel & { readonly reviewed: string };

/** The rows that the rules take, and each one that they refuse; `line` counts from 1. */
export type ShippedLabels = {
  readonly rows: readonly ShippedLabel[];
  readonly refused: readonly RefusedLine[];
};
