// The imported tables from a file on disk to the port that answers: real readers, real rules, a
// real store, on the simulated world's files and on the shared real data.

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { Read } from './evidence/reading.ts';
import { bulkWalletScreenHandler } from './features/screening/bulk-wallet-screen.route.ts';
import { labelImporter } from './features/tables/labels.ts';
import { corpusImporter, launchAnswer } from './features/tables/launches.ts';
import type { ImportOutcome, RefusedRow } from './ports/tables/table-import.ts';
import { localTableFiles } from './sources/files/files.ts';
import type { Database } from './stores/control/engine/database.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { labelStore } from './stores/control/labels.ts';
import { corpusStore } from './stores/control/launches.ts';
import { LABELS_IN_MEMORY_MAX, labelSnapshot } from './stores/snapshots/labels.ts';
import { corpusSnapshot, WALLETS_IN_MEMORY_MAX } from './stores/snapshots/launches.ts';
import { memorySanctionsList } from './testing/memory/sanctions-list.ts';
import { freshPgliteDirectory } from './testing/postgres.ts';
import { SHARED_DATA } from './testing/shared-data.ts';
import { SANDBOX_LAUNCHERS, worldCorpusLines } from './world/corpus.ts';
import { SANDBOX_LABELLED, worldLabelsCsv } from './world/labels.ts';
import { WORLD_SEED } from './world/listed-parties.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const DAY_S = 86_400;
const MIGRATIONS = join(import.meta.dirname, '../migrations/control');
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };

let time = NOW;
let folder = '';
let directory = '';
let database: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-test-tables-'));
  directory = await freshPgliteDirectory();
  database = await openPglite(directory);
  await migrate(database, MIGRATIONS, LIVE);
}, 120_000);
afterAll(async () => {
  await database.close();
  await rm(dirname(directory), { recursive: true });
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  time = NOW;
});
afterEach(() => database.query('truncate exchange_labels, launches, table_imports cascade'));

const now = () => time;
const files = localTableFiles(now);

function watching() {
  const refused: RefusedRow[] = [];
  const watch = {
    onRefused: (row: RefusedRow) => void refused.push(row),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  };
  return { refused, watch };
}

async function importedLabels(path: string, source: string) {
  const { refused, watch } = watching();
  const importFile = labelImporter({ files, table: labelStore(database, now) }, now);
  const order = { path, source, source_url: null, role: null, origin: 'observed' } as const;
  return { refused, outcome: await importFile(order, watch) };
}

async function importedLaunches(text: string) {
  const path = join(folder, 'launches.jsonl');
  await writeFile(path, text);
  const { refused, watch } = watching();
  const importFile = corpusImporter({ files, table: corpusStore(database, now) }, now);
  const order = { path, source: 'world', origin: 'simulated' } as const;
  return { refused, outcome: await importFile(order, watch) };
}

function labelSnapshotOf(store: Database) {
  const table = labelStore(store, now);
  const onFault = () => undefined;
  return labelSnapshot({ table, pollMs: 10, rowsInMemoryMax: LABELS_IN_MEMORY_MAX, onFault });
}

function corpusSnapshotOf(store: Database) {
  const table = corpusStore(store, now);
  const onFault = () => undefined;
  return corpusSnapshot({ table, pollMs: 10, walletsInMemoryMax: WALLETS_IN_MEMORY_MAX, onFault });
}

async function labelsOf(addresses: readonly string[]) {
  const snapshot = labelSnapshotOf(database);
  await snapshot.poll();
  const reading = await snapshot.labels.lookUp(addresses);
  if (!(reading instanceof Read)) throw new Error(reading.why.reason);
  return reading.value;
}

async function countsOf(wallets: readonly string[]) {
  const snapshot = corpusSnapshotOf(database);
  await snapshot.poll();
  const reading = await snapshot.corpus.lookUp(wallets);
  if (!(reading instanceof Read)) throw new Error(reading.why.reason);
  return reading.value;
}

function counted(outcome: ImportOutcome) {
  if (outcome.outcome !== 'completed') throw new Error(`not completed: ${outcome.outcome}`);
  const { rows_accepted, rows_refused } = outcome.record;
  return {
    accepted: rows_accepted,
    refused: rows_refused,
    by: Object.fromEntries(outcome.refused),
  };
}

