import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { why } from '../../evidence/reasons.ts';
import type { BridgeRegistry, RegistryRow } from '../../ports/bridges.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { memoryPorts, silentPorts } from '../../testing/twins/ports.ts';
import { registryBridgesHandler } from './registry.route.tsx';

type Call = (
  input: object,
  asked: { now: () => number; signal: AbortSignal },
) => ReturnType<ReturnType<typeof registryBridgesHandler>>;

async function said(registry: BridgeRegistry) {
  const handler = registryBridgesHandler(registry) as Call;
  const reply = await handler({}, { now: stillClock(), signal: new AbortController().signal });
  if (reply instanceof Refusal) throw new Error('refused');
  return { status: reply.status, body: reply.body };
}

function registryOf(rows: readonly RegistryRow[]): BridgeRegistry {
  const dated = { as_of: STILL_NOW, simulated: false };
  return memoryPorts({
    list: { publications: [], maxAgeS: 1, simulated: false, now: stillClock() },
    labels: { ...dated, labels: [] },
    corpus: { ...dated, launches: [] },
    history: { ...dated, chains: [], transfers: [], coverage: [], provenance: 'warehouse' },
    bridges: { ...dated, rows },
  }).bridgeRegistry;
}

const ROW: RegistryRow = {
  chain: 'base',
  address: '0x09aea4b2242abc8bb4bb78d537a67a245a7bec64',
  protocol: 'across',
  name: 'SpokePool',
  role: 'liquidity',
  valid_from_block: 2_164_878,
  also_on: [],
  note: 'a note',
  sources: ['https://example.org/a'],
  reviewed: '2026-09-01',
};

describe('says', () => {
  test('each row with its sources and review, and what of each chain is covered', async () => {
    const { status, body } = await said(registryOf([ROW]));
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'memory',
      reviewed: '2026-09-24',
      contracts: 1,
      protocols: ['across'],
      coverage: [
        { chain: 'base', contracts: 1, protocols: [{ protocol: 'across', contracts: 1 }] },
      ],
      rows: [{ ...ROW, address: '0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64' }],
      caveat: expect.stringContaining('Partial by construction'),
    });
  });
});

describe('is silent', () => {
  test('where the table cannot be read, and where it holds no row', async () => {
    const silent = why('file_unreadable', { fault: 'a test' });
    const unread = await said(silentPorts(silent).bridgeRegistry);
    expect(unread).toEqual({
      status: 503,
      body: { error: 'The table of bridges is not readable.', reason: silent.reason },
    });
    expect((await said(registryOf([]))).status).toBe(503);
  });
});
