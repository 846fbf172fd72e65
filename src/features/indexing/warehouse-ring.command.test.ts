// `warehouse ring` tells what the ring lacks, and never calls one whole that it could not read.

import { expect, test } from 'vitest';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { RingFilling, RingFillState, RingKeeping, RingStatus } from '../../ports/history.ts';

import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { ringCommands } from './warehouse-ring.command.ts';

const source = { name: 'W', url: 'urn:w', as_of: 0, kind: 'table', simulated: false } as const;
const WHOLE: RingStatus = {
  listed: 2,
  pairs: 131_072,
  bytes: 1_048_576,
  build_ms: 1_500,
  chains: [{ chain: 'ethereum', state: 'whole', listed: 2, held_in_full: 2, pairs: 131_072 }],
  gaps: [],
};
const gap = { listed: evm('listed'), chain: 'ethereum', kind: 'token', held: 'none' } as const;
const LACKING: RingStatus = {
  ...WHOLE,
  chains: [{ chain: 'ethereum', state: 'half', listed: 2, held_in_full: 1, pairs: 131_072 }],
  gaps: Array.from({ length: 25 }, () => gap),
};

function typed(line: string, status: RingStatus, filling: RingFillState = FILLED) {
  const told = read(status, { port: 'raw_ring', source });
  const keeping: Pick<RingKeeping, 'status' | 'rebuild'> = {
    status: async () => told,
    rebuild: async (progress) => {
      progress(1, 2);
      progress(2, 2);
      return told;
    },
  };
  return ran(line, ringCommands, { warehouseRing: { ...keeping, filling: fillingThat(filling) } });
}

/** Reading ahead that is to come to this state. */
function fillingThat(state: RingFillState): RingFilling {
  const fill: RingFilling['fill'] = async (progress) => {
    progress({ ...state, state: 'reading', lists_held: 1 });
    progress(state);
    return state;
  };
  return { state: () => state, fill };
}

const FILLED: RingFillState = {
  state: 'filled',
  why: null,
  since: 0,
  lists_held: 3,
  lists: 3,
  calls_today: 7,
  calls_a_day: 100,
};

test('a whole ring is said to be whole, with its size and how long it took', async () => {
  const { status, lines } = await typed('warehouse ring status', WHOLE);
  expect(status).toBe(0);
  expect(lines).toEqual([
    'chain     state  listed  held in full  counterparties',
    'ethereum  whole       2             2          131072',
    '131072 pairs of 2 listed addresses in 1.0 MiB, built in 1.5 s.',
    'It is whole: each listed address is held from its first block to a fresh tip.',
    'Reading ahead: nothing is left to read. 3 of 3 lists, 7 of 100 calls today.',
  ]);
});

test('what a ring lacks stands address by address, and is counted beyond the first', async () => {
  const { lines } = await typed('warehouse ring status', LACKING);
  expect(lines[1]).toBe('ethereum  half        2             1          131072');
  expect(lines.join('\n')).not.toContain('It is whole');
  expect(lines.filter((line) => line.startsWith(evm('listed')))).toHaveLength(20);
  expect(lines.at(-2)).toBe('and 5 more; --json tells all of them');
});

test('a rebuild tells how far it is, and JSON has every gap', async () => {
  const { lines, errors } = await typed('warehouse ring rebuild --json', LACKING);
  expect(errors).toEqual(['2 of 2 listed addresses']);
  const { why: reason, ...read_ahead } = FILLED;
  const told = { ...LACKING, read_ahead: { ...read_ahead, reason } };
  expect(JSON.parse(String(lines[0]))).toEqual(told);
});

test('filling tells how far it is, and ends with 3 where something was left unread', async () => {
  const whole = await typed('warehouse ring fill', WHOLE);
  expect(whole.errors).toEqual([
    '1 of 3 lists held, 7 calls today',
    '3 of 3 lists held, 7 calls today',
  ]);
  expect(whole.status).toBe(0);
  const because = why('provider_failed', { provider: 'It', fault: 'is away' });
  const held: RingFillState = { ...FILLED, state: 'held_up', why: because, lists_held: 2 };
  const cut = await typed('warehouse ring fill', LACKING, held);
  expect([cut.status, cut.lines.at(-1)]).toEqual([
    3,
    'Reading ahead is held up, and goes on by itself. 2 of 3 lists, 7 of 100 calls today. ' +
      'It failed: is away.',
  ]);
  const off: RingFillState = {
    ...FILLED,
    state: 'off',
    why: why('not_configured', { what: 'It' }),
  };
  expect((await typed('warehouse ring status', WHOLE, off)).lines.at(-1)).toBe(
    'Nothing is read ahead. It is not configured on this deployment; nothing was checked.',
  );
});

test('a ring that could not be read ends with 3, and says why', async () => {
  const silent = async () => unread('raw_ring', why('ring_unbuilt', { cause: 'a test' }));
  const { status, lines } = await ran('warehouse ring status', ringCommands, {
    warehouseRing: { status: silent, rebuild: silent, filling: fillingThat(FILLED) },
  });
  expect([status, lines]).toEqual([3, []]);
});
