import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read } from '../../../evidence/reading.ts';
import type { TransferFact } from '../../../ports/indexing.ts';
import {
  coveredHistoryKeeps,
  SUITE_NOW,
  SUITE_TIP_MAX_AGE_S,
  type SuiteHistory,
  transferHistoryKeeps,
} from '../../../ports/transfer-history.suite.ts';
import { tenure } from '../../../ports/transfer-store.suite.ts';
import { startWarehouseFront, type WarehouseFront } from '../../../testing/warehouse-front.ts';
import { coveredHistory } from '../../history/covered.ts';
import { embeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import { remoteWarehouse } from '../engine/remote.ts';
import { transferStore } from '../transfers/store.ts';
import { warehouseHistory } from './warehouse.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/warehouse', import.meta.url));

const CALL = { timeoutMs: 10_000 };
const TABLES = [
  ...['transfers_written', 'transfers_counted'],
  ...['transfers', 'sides', 'blocks', 'coverage', 'address_coverage', 'degrees', 'following'],
] as const;

let folder: string;
let embedded: Warehouse;
let front: WarehouseFront;
let remote: Warehouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-history-'));
  embedded = await embeddedWarehouse(join(folder, 'embedded'));
  front = await startWarehouseFront(join(folder, 'remote'));
  remote = remoteWarehouse(front.url);
  for (const each of [embedded, remote]) {
    await migrateWarehouse(each, MIGRATIONS, { simulated: false });
  }
});

afterAll(async () => {
  await embedded.close();
  await remote.close();
  await front.close();
  await rm(folder, { recursive: true, force: true });
});

function facts(world: SuiteHistory): TransferFact[] {
  return world.transfers.map(
    ({ at, symbol: _, decimals: __, has_market: ___, tx, ...transfer }) => ({
      ...transfer,
      block_time: at,
      tx_hash: tx,
      block_hash: null,
      position: null,
    }),
  );
}

const now = () => SUITE_NOW;

async function filled(warehouse: Warehouse, world: SuiteHistory) {
  for (const table of TABLES) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
  const store = transferStore(warehouse, now);
  const origin = world.simulated ? 'simulated' : 'observed';
  const source = 'suite';
  const appended = await store.appendImported(
    { transfers: facts(world), creations: [], blocks: [], transactions: [] },
    { source, origin, import_id: 'suite' },
  );
  if (!(appended instanceof Read)) throw new Error(appended.why.reason);
  const ranges = world.coverage.map((range) => ({ ...range, source, origin }) as const);
  await store.recordCoverage(ranges.filter(({ address }) => address === null));
  await store.recordAddressCoverage(
    ranges.flatMap((range) =>
      range.address === null
        ? []
        : [{ ...range, address: range.address, truncated: false, read_at: SUITE_NOW }],
    ),
  );
  return { history: warehouseHistory(warehouse, now), close: async () => undefined };
}

async function covered(warehouse: Warehouse, world: SuiteHistory) {
  const { history, close } = await filled(warehouse, world);
  const tip = { now, tipMaxAgeS: SUITE_TIP_MAX_AGE_S };
  return { history: coveredHistory(history, tip), close };
}

transferHistoryKeeps('embedded warehouse', (world) => filled(embedded, world));
transferHistoryKeeps('remote warehouse', (world) => filled(remote, world));
coveredHistoryKeeps('covered embedded warehouse', (world) => covered(embedded, world));

describe.each([
  ['embedded', () => embedded],
  ['remote', () => remote],
] as const)('%s: a chain whose import has begun', (_, warehouse) => {
  const CHAIN = { chain: 'base', parent_hash: null, time: SUITE_NOW } as const;
  const header = { ...CHAIN, number: 7, hash: `0x${'7'.repeat(64)}` };
  const FOLLOWING = { chain: 'bsc', from_block: 1, kinds: ['native'], source: 'suite' } as const;

  test('is among the chains read with its first row, and so is one that is followed', async () => {
    const world = { chains: [], transfers: [], coverage: [], simulated: false };
    const { history } = await filled(warehouse(), world);
    const chains = async () => {
      const reading = await history.chainsRead();
      return reading instanceof Read ? reading.value : reading.why.reason;
    };
    const store = transferStore(warehouse(), now);
    const facts = { transfers: [], creations: [], blocks: [], transactions: [] };
    expect(await chains()).toEqual([]);
    const provenance = { source: 'suite', origin: 'observed', import_id: 'begun' } as const;
    const ethereum = { ...header, chain: 'ethereum' as const };
    await store.appendImported({ ...facts, blocks: [ethereum] }, provenance);
    expect(await chains()).toEqual(['ethereum']);
    await store.appendImported({ ...facts, blocks: [header] }, provenance);
    expect(await chains()).toEqual(['ethereum', 'base']);
    await store.follow({ ...FOLLOWING, origin: 'observed' }, tenure());
    expect(await chains()).toEqual(['ethereum', 'base', 'bsc']);
  });
});
