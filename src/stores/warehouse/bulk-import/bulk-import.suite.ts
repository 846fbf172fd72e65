// Test support of imports: a warehouse on an engine that all test files of a process share, emptied
// for each new store. Contents are read back as facts. The end of the run removes all folders.

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { BulkImportOrder, BulkImportOutcome } from '../../../ports/indexing.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { transferStore } from '../transfers/store.ts';
import { bulkImporter } from './bulk-import.ts';

const CALL = { timeoutMs: 60_000 };
/** The time of these tests, Unix seconds. */
export const NOW = 1_800_000_000;
const now = () => NOW;

/** A transfer as it is held; hashes and addresses are in hexadecimal or as their text. */
export type HeldTransfer = {
  readonly tx_hash: string | null;
  readonly position: string | null;
  readonly kind: string;
  readonly token: string | null;
  readonly from: string;
  readonly to: string;
  readonly raw_amount: bigint;
  readonly n: number;
  readonly block: number;
  readonly block_time: number;
  readonly block_hash: string | null;
  readonly initiator: string | null;
  readonly success: boolean | null;
};

let opened: EmbeddedWarehouse | null = null;

/** A folder for one test. */
export async function freshFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'exhibit-import-'));
}

const text = z.string();
const transferRow = z.tuple([
  ...[text, text, text, text, text, text, text, text],
  ...[z.coerce.number(), z.coerce.number(), z.coerce.number(), text, text, z.number()],
] as const);
const nameRow = z.tuple([text]);

/** Empties every table of a warehouse but what it says of itself. */
export async function emptied(warehouse: Warehouse): Promise<void> {
  const sql = `SELECT name FROM system.tables WHERE database = currentDatabase()
    AND engine LIKE '%MergeTree' AND name NOT IN ('deployment', 'schema_migrations')
    AND total_rows > 0`;
  for (const [name] of await warehouse.query(sql, { ...CALL, row: nameRow, tuples: true })) {
    await warehouse.command(`TRUNCATE TABLE ${name}`, CALL);
  }
}

/** The facts that imports left in the warehouse of this file's tests. */
export class KeptFacts {
  transfers: readonly HeldTransfer[] = [];
  creations: readonly Readonly<Record<string, string | number | null>>[] = [];
  blocks: readonly Readonly<Record<string, string | number | null>>[] = [];
  ranges: readonly {
    readonly kind: string;
    readonly from_block: number;
    readonly to_block: number;
    readonly to_time: number;
  }[] = [];
  /** How many signers are held. */
  transactions = 0;
  isBegun = false;

  /** The warehouse, emptied where this store is used for the first time. */
  async warehouse(): Promise<EmbeddedWarehouse> {
    if (opened === null) opened = await freshWarehouse();
    if (!this.isBegun) await emptied(opened);
    this.isBegun = true;
    return opened;
  }

  /** Reads what is held. */
  async look(): Promise<void> {
    const warehouse = await this.warehouse();
    this.transfers = await heldTransfers(warehouse);
    this.creations = await warehouse.query(
      `SELECT ${asText('created')}, ${asText('creator')}, ${asText('initiator')},
         ${asText('tx_hash')}, toUInt32(block) AS block, block_time FROM creations FINAL
       ORDER BY ALL`,
      { ...CALL, row: z.record(text, z.union([text, z.number(), z.null()])) },
    );
    this.blocks = await warehouse.query(
      `SELECT toUInt32(number) AS number, ${asText('hash')}, ${asText('parent_hash')}, time
       FROM blocks FINAL ORDER BY number`,
      { ...CALL, row: z.record(text, z.union([text, z.number(), z.null()])) },
    );
    const [signers] = await warehouse.query('SELECT count() FROM transactions FINAL', {
      ...CALL,
      row: z.tuple([z.coerce.number()]),
      tuples: true,
    });
    this.transactions = Number(signers?.[0]);
    const rangeRow = z.object({
      kind: text,
      from_block: z.coerce.number(),
      to_block: z.coerce.number(),
      to_time: z.number(),
    });
    this.ranges = await warehouse.query(
      `SELECT kind, from_block, to_block, to_time FROM coverage FINAL
       ORDER BY from_block, kind, to_block`,
      { ...CALL, row: rangeRow },
    );
  }

