// The twin of registries, receipts and arrivals of bridges: in memory, planted and silent.

import { formatIsoDate } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { read, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  ArrivalLog,
  BridgeArrivals,
  BridgeChain,
  BridgeRegistry,
  DepositStatus,
  Payment,
  ReceiptFacts,
  RegistryRow,
  TransactionReceipts,
} from '../../ports/bridges.ts';
import { REGISTRY_TITLE } from '../../sources/registry/registry-files.ts';
import { evm } from '../addresses.ts';
import { type Dated, memorySource, PLANTED, UNDATED } from './dated.ts';

const ARRIVALS = 'bridge_arrivals';

/** The contents of the memory. A chain that is not among these has no node. */
export type MemoryArrivals = Dated & {
  readonly logs: ReadonlyMap<BridgeChain, readonly ArrivalLog[]>;
  /** The payments by recipient, oldest first. A chain that is not among these is not held. */
  readonly paid?: ReadonlyMap<BridgeChain, readonly (Payment & { readonly to: string })[]>;
  /** Whether transfers are held only in part. */
  readonly gap?: boolean;
  /** The answers of status pages, by the sending transaction; left out, no page is set. */
  readonly pages?: ReadonlyMap<string, DepositStatus>;
};

/** Logs in memory, whenever they were made. */
export function memoryBridgeArrivals(held: MemoryArrivals): BridgeArrivals {
  const { as_of, simulated } = held;
  const source = memorySource('Logs in memory', 'observation', held);
  const missing = (chain: string) =>
    unread(ARRIVALS, why('not_configured', { what: `A node of ${chain}` }));
  return {
    lookUp: async ({ chain, contracts, topics, wanted }) => {
      const logs = [...held.logs].find(([one]) => one === chain)?.[1];
      if (logs === undefined) return missing(chain);
      const found = logs.filter(
        (one) =>
          contracts.includes(one.log.address) &&
          topics.includes(String(one.log.topics[0])) &&
          wanted(one),
      );
      return read({ found: found.slice(0, 1), head_time: as_of }, { port: ARRIVALS, source });
    },
    paidTo: async ({ chain, recipient, since, until }) => {
      const all = [...(held.paid ?? NOBODY_PAID)].find(([one]) => one === chain)?.[1];
      const gap = why('arrivals_not_held', { chain });
      if (all === undefined) return unread(ARRIVALS, gap);
      const payments = all
        .filter(({ to, at }) => to === recipient && at >= since && at <= until)
        .map(({ to: _, ...payment }) => payment);
      const whole = read({ payments, head_time: as_of }, { port: ARRIVALS, source });
      if (held.gap === true) return weaken(whole, gap);
      return simulated ? weaken(whole, why('simulated')) : whole;
    },
    timeOf: async (chain) => missing(chain),
    pageOf: () => {
      const first = held.pages?.values().next().value;
      return first === undefined ? null : first.page;
    },
    statusOf: async ({ tx }) => {
      const told = held.pages?.get(tx);
      return told === undefined ? missing('a page') : read(told, { port: ARRIVALS, source });
    },
  };
}

const NOBODY_PAID: NonNullable<MemoryArrivals['paid']> = new Map();

const REGISTRY = 'bridge_registry';

/** The contents of the memory. `null`: no table was ever loaded. */
export type MemoryBridges = Dated & {
  readonly rows: readonly RegistryRow[] | null;
};

/** The table in memory. */
export function memoryBridgeRegistry({ rows, ...dated }: MemoryBridges): BridgeRegistry {
  if (rows === null) {
    const what = 'the table of bridge contracts';
    return { table: async () => unread(REGISTRY, why('table_never_imported', { what })) };
  }
  const table = { id: 'memory', rows, reviewed: formatIsoDate(dated.as_of), refused: 0 };
  const source = memorySource(REGISTRY_TITLE, 'table', dated);
  const held = read(table, { port: REGISTRY, source });
  return { table: async () => held };
}

const RECEIPTS = 'transaction_receipts';

/** The contents of the memory. */
export type MemoryReceipts = Dated & {
  readonly receipts: readonly ReceiptFacts[];
};

/** Receipts in memory: one that is not held is unread. */
export function memoryTransactionReceipts(held: MemoryReceipts): TransactionReceipts {
  const source = memorySource('Receipts in memory', 'observation', held);
  const byKey = new Map(held.receipts.map((one) => [`${one.chain} ${one.tx}`, one]));
  const missing = unread(RECEIPTS, why('receipt_not_held', { provider: 'memory' }));
  return {
    lookUp: async (chain, hashes) =>
      new Map(
        hashes.map((hash) => {
          const receipt = byKey.get(`${chain} ${hash}`);
          return [
            hash,
            receipt === undefined ? missing : read(receipt, { port: RECEIPTS, source }),
          ];
        }),
      ),
  };
}

