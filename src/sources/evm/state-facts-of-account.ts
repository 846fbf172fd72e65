// What do the code, the slots and the answers of an account say of it, whoever passes them on?
// An answer in another form is a fault of the source. That a contract refuses a call is an answer.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { given } from '../../evidence/measure.ts';
import type { AuthorityFact, CodeFact } from '../../ports/accounts/chain-facts.ts';
import type { StateCall } from './state-call.ts';

/** What a contract answered, or that it refused the call. */
export type Called =
  | { readonly refused: false; readonly result: unknown }
  | { readonly refused: true };

/** Asks the source; throws its own fault where it gives no usable answer. */
export type StateAsk = (call: StateCall) => Promise<Called>;

/** The source answered in a form that is none. */
export class StateFault extends Error {
  constructor(method: string) {
    super(`answered ${method} in another form`);
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

/** The code at an address. */
export async function codeOf(ask: StateAsk, address: string): Promise<CodeFact> {
  const code = (await told(ask, { method: 'eth_getCode', address }, BYTES)).toLowerCase();
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
  const told_ = await told(ask, { method: 'eth_getTransactionCount', address }, QUANTITY);
  const nonce = Number(told_);
  if (!Number.isSafeInteger(nonce)) throw new StateFault('eth_getTransactionCount');
  return nonce;
}

/** The coins of the account in wei. */
export async function balanceOf(ask: StateAsk, address: string): Promise<bigint> {
  return BigInt(await told(ask, { method: 'eth_getBalance', address }, QUANTITY));
}

/** Whether it answers as a fungible token does. What an account without code answers is nothing. */
export async function isToken(ask: StateAsk, address: string): Promise<boolean> {
  const words = await Promise.all([
    answeredWord(ask, address, SELECTORS.totalSupply),
    answeredWord(ask, address, SELECTORS.decimals),
  ]);
  const [supply, decimals] = words;
  return supply != null && decimals != null && BigInt(decimals) <= DECIMALS_MAX;
}

/** Who may change what a contract does: its slots, and its own word for an owner. */
export async function authorityOf(ask: StateAsk, address: string): Promise<AuthorityFact> {
  const slot = (of: keyof typeof SLOTS) => addressInSlot(ask, address, SLOTS[of]);
  const [implementation, admin, beacon, owner] = await Promise.all([
    slot('implementation'),
    slot('admin'),
    slot('beacon'),
    answeredWord(ask, address, SELECTORS.owner),
  ]);
  return { implementation, admin, beacon, owner: owner === null ? null : addressInWord(owner) };
}

/** What an account without code has: nobody acts through it by its code. */
export const UNDELEGATED: AuthorityFact = {
  implementation: null,
  admin: null,
  beacon: null,
  owner: null,
};

async function addressInSlot(ask: StateAsk, address: string, slot: string): Promise<string | null> {
  const word = await told(ask, { method: 'eth_getStorageAt', address, slot }, WORD);
  return addressInWord(word);
}

/** The whole words that a call answers; none where the contract refuses it. */
export async function answeredWords(
  ask: StateAsk,
  address: string,
  data: string,
  block: number,
): Promise<string[]> {
  return wordsIn(await ask({ method: 'eth_call', address, data, block }));
}

/** The first word that a call answers; `null` where the contract refuses it or answers none. */
export async function answeredWord(
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
  return given(digits).map((one) => `0x${one}`);
}

/** The address in a word; `null` for none, and for what is larger than an address. */
function addressInWord(word: string): string | null {
  const value = word === '0x' ? 0n : BigInt(word);
  if (value === 0n) return null;
  return parseEvmAddress(`0x${value.toString(16).padStart(ADDRESS_CHARS, '0')}`);
}

async function told(ask: StateAsk, call: StateCall, shape: z.ZodType<string>): Promise<string> {
  const called = await ask(call);
  if (called.refused) throw new StateFault(call.method);
  const read = shape.safeParse(called.result);
  if (!read.success) throw new StateFault(call.method);
  return read.data;
}
