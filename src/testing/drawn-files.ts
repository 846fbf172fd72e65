// Draws the files of an import whose outcome is kept as digests. Rows are drawn from so few values
// that they collide: equal rows, repeated rows, traces within failed ones, transactions in several
// files, missing headers, and each reason to refuse one.

import type { BulkImportOrder } from '../ports/indexing.ts';
import { lotteryOf } from './lottery.ts';

/** Files by name with what they hold, what is said of them, and reasons that must come up. */
export type RandomFiles = {
  readonly files: readonly (readonly [name: string, text: string])[];
  readonly said: Partial<BulkImportOrder>;
  readonly reasons: readonly string[];
};

type Cell = string | number | boolean | null;
type Row = Readonly<Record<string, Cell>>;

/** Seeds whose outcome is kept; between them they draw each layout together with each other. */
export const DRAWN_SEEDS = 12;
const FIRST = 100;
const BLOCKS = 60;
const ROWS = 700;
/** Rewards are paid at the first of these times, withdrawals at the last. */
const TIMES = [1_600_000_000, 1_670_000_000, 1_690_000_000] as const;
const hex = (n: number, digits: number) => `0x${n.toString(16).padStart(digits, '0')}`;
const hashOf = (block: number) => hex(block * 7 + 1, 64);
const timeOf = (block: number) => Number(TIMES[block % TIMES.length]) + block;

function drawing(seed: number) {
  const { below, oneOf: pick } = lotteryOf(seed);
  /** Mostly the first, at times one of the others. */
  const mostly = <T>(usual: T, ...others: readonly T[]): T =>
    others.length > 0 && below(40) === 0 ? pick(others) : usual;
  return { below, pick, mostly };
}

type Random = ReturnType<typeof drawing>;

const address = ({ below, mostly }: Random) => mostly(hex(1 + below(4), 40), '0xshort', '');
const block = ({ below }: Random) => FIRST + below(BLOCKS);
const txOf = ({ below, mostly }: Random, at: number) =>
  mostly(hex(at * 10 + below(3), 64), '', '0x1');
const amount = ({ pick, mostly }: Random) =>
  mostly(
    pick(['0', '1', '5', '007']),
    '1.5',
    '',
    (2n ** 256n).toString(),
    (2n ** 256n - 1n).toString(),
  );
const timeText = (d: Random, at: number) =>
  d.pick(['', String(timeOf(at)), `${new Date(timeOf(at) * 1000).toISOString().slice(0, 19)} UTC`]);
const hashField = ({ pick }: Random, at: number) => pick(['', hashOf(at)]);

const token = (d: Random): Row => {
  const at = block(d);
  return {
    token_address: d.mostly(hex(90 + d.below(2), 40), 'none'),
    from_address: address(d),
    to_address: address(d),
    value: amount(d),
    transaction_hash: txOf(d, at),
    log_index: d.pick(['', '0', '1', '2', '10']),
    block_number: d.mostly<Cell>(at, 'x'),
    block_timestamp: timeText(d, at),
  };
};

const TRACE_TYPES = ['call', 'call', 'call', 'call', 'create', 'suicide', 'reward'] as const;
const trace = (d: Random): Row => {
  const at = block(d);
  const type = d.mostly<string>(d.pick(TRACE_TYPES), 'genesis', 'daofork', 'odd');
  const tx = type === 'reward' ? '' : txOf(d, at);
  return {
    block_number: at,
    transaction_hash: tx,
    from_address: type === 'reward' ? '' : address(d),
    to_address: address(d),
    value: amount(d),
    trace_type: type,
    call_type:
      type === 'call' ? d.pick(['call', 'call', 'call', 'delegatecall', 'staticcall']) : '',
    subtraces: d.pick(['0', '0', '1', '2', '']),
    trace_address: d.mostly(d.pick(['', '', '0', '1', '0,0', '0,1', '10']), 'a'),
    error: '',
    status: d.pick(['1', '1', '1', '1', '0', '']),
    trace_id: type === 'reward' ? d.pick(['', `reward_${at}_0`, `reward_${at}_1`]) : '',
    block_hash: hashField(d, at),
  };
};

const transactionRow = (d: Random): Row => {
  const at = block(d);
  const makes = d.below(6) === 0;
  return {
    hash: txOf(d, at),
    nonce: 1,
    block_hash: hashField(d, at),
    block_number: at,
    from_address: address(d),
    to_address: makes ? '' : address(d),
    receipt_contract_address: makes ? d.pick(['', hex(50 + d.below(3), 40)]) : '',
    value: amount(d),
    gas: 1,
    receipt_status: d.pick(['1', '1', '1', '0', '']),
    block_timestamp: timeText(d, at),
  };
};

