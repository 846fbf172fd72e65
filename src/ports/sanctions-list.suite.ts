// The guarantees of every sanctions list, whatever holds it. Each adapter's test runs them.

import { afterEach, describe, expect, test } from 'vitest';
import { matchKey } from '../chain/address.ts';
import { DAY_S } from '../chain/time.ts';
import { basis, decide, Part, type Partly, Read, Unread } from '../evidence/reading.ts';
import type { ListEntry, ListLookUp, SanctionsList, SanctionsListPort } from './sanctions.ts';

/** The time of the tests. */
export const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;

/** A publication that the list under test is to hold. */
type SuitePublication = {
  readonly published: string;
  readonly checked_at: number;
  readonly entries: readonly ListEntry[];
};

/** A list under test; the publication named last is in force. */
export type SuiteWorld = {
  readonly publications: readonly SuitePublication[];
  readonly maxAgeS: number | null;
  readonly simulated: boolean;
};

type Made = { readonly list: SanctionsList; readonly close: () => Promise<void> };

const EVM = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const BECH32 = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const SOLANA = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8';
const TRON = 'TUCsTq7TofTCJRRoHk6RVhMoSJ2h5gTXxv';
const MONERO = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZbJ2ZYBZP5QoXF6Xx1B1kK9y8eFXn2BdZ7Yc9cQ';
const ABSENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa';

function entry(address: string, uid: string, currency: string): ListEntry {
  const programs = ['CYBER2'];
  const entity = `PARTY ${uid}`;
  return {
    address,
    currency,
    entity,
    type: 'Entity',
    programs,
    uid,
    remarks: null,
    listed_on: null,
    note: null,
  };
}

const ENTRIES = [
  entry(EVM, '1', 'ETH'),
  entry(EVM.toLowerCase(), '2', 'BSC'),
  entry(BITCOIN, '1', 'XBT'),
  entry(BECH32, '1', 'XBT'),
  entry(SOLANA, '3', 'SOL'),
  // Filed under another network's code, as the publisher does.
  entry(TRON, '3', 'XBT'),
  entry(MONERO, '4', 'A CODE OF TOMORROW'),
];
const FRESH = { published: '2026-11-18', checked_at: NOW - 60, entries: ENTRIES };
const WEEK = { maxAgeS: 7 * DAY_S, simulated: false };

function uids(reading: Partly<ListLookUp, SanctionsListPort>, address: string): string[] {
  const hits = decide(reading, ({ found }) => found.has(matchKey(address)));
  if (!(hits instanceof Read)) throw new Error(`not decided: ${hits.why.reason}`);
  const rows = hits.value.found.get(matchKey(address));
  return rows === undefined ? [] : rows.map(({ uid }) => uid);
}

