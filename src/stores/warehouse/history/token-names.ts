// Reads the names of the tokens in some transfers, and caches them, because the same few tokens are
// in every answer. The absence of a market is stated only while its reading is fresh.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import type { HistoryTransfer } from '../../../ports/history.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import type { HeldBlocksOf } from '../transfers/held.ts';
import {
  chainOf,
  type PackedSide,
  type TokenNames,
  tokenOf,
  UNKNOWN_TOKEN,
} from './warehouse-rows.ts';

/** How long a reading of a token is kept here. */
const KEEP_MS = 60_000;
/** Tokens kept; past it all are forgotten. */
const KEPT_MAX = 50_000;
/** How long a reading of the present market says that there is none. */
const MARKET_MAX_AGE_S = 3_600;

const tokenRow = z.tuple([
  z.enum(CHAIN_NAMES),
  z.string(),
  z.string().nullable(),
  z.number().nullable(),
  z.boolean().nullable(),
  z.number(),
]);
type Known = Pick<HistoryTransfer, 'symbol' | 'decimals' | 'has_market'> & {
  readonly read_at: number;
};

const SQL = `SELECT toString(chain), lower(hex(token)), symbol, decimals, has_market, read_at
FROM tokens FINAL
WHERE token IN (SELECT unhex(arrayJoin({tokens:Array(String)})))`;

/** The tokens of a warehouse. `now` is Unix seconds. */
export function tokenNames(warehouse: Warehouse, now: () => number) {
  const kept = new Map<string, { readonly known: Known | null; readonly atMs: number }>();

  async function learn(rows: readonly PackedSide[], call: Call): Promise<void> {
    const atMs = performance.now();
    const missing = new Map<string, string>();
    for (const row of rows) {
      const token = tokenOf(row);
      if (token === '') continue;
      const key = `${chainOf(row)} ${token}`;
      const before = kept.get(key);
      if (before === undefined || atMs - before.atMs > KEEP_MS) missing.set(key, token);
    }
    if (missing.size === 0) return;
    if (kept.size + missing.size > KEPT_MAX) kept.clear();
    const params = { tokens: [...new Set(missing.values())] };
    const found = await warehouse.query(SQL, { ...call, row: tokenRow, tuples: true, params });
    for (const key of missing.keys()) kept.set(key, { known: null, atMs });
    for (const [chain, token, symbol, decimals, has_market, read_at] of found) {
      const known = { symbol, decimals, has_market, read_at };
      kept.set(`${chain} ${token}`, { known, atMs });
    }
  }

  function nameOf(chain: ChainName, token: string): ReturnType<TokenNames['of']> {
    const before = kept.get(`${chain} ${token}`);
    if (before === undefined || before.known === null) return UNKNOWN_TOKEN;
    const { symbol, decimals, has_market, read_at } = before.known;
    const stale = has_market === false && now() - read_at > MARKET_MAX_AGE_S;
    return { symbol, decimals, has_market: stale ? null : has_market };
  }

  return {
    /** The names for one read; where no token is known at all, nothing is asked. */
    within: (held: HeldBlocksOf, call: Call): TokenNames => ({
      learn: held.hasTokens ? (rows) => learn(rows, call) : async () => undefined,
      of: nameOf,
    }),
    of: nameOf,
  };
}
