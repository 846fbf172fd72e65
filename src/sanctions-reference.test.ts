import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checksumAddress, matchKey, parseAddress } from './chain/address.ts';
import { collect } from './evidence/measure.ts';
import { decide, Part, Read } from './evidence/reading.ts';
import { publicationGate } from './features/sanctions/publication-gate.ts';
import { said } from './ports/publication-store.suite.ts';
import {
  isListRefusal,
  type ListEntry,
  type PublishedList,
  type SanctionsList,
} from './ports/sanctions.ts';
import { READER_VERSION } from './sources/ofac/publication.ts';
import { sdnReader } from './sources/ofac/read-apart.ts';
import { publicationStore } from './stores/control/publications.ts';
import { sanctionsSnapshot } from './stores/snapshots/sanctions.ts';
import { embeddedControl } from './testing/control-store.ts';
import { HAS_ISSUES, OFAC, readIssue } from './testing/real-lists.ts';
import { WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { sdnAdvancedXml } from './world/sdn-publication.ts';

// The real issue of 2025-03-04 and its addresses as others extracted them.
const REFERENCE = join(OFAC, '2025-03-04/reference_addresses.csv');
const NOW = Date.UTC(2026, 10, 21) / 1_000;
const CHECKED_AT = Date.UTC(2025, 2, 4) / 1_000;
const WEEK_S = 7 * 86_400;
const fresh = embeddedControl();

const reference = z.array(
  z.object({
    profile_id: z.string(),
    entity: z.string(),
    programs: z.string(),
    asset: z.string(),
    address: z.string(),
  }),
);

type Row = z.infer<typeof reference>[number];
type Issue = {
  readonly what: string;
  readonly absent: boolean;
  /** The issue as it is read from its file, and what stands on it. */
  readonly read: () => Promise<PublishedList>;
  readonly rows: () => readonly Row[];
  readonly published: string;
  readonly held: number;
  readonly distinct: number;
  readonly base58Min: number;
};

const publication = worldPublicationAt(CHECKED_AT, WORLD_SEED);
const madeUpRows = publication.parties.flatMap(({ uid, name, programs, addresses }) =>
  addresses.map(({ currency, address }) => ({
    profile_id: uid,
    programs: programs.join(';'),
    asset: currency,
    entity: [name.last, name.first].filter((one) => one !== undefined).join(', '),
    address,
  })),
);

const MADE_UP: Issue = {
  what: 'a list of our own making',
  absent: false,
  read: async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'exhibit-list-')), 'sdn-advanced.xml');
    writeFileSync(file, sdnAdvancedXml(publication));
    const list = await sdnReader()(file, new AbortController().signal);
    if (isListRefusal(list)) throw new Error(list.reason);
    return list;
  },
  rows: () => madeUpRows,
  published: publication.published,
  held: madeUpRows.length,
  distinct: new Set(madeUpRows.map(({ address }) => matchKey(address))).size,
  base58Min: 300,
};

const REAL: Issue = {
  what: 'the real list of 2025-03-04 (or skipped: no shared data)',
  absent: !HAS_ISSUES,
  read: () => readIssue('2025-03-04'),
  rows: () => reference.parse(parse(readFileSync(REFERENCE), { columns: true })),
  published: '2025-03-04',
  held: 717,
  distinct: 701,
  base58Min: 400,
};

