// Recognises an export by its columns alone: its tool and its kind. Columns that fit no layout are
// named beside the expected ones.

import { createHash } from 'node:crypto';
import type { BulkDataset, BulkImportOrder } from '../../../ports/indexing.ts';
import {
  type InputFile,
  inputFile,
  inputPaths,
  textColumns,
} from '../../../sources/files/input-file.ts';
import { ImportFault } from '../../../sources/files/text-lines.ts';

/** The fields of a row, whatever its column is called. */
export const FIELDS = [
  ...(['block', 'tx', 'path', 'from', 'to', 'created', 'token', 'amount', 'trace'] as const),
  ...(['call', 'status', 'error', 'subtraces', 'trace_id', 'time', 'hash', 'parent'] as const),
  ...(['initiator', 'chain_id', 'tx_count', 'withdrawals'] as const),
] as const;
export type Field = (typeof FIELDS)[number];

/** A layout: a file is of it if it has one column of each group of `needs`. */
export type ExportLayout = {
  readonly name: 'ethereum-etl or BigQuery' | 'cryo' | 'other';
  readonly dataset: BulkDataset;
  readonly needs: readonly (readonly string[])[];
  /** The columns that may hold a field, the preferred one first. */
  readonly fields: Readonly<Partial<Record<Field, readonly string[]>>>;
};

const ETL = 'ethereum-etl or BigQuery';
const TIMES = ['block_timestamp', 'time_stamp', 'timestamp'];
const CRYO_AMOUNT = ['value_string', 'value', 'value_binary'];
const CRYO_TRACE_AMOUNT = ['action_value_string', 'action_value', 'action_value_binary'];
const PLACE = { block: ['block_number'], hash: ['block_hash'], time: TIMES } as const;
/** Where most name the transaction of a row, and its two ends. */
const SENT = {
  ...PLACE,
  tx: ['transaction_hash'],
  from: ['from_address'],
  to: ['to_address'],
} as const;

/** The layouts, the most particular first. Sources: the schemas of the three tools. */
const LAYOUTS: readonly ExportLayout[] = [
  {
    name: ETL,
    dataset: 'traces',
    needs: [['trace_type'], ['trace_address'], ['from_address'], ['to_address'], ['value']],
    fields: {
      ...SENT,
      path: ['trace_address'],
      amount: ['value'],
      trace: ['trace_type'],
      call: ['call_type'],
      status: ['status'],
      error: ['error'],
      subtraces: ['subtraces'],
      trace_id: ['trace_id'],
    },
  },
  {
    // Without a transaction's hash these columns are of calls that were only simulated.
    name: 'cryo',
    dataset: 'traces',
    needs: [
      ...[['action_type'], ['action_from'], ['action_to'], CRYO_TRACE_AMOUNT],
      ...[['trace_address'], ['transaction_hash']],
    ],
    fields: {
      ...PLACE,
      tx: ['transaction_hash'],
      path: ['trace_address'],
      from: ['action_from'],
      to: ['action_to'],
      created: ['result_address'],
      amount: CRYO_TRACE_AMOUNT,
      trace: ['action_type'],
      call: ['action_call_type'],
      error: ['error'],
      subtraces: ['subtraces'],
      chain_id: ['chain_id'],
    },
  },
  {
    name: 'cryo',
    dataset: 'token_transfers',
    needs: [['erc20'], ['from_address'], ['to_address'], CRYO_AMOUNT],
    fields: {
      ...SENT,
      path: ['log_index'],
      token: ['erc20'],
      amount: CRYO_AMOUNT,
      chain_id: ['chain_id'],
    },
  },
  {
    name: 'cryo',
    dataset: 'native_transfers',
    needs: [['transfer_index'], ['from_address'], ['to_address'], CRYO_AMOUNT],
    fields: {
      ...SENT,
      path: ['transfer_index'],
      amount: CRYO_AMOUNT,
      chain_id: ['chain_id'],
    },
  },
  {
    name: 'cryo',
    dataset: 'contracts',
    needs: [['contract_address'], ['deployer'], ['factory']],
    fields: {
      ...PLACE,
      tx: ['transaction_hash'],
      path: ['create_index'],
      from: ['factory'],
      to: ['contract_address'],
      initiator: ['deployer'],
      chain_id: ['chain_id'],
    },
  },
  {
    name: 'cryo',
    dataset: 'transactions',
    needs: [['transaction_hash'], ['from_address'], ['to_address'], ['nonce'], CRYO_AMOUNT],
    fields: {
      ...SENT,
      amount: CRYO_AMOUNT,
      status: ['success'],
      chain_id: ['chain_id'],
    },
  },
  {
    name: ETL,
    dataset: 'transactions',
    needs: [['hash'], ['from_address'], ['to_address'], ['value'], ['nonce', 'gas']],
    fields: {
      ...SENT,
      tx: ['hash'],
      created: ['receipt_contract_address'],
      amount: ['value'],
      status: ['receipt_status'],
    },
  },
  {
    name: ETL,
    dataset: 'token_transfers',
    needs: [['token_address', 'contract_address'], ['from_address'], ['to_address'], ['value']],
    fields: {
      ...SENT,
      path: ['log_index'],
      token: ['token_address', 'contract_address'],
      amount: ['value'],
    },
  },
  {
    name: ETL,
    dataset: 'contracts',
    needs: [['address'], ['bytecode'], ['is_erc20', 'function_sighashes']],
    fields: { ...PLACE, to: ['address'] },
  },
  {
    name: ETL,
    dataset: 'blocks',
    needs: [['number'], ['timestamp'], ['hash']],
    fields: {
      block: ['number'],
      hash: ['hash'],
      parent: ['parent_hash'],
      time: ['timestamp'],
      tx_count: ['transaction_count'],
      withdrawals: ['withdrawals'],
    },
  },
  {
    name: 'cryo',
    dataset: 'blocks',
    needs: [['block_number'], ['block_hash'], ['timestamp'], ['author', 'gas_used']],
    fields: {
      block: ['block_number'],
      hash: ['block_hash'],
      parent: ['parent_hash'],
      time: ['timestamp'],
      chain_id: ['chain_id'],
    },
  },
  {
    name: 'other',
    dataset: 'left_aside',
    needs: [['topics', 'topic0', 'cumulative_gas_used', 'decimals', 'total_supply']],
    fields: {},
  },
];

