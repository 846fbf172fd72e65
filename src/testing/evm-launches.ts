// Derives the outcomes of the recorded Uniswap launches, under a stated price of ether and a stated
// level. The reserve at the snapshot decides alone, both sides of the pool together; the file's own
// verdict (`is_rugpull`) is passed on beside it and decides nothing.

import { join } from 'node:path';
import { collect } from '../evidence/measure.ts';
import { measureOutcome } from '../features/deployers/record.ts';
import type { DeployerWalk, ObservedLaunch } from '../ports/deployers.ts';
import { csvTable } from '../sources/files/csv.ts';
import { walkOf } from './deployer-worlds.ts';
import { SHARED_DATA } from './shared-data.ts';

/** 16,409 launches on Uniswap V2 before July 2021. */
export const EVM_LAUNCHES = join(
  SHARED_DATA,
  'launches-evm/uniswap-v2-launches-before-2021-07.csv',
);
/** The price and the level under which the launches are told apart. */
export const STATED = { ethUsd: 2_000, exitLiquidityUsd: 1_000 } as const;

/** One recorded launch; `reserveEth` as the file writes it. */
export type RecordedLaunch = {
  readonly deployer: string;
  readonly token: string;
  readonly reserveEth: string;
  readonly isRugpull: boolean;
};

const COLUMNS = ['deployer', 'token', 'reserve_eth_at_snapshot', 'is_rugpull', 'tx_count'] as const;
const DAY_MS = 86_400_000;

/** The launches of the file, each with what the product's own rule makes of it. */
export async function readLaunches(): Promise<
  readonly (RecordedLaunch & { readonly launch: ObservedLaunch })[]
> {
  const { lines } = await csvTable(EVM_LAUNCHES);
  const [heading, ...rows] = lines;
  const places = [...COLUMNS, 'created_date'].map((name) => Number(heading?.cells.indexOf(name)));
  return rows.map(({ cells }) => {
    const [deployer, token, reserveEth, verdict, transactions, day] = places.map((at) =>
      String(cells[at]),
    ) as [string, string, string, string, string, string];
    // Both sides of a pool are worth the same.
    const liquidity_usd = 2 * Number(reserveEth) * STATED.ethUsd;
    const unnamed = { address: null, created_at: null } as const;
    const pools = [{ ...unnamed, side: 'base', liquidity_usd, volume_usd_24h: null }] as const;
    const transfers = { count: Number(transactions), truncated: false };
    const launch: ObservedLaunch = {
      address: token,
      created_at: (Math.floor(Date.parse(day) / DAY_MS) * DAY_MS) / 1_000,
      factory: null,
      ...measureOutcome({ pools, transfers, listedAs: null }, STATED.exitLiquidityUsd),
      transfers_observed: transfers.count,
      transfers_truncated: transfers.truncated,
      launched_with: { state: 'unknown', cause: 'unasked' },
    };
    return { deployer, token, reserveEth, isRugpull: verdict === 'True', launch };
  });
}

/** The walk of each deployer of the file. */
export function walksOf(
  rows: Awaited<ReturnType<typeof readLaunches>>,
): ReadonlyMap<string, DeployerWalk> {
  const byDeployer = new Map<string, ObservedLaunch[]>();
  for (const { deployer, launch } of rows) collect(byDeployer, deployer, launch);
  return new Map(
    [...byDeployer].map(([deployer, launches]) => [
      deployer,
      walkOf(deployer, { launches, direct_creations: launches.length }),
    ]),
  );
}
