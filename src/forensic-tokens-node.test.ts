// Does the forensic record say whom an issuer froze, and who may still take what, on a real node?
// The contracts of issuers stand at the addresses of the registry on a chain of this machine.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ForensicEvidence } from './features/forensics/evidence.ts';
import { coverageOfKind } from './features/forensics/notes.ts';
import { nodeApprovals, nodeFreezes } from './sources/evm/approvals-node.ts';
import { nodeFacts } from './sources/evm/node-of-account.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { freezingTokensFile, permit2File } from './sources/registry/registry-files.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { type InItsPlace, type NodeProxy, startProxy } from './testing/anvil-proxy.ts';
import { type Contracts, callData, compileContracts } from './testing/contracts.ts';
import { checkedKinds, findingOf, scoreAddress } from './testing/finding-suite.ts';
import { forensicPorts, type PlantedFacts } from './testing/forensic-ports.ts';
import { flaggedRow } from './testing/twins/rug-flags.ts';
import { listedEntry } from './testing/walked-world.ts';

const REGISTRY = join(import.meta.dirname, '../registry/issuer-freezes.csv');
const PERMIT2_FILE = join(import.meta.dirname, '../registry/permit2.csv');
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3';
const ETHEREUM_ID = 1;
const NOW = 1_790_251_200;
const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const OTHERS = [
  '0x1abaea1f7c830bd89acc67ec4af516284b1bc33c',
  '0x8e870d67f660d95d5be530380d0ec0bd388289e1',
  '0x6c3ea9036406852006290770bedfcaba0e23a0e8',
];
const ADMIN_SLOT = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';
const TOKEN_KINDS = ['issuer_freeze', 'open_approval_to_listed', 'open_approval_to_flagged'];

