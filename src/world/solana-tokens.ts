// The mints of the simulated Solana's launches and their accounts, as `jsonParsed` shows them. A
// pool holds four fifths of a launched token and its launcher the rest; nobody can make more of it.

import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';
import type { WorldLaunch } from './solana-launches.ts';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const DECIMALS = 6;
const SUPPLY = 1_000_000_000_000_000;
const RENT = 2_039_280;

type HeldAccount = {
  readonly address: string;
  readonly owner: string;
  readonly amount: string;
};

const ACCOUNTS_KEPT = new WeakMap<WorldLaunch, readonly HeldAccount[]>();

function accountsOf(launch: WorldLaunch): readonly HeldAccount[] {
  const kept = ACCOUNTS_KEPT.get(launch);
  if (kept !== undefined) return kept;
  const made = makeAccounts(launch);
  ACCOUNTS_KEPT.set(launch, made);
  return made;
}

function makeAccounts({ mint, deployer, kind }: WorldLaunch): readonly HeldAccount[] {
  const own = (of: string) => inventAddress(WORLD_SEED, 'solana', `${of} account of ${mint}`);
  const pool = inventAddress(WORLD_SEED, 'solana', `pool of ${kind}`);
  return [
    { address: own('pool'), owner: pool, amount: String((SUPPLY / 5) * 4) },
    { address: own('launcher'), owner: deployer, amount: String(SUPPLY / 5) },
  ];
}

/** The largest accounts of a launched mint; `null`: it is no mint. */
export function largestAccounts(launches: readonly WorldLaunch[], mint: string) {
  const launch = launches.find((one) => one.mint === mint);
  if (launch === undefined) return null;
  return accountsOf(launch).map(({ address, amount }) => {
    const uiAmountString = String(Number(amount) / 10 ** DECIMALS);
    return { address, amount, decimals: DECIMALS, uiAmount: null, uiAmountString };
  });
}

/** A mint or an account of a launched token; `null`: nothing is there. */
export function tokenAccountAt(launches: readonly WorldLaunch[], address: string) {
  const minted = launches.find((one) => one.mint === address);
  if (minted !== undefined) {
    return parsedAccount('mint', {
      decimals: DECIMALS,
      freezeAuthority: null,
      isInitialized: true,
      mintAuthority: null,
      supply: String(SUPPLY),
    });
  }
  for (const launch of launches) {
    const held = accountsOf(launch).find((one) => one.address === address);
    if (held === undefined) continue;
    const { owner, amount } = held;
    const { mint } = launch;
    return parsedAccount('account', { mint, owner, state: 'initialized', tokenAmount: { amount } });
  }
  return null;
}

function parsedAccount(type: 'mint' | 'account', info: object) {
  return {
    data: { parsed: { info, type }, program: 'spl-token', space: type === 'mint' ? 82 : 165 },
    executable: false,
    lamports: RENT,
    owner: TOKEN_PROGRAM,
    rentEpoch: 0,
    space: type === 'mint' ? 82 : 165,
  };
}
