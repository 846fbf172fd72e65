// A stand-in for tests and the simulated world: all pools of a token as one bare list, an empty one
// for a token that it does not list, and faults on demand.

import { answerPage, startStandIn } from './stand-in.ts';

/** The faults that a venue can be given. */
export const VENUE_FAULTS = [
  'rate-limited',
  'html',
  'wrong-shape',
  'other-token',
  'no-liquidity',
  'cut-body',
  'timeout',
  'error500',
] as const;
export type VenueFault = (typeof VENUE_FAULTS)[number];

/** A pool as the venue knows it. Amounts in US dollars; `null`: it does not tell. */
export type WorldPool = {
  readonly side: 'base' | 'quote';
  readonly liquidityUsd: number | null;
  readonly volumeUsd24h: number | null;
  /** Where it is; `uniswap` where it is not said. */
  readonly dex?: string;
  /** Its own address and since when it is there, in Unix seconds; made up where it is not said. */
  readonly address?: string;
  readonly createdAt?: number;
};

/** A stand-in of its own on 127.0.0.1. */
export type StartedVenue = {
  readonly url: URL;
  /** The path of every question so far. */
  readonly asked: readonly string[];
  /** The fault of each question, by the token asked about. */
  readonly fault: (fault: (token: string) => VenueFault | null) => void;
  readonly close: () => Promise<void>;
};

const PATH = /^\/token-pairs\/v1\/([a-z0-9]+)\/(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const WSOL = 'So11111111111111111111111111111111111111112';
const CREATED_AT = 1_760_000_000;
const ASKED_KEPT_MAX = 10_000;

/** Starts a stand-in on a free port of 127.0.0.1. `poolsOf` takes EVM addresses in lower case. */
export async function startVenue(
  poolsOf: (chain: string, token: string) => readonly WorldPool[],
): Promise<StartedVenue> {
  const asked: string[] = [];
  let faultOf: (token: string) => VenueFault | null = () => null;
  const { origin, close } = await startStandIn((request, response) => {
    const path = String(request.url);
    const match = PATH.exec(path);
    if (match === null) return false;
    if (asked.length < ASKED_KEPT_MAX) asked.push(path);
    const [chain, named] = [String(match[1]), String(match[2])];
    const token = named.startsWith('0x') ? named.toLowerCase() : named;
    const fault = faultOf(token);
    if (fault === 'timeout') return true;
    if (fault === 'error500') answerPage(response, 500);
    else if (fault === 'html') answerPage(response, 200);
    else if (fault === 'rate-limited') response.writeHead(429).end();
    else {
      const shown = fault === 'other-token' ? WETH.toLowerCase() : token;
      const pairs = poolsOf(chain, token).map((pool, n) => pairOf(chain, shown, pool, n));
      const told = fault === 'no-liquidity' ? pairs.map(({ liquidity: _, ...one }) => one) : pairs;
      const body = JSON.stringify(fault === 'wrong-shape' ? { pairs: null } : told);
      const text = fault === 'cut-body' ? body.slice(0, -1) : body;
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    }
    return true;
  });
  return {
    url: new URL(origin),
    asked,
    fault: (next) => {
      faultOf = next;
    },
    close,
  };
}

function pairOf(chain: string, token: string, pool: WorldPool, n: number) {
  const own = { address: token, name: 'Made up', symbol: 'MADE' };
  const other =
    chain === 'solana'
      ? { address: WSOL, name: 'Wrapped SOL', symbol: 'SOL' }
      : { address: WETH, name: 'Wrapped Ether', symbol: 'WETH' };
  const isBase = pool.side === 'base';
  const unnamed = `0x${token.slice(2, 38)}${n.toString(16).padStart(4, '0')}`;
  const { address: pairAddress = unnamed, createdAt = CREATED_AT } = pool;
  const none = { buys: 0, sells: 0 };
  return {
    chainId: chain,
    dexId: pool.dex ?? 'uniswap',
    url: `https://dexscreener.com/${chain}/${pairAddress}`,
    pairAddress,
    labels: ['v2'],
    baseToken: isBase ? own : other,
    quoteToken: isBase ? other : own,
    priceNative: '0.0000001',
    priceUsd: '0.0003',
    txns: { m5: none, h1: none, h6: none, h24: none },
    volume: pool.volumeUsd24h === null ? {} : { h24: pool.volumeUsd24h },
    priceChange: {},
    liquidity: { usd: pool.liquidityUsd ?? undefined, base: 1, quote: 1 },
    pairCreatedAt: createdAt * 1_000,
  };
}
