import { describe, expect, test } from 'vitest';
import { progressLine } from '../../command/progress-line.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BulkImportOrder,
  BulkImportOutcome,
  BulkImportRecord,
  BulkImportWatch,
} from '../../ports/indexing/bulk-import.ts';
import { ran } from '../../testing/recording-io.ts';
import { warehouseImport } from './warehouse-import.command.ts';

const RECORD: BulkImportRecord = {
  import_id: 'abc',
  files: [{ name: 'traces.csv', layout: 'cryo', dataset: 'traces', rows: 10 }],
  rows: 10,
  rows_refused: 3,
  refused: new Map([
    ['no_time', 1],
    ['no_transaction_hash', 2],
  ]),
  left_out: new Map([['failed', 2]]),
  transfers: 5,
  creations: 1,
  of_another_fork: 0,
  coverage: [],
  refused_file: '/data/refused/abc.jsonl',
};

function typed(line: string, outcome: BulkImportOutcome, simulated = false, json = false) {
  const orders: BulkImportOrder[] = [];
  const importFiles = async (order: BulkImportOrder, watch: BulkImportWatch) => {
    orders.push(order);
    watch.onNote('logs.csv: left aside.');
    watch.onProgress({ phase: 'importing', rows: 5, fraction: 0.5 });
    watch.onProgress({ phase: 'importing', rows: 10, fraction: 1 });
    return outcome;
  };
  const services = { warehouseImport: { simulated, importFiles } };
  const done = ran(line, [warehouseImport], services, { json, cwd: '/folder' });
  return { done, orders };
}

const COMPLETED: BulkImportOutcome = { outcome: 'completed', record: RECORD };
const LINE = 'warehouse import a.csv b --chain ethereum --origin observed';

describe('exhibit warehouse import', () => {
  test('asks for the caller’s files as typed, and says what they came to', async () => {
    const { done, orders } = typed(
      `${LINE} --from-block 5 --to-block 9 --failed-excluded`,
      COMPLETED,
    );
    const { status, lines, errors } = await done;
    expect(status).toBe(0);
    expect(orders).toEqual([
      {
        paths: ['/folder/a.csv', '/folder/b'],
        chain: 'ethereum',
        origin: 'observed',
        declared: { from_block: 5, to_block: 9 },
        failed_excluded: true,
      },
    ]);
    expect(lines[0]).toBe('Imported 5 transfers.');
    expect(lines.join('\n')).toMatch(/no_transaction_hash +2/);
    expect(lines.join('\n')).toContain('No block is recorded as held in full');
    expect(errors[0]).toBe('logs.csv: left aside.');
    expect(errors.at(-1)).toMatch(/^importing 100%, 10 rows/);
  });

  test('as JSON, one document with the counts by reason', async () => {
    const { lines } = await typed(LINE, COMPLETED, false, true).done;
    expect(lines).toHaveLength(1);
    expect(JSON.parse(String(lines[0]))).toMatchObject({
      chain: 'ethereum',
      origin: 'observed',
      rows_refused: 3,
      refused: { no_time: 1, no_transaction_hash: 2 },
      left_out: { failed: 2 },
      coverage: [],
    });
  });

  test('an import of which no row was accepted has failed', async () => {
    const record = { ...RECORD, rows_refused: 10, transfers: 0 };
    const { status, lines } = await typed(LINE, { outcome: 'completed', record }).done;
    expect(status).toBe(1);
    expect(lines[0]).toBe('No row was accepted.');
  });

  test('a silent store and a stop have failed, and say what to do', async () => {
    const silent = why('store_unreadable', { what: 'The warehouse', fault: 'down' });
    const unreadRun = await typed(LINE, { outcome: 'unread', why: silent }).done;
    expect(unreadRun.status).toBe(1);
    expect(unreadRun.errors.at(-1)).toContain('down');
    const stopped = await typed(LINE, { outcome: 'stopped' }).done;
    expect(stopped.status).toBe(1);
    expect(stopped.errors.at(-1)).toContain('goes on where this one was');
  });

  test.each([
    ['without an origin', 'warehouse import a.csv --chain ethereum', '--origin is missing'],
    ['without a chain', 'warehouse import a.csv --origin observed', '--chain is missing'],
    ['without a path', 'warehouse import --chain ethereum --origin observed', 'PATH is missing'],
    ['a chain without layouts', LINE.replace('ethereum', 'solana'), '--chain takes one of'],
    ['an address', LINE.replace('a.csv', 'https://example.org/a.csv'), 'an address of the web'],
    ['half a range', `${LINE} --from-block 5`, 'go together'],
    ['a range backwards', `${LINE} --from-block 5 --to-block 4`, '--to-block takes'],
  ])('%s is bad usage, and nothing is imported', async (_, line, says) => {
    const { done, orders } = typed(line, COMPLETED);
    const { status, errors } = await done;
    expect(status).toBe(2);
    expect(errors.join('\n')).toContain(says);
    expect(orders).toEqual([]);
  });

  test('observed rows never enter the simulated world', async () => {
    const { done, orders } = typed(LINE, COMPLETED, true);
    expect((await done).status).toBe(2);
    expect(orders).toEqual([]);
  });
});

describe('the line of progress', () => {
  function shown(colour: boolean) {
    const lines: string[] = [];
    let nowMs = 0;
    const line = progressLine({ err: (text) => void lines.push(text), colour }, () => nowMs);
    const at = (ms: number, rows: number, fraction: number) => {
      nowMs = ms;
      line.show({ phase: 'writing', rows, fraction });
    };
    return { lines, at, say: line.say };
  }

  test('renews itself on a terminal, with rows a second and the time left', () => {
    const { lines, at, say } = shown(true);
    at(0, 0, 0);
    at(50, 1, 0.01);
    at(10_000, 20_000, 0.25);
    say('a note');
    at(20_000, 40_000, 0.5);
    expect(lines).toEqual([
      `writing ${'░'.repeat(24)} 0%, 0 rows`,
      `\u001b[1A\u001b[2Kwriting ${'█'.repeat(6)}${'░'.repeat(18)} 25%, 20,000 rows, 2,000 rows/s, 30 s left`,
      'a note',
      `writing ${'█'.repeat(12)}${'░'.repeat(12)} 50%, 40,000 rows, 2,000 rows/s, 20 s left`,
    ]);
  });

  test('is a plain line now and then elsewhere, and always the last one', () => {
    const { lines, at } = shown(false);
    for (let second = 0; second <= 21; second += 1)
      at(second * 1_000, second * 100, second / 7_200);
    at(22_000, 2_200, 1);
    expect(lines).toEqual([
      'writing 0%, 0 rows',
      'writing 0%, 1,000 rows, 100 rows/s, 1 h 59 min left',
      'writing 0%, 2,000 rows, 100 rows/s, 1 h 59 min left',
      'writing 100%, 2,200 rows, 100 rows/s',
    ]);
  });
});
