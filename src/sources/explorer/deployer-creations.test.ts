// A list of creations is whole only where its last row was read: 5,001 creations are a part, whose
// absence of a contract says nothing; 5,000 are read. A deployer can bring about either.

import { afterEach, expect, test } from 'vitest';
import { Part, Read } from '../../evidence/reading.ts';
import type { ExplorerRow } from '../../world/chain-types.ts';
import { type StartedExplorer, startExplorer } from '../../world/explorer-api.ts';
import { providerGuard } from '../http/provider.ts';
import { explorerCreations } from './deployer-creations.ts';
import { etherscanChain } from './envelope.ts';

const NOW = Date.UTC(2026, 10, 21) / 1_000;
const HEAD = 30_000;
const DEPLOYER = `0x${'d'.repeat(40)}`;
const TAKEN_MAX = 5_000;
const GUARD = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 100, restMs: 1 };

let explorer: StartedExplorer | null = null;
afterEach(() => explorer?.close());

function creation(n: number, kind: ExplorerRow['kind']): ExplorerRow {
  const contract = `0x${n.toString(16).padStart(40, '0')}`;
  return {
    kind,
    tx: `0x${n.toString(16).padStart(64, '0')}`,
    block: 100 + Math.floor(n / 3),
    at: NOW - HEAD + 100 + n,
    from: DEPLOYER,
    to: contract,
    value: 0n,
    token: null,
    success: true,
    created: contract,
  };
}

async function creationsAmong(count: number, kind: ExplorerRow['kind']) {
  const rows = Array.from({ length: count }, (_, n) => creation(n + 1, kind));
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => NOW - (HEAD - block),
    rowsOf: (_, address) => (address === DEPLOYER ? rows : []),
    rowsOfToken: () => [],
  });
  const guard = providerGuard(GUARD, () => performance.now());
  const at = etherscanChain('ethereum', { url: explorer.etherscan, guard }, null);
  const limits = { now: () => NOW, timeMs: 20_000, callsMax: 100, simulated: false };
  return explorerCreations({ at, ...limits });
}

test.each([
  ['madeDirectly', 'native'],
  ['madeBy', 'internal'],
] as const)(
  '%s reads all creations that it takes, and says of more that they are a part',
  async (method, kind) => {
    const { signal } = new AbortController();
    const whole = await (await creationsAmong(TAKEN_MAX, kind))[method](DEPLOYER, signal);
    expect(whole).toBeInstanceOf(Read);
    expect(whole instanceof Read && whole.value.length).toBe(TAKEN_MAX);
    await explorer?.close();
    const cut = await (await creationsAmong(TAKEN_MAX + 1, kind))[method](DEPLOYER, signal);
    expect(cut).toBeInstanceOf(Part);
    expect(cut).toMatchObject({ why: { code: 'row_cap' } });
  },
);
