import { describe, expect, test } from 'vitest';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ForgetOrder, Forgetting, Forgotten } from '../../ports/indexing/forgetting.ts';
import type { TransferStorePort } from '../../ports/indexing/transfer-store.ts';
import { ran } from '../../testing/recording-io.ts';
import { warehouseForget } from './warehouse-forget.command.ts';

const ORIGIN = {
  port: 'transfer_store' satisfies TransferStorePort,
  source: { name: 'warehouse', url: 'urn:warehouse', kind: 'table', simulated: false, as_of: 0 },
} as const;
const FORGOTTEN: Forgotten = {
  chain: 'base',
  import_id: null,
  from_block: 5,
  to_block: 9,
  transfers: 1_234,
  withdrawn: [{ kind: 'token', from_block: 5, to_block: 8, source: 'a.csv' }],
  addresses: 2,
  staying: [{ because: 'followed', kind: 'native', blocks: 3 }],
};
const SILENT = unread(
  'transfer_store',
  why('store_unreadable', { what: 'The warehouse', fault: 'it is not reachable' }),
);

async function typed(line: string, answer: Awaited<ReturnType<Forgetting['plan']>>, json = false) {
  const asked: (readonly [string, ForgetOrder])[] = [];
  const warehouseForgetting: Forgetting = {
    plan: async (order) => {
      asked.push(['plan', order]);
      return answer;
    },
    forget: async (order) => {
      asked.push(['forget', order]);
      return answer;
    },
  };
  const services = { warehouseForget: warehouseForgetting };
  return { ...(await ran(line, [warehouseForget], services, { json })), asked };
}

const LINE = 'warehouse forget --chain base --blocks 5..9';

describe('exhibit warehouse forget', () => {
  test('shows what would go, and does nothing without --yes', async () => {
    const { status, lines, asked } = await typed(LINE, read(FORGOTTEN, ORIGIN));
    expect(status).toBe(0);
    expect(asked).toEqual([['plan', { chain: 'base', from_block: 5, to_block: 9 }]]);
    const text = lines.join('\n');
    expect(lines[0]).toBe('Nothing was changed. With --yes this goes:');
    expect(text).toMatch(/transfers +1234/);
    expect(text).toMatch(/no longer held in full: token +5 to 8, by a\.csv/);
    expect(text).toMatch(/stays, because it is followed +native: 3 blocks/);
  });

  test('does it with --yes, and says so', async () => {
    const { status, lines, asked } = await typed(`${LINE} --yes`, read(FORGOTTEN, ORIGIN));
    expect(status).toBe(0);
    expect(asked.map(([what]) => what)).toEqual(['forget']);
    expect(lines[0]).toBe('Forgotten.');
  });

  test('takes an import by its id, and says where there is none', async () => {
    const line = 'warehouse forget --import 0123abcd';
    const known = await typed(line, read({ ...FORGOTTEN, import_id: '0123abcd' }, ORIGIN));
    expect(known.asked).toEqual([['plan', { import_id: '0123abcd' }]]);
    expect(known.lines.join('\n')).toMatch(/import +0123abcd/);
    for (const yes of ['', ' --yes']) {
      const { status, errors } = await typed(`${line}${yes}`, read(null, ORIGIN));
      expect(status).toBe(1);
      expect(errors.join('\n')).toContain('No import of this id');
    }
  });

  test('as JSON, one document that says whether it was done', async () => {
    const { lines } = await typed(LINE, read(FORGOTTEN, ORIGIN), true);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(String(lines[0]))).toEqual({ done: false, ...FORGOTTEN });
  });

  test('a silent store was not changed to the end, and is told as that', async () => {
    const plan = await typed(LINE, SILENT);
    expect(plan.status).toBe(3);
    expect(plan.lines).toEqual([]);
    const done = await typed(`${LINE} --yes`, SILENT);
    expect(done.status).toBe(3);
    expect(done.errors.at(-1)).toContain('Type it again');
  });

  test.each([
    ['without a chain', 'warehouse forget --blocks 5..9', '--chain is missing'],
    ['without blocks', 'warehouse forget --chain base', '--blocks is missing'],
    ['an import of a chain', 'warehouse forget --import 1 --chain base', 'stands alone'],
    ['one number', 'warehouse forget --chain base --blocks 5', 'two numbers'],
    ['a range backwards', 'warehouse forget --chain base --blocks 9..5', '--blocks takes'],
    ['a chain without imports', 'warehouse forget --chain solana --blocks 5..9', 'one of'],
  ])('%s is bad usage, and nothing is asked', async (_, line, says) => {
    const { status, errors, asked } = await typed(line, read(FORGOTTEN, ORIGIN));
    expect(status).toBe(2);
    expect(errors.join('\n')).toContain(says);
    expect(asked).toEqual([]);
  });
});