describe.each([MADE_UP, REAL].map((one) => [one.what, one] as const))('%s', (_, issue) => {
  const { absent, published, held, distinct, base58Min } = issue;
  const database = fresh();
  let list: SanctionsList;
  let rows: readonly Row[];

  beforeAll(async () => {
    if (absent) return;
    await database.setClock(NOW);
    const read = await issue.read();
    rows = issue.rows();
    const gate = publicationGate(500);
    expect([gate.absolute(read), gate.relative(read, null, NOW)]).toEqual([null, null]);
    const store = publicationStore(database, () => NOW);
    said(
      await store.accept({
        list: read,
        source: { key: 'a', url: 'file:' },
        reader_version: READER_VERSION,
        accepted_at: NOW,
        check: { at: CHECKED_AT, by: 'asked' },
        accepted_why: null,
        instead_of: null,
      }),
    );
    list = await loaded(null);
  }, 120_000);

  async function loaded(maxAgeS: number | null): Promise<SanctionsList> {
    const snapshot = sanctionsSnapshot({
      store: publicationStore(database, () => NOW),
      now: () => NOW,
      ticks: () => 0,
      maxAgeS,
      simulated: false,
      pollMs: 60_000,
      onFault: () => undefined,
      onBug: (error) => {
        throw error;
      },
    });
    await snapshot.poll();
    return snapshot.list;
  }

  async function found(text: string): Promise<readonly ListEntry[]> {
    const reading = await list.lookUp([text]);
    if (!(reading instanceof Read)) throw new Error('not read');
    return [...reading.value.found.values()].flat();
  }

  /** The spellings under which a listed address must be the same hit. */
  function spellings(address: string): string[] {
    const parsed = parseAddress(address);
    if (parsed?.kind === 'evm') {
      return [address, address.toLowerCase(), checksumAddress(parsed.address)];
    }
    return /^(bc1|bnb1|ltc1)/.test(address) ? [address, address.toUpperCase()] : [address];
  }

  test.skipIf(absent)('its distinct addresses are served, with their digest', async () => {
    const reading = await list.lookUp([]);
    if (!(reading instanceof Read)) throw new Error('not read');
    expect(reading.value.list).toMatchObject({ addresses: distinct, published });
    expect(reading.value.list.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(reading.value.list.age_notes.at(-1)).toContain('lifted');
  });

  test.skipIf(absent)(
    'every reference row is a hit in each spelling, with entity and programmes',
    async () => {
      expect(rows).toHaveLength(held);
      const wrong: string[] = [];
      for (const { address, entity, programs, profile_id } of rows) {
        for (const spelling of spellings(address)) {
          const match = (await found(spelling)).find(({ uid }) => uid === profile_id);
          const same =
            match?.entity === entity &&
            sorted(String(match.programs?.join(';'))) === sorted(programs);
          if (!same) wrong.push(`${spelling}: ${JSON.stringify(match)}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test.skipIf(absent)(
    'an address on several entries or under several codes has a match for each',
    async () => {
      const byKey = new Map<string, number[]>();
      for (const [i, { address }] of rows.entries()) collect(byKey, matchKey(address), i);
      for (const { address } of rows) {
        expect(await found(address)).toHaveLength(Number(byKey.get(matchKey(address))?.length));
      }
    },
  );

  test.skipIf(absent)(
    'one character changed, its case changed, cut, lengthened, spaced: no hit',
    async () => {
      const keys = new Set(rows.map(({ address }) => matchKey(address)));
      const wrong: string[] = [];
      for (const { address } of rows) {
        for (const near of nearMisses(address)) {
          // A near miss that happens to be another listed address is a hit, rightly.
          if (keys.has(matchKey(near))) continue;
          if ((await found(near)).length > 0) wrong.push(`${address} as ${near}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test.skipIf(absent)(
    'case is kept apart for every base58 address: folded either way it is no hit',
    async () => {
      const base58 = rows.filter(
        ({ address }) => !/^(0x|bc1|bnb1|ltc1|[qp][0-9a-z]{41}$)/.test(address),
      );
      expect(base58.length).toBeGreaterThan(base58Min);
      for (const { address } of base58) {
        for (const folded of [address.toLowerCase(), address.toUpperCase()]) {
          if (folded !== address) expect(await found(folded)).toEqual([]);
        }
      }
    },
  );

  test.skipIf(absent)(
    'without lifting the age the same file convicts and does not acquit',
    async () => {
      const aged = await loaded(WEEK_S);
      const [{ address = '' } = {}] = rows;
      const reading = await aged.lookUp([address, '0x00000000219ab540356cBB839Cbe05303d7705Fa']);
      expect(reading).toBeInstanceOf(Part);
      expect(decide(reading, (value) => value.found.size === 1)).toBeInstanceOf(Read);
      expect(reading instanceof Part && reading.why.reason).toMatch(/last checked \d+ days ago/);
    },
  );
});

function sorted(programs: string): string {
  return programs.split(';').sort().join(';');
}

/** Texts that look like an address and are not it. */
function nearMisses(address: string): string[] {
  const middle = Math.floor(address.length / 2);
  const other = address.charAt(middle) === '7' ? '8' : '7';
  return [
    address.slice(0, middle) + other + address.slice(middle + 1),
    address.slice(0, -1),
    address.slice(1),
    `${address}1`,
    `1${address}`,
    `${address.slice(0, middle)} ${address.slice(middle)}`,
    `${address.slice(0, middle)}  ${address.slice(middle)}`,
    ` ${address}`,
    `${address}\u00a0`,
    address.replace(/^0x/, '0X').replace(/^(?!0X)/, 'x'),
  ];
}
