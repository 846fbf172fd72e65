// A file that lost a part and was closed again is refused: parties, entries and address features
// are cut out of a made list and out of the publisher's own issues, where those are at hand.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  absoluteGate,
  BASELINE,
  relativeGate,
  SHARES,
} from './features/sanctions/publication-gate.ts';
import {
  countAddresses,
  type Document,
  isRefusal,
  ListRefused,
  type PublicationRefusal,
} from './sources/ofac/publication.ts';
import {
  CONTAINER_LIMITS,
  readDocument,
  readPublication,
} from './sources/ofac/read-publication.ts';
import { diffPublications } from './stores/control/publications.ts';
import { HAS_ISSUES, OFAC, readIssue, unpackIssue } from './testing/real-lists.ts';
import { sdnAdvancedXml, sdnXml, type WorldParty } from './world/sdn-publication.ts';

const CHUNK_BYTES = 64 * 1024;

async function readParts(parts: readonly Uint8Array[]): Promise<Document | PublicationRefusal> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const part of parts) {
      for (let at = 0; at < part.byteLength; at += CHUNK_BYTES) {
        yield part.subarray(at, at + CHUNK_BYTES);
      }
    }
  }
  try {
    return await readDocument(chunks());
  } catch (error) {
    if (error instanceof ListRefused) return error.refusal;
    throw error;
  }
}

type Element = {
  readonly opens: string;
  readonly closes: string;
  readonly counts: (start: string) => boolean;
};
const START_CHARS = 100;

/** A file without a share of its elements, evenly spread: what is left, and how many went. */
function without(
  whole: Buffer,
  { opens, closes, counts }: Element,
  share: number,
): { readonly parts: readonly Uint8Array[]; readonly cut: number } {
  const parts: Uint8Array[] = [];
  let from = 0;
  let cut = 0;
  let seen = 0;
  for (let at = whole.indexOf(opens); at >= 0; at = whole.indexOf(opens, at + 1)) {
    if (!counts(whole.toString('latin1', at, at + START_CHARS))) continue;
    seen += 1;
    if (Math.floor(seen * share) === Math.floor((seen - 1) * share)) continue;
    parts.push(whole.subarray(from, at));
    from = whole.indexOf(closes, at) + closes.length;
    cut += 1;
  }
  parts.push(whole.subarray(from));
  return { parts, cut };
}

const ANY = () => true;
const PARTY: Element = { opens: '<DistinctParty ', closes: '</DistinctParty>', counts: ANY };
const ENTRY: Element = { opens: '<SanctionsEntry ', closes: '</SanctionsEntry>', counts: ANY };
const LEGACY_ENTRY: Element = { opens: '<sdnEntry>', closes: '</sdnEntry>', counts: ANY };
const LEGACY_ADDRESS: Element = { opens: '<id>', closes: '</id>', counts: ANY };

/** The features of an advanced file that are addresses, by its own table. */
function addressFeature(whole: Buffer): Element {
  const tables = whole.toString('utf8', 0, whole.indexOf('<DistinctParties>'));
  const rows = tables.matchAll(/FeatureType ID="(\d+)"[^>]*>Digital Currency Address/g);
  const ids = new Set([...rows].map(([, id]) => id));
  const counts = (start: string) => ids.has(/FeatureTypeID="(\d+)"/.exec(start)?.[1]);
  return { opens: '<Feature ', closes: '</Feature>', counts };
}

function weighed(document: Document | PublicationRefusal) {
  if (isRefusal(document)) throw new Error(document.reason);
  return { ...document, ...countAddresses(document.addresses) };
}

const SHARES_CUT = [0.01, 0.1, 0.25, 0.49];

const made: WorldParty[] = Array.from({ length: 400 }, (_, at) => ({
  uid: String(1000 + at),
  type: 'Entity',
  name: { last: `MADE UP ${at}` },
  programs: ['CYBER2'],
  addresses:
    at % 2 === 0 ? [] : [{ currency: at % 3 === 0 ? 'ETH' : 'XBT', address: `made-${at}` }],
}));
const advanced = Buffer.from(sdnAdvancedXml({ published: '2026-10-07', parties: made }));
const legacy = Buffer.from(sdnXml({ published: '2026-10-07', parties: made }));

describe('a made list', () => {
  test.each(SHARES_CUT)('without %d of its parties or of its entries is refused', async (share) => {
    for (const element of [PARTY, ENTRY]) {
      const { parts, cut } = without(advanced, element, share);
      expect(cut).toBe(400 * share);
      expect(await readParts(parts)).toMatchObject({ refused: true, code: 'dangling_reference' });
    }
    const { parts } = without(legacy, LEGACY_ENTRY, share);
    expect(await readParts(parts)).toMatchObject({ refused: true, code: 'record_count_mismatch' });
  });

  test('without the same parties and entries is refused by size, from a tenth on', async () => {
    const whole = weighed(await readParts([advanced]));
    const { parts } = without(advanced, PARTY, 0.11);
    const both = without(Buffer.concat(parts), ENTRY, 0.11);
    const left = weighed(await readParts(both.parts));
    expect(left.parties).toBe(356);
    const outcome = relativeGate(left, whole, BASELINE, SHARES);
    expect(outcome).toMatchObject({ code: 'too_few_parties' });
  });

  test.each([0.25, 0.49])('without %d of its addresses is refused by size', async (share) => {
    for (const [whole, element] of [
      [advanced, addressFeature(advanced)],
      [legacy, LEGACY_ADDRESS],
    ] as const) {
      const { parts, cut } = without(whole, element, share);
      expect(cut).toBe(200 * share);
      const before = weighed(await readParts([whole]));
      const outcome = relativeGate(weighed(await readParts(parts)), before, BASELINE, SHARES);
      expect(outcome).toMatchObject({ code: 'too_few_addresses' });
    }
  });
});

