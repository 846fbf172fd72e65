// Tokens, look-alikes, things that are no tokens, contracts made and ended, coins sent by
// contracts, and failures at each depth.

import type { Anvil, SentTransaction } from './anvil.ts';
import { type Contracts, callData } from './contracts.ts';

/** Deploys the contracts, and gives what is sent in each round, block by block. */
export async function deployTraffic(
  anvil: Anvil,
  contracts: Contracts,
): Promise<(round: number) => SentTransaction[][]> {
  const [own = '', friend = '', victim = '', heir = ''] = anvil.accounts;
  const names = ['Token', 'Nft', 'Old', 'Factory', 'Splitter', 'Mortal'] as const;
  const code = names.map((name) => callData(contracts(name).code, 1_000n));
  const hashes = await anvil.mine(...code.map((data) => ({ from: own, data })));
  const at = new Map<string, string>();
  for (const [i, name] of names.entries()) at.set(name, await anvil.created(hashes[i]));
  const call = (
    name: string,
    method: string,
    words: (string | bigint)[],
    value = 0n,
  ): SentTransaction => ({
    from: own,
    to: String(at.get(name)),
    value,
    data: callData(contracts(name).selector(method), ...words),
  });
  return (round) => {
    const salt = BigInt(round);
    return [
      [{ from: own, to: friend, value: 7n }, call('Token', 'transfer', [friend, 50n])],
      [call('Token', 'twice', [friend, 5n]), call('Token', 'transfer', [friend, 0n])],
      [call('Token', 'poison', [victim, heir]), call('Token', 'refuse', [friend, 9n])],
      [call('Nft', 'mint', [friend, salt]), call('Old', 'mint', [friend, salt])],
      [call('Factory', 'make', [], 100n), call('Factory', 'makeAt', [salt], 200n)],
      [call('Factory', 'makeAndEnd', [salt + 1_000n, heir], 300n)],
      [call('Factory', 'tryStillborn', [], 10n), { from: own, data: contracts('Stillborn').code }],
      [call('Splitter', 'split', [friend, victim], 1_000n)],
      [call('Splitter', 'attempt', [friend], 500n), call('Splitter', 'lose', [friend], 500n)],
      [call('Splitter', 'delegate', [String(at.get('Splitter')), friend, heir], 80n)],
      [{ from: friend, to: String(at.get('Mortal')), value: 33n }],
      [call('Mortal', 'die', [heir]), { from: friend, to: own, value: 0n }],
    ];
  };
}
