// Reads the facts of an account from its code, slots and calls, whoever passes them on. An answer
// in another form is a fault of the source. A contract's refusal of a call is an answer.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { listOrNone } from '../../evidence/measure.ts';
import type { AuthorityFact, CodeFact } from '../../ports/accounts.ts';
import type { ContractKind } from '../../ports/deployers.ts';
import { ProviderFault } from '../http/provider.ts';
import { quantity } from './wire.ts';

/** The answer of a contract, or its refusal of the call. */
export type Called =
  | { readonly refused: false; readonly result: unknown }
  | { readonly refused: true };

/** Asks the source; throws its own fault where it gives no usable answer. */
export type StateAsk = (call: StateCall) => Promise<Called>;

/** The source answered in a form that is none. */
export class StateFault extends ProviderFault {
  constructor(method: string) {
    super(`answered ${method} in another form`, 'lasting');
    this.name = 'StateFault';
  }
}

const BYTES = z.string().regex(/^0x([0-9a-f]{2})*$/i);
const QUANTITY = z.string().regex(/^0x[0-9a-f]{1,64}$/i);
/** Storage of 32 bytes; some nodes leave leading zeros out. */
const WORD = z.string().regex(/^0x[0-9a-f]{0,64}$/i);
/** EIP-7702: an account whose code is that of another. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;
/** EIP-1167: the runtime code of a minimal proxy. */
const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/;
/** EIP-1967: keccak-256 of `eip1967.proxy.…`, less one. */
const SLOTS = {
  implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
  beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
} as const;
/** The first four bytes of keccak-256 of `owner()`, `totalSupply()` and `decimals()`. */
const SELECTORS = { owner: '0x8da5cb5b', totalSupply: '0x18160ddd', decimals: '0x313ce567' };
const HEX_PREFIX_CHARS = 2;
const HEX_CHARS_PER_BYTE = 2;
const ADDRESS_CHARS = 40;
const DECIMALS_MAX = 255n;

export async function codeOf(ask: StateAsk, address: string): Promise<CodeFact> {
  const code = (await askState(ask, { method: 'eth_getCode', address }, BYTES)).toLowerCase();
  return {
    size: (code.length - HEX_PREFIX_CHARS) / HEX_CHARS_PER_BYTE,
    delegates_to: addressIn(DELEGATION.exec(code)),
    minimal_proxy_of: addressIn(MINIMAL_PROXY.exec(code)),
  };
}

function addressIn(match: RegExpExecArray | null): string | null {
  return match === null ? null : `0x${match[1]}`;
}

/** How many transactions the account has signed, or contracts a contract has made. */
export async function nonceOf(ask: StateAsk, address: string): Promise<number> {
  const call = { method: 'eth_getTransactionCount', address } as const;
  const nonce = Number(await askState(ask, call, QUANTITY));
  if (!Number.isSafeInteger(nonce)) throw new StateFault('eth_getTransactionCount');
  return nonce;
}

/** The coins of the account in wei. */
export async function balanceOf(ask: StateAsk, address: string): Promise<bigint> {
  return BigInt(await askState(ask, { method: 'eth_getBalance', address }, QUANTITY));
}

/** Whether it answers as a fungible token does. What an account without code answers is nothing. */
export async function looksLikeToken(ask: StateAsk, address: string): Promise<boolean> {
  const words = await Promise.all([
    callWord(ask, address, SELECTORS.totalSupply),
    callWord(ask, address, SELECTORS.decimals),
  ]);
  const [supply, decimals] = words;
  return supply != null && decimals != null && BigInt(decimals) <= DECIMALS_MAX;
}

/** Reads the powers over a contract: its slots, and its own answer for an owner. */
export async function askAuthority(ask: StateAsk, address: string): Promise<AuthorityFact> {
  const slot = async (of: keyof typeof SLOTS) => {
    const call = { method: 'eth_getStorageAt', address, slot: SLOTS[of] } as const;
    return addressInWord(await askState(ask, call, WORD));
  };
  const [implementation, admin, beacon, owner] = await Promise.all([
    slot('implementation'),
    slot('admin'),
    slot('beacon'),
    callWord(ask, address, SELECTORS.owner),
  ]);
  return { implementation, admin, beacon, owner: owner === null ? null : addressInWord(owner) };
}

/** The authority of an account without code: nobody acts through it by its code. */
export const UNDELEGATED: AuthorityFact = {
  implementation: null,
  admin: null,
  beacon: null,
  owner: null,
};