const referenceRow = z.object({
  profile_id: z.string(),
  entity: z.string(),
  programs: z.string(),
  entry_date: z.string(),
  asset: z.string(),
  address: z.string(),
});

function reference(day: string): string[] {
  const text = readFileSync(join(OFAC, day, 'reference_addresses.csv'), 'utf8');
  const rows = z.array(referenceRow).parse(parse(text, { columns: true }));
  return rows
    .map((row) => [
      row.profile_id,
      row.entity,
      row.programs,
      row.entry_date,
      row.asset,
      row.address,
    ])
    .map((row) => row.join(' | '))
    .sort();
}

/**
 * An issue without what no address needs: places, documents, ties, and features that are no
 * address. Every party, entry and address is there, and it is read in a fraction of the time.
 */
function slimmed(whole: Buffer): Buffer {
  const { counts } = addressFeature(whole);
  const text = whole
    .toString('latin1')
    .replace(/(<(Locations|IDRegDocuments|ProfileRelationships)>).*?(<\/\2>)/gs, '$1$3')
    .replace(/<Feature .*?<\/Feature>/gs, (feature) => (counts(feature) ? feature : ''))
    .replace(/>\s+</g, '><');
  return Buffer.from(text, 'latin1');
}

const ISSUES = 'the publisher’s issues (or skipped: no shared data)';
describe.skipIf(!HAS_ISSUES)(ISSUES, { timeout: 300_000 }, () => {
  test('list exactly the reference rows; one adds 65 to the other and removes none', async () => {
    const earlier = await readIssue('2024-05-29');
    const later = await readIssue('2025-03-04');
    expect(earlier).toMatchObject({ published: '2024-05-28', distinct_addresses: 636 });
    expect(later).toMatchObject({
      format: 'sdn_advanced_xml',
      published: '2025-03-04',
      record_count: 17_635,
      parties: 17_635,
      distinct_addresses: 701,
      bytes: 4_803_416,
    });
    for (const [day, issue, count] of [
      ['2024-05-29', earlier, 652],
      ['2025-03-04', later, 717],
    ] as const) {
      expect(issue.addresses).toHaveLength(count);
      const rows = issue.addresses.map(({ uid, entity, programs, listed_on, currency, address }) =>
        [uid, entity, String(programs?.join(';')), listed_on, currency, address].join(' | '),
      );
      expect(rows.sort()).toEqual(reference(day));
      expect(absoluteGate(issue, { floor: 500 })).toBeNull();
    }
    expect(relativeGate(later, earlier, BASELINE, SHARES)).toBeNull();
    expect(relativeGate(earlier, later, BASELINE, SHARES)?.code).toBe('older_publication');
    const there = diffPublications(earlier, later);
    const back = diffPublications(later, earlier);
    expect([there.added.length, there.removed.length, there.moved.length]).toEqual([65, 0, 0]);
    expect([back.added.length, back.removed.length, back.moved.length]).toEqual([0, 65, 0]);
    expect(back.removed).toEqual(there.added);
  });

  const issue = HAS_ISSUES ? slimmed(unpackIssue('2025-03-04')) : Buffer.of();

  test('are the same without what no address needs', async () => {
    const { addresses, ...rest } = weighed(await readParts([issue]));
    expect(rest).toMatchObject({ published: '2025-03-04', parties: 17_635, record_count: 17_635 });
    expect(addresses).toEqual((await readIssue('2025-03-04')).addresses);
  });

  test('are refused without 1, 10, 25 or 49% of the parties or of the entries', async () => {
    for (const share of SHARES_CUT) {
      for (const [element, count] of [
        [PARTY, 17_635],
        [ENTRY, 17_789],
      ] as const) {
        const { parts, cut } = without(issue, element, share);
        expect(cut).toBe(Math.floor(count * share));
        expect(await readParts(parts)).toMatchObject({ refused: true, code: 'dangling_reference' });
      }
    }
  });

  test('are refused by size without 25 or 49% of the addresses, not without 10%', async () => {
    const feature = addressFeature(issue);
    const last = { published: '2025-03-04', distinct_addresses: 701, parties: 17_635 };
    for (const [share, code] of [
      [0.1, undefined],
      [0.25, 'too_few_addresses'],
      [0.49, 'too_few_addresses'],
    ] as const) {
      const { parts, cut } = without(issue, feature, share);
      expect(cut).toBe(Math.floor(717 * share));
      const left = weighed(await readParts(parts));
      expect(relativeGate(left, last, BASELINE, SHARES)?.code).toBe(code);
    }
  });

  test('the cut delimited file of 2024 is refused by name', async () => {
    const path = join(OFAC, 'legacy-csv/sdn_2024-02-27_69f6ce8.csv.gz');
    const options = { isKnownForm: () => true, limits: CONTAINER_LIMITS };
    expect(await readPublication(path, options)).toMatchObject({ code: 'delimited_file' });
  });
});
