// LightGBM's example of lambdarank, and its settings. A row is `label feature:value …`, as svmlight
// writes it; a feature that is left out is missing.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BoostingLimits } from '../features/boosting/boost.ts';
import type { Queries } from '../features/boosting/lambdarank.ts';
import { SHARED_DATA } from './shared-data.ts';

export const RANK_DATA = join(SHARED_DATA, 'rank');

/** 100 trees at a rate of 0.1, 31 leaves, 255 bins, 0.9 of the rows; its file has the rest. */
export const LIGHTGBM_EXAMPLE: Omit<BoostingLimits, 'seed'> = {
  treesMax: 100,
  depthMax: 64,
  leavesMax: 31,
  lambda: 0,
  hessianMin: 5,
  rowsMin: 50,
  shrinkage: 0.1,
  rowShare: 0.9,
  binsMax: 255,
  patience: 100,
};

/** Rows in the order of their queries, one column for each feature. */
export type RankingFile = Queries & { readonly columns: readonly Float64Array[] };

const FEATURES = 301;

/** Reads `rank.train` or `rank.test`. */
export async function rankingFile(name: 'rank.train' | 'rank.test'): Promise<RankingFile> {
  const text = gunzipSync(await readFile(join(RANK_DATA, `${name}.gz`))).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  const columns = Array.from({ length: FEATURES }, () => missingColumn(lines.length));
  const labels = new Uint8Array(lines.length);
  for (const [row, line] of lines.entries()) {
    const [label, ...pairs] = line.trim().split(/\s+/);
    labels[row] = Number(label);
    for (const pair of pairs) {
      const [feature, value] = pair.split(':').map(Number);
      const column = columns[Number(feature)];
      if (column === undefined) throw new Error(`${name}: there is no feature ${feature}`);
      column[row] = Number(value);
    }
  }
  const sizes = await readFile(join(RANK_DATA, `${name}.query`), 'utf8');
  return { columns, labels, sizes: sizes.trim().split(/\s+/).map(Number) };
}

function missingColumn(rows: number): Float64Array {
  return new Float64Array(rows).fill(Number.NaN);
}
