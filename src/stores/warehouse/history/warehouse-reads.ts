// What is held of some addresses, and how much of their history is that?
// First what is held in full, then the rows: never the reverse, which could take a range that was
// recorded meanwhile for one that the rows read before it fill.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../../chain/chain.ts';
import { TRANSFER_KINDS } from '../../../chain/transfer.ts';
import { collect, heldUnder } from '../../../evidence/measure.ts';
import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { untilWritten } from '../engine/until-written.ts';
import { addressRuns } from '../transfers/address-ranges.ts';
import { addressHex, addressOf } from '../transfers/bytes.ts';
import { originOf } from '../transfers/fact-rows.ts';
import {
  type Held,
  type HeldBlocks,
  type Recorded,
  readRecorded,
  rollbacksIn,
  withFollowed,
} from '../transfers/held.ts';
import { isSame, type Mark, partsTold, readMark } from '../transfers/written.ts';
import { keptCounts } from './kept-counts.ts';
import { tokenNames } from './token-names.ts';
import {
  type HeldRows,
  readNewest,
  readRows,
  readSome,
  type SidesCounted,
} from './warehouse-rows.ts';

/** What is held of one address. */
export type HeldAddress = HeldRows & {
  readonly held: Held;
  readonly ranges: readonly HeldBlocks[];
};

/** How many rows are held of one address, and how much of its history that is. */
export type HeldCount = SidesCounted & Pick<HeldAddress, 'held' | 'ranges'>;

/** How long one read may take; a walk has its own, shorter budget. */
export const READ_TIMEOUT_MS = 15_000;
/** How long what is held in full is taken as it was read. It only grows, but for roll-backs. */
const HELD_KEEP_MS = 1_000;
/** How often a read that spans a roll-back is made again. */
const READS_MAX = 5;
/** Ranges of single addresses in one answer. */
const RANGES_MAX = 100_000;

/** The tables of what is recorded. */
const RECORDED_IN = ['coverage', 'address_coverage', 'tokens'] as const;

const rangeRow = z.tuple([
  z.string(),
  z.enum(CHAIN_NAMES),
  z.enum(TRANSFER_KINDS),
  z.coerce.number(),
  z.coerce.number(),
  z.number(),
  z.number(),
  z.number(),
]);

const OF_ASKED = `addr IN (SELECT unhex(arrayJoin({addresses:Array(String)})))
  AND chain IN (${CHAIN_NAMES.map((chain) => `'${chain}'`).join(', ')})`;
const RANGES = `SELECT lower(hex(addr)), toString(chain), toString(kind), from_block, to_block,
  to_time, from_first, observed
FROM (${addressRuns(OF_ASKED)}) ORDER BY addr, chain, kind, from_block, to_block`;

/** What is held in full, as it was read lately or is now. */
function heldReads(warehouse: Warehouse) {
  const ask = { timeoutMs: READ_TIMEOUT_MS };
  const marked = untilWritten(warehouse, () => readMark(warehouse, ask));
  const tells = partsTold(warehouse);
  const recorded = keptRecorded(warehouse, marked, tells);
  const fresh = untilWritten(warehouse, async () => {
    return withFollowed(warehouse, await recorded(ask), ask);
  });
  const rollbacks = async () => (await marked()).rollbacks;
  let kept: { readonly held: Held; readonly atMs: number } | null = null;

  async function lately(): Promise<Held> {
    if (kept !== null && performance.now() - kept.atMs < HELD_KEEP_MS) return kept.held;
    const atMs = performance.now();
    const held = await fresh();
    kept = { held, atMs };
    return held;
  }

  /** Reads under what is held, again where a chain was rolled back meanwhile. */
  async function under<T>(read: (held: Held) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const held = await lately();
      const told = await read(held);
      if (held.followed.length === 0 || (await rollbacks()) === rollbacksIn(held)) return told;
      kept = null;
    }
    // A chain that is undone again and again while it is read is no history to answer from.
    throw new WarehouseUnavailable('interrupted');
  }

  /** Has what is held read anew by whoever asks next. */
  const forget = () => {
    kept = null;
  };
  return { lately, fresh, marked, tells, rollbacks, under, forget };
}

