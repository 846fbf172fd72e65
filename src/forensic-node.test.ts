// Does the forensic record say what happened on a real EVM node, transaction by transaction?
// Contracts are deployed, proxied, poisoned and paid on a chain of this machine; the record is read
// through the adapters of facts and of blocks.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basis, Read } from './evidence/reading.ts';
import type { ForensicEvidence } from './features/forensics/evidence.ts';
import type { HistoryTransfer } from './ports/history.ts';
import { evmNode } from './sources/evm/node.ts';
import { nodeFacts } from './sources/evm/node-of-account.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { type NodeProxy, startProxy } from './testing/anvil-proxy.ts';
import { type Contracts, callData, compileContracts } from './testing/contracts.ts';
import { checkedKinds, findingOf, scoreAddress } from './testing/finding-suite.ts';
import { forensicPorts, type PlantedFacts } from './testing/forensic-ports.ts';
import { mixerRow } from './testing/twins/accounts.ts';
import { bridgeRow } from './testing/twins/bridges.ts';
import { flaggedRow } from './testing/twins/rug-flags.ts';
import { labelOf } from './testing/twins/tables.ts';
import { listedEntry } from './testing/walked-world.ts';

const ETHEREUM_ID = 1;
const NEVER = new AbortController().signal;
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const ADMIN_SLOT = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';
const BEACON_SLOT = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50';

/** Code that answers every call with one word: the address that it names. */
function answering(address: string): string {
  // PUSH20 address, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN.
  return `0x73${address.slice(2)}60005260206000f3`;
}

