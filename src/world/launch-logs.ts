// The explorer logs of the simulated Ethereum about the first liquidity of pools, on an exchange of
// the Uniswap V2 layout at its real address, with the signers. Nobody on the simulated chains ever
// approved anybody: there are no other logs.

import { declaredEvent } from '../chain/abi.ts';
import type { ExplorerChains } from './chain-types.ts';
import { signedCreation } from './deployers.ts';
import { type EvmLaunch, evmLaunchAt, evmLaunchOfPool, evmLaunchOfTx } from './evm-launches.ts';

const ETHEREUM_ID = 1;
const FACTORY = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f';
const ROUTER = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d';
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const PAIR_CREATED = declaredEvent(
  'event PairCreated(address indexed token0, address indexed token1, address pair, uint256)',
).topic;
const MINT = declaredEvent(
  'event Mint(address indexed sender, uint256 amount0, uint256 amount1)',
).topic;
const TOKENS_IN = 5n * 10n ** 23n;

type LogQuery = { readonly chainId: number; readonly params: URLSearchParams };
type Log = { readonly address: string; readonly topics: readonly string[]; readonly data: string };

/** The logs that a question names, in an explorer's own envelope. */
export function launchLogs(chains: ExplorerChains, { chainId, params }: LogQuery): object {
  const launch = chainId === ETHEREUM_ID ? launchAsked(params) : undefined;
  const rows = launch === undefined ? [] : rowsOf(launch, chains);
  const [from, to] = [Number(params.get('fromBlock')), Number(params.get('toBlock'))];
  const result = rows.filter(
    (row) =>
      row.address === params.get('address')?.toLowerCase() &&
      TOPICS.every((name, n) => [null, row.topics[n]].includes(params.get(name))) &&
      Number(row.blockNumber) >= from &&
      (Number.isNaN(to) || Number(row.blockNumber) <= to),
  );
  if (result.length === 0) return { status: '0', message: 'No records found', result };
  return { status: '1', message: 'OK', result };
}

const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const;
const ADDRESS_CHARS = 40;
const WORD_CHARS = 64;

/** The launch whose pool is asked about, or who is told of by a topic of the exchange. */
function launchAsked(params: URLSearchParams): EvmLaunch | undefined {
  const address = String(params.get('address')).toLowerCase();
  if (address !== FACTORY) return evmLaunchOfPool(address);
  const named = params.get('topic1') ?? params.get('topic2');
  return named === null ? undefined : evmLaunchAt(`0x${named.slice(-ADDRESS_CHARS)}`);
}

function rowsOf({ address, pool, poolTx, poolWei }: EvmLaunch, chains: ExplorerChains) {
  const isFirst = BigInt(address) < BigInt(WETH);
  const [token0, token1] = isFirst ? [address, WETH] : [WETH, address];
  const [amount0, amount1] = isFirst ? [TOKENS_IN, poolWei] : [poolWei, TOKENS_IN];
  const logs: readonly Log[] = [
    {
      address: FACTORY,
      topics: [PAIR_CREATED, word(token0), word(token1)],
      data: `${word(pool)}${word(1n).slice(2)}`,
    },
    {
      address: pool,
      topics: [MINT, word(ROUTER)],
      data: `${word(amount0)}${word(amount1).slice(2)}`,
    },
  ];
  // The block in which the token first moved: nothing of a launch is told before its time.
  const block = chains.rowsOfToken(ETHEREUM_ID, address)[0]?.block;
  return block === undefined
    ? []
    : logs.map((log, n) => ({
        ...log,
        blockNumber: hex(block),
        timeStamp: hex(chains.timeOf(ETHEREUM_ID, block)),
        logIndex: n === 0 ? '0x' : hex(n),
        transactionHash: poolTx,
        transactionIndex: '0x',
        gasPrice: '0x1',
        gasUsed: '0x5208',
      }));
}

function word(value: string | bigint): string {
  return `0x${BigInt(value).toString(16).padStart(WORD_CHARS, '0')}`;
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

/** The signer and the callee of a transaction; `null` for an action that asks something else. */
export function evmLaunchAnswer(action: string, params: URLSearchParams): object | null {
  const hash = String(params.get('txhash'));
  const launch = evmLaunchOfTx(hash);
  const signed = launch === undefined ? signedCreation(hash) : { from: launch.maker, to: null };
  if (signed === null) return null;
  const told = { ...signed, hash, transactionHash: hash, logs: [] };
  if (action === 'gettxinfo') return { status: '1', message: 'OK', result: told };
  if (action !== 'eth_getTransactionReceipt') return null;
  return { jsonrpc: '2.0', id: 1, result: told };
}
