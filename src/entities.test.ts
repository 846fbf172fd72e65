// Entities from a real node to the answer: users, deposit addresses, a funder, lockstep and a
// factory on a chain of this machine, taken into a real warehouse, and ties kept in a real store.

import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { Read, Unread } from './evidence/reading.ts';
import type { EntityPorts } from './features/entities/closure.ts';
import { heldClusters } from './features/entities/held-clusters.ts';
import { entityAnswers, walletEntityData } from './features/entities/wallet-entity.route.ts';
import { clusterStore } from './stores/control/clusters.ts';
import type { Database } from './stores/control/engine/database.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { coveredHistory } from './stores/history/covered.ts';
import { warehouseCreations, warehouseFacts } from './stores/warehouse/creations.ts';
import type { EmbeddedWarehouse } from './stores/warehouse/engine/embedded.ts';
import { warehouseHistory } from './stores/warehouse/history/warehouse.ts';
import { evm } from './testing/addresses.ts';
import { type Anvil, anvilPath, type SentTransaction, startAnvil } from './testing/anvil.ts';
import { followAnvil } from './testing/anvil-following.ts';
import { TIP_MAX_AGE_S } from './testing/clock.ts';
import { callData, compileContracts } from './testing/contracts.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { freshPgliteDirectory } from './testing/postgres.ts';
import { labelOf, memoryExchangeLabels } from './testing/twins/tables.ts';

const absent = anvilPath() === null;
const title = absent ? 'a real node (skipped: anvil is not installed)' : 'a real node';
const CONTROL = fileURLToPath(new URL('../migrations/control', import.meta.url));
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };
const ANSWERED_MAX_MS = 20_000;
const ETHER = 10n ** 18n;
const HOURS_S = 20_000;
let aheadS = 0;
/** The node's clock, which the test moves on. */
const now = () => Math.floor(Date.now() / 1_000) + aheadS;
const TIP = { now, tipMaxAgeS: TIP_MAX_AGE_S };

const [ALICE, ALIAS] = [evm('alice'), evm('alias of alice')];
const [DEPOSIT, HOT] = [evm('deposit of alice'), evm('hot wallet')];
const SHOPS = [evm('shop a'), evm('shop b'), evm('shop c')];
const STRANGER = evm('stranger');