/** Runs the promises on lists that `make` makes. */
export function sanctionsListKeeps(name: string, make: (world: SuiteWorld) => Promise<Made>): void {
  const open: Made[] = [];
  afterEach(async () => {
    for (const made of open.splice(0)) await made.close();
  });
  const listOf = async (world: SuiteWorld): Promise<SanctionsList> => {
    const made = await make(world);
    open.push(made);
    return made.list;
  };
  const now = (
    publications: readonly SuitePublication[],
    rules: Omit<SuiteWorld, 'publications'>,
  ) => listOf({ publications, ...rules });

  describe(`${name}: what is listed`, () => {
    test('every form is found by its letters, over every code, with all its entries', async () => {
      const reading = await (await now([FRESH], WEEK)).lookUp([EVM, BITCOIN, SOLANA, TRON, MONERO]);
      expect(reading).toBeInstanceOf(Read);
      expect(uids(reading, EVM)).toEqual(['1', '2']);
      expect(uids(reading, BITCOIN)).toEqual(['1']);
      expect(uids(reading, SOLANA)).toEqual(['3']);
      expect(uids(reading, TRON)).toEqual(['3']);
      expect(uids(reading, MONERO)).toEqual(['4']);
    });

    test('case means nothing for EVM and all-upper bech32, and everything elsewhere', async () => {
      const list = await now([FRESH], WEEK);
      for (const spelling of [EVM.toLowerCase(), `0x${EVM.slice(2).toUpperCase()}`]) {
        expect(uids(await list.lookUp([spelling]), spelling)).toEqual(['1', '2']);
      }
      expect(uids(await list.lookUp([BECH32.toUpperCase()]), BECH32)).toEqual(['1']);
      const mixed = `BC1${BECH32.slice(3)}`;
      for (const other of [
        mixed,
        BITCOIN.toLowerCase(),
        SOLANA.toLowerCase(),
        TRON.toLowerCase(),
      ]) {
        expect(uids(await list.lookUp([other]), other)).toEqual([]);
      }
    });

    test('a batch keeps its members apart, whatever its order', async () => {
      const list = await now([FRESH], WEEK);
      for (const batch of [
        [ABSENT, EVM, SOLANA],
        [SOLANA, ABSENT, EVM],
        [EVM, SOLANA, ABSENT, EVM],
      ]) {
        const reading = await list.lookUp(batch);
        expect(uids(reading, ABSENT)).toEqual([]);
        expect(uids(reading, EVM)).toEqual(['1', '2']);
        expect(uids(reading, SOLANA)).toEqual(['3']);
      }
    });

    test('says of when it is and how many distinct addresses it holds', async () => {
      const reading = await (await now([FRESH], WEEK)).lookUp([ABSENT]);
      if (!(reading instanceof Read)) throw new Error('not read');
      const { list } = reading.value;
      expect(list).toMatchObject({ name: 'OFAC SDN List', published: '2026-11-18' });
      expect(list).toMatchObject({ addresses: ENTRIES.length, as_of: NOW - 60, age_notes: [] });
      expect(list.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(basis(reading).sources).toEqual([
        {
          name: 'OFAC SDN List',
          url: list.source,
          as_of: NOW - 60,
          kind: 'observation',
          simulated: false,
        },
      ]);
    });

    test('a simulated list says so in its source', async () => {
      const reading = await (await now([FRESH], { ...WEEK, simulated: true })).lookUp([EVM]);
      expect(basis(reading).sources[0]?.simulated).toBe(true);
    });
  });

  describe(`${name}: age`, () => {
    const old = { published: '2026-11-01', checked_at: NOW - 8 * DAY_S, entries: ENTRIES };

    test('past its maximum age it convicts and does not acquit', async () => {
      const list = await now([old], WEEK);
      const reading = await list.lookUp([EVM, ABSENT]);
      expect(reading).toBeInstanceOf(Part);
      expect(uids(reading, EVM)).toEqual(['1', '2']);
      expect(() => uids(reading, ABSENT)).toThrow('last checked 8 days ago; past 7 days');
    });

    test('with the limit lifted it acquits too, and says that it is lifted', async () => {
      const reading = await (await now([old], { ...WEEK, maxAgeS: null })).lookUp([ABSENT]);
      if (!(reading instanceof Read)) throw new Error('not read');
      expect(reading.value.list.age_notes).toEqual([
        'The list was last checked against its publisher 8 days ago.',
        'The age limit of the list is lifted on this deployment.',
      ]);
    });
  });

  describe(`${name}: never loaded`, () => {
    test('nothing is said of any address, now or on a past day', async () => {
      const list = await now([], WEEK);
      for (const reading of [await list.lookUp([EVM]), await list.lookUpOn('2026-11-01', [EVM])]) {
        expect(reading).toBeInstanceOf(Unread);
        expect(reading instanceof Unread && reading.why.code).toBe('list_never_loaded');
      }
    });
  });

  describe(`${name}: on a past day`, () => {
    const held = [
      { published: '2026-09-01', checked_at: day('2026-09-20'), entries: [entry(EVM, '1', 'ETH')] },
      { published: '2026-10-01', checked_at: day('2026-10-05'), entries: ENTRIES },
      { published: '2026-11-18', checked_at: NOW - 60, entries: [entry(BITCOIN, '1', 'XBT')] },
    ];
    const answered: readonly [on: string, published: string, evm: string[], bitcoin: string[]][] = [
      ['2026-09-01', '2026-09-01', ['1'], []],
      // The check of the 20th was made in the morning: that day was not over anywhere.
      ['2026-09-19', '2026-09-01', ['1'], []],
      ['2026-10-01', '2026-10-01', ['1', '2'], ['1']],
      ['2026-10-04', '2026-10-01', ['1', '2'], ['1']],
      ['2026-11-18', '2026-11-18', [], ['1']],
      ['2026-11-20', '2026-11-18', [], ['1']],
    ];
    test.each(answered)(
      '%s is answered by the publication of %s',
      async (on, published, evm, bitcoin) => {
        const reading = await (await now(held, WEEK)).lookUpOn(on, [EVM, BITCOIN]);
        if (!(reading instanceof Read)) throw new Error('not read');
        expect(reading.value.list.published).toBe(published);
        expect(uids(reading, EVM)).toEqual(evm);
        expect(uids(reading, BITCOIN)).toEqual(bitcoin);
      },
    );

    const silent: readonly [on: string, words: string][] = [
      ['2026-08-31', 'Before it: none; after: the publication of 2026-09-01.'],
      [
        '2026-09-20',
        'Before it: the publication of 2026-09-01; after: the publication of 2026-10-01.',
      ],
      [
        '2026-10-05',
        'Before it: the publication of 2026-10-01; after: the publication of 2026-11-18.',
      ],
      ['2026-11-21', 'Before it: the publication of 2026-11-18; after: none.'],
    ];
    test.each(silent)('%s is covered by no check: both neighbours are named', async (on, words) => {
      const reading = await (await now(held, WEEK)).lookUpOn(on, [ABSENT]);
      expect(reading).toBeInstanceOf(Unread);
      expect(reading instanceof Unread && reading.why).toEqual({
        code: 'list_date_not_covered',
        reason: `No held publication is known newest on ${on}. ${words}`,
      });
    });

    test('a listing in both neighbours is said in the reason, in one it is not', async () => {
      const list = await now(held, WEEK);
      const both = await list.lookUpOn('2026-09-25', [EVM.toLowerCase()]);
      expect(both instanceof Unread && both.why.reason).toContain(`Listed in both: ${EVM}.`);
      const one = await list.lookUpOn('2026-10-10', [EVM]);
      expect(one instanceof Unread && one.why.reason).not.toContain('Listed in both');
    });

    test('the age of today says nothing of a past day', async () => {
      const [first] = held;
      if (first === undefined) throw new Error('no publication');
      const reading = await (await now([first], WEEK)).lookUpOn('2026-09-10', [ABSENT]);
      expect(reading).toBeInstanceOf(Read);
      expect(uids(reading, ABSENT)).toEqual([]);
    });
  });
}

function day(text: string): number {
  return Date.parse(`${text}T09:00:00Z`) / 1_000;
}
