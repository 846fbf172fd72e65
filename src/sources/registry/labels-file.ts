// Which exchange does the label table that comes with the product name for an address?
// A file with one row that is wrong is not used at all: it is the project's own, and reviewed.

import { parseIsoDate } from '../../chain/time.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  LabelLookUp,
} from '../../ports/labels/exchange-labels.ts';
import type { ShippedLabels } from '../../ports/labels/shipped-labels.ts';
import type { TableIndex } from '../../ports/tables/imported-table.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';

const PORT = 'exchange_labels';
const TITLE = 'Exchange wallet table that comes with the product';
const HASH_CHARS_SHOWN = 12;

/** How rows are judged and held. `validate` throws RangeError for what is no such table. */
type Rules = {
  readonly validate: (lines: readonly TableLine[]) => ShippedLabels;
  readonly index: (imports: readonly []) => TableIndex<ExchangeLabel, LabelLookUp>;
};

/** The table of a file, read once. A file that cannot be used leaves the table unread. */
export function labelsFile(path: string | URL, rules: Rules): ExchangeLabels {
  let loading: Promise<ExchangeLabels> | null = null;
  return {
    lookUp: async (addresses) => {
      if (loading === null) loading = loadedOrFault(path, rules);
      return (await loading).lookUp(addresses);
    },
  };
}

async function loadedOrFault(path: string | URL, rules: Rules): Promise<ExchangeLabels> {
  try {
    return await loaded(path, rules);
  } catch (error) {
    const isTold = error instanceof FileFault || error instanceof RangeError;
    if (!isTold && !(error instanceof Error && 'code' in error)) throw error;
    const fault = isTold ? error.message : 'its file cannot be read';
    const silent = unread(PORT, why('store_unreadable', { what: TITLE, fault }));
    return { lookUp: async () => silent };
  }
}

async function loaded(path: string | URL, { validate, index }: Rules): Promise<ExchangeLabels> {
  const { sha256, lines } = await csvTable(path);
  const { rows, refused } = validate(lines);
  const [wrong] = refused;
  if (wrong !== undefined) throw new FileFault(`line ${wrong.line}: ${wrong.reason}`);
  const [reviewed] = rows.map((row) => row.reviewed).sort();
  if (reviewed === undefined) throw new FileFault('it holds no row');
  const held = index([]);
  for (const { reviewed: _, ...row } of rows) held.add(row);
  const hash = sha256.slice(0, HASH_CHARS_SHOWN);
  const source = {
    name: `${TITLE}: ${rows.length} rows, reviewed ${reviewed}, sha256 ${hash}`,
    url: `urn:sha256:${sha256}`,
    // A row is as old as what its source says; the review renews nothing of that.
    as_of: Math.min(...rows.map(({ first_seen }) => Number(parseIsoDate(first_seen)))),
    kind: 'table',
    simulated: false,
  } as const;
  return {
    lookUp: async (addresses) => read(held.answer(rows.length, addresses), { port: PORT, source }),
  };
}
