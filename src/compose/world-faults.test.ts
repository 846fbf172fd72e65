// A fault that is asked for is set, at the start or while the service runs, and a misspelt one is
// refused: it would pass for a provider that withstood it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { closings } from './closings.ts';
import { FAULTS_FILE, faultyProvider, keepFaults } from './world-faults.ts';

const folders: string[] = [];
const opened = closings(() => undefined);
afterEach(async () => {
  await opened.closeAll();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function world(...worldFaults: { provider: string; fault: string }[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'exhibit-faults-'));
  folders.push(dataDir);
  const faults: { prices?: string | null; venue?: string | null } = {};
  const said: unknown[] = [];
  const log = { info: (one: unknown) => said.push(one), error: (one: unknown) => said.push(one) };
  const providers = {
    prices: faultyProvider(['html', 'stale'], (fault) => {
      faults.prices = fault;
    }),
    venue: faultyProvider(['html'], (fault) => {
      faults.venue = fault;
    }),
  };
  keepFaults({ worldFaults, dataDir }, providers, log, opened);
  const write = (text: string) => writeFileSync(join(dataDir, FAULTS_FILE), text);
  return { faults, said, write };
}

test('those of the configuration are set, and no other provider has one', () => {
  const { faults } = world({ provider: 'prices', fault: 'stale' });
  expect(faults).toEqual({ prices: 'stale', venue: null });
});

test('those of the file are set while the service runs, and lifted by an empty file', async () => {
  const { faults, said, write } = world({ provider: 'prices', fault: 'stale' });
  write('venue:html\n');
  await vi.waitFor(() => expect(faults).toEqual({ prices: null, venue: 'html' }));
  write('\n');
  await vi.waitFor(() => expect(faults).toEqual({ prices: null, venue: null }));
  expect(said).toEqual([{ faults: ['venue:html'] }, { faults: [] }]);
});

test('a misspelt one stops the start, and changes nothing while the service runs', async () => {
  const there = 'there are html, stale.';
  expect(() => world({ provider: 'prices', fault: 'htlm' })).toThrow(
    `EXHIBIT_WORLD_FAULTS: prices:htlm names no fault of prices; ${there}`,
  );
  expect(() => world({ provider: 'price', fault: 'html' })).toThrow(
    'EXHIBIT_WORLD_FAULTS: price:html names no provider; there are prices, venue.',
  );
  const { faults, said, write } = world({ provider: 'prices', fault: 'stale' });
  write('prices:htlm');
  const problem = `prices:htlm names no fault of prices; ${there}`;
  await vi.waitFor(() => expect(said).toEqual([{ problem }]));
  expect(faults).toEqual({ prices: 'stale', venue: null });
});