/** The whole words that a call answers; none where the contract refuses it. */
export async function callWords(
  ask: StateAsk,
  address: string,
  data: string,
  block: number,
): Promise<string[]> {
  return wordsIn(await ask({ method: 'eth_call', address, data, block }));
}

/** The first word that a call answers; `null` where the contract refuses it or answers none. */
export async function callWord(
  ask: StateAsk,
  address: string,
  data: string,
): Promise<string | null> {
  const [first] = wordsIn(await ask({ method: 'eth_call', address, data }));
  return first === undefined ? null : first;
}

function wordsIn(called: Called): string[] {
  if (called.refused) return [];
  const read = BYTES.safeParse(called.result);
  if (!read.success) throw new StateFault('eth_call');
  const digits = read.data.slice(HEX_PREFIX_CHARS).match(/.{64}/g);
  return listOrNone(digits).map((one) => `0x${one}`);
}

/** The address in a word; `null` for none, and for what is larger than an address. */
function addressInWord(word: string): string | null {
  const value = word === '0x' ? 0n : BigInt(word);
  if (value === 0n) return null;
  return parseEvmAddress(`0x${value.toString(16).padStart(ADDRESS_CHARS, '0')}`);
}

async function askState(ask: StateAsk, call: StateCall, shape: z.ZodType<string>): Promise<string> {
  const called = await ask(call);
  if (called.refused) throw new StateFault(call.method);
  const read = shape.safeParse(called.result);
  if (!read.success) throw new StateFault(call.method);
  return read.data;
}

// The requests about the state of one account, in the form of each wire.

/** A question of one account's state at the newest block, or at a named one. Hex, `0x`. */
export type StateCall =
  | { readonly method: 'eth_getCode' | 'eth_getTransactionCount'; readonly address: string }
  | { readonly method: 'eth_getBalance'; readonly address: string }
  | { readonly method: 'eth_getStorageAt'; readonly address: string; readonly slot: string }
  | {
      readonly method: 'eth_call';
      readonly address: string;
      readonly data: string;
      readonly block?: number;
    };

const NEWEST = 'latest';

function tagOf({ block }: { readonly block?: number }): string {
  return block === undefined ? NEWEST : quantity(block);
}

/** The call as JSON-RPC has it. */
export function rpcParams(call: StateCall): readonly unknown[] {
  if (call.method === 'eth_call') return [{ to: call.address, data: call.data }, tagOf(call)];
  if (call.method === 'eth_getStorageAt') return [call.address, call.slot, NEWEST];
  return [call.address, NEWEST];
}

/**
 * The call as the parameters of an Etherscan-compatible API. It passes nodes' methods on, all but
 * the balance, which is a question of its account module.
 */
export function explorerParams(call: StateCall): Readonly<Record<string, string>> {
  const { method, address } = call;
  const proxied = { module: 'proxy', action: method, tag: NEWEST };
  if (method === 'eth_getBalance') {
    return { module: 'account', action: 'balance', address, tag: NEWEST };
  }
  if (call.method === 'eth_call') {
    return { module: 'proxy', action: method, tag: tagOf(call), to: address, data: call.data };
  }
  if (call.method === 'eth_getStorageAt') return { ...proxied, address, position: call.slot };
  return { ...proxied, address };
}

// Is a contract an ERC-20 token, by its code and what it answers, whoever passes the answers on?
// Proxies answer as what stands behind them. Tokens of single items and pools of two tokens answer
// some of the same calls and are told apart by those that they alone answer.

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
const YES = 1n;

/** The kind of a contract. Throws the fault of the source. */
export async function contractKindOf(ask: StateAsk, address: string): Promise<ContractKind> {
  const { size } = await codeOf(ask, address);
  if (size === 0) return 'no_code';
  const word = (call: keyof typeof CALLS) => callWord(ask, address, CALLS[call]);
  const [supply, balance, decimals] = await Promise.all([
    word('totalSupply'),
    word('balanceOf'),
    word('decimals'),
  ]);
  if (supply === null || balance === null) return 'other';
  if (decimals !== null && BigInt(decimals) > DECIMALS_MAX) return 'other';
  if ((await word('unknown')) !== null) return 'undecided';
  const says = async (call: keyof typeof CALLS) => {
    const said = await word(call);
    return said !== null && BigInt(said) === YES;
  };
  const [erc721, erc1155, anything] = await Promise.all([
    says('isErc721'),
    says('isErc1155'),
    says('isAnything'),
  ]);
  if ((erc721 || erc1155) && !anything) return 'other';
  const pool = await Promise.all([word('token0'), word('token1'), word('factory')]);
  return pool.every((one) => one !== null) ? 'other' : 'erc20';
}
