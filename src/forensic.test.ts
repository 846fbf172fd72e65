// Do the kinds of finding find what published data holds?
// The Forta data sets through the importer, and the project's own registry of mixers.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Read } from './evidence/reading.ts';
import { flaggedAddresses as flaggedTable } from './features/tables/flagged-rows.ts';
import type { FlaggedAddresses } from './ports/rug-flags.ts';
import { mixerRegistryFile, mixerRows } from './sources/registry/registry-files.ts';
import { evm } from './testing/addresses.ts';
import { findingOf, scoreAddress } from './testing/finding-suite.ts';
import { forensicPorts } from './testing/forensic-ports.ts';
import { importInto, keptTables, serveTable } from './testing/imported-tables.ts';
import { SHARED_DATA } from './testing/shared-data.ts';
import { memoryTransfer } from './testing/twins/history.ts';
import { listedEntry } from './testing/walked-world.ts';
import { SANDBOX_PARTY } from './world/listed-parties.ts';

const SUBJECT = evm('subject');
const REGISTRY = join(import.meta.dirname, '../registry/mixers.csv');

/** Pools of Ethereum on the published list that the protocol's own documentation leaves out. */
const EARLIER_POOLS = [
  '0xf60dd140cff0706bae9cd734ac3ae76ad9ebc32a',
  '0xd691f27f38b395864ea86cfc7253969b409c362d',
  '0xf67721a2d8f736e75a49fdd7fad2e31d8676542a',
  '0x9ad122c22b14202b4490edaf288fdb3c7cb3ff5e',
  '0xba214c1c1928a32bffe790263e38b4af9bfcd659',
  '0xb1c8094b234dce6e03f10a5b673c1d8c69739a00',
  '0xaeaac358560e11f52454d997aaff2c5731b6f8a6',
  '0x1356c899d8c9467c7f71c195612f8a395abf2f0a',
  '0xa60c772958a3ed56c1f15dd055ba37ac8e523a0d',
  '0x94a1b5cdb22c43faab4abeb5c74999895464ddaf',
  '0xb541fc07bc7619fd4062a54d96268525cbc6ffef',
];
const LIST = join(SHARED_DATA, 'ofac/2025-03-04/reference_addresses.csv');

describe('the registry of mixers', () => {
  test('a deposit into a pool of the registry is a contact with its sources', async () => {
    const rows = mixerRows(readFileSync(REGISTRY, 'utf8'));
    const pool = rows.find(({ name }) => name === 'Tornado Cash 1 ETH')?.address ?? '';
    const transfers = [memoryTransfer(9_200_000, SUBJECT, pool)];
    const found = findingOf(
      await scoreAddress(SUBJECT, { mixers: rows, transfers }),
      'mixer_contact',
    );
    expect(found).toMatchObject([{ initiated_by_subject: true, evidence_count: 1 }]);
    expect(found?.[0].statement).toContain('Tornado Cash 1 ETH (Tornado Cash) on ethereum');
    expect(found?.[0].source).toContain('SDN List of 2025-03-04');
  });

  test('what was sent there before the pool stood is none', async () => {
    const rows = mixerRows(readFileSync(REGISTRY, 'utf8'));
    const pool = rows.find(({ name }) => name === 'Tornado Cash 1 ETH')?.address ?? '';
    const transfers = [memoryTransfer(9_117_608, SUBJECT, pool)];
    const found = findingOf(
      await scoreAddress(SUBJECT, { mixers: rows, transfers }),
      'mixer_contact',
    );
    expect(found).toBeNull();
  });

  test.each([
    ['ethereum', '0x905b63fff465b9ffbf41dea908ceb12478ec7601'],
    ['ethereum', '0x722122df12d4e14e13ac3b6895a86e84145b6967'],
    ['ethereum', '0xd90e2f925da726b50c4ed8d0fb90ad053324f31b'],
    ['bsc', '0x0d5550d52428e7e3175bfc9550207e4ad3859b17'],
    ['polygon', '0x0d5550d52428e7e3175bfc9550207e4ad3859b17'],
    ['arbitrum', '0x0d5550d52428e7e3175bfc9550207e4ad3859b17'],
  ])('has the proxy or router of %s at %s', (chain, address) => {
    const rows = mixerRows(readFileSync(REGISTRY, 'utf8'));
    const own = rows.find((one) => one.chain === chain && one.address === address);
    expect(own).toMatchObject({ protocol: 'Tornado Cash', role: 'router' });
  });

  test.skipIf(!existsSync(LIST))('names each listed pool (or skipped: no shared data)', () => {
    const held = new Set(mixerRows(readFileSync(REGISTRY, 'utf8')).map(({ address }) => address));
    const published = readFileSync(LIST, 'utf8').toLowerCase();
    const listed = EARLIER_POOLS.filter((address) => published.includes(address));
    expect(listed).toEqual(EARLIER_POOLS);
    expect(listed.filter((address) => !held.has(address))).toEqual([]);
  });

  test('is a table with its hash and the date of its oldest review', async () => {
    const reading = await mixerRegistryFile(REGISTRY).lookUp([]);
    expect(reading).toBeInstanceOf(Read);
    expect(reading.checked && reading.value.table_rows).toBe(
      mixerRows(readFileSync(REGISTRY, 'utf8')).length,
    );
  });

  test('names two sources for every contract', () => {
    const alone = mixerRows(readFileSync(REGISTRY, 'utf8')).filter(
      ({ second_source }) => second_source === null,
    );
    expect(alone).toEqual([]);
  });
});

