// A service that does not simulate, pointed at the node of the simulated world, holds a freeze by
// an issuer against an address; where that node fails there is a gap, and no verdict.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectBundle } from './features/collectors/collect.ts';
import { judgeByRules } from './features/collectors/rules.ts';
import { nodeFreezes } from './sources/evm/approvals-node.ts';
import { nodeFacts } from './sources/evm/node-of-account.ts';
import { jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { freezingTokensFile } from './sources/registry/registry-files.ts';
import { STILL_NOW } from './testing/clock.ts';
import { collectorPorts, readShippedRules } from './testing/collector-worlds.ts';
import { SANDBOX_SCORED } from './world/account-state.ts';
import { worldChains } from './world/chain-data.ts';
import { type StartedNodes, startNodes } from './world/json-rpc-server.ts';
import { WORLD_SEED } from './world/listed-parties.ts';

const ISSUERS = new URL('../registry/issuer-freezes.csv', import.meta.url);
const RULES = await readShippedRules();
const now = () => STILL_NOW;
const signal = new AbortController().signal;

let nodes: StartedNodes;
let rpc: ReturnType<typeof jsonRpc>;
beforeAll(async () => {
  nodes = await startNodes(worldChains(now, WORLD_SEED));
  const limits = { ...RPC_LIMITS, attemptsMax: 1 };
  rpc = jsonRpc({ url: nodes.url(1), headers: {}, limits, sleep: async () => undefined });
});
afterAll(async () => {
  rpc.close();
  await nodes.close();
});

function bundleOf(address: string) {
  const byChain = new Map([['ethereum', rpc]] as const);
  const asked = { simulated: false, now };
  const ports = {
    ...collectorPorts({}),
    chainFacts: nodeFacts({ nodes: [{ chain: 'ethereum', rpc }], ...asked }),
    issuerFreezes: nodeFreezes({ nodes: byChain, tokens: freezingTokensFile(ISSUERS), ...asked }),
  };
  return collectBundle(ports, { chain: 'ethereum', address }, STILL_NOW, signal);
}

test('an address that issuers hold frozen is one to avoid, with the keys of each token', async () => {
  const bundle = await bundleOf(SANDBOX_SCORED.flagged);
  const judged = judgeByRules(bundle, RULES);
  expect(judged).toMatchObject({ verdict: 'avoid', confidence_millionths: 950_000 });
  expect(judged.evidence_used).toContain('freezes.usdc.frozen');
  expect(judged.evidence_used).toContain('freezes.usdt.frozen');
  expect(bundle.evidence['freezes.usdc.frozen']).toEqual({ value: true, as_of: STILL_NOW });
});

test('the powers over a contract are keys, and support no verdict', async () => {
  const bundle = await bundleOf(SANDBOX_SCORED.proxy);
  expect(bundle.evidence['authorities.has_code']?.value).toBe(true);
  expect(bundle.evidence['authorities.admin']?.value).toBe(SANDBOX_SCORED.flagged);
  expect(bundle.evidence['freezes.frozen_by']?.value).toBe(0);
  expect(judgeByRules(bundle, RULES).verdict).toBe('no_opinion');
});

test('a node that fails is a gap that names its fault', async () => {
  nodes.fault('error500');
  const bundle = await bundleOf(SANDBOX_SCORED.flagged);
  for (const source of ['freezes', 'authorities', 'contract', 'launches']) {
    const line = bundle.sources.find((one) => one.source === source);
    expect(line).toMatchObject({ status: source === 'contract' ? 'unavailable' : 'error' });
  }
  expect(judgeByRules(bundle, RULES).verdict).toBe('no_opinion');
});
