// What does a running service say of up to 500 addresses, each of which gets its row?
// Whatever is no answer is said of every address that it leaves unchecked.

import type { FileAddress } from '../../command/address-file.ts';
import type { Io } from '../../command/command.ts';
import { askService, type Connection, refusalText } from '../../command/connection.ts';
import { type ScreenResult, screenedBody } from './screen-result.command.ts';

/** The most addresses that one screen takes. */
export const BATCH_MAX = 500;
/** Each round takes out the misformed rows that a refusal names; it names at least one. */
const ROUNDS_MAX = BATCH_MAX + 1;
const PATH = '/api/v1/bulk/wallet-screen';

/** What is said of one address of the file. */
export type Row = FileAddress &
  (
    | { readonly kind: 'result'; readonly result: ScreenResult; readonly caveat: string }
    | { readonly kind: 'misformed' | 'unchecked'; readonly reason: string }
  );

/** Asks for one batch; `tables` limits the question, and is empty where all are asked about. */
export async function screenBatch(
  to: Connection,
  batch: readonly FileAddress[],
  tables: readonly string[],
  io: Io,
): Promise<Row[]> {
  const misformed = new Map<FileAddress, string>();
  const limited = tables.length === 0 ? {} : { tables };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const asked = batch.filter((row) => !misformed.has(row));
    if (asked.length === 0) return inOrder(batch, misformed, 'it was not asked about');
    const body = { addresses: asked.map((row) => row.address), ...limited };
    const said = await askService(to, { method: 'POST', path: PATH, body }, io.signal);
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
  const { results, caveat } = parsed.data.data;
  if (results.length !== asked.length) {
    return inOrder(batch, misformed, 'the answer has another number of results than was asked');
  }
  const found = new Map<FileAddress, ScreenResult>();
  for (const [i, row] of asked.entries()) {
    const result = results[i];
    if (result !== undefined) found.set(row, result);
  }
  return inOrder(batch, misformed, { found, caveat });
}

type Rest = { readonly found: ReadonlyMap<FileAddress, ScreenResult>; readonly caveat: string };

function inOrder(
  batch: readonly FileAddress[],
  misformed: ReadonlyMap<FileAddress, string>,
  rest: Rest | string,
): Row[] {
  return batch.map((row) => {
    const why = misformed.get(row);
    if (why !== undefined) return { ...row, kind: 'misformed', reason: why };
    if (typeof rest === 'string') return { ...row, kind: 'unchecked', reason: rest };
    const result = rest.found.get(row);
    if (result === undefined) return { ...row, kind: 'unchecked', reason: 'no result came' };
    return { ...row, kind: 'result', result, caveat: rest.caveat };
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
