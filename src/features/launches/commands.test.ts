import { describe, expect, test } from 'vitest';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { HoldOut } from '../../ports/deployers.ts';
import { ran } from '../../testing/recording-io.ts';
import { corpusEvaluate, corpusSettle } from './evaluate.command.ts';

import type { SettledLaunches } from './settle.ts';

const SOURCE = { name: 'store', url: 'urn:s', kind: 'table', simulated: false, as_of: 0 } as const;
const HELD_OUT: HoldOut = {
  split: '2026-11-01',
  flagged: { launches: 250, listed: 2 },
  rest: { launches: 1_000, listed: 43 },
  history: { launches: 4_000, wallets: 900, flagged_wallets: 300 },
};

describe('exhibit corpus evaluate', () => {
  const typed = (line: string, heldOut: HoldOut | null = HELD_OUT) => {
    const asked: (string | null)[] = [];
    const evaluation = {
      heldOut: async (split: string | null) => {
        asked.push(split);
        return read(heldOut, { port: 'wallet_launches', source: SOURCE });
      },
    };
    return ran(line, [corpusEvaluate], { evaluation, windowHours: 24 }).then((done) => ({
      ...done,
      asked,
    }));
  };

  test('prints how many were still listed, of how many, with intervals', async () => {
    const { status, lines, asked } = await typed('corpus evaluate --split 2026-11-01');
    expect([status, asked]).toEqual([0, ['2026-11-01']]);
    expect(lines).toEqual([
      'Before 2026-11-01: 4000 settled launches of 900 wallets, 300 flagged.',
      'Still listed after their window, of the launches from 2026-11-01 on:',
      '  flagged  2 of 250 (0.80%, 95% interval 0.22% to 2.87%)',
      '  rest     43 of 1,000 (4.30%, 95% interval 3.21% to 5.74%)',
      'Published reference, measured elsewhere: 0.80% of flagged launches, 4.34% of the rest.',
    ]);
  });

  test('as JSON has the counts, the rates and the intervals', async () => {
    const { lines, asked } = await typed('corpus evaluate --json');
    expect(asked).toEqual([null]);
    expect(JSON.parse(String(lines[0]))).toEqual({
      split: '2026-11-01',
      window_hours: 24,
      flagged: {
        launches: 250,
        listed_after_window: 2,
        rate: 0.008,
        interval: { low: expect.closeTo(0.0022, 4), high: expect.closeTo(0.0287, 4) },
      },
      rest: {
        launches: 1_000,
        listed_after_window: 43,
        rate: 0.043,
        interval: { low: expect.closeTo(0.0321, 4), high: expect.closeTo(0.0574, 4) },
      },
      history: { launches: 4_000, wallets: 900, flagged_wallets: 300 },
      published_reference: { flagged: 0.008, rest: 0.0434 },
    });
  });

  test('a group without a launch has no rate', async () => {
    const flagged = { launches: 0, listed: 0 };
    const { lines } = await typed('corpus evaluate --json', { ...HELD_OUT, flagged });
    const none = { launches: 0, listed_after_window: 0, rate: null, interval: null };
    expect(JSON.parse(String(lines[0]))).toMatchObject({ flagged: none });
  });

  test('exits 1 without a held-out launch, 2 for no day, 3 where the corpus is unread', async () => {
    expect(await typed('corpus evaluate', null)).toMatchObject({ status: 1, lines: [] });
    expect(await typed('corpus evaluate --split yesterday')).toMatchObject({ status: 2 });
    const silent = unread('wallet_launches', why('table_never_imported', { what: 'the corpus' }));
    const evaluation = { heldOut: async () => silent };
    const done = await ran('corpus evaluate', [corpusEvaluate], { evaluation, windowHours: 24 });
    expect(done).toMatchObject({ status: 3, lines: [] });
  });
});

describe('exhibit corpus settle', () => {
  const typed = (line: string, ...rounds: readonly Partial<SettledLaunches>[]) => {
    const left = [...rounds];
    const nothing = { listed: 0, gone: 0, waiting: 0, silent: new Map(), failed: null };
    const settleRound = async () => Object.assign({ ...nothing }, left.shift());
    return ran(line, [corpusSettle], { settleRound });
  };

  test('settles round by round, and says what became of how many', async () => {
    const rounds = [{ listed: 2, gone: 5 }, { gone: 1 }];
    expect(await typed('corpus settle', ...rounds)).toMatchObject({
      status: 0,
      lines: ['8 settled: 2 still listed, 6 gone; 0 wait.'],
    });
    const { lines } = await typed('corpus settle --json', ...rounds);
    expect(JSON.parse(String(lines[0]))).toEqual({ settled: 8, listed: 2, gone: 6, waiting: 0 });
  });

  test('exits 3 where the venue did not tell of some, with each reason', async () => {
    const silent = new Map([['the venue was silent', 4]]);
    expect(await typed('corpus settle', { gone: 1, waiting: 4, silent })).toMatchObject({
      status: 3,
      lines: ['1 settled: 0 still listed, 1 gone; 4 wait.'],
      errors: ['4 wait: the venue was silent'],
    });
  });

  test('exits 3 without a venue, and where the store failed', async () => {
    const unset = await ran('corpus settle', [corpusSettle], { settleRound: null });
    expect(unset).toMatchObject({ status: 3, lines: [] });
    expect(unset.errors[0]).toContain('EXHIBIT_VENUE_URL');
    const failed = why('store_unreadable', { what: 'The store', fault: 'it is down' });
    expect(await typed('corpus settle', { failed })).toMatchObject({ status: 3, lines: [] });
  });
});
