import { describe, expect, test } from 'vitest';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { FollowReport } from '../../ports/indexing/follow-reports.ts';
import type { ListedImport } from '../../ports/indexing/imports.ts';
import type { TableMove } from '../../ports/indexing/table-move.ts';
import type { HeldChain, TransferStorePort } from '../../ports/indexing/transfer-store.ts';
import { ran } from '../../testing/recording-io.ts';
import { warehouseStatus } from './warehouse-status.command.ts';

const ORIGIN = {
  port: 'transfer_store' satisfies TransferStorePort,
  source: { name: 'warehouse', url: 'urn:warehouse', kind: 'table', simulated: false, as_of: 0 },
} as const;
const CHAIN: HeldChain = {
  chain: 'ethereum',
  from_block: 5,
  to_block: 9,
  transfers: 1_234,
  origin: 'observed',
  coverage: [
    { kind: 'token', from_block: 5, to_block: 8, to_time: 1_700_000_000, origin: 'observed' },
  ],
  following: null,
};

const typed = (
  line: string,
  chains: readonly HeldChain[],
  followers: readonly FollowReport[] = [],
  imports: readonly ListedImport[] = [],
  move: TableMove = { state: 'moved' },
) =>
  ran(line, [warehouseStatus], {
    warehouseStatus: {
      status: async () => read(chains, ORIGIN),
      followers: async () => read(followers, { ...ORIGIN, port: 'follow_reports' }),
      imports: async () => read(imports, ORIGIN),
      tableMove: async () => read(move, ORIGIN),
    },
  });

describe('exhibit warehouse status', () => {
  test('names each chain, its blocks, its transfers and what is held in full', async () => {
    const { status, lines } = await typed('warehouse status', [CHAIN]);
    expect(status).toBe(0);
    expect(lines[1]).toMatch(/^ethereum +observed +1234 +5 +9 +–$/);
    expect(lines.at(-1)).toMatch(/^ethereum +token +observed +5 +8 +2023-11-14 22:13 UTC$/);
  });

  test('as JSON has the fields that scripts read', async () => {
    const { lines } = await typed('warehouse status --json', [CHAIN]);
    const { coverage: _, following: __, ...documented } = CHAIN;
    expect(JSON.parse(String(lines[0]))).toMatchObject({ chains: [documented] });
  });

  test('lists the imports, each with its id, by which it can be forgotten', async () => {
    const listed: ListedImport = {
      import_id: '0123abcd',
      chain: 'ethereum',
      source: 'a.csv and 2 more files',
      origin: 'observed',
      state: 'completed',
      rows: 12,
      rows_refused: 2,
      transfers: 10,
      began_at: 1_700_000_000,
      changed_at: 1_700_000_000,
    };
    const { lines } = await typed('warehouse status', [CHAIN], [], [listed]);
    expect(lines.at(-1)).toMatch(/^0123abcd +ethereum +completed +10 +2 +2023-.*a\.csv and 2 more/);
    const json = await typed('warehouse status --json', [CHAIN], [], [listed]);
    expect(JSON.parse(String(json.lines[0]))).toMatchObject({
      imports: [{ import_id: '0123abcd', state: 'completed', transfers: 10 }],
    });
  });

  test('says how far tables of an earlier version are moved, and nothing once they are', async () => {
    const counts = { tables: 6, tables_moved: 2, rows: 500, rows_moved: 120 };
    const moving = { state: 'moving', ...counts } as const;
    const { lines } = await typed('warehouse status', [CHAIN], [], [], moving);
    const said =
      'Tables are being moved to tables by chain: 120 of 500 rows, 2 of 6 tables replaced.';
    expect(lines.at(-1)).toBe(said);
    const json = await typed('warehouse status --json', [CHAIN], [], [], moving);
    expect(JSON.parse(String(json.lines[0]))).toMatchObject({ tables_by_chain: moving });
    const { lines: over } = await typed('warehouse status', [CHAIN]);
    expect(over.join()).not.toContain('being moved');
  });

  test('an empty store says so, and one without coverage says that', async () => {
    expect((await typed('warehouse status', [])).lines).toEqual(['No transfers are held.']);
    const bare = await typed('warehouse status', [{ ...CHAIN, coverage: [] }]);
    expect(bare.lines.at(-1)).toBe('No block is held in full.');
  });

  test('a chain whose follower stopped or is held up is named, with the reason and since when', async () => {
    const at = { since: 1_700_000_000, last_block: 9, head_block: 20 };
    const followers: FollowReport[] = [
      { ...at, chain: 'base', state: 'following', reason: null },
      { ...at, chain: 'bsc', state: 'held_up', reason: 'Its node failed: is away.' },
      { ...at, chain: 'ethereum', state: 'stopped', reason: 'Nothing more was heard.' },
    ];
    const { lines } = await typed('warehouse status', [CHAIN], followers);
    expect(lines.slice(-2)).toEqual([
      'bsc: following held up since 2023-11-14 22:13 UTC. Its node failed: is away.',
      'ethereum: following stopped since 2023-11-14 22:13 UTC. Nothing more was heard.',
    ]);
    const { lines: json } = await typed('warehouse status --json', [CHAIN], followers);
    const stopped = {
      chain: 'ethereum',
      state: 'stopped',
      reason: 'Nothing more was heard.',
      since: '2023-11-14T22:13:20Z',
      last_block: 9,
      head_block: 20,
    };
    expect(JSON.parse(String(json[0]))).toMatchObject({ following: [{}, {}, stopped] });
  });

  test('a silent store is not an empty one', async () => {
    const fault = why('store_unreadable', { what: 'The warehouse', fault: 'it is not reachable' });
    const silent = unread('transfer_store', fault);
    const unheard = unread('follow_reports', fault);
    const { status, lines, errors } = await ran('warehouse status', [warehouseStatus], {
      warehouseStatus: {
        status: async () => silent,
        followers: async () => unheard,
        imports: async () => read([], ORIGIN),
        tableMove: async () => silent,
      },
    });
    expect(status).toBe(3);
    expect(lines).toEqual([]);
    expect(errors[0]).toContain('not reachable');
  });
});
