// The start text tells by chain how far the ring is, and says of one that is not told yet that it
// is not: neither waits for a build.

import { expect, test } from 'vitest';
import { parseConfig } from '../config.ts';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { RingKeeping } from '../ports/history.ts';
import { STILL_NOW } from '../testing/clock.ts';
import { announceLive } from './announce.ts';

const SOURCE = {
  name: 'W',
  url: 'urn:w',
  as_of: STILL_NOW,
  kind: 'table',
  simulated: false,
} as const;
const LIST_READ = {
  facts: { title: 'Sanctions list', tag: 'sanctions_list', says: '', pages: false },
  age: async () => {
    const none = { as_of: null, published: null, age_s: null, max_age_s: null, reason: null };
    return { ...none, state: 'fresh' as const };
  },
};

async function linesAfter(reach: RingKeeping['reach']): Promise<readonly string[]> {
  const parsed = parseConfig({}, { cwd: '/' });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const parts = { sources: [LIST_READ], ringReach: reach };
  const lines = await announceLive(parsed.config, parts, 'http://127.0.0.1:8080');
  const at = lines.indexOf('busy address out is not checked:');
  expect(at).toBeGreaterThan(0);
  return lines.slice(at + 1, lines.indexOf('', at));
}

test('each chain has a line with its state', async () => {
  const chains = [
    { chain: 'ethereum', state: 'half', listed: 90, held_in_full: 31 },
    { chain: 'base', state: 'absent', listed: 90, held_in_full: 0 },
    { chain: 'bsc', state: 'whole', listed: 90, held_in_full: 90 },
  ] as const;
  const told = read(chains, { port: 'raw_ring', source: SOURCE });
  expect(await linesAfter(async () => told)).toEqual([
    '  ethereum  half: 31 of 90',
    '  base      absent: 0 of 90',
    '  bsc       whole: 90 of 90',
  ]);
});

test('a ring that is not told has the reason, and no chain is called whole', async () => {
  const silent = unread('raw_ring', why('list_never_loaded', { detail: '' }));
  const [line, ...more] = await linesAfter(async () => silent);
  expect(line).toMatch(/^ {2}not told yet: No sanctions list has been loaded/);
  expect(more).toEqual([]);
});
