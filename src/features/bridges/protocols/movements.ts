// What moved in a transaction, as its receipt shows it: tokens, and coins that were wrapped?
// Coins that move inside a transaction leave no log: a receipt shows them at its two ends alone,
// as what the transaction carried, and as what a wrapped coin's contract took in or gave back.

import { declaredEvent } from '../../../chain/abi.ts';
import type { EvmChainName } from '../../../chain/chain.ts';
import { present } from '../../../evidence/measure.ts';
import type { ReceiptFacts, ReceiptLog } from '../../../ports/bridges/transaction-receipts.ts';
import { NATIVE, NOBODY } from './layout.ts';

/** A movement of a token. `NATIVE` as its end: the coin itself, which was wrapped or unwrapped. */
export type Movement = {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  /** The place of its log. */
  readonly index: number;
};

/** The contract of each chain's wrapped coin, as each chain's explorer labels it. */
const WRAPPED: Readonly<Record<EvmChainName, string>> = {
  ethereum: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  arbitrum: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
  base: '0x4200000000000000000000000000000000000006',
  bsc: '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
  polygon: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  hyperevm: '0x5555555555555555555555555555555555555555',
};

/** Whether a token is the wrapped coin of a chain. */
export function isWrapped(chain: EvmChainName, token: string | null): boolean {
  return WRAPPED[chain] === token;
}

const TRANSFER = declaredEvent(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
const WRAPPING = declaredEvent('event Deposit(address indexed dst, uint256 wad)');
const UNWRAPPING = declaredEvent('event Withdrawal(address indexed src, uint256 wad)');

/** The movements of a receipt, in its order. */
export function movementsOf({ chain, logs }: ReceiptFacts): Movement[] {
  return present(logs.map((log) => movementIn(log, WRAPPED[chain])));
}

function movementIn(log: ReceiptLog, wrapped: string): Movement | null {
  const { address: token, index } = log;
  const moved = TRANSFER.fieldsOf(log);
  if (moved !== null) {
    const { from, to, value: amount } = moved;
    // Some wrapped coins log a mint or a burn where others log that coins came in or went out.
    const end = token === wrapped ? NATIVE : NOBODY;
    return {
      token,
      amount,
      index,
      from: from === NOBODY ? end : from,
      to: to === NOBODY ? end : to,
    };
  }
  if (token !== wrapped) return null;
  const wrapping = WRAPPING.fieldsOf(log);
  if (wrapping !== null)
    return { token, from: NATIVE, to: wrapping.dst, amount: wrapping.wad, index };
  const back = UNWRAPPING.fieldsOf(log);
  return back === null ? null : { token, from: back.src, to: NATIVE, amount: back.wad, index };
}
