// Which rows may stand in the exchange-wallet table that comes with the product?
// Each goes through the rules of an import. Beyond those it must say all that an operator would
// have told for it: its source, the page and day of that source, and the day of its review.

import { formatIsoDate, parseIsoDate } from '../../chain/time.ts';
import { written } from '../../evidence/measure.ts';
import type { ShippedLabels } from '../../ports/labels/shipped-labels.ts';
import type { RawRow, RefusedLine, TableLine } from '../../ports/tables/table-import.ts';
import {
  type Accepted,
  isShowable,
  type Refused,
  ROW_REFUSALS,
  refused,
  valueIn,
} from './import-rows.ts';
import { exchangeLabels } from './labels.ts';

/** The columns of the file, in their order. No cell of a row is empty. */
export const SHIPPED_LABEL_COLUMNS = [
  'chain',
  'address',
  'entity',
  'label',
  'role',
  'confidence',
  'source',
  'source_url',
  'first_seen',
  'reviewed',
] as const;

const SOURCE_CHARS_MAX = 100;

type Label = ShippedLabels['rows'][number];

/** Validates the lines of a file. Throws `RangeError` where the file is no table of this kind. */
export function validateShippedLabels([heading, ...lines]: readonly TableLine[]): ShippedLabels {
  if (heading?.cells.join() !== SHIPPED_LABEL_COLUMNS.join()) {
    throw new RangeError(`the columns are ${SHIPPED_LABEL_COLUMNS.join(', ')}`);
  }
  const rows: Label[] = [];
  const refusals: RefusedLine[] = [];
  const met = new Set<string>();
  for (const { line, cells } of lines) {
    const verdict = judged(line, cells, met);
    if (!('code' in verdict)) {
      rows.push(verdict.row);
      continue;
    }
    const { code, about } = verdict;
    const reason = about === null ? ROW_REFUSALS[code] : `${ROW_REFUSALS[code]} (${about})`;
    refusals.push({ line, chain: shownCell(cells, 0), address: shownCell(cells, 1), code, reason });
  }
  return { rows, refused: refusals };
}

function judged(
  line: number,
  cells: readonly string[],
  met: Set<string>,
): Accepted<Label> | Refused {
  if (cells.length !== SHIPPED_LABEL_COLUMNS.length) {
    return refused('unreadable_row', `${cells.length} values`);
  }
  const fields = new Map<string, string>();
  for (const [i, name] of SHIPPED_LABEL_COLUMNS.entries()) fields.set(name, String(cells[i]));
  const raw: RawRow = { line, fields };
  const missing = SHIPPED_LABEL_COLUMNS.find((name) => valueIn(raw, name) === null);
  if (missing !== undefined) return refused('missing_field', missing);
  const source = String(valueIn(raw, 'source'));
  if (!isShowable(source, SOURCE_CHARS_MAX)) return refused('bad_text', 'source');
  const reviewed = parseIsoDate(String(valueIn(raw, 'reviewed')));
  if (reviewed === null) return refused('bad_time', 'reviewed');
  const told = { source, source_url: null, otherwise: null, imported_at: reviewed };
  const verdict = exchangeLabels.judge(told)(raw, 'rows');
  if ('code' in verdict) return verdict;
  const key = `${verdict.row.chain} ${verdict.row.address}`;
  if (met.has(key)) return refused('duplicate', null);
  met.add(key);
  return { ...verdict, row: { ...verdict.row, reviewed: formatIsoDate(reviewed) } };
}

function shownCell(cells: readonly string[], at: number): string {
  return written(cells[at]);
}