describe.skipIf(anvilPath() === null)(
  'a real EVM node (or skipped: anvil is not installed)',
  () => {
    let anvil: Anvil;
    let proxy: NodeProxy;
    let rpc: JsonRpc;
    let contracts: Contracts;
    let transfers: HistoryTransfer[];
    let token = '';
    let mixer = '';
    const at = { proxied: `0x${'a1'.repeat(20)}`, clone: `0x${'b2'.repeat(20)}` };
    const owned = `0x${'c3'.repeat(20)}`;

    const [deployer, subject, poisoner, friend, bridge] = [0, 1, 2, 3, 4].map(
      (n) => () => String(anvil.accounts[n]),
    ) as [() => string, () => string, () => string, () => string, () => string];
    const likeFriend = () => `${friend().slice(0, 6)}${'0'.repeat(32)}${friend().slice(-4)}`;

    beforeAll(async () => {
      anvil = await startAnvil(ETHEREUM_ID);
      proxy = await startProxy(anvil.url);
      const sleep = async () => undefined;
      const limits = { ...RPC_LIMITS, attemptsMax: 1 };
      rpc = jsonRpc({ url: proxy.url, headers: {}, limits, sleep });
      contracts = await compileContracts();
      await happen();
      transfers = await readBlocks();
    }, 60_000);
    afterAll(async () => {
      rpc.close();
      await proxy.stop();
      await anvil.stop();
    });

    async function happen(): Promise<void> {
      const call = (name: string, method: string, ...words: string[]) =>
        callData(contracts(name).selector(method), ...words);
      const [made, pool] = await anvil.mine(
        { from: deployer(), data: callData(contracts('Token').code, 1_000n) },
        { from: deployer(), data: contracts('Mortal').code },
      );
      token = await anvil.created(made);
      mixer = await anvil.created(pool);
      await anvil.mine({ from: deployer(), to: subject(), value: 5n * 10n ** 18n });
      await anvil.mine({ from: subject(), to: friend(), value: 10n ** 17n });
      await anvil.mine({ from: subject(), to: mixer, value: 10n ** 18n });
      await anvil.mine({ from: subject(), to: bridge(), value: 3n });
      await anvil.mine({ from: friend(), to: subject(), value: 10n ** 16n });
      await anvil.mine({
        from: poisoner(),
        to: token,
        data: call('Token', 'poison', subject(), likeFriend()),
      });
      const implementation = `0x${'d4'.repeat(20)}`;
      const word = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
      await anvil.ask('anvil_setCode', at.proxied, '0x60006000fd');
      await anvil.ask('anvil_setStorageAt', at.proxied, IMPLEMENTATION_SLOT, word(implementation));
      await anvil.ask('anvil_setStorageAt', at.proxied, ADMIN_SLOT, word(deployer()));
      await anvil.ask('anvil_setStorageAt', at.proxied, BEACON_SLOT, word(friend()));
      const clone = `0x363d3d373d3d3d363d73${token.slice(2)}5af43d82803e903d91602b57fd5bf3`;
      await anvil.ask('anvil_setCode', at.clone, clone);
      await anvil.ask('anvil_setCode', owned, answering(deployer()));
      await anvil.ask('anvil_setCode', friend(), `0xef0100${token.slice(2)}`);
      await anvil.ask('evm_mine');
    }

    async function readBlocks(): Promise<HistoryTransfer[]> {
      const node = evmNode({ chain: 'ethereum', rpc, simulated: false, now: () => 0 });
      const opened = await node.open(1, NEVER);
      expect(opened).toBeInstanceOf(Read);
      const head = Number(await anvil.ask('eth_blockNumber'));
      const blocks = await node.blocks(1, head, NEVER);
      if (!(blocks instanceof Read) || blocks.value === 'moved') throw new Error('blocks unread');
      const facts = blocks.value.blocks.flatMap((block) => block.transfers);
      return facts
        .map(({ tx_hash, block_time, ...one }): HistoryTransfer => {
          const { chain, kind, block, from, to, token: of, raw_amount } = one;
          return {
            chain,
            kind,
            block,
            from,
            to,
            token: of,
            raw_amount,
            usd: null,
            at: block_time,
            tx: String(tx_hash),
            symbol: null,
            decimals: null,
            has_market: null,
            initiator: one.initiator,
            success: one.success,
          };
        })
        .filter(({ from, to }) => from !== to);
    }

    async function evidenceOf(
      address: string,
      planted: PlantedFacts = {},
    ): Promise<ForensicEvidence> {
      const chainFacts = nodeFacts({
        nodes: [{ chain: 'ethereum', rpc }],
        simulated: false,
        now: () => 1_790_251_200,
      });
      const ports = { ...forensicPorts({ transfers, ...planted }), chainFacts };
      return scoreAddress(address, planted, ports);
    }

    test('who paid whom: funder, mixer, bridge and a listed friend, with their transactions', async () => {
      const evidence = await evidenceOf(subject(), {
        listed: [listedEntry(friend()), listedEntry(deployer())],
        mixers: [mixerRow(mixer)],
        bridges: [bridgeRow(bridge())],
        flagged: [flaggedRow(deployer())],
      });
      const one = (kind: string) => findingOf(evidence, kind)?.[0].evidence[0];
      expect(one('funded_by_listed')).toMatchObject({ from: deployer(), amount: '5' });
      expect(one('funded_by_flagged')).toMatchObject({ from: deployer() });
      expect(one('mixer_contact')).toMatchObject({ to: mixer, initiated_by_subject: true });
      expect(one('bridge_contact')).toMatchObject({ to: bridge(), raw_amount: '3' });
      expect(findingOf(evidence, 'listed_counterparty')).toHaveLength(2);
      const hashes = transfers.map(({ tx }) => tx);
      for (const { found } of evidence.kinds) {
        if (!(found instanceof Read)) continue;
        for (const { evidence: items } of found.value) {
          for (const item of items) if (item.tx !== null) expect(hashes).toContain(item.tx);
        }
      }
    });

    test('an exchange wallet, paid and paying, and dust that it did not ask for', async () => {
      const label = labelOf(friend(), 'exchange');
      const evidence = await evidenceOf(subject(), {
        labels: [label],
        listed: [listedEntry(friend())],
      });
      const one = (kind: string) => findingOf(evidence, kind)?.[0].evidence[0];
      expect(one('exchange_deposit')).toMatchObject({ to: friend(), amount: '0.1' });
      expect(one('exchange_withdrawal')).toMatchObject({ from: friend(), amount: '0.01' });
      expect(one('dust_from_listed')).toMatchObject({
        from: friend(),
        initiated_by_subject: false,
      });
    });

    test('a forged zero-value transfer is poisoning that the victim did not sign', async () => {
      const found = findingOf(await evidenceOf(subject()), 'poisoning_received');
      expect(found).toHaveLength(2);
      expect(found?.[0].evidence[0]).toMatchObject({
        from: subject(),
        to: likeFriend(),
        raw_amount: '0',
        token,
        initiator: poisoner(),
        initiated_by_subject: false,
      });
      expect(found?.[1]?.statement).toContain(friend());
    });

    test('an account is one, its nonce, coins and code measured', async () => {
      const { mainFacts } = await evidenceOf(subject());
      expect(mainFacts?.nonce).toMatchObject({ value: 3 });
      expect(mainFacts?.code).toMatchObject({ value: { size: 0 } });
      const balance = BigInt(String(await anvil.ask('eth_getBalance', subject(), 'latest')));
      expect(mainFacts?.balance_wei).toMatchObject({ value: balance });
    });

    test('a proxy names its implementation, admin and beacon by the slots of EIP-1967', async () => {
      const found = findingOf(await evidenceOf(at.proxied), 'proxy_authority');
      expect(found?.[0].evidence).toMatchObject([
        { name: 'implementation', value: `0x${'d4'.repeat(20)}` },
        { name: 'admin', value: deployer() },
        { name: 'beacon', value: friend() },
      ]);
    });

    test('a minimal proxy names the contract that it stands for (EIP-1167)', async () => {
      const found = findingOf(await evidenceOf(at.clone), 'proxy_authority');
      expect(found?.[0].evidence).toMatchObject([{ name: 'minimal_proxy_of', value: token }]);
    });

    test('a contract names the owner that its own function answers', async () => {
      const found = findingOf(await evidenceOf(owned), 'proxy_authority');
      expect(found?.[0].evidence).toMatchObject([{ name: 'owner', value: deployer() }]);
    });

    test('an account that runs the code of another is one (EIP-7702)', async () => {
      const found = findingOf(await evidenceOf(friend()), 'delegated_account');
      expect(found?.[0].evidence).toMatchObject([{ name: 'delegates_to', value: token }]);
    });

    test('a contract without slots and owner has neither, which was looked at', async () => {
      const evidence = await evidenceOf(token);
      expect(findingOf(evidence, 'proxy_authority')).toBeNull();
      expect(checkedKinds(evidence)).toContain('proxy_authority');
      expect(evidence.mainFacts?.is_token).toMatchObject({ value: false });
    });

    test.each([
      ['refuses', { error: { code: -32_601, message: 'method not found' } }],
      ['limits', { status: 429, body: 'slow down' }],
      ['answers HTML', { status: 502, body: '<html>bad gateway</html>' }],
      ['answers null', { result: null }],
      ['answers another form', { result: '0xzz' }],
      ['breaks off', { broken: true } as const],
    ] as const)('a node that %s is silence: nothing is denied on it', async (_, fault) => {
      proxy.setRule(({ method }) => (method === 'eth_chainId' ? null : fault));
      const evidence = await evidenceOf(token);
      proxy.setRule(() => null);
      for (const reading of Object.values(evidence.mainFacts ?? {})) {
        expect(reading.checked).toBe(false);
      }
      const checked = checkedKinds(evidence);
      expect(checked).not.toContain('proxy_authority');
      expect(checked).not.toContain('delegated_account');
      expect(evidence.checked.checked).toBe(false);
    });

    test('a node of another chain is no source', async () => {
      proxy.setRule(({ method }) => (method === 'eth_chainId' ? { result: '0x2105' } : null));
      const { mainFacts } = await evidenceOf(token);
      proxy.setRule(() => null);
      expect(mainFacts?.code.checked).toBe(false);
      expect(mainFacts === null ? [] : basis(mainFacts.code).sources).toEqual([]);
    });
  },
);
