import { createHash } from 'node:crypto';
import type { EvmChainName } from '../src/chain/chain.ts';
import type { TipBlock, TransferFact } from '../src/ports/indexing.ts';
import type { Made } from './warehouse-data.ts';

const BLOCK_TRANSFERS = 500;
const ADDRESSES_PER_TRANSFER = 0.2;
const UNEVEN = 6;

function hash(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}

/** The same parties as the data have: `address` of bench/warehouse-data.ts. */
function party({ rows }: Made): string {
  const u = Math.random();
  const at = Math.floor(rows * ADDRESSES_PER_TRANSFER * (Math.random() < 0.72 ? u : u ** UNEVEN));
  return `0x${createHash('sha1').update(`a${at}`).digest('hex')}`;
}

/** A block of so many transfers, signed by their senders. */
export function blockOf(made: Made, chain: EvmChainName, number: number): TipBlock {
  const transfers = Array.from({ length: BLOCK_TRANSFERS }, (_, at): TransferFact => {
    const from = party(made);
    return {
      chain,
      kind: 'native',
      token: null,
      success: true,
      block: number,
      block_time: made.now,
      block_hash: hash(`${chain} ${number}`),
      position: at,
      tx_hash: hash(`${chain} ${number} ${at}`),
      from,
      to: party(made),
      initiator: from,
      raw_amount: BigInt(Math.floor(Math.random() * 1e15)),
    };
  });
  const header = {
    number,
    hash: hash(`${chain} ${number}`),
    parent_hash: hash(`${chain} ${number - 1}`),
  };
  return { ...header, time: made.now, transfers, creations: [] };
}
