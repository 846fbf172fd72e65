// Is a contract an ERC-20 token, by its code and what it answers, whoever passes the answers on?
// Proxies answer as what stands behind them. Tokens of single items and pools of two tokens answer
// some of the same calls and are told apart by those that they alone answer.

import type { ContractKind } from '../../ports/launches/deployer-walk.ts';
import { answeredWord, codeOf, type StateAsk } from './state-facts-of-account.ts';

/** The first four bytes of keccak-256 of each function, and the arguments that are sent. */
const CALLS = {
  totalSupply: '0x18160ddd',
  decimals: '0x313ce567',
  balanceOf: `0x70a08231${'dead'.padStart(64, '0')}`,
  token0: '0x0dfe1681',
  token1: '0xd21220a7',
  factory: '0xc45a0155',
  isErc721: `0x01ffc9a7${'80ac58cd'.padEnd(64, '0')}`,
  isErc1155: `0x01ffc9a7${'d9b67a26'.padEnd(64, '0')}`,
  /** ERC-165: whoever says yes to this does not answer the question. */
  isAnything: `0x01ffc9a7${'ffffffff'.padEnd(64, '0')}`,
  /** keccak-256 of `exhibitHasNoSuchFunction()`: whoever answers this answers anything. */
  unknown: '0x3f91bc42',
} as const;
const DECIMALS_MAX = 255n;
const YES = 1n;

/** What a contract is. Throws the fault of whoever is asked. */
export async function contractKindOf(ask: StateAsk, address: string): Promise<ContractKind> {
  const { size } = await codeOf(ask, address);
  if (size === 0) return 'no_code';
  const word = (call: keyof typeof CALLS) => answeredWord(ask, address, CALLS[call]);
  const [supply, balance, decimals] = await Promise.all([
    word('totalSupply'),
    word('balanceOf'),
    word('decimals'),
  ]);
  if (supply === null || balance === null) return 'other';
  if (decimals !== null && BigInt(decimals) > DECIMALS_MAX) return 'other';
  if ((await word('unknown')) !== null) return 'undecided';
  const says = async (call: keyof typeof CALLS) => isYes(await word(call));
  const [erc721, erc1155, anything] = await Promise.all([
    says('isErc721'),
    says('isErc1155'),
    says('isAnything'),
  ]);
  if ((erc721 || erc1155) && !anything) return 'other';
  const pool = await Promise.all([word('token0'), word('token1'), word('factory')]);
  return pool.every((one) => one !== null) ? 'other' : 'erc20';
}

function isYes(word: string | null): boolean {
  return word !== null && BigInt(word) === YES;
}
