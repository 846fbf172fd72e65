// Answers one question: what do the tables of a running service hold of the addresses of a file.
// Every row of the file gets a row; one that could not be checked says so, and the command exits 3.

import {
  type Command,
  EXIT,
  fileArgument,
  type Io,
  readArgs,
  requireOption,
} from '../../command/command.ts';
import {
  askService,
  CONNECTION_DETAILS,
  CONNECTION_OPTIONS,
  type Connection,
  type ConnectionServices,
  findConnection,
  refusalText,
} from '../../command/connection.ts';
import { print, printJson, tableLines } from '../../command/output.ts';
import { type FileAddress, FileUnreadable, fileAddresses } from './address-file.command.ts';
import {
  leftUnread,
  type ScreenResult,
  screenedBody,
  screenText,
} from './screen-result.command.ts';

/** The most addresses that one screen takes. */
const BATCH_MAX = 500;
const ADDRESSES_MAX = 1_000_000;
/** Each round takes out the misformed rows that a refusal names; it names at least one. */
const ROUNDS_MAX = BATCH_MAX + 1;
const PATH = '/api/v1/bulk/wallet-screen';

type Row = FileAddress &
  (
    | { readonly kind: 'result'; readonly result: ScreenResult }
    | { readonly kind: 'misformed' | 'unchecked'; readonly reason: string }
  );

/** `exhibit screen`. */
export const screenCommand: Command<ConnectionServices> = {
  name: 'screen',
  summary: 'Screen the addresses of a CSV file through a running service.',
  usage: 'exhibit screen FILE.csv [--base-url URL] [--key-file FILE] [--json]',
  example: 'exhibit screen addresses.csv',
  details: [
    'FILE.csv          addresses in the column "address", else in the first column',
    ...CONNECTION_DETAILS,
    '--json            one result a line, in the order of the file',
    'Up to 500 addresses are one request of the allowance. Exit status 3: at least one row could',
    'not be checked.',
  ],
  run: async (argv, io, services) => {
    const { values, positionals } = readArgs(argv, {
      options: CONNECTION_OPTIONS,
      positionals: ['FILE.csv'],
    });
    const file = fileArgument(requireOption(positionals[0], 'FILE.csv'), io);
    const to = await findConnection(values, io, services);
    const counts = { rows: 0, listed: 0, listUnread: 0, misformed: 0, unchecked: 0 };
    try {
      for await (const batch of batches(fileAddresses(file))) {
        const rows = await screenBatch(to, batch, io);
        show(rows, io, counts.rows === 0);
        for (const row of rows) count(row, counts);
        if (counts.rows > ADDRESSES_MAX) {
          io.err(`Stopped after ${counts.rows} rows: a file holds at most ${ADDRESSES_MAX}.`);
          return EXIT.couldNotCheck;
        }
      }
    } catch (fault) {
      if (!(fault instanceof FileUnreadable)) throw fault;
      io.err(`The file cannot be read: ${fault.message}.`);
      return EXIT.failed;
    }
    if (counts.rows === 0) io.err('The file holds no address.');
    else io.err(summary(counts));
    return counts.rows === 0 || counts.misformed + counts.unchecked > 0
      ? EXIT.couldNotCheck
      : EXIT.done;
  },
};

type Counts = {
  rows: number;
  listed: number;
  /** Rows that no list was read for. */
  listUnread: number;
  misformed: number;
  unchecked: number;
};

function count(row: Row, counts: Counts): void {
  counts.rows += 1;
  if (row.kind !== 'result' || row.result.sanctions === null) counts.listUnread += 1;
  if (row.kind === 'result') {
    if (leftUnread(row.result)) counts.unchecked += 1;
    if (row.result.sanctions?.listed === true) counts.listed += 1;
  } else counts[row.kind] += 1;
}

function summary({ rows, listed, listUnread, misformed, unchecked }: Counts): string {
  const parts = [`${rows} rows`];
  // That none is on the list is said where it was read for every row.
  if (listed > 0 || listUnread === 0) parts.push(`${listed} on the sanctions list`);
  if (misformed > 0) parts.push(`${misformed} of no known form, not checked`);
  if (unchecked > 0) parts.push(`${unchecked} not checked in full`);
  return `${parts.join(', ')}.`;
}