test('a killed import leaves what was in force, and the next import forgets its rows', async () => {
  // Killed between its first rows and its end: nothing of it was ever said to be stored.
  const path = join(folder, 'labels.csv');
  await writeFile(path, worldLabelsCsv(WORLD_SEED));
  await importedLabels(path, 'world');
  const table = labelStore(database, now);
  const facts = { source: 'world', source_url: null, origin: 'observed', started_at: NOW } as const;
  const begun = await table.begin(facts);
  if (!(begun instanceof Read)) throw new Error('not begun');
  await database.query(
    `insert into exchange_labels
       select $1, n, match_key, address, chain, 'left behind', entity, role, confidence,
       clusterable, source, source_url, first_seen from exchange_labels`,
    [begun.value.id],
  );
  const { hot } = SANDBOX_LABELLED;
  const held = (await labelsOf([hot])).found.get(hot);
  expect(held?.map(({ label }) => label)).toEqual(['Sandbox Exchange: Hot Wallet 1']);
  time = NOW + 2 * DAY_S;
  await importedLabels(path, 'world');
  expect(await database.query('select 1 from exchange_labels')).toHaveLength(503);
});

test('a bulk screen of loaded tables opens no connection and asks no store', async () => {
  const path = join(folder, 'labels.csv');
  await writeFile(path, worldLabelsCsv(WORLD_SEED));
  await importedLabels(path, 'world');
  await importedLaunches(worldCorpusLines(NOW, WORLD_SEED));
  const asked: string[] = [];
  const watched = watchedDatabase(asked);
  const labels = labelSnapshotOf(watched);
  const corpus = corpusSnapshotOf(watched);
  await Promise.all([labels.poll(), corpus.poll()]);
  const before = asked.length;
  const handler = bulkWalletScreenHandler({
    sanctionsList: memorySanctionsList(LIST),
    exchangeLabels: labels.labels,
    launchCorpus: corpus.corpus,
  });
  const { connect } = Socket.prototype;
  Socket.prototype.connect = () => {
    throw new Error('a connection was opened');
  };
  const addresses = [...Object.values(SANDBOX_LABELLED), ...Object.values(SANDBOX_LAUNCHERS)];
  const signal = new AbortController().signal;
  const answer = await handler({ params: {}, query: {}, body: { addresses } }, { now, signal });
  Socket.prototype.connect = connect;
  expect(answer instanceof Refusal ? answer : answer.envelope(NOW)).toMatchObject({
    state: 'ok',
    data: { counts: { ok: 5, insufficient_evidence: 1, not_deployed: 0 } },
  });
  expect(before).toBeGreaterThan(0);
  expect(asked.length).toBe(before);
});

/** The store, with each statement noted. */
function watchedDatabase(asked: string[]): Database {
  return {
    ...database,
    query: (sql, params) => {
      asked.push(sql);
      return database.query(sql, params);
    },
  };
}

const LIST = {
  publications: [{ published: '2026-11-20', checked_at: NOW, entries: [] }],
  maxAgeS: null,
  simulated: false,
  now,
};

describe('the simulated world', () => {
  test('has a label table that imports whole, and its sandbox wallets are found', async () => {
    const path = join(folder, 'labels.csv');
    await writeFile(path, worldLabelsCsv(WORLD_SEED));
    const { outcome } = await importedLabels(path, 'world');
    expect(counted(outcome)).toEqual({ accepted: 503, refused: 0, by: {} });
    const { found } = await labelsOf(Object.values(SANDBOX_LABELLED));
    const roles = [...found.values()].map(([label]) => [label?.role, label?.clusterable]);
    expect(roles).toEqual([
      ['hot', false],
      ['cold', false],
      ['deposit', true],
    ]);
  });

  test('has a launch corpus with flagged, mixed and unsettled wallets', async () => {
    const { outcome } = await importedLaunches(worldCorpusLines(NOW, WORLD_SEED));
    expect(counted(outcome).refused).toBe(0);
    expect(counted(outcome).accepted).toBeGreaterThan(4_500);
    const { found } = await countsOf(Object.values(SANDBOX_LAUNCHERS));
    expect([...found.values()].map((count) => [count.launches_settled, count.died])).toEqual([
      [3, 3],
      [4, 3],
    ]);
    expect(found.has(SANDBOX_LAUNCHERS.unsettled)).toBe(false);
    const lines = worldCorpusLines(NOW, WORLD_SEED).trim().split('\n');
    const wallets = lines.map((line) => String(/"deployer":"(\w+)"/.exec(line)?.[1]));
    const answers = [...(await countsOf(wallets)).found.values()].map(launchAnswer);
    expect(answers.filter((one) => one === 'flagged').length).toBeGreaterThan(200);
    expect(answers.filter((one) => one === 'record').length).toBeGreaterThan(300);
  });

  test('moves with the clock: a day later more has settled', async () => {
    await importedLaunches(worldCorpusLines(NOW, WORLD_SEED));
    const before = await countsOf([]);
    time = NOW + DAY_S;
    const { outcome } = await importedLaunches(worldCorpusLines(time, WORLD_SEED));
    expect(counted(outcome).refused).toBe(0);
    expect((await countsOf([])).settled_launches).toBeGreaterThan(before.settled_launches);
  });

  test('is the same for the same seed and hour', () => {
    expect(worldLabelsCsv('a')).toBe(worldLabelsCsv('a'));
    expect(worldLabelsCsv('a')).not.toBe(worldLabelsCsv('b'));
    expect(worldCorpusLines(NOW, 'a')).toBe(worldCorpusLines(NOW + 3_599, 'a'));
    expect(worldCorpusLines(NOW, 'a')).not.toBe(worldCorpusLines(NOW + 3_600, 'a'));
  });
});

