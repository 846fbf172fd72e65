// The facts with which transfer stores are tried, and what of them can be seen.
// What is held is looked at as a walk looks at it: through the history over the same store.

import { map, type Reading, seen } from '../../evidence/reading.ts';
import type { HistoryTransfer, RawHistory } from '../history/transfer-history.ts';
import type { TransferFact, TransferStore } from './transfer-store.ts';

/** A store under test; `restarted` gives another over the same data, as after a crash. */
export type StoreUnderTest = {
  readonly store: TransferStore;
  readonly history: () => RawHistory;
  readonly restarted: () => TransferStore;
  readonly close: () => Promise<void>;
};

/** The time of the suite's worlds, Unix seconds. */
export const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
/** Few addresses, so that rows fall on each other. */
const PARTIES = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`);
export const TOKEN = `0x${'7'.repeat(40)}`;
export const PROVENANCE = { source: 'suite', origin: 'observed', import_id: 'suite' } as const;
export const KINDS = ['native', 'internal', 'token'] as const;
export const NONE = { transfers: [], creations: [], blocks: [], transactions: [] } as const;
/** The engine under test may take some tens of milliseconds for a statement. */
export const RUNS = 12;
export const PROPERTY_TIMEOUT_MS = 120_000;

export function hashOf(kind: string, number: number): string {
  return `0x${Buffer.from(`${kind}${number}`).toString('hex').padStart(64, '0')}`;
}

export function party(at: number): string {
  return String(PARTIES[at % PARTIES.length]);
}

/** A transfer of a transaction, told by its number; what is left out is as a node tells it. */
export function transferFact(tx: number, over: Partial<TransferFact> = {}): TransferFact {
  const block = over.block === undefined ? 1 + Math.floor(tx / 3) : over.block;
  return {
    chain: 'ethereum',
    kind: 'native',
    token: null,
    raw_amount: 5n,
    success: true,
    from: party(tx),
    to: party(tx + 1),
    initiator: party(tx),
    block,
    block_time: NOW - 10_000 + block,
    block_hash: null,
    tx_hash: hashOf('tx', tx),
    position: null,
    ...over,
  } as TransferFact;
}

/** The value of a reading that must have one. */
export function given<T>(reading: Reading<T, never>): T {
  if (!reading.checked) throw new Error(reading.why.reason);
  return reading.value;
}

/** All that a walk can see of the parties, in one order. */
export async function sightOf(history: RawHistory): Promise<unknown[]> {
  const readings = await history.neighbourhoods(PARTIES, {
    rowsMax: 1_000,
    degreeMax: 100,
    batchRowsMax: 10_000,
    transfersPerCounterpartyMax: 1_000,
    signal: new AbortController().signal,
  });
  return PARTIES.map((address) => {
    const reading = readings.get(address);
    const known = reading === undefined ? null : seen(map(reading, (value) => [value]));
    if (known === null) throw new Error(`nothing is seen of ${address}`);
    const [{ degree, counterparties, coverage }] = known;
    const rows = counterparties.flatMap(({ transfers }) => transfers.map(textOf)).sort();
    const ranges = coverage.map((range) => JSON.stringify(range)).sort();
    return { address, degree, rows, ranges };
  });
}

function textOf({ raw_amount, token_id, ...transfer }: HistoryTransfer): string {
  const id = token_id === undefined ? null : token_id.toString();
  return JSON.stringify({ ...transfer, raw_amount: raw_amount.toString(), token_id: id });
}

/** What is held, and how many of each chain. */
export async function stateOf({ store, history }: StoreUnderTest): Promise<unknown> {
  const status = given(await store.status());
  return { sight: await sightOf(history()), status };
}
