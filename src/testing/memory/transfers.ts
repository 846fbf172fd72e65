// What does a transfer, and a chain held in full, look like in a world of the memory?
// Names for what tests and worlds write by the dozen; nothing of it is read by a deployment.

import type { ChainName } from '../../chain/chain.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import type { MemoryCoverage } from './transfer-history.ts';

const HASH_DIGITS = 64;
const FIRST_AT = Date.UTC(2026, 0, 1) / 1_000;

/**
 * A transfer by its number: an ether from one to the other, signed by its sender, unless said
 * otherwise. Transaction, block and time follow from the number.
 */
export function memoryTransfer(
  n: number,
  from: string,
  to: string,
  ...[over]: readonly [Partial<HistoryTransfer>?]
): HistoryTransfer {
  return {
    chain: 'ethereum',
    kind: 'native',
    tx: `0x${n.toString(16).padStart(HASH_DIGITS, '0')}`,
    block: n,
    at: FIRST_AT + n,
    from,
    to,
    token: null,
    symbol: null,
    decimals: null,
    raw_amount: 10n ** 18n,
    usd: null,
    has_market: null,
    initiator: from,
    success: true,
    ...over,
  };
}

/** A chain held in full, of every address, to a tip of this time (Unix seconds). */
export function heldInFull(chain: ChainName, tipAt: number): MemoryCoverage[] {
  return (['native', 'token', 'internal', 'nft'] as const).map((kind) => ({
    chain,
    kind,
    address: null,
    from_block: 0,
    to_block: 30_000_000,
    to_time: tipAt,
    from_first: true,
  }));
}
