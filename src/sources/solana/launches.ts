// Which launches does a transaction of Solana hold, and who signed them?
// It reads what `getTransaction` gives under the encoding `json`: accounts by place, data in
// base58. A transaction that does not hold together is rejected with the reason, never skipped.

import { z } from 'zod';
import { isSystemAddress, parseAddress } from '../../chain/address.ts';
import { decodeBase58 } from '../../chain/coin-address.ts';
import { given } from '../../evidence/measure.ts';
import type { SeenLaunch } from '../../ports/launches/launch-feed.ts';
import { outsideRow } from '../http/forms.ts';
import { LAUNCH_LAYOUTS, type LaunchLayout, QUOTE_MINTS } from './launch-layouts.ts';

const place = z.number().int().nonnegative();
const instruction = outsideRow({
  programIdIndex: place,
  accounts: z.array(place),
  data: z.string(),
});
const transaction = outsideRow({
  slot: z.number().int().nonnegative(),
  blockTime: z.number().int().positive().nullish(),
  meta: outsideRow({
    err: z.unknown(),
    innerInstructions: z
      .array(outsideRow({ index: place, instructions: z.array(instruction) }))
      .nullish(),
    loadedAddresses: outsideRow({
      writable: z.array(z.string()),
      readonly: z.array(z.string()),
    }).nullish(),
  }),
  transaction: outsideRow({
    signatures: z.array(z.string()).min(1),
    message: outsideRow({
      accountKeys: z.array(z.string()).min(1),
      header: outsideRow({ numRequiredSignatures: z.number().int().positive() }),
      instructions: z.array(instruction),
    }),
  }),
});

type Told = z.output<typeof transaction>;
type Instruction = z.output<typeof instruction>;

/** A launch, and whether its mint was made with it. */
export type FoundLaunch = SeenLaunch & { readonly makes: LaunchLayout['makes'] };

/** The launches of a transaction; `rejected`: why it is none that holds together. */
export function launchesIn(
  value: unknown,
): { readonly launches: readonly FoundLaunch[] } | { readonly rejected: string } {
  const read = transaction.safeParse(value);
  if (!read.success) return { rejected: 'it is no transaction of the encoding json' };
  const told = read.data;
  // What failed has changed nothing.
  if (told.meta.err !== null && told.meta.err !== undefined) return { launches: NONE };
  const { blockTime } = told;
  if (blockTime === null || blockTime === undefined) return { rejected: 'it has no block time' };
  const keys = keysOf(told);
  const stranger = keys.find((key) => parseAddress(key)?.kind !== 'solana');
  if (stranger !== undefined) return { rejected: 'one of its accounts is no key' };
  const launches: FoundLaunch[] = [];
  for (const one of instructionsOf(told)) {
    const program = keys[one.programIdIndex];
    if (program === undefined || one.accounts.some((at) => keys[at] === undefined)) {
      return { rejected: 'an instruction names an account that it does not hold' };
    }
    const layout = layoutOf(program, one);
    const found = layout === undefined ? null : launchOf(layout, one, { keys, told, blockTime });
    if (found !== null) launches.push(found);
  }
  return { launches };
}

const NONE: readonly FoundLaunch[] = Object.freeze([]);

function keysOf({ meta, transaction: { message } }: Told): string[] {
  const loaded = meta.loadedAddresses;
  return [...message.accountKeys, ...given(loaded?.writable), ...given(loaded?.readonly)];
}

function instructionsOf({ meta, transaction: { message } }: Told): Instruction[] {
  const inner = given(meta.innerInstructions).flatMap(({ instructions }) => instructions);
  return [...message.instructions, ...inner];
}

function layoutOf(program: string, { data }: Instruction): LaunchLayout | undefined {
  const known = LAUNCH_LAYOUTS.filter((one) => one.program === program);
  if (known.length === 0) return undefined;
  const bytes = decodeBase58(data);
  if (bytes === null) return undefined;
  const hex = Buffer.from(bytes).toString('hex');
  return known.find(({ begins, bytesMin }) => bytes.length >= bytesMin && hex.startsWith(begins));
}

type Within = {
  readonly keys: readonly string[];
  readonly told: Told;
  readonly blockTime: number;
};

/** The launch of an instruction; `null` where it has no account in the place of its mint. */
function launchOf(
  { mints, signer, made_by, makes }: LaunchLayout,
  { accounts }: Instruction,
  { keys, told, blockTime }: Within,
): FoundLaunch | null {
  const { message, signatures } = told.transaction;
  const keyAt = (at: number): string | undefined => {
    const index = accounts[at];
    return index === undefined ? undefined : keys[index];
  };
  const sides = mints.map(keyAt);
  if (sides.includes(undefined)) return null;
  // A pool of two quotes launches nothing, and of two other tokens nobody can tell which.
  const [mint, another] = sides.filter((key) => !QUOTE_MINTS.has(String(key)));
  if (mint === undefined || another !== undefined) return null;
  const named = accounts[signer];
  const signs = named !== undefined && named < message.header.numRequiredSignatures;
  // Where a program signs for somebody, whoever pays for the transaction has signed it.
  const deployer = signs ? keys[named] : keys[0];
  const [signature] = signatures;
  if (deployer === undefined || signature === undefined || isOfTheChain(deployer, mint))
    return null;
  return { mint, deployer, made_by, signature, slot: told.slot, launched_at: blockTime, makes };
}

/** Whether one of these is the chain's own, and so nobody's. */
function isOfTheChain(...keys: readonly string[]): boolean {
  return keys.some((key) => {
    const parsed = parseAddress(key);
    return parsed === null || isSystemAddress(parsed.address);
  });
}
