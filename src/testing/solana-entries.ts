// The transactions around a Solana token, as a node lists them: the creation of its mint, its pool,
// and mere mentions.

import { encodeBase58 } from '../chain/coin-address.ts';
import { entryOf, launchTransaction, type WorldEntry } from '../world/solana-transactions.ts';
import { addressNamed } from './addresses.ts';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const INITIALIZE_MINT_2 = encodeBase58(Buffer.from([20, 6, 0]));

/** A key of Solana by name. */
export function key(name: string): string {
  return addressNamed('solana', name);
}

function signatureOf(name: string): string {
  return `${key(`${name} a`)}${key(`${name} b`)}`.padEnd(87, '1');
}

/** An act on a mint, with its actor and time. `as` separates two that are alike. */
type Doing = { readonly mint: string; readonly by: string; readonly at: number; as?: string };

/** Somebody makes a mint by the token program; others sign with them. */
export function makesMint({ mint, by, at }: Doing, ...others: readonly string[]): WorldEntry {
  return plainEntry({ mint, by, at, as: 'mint' }, others, TOKEN, INITIALIZE_MINT_2);
}

/** Somebody sends lamports to the address of a mint. */
export function namesMint({ mint, by, at, as = 'named' }: Doing): WorldEntry {
  return plainEntry({ mint, by, at, as }, [], SYSTEM, '3Bxs3zs1ZBDWPeRV');
}

/** Somebody makes a pool of a mint, themselves or by an instruction of a launchpad. */
export function poolsMint({ mint, by, at, as = 'pool' }: Doing, through: 'pump' | null = null) {
  const signature = signatureOf(`${as} ${mint} ${by}`);
  const pool = { n: 1, kind: 'raydium_cpmm', diesAt: null } as const;
  const launch = { ...pool, mint, deployer: by, at, signature };
  const how = { makesMint: false, through: through === null ? null : PUMP };
  const entry = entryOf(launch);
  return {
    ...entry,
    transaction: (slot: number) => launchTransaction(launch, slot, how),
  } satisfies WorldEntry;
}

/** Somebody launches a mint at pump.fun, which makes it. */
export function launchesAtPump({ mint, by, at }: Doing): WorldEntry {
  const signature = signatureOf(`launch ${mint} ${by}`);
  return entryOf({ n: 1, kind: 'pump_create', diesAt: null, mint, deployer: by, at, signature });
}

function plainEntry(
  { mint, by, at, as }: Doing,
  others: readonly string[],
  program: string,
  data: string,
): WorldEntry {
  const signers = [by, ...others];
  const accountKeys = [...signers, mint, program];
  const signature = signatureOf(`${as} ${mint} ${by}`);
  const called = {
    accounts: [signers.length, 0],
    data,
    programIdIndex: accountKeys.length - 1,
    stackHeight: null,
  };
  const transaction = (slot: number) => ({
    blockTime: at,
    meta: { err: null, innerInstructions: [], loadedAddresses: { readonly: [], writable: [] } },
    slot,
    transaction: {
      message: {
        accountKeys,
        header: { numRequiredSignatures: signers.length + (program === TOKEN ? 1 : 0) },
        instructions: [called],
      },
      signatures: [signature],
    },
  });
  return { signature, at, names: [by, mint], transaction };
}