  /** The transfers that would be served: successful ones, in an order of their own. */
  served(): readonly HeldTransfer[] {
    return this.transfers.filter(({ success }) => success !== false);
  }

  /** `from → to: amount kind success` of each, sorted. */
  lines(): readonly string[] {
    const line = ({ from, to, raw_amount, kind, success }: HeldTransfer) =>
      `${from.slice(0, 6)} → ${to.slice(0, 6)}: ${raw_amount} ${kind} ${success}`;
    return this.served().map(line).sort();
  }
}

/** A column of bytes as hexadecimal text, or `null` where it is empty. */
function asText(column: string): string {
  return `if(${column} = '', NULL, concat('0x', lower(hex(${column})))) AS ${column}`;
}

async function heldTransfers(warehouse: Warehouse): Promise<readonly HeldTransfer[]> {
  const bytes = ['tx_hash', 'token', 'from_address', 'to_address', 'block_hash', 'initiator'];
  const hex = bytes.map((name) => `lower(hex(${name}))`).join(', ');
  const sql = `SELECT ${hex}, toString(kind), toString(raw_amount), n, block, block_time, position,
      lower(hex(place)), success
    FROM transfers FINAL ORDER BY block, tx_hash, place, kind, token, from_address, to_address,
      raw_amount, n`;
  const rows = await warehouse.query(sql, { ...CALL, row: transferRow, tuples: true });
  const known = (digits: string) => (digits === '' ? null : `0x${digits}`);
  return rows.map(([tx, token, from, to, block_hash, initiator, kind, amount, ...rest]) => {
    const [n, block, block_time, position, _, success] = rest;
    const place = { tx_hash: known(tx), position: position === '' ? null : position, kind };
    const moved = { token: known(token), from: `0x${from}`, to: `0x${to}`, n };
    const at = { block, block_time, block_hash: known(block_hash), initiator: known(initiator) };
    const outcome = { raw_amount: BigInt(amount), success: success === 0 ? null : success === 2 };
    return { ...place, ...moved, ...at, ...outcome };
  });
}

/** The result of an import of paths, with its progress. */
type Imported = {
  readonly outcome: BulkImportOutcome;
  readonly notes: readonly string[];
  readonly phases: readonly string[];
};

type How = Partial<BulkImportOrder> & {
  readonly folder: string;
  readonly blockRows?: number;
  readonly signal?: AbortSignal;
};

/** Imports paths as observed files of Ethereum, unless it is said otherwise. */
export async function imported(
  store: KeptFacts,
  paths: readonly string[],
  how: How,
): Promise<Imported> {
  const done = await importedInto(await store.warehouse(), paths, how);
  await store.look();
  return done;
}

/** The same, into a warehouse that is given. */
export async function importedInto(
  warehouse: Warehouse,
  paths: readonly string[],
  { folder, blockRows, signal, ...said }: How,
): Promise<Imported> {
  const notes: string[] = [];
  const phases: string[] = [];
  const order = { chain: 'ethereum', origin: 'observed', declared: null } as const;
  const into = { warehouse, store: transferStore(warehouse, now), now };
  const run = bulkImporter(into, join(folder, 'imports'), blockRows);
  const outcome = await run(
    { ...order, failed_excluded: false, ...said, paths },
    {
      onNote: (line) => void notes.push(line),
      onProgress: ({ phase }) => void phases.push(phase),
      signal: signal === undefined ? new AbortController().signal : signal,
    },
  );
  return { outcome, notes, phases };
}

/** The record of an import that completed, or the reason why it did not as an error. */
export function recordOf({ outcome }: Imported) {
  if (outcome.outcome === 'completed') return outcome.record;
  throw new Error(outcome.outcome === 'unread' ? outcome.why.reason : outcome.outcome);
}
