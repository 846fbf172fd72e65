// A launch of the simulated Solana as a transaction. In the encoding `json` of `getTransaction`:
// accounts by index, data in base58, the launch at the top or inside another program's instruction.
// Indexes are those of the programs' own IDLs.

import { createHash } from 'node:crypto';
import { encodeBase58 } from '../chain/coin-address.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';
import type { LaunchKind, WorldLaunch } from './solana-launches.ts';

const WSOL = 'So11111111111111111111111111111111111111112';
const SYSTEM = '11111111111111111111111111111111';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ROUTER = inventAddress(WORLD_SEED, 'solana', 'a program that launches for others');

/** An instruction: who stands where in it, and who stands in every one of them. */
type Shape = {
  readonly program: string;
  /** `null`: a tag of one byte stands for the name. */
  readonly name: string | null;
  readonly accounts: number;
  readonly mint: number;
  readonly quote: number | null;
  readonly signer: number;
  /** An account that stands in launches alone, with its place; `null`: the program is watched. */
  readonly marker: readonly [place: number, account: string] | null;
};

const SHAPES: { readonly [K in LaunchKind]: Shape } = {
  pump_create: {
    program: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
    name: 'create',
    accounts: 14,
    mint: 0,
    quote: null,
    signer: 7,
    marker: [1, 'TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM'],
  },
  pump_create_v2: {
    program: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
    name: 'create_v2',
    accounts: 16,
    mint: 0,
    quote: null,
    signer: 5,
    marker: [1, 'TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM'],
  },
  raydium_v4: {
    program: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8',
    name: null,
    accounts: 21,
    mint: 8,
    quote: 9,
    signer: 17,
    marker: [14, '7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5'],
  },
  raydium_cpmm: {
    program: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
    name: 'initialize',
    accounts: 20,
    mint: 5,
    quote: 4,
    signer: 0,
    marker: [12, 'DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8'],
  },
  meteora_damm_v2: {
    program: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG',
    name: 'initialize_pool',
    accounts: 19,
    mint: 8,
    quote: 9,
    signer: 3,
    marker: null,
  },
  meteora_dlmm: {
    program: 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo',
    name: 'initialize_lb_pair',
    accounts: 14,
    mint: 2,
    quote: 3,
    signer: 8,
    marker: null,
  },
};

/** A transaction of the simulated Solana, and the accounts in whose lists it stands. */
export type WorldEntry = {
  readonly signature: string;
  readonly at: number;
  readonly names: readonly string[];
  readonly transaction: (slot: number) => object;
};

/** The transaction of a launch, as a node lists it. */
export function entryOf(launch: WorldLaunch): WorldEntry {
  const { kind, mint, deployer, signature, at } = launch;
  const { marker, program } = SHAPES[kind];
  const names = [program, mint, deployer, ...(marker === null ? [] : [marker[1]])];
  return { signature, at, names, transaction: (slot) => launchTransaction(launch, slot) };
}

/** How the instruction of the token programs begins that makes a mint. */
const INITIALIZE_MINT_2 = 20;
const DISCRIMINATOR_BYTES = 8;
const ARGUMENTS_BYTES = 40;

function dataOf({ n }: WorldLaunch, { name }: Shape): string {
  const begins =
    name === null
      ? Buffer.from([1])
      : createHash('sha256').update(`global:${name}`).digest().subarray(0, DISCRIMINATOR_BYTES);
  const rest = createHash('sha512').update(`arguments ${n}`).digest().subarray(0, ARGUMENTS_BYTES);
  return encodeBase58(Buffer.concat([begins, rest]));
}

/** Every fifth launch is made through another program, as an instruction inside its own. */
const THROUGH_ANOTHER_EVERY = 5;

/** How a launch stands in its transaction. */
type Making = {
  /** Whether the transaction makes the mint too; what a launchpad launches it makes itself. */
  readonly makesMint: boolean;
  /** The program whose instruction launches it; `null`: it stands at the top. */
  readonly through: string | null;
};

export function launchTransaction(
  launch: WorldLaunch,
  slot: number,
  { makesMint, through }: Making = {
    makesMint: true,
    through: launch.n % THROUGH_ANOTHER_EVERY === 0 ? ROUTER : null,
  },
) {
  const { n, kind, mint, deployer, at, signature } = launch;
  const shape = SHAPES[kind];
  const accountKeys = [deployer, mint];
  const placeOf = (key: string): number => {
    const held = accountKeys.indexOf(key);
    return held === -1 ? accountKeys.push(key) - 1 : held;
  };
  const accounts = Array.from({ length: shape.accounts }, (_, place) => {
    if (place === shape.signer) return 0;
    if (place === shape.mint) return 1;
    if (place === shape.quote) return placeOf(WSOL);
    if (shape.marker?.[0] === place) return placeOf(shape.marker[1]);
    return placeOf(inventAddress(WORLD_SEED, 'solana', `account ${place} of launch ${n}`));
  });
  const launched = {
    programIdIndex: placeOf(shape.program),
    accounts,
    data: dataOf(launch, shape),
  };
  const transfer = { accounts: [0, 1], data: '3Bxs3zs1ZBDWPeRV', stackHeight: null };
  const funded = { programIdIndex: placeOf(SYSTEM), ...transfer };
  const top =
    through === null
      ? { ...launched, stackHeight: null }
      : { programIdIndex: placeOf(through), accounts: [0, 1], data: '2', stackHeight: null };
  const inner = { programIdIndex: placeOf(TOKEN), accounts: [1], data: '31tb', stackHeight: 2 };
  const instructions = through === null ? [inner] : [{ ...launched, stackHeight: 2 }, inner];
  const data = encodeBase58(Buffer.from([INITIALIZE_MINT_2, 6, 0]));
  const made = { programIdIndex: placeOf(TOKEN), accounts: [1], data, stackHeight: null };
  const isPool = shape.quote !== null;
  const balances = accountKeys.map(() => 2_039_280);
  return {
    blockTime: at,
    meta: {
      computeUnitsConsumed: 186_000,
      err: null,
      fee: 10_000,
      innerInstructions: [{ index: makesMint && isPool ? 2 : 1, instructions }],
      loadedAddresses: { readonly: [], writable: [] },
      logMessages: [`Program ${shape.program} invoke [1]`, `Program ${shape.program} success`],
      postBalances: balances,
      postTokenBalances: [],
      preBalances: balances,
      preTokenBalances: [],
      rewards: [],
      status: { Ok: null },
    },
    slot,
    transaction: {
      message: {
        accountKeys,
        addressTableLookups: [],
        header: {
          numReadonlySignedAccounts: 0,
          numReadonlyUnsignedAccounts: 4,
          numRequiredSignatures: makesMint || !isPool ? 2 : 1,
        },
        instructions: makesMint && isPool ? [funded, made, top] : [funded, top],
        recentBlockhash: inventAddress(WORLD_SEED, 'solana', `blockhash ${n}`),
      },
      signatures: [signature],
    },
    version: 0,
  };
}