/** What is recorded: read again only where the parts of its tables tell that it may be another. */
function keptRecorded(
  warehouse: Warehouse,
  marked: () => Promise<Mark>,
  tells: (call: Call) => Promise<boolean>,
) {
  let kept: { readonly parts: Mark['parts']; readonly recorded: Recorded } | null = null;
  return async (call: Call): Promise<Recorded> => {
    if (!(await tells(call))) return readRecorded(warehouse, call);
    const { parts } = await marked();
    const before = kept;
    if (before !== null && RECORDED_IN.every((one) => isSame(before.parts[one], parts[one]))) {
      return before.recorded;
    }
    const recorded = await readRecorded(warehouse, call);
    kept = { parts, recorded };
    return recorded;
  };
}

/** Reads of a warehouse, each of many addresses. */
export function warehouseReads(warehouse: Warehouse, now: () => number) {
  const tokens = tokenNames(warehouse, now);
  const { lately, fresh, marked, tells, rollbacks, under, forget } = heldReads(warehouse);
  const counted = keptCounts(warehouse, marked, tells);

  async function addresses(
    asked: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, HeldAddress>> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    return under(async (held) => {
      const ranges = await rangesOf(warehouse, held, asked, call);
      const names = tokens.within(held, call);
      const rows = await readRows(warehouse, held, names, asked, call);
      return vouchedFor(rows, held, ranges);
    });
  }

  /** As `addresses`, without the rows: for those that are not walked past anyway. */
  async function coverage(
    asked: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, HeldAddress>> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    const held = await lately();
    const ranges = await rangesOf(warehouse, held, asked, call);
    const rows = asked.map((address) => [address, { rows: [], more: false }] as const);
    return vouchedFor(rows, held, ranges);
  }

  /** As `addresses`, with the rows counted in place of read. */
  async function counts(
    asked: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, HeldCount>> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    return under(async (held) => {
      const ranges = await rangesOf(warehouse, held, asked, call);
      return vouchedFor(await counted(held, asked, call), held, ranges);
    });
  }

  /** Rows of one that has very many: the newest where they are to be shown, else any. */
  async function some(address: string, shown: boolean, signal: AbortSignal): Promise<HeldAddress> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    const held = await lately();
    const ranges = await rangesOf(warehouse, held, [address], call);
    const names = tokens.within(held, call);
    const rows = shown
      ? await readNewest(warehouse, held, names, address, call)
      : await readSome(warehouse, names, address, call);
    return { ...rows, held, ranges: heldUnder(ranges, address) };
  }

  return {
    addresses,
    coverage,
    counts,
    some,
    held: lately,
    fresh,
    marked,
    tells,
    rollbacks,
    names: tokens.within,
    /** What was last read of a token, where it was. */
    tokenIs: tokens.of,
    forget,
  };
}

function vouchedFor<T extends object>(
  rows: Iterable<readonly [string, T]>,
  held: Held,
  ranges: ReadonlyMap<string, readonly HeldBlocks[]>,
): ReadonlyMap<string, T & Pick<HeldAddress, 'held' | 'ranges'>> {
  const found = [...rows].map(([address, of]) => {
    return [address, { ...of, held, ranges: heldUnder(ranges, address) }] as const;
  });
  return new Map(found);
}

/** Reads of a warehouse: all who read share them, so that nobody knows less than another did. */
export type WarehouseReads = ReturnType<typeof warehouseReads>;

/** The ranges that are held of single addresses. */
export async function rangesOf(
  warehouse: Warehouse,
  held: Held,
  addresses: readonly string[],
  call: Call,
): Promise<ReadonlyMap<string, readonly HeldBlocks[]>> {
  const ranges = new Map<string, HeldBlocks[]>();
  if (!held.hasAddressRanges || addresses.length === 0) return ranges;
  const params = { addresses: addresses.map((address) => addressHex(address)) };
  const query = { ...call, row: rangeRow, tuples: true, params, rowsMax: RANGES_MAX };
  for (const row of await warehouse.query(RANGES, query)) {
    const [addr, chain, kind, from_block, to_block, to_time, first, isObserved] = row;
    const range = { chain, kind, from_block, to_block, to_time, from_first: first === 1 };
    collect(ranges, addressOf(addr), { ...range, origin: originOf(isObserved) });
  }
  return ranges;
}
