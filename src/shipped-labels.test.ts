// The exchange-wallet table that comes with the product: what answers from it, and until when.

import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { NOBODY } from './contract/route.ts';
import { Read, Unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { walletCexHandler } from './features/exchanges/wallet-cex.route.ts';
import { bulkWalletScreenHandler } from './features/screening/bulk-wallet-screen.route.ts';
import { shippedLabels } from './features/tables/feature.ts';
import { exchangeLabels, validateShippedLabels } from './features/tables/labels.ts';
import type { ExchangeLabels } from './ports/tables.ts';
import { labelsFile } from './sources/registry/registry-files.ts';
import {
  IMPORTED_AT,
  importInto,
  keptTables,
  serveTable,
  storeOf,
} from './testing/imported-tables.ts';
import { sealRegistry } from './testing/reviewed-files.ts';
import { silentPorts } from './testing/twins/ports.ts';
import { memorySanctionsList } from './testing/twins/sanctions.ts';
import { memoryOtherLists } from './testing/twins/tables.ts';

const TABLE = fileURLToPath(new URL('../registry/exchange-wallets.csv', import.meta.url));
const BINANCE = '0x28c6c06298d514db089934071355e5743bf21d60';
const STRANGER = '0x2222222222222222222222222222222222222223';
const SHIPPED =
  /^Exchange wallet table that comes with the product: 422 rows, reviewed 2026-11-22,/;
const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'it is down' }));

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-shipped-'));
});
afterAll(() => rm(folder, { recursive: true }));
const { empty, database, fallSilent } = keptTables();
beforeEach(async () => {
  await empty(exchangeLabels);
});
const now = () => IMPORTED_AT;
const store = () => storeOf(database(), exchangeLabels, now);

function shipped(path = TABLE): ExchangeLabels {
  return labelsFile(path, { validate: validateShippedLabels, index: exchangeLabels.index });
}

/** The label table as a deployment serves it, with the shipped one behind it. */
function served(path?: string) {
  const unimported = shipped(path);
  return serveTable(exchangeLabels, store(), undefined, { unimported });
}

async function imported(text: string) {
  const path = join(folder, 'labels.csv');
  await writeFile(path, text);
  return (await importInto(exchangeLabels, store(), { path }, { now })).outcome.outcome;
}

const CONTEXT = { now, signal: new AbortController().signal };

async function bulk(labels: ExchangeLabels, addresses: readonly string[]) {
  const handler = bulkWalletScreenHandler({
    sanctionsList: memorySanctionsList({
      publications: [{ published: '2026-11-20', checked_at: IMPORTED_AT, entries: [] }],
      maxAgeS: null,
      simulated: false,
      now,
    }),
    exchangeLabels: labels,
    launchCorpus: SILENT.launchCorpus,
    otherLists: memoryOtherLists({ names: [], entries: null, as_of: 0, simulated: false }),
  });
  const input = { params: {}, query: {}, body: { addresses: [...addresses] } };
  const answer = await handler(input, CONTEXT, NOBODY);
  return answer instanceof Refusal ? answer : answer.envelope(IMPORTED_AT);
}

async function cex(labels: ExchangeLabels, address: string) {
  const handler = walletCexHandler({ ...SILENT, exchangeLabels: labels });
  const answer = await handler(
    { params: { address }, query: {}, body: undefined },
    CONTEXT,
    NOBODY,
  );
  return answer instanceof Refusal ? answer : answer.envelope(IMPORTED_AT);
}

test('a fresh store answers a shipped wallet, and a miss as one of that table', async () => {
  const labels = served();
  await labels.poll();
  const sources = expect.arrayContaining([
    expect.objectContaining({
      name: expect.stringMatching(SHIPPED),
      as_of: Date.UTC(2022, 10, 15) / 1_000,
    }),
  ]);
  expect(await bulk(labels, [BINANCE, STRANGER])).toMatchObject({
    sources,
    data: {
      results: [
        { state: 'ok', exchange: { entity: 'Binance', confidence: 'service_data' } },
        { state: 'insufficient_evidence', exchange: null, checked: { exchange_table: true } },
      ],
    },
  });
  expect(await cex(labels, BINANCE)).toMatchObject({
    state: 'ok',
    sources,
    data: { direct: { entity: 'Binance', source_url: expect.stringContaining('binance.com') } },
  });
  const miss = await cex(labels, STRANGER);
  expect(miss).toMatchObject({ state: 'insufficient_evidence', sources });
  expect(JSON.stringify(miss)).toContain('422');
});

test('an import replaces it whole, and an import that failed replaces nothing', async () => {
  const labels = served();
  expect(await imported('address,entity\nnonsense,Exemplar\n')).toBe('no_row_accepted');
  await labels.poll();
  expect(await cex(labels, BINANCE)).toMatchObject({ state: 'ok' });
  expect(await imported(`address,entity\n${STRANGER},Exemplar\n`)).toBe('completed');
  await labels.poll();
  const answer = await bulk(labels, [BINANCE, STRANGER]);
  expect(answer).toMatchObject({
    data: { results: [{ exchange: null }, { exchange: { entity: 'Exemplar' } }] },
  });
  expect(JSON.stringify(answer)).not.toContain('comes with the product');
  expect(await cex(labels, BINANCE)).toMatchObject({ state: 'insufficient_evidence' });
});

test('a store that never answered lets it say nothing; one that fell silent takes nothing away', async () => {
  const labels = served();
  fallSilent(true);
  await labels.poll();
  expect(await labels.lookUp([BINANCE])).toMatchObject({ why: { code: 'store_unreadable' } });
  fallSilent(false);
  await labels.poll();
  fallSilent(true);
  await labels.poll();
  expect(await labels.lookUp([BINANCE])).toBeInstanceOf(Read);
});

test.each([
  ['one row is wrong', (text: string) => text.replace(',ethereum', ',').replace('ethereum,', ',')],
  ['it holds no row', (text: string) => text.slice(0, text.indexOf('\n') + 1)],
  [
    'the end is cut off after a row',
    (text: string) => text.slice(0, text.trimEnd().lastIndexOf('\n') + 1),
  ],
  ['it is another table', (text: string) => text.replace('chain,address', 'address,chain')],
])('a file of which %s is not used at all', async (_, change) => {
  const path = join(folder, 'changed.csv');
  await copyFile(TABLE, path);
  sealRegistry(folder);
  expect(await shipped(path).lookUp([])).toBeInstanceOf(Read);
  await writeFile(path, change(await readFile(path, 'utf8')));
  const reading = await shipped(path).lookUp([BINANCE]);
  expect(reading).toBeInstanceOf(Unread);
  expect(reading).toMatchObject({ why: { code: 'store_unreadable' } });
  expect(await bulk(served(path), [STRANGER])).toMatchObject({
    data: { results: [{ exchange: null, checked: { exchange_table: false } }] },
  });
});

test('a missing file is told, and nothing answers', async () => {
  const reading = await shipped(join(folder, 'none.csv')).lookUp([]);
  expect(reading).toMatchObject({ why: { code: 'store_unreadable' } });
});

test('a deployment answers from it, but never beside made-up data', async () => {
  expect(await shippedLabels(false)?.lookUp([BINANCE])).toBeInstanceOf(Read);
  const labels = serveTable(exchangeLabels, store(), undefined, {
    unimported: shippedLabels(true),
  });
  await labels.poll();
  expect(await labels.lookUp([BINANCE])).toMatchObject({ why: { code: 'table_never_imported' } });
});
