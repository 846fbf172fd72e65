// Does the forensic record name the transaction that gave somebody power over an account, on a real
// node? Contracts log it, or not; a delegation is signed and sent as a chain takes it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorityOf } from './chain/authorisation.ts';
import { nodeFacts } from './sources/evm/node-of-account.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { type InItsPlace, type NodeProxy, startProxy } from './testing/anvil-proxy.ts';
import { type Contracts, callData, compileContracts } from './testing/contracts.ts';
import { findingOf, scoreAddress } from './testing/finding-suite.ts';
import { forensicPorts, type PlantedFacts } from './testing/forensic-ports.ts';
import { signedDelegation } from './testing/signed-delegation.ts';
import { flaggedRow } from './testing/twins/rug-flags.ts';
import { listedEntry } from './testing/walked-world.ts';

const ETHEREUM_ID = 1;
const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;
contract Power {
  address public owner;
  event AdminChanged(address previousAdmin, address newAdmin);
  event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
  constructor(address first) { owner = first; }
  function setAdmin(address next) external { put(next); emit AdminChanged(address(0), next); }
  function setQuietly(address next) external { put(next); }
  function setOwner(address next) external {
    emit OwnershipTransferred(owner, next);
    owner = next;
  }
  function put(address next) private {
    assembly {
      sstore(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, next)
    }
  }
}`;

describe.skipIf(anvilPath() === null)('a real node (or skipped: anvil is not installed)', () => {
  let anvil: Anvil;
  let proxy: NodeProxy;
  let rpc: JsonRpc;
  let contracts: Contracts;
  let loud = '';
  let quiet = '';
  const tx = { admin: '', owner: '', delegated: '' };
  const account = (n: number) => String(anvil.accounts[n]);

  beforeAll(async () => {
    anvil = await startAnvil(ETHEREUM_ID);
    proxy = await startProxy(anvil.url);
    const limits = { ...RPC_LIMITS, attemptsMax: 1 };
    rpc = jsonRpc({ url: proxy.url, headers: {}, limits, sleep: async () => undefined });
    contracts = await compileContracts(SOURCE);
    await happen();
  }, 60_000);
  afterAll(async () => {
    rpc.close();
    await proxy.stop();
    await anvil.stop();
  });

  async function happen(): Promise<void> {
    const { code, selector } = contracts('Power');
    const made = { from: account(0), data: callData(code, account(9)) };
    const [first, second] = await anvil.mine(made, made);
    loud = await anvil.created(first);
    quiet = await anvil.created(second);
    const send = async (to: string, method: string, next: string) => {
      const data = callData(selector(method), next);
      return String((await anvil.mine({ from: account(0), to, data }))[0]);
    };
    await send(loud, 'setAdmin', account(9));
    await send(loud, 'setAdmin', account(5));
    tx.admin = await send(loud, 'setAdmin', account(9));
    tx.owner = await send(loud, 'setOwner', account(8));
    await send(quiet, 'setQuietly', account(9));
    tx.delegated = await delegate(loud);
    for (let n = 0; n < 3; n += 1) await anvil.ask('evm_mine');
  }

  /** Lets the second account run a contract's code: somebody else sends what it signed. */
  async function delegate(to: string): Promise<string> {
    const nonce = BigInt(String(await anvil.ask('eth_getTransactionCount', account(1), 'latest')));
    const authorisation = signedDelegation(to, ETHEREUM_ID, nonce);
    const sent = { from: account(0), to: account(0), type: '0x4' };
    const hash = await anvil.ask('eth_sendTransaction', {
      ...sent,
      authorizationList: [authorisation],
    });
    await anvil.ask('evm_mine');
    return String(hash);
  }

  const factOf = async (address: string, kind: string, planted: PlantedFacts) => {
    const nodes = [{ chain: 'ethereum', rpc } as const];
    const chainFacts = nodeFacts({ nodes, simulated: false, now: () => 1_790_251_200 });
    const ports = { ...forensicPorts(planted), chainFacts };
    return findingOf(await scoreAddress(address, planted, ports), kind);
  };

  /** While the node answers some calls otherwise. */
  async function under<T>(method: string, by: InItsPlace, work: () => Promise<T>): Promise<T> {
    proxy.setRule((call) => (call.method === method ? by : null));
    const done = await work();
    proxy.setRule(() => null);
    return done;
  }

  test('the newest event that named a listed admin, and a listed owner, is named', async () => {
    const listed = [listedEntry(account(8)), listedEntry(account(9))];
    const found = await factOf(loud, 'listed_in_facts', { listed });
    expect(found).toMatchObject([
      { evidence: [{ name: 'admin', value: account(9), tx: tx.admin }, {}] },
      { evidence: [{ name: 'owner', value: account(8), tx: tx.owner }, {}] },
    ]);
    expect(found?.[0].source).toContain('Node http://127.0.0.1');
  });

  test('who lets flagged code run has the transaction that carried what it signed', async () => {
    const flagged = [flaggedRow(loud)];
    expect(await factOf(account(1), 'flagged_in_facts', { flagged })).toMatchObject([
      { evidence: [{ name: 'delegates_to', value: loud, tx: tx.delegated }, {}] },
    ]);
  });

  test('what was set without an event has none, and says so', async () => {
    const found = await factOf(quiet, 'listed_in_facts', { listed: [listedEntry(account(9))] });
    for (const name of ['admin', 'owner']) {
      const one = found?.find(
        ({ evidence }) => evidence[0]?.evidence === 'record' && evidence[0].name === name,
      );
      expect(one?.evidence[0]).toMatchObject({
        tx: null,
        tx_reason: expect.stringContaining('does not name the transaction that set it.'),
      });
    }
  });

  test('while the node lists no events, or holds no past state, the finding stands and says why', async () => {
    const refused = { error: { code: -32_005, message: 'query exceeds max block range 10000' } };
    const listed = [listedEntry(account(8))];
    const whole = await factOf(loud, 'listed_in_facts', { listed });
    const owner = await under('eth_getLogs', refused, () =>
      factOf(loud, 'listed_in_facts', { listed }),
    );
    expect(owner).toMatchObject([
      { evidence: [{ tx: null, tx_reason: expect.stringContaining('eth_getLogs (-32005)') }, {}] },
    ]);
    expect(owner?.[0].id).toBe(whole?.[0].id);
    const pruned = { error: { code: -32_000, message: 'missing trie node' } };
    const flagged = [flaggedRow(loud)];
    const runs = await under('eth_getBlockByNumber', pruned, () =>
      factOf(account(1), 'flagged_in_facts', { flagged }),
    );
    expect(runs).toMatchObject([
      { evidence: [{ tx: null, tx_reason: expect.stringContaining('eth_getBlockByNumber') }, {}] },
    ]);
  });

  test('nobody is asked for it where no table names whom the facts name', async () => {
    proxy.calls.length = 0;
    await factOf(loud, 'listed_in_facts', {});
    expect(proxy.calls.filter(({ method }) => method === 'eth_getLogs')).toEqual([]);
    const [found] = (await factOf(loud, 'proxy_authority', {})) ?? [];
    expect(found?.evidence[0]).toMatchObject({
      tx: null,
      tx_reason: expect.stringContaining('read only where'),
    });
  });

  test('a signature that is none names nobody', () => {
    const none = { chainId: '0x1', address: loud, nonce: '0x0', yParity: '0x0' };
    expect(authorityOf({ ...none, r: '0x0', s: '0x0' })).toBeNull();
    expect(authorityOf({ ...none, r: `0x${'f'.repeat(64)}`, s: '0x1' })).toBeNull();
  });
});
