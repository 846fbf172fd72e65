import { Answer } from '../contract/answer.ts';
import { walletBridges, walletBridgesHandler } from '../features/bridges/wallet-bridges.route.ts';
import type { ReceiptFacts, RegistryRow } from '../ports/bridges.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import type { MemoryArrivals } from './twins/bridges.ts';
import { fullCoverage } from './twins/history.ts';
import { memoryPorts } from './twins/ports.ts';

export const SUBJECT = evm('subject');
export const POOL = evm('spoke pool');
export const VAULT = evm('vault');
export const ENDPOINT = evm('endpoint');
export const OFT = evm('token that bridges itself');
export const HUB = evm('hub pool');
export const FAR_POOL = evm('spoke pool of the other chain');
export const RELAYER = evm('relayer');
export const USDC = evm('usdc');
export const NOBODY = `0x${'0'.repeat(40)}`;

/** A row of the table. */
export function row(address: string, name: string, over: Partial<RegistryRow> = {}): RegistryRow {
  return {
    chain: 'ethereum',
    address,
    protocol: 'across',
    name,
    role: 'liquidity',
    note: null,
    also_on: [],
    valid_from_block: null,
    sources: ['tests'],
    reviewed: '2026-09-01',
    ...over,
  };
}
/** The table of every world. */
export const ROWS = [
  row(POOL, 'SpokePool'),
  row(VAULT, 'StargatePool V2 (USDC)', { protocol: 'stargate', valid_from_block: 10 }),
  row(ENDPOINT, 'Endpoint', { protocol: 'layerzero', role: 'messaging' }),
  row(HUB, 'HubPool', { role: 'providers' }),
  row(OFT, 'OFT', { protocol: 'layerzero', role: 'token' }),
];

export type World = {
  readonly transfers: readonly HistoryTransfer[];
  readonly receipts?: readonly ReceiptFacts[];
  readonly arrivals?: MemoryArrivals;
  readonly rows?: readonly RegistryRow[] | null;
  readonly coverage?: ReturnType<typeof fullCoverage>;
  readonly simulated?: boolean;
};

export function portsOf(world: World) {
  const dated = { as_of: STILL_NOW - 120, simulated: world.simulated === true };
  const inForce = { published: '2026-09-20', checked_at: STILL_NOW, entries: [] };
  return memoryPorts({
    list: { publications: [inForce], maxAgeS: 1_000, simulated: false, now: () => STILL_NOW },
    labels: { ...dated, labels: [] },
    corpus: { ...dated, launches: [] },
    history: {
      ...dated,
      chains: ['ethereum', 'base'],
      transfers: world.transfers,
      provenance: 'warehouse',
      coverage: world.coverage ?? fullCoverage('ethereum', STILL_NOW - 120),
    },
    bridges: { ...dated, simulated: false, rows: world.rows === undefined ? ROWS : world.rows },
    receipts: { ...dated, receipts: world.receipts ?? [] },
    ...(world.arrivals === undefined ? null : { arrivals: world.arrivals }),
  });
}

type Call = (
  input: { params: { address: string }; query: object; body: undefined },
  asked: { now: () => number; signal: AbortSignal },
) => ReturnType<ReturnType<typeof walletBridgesHandler>>;

export async function askWalletBridges(
  ports: ReturnType<typeof portsOf>,
  address = SUBJECT,
  chain = 'ethereum',
  signal = new AbortController().signal,
) {
  const params = walletBridges.params.parse({ address });
  const query = walletBridges.query.parse({ chain });
  const now = () => STILL_NOW;
  const handler = walletBridgesHandler(ports) as Call;
  return handler({ params, query, body: undefined }, { now, signal });
}

export async function traceWallet(world: World, address = SUBJECT, chain = 'ethereum') {
  const answer = await askWalletBridges(portsOf(world), address, chain);
  if (!(answer instanceof Answer)) throw new Error('refused');
  return answer.envelope(STILL_NOW);
}

export async function dataOf(world: World) {
  const said = await traceWallet(world);
  if (said.state !== 'ok') throw new Error(String(said.reason));
  return walletBridges.data.parse(said.data);
}

export const token = (over: Partial<HistoryTransfer> = {}): Partial<HistoryTransfer> => ({
  kind: 'token',
  token: USDC,
  symbol: 'USDC',
  decimals: 6,
  raw_amount: 70_000_000n,
  usd: '70',
  has_market: true,
  ...over,
});
/** A word of a log's data. */
export const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
/** A receipt of a transfer's transaction. */
export function receipt(
  { tx, block }: HistoryTransfer,
  ...logs: ReceiptFacts['logs']
): ReceiptFacts {
  const facts = { chain: 'ethereum', tx, block, from: RELAYER, to: null } as const;
  return { ...facts, value: 0n, input: null, success: true, logs };
}
