// A reading that takes longer than is set is logged by port and method, and never by what it was
// asked for.

import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { createMeters } from '../transport/metrics.ts';
import { meterPort, readingWatch } from './parts.ts';

const SLOW_MS = 40;
const SOURCE = {
  name: 'Test',
  url: 'https://provider.example',
  as_of: 0,
  kind: 'observation',
  simulated: false,
} as const;
const ADDRESS = '0x00000000000000000000000000000000000000ad';

function watched(slowMs: number) {
  const lines: { readonly facts: object; readonly message: string }[] = [];
  const meters = createMeters([]);
  const log = { warn: (facts: object, message: string) => void lines.push({ facts, message }) };
  const history = {
    transfersOf: async (_: string, ms: number) => {
      await wait(ms);
      return read([], { port: 'transfer_history', source: SOURCE });
    },
    silentOf: async (_: string, ms: number) => {
      await wait(ms);
      return unread('transfer_history', why('not_configured', { what: 'This test' }));
    },
  };
  const port = meterPort('transfer_history', history, readingWatch(meters, slowMs, log));
  const counted = async () => {
    const text = await meters.registry.metrics();
    return /exhibit_slow_reads_total\{port="transfer_history"\} (\d+)/.exec(text)?.[1] ?? null;
  };
  return { port, lines, counted };
}

test('a slow reading is logged and counted, one in time is neither', async () => {
  const { port, lines, counted } = watched(SLOW_MS);
  await port.transfersOf(ADDRESS, 0);
  expect([lines, await counted()]).toEqual([[], null]);
  await port.transfersOf(ADDRESS, SLOW_MS * 2);
  const facts = { port: 'transfer_history', method: 'transfersOf', ms: expect.any(Number) };
  expect(lines).toEqual([{ facts, message: 'slow read' }]);
  expect(Number(Object(lines[0]?.facts).ms)).toBeGreaterThanOrEqual(SLOW_MS);
  expect(JSON.stringify(lines)).not.toContain(ADDRESS);
  expect(await counted()).toBe('1');
});

test('a silence that was waited for is slow like any reading', async () => {
  const { port, lines } = watched(SLOW_MS);
  await port.silentOf(ADDRESS, SLOW_MS * 2);
  expect(lines).toMatchObject([{ facts: { method: 'silentOf' } }]);
});

test('of many at once one line a method is logged, and all are counted', async () => {
  const { port, lines, counted } = watched(SLOW_MS);
  const asked = Array.from({ length: 20 }, () => port.transfersOf(ADDRESS, SLOW_MS * 2));
  await Promise.all([...asked, port.silentOf(ADDRESS, SLOW_MS * 2)]);
  expect(lines.map(({ facts }) => Object(facts).method).sort()).toEqual([
    'silentOf',
    'transfersOf',
  ]);
  expect(await counted()).toBe('21');
});

test('with 0 nothing is slow', async () => {
  const { port, lines, counted } = watched(0);
  await port.transfersOf(ADDRESS, SLOW_MS * 2);
  expect([lines, await counted()]).toEqual([[], null]);
});
