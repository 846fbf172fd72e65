// What a node says of a mint, and what it does not: silence is never "no mint" and never "nobody".

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { basis, Part, Read, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { signalFor } from '../../evidence/waiting.ts';
import { addressNamed } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { type SolanaFault, type StartedSolana, startSolana } from '../../world/solana-api.ts';
import { worldLaunch } from '../../world/solana-launches.ts';
import { providerGuard } from '../http/provider.ts';
import { solanaTokenHolders } from './token-holders.ts';

const LAUNCH = worldLaunch(1_000);
const NEVER = new AbortController().signal;
const GUARD = { callsPerS: 1_000, retriesMax: 0, backoffMs: 1, failuresMax: 1_000, restMs: 1 };

let node: StartedSolana;
beforeAll(async () => {
  node = await startSolana(() => [LAUNCH]);
});
beforeEach(() => node.fault(() => null));
afterAll(() => node.close());

function holders(over: { readonly simulated?: boolean } = {}) {
  return solanaTokenHolders({
    url: new URL('/a-secret-path', node.url),
    guard: providerGuard(GUARD, () => performance.now()),
    now: () => STILL_NOW,
    timeMs: 5_000,
    heldMs: 60_000,
    nowMs: () => performance.now(),
    simulated: over.simulated === true,
  });
}

function valueIn<T>(reading: Read<T, never> | Part<T, never> | Unread<never>): T {
  if (!(reading instanceof Read)) throw new Error(`test: ${reading.why.reason}`);
  return reading.value;
}

const MINT = {
  program: 'token',
  supply: 1_000_000_000_000_000n,
  decimals: 6,
  mint_authority: null,
  freeze_authority: null,
  permanent_delegate: null,
};

describe('says', () => {
  test('a mint, its largest accounts and their owners', async () => {
    const ports = holders();
    const reading = await ports.largestOf(LAUNCH.mint, NEVER);
    expect(valueIn(reading)).toEqual({
      mint: MINT,
      accounts: [
        {
          account: expect.any(String),
          owner: expect.any(String),
          raw_amount: 800_000_000_000_000n,
        },
        {
          account: expect.any(String),
          owner: LAUNCH.deployer,
          raw_amount: 200_000_000_000_000n,
        },
      ],
    });
    if (!(reading instanceof Read)) throw new Error('test: not read');
    const [source] = basis(reading).sources;
    expect(source).toMatchObject({ url: node.url.origin, kind: 'observation' });
    // The mint is known by now, and so is the network.
    const before = node.asked.length;
    expect(valueIn(await ports.mintOf(LAUNCH.mint, NEVER))).toEqual(MINT);
    expect(node.asked.length).toBe(before);
  });

  test('that an address is no mint, and asks no further', async () => {
    const before = node.asked.length;
    const nobody = addressNamed('solana', 'nobody');
    expect(valueIn(await holders().largestOf(nobody, NEVER))).toBe(null);
    expect(node.asked.slice(before)).toEqual([
      'getGenesisHash undefined',
      `getAccountInfo ${nobody}`,
    ]);
  });

  test('in a simulated world no more than a part', async () => {
    const reading = await holders({ simulated: true }).largestOf(LAUNCH.mint, NEVER);
    expect(reading).toBeInstanceOf(Part);
    expect(reading).toHaveProperty('why.code', 'simulated');
  });
});

describe('is silent', () => {
  test.each<[SolanaFault, string, RegExp]>([
    ['rate-limited', 'getAccountInfo', /rate limit/],
    ['html', 'getTokenLargestAccounts', /JSON/],
    ['error500', 'getMultipleAccounts', /500/],
    ['cut-body', 'getTokenLargestAccounts', /./],
    ['behind', 'getAccountInfo', /unhealthy/],
    ['wrong-network', 'getGenesisHash', /another network/],
  ])('%s at %s', async (fault, at, says) => {
    node.fault((method) => (method === at ? fault : null));
    const reading = await holders().largestOf(LAUNCH.mint, NEVER);
    if (!(reading instanceof Unread)) throw new Error('test: it answered');
    const { why: told } = reading;
    expect(told.code).toBe('provider_failed');
    expect(told.reason).toMatch(says);
    expect(told.reason).toContain(node.url.origin);
    expect(told.reason).not.toContain('a-secret-path');
  });

  test('without a node, by name', async () => {
    const unset = why('not_configured', { what: 'A node of solana' });
    for (const reading of [
      await solanaTokenHolders(null).mintOf(LAUNCH.mint, NEVER),
      await solanaTokenHolders(null).largestOf(LAUNCH.mint, NEVER),
    ]) {
      expect(reading).toHaveProperty('why', unset);
    }
  });

  test('where whoever asks has no call left, and asks nobody', async () => {
    const spent = why('signal_calls_spent', { limit: '2' });
    let left = 2;
    const countCall = () => {
      left -= 1;
      return left < 0 ? spent : null;
    };
    const before = node.asked.length;
    const asked = signalFor('signals', NEVER, countCall);
    const reading = await holders().largestOf(LAUNCH.mint, asked);
    expect(reading).toHaveProperty('why', spent);
    expect(node.asked.length - before).toBe(2);
  });
});