async function* batches(rows: AsyncIterable<FileAddress>): AsyncGenerator<FileAddress[], void> {
  let batch: FileAddress[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_MAX) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function screenBatch(to: Connection, batch: readonly FileAddress[], io: Io): Promise<Row[]> {
  const misformed = new Map<FileAddress, string>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const asked = batch.filter((row) => !misformed.has(row));
    if (asked.length === 0) return inOrder(batch, misformed, new Map());
    const said = await askService(
      to,
      { method: 'POST', path: PATH, body: { addresses: asked.map((row) => row.address) } },
      io.signal,
    );
    if (said.kind === 'silent') return inOrder(batch, misformed, said.reason);
    if (said.status === 400) {
      const named = namedPositions(said.body, asked);
      if (named.size === 0) return inOrder(batch, misformed, refusalText(400, said.body));
      for (const [row, reason] of named) misformed.set(row, reason);
      continue;
    }
    if (said.status !== 200) return inOrder(batch, misformed, refusalText(said.status, said.body));
    return answeredRows(batch, asked, misformed, said.body);
  }
  return inOrder(batch, misformed, 'the service refused every part of the batch');
}

function answeredRows(
  batch: readonly FileAddress[],
  asked: readonly FileAddress[],
  misformed: ReadonlyMap<FileAddress, string>,
  body: unknown,
): Row[] {
  const parsed = screenedBody.safeParse(body);
  if (!parsed.success) return inOrder(batch, misformed, 'the answer is not one of this interface');
  if (parsed.data.state === 'not_deployed') return inOrder(batch, misformed, parsed.data.reason);
  const { results } = parsed.data.data;
  if (results.length !== asked.length) {
    return inOrder(batch, misformed, 'the answer has another number of results than was asked');
  }
  const found = new Map<FileAddress, ScreenResult>();
  for (const [i, row] of asked.entries()) {
    const result = results[i];
    if (result !== undefined) found.set(row, result);
  }
  return inOrder(batch, misformed, found);
}

function inOrder(
  batch: readonly FileAddress[],
  misformed: ReadonlyMap<FileAddress, string>,
  rest: ReadonlyMap<FileAddress, ScreenResult> | string,
): Row[] {
  return batch.map((row) => {
    const why = misformed.get(row);
    if (why !== undefined) return { ...row, kind: 'misformed', reason: why };
    if (typeof rest === 'string') return { ...row, kind: 'unchecked', reason: rest };
    const result = rest.get(row);
    if (result === undefined) return { ...row, kind: 'unchecked', reason: 'no result came' };
    return { ...row, kind: 'result', result };
  });
}

// A refusal names positions: `addresses[3]: form not recognised; nothing was checked; addresses[5]`
function namedPositions(body: unknown, asked: readonly FileAddress[]): Map<FileAddress, string> {
  const named = new Map<FileAddress, string>();
  const text = refusalText(400, body);
  for (const [, position, reason] of text.matchAll(
    /addresses\[(\d+)\]: (.*?)(?=; (?:addresses\[|and \d)|$)/g,
  )) {
    const row = asked[Number(position)];
    if (row !== undefined && reason !== undefined) named.set(row, reason);
  }
  return named;
}

const COLUMNS = ['line', 'address', 'state', 'sanctions', 'exchange', 'launches', 'reason'];

function show(rows: readonly Row[], io: Io, first: boolean): void {
  if (io.json) {
    for (const row of rows) printJson(io, jsonOf(row));
    return;
  }
  const lines = tableLines(
    COLUMNS.map((title) => ({ title, right: title === 'line' })),
    rows.map(cellsOf),
    io,
  );
  print(io, first ? lines : lines.slice(1));
}

function cellsOf(row: Row): (string | number | null)[] {
  if (row.kind !== 'result') {
    const state = row.kind === 'misformed' ? 'misformed' : 'not checked';
    return [row.line, row.address, state, null, null, null, row.reason];
  }
  const { result } = row;
  return [
    row.line,
    result.address,
    result.state,
    screenText.sanctions(result),
    screenText.exchange(result),
    screenText.launches(result),
    result.reason === undefined ? null : result.reason,
  ];
}

function jsonOf(row: Row): object {
  if (row.kind === 'result') return { line: row.line, ...row.result };
  const { line, address, kind, reason } = row;
  return { line, address, state: kind, reason };
}