/**
 * The contents of a world about bridges. Left out: nothing was loaded, no receipt is held, no node
 * set.
 */
export type BridgesHeld = {
  readonly bridges?: MemoryBridges;
  readonly receipts?: MemoryReceipts;
  readonly arrivals?: MemoryArrivals;
};

export type BridgesPorts = {
  readonly bridgeRegistry: BridgeRegistry;
  readonly transactionReceipts: TransactionReceipts;
  readonly bridgeArrivals: BridgeArrivals;
};

export function memoryBridges(held: BridgesHeld): BridgesPorts {
  return {
    bridgeRegistry: memoryBridgeRegistry(held.bridges ?? { ...UNDATED, rows: null }),
    transactionReceipts: memoryTransactionReceipts(held.receipts ?? { ...UNDATED, receipts: [] }),
    bridgeArrivals: memoryBridgeArrivals(held.arrivals ?? { ...UNDATED, logs: new Map() }),
  };
}

export function silentBridges(cause: Why): BridgesPorts {
  const arrivals = unread(ARRIVALS, cause);
  return {
    bridgeRegistry: { table: async () => unread(REGISTRY, cause) },
    bridgeArrivals: {
      lookUp: async () => arrivals,
      paidTo: async () => arrivals,
      timeOf: async () => arrivals,
      pageOf: () => null,
      statusOf: async () => arrivals,
    },
    transactionReceipts: {
      lookUp: async (_, hashes) => new Map(hashes.map((one) => [one, unread(RECEIPTS, cause)])),
    },
  };
}

/** The facts of bridges that a world may plant. */
export type PlantedBridges = {
  readonly receipts?: readonly ReceiptFacts[];
  /** The logs of bridge contracts on Base. */
  readonly arrivals?: readonly ArrivalLog[];
  /** The held payments on Base, which then has no node. */
  readonly paid?: readonly (Payment & { readonly to: string })[];
  /** The answer of a status page, by the sending transaction. */
  readonly pages?: ReadonlyMap<string, DepositStatus>;
};

export function plantedBridges({ receipts = [], arrivals, paid, pages }: PlantedBridges) {
  return memoryBridges({
    bridges: { ...PLANTED, rows: BRIDGE_ROWS },
    receipts: { ...PLANTED, receipts },
    arrivals: {
      ...PLANTED,
      logs: paid === undefined ? new Map([['base', listOrNone(arrivals)]]) : new Map(),
      paid: paid === undefined ? new Map() : new Map([['base', paid]]),
      pages: pages ?? new Map(),
    },
  });
}

/** The contract of every world's registry that moves assets. */
export const BRIDGE = evm('bridge');
export const MESSENGER = evm('messenger');
export const PROVIDERS = evm('pool of providers');
export const FAR_BRIDGE = evm('bridge of the other chain');
export const PAYER = evm('pool that is paid from');
export const FAR_PAYER = evm('pool of the other chain');

/**
 * The contracts of the registry: of two protocols one that moves assets and another on the other
 * chain, and two through which nobody bridges.
 */
export const BRIDGE_ROWS: readonly RegistryRow[] = [
  worldRow(BRIDGE, 'SpokePool', 'liquidity'),
  worldRow(FAR_BRIDGE, 'SpokePool', 'liquidity', 'base'),
  { ...worldRow(PAYER, 'Pool', 'liquidity'), protocol: 'celer' },
  { ...worldRow(FAR_PAYER, 'Pool', 'liquidity', 'base'), protocol: 'celer' },
  worldRow(MESSENGER, 'Endpoint', 'messaging'),
  worldRow(PROVIDERS, 'HubPool', 'providers'),
];

function worldRow(
  address: string,
  name: string,
  role: RegistryRow['role'],
  chain: RegistryRow['chain'] = 'ethereum',
): RegistryRow {
  return bridgeRow(address, { chain, name, role, note: null, reviewed: '2026-09-01' });
}

/** A row of the bridge registry. */
export function bridgeRow(address: string, over: Partial<RegistryRow> = {}): RegistryRow {
  return {
    chain: 'ethereum',
    address,
    protocol: 'across',
    name: 'SpokePool',
    role: 'lock',
    valid_from_block: null,
    also_on: [],
    sources: ['tests'],
    reviewed: '2026-01-01',
    note: null,
    ...over,
  };
}
