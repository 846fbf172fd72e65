// Reads the first liquidity of a token's first pool on an exchange of the Uniswap V2 layout, from
// its logs. The exchange's own factory names the pools, so that nobody can pass off a contract as
// one. Pools with unknown coins are only reported to exist: anybody makes such.

import { z } from 'zod';
import { declaredEvent } from '../../chain/abi.ts';
import { formatUnits } from '../../chain/amount.ts';
import { type FirstLiquidity, type LaunchPools, WRAPPED_ETHER } from '../../ports/deployers.ts';
import { topicOf } from '../evm/node-of-account.ts';
import { type CallBudget, ProviderFault } from '../http/provider.ts';
import { askTransaction, LOG_NUMBER, LOG_ROW } from './account-facts.ts';
import { readExplorer, type WalkExplorer } from './deployer-creations.ts';
import { askExplorer, type ExplorerChain, PAGE_ROWS, resultIn, saysNoLogs } from './envelope.ts';
import { headReader } from './listing.ts';

const PORT = 'launch_pools';

/** A coin that a launch may be pooled with. `priced_as`: `null` is the chain's own coin. */
type PoolCoin = {
  readonly address: string;
  readonly decimals: number;
  readonly priced_as: string | null;
};

/** An exchange of the Uniswap V2 layout, and the coins whose pools count. */
export type Exchange = { readonly factory: string; readonly coins: readonly PoolCoin[] };

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const DAI = '0x6b175474e89094c44da98b954eedeac495271d0f';

/** Uniswap V2 on Ethereum, by docs.uniswap.org/contracts/v2/reference; WETH, USDC, USDT, DAI. */
export const UNISWAP_V2: Exchange = {
  factory: '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f',
  coins: [
    { address: WRAPPED_ETHER, decimals: 18, priced_as: null },
    { address: USDC, decimals: 6, priced_as: USDC },
    { address: USDT, decimals: 6, priced_as: USDT },
    { address: DAI, decimals: 18, priced_as: DAI },
  ],
};

const PAIR_CREATED = declaredEvent(
  'event PairCreated(address indexed token0, address indexed token1, address pair, uint256)',
);
const MINT = declaredEvent('event Mint(address indexed sender, uint256 amount0, uint256 amount1)');

const ROWS = z.array(LOG_ROW.extend({ timeStamp: LOG_NUMBER })).max(PAGE_ROWS);
type Row = z.output<typeof ROWS>[number];

/** First liquidity as an explorer's logs have it, up to the settled block. */
export function explorerLaunchPools(explorer: WalkExplorer, exchange: Exchange): LaunchPools {
  const { at } = explorer;
  const heads = headReader(explorer.now);
  return {
    firstLiquidity: (token, signal) =>
      readExplorer(PORT, explorer, signal, async (budget) => {
        const { block } = await heads.settled(at, budget);
        return firstOf({ at, budget, toBlock: block }, exchange, token);
      }),
  };
}

type Asking = { readonly at: ExplorerChain; readonly budget: CallBudget; readonly toBlock: number };
type Pool = { readonly address: string; readonly block: number; readonly coin: PoolCoin | null };

async function firstOf(
  asking: Asking,
  { factory, coins }: Exchange,
  token: string,
): Promise<FirstLiquidity | null> {
  const pools = await poolsOf(asking, factory, token, coins);
  const begun: { readonly pool: string; readonly coin: PoolCoin; readonly mint: Row }[] = [];
  for (const { address: pool, coin } of pools) {
    if (coin === null) continue;
    const [mint] = await logsOf(asking, pool, [MINT.topic]);
    if (mint !== undefined) begun.push({ pool, coin, mint });
  }
  const [first] = begun.sort((a, b) => inOrder(a.mint, b.mint));
  if (first === undefined) return null;
  const { pool, coin, mint } = first;
  const amounts = MINT.fieldsOf(mint);
  if (amounts === null) throw odd();
  const raw = isBefore(token, coin.address) ? amounts.amount1 : amounts.amount0;
  const { transactionHash: tx, blockNumber, timeStamp } = mint;
  const { from: signer } = await askTransaction(asking.at, tx, asking.budget);
  return {
    pool,
    coin: coin.address,
    priced_as: coin.priced_as,
    amount: formatUnits(raw, coin.decimals),
    tx,
    at: timeStamp,
    signer,
    others_before: pools.some((one) => one.coin === null && one.block <= blockNumber),
  };
}

/** Every pool of a token that the exchange made, whichever of the two tokens it is there. */
async function poolsOf(
  asking: Asking,
  factory: string,
  token: string,
  coins: readonly PoolCoin[],
): Promise<Pool[]> {
  const own = topicOf(token);
  const asked = [
    await logsOf(asking, factory, [PAIR_CREATED.topic, own]),
    await logsOf(asking, factory, [PAIR_CREATED.topic, null, own]),
  ];
  return asked.flat().map((row) => {
    const fields = PAIR_CREATED.fieldsOf(row);
    if (fields === null) throw odd();
    const other = fields.token0 === token ? fields.token1 : fields.token0;
    const coin = coins.find(({ address }) => address === other);
    return { address: fields.pair, block: row.blockNumber, coin: coin === undefined ? null : coin };
  });
}

/** The first logs of a contract with these topics, oldest first. */
async function logsOf(
  { at, budget, toBlock }: Asking,
  address: string,
  topics: readonly (string | null)[],
): Promise<readonly Row[]> {
  const wanted = topics.flatMap((topic, n) => (topic === null ? [] : [[n, topic] as const]));
  const named = wanted.flatMap(([n, topic]) => [
    [`topic${n}`, topic] as const,
    ...(n === 0 ? [] : [[`topic0_${n}_opr`, 'and'] as const]),
  ]);
  const question = at.list({
    module: 'logs',
    action: 'getLogs',
    address,
    fromBlock: '0',
    toBlock: String(toBlock),
    ...Object.fromEntries(named),
    page: '1',
    offset: String(PAGE_ROWS),
  });
  return askExplorer(at, budget, question, (answer) => {
    if (saysNoLogs(answer)) return [];
    const rows = ROWS.safeParse(resultIn(answer)?.result);
    if (!rows.success) throw odd();
    const fits = rows.data.every(
      (row) =>
        row.address === address &&
        row.blockNumber <= toBlock &&
        wanted.every(([n, topic]) => row.topics[n] === topic),
    );
    // A page that is full has the first rows only where it is in their order.
    const ordered = rows.data.every((row, n) => {
      const before = rows.data[n - 1];
      return before === undefined || inOrder(before, row) < 0;
    });
    if (!fits || !ordered) throw odd();
    return rows.data;
  });
}

function odd(): ProviderFault {
  return new ProviderFault('answered logs of another shape (getLogs)', 'passing');
}

function inOrder(a: Row, b: Row): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}

/** The exchange sorts the two tokens of a pool by their addresses. */
function isBefore(token: string, other: string): boolean {
  return BigInt(token) < BigInt(other);
}
