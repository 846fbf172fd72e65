import { describe, expect, test } from 'vitest';
import { progressLine } from '../../command/run-import.ts';
import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  BulkImportOrder,
  BulkImportOutcome,
  BulkImportRecord,
  BulkImportWatch,
  Followable,
  FollowEnd,
  FollowReport,
  FollowState,
  ForgetOrder,
  Forgetting,
  Forgotten,
  HeldChain,
  ListedImport,
  TransferStorePort,
} from '../../ports/indexing.ts';
import { ran } from '../../testing/recording-io.ts';
import {
  warehouseFollow,
  warehouseForget,
  warehouseImport,
  warehouseStatus,
} from './warehouse.command.ts';

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

function typeImport(line: string, outcome: BulkImportOutcome, simulated = false, json = false) {
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
const IMPORT_LINE = 'warehouse import a.csv b --chain ethereum --origin observed';

describe('exhibit warehouse import', () => {
  test('asks for the caller’s files as typeImport, and says what they came to', async () => {
    const { done, orders } = typeImport(
      `${IMPORT_LINE} --from-block 5 --to-block 9 --failed-excluded`,
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
    const { lines } = await typeImport(IMPORT_LINE, COMPLETED, false, true).done;
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
    const { status, lines } = await typeImport(IMPORT_LINE, { outcome: 'completed', record }).done;
    expect(status).toBe(1);
    expect(lines[0]).toBe('No row was accepted.');
  });

  test('a silent store and a stop have failed, and say what to do', async () => {
    const silent = why('store_unreadable', { what: 'The warehouse', fault: 'down' });
    const unreadRun = await typeImport(IMPORT_LINE, { outcome: 'unread', why: silent }).done;
    expect(unreadRun.status).toBe(1);
    expect(unreadRun.errors.at(-1)).toContain('down');
    const stopped = await typeImport(IMPORT_LINE, { outcome: 'stopped' }).done;
    expect(stopped.status).toBe(1);
    expect(stopped.errors.at(-1)).toContain('goes on where this one was');
  });

  test.each([
    ['without an origin', 'warehouse import a.csv --chain ethereum', '--origin is missing'],
    ['without a chain', 'warehouse import a.csv --origin observed', '--chain is missing'],
    ['without a path', 'warehouse import --chain ethereum --origin observed', 'PATH is missing'],
    ['a chain without layouts', IMPORT_LINE.replace('ethereum', 'solana'), '--chain takes one of'],
    [
      'an address',
      IMPORT_LINE.replace('a.csv', 'https://example.org/a.csv'),
      'an address of the web',
    ],
    ['half a range', `${IMPORT_LINE} --from-block 5`, 'go together'],
    ['a range backwards', `${IMPORT_LINE} --from-block 5 --to-block 4`, '--to-block takes'],
  ])('%s is bad usage, and nothing is imported', async (_, line, says) => {
    const { done, orders } = typeImport(line, COMPLETED);
    const { status, errors } = await done;
    expect(status).toBe(2);
    expect(errors.join('\n')).toContain(says);
    expect(orders).toEqual([]);
  });

  test('observed rows never enter the simulated world', async () => {
    const { done, orders } = typeImport(IMPORT_LINE, COMPLETED, true);
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

const FORGOTTEN_ORIGIN = {
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

async function typeForget(
  line: string,
  answer: Awaited<ReturnType<Forgetting['plan']>>,
  json = false,
) {
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

const FORGET_LINE = 'warehouse forget --chain base --blocks 5..9';

describe('exhibit warehouse forget', () => {
  test('shows what would go, and does nothing without --yes', async () => {
    const { status, lines, asked } = await typeForget(
      FORGET_LINE,
      read(FORGOTTEN, FORGOTTEN_ORIGIN),
    );
    expect(status).toBe(0);
    expect(asked).toEqual([['plan', { chain: 'base', from_block: 5, to_block: 9 }]]);
    const text = lines.join('\n');
    expect(lines[0]).toBe('Nothing was changed. With --yes this goes:');
    expect(text).toMatch(/transfers +1234/);
    expect(text).toMatch(/no longer held in full: token +5 to 8, by a\.csv/);
    expect(text).toMatch(/stays, because it is followed +native: 3 blocks/);
  });

  test('does it with --yes, and says so', async () => {
    const { status, lines, asked } = await typeForget(
      `${FORGET_LINE} --yes`,
      read(FORGOTTEN, FORGOTTEN_ORIGIN),
    );
    expect(status).toBe(0);
    expect(asked.map(([what]) => what)).toEqual(['forget']);
    expect(lines[0]).toBe('Forgotten.');
  });

  test('takes an import by its id, and says where there is none', async () => {
    const line = 'warehouse forget --import 0123abcd';
    const known = await typeForget(
      line,
      read({ ...FORGOTTEN, import_id: '0123abcd' }, FORGOTTEN_ORIGIN),
    );
    expect(known.asked).toEqual([['plan', { import_id: '0123abcd' }]]);
    expect(known.lines.join('\n')).toMatch(/import +0123abcd/);
    for (const yes of ['', ' --yes']) {
      const { status, errors } = await typeForget(`${line}${yes}`, read(null, FORGOTTEN_ORIGIN));
      expect(status).toBe(1);
      expect(errors.join('\n')).toContain('No import of this id');
    }
  });

  test('as JSON, one document that says whether it was done', async () => {
    const { lines } = await typeForget(FORGET_LINE, read(FORGOTTEN, FORGOTTEN_ORIGIN), true);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(String(lines[0]))).toEqual({ done: false, ...FORGOTTEN });
  });

  test('a silent store was not changed to the end, and is told as that', async () => {
    const plan = await typeForget(FORGET_LINE, SILENT);
    expect(plan.status).toBe(3);
    expect(plan.lines).toEqual([]);
    const done = await typeForget(`${FORGET_LINE} --yes`, SILENT);
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
    const { status, errors, asked } = await typeForget(line, read(FORGOTTEN, FORGOTTEN_ORIGIN));
    expect(status).toBe(2);
    expect(errors.join('\n')).toContain(says);
    expect(asked).toEqual([]);
  });
});

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

const typeStatus = (
  line: string,
  chains: readonly HeldChain[],
  followers: readonly FollowReport[] = [],
  imports: readonly ListedImport[] = [],
) =>
  ran(line, [warehouseStatus], {
    warehouseStatus: {
      status: async () => read(chains, ORIGIN),
      followers: async () => read(followers, { ...ORIGIN, port: 'follow_reports' }),
      imports: async () => read(imports, ORIGIN),
    },
  });

describe('exhibit warehouse status', () => {
  test('names each chain, its blocks, its transfers and what is held in full', async () => {
    const { status, lines } = await typeStatus('warehouse status', [CHAIN]);
    expect(status).toBe(0);
    expect(lines[1]).toMatch(/^ethereum +observed +1234 +5 +9 +–$/);
    expect(lines.at(-1)).toMatch(/^ethereum +token +observed +5 +8 +2023-11-14 22:13 UTC$/);
  });

  test('as JSON has the fields that scripts read', async () => {
    const { lines } = await typeStatus('warehouse status --json', [CHAIN]);
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
    const { lines } = await typeStatus('warehouse status', [CHAIN], [], [listed]);
    expect(lines.at(-1)).toMatch(/^0123abcd +ethereum +completed +10 +2 +2023-.*a\.csv and 2 more/);
    const json = await typeStatus('warehouse status --json', [CHAIN], [], [listed]);
    expect(JSON.parse(String(json.lines[0]))).toMatchObject({
      imports: [{ import_id: '0123abcd', state: 'completed', transfers: 10 }],
    });
  });

  test('an empty store says so, and one without coverage says that', async () => {
    expect((await typeStatus('warehouse status', [])).lines).toEqual(['No transfers are held.']);
    const bare = await typeStatus('warehouse status', [{ ...CHAIN, coverage: [] }]);
    expect(bare.lines.at(-1)).toBe('No block is held in full.');
  });

  test('a chain whose follower stopped or is held up is named, with the reason and since when', async () => {
    const at = { since: 1_700_000_000, last_block: 9, head_block: 20 };
    const followers: FollowReport[] = [
      { ...at, chain: 'base', state: 'following', reason: null },
      { ...at, chain: 'bsc', state: 'held_up', reason: 'Its node failed: is away.' },
      { ...at, chain: 'ethereum', state: 'stopped', reason: 'Nothing more was heard.' },
    ];
    const { lines } = await typeStatus('warehouse status', [CHAIN], followers);
    expect(lines.slice(-2)).toEqual([
      'bsc: following held up since 2023-11-14 22:13 UTC. Its node failed: is away.',
      'ethereum: following stopped since 2023-11-14 22:13 UTC. Nothing more was heard.',
    ]);
    const { lines: json } = await typeStatus('warehouse status --json', [CHAIN], followers);
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
      },
    });
    expect(status).toBe(3);
    expect(lines).toEqual([]);
    expect(errors[0]).toContain('not reachable');
  });
});

const STATE: FollowState = {
  chain: 'base',
  source: 'https://node.example',
  kinds: ['native', 'internal', 'token'],
  head_block: 20_000_010,
  last_block: 20_000_000,
  last_time: 1_700_000_000,
  final_block: 19_999_900,
  lag_blocks: 10,
  lag_s: 24,
  blocks: 100,
  transfers: 12_345,
  reorgs: 0,
  blocks_undone: 0,
  left_out: { misshapen: 1 },
  fault: null,
};
const FAULT: Why = why('provider_failed', { provider: 'https://node.example', fault: 'is away' });

/** A chain that tells these states, a second apart, and then ends. */
function followServices(states: readonly FollowState[], end: FollowEnd) {
  const asked: (number | null)[] = [];
  let at = 0;
  const base: Followable = {
    chain: 'base',
    follow: async (from_block, { onState }) => {
      asked.push(from_block);
      for (const state of states) {
        onState(state);
        at += 1_000;
      }
      return end;
    },
  };
  return { asked, following: { chains: [base], elapsedMs: () => at } };
}

const STOPPED_FOLLOWING: FollowEnd = { end: 'stopped', state: STATE };
const typeFollow = (line: string, has = followServices([STATE], STOPPED_FOLLOWING), json = false) =>
  ran(line, [warehouseFollow], has, { json });
const FOLLOW_LINE =
  'base: block 20,000,000, 10 behind, 24 s old, 12,345 transfers since the start.';

describe('exhibit warehouse follow', () => {
  test('says what is held and how far behind it is, and that it was stopped', async () => {
    const has = followServices([STATE], STOPPED_FOLLOWING);
    const { status, lines, errors } = await typeFollow(
      'warehouse follow base --from-block 19000000',
      has,
    );
    expect(status).toBe(0);
    expect(lines).toEqual([FOLLOW_LINE, `Stopped. ${FOLLOW_LINE}`]);
    expect(errors).toEqual([]);
    expect(has.asked).toEqual([19_000_000]);
  });

  test('says where a node does not tell what contracts send', async () => {
    const told = followServices([{ ...STATE, kinds: ['native', 'token'] }], STOPPED_FOLLOWING);
    const { lines } = await typeFollow('warehouse follow base', told);
    expect(lines[0]).toBe(FOLLOW_LINE.replace('start.', 'start, no internal transfers.'));
  });

  test('without a block to begin at, none is made up', async () => {
    const has = followServices([STATE], STOPPED_FOLLOWING);
    await typeFollow('warehouse follow base', has);
    expect(has.asked).toEqual([null]);
  });

  test('shows a quiet chain now and then, but each re-org and each fault at once', async () => {
    const silent = { ...STATE, fault: FAULT };
    const undone = { ...STATE, reorgs: 1, blocks_undone: 2 };
    const quiet = Array.from({ length: 10 }, () => STATE);
    const has = followServices([...quiet, undone, silent, silent], STOPPED_FOLLOWING);
    const { lines, errors } = await typeFollow('warehouse follow base', has);
    const more = FOLLOW_LINE.replace('start.', 'start, 1 re-orgs, 2 blocks undone.');
    expect(lines).toEqual([FOLLOW_LINE, FOLLOW_LINE, more, FOLLOW_LINE, `Stopped. ${FOLLOW_LINE}`]);
    expect(errors).toEqual(['https://node.example failed: is away.']);
  });

  test('where nothing is held or known yet, it does not show a zero', async () => {
    const none = { last_block: null, last_time: null, lag_blocks: null, lag_s: null, transfers: 0 };
    const { lines } = await typeFollow(
      'warehouse follow base',
      followServices([{ ...STATE, ...none }], STOPPED_FOLLOWING),
    );
    expect(lines[0]).toBe(
      'base: nothing held yet, the head is not known, 0 transfers since the start.',
    );
  });

  test('one JSON object a line, with the fault as its sentence', async () => {
    const has = followServices([{ ...STATE, fault: FAULT }], STOPPED_FOLLOWING);
    const { lines } = await typeFollow('warehouse follow base', has, true);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { ...STATE, fault: 'https://node.example failed: is away.' },
      STATE,
    ]);
  });

  test('a chain that cannot be gone on with ends with status 1 and its reason', async () => {
    const { status, errors } = await typeFollow(
      'warehouse follow base',
      followServices([], { end: 'broken', state: STATE, why: FAULT }),
    );
    expect(status).toBe(1);
    expect(errors).toEqual([
      'https://node.example failed: is away. Following base has stopped; nothing was changed.',
    ]);
  });

  test('refuses a chain without a node, and a block that is none', async () => {
    expect((await typeFollow('warehouse follow solana')).status).toBe(2);
    expect((await typeFollow('warehouse follow base --from-block -1')).status).toBe(2);
    expect((await typeFollow('warehouse follow')).status).toBe(2);
    const none = { following: { chains: [], elapsedMs: () => 0 } };
    const { status, errors } = await ran('warehouse follow base', [warehouseFollow], none);
    expect(status).toBe(2);
    expect(errors.join(' ')).toContain('No node is configured: set EXHIBIT_RPC_<CHAIN>.');
  });
});
