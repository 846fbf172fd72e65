// Declares the page /entities/calibration: how often links are right, as far as it was measured.

import { html } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';

export const entitiesCalibrationPage = plainRoute({
  name: 'entities_calibration_page',
  surface: 'web',
  method: 'GET',
  path: '/entities/calibration',
  summary: 'How often the links of entities are right, for people.',
  access: 'open',
  responses: { 200: html() },
});

/** What was counted, and the interval (Wilson, 95%) in which the true share lies. */
type Counted = { readonly low: number; readonly high: number };

/** One form of a link with its weight; `counted`: `null` where no data set shows it. */
export type CalibrationRow = {
  readonly heuristic: string;
  readonly form: string;
  readonly weight: number;
  readonly basis: 'measured' | 'assumed';
  readonly counted:
    | (Counted & {
        readonly on: string;
        readonly right: number;
        readonly n: number;
        readonly share: number;
      })
    | null;
};

/** All that the page shows. */
export type PublishedCalibration = {
  readonly rows: readonly CalibrationRow[];
  readonly recall: readonly (Counted & {
    readonly heuristic: string;
    readonly on: string;
    readonly found: number;
    readonly of: number;
  })[];
  /** Each data set, what it shows, and what was counted in it beside the weights. */
  readonly sets: readonly {
    readonly name: string;
    readonly title: string;
    readonly source: string;
    readonly shows: string;
    readonly counts: string | null;
  }[];
};