const LABELS = join(SHARED_DATA, 'labels');
const NO_DATA = !existsSync(LABELS);

describe.skipIf(NO_DATA)('the shared real label files (or skipped: no shared data)', () => {
  test('the table of 2023 imports as it is', async () => {
    const path = join(LABELS, 'exchange-wallets-ethereum-bsc-2023.mit.csv');
    const { outcome } = await importedLabels(path, 'wallets-2023');
    expect(counted(outcome)).toEqual({ accepted: 469, refused: 0, by: {} });
    const binance = '0x28c6c06298d514db089934071355e5743bf21d60';
    expect((await labelsOf([binance])).found.get(binance)).toMatchObject([
      { chain: 'ethereum', entity: 'Binance', label: 'Binance 14', role: 'other' },
    ]);
  });

  test('of the table of 2026 only addresses of a kind unknown here are refused', async () => {
    const path = join(LABELS, 'exchange-wallets-multichain-2026.isc.csv');
    const { outcome, refused } = await importedLabels(path, 'wallets-2026');
    const by = { bad_address: 429, duplicate: 2 };
    expect(counted(outcome)).toEqual({ accepted: 2_607, refused: 431, by });
    const lines = (await readFile(path, 'utf8')).split('\n');
    const served = ['ethereum', 'arbitrum', 'base', 'bsc', 'polygon', 'solana', 'bitcoin', 'tron'];
    const odd = refused.filter(({ line, code }) => {
      const chain = String(lines[line - 1]?.split(',')[1]);
      return served.includes(chain) && code !== 'duplicate';
    });
    expect(odd).toEqual([]);
  });

  test('of each TagPack the tags of exchanges become labels, and no others', async () => {
    const packs = (await readdir(join(LABELS, 'tagpacks'))).sort();
    const ends: { [pack: string]: unknown } = {};
    for (const pack of packs) {
      const { outcome } = await importedLabels(join(LABELS, 'tagpacks', pack), pack);
      const by = 'refused' in outcome ? Object.fromEntries(outcome.refused) : {};
      const accepted = outcome.outcome === 'completed' ? outcome.record.rows_accepted : 0;
      ends[pack.replace(/^exchange-wallets-|\.yaml$/g, '')] = { accepted, ...by };
    }
    expect(ends).toEqual({
      binance: { accepted: 39, bad_address: 25, duplicate: 22 },
      bitfinexcom: { accepted: 45, bad_address: 85, chain_not_told_apart: 3, duplicate: 2 },
      bybit: { accepted: 8 },
      cryptocom: { accepted: 10 },
      deribit: { accepted: 18 },
      'etherscan-wordcloud-exchange': { accepted: 384, missing_field: 259, duplicate: 3 },
      hacks: { accepted: 403, not_an_exchange: 205 },
      huobi: { accepted: 30, bad_address: 15, chain_not_told_apart: 1, duplicate: 12 },
      'interpol-real_services': { accepted: 1, not_an_exchange: 9 },
      kucoin: { accepted: 26, bad_address: 11, duplicate: 22 },
      lazarus: { accepted: 0, not_an_exchange: 21 },
      okx: { accepted: 36 },
      ronin_bridge: { accepted: 0, not_an_exchange: 6 },
      swissborg: { accepted: 14 },
      tornado_cash: { accepted: 0, not_an_exchange: 39 },
      usdt_blacklist: { accepted: 0, not_an_exchange: 774 },
    });
    const bitfinex = '0x77134cbc06cb00b66f4c7e623d5fdbf6777635ec';
    expect((await labelsOf([bitfinex])).found.get(bitfinex)?.[0]).toMatchObject({
      chain: 'ethereum',
      entity: 'bitfinex',
      label: 'bitfinex ETH/ERC20 hot wallet',
      role: 'hot',
      confidence: 'service_data',
      clusterable: false,
      source: 'exchange-wallets-bitfinexcom.yaml',
      source_url: 'https://github.com/bitfinexcom/pub/blob/main/wallets.txt',
      first_seen: '2022-12-12',
    });
  });
});
