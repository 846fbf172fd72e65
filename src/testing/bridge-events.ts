// Each case of bridge-events.json is an event, what moves beside it, and what it then says.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { collect } from '../evidence/measure.ts';
import { BRIDGE_PROTOCOLS } from '../ports/bridges.ts';

const SAID = z.strictObject({
  direction: z.enum(['out', 'in']).optional(),
  kind: z.enum(['bridge', 'message', 'liquidity']).optional(),
  user: z.string().nullable().optional(),
  asset: z.string().nullable().optional(),
  // In the token's smallest units.
  amount: z
    .string()
    .transform((text) => BigInt(text))
    .nullable()
    .optional(),
  contract: z.string().optional(),
  message_id: z.string().nullable().optional(),
  origin: z.string().nullable().optional(),
  destination: z.string().nullable().optional(),
});

const CASE = z.strictObject({
  protocol: z.enum(BRIDGE_PROTOCOLS),
  version: z.string(),
  /** Logged by a contract that passes messages only. */
  messaging: z.literal(true).optional(),
  /** The declaration, without the word `event`. */
  declared: z.string(),
  /** The event that a token logs before it: from, to, amount, in Solidity. */
  moved: z.string().optional(),
  /** Wei sent with the call. */
  value: z
    .string()
    .transform((text) => BigInt(text))
    .optional(),
  /** The arguments, in Solidity. */
  logged: z.string(),
  /** The decoded event; EMITTER, LEDGER and SIGNER stand for addresses known later. */
  said: SAID,
});

/** One event that a contract logs, and its name. */
export type EventCase = z.output<typeof CASE> & { readonly event: string };

/** The token bridge that a message names as its sender. */
export const TOKEN_BRIDGE = '0x4444444444444444444444444444444444444444';

const FILE = new URL('bridge-events.json', import.meta.url);
const held: unknown = JSON.parse(readFileSync(FILE, 'utf8'));

/** Every case. */
export const CASES: readonly EventCase[] = z
  .array(CASE)
  .parse(held)
  .map((one) => ({ ...one, event: one.declared.slice(0, one.declared.indexOf('(')) }));

/** How many cases one contract logs: its creation must fit into the gas of one transaction. */
const CASES_A_CONTRACT = 6;

/** The contract that logs a case, by the case's place among all. */
export function emitterOf(place: number): string {
  return `Emitter${Math.floor(place / CASES_A_CONTRACT)}`;
}

/** Contracts with a function `f0`, `f1`, … for each case, and a token that logs what it is told. */
export function sourceOf(cases: readonly EventCase[]): string {
  const events = [...new Set(cases.map(({ declared }) => declared))];
  const interfaces = events.map((declared, i) => `interface E${i} { event ${declared}; }`);
  const contracts = new Map<string, string[]>();
  for (const [i, { declared, event, logged, moved }] of cases.entries()) {
    const move = moved === undefined ? '' : `ledger.move(${moved}); `;
    const at = events.indexOf(declared);
    const written = `function f${i}() external payable { ${move}emit E${at}.${event}(${logged}); }`;
    collect(contracts, emitterOf(i), written);
  }
  const emitters = [...contracts].map(
    ([name, functions]) => `contract ${name} is Emitter { ${functions.join('\n')} }`,
  );
  return `
    // SPDX-License-Identifier: Apache-2.0
    pragma solidity ^0.8.30;
    struct RelayInfo { address recipient; bytes message; int64 fee; bool slow; int256 adjustment; }
    struct V3Info { address recipient; bytes message; uint256 amount; uint8 kind; }
    struct V4Info { bytes32 recipient; bytes32 messageHash; uint256 amount; uint8 kind; }
    struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }
    ${interfaces.join('\n')}
    contract Ledger {
      event Transfer(address indexed from, address indexed to, uint256 value);
      function move(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
      }
    }
    contract Emitter {
      Ledger public ledger = new Ledger();
      function w(address a) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(a)));
      }
    }
    ${emitters.join('\n')}`;
}
