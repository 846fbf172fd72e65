import { describe, expect, test } from 'vitest';
import { map, Part, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import { fullCoverage, memoryTransfer } from '../../testing/twins/history.ts';
import { walkedPorts } from '../../testing/walked-world.ts';
import { addressHistory, type HistoryRequest, sinceFirst } from './address-history.ts';

const NOW = 1_800_000_000;
const ASKED: HistoryRequest = { chains: null, signal: new AbortController().signal };
const [a, b, c] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
];
const WORLD = { now: NOW, listed: [], labels: null } as const;

function historyOf(over: Partial<Parameters<typeof walkedPorts>[0]>) {
  return walkedPorts({ ...WORLD, transfers: [], ...over }).history;
}

function known(reading: Awaited<ReturnType<typeof addressHistory>>) {
  return rowsSeen(map(reading, (one) => [one]))?.[0];
}

describe('the history of an address', () => {
  test('is whole where every kind is held from the first block to a fresh tip', async () => {
    const transfers = [memoryTransfer(1, a, b), memoryTransfer(2, c, a)];
    const reading = await addressHistory(historyOf({ transfers }), a, ASKED);
    expect(reading).toBeInstanceOf(Read);
    expect(known(reading)?.transfers.map(({ block }) => block)).toEqual([2, 1]);
    expect(known(reading)).toMatchObject({ degree: 2, gaps: [] });
  });

  test('of some blocks only is a part that shows them and names what is missing', async () => {
    const coverage = fullCoverage('ethereum', NOW - 60).map((range) => {
      return { ...range, from_block: 1_000, from_first: false };
    });
    const transfers = [memoryTransfer(1_001, a, b)];
    const reading = await addressHistory(historyOf({ transfers, history: { coverage } }), a, ASKED);
    expect(reading instanceof Part && reading.why.code).toBe('partial_history');
    expect(known(reading)?.transfers).toHaveLength(1);
    expect(known(reading)?.gaps.map(({ kind }) => kind)).toEqual(['native', 'token', 'internal']);
  });

  test('that was cut is a part, however well its chain is held', async () => {
    const transfers = [1, 2, 3].map((n) => memoryTransfer(n, a, b));
    const reading = await addressHistory(historyOf({ transfers }), a, { ...ASKED, rowsMax: 2 });
    expect(reading instanceof Part && reading.why.code).toBe('row_cap');
    expect(known(reading)?.transfers).toHaveLength(2);
  });

  test('is asked of one chain alone: another neither shows nor vouches', async () => {
    const transfers = [memoryTransfer(1, a, b), memoryTransfer(2, a, c, { chain: 'base' })];
    const history = historyOf({ transfers });
    const ethereum = await addressHistory(history, a, { ...ASKED, chains: ['ethereum'] });
    expect(ethereum).toBeInstanceOf(Read);
    expect(known(ethereum)?.transfers.map(({ chain }) => chain)).toEqual(['ethereum']);
    const base = await addressHistory(history, a, { ...ASKED, chains: ['base'] });
    expect(base instanceof Part && base.why.code).toBe('partial_history');
    expect(known(base)?.transfers.map(({ chain }) => chain)).toEqual(['base']);
  });

  test('is unread where nothing is read, of another kind, or out of time', async () => {
    const solana = 'So11111111111111111111111111111111111111112';
    const history = historyOf({});
    const codes = await Promise.all(
      [
        addressHistory(historyOf({ history: { chains: [] } }), a, ASKED),
        addressHistory(history, solana, ASKED),
        addressHistory(history, a, { ...ASKED, signal: AbortSignal.abort() }),
      ].map(async (asked) => {
        const reading = await asked;
        return reading instanceof Unread && reading.why.code;
      }),
    );
    expect(codes).toEqual(['no_history', 'not_walked_kind', 'time_budget']);
  });

  test('that is cut says nothing of what came first; a made-up whole does', async () => {
    const transfers = [1, 2, 3].map((n) => memoryTransfer(n, a, b));
    const cut = await addressHistory(historyOf({ transfers }), a, { ...ASKED, rowsMax: 2 });
    expect(sinceFirst(cut)).toMatchObject({ checked: false, why: { code: 'row_cap' } });
    expect(sinceFirst(cut)).toBeInstanceOf(Unread);
    const simulated = historyOf({ transfers, history: { simulated: true } });
    const madeUp = await addressHistory(simulated, a, ASKED);
    expect(madeUp instanceof Part && madeUp.why.code).toBe('simulated');
    expect(sinceFirst(madeUp)).toBe(madeUp);
  });

  test('that is simulated is never whole', async () => {
    const reading = await addressHistory(historyOf({ simulated: true }), a, ASKED);
    expect(reading instanceof Part && reading.why.code).toBe('simulated');
  });
});