/** The layout of a file with these columns, or `ImportFault` naming them and the expected ones. */
export function fileLayoutOf(file: string, columns: readonly string[]): ExportLayout {
  const has = new Set(columns);
  const found = LAYOUTS.find((layout) =>
    layout.needs.every((group) => group.some((name) => has.has(name))),
  );
  if (found !== undefined) return found;
  const expected = LAYOUTS.filter(({ dataset }) => dataset !== 'left_aside').map(
    ({ name, dataset, needs }) =>
      `${dataset} (${name}): ${needs.map((group) => group.join('|')).join(', ')}`,
  );
  throw new ImportFault(
    `${file}: its columns fit no layout. Seen: ${columns.join(', ')}. ` +
      `Expected one of: ${expected.join('; ')}.`,
  );
}

/** The column of a file that holds a field, `null` where it has none. */
export function columnOf(
  layout: ExportLayout,
  field: Field,
  columns: readonly string[],
): string | null {
  const found = layout.fields[field]?.find((name) => columns.includes(name));
  return found === undefined ? null : found;
}

// Plans an import: its files in order, and its name. The same files under the same order have the
// same name, so that a killed import is found again.

/** A file to import. `columns` are `null` where only the engine can tell them. */
export type PlannedFile = Omit<InputFile, 'head'> & {
  readonly number: number;
  readonly columns: readonly string[] | null;
};

/** An import: its name, and its files. */
export type ImportPlan = { readonly id: string; readonly files: readonly PlannedFile[] };

/** Finds the files of an order and looks into each. */
export async function planOf(order: BulkImportOrder): Promise<ImportPlan> {
  const paths = await inputPaths(order.paths);
  const files: PlannedFile[] = [];
  for (const [number, path] of paths.entries()) {
    const { head, ...facts } = await inputFile(path);
    const isText = facts.format === 'CSVWithNames' || facts.format === 'JSONEachRow';
    files.push({ ...facts, number, columns: isText ? textColumns({ ...facts, head }) : null });
  }
  const { chain, origin, declared, failed_excluded } = order;
  const named = [chain, origin, declared, failed_excluded, files.map((one) => one.fingerprint)];
  const id = createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, 16);
  return { id, files };
}

/** Of a file's name in that of a source. */
const NAME_CHARS_MAX = 80;

/** The printed source of an import: file names, no paths. */
export function sourceOf({ files }: ImportPlan): string {
  const [first, ...rest] = files;
  if (first === undefined) throw new ImportFault('There is no file to import.');
  const name = first.name.slice(0, NAME_CHARS_MAX);
  const more = rest.length === 1 ? '1 more file' : `${rest.length} more files`;
  return rest.length === 0 ? name : `${name} and ${more}`;
}