const cryoToken = (d: Random): Row => {
  const at = block(d);
  return {
    block_number: at,
    log_index: d.below(4),
    transaction_hash: txOf(d, at),
    erc20: hex(90 + d.below(2), 40),
    from_address: address(d),
    to_address: address(d),
    value_string: amount(d),
    chain_id: d.mostly(1, 137),
  };
};

const FAILED = `0x${'0'.repeat(64)}`;
const cryoNative = (d: Random): Row => {
  const at = block(d);
  return {
    block_number: at,
    transfer_index: d.mostly<Cell>(d.below(12), 'x'),
    transaction_hash: d.below(8) === 0 ? null : txOf(d, at),
    from_address: address(d),
    to_address: d.below(10) === 0 ? FAILED : address(d),
    value_string: amount(d),
    chain_id: 1,
  };
};

const cryoContract = (d: Random): Row => {
  const at = block(d);
  return {
    block_number: at,
    create_index: d.below(3),
    transaction_hash: txOf(d, at),
    contract_address: d.below(10) === 0 ? FAILED : hex(50 + d.below(3), 40),
    deployer: address(d),
    factory: address(d),
    chain_id: 1,
  };
};

const contract = (d: Random): Row => ({
  address: d.mostly(hex(d.pick([1, 2, 50, 51, 52]), 40), 'none'),
  bytecode: '0x60',
  function_sighashes: '',
  is_erc20: false,
  block_number: block(d),
});

function header(d: Random, at: number): Row {
  const list = [1, 2].slice(0, d.below(3)).map((index) => ({
    index,
    validator_index: 7,
    address: hex(index, 40).toUpperCase().replace('0X', '0x'),
    amount: d.pick<number | string>([5, '6', 7]),
  }));
  return {
    number: at,
    hash: d.mostly(hashOf(at), '0x1'),
    parent_hash: d.pick(['', hashOf(at - 1)]),
    timestamp: d.mostly<Cell>(timeOf(at), ''),
    transaction_count: d.pick<Cell>([0, 1, 2, 3, '']),
    withdrawals: d.pick(['', JSON.stringify(list), JSON.stringify(list), '[{"index":-1}]']),
  };
}

function csv(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) throw new RangeError('a file of no rows');
  const columns = Object.keys(first);
  const cell = (row: Row, name: string) => `"${String(row[name]).replaceAll('"', '""')}"`;
  const lines = rows.map((row) => columns.map((name) => cell(row, name)).join(','));
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}

function jsonLines(rows: readonly Row[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** The files of a seed. */
export function randomFiles(seed: number): RandomFiles {
  const d = drawing(seed);
  const rowsOf = (make: (draw: Random) => Row, rows: number) => {
    const drawn = Array.from({ length: rows }, () => make(d));
    // Some rows come twice, here or in another place of the file.
    return [...drawn, ...drawn.filter(() => d.below(10) === 0)];
  };
  const headers = Array.from({ length: BLOCKS }, (_, n) => header(d, FIRST + n)).filter(
    () => d.below(8) > 0,
  );
  // Blocks of which no row and no header tells a time.
  const timeless = Array.from({ length: 5 }, (_, n): Row => {
    const at = { block_number: 900 + n, block_timestamp: '', transaction_hash: hex(n, 64) };
    const parties = { from_address: hex(1, 40), to_address: hex(2, 40) };
    return { ...token(d), ...at, ...parties, token_address: hex(90, 40), value: '1' };
  });
  const files: [string, string][] = [
    ['blocks.csv', csv(headers)],
    ['tokens-1.csv', csv([...rowsOf(token, ROWS), ...timeless])],
    ['tokens-2.json', jsonLines(rowsOf(token, ROWS / 2))],
    ['cryo-tokens.json', jsonLines(rowsOf(cryoToken, ROWS / 2))],
  ];
  if (seed % 3 !== 0) files.push(['traces.csv', csv(rowsOf(trace, ROWS))]);
  if (seed % 3 !== 1) files.push(['transactions.csv', csv(rowsOf(transactionRow, ROWS / 4))]);
  if (seed % 2 === 1) {
    files.push(['contracts.json', jsonLines(rowsOf(contract, ROWS / 10))]);
    files.push(['cryo-contracts.json', jsonLines(rowsOf(cryoContract, ROWS / 8))]);
    files.push(['cryo-native.json', jsonLines(rowsOf(cryoNative, ROWS / 4))]);
  }
  const declared = seed % 4 === 2 ? { from_block: FIRST, to_block: FIRST + BLOCKS - 1 } : null;
  const reasons = ['no_transaction_hash', 'amount_not_integer', 'bad_address', 'no_block_number'];
  return {
    files: files.sort(([a], [b]) => (a < b ? -1 : 1)),
    said: { declared, failed_excluded: seed % 5 === 3 },
    reasons: [...reasons, 'no_time', 'other_chain'],
  };
}
