// The imported tables from a file on disk to the port that answers: real readers, real rules, a
// real store, on the simulated world's files and on the shared real data.

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { NOBODY } from './contract/route.ts';
import { Read } from './evidence/reading.ts';
import { bulkWalletScreenHandler } from './features/screening/bulk-wallet-screen.route.ts';
import { exchangeLabels } from './features/tables/labels.ts';
import { launchAnswer, launchCorpus } from './features/tables/launches.ts';
import { otherLists } from './features/tables/other-lists.ts';
import type { ImportOutcome } from './ports/tables.ts';
import type { Database } from './stores/control/engine/database.ts';
import { importInto, keptTables, serveTable, storeOf } from './testing/imported-tables.ts';
import { SHARED_DATA } from './testing/shared-data.ts';
import { memorySanctionsList } from './testing/twins/sanctions.ts';
import { SANDBOX_LAUNCHERS, worldCorpusLines } from './world/corpus.ts';
import { SANDBOX_LABELLED, worldLabelsCsv } from './world/labels.ts';
import { WORLD_SEED } from './world/listed-parties.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const DAY_S = 86_400;

let time = NOW;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-test-tables-'));
});
afterAll(() => rm(folder, { recursive: true }));
const { empty, database } = keptTables();
beforeEach(async () => {
  time = NOW;
  await empty(exchangeLabels);
});

const now = () => time;
async function importedLabels(path: string, source: string) {
  return importInto(
    exchangeLabels,
    storeOf(database(), exchangeLabels, now),
    { path, source },
    { now },
  );
}

async function importedLaunches(text: string) {
  const path = join(folder, 'launches.jsonl');
  await writeFile(path, text);
  const order = { path, source: 'world', origin: 'simulated' } as const;
  return importInto(launchCorpus, storeOf(database(), launchCorpus, now), order, { now });
}

function servedLabels(database: Database) {
  return serveTable(exchangeLabels, storeOf(database, exchangeLabels, now));
}

function servedLaunches(database: Database) {
  return serveTable(launchCorpus, storeOf(database, launchCorpus, now));
}

async function labelsOf(addresses: readonly string[]) {
  const table = servedLabels(database());
  await table.poll();
  const reading = await table.lookUp(addresses);
  if (!(reading instanceof Read)) throw new Error(reading.why.reason);
  return reading.value;
}

async function countsOf(wallets: readonly string[]) {
  const table = servedLaunches(database());
  await table.poll();
  const reading = await table.lookUp(wallets);
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
  const table = storeOf(database(), exchangeLabels, now);
  const facts = { source: 'world', source_url: null, origin: 'observed', started_at: NOW } as const;
  const begun = await table.begin(facts);
  if (!(begun instanceof Read)) throw new Error('not begun');
  await database().query(
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
  expect(await database().query('select 1 from exchange_labels')).toHaveLength(503);
});

test('a bulk screen of loaded tables opens no connection and asks no store', async () => {
  const path = join(folder, 'labels.csv');
  await writeFile(path, worldLabelsCsv(WORLD_SEED));
  await importedLabels(path, 'world');
  await importedLaunches(worldCorpusLines(NOW, WORLD_SEED));
  const asked: string[] = [];
  const watched = watchedDatabase(asked);
  const labels = servedLabels(watched);
  const corpus = servedLaunches(watched);
  const others = serveTable(otherLists, storeOf(watched, otherLists, now));
  await Promise.all([labels.poll(), corpus.poll(), others.poll()]);
  const before = asked.length;
  const handler = bulkWalletScreenHandler({
    sanctionsList: memorySanctionsList(LIST),
    exchangeLabels: labels,
    launchCorpus: corpus,
    otherLists: others,
  });
  const { connect } = Socket.prototype;
  Socket.prototype.connect = () => {
    throw new Error('a connection was opened');
  };
  const addresses = [...Object.values(SANDBOX_LABELLED), ...Object.values(SANDBOX_LAUNCHERS)];
  const signal = new AbortController().signal;
  const input = { params: {}, query: {}, body: { addresses } };
  const answer = await handler(input, { now, signal }, NOBODY);
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
    ...database(),
    query: (sql, params) => {
      asked.push(sql);
      return database().query(sql, params);
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
    const by = { bad_address: 430, duplicate: 2 };
    expect(counted(outcome)).toEqual({ accepted: 2_606, refused: 432, by });
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
      'etherscan-wordcloud-exchange': { accepted: 643, duplicate: 3 },
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