async function findsEach(published: readonly string[], entity: string): Promise<void> {
  const entry = { ...listedEntry(''), entity };
  const listed = published.map((address) => ({ ...entry, address }));
  for (const address of published) {
    const found = findingOf(await scoreAddress(address, { listed }), 'listed_itself');
    expect(found?.[0].statement).toContain(entity);
  }
}

describe('every EVM address of one party is found as listed, under that party', () => {
  test('of a made-up list', async () => {
    const published = SANDBOX_PARTY.addresses
      .map(({ address }) => address.toLowerCase())
      .filter((address) => address.startsWith('0x'));
    expect(published.length).toBeGreaterThan(0);
    await findsEach(published, SANDBOX_PARTY.name.last);
  });

  test.skipIf(!existsSync(LIST))('of a published list (or skipped: no shared data)', async () => {
    const rows = readFileSync(LIST, 'utf8').split(/\r?\n/);
    const published = rows.flatMap((row) => {
      const [, address] = /^39796,TORNADO CASH,.*,(0x[0-9a-fA-F]{40})$/.exec(row) ?? [];
      return address === undefined ? [] : [address.toLowerCase()];
    });
    expect(published.length).toBeGreaterThan(80);
    await findsEach(published, 'TORNADO CASH');
  });
});

const DATA = join(SHARED_DATA, 'findings/forta-ethereum');
const { empty } = keptTables();
const DATA_SETS = [
  {
    what: 'recordings of our own making',
    data: join(import.meta.dirname, 'recordings/forta'),
    contract: '0xa5f57c9fb35e15c20e81ab4c8de192ce35026145',
    tag: 'Made-Up Exploiter 1',
    maker: '0xa55fa28f1af59d65ae1e6e505fc8a10dba1ac906',
    made: '0x60dc2dca1de79997cb13db6944495024285fd8944b05b0f73dfa4895441d7e93',
    phisher: '0x3e34fb85e9e94227a7c5e7e7e819fddb5b3b5a44',
  },
  {
    what: 'the Forta data sets (or skipped: no shared data)',
    data: DATA,
    contract: '0x04ae3226c80e8c04d35e6e56089345bdd06da6de',
    tag: 'Multichain Exploiter 10',
    maker: '0x98f5b0a99f258a09403d965647ee9d53677914af',
    made: '0xe962b06db95db1dedb8b1664bf93bb8816c0cfbd187693d2b1ccd295313c94e3',
    phisher: '0x80d7bb18521acbef32d7906502ebe94928690e93',
  },
];

const NAMED = DATA_SETS.map((one) => [one.what, one] as const);

describe.each(NAMED)('%s', (_, { data, contract, tag, maker, made, phisher }) => {
  const absent = !existsSync(data);

  async function imported(...names: readonly string[]): Promise<FlaggedAddresses> {
    const store = await empty(flaggedTable);
    for (const source of names) {
      const { outcome } = await importInto(flaggedTable, store, {
        path: join(data, source),
        source,
      });
      expect(outcome.outcome).toBe('completed');
    }
    const table = serveTable(flaggedTable, store);
    await table.poll();
    return table;
  }

  test.skipIf(absent)(
    'a contract is found as flagged, and its recorded maker as who created it',
    async () => {
      const flaggedAddresses = await imported('malicious_smart_contracts.csv');
      const transfers = [memoryTransfer(1, SUBJECT, contract), memoryTransfer(2, maker, SUBJECT)];
      const ports = { ...forensicPorts({ transfers }), flaggedAddresses };
      const evidence = await scoreAddress(SUBJECT, {}, ports);
      expect(findingOf(evidence, 'flagged_counterparty')?.[0].statement).toContain(
        `“${tag}” (exploit)`,
      );
      expect(findingOf(evidence, 'funded_by_flagged')?.[0].statement).toContain(contract);
      const own = findingOf(await scoreAddress(maker, {}, ports), 'created_flagged_contract');
      expect(own?.[0].evidence).toMatchObject([{ tx: made }]);
      const itself = findingOf(await scoreAddress(contract, {}, ports), 'flagged_itself');
      expect(itself).toHaveLength(1);
    },
  );

  test.skipIf(absent)(
    'phishing addresses and malicious labels are found side by side, source by source',
    async () => {
      const flaggedAddresses = await imported(
        'phishing_scams.csv',
        'etherscan_malicious_labels.csv',
      );
      const ports = { ...forensicPorts({}), flaggedAddresses };
      const found = findingOf(await scoreAddress(phisher, {}, ports), 'flagged_itself');
      expect(found?.some(({ source }) => source === 'etherscan_malicious_labels.csv')).toBe(true);
      const other = findingOf(await scoreAddress(SUBJECT, {}, ports), 'flagged_itself');
      expect(other).toBeNull();
    },
  );
});
