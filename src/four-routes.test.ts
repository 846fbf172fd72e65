// A user, a deposit address, a hot wallet and a bridge on a real node, followed by a real service:
// its four routes answer over HTTP what happened there, transaction by transaction.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Anvil, anvilPath, type SentTransaction, startAnvil } from './testing/anvil.ts';
import { callData, compileContracts } from './testing/contracts.ts';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { MAIN, onlySettings } from './testing/program.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 240_000 });

const absent = anvilPath() === null;
const title = absent ? 'the service (skipped: anvil is not installed)' : 'the service';
/** A contract of the registry: on this node it stands where it stands on Ethereum. */
const BRIDGE = '0x5427fefa711eff984124bfbb1ab6fbf5e3da1820';
const POOL = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;
contract Pool {
  event Send(bytes32 transferId, address sender, address receiver, address token, uint256 amount,
    uint64 dstChainId, uint64 nonce, uint32 maxSlippage);
  function sendNative(address receiver, uint64 dstChainId) external payable {
    address coin = address(0);
    emit Send(bytes32(uint256(7)), msg.sender, receiver, coin, msg.value, dstChainId, 1, 5000);
  }
}`;
const ASKS_MAX = 100;
const ASK_EVERY_MS = 200;

describe.skipIf(absent)(title, () => {
  const cwd = mkdtempSync(join(tmpdir(), 'exhibit-four-'));
  const sent = new Map<string, string>();
  const children: ChildProcess[] = [];
  let anvil: Anvil;
  /** The chain that the user sent to: it is followed, and the service has no node of it. */
  let far: Anvil;
  let base: string;
  let key: string;
  let token: string;
  const account = (i: number) => String(anvil.accounts[i]);

  const OF_ETHEREUM = () => ({ EXHIBIT_RPC_ETHEREUM: anvil.url.href });
  function exhibit(words: readonly string[], nodes: object = OF_ETHEREUM()): ChildProcess {
    const none = { EXHIBIT_SDN_URL: 'file:/no/such/list.xml', EXHIBIT_PORT: '0' };
    const env = { ...none, ...nodes };
    const child = spawn(process.execPath, [MAIN, ...words], {
      cwd,
      env: onlySettings(env),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  /** The lines of a command until one is found; the command is then stopped and waited for. */
  async function until<T>(child: ChildProcess, found: (line: string) => T | null): Promise<T> {
    const { stdout } = child;
    if (stdout === null) throw new Error('no output');
    for await (const line of createInterface({ input: stdout })) {
      const value = found(line);
      if (value !== null) return value;
    }
    throw new Error('the command ended before it said so');
  }

  async function said<S extends z.ZodType>(shape: S, words: readonly string[]) {
    const child = exhibit([...words, '--json']);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const text = await until(child, (line) => (line.startsWith('{') ? line : null));
    await gone;
    return shape.parse(JSON.parse(text));
  }

  beforeAll(async () => {
    await createStoresIn(join(cwd, 'data'));
    [anvil, far] = await Promise.all([startAnvil(1), startAnvil(8_453)]);
    await happen();
    await far.mine({ from: String(far.accounts[8]), to: String(far.accounts[9]), value: 1n });
    writeFileSync(
      join(cwd, 'labels.csv'),
      `address,entity,role,chain\n${account(2)},Exemplar,hot,ethereum\n`,
    );
    const imported = exhibit(['labels', 'import', 'labels.csv', '--source', 'tests']);
    await new Promise((resolve) => imported.once('exit', resolve));
    await followedToHead('ethereum', anvil, OF_ETHEREUM());
    await followedToHead('base', far, { EXHIBIT_RPC_BASE: far.url.href });
    const member = z.object({ membership_id: z.string() });
    const { membership_id } = await said(member, ['members', 'add', '--plan', 'desk']);
    const created = ['keys', 'create', '--membership', membership_id];
    ({ key } = await said(z.object({ key: z.string() }), created));
    ({ token } = await said(z.object({ token: z.string() }), ['tokens', 'mint', '--tier', 'pro']));
    const service = exhibit(['up']);
    base = await until(service, (line) => /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? null);
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await anvil?.stop();
    await far?.stop();
    rmSync(cwd, { recursive: true, force: true });
  });

  async function happen(): Promise<void> {
    const [user, deposit, hot, poisoner] = [0, 1, 2, 3].map(account) as [
      ...[string, string, string, string],
    ];
    const [contracts, pool] = await Promise.all([compileContracts(), compileContracts(POOL)]);
    const mined = async (name: string, one: SentTransaction) => {
      sent.set(name, String((await anvil.mine(one))[0]));
    };
    const made = await anvil.created(
      (await anvil.mine({ from: poisoner, data: pool('Pool').code }))[0],
    );
    await anvil.ask('anvil_setCode', BRIDGE, await anvil.ask('eth_getCode', made, 'latest'));
    const supply = callData(contracts('Token').code, 1_000n);
    const ledger = await anvil.created((await anvil.mine({ from: poisoner, data: supply }))[0]);
    await mined('deposited', { from: user, to: deposit, value: 100n });
    await mined('forwarded', { from: deposit, to: hot, value: 95n });
    await mined('deposited too', { from: account(4), to: deposit, value: 50n });
    await mined('forwarded too', { from: deposit, to: hot, value: 50n });
    await mined('withdrew', { from: hot, to: user, value: 40n });
    const over = callData(pool('Pool').selector('sendNative'), user, 8_453n);
    await mined('bridged', { from: user, to: BRIDGE, value: 30n, data: over });
    const poison = callData(contracts('Token').selector('poison'), user, BRIDGE);
    await mined('poisoned', { from: poisoner, to: ledger, data: poison });
  }

  /** Follows a chain from its first block to its head, and stops. */
  async function followedToHead(chain: string, node: Anvil, nodes: object): Promise<void> {
    const head = Number(await node.ask('eth_blockNumber'));
    const words = ['warehouse', 'follow', chain, '--from-block', '0', '--json'];
    const child = exhibit(words, nodes);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const state = z.object({ last_block: z.number().nullable() });
    await until(child, (line) => (state.parse(JSON.parse(line)).last_block === head ? true : null));
    child.kill('SIGINT');
    await gone;
  }

  /** The answer of a route, once the node's data has reached the service. */
  async function asked<S extends z.ZodType>(
    path: string,
    credential: string,
    shape: S,
    isThere: (answer: z.output<S>) => boolean,
  ): Promise<z.output<S>> {
    for (let turn = 0; turn < ASKS_MAX; turn += 1) {
      const response = await fetch(`${base}${path}`, {
        headers: { authorization: `Bearer ${credential}` },
      });
      const read = shape.safeParse(await response.json());
      if (read.success && isThere(read.data)) return read.data;
      await wait(ASK_EVERY_MS);
    }
    throw new Error(`${path} never said it`);
  }

  test('bridges: what went over, by whom and where to; the poisoning is none', async () => {
    const contact = z.looseObject({
      tx: z.string(),
      direction: z.string(),
      events: z.array(z.looseObject({})).nullable(),
    });
    const shape = z.object({
      data: z.looseObject({
        contacts: z.array(contact),
        protocols_seen: z.array(z.string()),
        coverage: z.looseObject({ checked: z.boolean() }),
        deposits: z.array(z.looseObject({ destination: z.looseObject({}) })),
        transfers_left_out: z.looseObject({ zero_value: z.number().nullable() }),
      }),
    });
    const path = `/api/v1/wallet/${account(0)}/bridges`;
    const { data } = await asked(path, key, shape, (one) => one.data.contacts.length > 0);
    expect(data.coverage.checked).toBe(true);
    expect(data.protocols_seen).toEqual(['celer']);
    expect(data.transfers_left_out.zero_value).toBe(1);
    expect(data.contacts).toHaveLength(1);
    expect(data.contacts[0]).toMatchObject({ tx: sent.get('bridged'), direction: 'out' });
    expect(data.contacts[0]?.events).toMatchObject([
      { event: 'Send', user: account(0), amount: '30', destination: 'base' },
    ]);
    // No node of Base is set: what is held of it shows that its recipient was paid nothing.
    const destination = { chain: 'base', state: 'in_flight', tx: null, matched_by: null };
    expect(data.deposits).toMatchObject([{ destination }]);
  });

  test('cex: the deposit address with its pair of transactions, and the withdrawal', async () => {
    const activity = z.looseObject({
      checked: z.boolean(),
      exchanges: z.array(z.looseObject({ transactions: z.array(z.looseObject({})) })),
      inferred_deposit_addresses: z.array(z.looseObject({})),
    });
    const shape = z.object({ data: z.looseObject({ activity }) });
    const path = `/api/v1/wallet/${account(0)}/cex`;
    const { data } = await asked(path, key, shape, () => true);
    expect(data.activity.exchanges).toMatchObject([
      { entity: 'Exemplar', transfers_in: 1, transactions: [{ tx: sent.get('withdrew') }] },
    ]);
    expect(data.activity.inferred_deposit_addresses).toMatchObject([
      { address: account(1), entity: 'Exemplar' },
    ]);
    expect(data.activity.inferred_deposit_addresses[0]?.['forwards']).toContainEqual(
      expect.objectContaining({
        received_tx: sent.get('deposited'),
        forwarded_tx: sent.get('forwarded'),
      }),
    );
    expect(data.activity.checked).toBe(true);
  });

  test('score: the contact with the bridge and the poisoning, each with its transaction', async () => {
    const finding = z.looseObject({
      kind: z.string(),
      evidence: z.array(z.looseObject({ tx: z.string().nullable() })),
    });
    const shape = z.object({
      data: z.looseObject({ findings: z.array(finding), findings_checked: z.boolean() }),
    });
    const path = `/api/v1/wallet/${account(0)}/score`;
    const { data } = await asked(path, key, shape, (one) => one.data.findings.length > 1);
    const of = (kind: string) =>
      data.findings.filter((one) => one.kind === kind).flatMap(({ evidence }) => evidence);
    expect(of('bridge_contact').map(({ tx }) => tx)).toEqual([sent.get('bridged')]);
    expect(of('poisoning_received').map(({ tx }) => tx)).toEqual([sent.get('poisoned')]);
    // No list of sanctions is loaded here, so that not every kind could run.
    expect(data.findings_checked).toBe(false);
  });

  test('entity: two who paid into one deposit address are tied; exchange and bridge are not', async () => {
    const shape = z.looseObject({
      related_wallets: z.array(z.string()),
      checked: z.boolean(),
      evidence: z.array(z.looseObject({ transactions: z.array(z.string()) })),
    });
    const path = `/api/wallet/${account(0)}/entity`;
    const answer = await asked(path, token, shape, () => true);
    const own = [account(0), account(1), account(4)];
    expect([...answer.related_wallets].sort()).toEqual([...own].sort());
    const [link] = answer.evidence;
    expect(link?.['heuristic']).toBe('deposit_reuse');
    const paid = [sent.get('deposited'), sent.get('deposited too')];
    expect(link?.transactions).toEqual(expect.arrayContaining(paid));
  });
});
