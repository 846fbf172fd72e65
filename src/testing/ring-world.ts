// A deployment with its history in a warehouse and the ring around a list. Over the embedded
// engine; events during a walk happen between its reads.

import { parseAddress } from '../chain/address.ts';
import type { ChainName } from '../chain/chain.ts';
import type { TransferKind } from '../chain/transfer.ts';
import type { Partly } from '../evidence/reading.ts';
import { proximity, WALK_LIMITS, type Walk, type WalkPort } from '../features/sanctions/walk.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import type { TipBlock, TransferFact, TransferStore } from '../ports/indexing.ts';
import type { SanctionsList } from '../ports/sanctions.ts';
import { coveredHistory, coveredRing } from '../stores/history/covered.ts';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import { warehouseHistory, warehouseReads } from '../stores/warehouse/history/warehouse.ts';
import { type WarehouseRing, warehouseRing } from '../stores/warehouse/ring/ring.ts';
import { transferStore } from '../stores/warehouse/transfers/store.ts';
import { STILL_NOW, TIP_MAX_AGE_S } from './clock.ts';
import { memorySanctionsList } from './twins/sanctions.ts';
import { listedEntry, walkedPorts } from './walked-world.ts';

const KINDS: readonly TransferKind[] = ['native', 'token', 'internal'];
const HASH_DIGITS = 64;
const now = () => STILL_NOW;

/** A walk that is made there, with what happens before its second hop. */
export type RingWalk = {
  readonly subject: string;
  readonly between?: () => Promise<unknown>;
  readonly limits?: Partial<typeof WALK_LIMITS>;
};

/** A warehouse with a writer of its own, and one as another process would have. */
export type RingWorld = {
  readonly warehouse: Warehouse;
  readonly store: TransferStore;
  readonly ring: WarehouseRing;
  /** Puts a list in force; each time another one. */
  readonly list: (addresses: readonly string[]) => SanctionsList;
  readonly walk: (one: RingWalk) => Promise<Partly<Walk, WalkPort>>;
};

/** Every table that holds facts of history. */
const TABLES = [
  ...['transfers', 'sides', 'blocks', 'transactions', 'coverage', 'address_coverage', 'tokens'],
  ...['following', 'follow_claims', 'tip_blocks', 'tip_transfers', 'tip_sides', 'degrees'],
];

/** An empty world over a warehouse, through which every query passes `hooked`. */
export async function ringWorld(
  warehouse: Warehouse,
  hooked: (warehouse: Warehouse) => Warehouse = (real) => real,
): Promise<RingWorld> {
  for (const table of TABLES) {
    await warehouse.command(`TRUNCATE TABLE ${table}`, { timeoutMs: 10_000 });
  }
  const read = hooked(warehouse);
  const reads = warehouseReads(read, now);
  const tip = { now, tipMaxAgeS: TIP_MAX_AGE_S };
  const history = coveredHistory(warehouseHistory(read, now, false, reads), tip);
  const ring = warehouseRing(read, reads, { now, simulated: false });
  const labels = walkedPorts({ now: STILL_NOW, transfers: [], listed: [], labels: [] }).labels;
  let current = listOf([], 1);
  let lists = 1;
  return {
    warehouse,
    store: transferStore(warehouse, now),
    ring,
    list: (addresses) => {
      lists += 1;
      current = listOf(addresses, lists);
      return current;
    },
    walk: async ({ subject, between, limits }) => {
      const parsed = parseAddress(subject);
      if (parsed === null) throw new Error('test: the subject is no address');
      let due = between;
      const hook = async () => {
        const work = due;
        due = undefined;
        await work?.();
      };
      const ports = {
        labels,
        ring: coveredRing(ring, tip),
        list: {
          lookUp: (addresses: readonly string[]) => current.lookUp(addresses),
          lookUpOn: current.lookUpOn,
          listed: async () => {
            await hook();
            return current.listed();
          },
        },
        history,
      };
      const { signal } = new AbortController();
      return proximity(ports, parsed, { ...WALK_LIMITS, ...limits }, { signal });
    },
  };
}

/** A list whose hash is its number. */
function listOf(addresses: readonly string[], number: number): SanctionsList {
  const empty = { published: '2026-09-01', checked_at: STILL_NOW - 60, entries: [] };
  const entries = addresses.map(listedEntry);
  const publications = [
    ...Array.from({ length: number - 1 }, () => empty),
    { published: '2026-09-20', checked_at: STILL_NOW - 60, entries },
  ];
  return memorySanctionsList({ publications, maxAgeS: null, simulated: false, now });
}

/** A transfer as it is written. */
export function factOf(one: HistoryTransfer): TransferFact {
  const { at, tx, symbol: _, decimals: __, has_market: ___, usd: ____, ...told } = one;
  const { token_id, ...transfer } = told;
  return {
    ...transfer,
    raw_amount: token_id === undefined ? transfer.raw_amount : token_id,
    block_time: at,
    tx_hash: tx,
    block_hash: null,
    position: null,
  };
}

/** Imports transfers, and nothing that vouches for them. */
export async function importTransfers(store: TransferStore, transfers: readonly HistoryTransfer[]) {
  const facts = { transfers: transfers.map(factOf), creations: [], blocks: [], transactions: [] };
  const from = { source: 'tests', origin: 'observed', import_id: 'tests' } as const;
  must(await store.appendImported(facts, from));
}

/** Says that some addresses, or (none named) a chain, are held in full to a fresh tip. */
export async function recordHeld(
  store: TransferStore,
  chain: ChainName,
  addresses: readonly string[] | null,
) {
  const range = { chain, from_block: 0, to_block: 1_000_000, to_time: STILL_NOW - 60 } as const;
  const ranges = KINDS.map((kind) => {
    return { ...range, kind, source: 'tests', origin: 'observed' } as const;
  });
  if (addresses === null) {
    must(await store.recordCoverage(ranges));
    return;
  }
  const more = { from_first: true, truncated: false, read_at: STILL_NOW } as const;
  const all = addresses.flatMap((address) => ranges.map((one) => ({ ...one, ...more, address })));
  must(await store.recordAddressCoverage(all));
}

let epoch = 0;

/** Begins to follow a chain from its first block, as nobody did before. */
export async function beginFollowing(store: TransferStore, chain: ChainName) {
  const following = { chain, from_block: 0, kinds: KINDS, source: 'tests' } as const;
  epoch += 1;
  const tenure = { epoch, settle: async () => undefined };
  must(await store.follow({ ...following, origin: 'observed' }, tenure));
}

/** A block of the tip; `fork` makes it another one of the same number. */
export function tipBlock(
  number: number,
  transfers: readonly HistoryTransfer[],
  ...[{ fork = 'a', after = 'a', time = STILL_NOW - 60 }]: readonly [
    { readonly fork?: string; readonly after?: string; readonly time?: number },
  ]
): TipBlock {
  const hash = (of: string, n: number) => {
    return `0x${`${of}${n.toString(16)}`.padStart(HASH_DIGITS, '0')}`;
  };
  const facts = transfers.map((one) => {
    return { ...factOf(one), block: number, block_time: time, block_hash: hash(fork, number) };
  });
  const parent_hash = hash(after, number - 1);
  return { number, hash: hash(fork, number), parent_hash, time, transfers: facts, creations: [] };
}

/** Takes what was written; fails where it was not. */
export function must<T>(reading: { readonly checked: boolean; readonly value?: T }): T {
  if (reading.checked && reading.value !== undefined) return reading.value;
  throw new Error('test: it was not written');
}