describe.skipIf(anvilPath() === null)('a real node (or skipped: anvil is not installed)', () => {
  let anvil: Anvil;
  let proxy: NodeProxy;
  let rpc: JsonRpc;
  let contracts: Contracts;
  let token = '';
  let collection = '';
  let fake = '';
  const tx = { frozen: '', approved: '', items: '', lent: '', permitted: '' };
  const account = (n: number) => String(anvil.accounts[n]);
  const [deployer, subject, drainer, revoked, spent] = [0, 1, 2, 3, 4].map(
    (n) => () => account(n),
  ) as [() => string, () => string, () => string, () => string, () => string];
  const [holder, lender, lapsed, unlent] = [5, 6, 7, 8].map((n) => () => account(n)) as [
    () => string,
    () => string,
    () => string,
    () => string,
  ];
  const proxied = `0x${'a1'.repeat(20)}`;
  const delegated = `0x${'b2'.repeat(20)}`;

  beforeAll(async () => {
    anvil = await startAnvil(ETHEREUM_ID);
    proxy = await startProxy(anvil.url);
    const sleep = async () => undefined;
    rpc = jsonRpc({
      url: proxy.url,
      headers: {},
      limits: { ...RPC_LIMITS, attemptsMax: 1 },
      sleep,
    });
    contracts = await compileContracts();
    await happen();
  }, 60_000);
  afterAll(async () => {
    rpc.close();
    await proxy.stop();
    await anvil.stop();
  });

  async function happen(): Promise<void> {
    const issuer = contracts('Issuer');
    const call = (method: string, ...words: (string | bigint)[]) =>
      callData(issuer.selector(method), ...words);
    const [made] = await anvil.mine({ from: deployer(), data: issuer.code });
    token = await anvil.created(made);
    const code = await anvil.ask('eth_getCode', token, 'latest');
    for (const one of [USDT, USDC, ...OTHERS]) await anvil.ask('anvil_setCode', one, code);
    const send = async (from: string, to: string, data: string) =>
      String((await anvil.mine({ from, to, data }))[0]);
    tx.frozen = await send(deployer(), USDT, call('addBlackList', subject()));
    await send(deployer(), USDC, call('blacklist', drainer()));
    tx.approved = await send(subject(), token, call('approve', drainer(), 10n));
    await send(drainer(), token, call('take', subject(), 4n));
    await send(subject(), token, call('approve', revoked(), 10n));
    await send(subject(), token, call('approve', revoked(), 0n));
    await send(subject(), token, call('approve', spent(), 10n));
    await send(spent(), token, call('take', subject(), 10n));
    await allow(send, call);
    await anvil.ask('anvil_setCode', proxied, '0x60006000fd');
    const admin = `0x${drainer().slice(2).padStart(64, '0')}`;
    await anvil.ask('anvil_setStorageAt', proxied, ADMIN_SLOT, admin);
    await anvil.ask('anvil_setCode', delegated, `0xef0100${drainer().slice(2)}`);
    await anvil.ask('evm_mine');
    await anvil.ask('evm_mine');
  }

  type Send = (from: string, to: string, data: string) => Promise<string>;

  /** Every item of a collection, and units through Permit2: open, taken back, lapsed, unlent. */
  async function allow(
    send: Send,
    ofToken: (method: string, ...words: (string | bigint)[]) => string,
  ): Promise<void> {
    const [items, other] = [contracts('Collection'), contracts('Lender')];
    const [made, faked] = await anvil.mine(
      { from: deployer(), data: items.code },
      { from: deployer(), data: other.code },
    );
    collection = await anvil.created(made);
    fake = await anvil.created(faked);
    await anvil.ask('anvil_setCode', PERMIT2, await anvil.ask('eth_getCode', fake, 'latest'));
    const ofItems = (method: string, ...words: (string | bigint)[]) =>
      callData(items.selector(method), ...words);
    const ofLender = (method: string, ...words: (string | bigint)[]) =>
      callData(other.selector(method), ...words);
    tx.items = await send(holder(), collection, ofItems('setApprovalForAll', drainer(), 1n));
    await send(holder(), collection, ofItems('setApprovalForAll', revoked(), 1n));
    await send(holder(), collection, ofItems('setApprovalForAll', revoked(), 0n));
    await send(holder(), collection, ofItems('approve', spent(), 3n));
    const until = BigInt(NOW + 60);
    const lend = (spender: string, amount: bigint, expires: bigint) =>
      ofLender('approve', token, spender, amount, expires);
    await send(lender(), token, ofToken('approve', PERMIT2, 7n));
    tx.lent = await send(lender(), PERMIT2, lend(drainer(), 2n ** 160n - 1n, until));
    await send(lender(), PERMIT2, lend(revoked(), 5n, until));
    await send(lender(), PERMIT2, lend(revoked(), 0n, until));
    const permit = ofLender('permit', lender(), token, spent(), 3n, until);
    tx.permitted = await send(spent(), PERMIT2, permit);
    await send(lapsed(), token, ofToken('approve', PERMIT2, 7n));
    await send(lapsed(), PERMIT2, lend(drainer(), 5n, BigInt(NOW - 60)));
    await send(unlent(), PERMIT2, lend(drainer(), 5n, until));
    await send(unlent(), fake, lend(spent(), 5n, until));
  }

  async function evidenceOf(address: string, planted: PlantedFacts): Promise<ForensicEvidence> {
    const given = {
      nodes: new Map([['ethereum', rpc] as const]),
      simulated: false,
      now: () => NOW,
    };
    const ports = {
      ...forensicPorts(planted),
      chainFacts: nodeFacts({ ...given, nodes: [{ chain: 'ethereum', rpc }] }),
      issuerFreezes: nodeFreezes({ ...given, tokens: freezingTokensFile(REGISTRY) }),
      tokenApprovals: nodeApprovals({ ...given, permit2: permit2File(PERMIT2_FILE) }),
    };
    return scoreAddress(address, planted, ports);
  }

  /** While the node answers some calls otherwise. */
  async function under(
    rule: (method: string, params: readonly unknown[]) => InItsPlace | null,
    address: string,
    planted: PlantedFacts,
  ): Promise<ForensicEvidence> {
    proxy.setRule(({ method, params }) => rule(method, params));
    const evidence = await evidenceOf(address, planted);
    proxy.setRule(() => null);
    return evidence;
  }

  test('USDT that its issuer froze is found, with the transaction and the source', async () => {
    const evidence = await evidenceOf(subject(), {});
    const found = findingOf(evidence, 'issuer_freeze');
    expect(found).toMatchObject([{ evidence: [{ tx: tx.frozen, name: 'issuer_freeze' }] }]);
    expect(found?.[0].statement).toContain(`Tether holds USDT of this address frozen on ethereum`);
    expect(found?.[0].source).toContain('Tether TetherToken');
    const head = Number(await anvil.ask('eth_blockNumber'));
    const kind = evidence.kinds.find((one) => one.kind.kind === 'issuer_freeze');
    const coverage = kind === undefined ? null : coverageOfKind(kind, evidence.inputs);
    expect(coverage).toMatchObject({
      checked: true,
      blocks: [{ chain: 'ethereum', from: head - 1, to: head - 1 }],
    });
    const other = findingOf(await evidenceOf(drainer(), {}), 'issuer_freeze');
    expect(other?.[0].statement).toContain('Circle holds USDC');
    expect(findingOf(await evidenceOf(revoked(), {}), 'issuer_freeze')).toBeNull();
  });

  test('what is left of an approval is told, and neither a revoked nor a spent one', async () => {
    const flagged = [drainer(), revoked(), spent()].map((one) => flaggedRow(one));
    const listed = [drainer(), revoked(), spent()].map((one) => listedEntry(one));
    const evidence = await evidenceOf(subject(), { flagged, listed });
    for (const kind of ['open_approval_to_flagged', 'open_approval_to_listed']) {
      expect(findingOf(evidence, kind)).toMatchObject([
        {
          evidence: [
            { name: 'approval', tx: tx.approved, value: `${token} to ${drainer()}: 10` },
            { name: 'allowance', value: '6' },
            {},
          ],
        },
      ]);
    }
    expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(TOKEN_KINDS));
  });

  test('every item of a collection is told while its contract says so, and no single item', async () => {
    const flagged = [drainer(), revoked(), spent()].map((one) => flaggedRow(one));
    const [found, ...more] =
      findingOf(await evidenceOf(holder(), { flagged }), 'open_approval_to_flagged') ?? [];
    expect(more).toEqual([]);
    expect(found?.statement).toContain(`to take its tokens ${collection}; at block`);
    expect(found?.statement).toContain('every item of them may still be taken.');
    const value = `${collection} to ${drainer()}: every item`;
    expect(found?.evidence).toMatchObject([
      { name: 'approval_for_all', tx: tx.items, value },
      { name: 'is_approved_for_all', value: 'every item' },
      { name: 'flagged_row' },
    ]);
  });

  test('what Permit2 still lets somebody take is told, however it was allowed', async () => {
    const listed = [drainer(), revoked(), spent()].map((one) => listedEntry(one));
    const found = findingOf(await evidenceOf(lender(), { listed }), 'open_approval_to_listed');
    // The token lets Permit2 take seven: more of it nobody can take.
    expect(found).toMatchObject([
      { evidence: [{ name: 'permit2_approval', tx: tx.lent }, { value: '7' }, {}] },
      { evidence: [{ name: 'permit2_approval', tx: tx.permitted }, { value: '3' }, {}] },
    ]);
    expect(found?.[0].statement).toContain(`its tokens ${token} through Permit2; at block`);
  });

  test('what Permit2 may take no more is closed: lapsed, or of a token that was never lent to it', async () => {
    const flagged = [drainer(), spent()].map((one) => flaggedRow(one));
    for (const one of [lapsed(), unlent()]) {
      const evidence = await evidenceOf(one, { flagged });
      expect(findingOf(evidence, 'open_approval_to_flagged')).toBeNull();
      expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(TOKEN_KINDS));
    }
  });

  test('what cannot be asked of Permit2 or of a collection is not closed, and says so', async () => {
    const flagged = [flaggedRow(drainer())];
    for (const [address, contract] of [
      [lender(), PERMIT2],
      [holder(), collection],
    ] as const) {
      const silent = (method: string, params: readonly unknown[]) =>
        method === 'eth_call' && JSON.stringify(params).includes(contract)
          ? { result: '0x' }
          : null;
      const evidence = await under(silent, address, { flagged });
      expect(findingOf(evidence, 'open_approval_to_flagged')).toBeNull();
      expect(checkedKinds(evidence)).not.toContain('open_approval_to_flagged');
    }
  });

  test('without its registry nothing of approvals is read', async () => {
    const [none, wrong] = ['/nowhere/permit2.csv', REGISTRY].map((path) => permit2File(path));
    expect(await none?.()).toMatchObject({ checked: false });
    expect(await wrong?.()).toMatchObject({ checked: false });
    const given = {
      nodes: new Map([['ethereum', rpc] as const]),
      simulated: false,
      now: () => NOW,
    };
    const approvals = nodeApprovals({ ...given, permit2: permit2File('/nowhere/permit2.csv') });
    const signal = new AbortController().signal;
    expect(await approvals.given('ethereum', lender(), signal)).toMatchObject({ checked: false });
  });

  test('nobody asks what is left for a spender whom no table names', async () => {
    proxy.calls.length = 0;
    const evidence = await evidenceOf(subject(), {});
    const calls = proxy.calls.filter(({ method }) => method === 'eth_call');
    // One for each row of the registry on this chain, and none of an allowance.
    expect(calls).toHaveLength(2 + OTHERS.length);
    expect(checkedKinds(evidence)).toEqual(expect.arrayContaining(TOKEN_KINDS));
  });

  test('an account that runs flagged code, and a contract whose admin is listed', async () => {
    const creation_tx = tx.approved;
    const flagged = [flaggedRow(drainer(), { creation_tx, chain: 'ethereum' })];
    const runs = findingOf(await evidenceOf(delegated, { flagged }), 'flagged_in_facts');
    expect(runs).toMatchObject([
      { evidence: [{ name: 'delegates_to', value: drainer() }, { tx: creation_tx }] },
    ]);
    expect(runs?.[0].source).toContain('Node http://127.0.0.1');
    const listed = [listedEntry(drainer())];
    const owned = findingOf(await evidenceOf(proxied, { listed }), 'listed_in_facts');
    expect(owned).toMatchObject([{ evidence: [{ name: 'admin' }, { name: 'list_entry' }] }]);
  });

  test.each([
    ['answers nothing of a contract', { result: '0x' }],
    ['answers another form', { result: `0x${'2'.repeat(64)}` }],
    ['fails', { error: { code: -32_000, message: 'header not found' } }],
    ['refuses the call', { error: { code: 3, message: 'execution reverted' } }],
    ['breaks off', { broken: true } as const],
  ] as const)('a token that %s is silence; another one that is frozen is shown', async (_, by) => {
    const isUsdc = (params: readonly unknown[]) => JSON.stringify(params).includes(USDC);
    const ofUsdc = (method: string, params: readonly unknown[]) =>
      method === 'eth_call' && isUsdc(params) ? by : null;
    const evidence = await under(ofUsdc, subject(), {});
    expect(checkedKinds(evidence)).not.toContain('issuer_freeze');
    expect(evidence.checked.checked).toBe(false);
    // A broken connection breaks the whole batch.
    const shown = 'broken' in by ? null : [{ evidence: [{ tx: tx.frozen }] }];
    const found = findingOf(evidence, 'issuer_freeze');
    if (shown === null) expect(found).toBeNull();
    else expect(found).toMatchObject(shown);
  });

  test('a freeze stands without its transaction where the node lists no events', async () => {
    const refused = { error: { code: -32_005, message: 'query exceeds max block range 10000' } };
    const noLogs = (method: string) => (method === 'eth_getLogs' ? refused : null);
    const evidence = await under(noLogs, subject(), { flagged: [flaggedRow(drainer())] });
    expect(findingOf(evidence, 'issuer_freeze')).toMatchObject([{ evidence: [{ tx: null }] }]);
    const unchecked = TOKEN_KINDS.filter((kind) => !checkedKinds(evidence).includes(kind));
    expect(unchecked).toEqual(['open_approval_to_listed', 'open_approval_to_flagged']);
  });

  test('a freeze stands without its transaction where the node lists none, and gives no reason for it', async () => {
    const none = (method: string) => (method === 'eth_getLogs' ? { result: [] } : null);
    const found = findingOf(await under(none, subject(), {}), 'issuer_freeze');
    expect(found).toMatchObject([{ evidence: [{ tx: null, name: 'issuer_freeze' }] }]);
    expect(found?.[0].evidence[0]).not.toHaveProperty('tx_reason');
  });

  test('an allowance that could not be read is not closed, and says so', async () => {
    const allowance = '0xdd62ed3e';
    const silent = (method: string, params: readonly unknown[]) =>
      method === 'eth_call' && JSON.stringify(params).includes(allowance) ? { result: '0x' } : null;
    const evidence = await under(silent, subject(), { flagged: [flaggedRow(drainer())] });
    expect(findingOf(evidence, 'open_approval_to_flagged')).toBeNull();
    expect(checkedKinds(evidence)).not.toContain('open_approval_to_flagged');
  });

  test('a node of another chain is no source of either', async () => {
    const other = (method: string) => (method === 'eth_chainId' ? { result: '0x2105' } : null);
    const evidence = await under(other, subject(), {});
    for (const kind of TOKEN_KINDS) expect(checkedKinds(evidence)).not.toContain(kind);
  });
});