describe.skipIf(absent)(title, () => {
  let anvil: Anvil;
  let directory: string;
  let warehouse: EmbeddedWarehouse;
  let database: Database;
  let ports: EntityPorts;
  const sent = new Map<string, string>();
  const created: string[] = [];
  const funder = () => String(anvil.accounts[0]);
  const bystander = () => String(anvil.accounts[1]);

  beforeAll(async () => {
    directory = await freshPgliteDirectory();
    const [started, contracts, opened, store] = await Promise.all([
      startAnvil(1),
      compileContracts(),
      freshWarehouse(),
      openPglite(directory),
    ]);
    anvil = started;
    warehouse = opened;
    database = store;
    await migrate(database, CONTROL, LIVE);
    for (const address of [ALICE, ALIAS, DEPOSIT, STRANGER]) {
      await anvil.ask('anvil_impersonateAccount', address);
    }
    await happen(contracts);
    await followAnvil(anvil, warehouse, now);
    const label = labelOf(HOT, 'Exemplar');
    ports = {
      entityTies: clusterStore(database, { simulated: false, nowMs: () => now() * 1_000 }),
      exchangeLabels: memoryExchangeLabels({ labels: [label], as_of: now(), simulated: false }),
      transferHistory: coveredHistory(warehouseHistory(warehouse, now), TIP),
      contractCreations: warehouseCreations(warehouse, TIP),
      chainFacts: warehouseFacts(warehouse, now),
    };
  }, 90_000);
  afterAll(async () => {
    await warehouse?.close();
    await database?.close();
    await anvil?.stop();
    await rm(dirname(directory), { recursive: true, force: true });
  });

  async function happen(contracts: Awaited<ReturnType<typeof compileContracts>>): Promise<void> {
    const mined = async (name: string, one: SentTransaction) => {
      sent.set(name, String((await anvil.mine(one))[0]));
    };
    await mined('began alice', { from: funder(), to: ALICE, value: 50n * ETHER });
    await mined('began her alias', { from: funder(), to: ALIAS, value: 50n * ETHER });
    await mined('began the stranger', { from: bystander(), to: STRANGER, value: 50n * ETHER });
    await mined('alice deposits', { from: ALICE, to: DEPOSIT, value: 10n * ETHER });
    await mined('her deposit forwards', { from: DEPOSIT, to: HOT, value: (95n * ETHER) / 10n });
    await mined('her alias deposits', { from: ALIAS, to: DEPOSIT, value: 10n * ETHER });
    await mined('it forwards again', { from: DEPOSIT, to: HOT, value: 10n * ETHER });
    await mined('to her alias', { from: ALICE, to: ALIAS, value: 3n });
    await mined('and back', { from: ALIAS, to: ALICE, value: 2n });
    for (const shop of SHOPS) {
      // Moments that lie within minutes of each other would be chance.
      await anvil.ask('evm_increaseTime', HOURS_S);
      aheadS += HOURS_S;
      await anvil.mine({ from: ALICE, to: shop, value: 1n }, { from: ALIAS, to: shop, value: 1n });
    }
    await mined('the stranger shops', { from: STRANGER, to: String(SHOPS[0]), value: 1n });
    const factory = { from: ALICE, data: callData(contracts('Factory').code) };
    const [made] = await anvil.mine(factory);
    created.push(await anvil.created(made));
    const data = contracts('Factory').selector('make');
    await mined('a factory runs', { from: ALICE, to: String(created[0]), value: 5n, data });
    const poison = callData(contracts('Token').code, 1_000n);
    const token = await anvil.created((await anvil.mine({ from: bystander(), data: poison }))[0]);
    const lookalike = evm('lookalike');
    const call = callData(contracts('Token').selector('poison'), ALICE, lookalike);
    await mined('poisoned', { from: bystander(), to: token, data: call });
  }

  async function entity(address: string, explain?: string) {
    const asked = { now, signal: AbortSignal.timeout(ANSWERED_MAX_MS) };
    const query = { chain: 'ethereum', ...(explain === undefined ? {} : { explain }) } as const;
    const reply = await entityAnswers(ports, { tipMaxAgeS: TIP_MAX_AGE_S })(address, query, asked);
    if (reply instanceof Refusal) throw new Error('refused');
    return walletEntityData.parse(reply.body);
  }
  const by = (...names: string[]) => names.map((name) => sent.get(name));

  test('is told by every heuristic, with the transactions that show it', async () => {
    const found = await entity(ALICE);
    expect(found.reason).toBeNull();
    expect(found.checked).toBe(true);
    const told = new Map(found.evidence.map((item) => [item.heuristic, item]));
    expect([...told.keys()].sort()).toEqual([
      ...['deposit_reuse', 'lockstep', 'same_deployer', 'shared_funder'],
    ]);
    expect(told.get('deposit_reuse')).toMatchObject({
      through: DEPOSIT,
      addresses: [ALICE, ALIAS, DEPOSIT].sort(),
      transactions: by('alice deposits', 'her alias deposits'),
    });
    expect(told.get('shared_funder')).toMatchObject({
      through: funder(),
      addresses: [ALICE, ALIAS].sort(),
      transactions: by('began alice', 'began her alias'),
    });
    expect(told.get('lockstep')?.transactions).toEqual(by('to her alias', 'and back'));
    const made = told.get('same_deployer');
    expect(made?.through).toBe(ALICE);
    // A contract that the factory made when she called it is hers too: she signed for it.
    expect(made?.addresses).toHaveLength(3);
    expect(made?.addresses).toEqual(expect.arrayContaining([ALICE, String(created[0])]));
    expect(made?.transactions).toContain(sent.get('a factory runs'));
    const doubt = found.evidence.map(({ weight }) => 1 - weight).reduce((a, b) => a * b);
    expect(found.confidence).toBe(Number((1 - doubt).toFixed(4)));
  });

  test('links nobody by a wallet, a funder, a shop, or a poisoning, which is counted', async () => {
    const { related_wallets, edges_left_out } = await entity(ALICE);
    for (const one of [HOT, funder(), STRANGER, evm('lookalike'), ...SHOPS]) {
      expect(related_wallets).not.toContain(one);
    }
    expect(edges_left_out).toEqual({ zero_value: 1, no_market_token: 0 });
    expect(await entity(STRANGER)).toMatchObject({
      evidence: [],
      confidence: 1,
      related_wallets: [STRANGER],
      checked: true,
      reason: null,
    });
    expect(await entity(HOT)).toMatchObject({ evidence: [], checked: false });
  });

  test('is one cluster under one id, whoever is asked about, and is explained', async () => {
    const { cluster_id } = await entity(ALICE);
    const [factory = ''] = created;
    for (const address of [ALIAS, DEPOSIT, factory]) {
      expect((await entity(address)).cluster_id).toBe(cluster_id);
    }
    const { explain } = await entity(DEPOSIT, factory);
    expect(explain?.linked).toBe(true);
    expect(explain?.chain.map(({ from, to, evidence }) => [from, to, evidence.heuristic])).toEqual([
      [DEPOSIT, ALICE, 'deposit_reuse'],
      [ALICE, factory, 'same_deployer'],
    ]);
  });

  test('is held for other answers once it was examined, and is silence before', async () => {
    const clusters = heldClusters(ports, TIP);
    const { cluster_id } = await entity(ALICE);
    const held = await clusters.clusterOf('ethereum', ALICE);
    if (!(held instanceof Read)) throw new Error('not read');
    expect(held.value?.cluster_id).toBe(cluster_id);
    expect(held.value?.members).toContain(DEPOSIT);
    await entity(STRANGER);
    expect(await clusters.clusterOf('ethereum', STRANGER)).toMatchObject({ value: null });
    expect(await clusters.clusterOf('ethereum', evm('nobody asked'))).toBeInstanceOf(Unread);
  });
});
