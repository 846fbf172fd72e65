import { expect, test } from 'vitest';
import type { WatchedList } from '../stores/snapshots/sanctions.ts';
import { listGauges } from './list-gauges.ts';

const NOW = Date.UTC(2026, 10, 21) / 1_000;
const WATCHED: WatchedList = {
  now: NOW,
  refusals: 2,
  superseded: {
    published: '2026-11-20',
    source_url: 'https://publisher.example',
    code: 'unknown_root',
    since: NOW - 90,
  },
  publication: {
    id: 1,
    published: '2026-11-19',
    sha256: '1'.repeat(64),
    format: 'sdn_xml',
    source_key: 'a',
    source_url: 'https://publisher.example',
    reader_version: 1,
    distinct_addresses: 1,
    parties: 1,
    record_count: 1,
    unparsed: 0,
    accepted_at: NOW - 7_200,
    accepted_why: null,
    checked_at: NOW - 3_600,
    checked_by: 'asked',
  },
};
const values = (watched: WatchedList | null) =>
  listGauges({ watched: () => watched }).map(({ name, value }) => [name, value()]);

test('alarms are made of the age of the check and of the publication, and of what was refused', () => {
  expect(values(WATCHED)).toEqual([
    ['exhibit_sanctions_list_age_seconds', 3_600],
    ['exhibit_sanctions_publication_age_seconds', 172_800],
    ['exhibit_sanctions_superseded_seconds', 90],
    ['exhibit_sanctions_refused_files', 2],
  ]);
  expect(values({ ...WATCHED, superseded: null })[2]?.[1]).toBe(0);
});

test('while no list is loaded nothing is measured, which is not zero', () => {
  expect(values(null).map(([, value]) => value)).toEqual([null, null, null, null]);
});
