// A chain that anchors: a local EVM with the anchoring contract on it. A test says when a block is
// made, when blocks are final, and when they go away.

import { readFileSync } from 'node:fs';
import { accountOf } from '../chain/signed-transaction.ts';
import { type Anvil, anvilPath, startAnvil } from './anvil.ts';
import { compileContracts } from './contracts.ts';

const SOURCE = new URL('../../solidity/ExhibitAnchor.sol', import.meta.url);
/** More blocks than anvil keeps unfinalised. */
const FINALISING = 80;
export const ETHER = 10n ** 18n;

/** Why there is no such chain, or `null` where there is one. */
export const NO_ANCHORING_CHAIN = anvilPath() === null ? 'skipped: anvil is not installed' : null;

/** The chain, and what a test may do to it. */
export type AnchoringChain = Pick<Anvil, 'url' | 'ask' | 'accounts'> & {
  /** Deploys the contract of an account, which pays for it; its address. */
  readonly deploy: (from: string) => Promise<string>;
  /** The account of a key, with so much in its purse. */
  readonly fund: (key: string, wei?: bigint) => Promise<string>;
  /** Makes blocks of what waits. */
  readonly mine: (blocks?: number) => Promise<void>;
  /** Makes blocks until those before are final. */
  readonly finalise: () => Promise<void>;
  /** Uses up the next nonce of an account for something else. */
  readonly spendNonce: (account: string) => Promise<void>;
  /** Transactions of an account that are in blocks. */
  readonly countOf: (account: string) => Promise<number>;
  /** Takes the chain back to where it is now; what was mined since is gone. */
  readonly rememberBlock: () => Promise<() => Promise<void>>;
  readonly stop: () => Promise<void>;
};

export async function startAnchoringChain(chainId: number): Promise<AnchoringChain> {
  const { code } = (await compileContracts(readFileSync(SOURCE, 'utf8')))('ExhibitAnchor');
  const anvil = await startAnvil(chainId);
  const { ask, url, accounts, stop } = anvil;
  const mine = async (blocks = 1) => void (await ask('anvil_mine', `0x${blocks.toString(16)}`));
  const as = async <T>(account: string, work: () => Promise<T>): Promise<T> => {
    await ask('anvil_impersonateAccount', account);
    const done = await work();
    await ask('anvil_stopImpersonatingAccount', account);
    return done;
  };
  return {
    ask,
    url,
    accounts,
    stop,
    mine,
    finalise: () => mine(FINALISING),
    deploy: (from) =>
      as(from, async () => {
        const [hash] = await anvil.mine({ from, data: code });
        return anvil.created(hash);
      }),
    fund: async (key, wei = ETHER) => {
      const account = accountOf(key);
      await ask('anvil_setBalance', account, `0x${wei.toString(16)}`);
      return account;
    },
    spendNonce: (account) =>
      as(account, async () => void (await anvil.mine({ from: account, to: account, value: 1n }))),
    countOf: async (account) => Number(await ask('eth_getTransactionCount', account, 'latest')),
    rememberBlock: async () => {
      const point = await ask('evm_snapshot');
      return async () => void (await ask('evm_revert', point));
    },
  };
}
