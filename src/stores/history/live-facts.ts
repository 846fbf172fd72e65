// Which facts may be kept of what was read live of one address?
// Only what is final: a provider tells the newest blocks too, and those may still be undone. So
// what it told is kept up to some blocks below its head, and said to be held up to there.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import type {
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
} from '../../ports/history/transfer-history.ts';
import type {
  AddressRange,
  LiveHistory,
  TokenFact,
  TransferFact,
} from '../../ports/indexing/transfer-store.ts';

/** Whence and when it was read. */
type LiveOrigin = Pick<AddressRange, 'source' | 'origin' | 'read_at'>;

/**
 * How many blocks below its head a chain is taken as final here, and the most seconds that they
 * span: what is held must not look newer than it is.
 */
const FINAL: Readonly<Record<ChainName, { readonly blocks: number; readonly spanS: number }>> = {
  ethereum: { blocks: 64, spanS: 1_000 },
  arbitrum: { blocks: 1_200, spanS: 1_200 },
  base: { blocks: 150, spanS: 400 },
  bsc: { blocks: 60, spanS: 400 },
  polygon: { blocks: 256, spanS: 1_000 },
  hyperevm: { blocks: 120, spanS: 400 },
  solana: { blocks: 150, spanS: 200 },
  bitcoin: { blocks: 6, spanS: 14_400 },
};

/** The facts of a neighbourhood that was read to its end. */
export function liveFacts(known: Neighbourhood, origin: LiveOrigin): LiveHistory {
  const heads = new Map<string, CoverageRange>();
  for (const range of known.coverage) {
    const before = heads.get(ofKind(range));
    if (before === undefined || range.to_block > before.to_block) heads.set(ofKind(range), range);
  }
  const told = known.counterparties.flatMap(({ transfers }) => transfers);
  const kept = told.filter((one) => {
    const head = heads.get(ofKind(one));
    return head !== undefined && one.block <= lastFinal(head) && isNamed(one);
  });
  const { address } = known;
  return {
    transfers: kept.map(factOf),
    ranges: known.coverage.flatMap((range) => {
      const head = heads.get(ofKind(range));
      const final = head === undefined ? range : upToFinal(range, head);
      if (final.to_block < final.from_block) return [];
      return [{ ...final, ...origin, address, truncated: false }];
    }),
    tokens: tokensIn(kept, origin.read_at),
  };
}

function ofKind({ chain, kind }: Pick<CoverageRange, 'chain' | 'kind'>): string {
  return `${chain} ${kind}`;
}

function lastFinal({ chain, to_block }: CoverageRange): number {
  return to_block - FINAL[chain].blocks;
}

function upToFinal(range: CoverageRange, head: CoverageRange): CoverageRange {
  const to_block = lastFinal(head);
  if (range.to_block <= to_block) return range;
  const to_time = Math.min(range.to_time, head.to_time - FINAL[head.chain].spanS);
  return { ...range, to_block, to_time };
}

/**
 * Whether its transaction is told. What a chain gives by itself is named by its block, and a
 * provider leaves out the index in it; it comes from nobody, so no walk misses it.
 */
export function isNamed({ kind, from }: HistoryTransfer): boolean {
  return kind === 'token' || !isSystemAddress(from);
}

/** A transfer as it is written. */
export function factOf(one: HistoryTransfer): TransferFact {
  const { chain, kind, tx, block, at, from, to, token, raw_amount, token_id, initiator, success } =
    one;
  return {
    chain,
    kind,
    block,
    from,
    to,
    token,
    raw_amount: token_id === undefined ? raw_amount : token_id,
    initiator,
    success,
    tx_hash: tx,
    block_hash: null,
    position: null,
    block_time: at,
  };
}

/** What transfers tell of their tokens. */
export function tokensIn(transfers: readonly HistoryTransfer[], read_at: number): TokenFact[] {
  const tokens = new Map<string, TokenFact>();
  for (const { chain, token, symbol, decimals, has_market } of transfers) {
    if (token === null || (symbol === null && decimals === null && has_market === null)) continue;
    tokens.set(`${chain} ${token}`, { chain, token, symbol, decimals, has_market, read_at });
  }
  return [...tokens.values()];
}
