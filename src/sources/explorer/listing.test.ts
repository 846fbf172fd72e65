// A list is whole only where its provider showed its end: neither our own bound of pages, nor the
// end of a window, nor a row that cannot be read may stand for it.

import { afterEach, expect, test } from 'vitest';
import { map, Part, Read, rowsSeen } from '../../evidence/reading.ts';
import { UNHELD } from '../../testing/clock.ts';
import { startFront } from '../../testing/damaged-front.ts';
import { providerGuard, withBudget } from '../http/provider.ts';
import { etherscanChain, type ListAction, PAGE_ROWS } from './envelope.ts';
import { explorerHistory } from './history.ts';
import { readTransfers } from './listing.ts';

const NOW = 1_790_000_000;
const HEAD = 5_000;
const OWNER = `0x${'a'.repeat(40)}`;
const OTHER = `0x${'b'.repeat(40)}`;
const { signal } = new AbortController();

const fronts: (() => void)[] = [];
afterEach(() => {
  for (const close of fronts.splice(0)) close();
});

/** A question for a page of a list. `block`: the first one asked for. */
type Asked = { readonly block: number; readonly page: number; readonly isNewestFirst: boolean };

const NOTHING = JSON.stringify({ status: '0', message: 'No transactions found', result: [] });
const WINDOW_ENDED = JSON.stringify({
  status: '0',
  message: 'Result window is too large, PageNo x Offset size must be less than or equal to 10000',
  result: null,
});

function listed(rows: readonly unknown[]): string {
  return JSON.stringify({ status: '1', message: 'OK', result: rows });
}

/** An explorer with one list, whose newest settled block is 5,000. */
async function chainWith(list: ListAction, answer: (asked: Asked) => string) {
  const pages: Asked[] = [];
  const front = await startFront(async (path) => {
    const params = new URL(path, 'http://x').searchParams;
    const action = params.get('action');
    if (action === 'eth_blockNumber') return JSON.stringify({ result: '0x13ec' });
    if (action === 'eth_getBlockByNumber') {
      const timestamp = `0x${NOW.toString(16)}`;
      return JSON.stringify({ result: { number: `0x${HEAD.toString(16)}`, timestamp } });
    }
    if (action !== list) return NOTHING;
    const [block, page] = [Number(params.get('startblock')), Number(params.get('page'))];
    const asked = { block, page, isNewestFirst: params.get('sort') === 'desc' };
    pages.push(asked);
    return answer(asked);
  });
  fronts.push(front.close);
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const url = new URL('/v2/api', front.url);
  return { at: etherscanChain('ethereum', { url, guard }, null), pages };
}

type Chain = Awaited<ReturnType<typeof chainWith>>;

/** The history of the owner as its readers get it, and the kinds that it covers. */
async function historyOf({ at }: Chain) {
  const history = explorerHistory({
    chains: [at],
    now: () => NOW,
    timeMs: 60_000,
    callsMax: 1_000,
    simulated: false,
    ...UNHELD,
  });
  const readings = await history.neighbourhoods([OWNER], {
    rowsMax: 1e6,
    degreeMax: 50,
    transfersPerCounterpartyMax: 10,
    batchRowsMax: 1e6,
    signal,
  });
  const reading = readings.get(OWNER);
  if (reading === undefined) throw new Error('no reading for the address asked');
  const covered = rowsSeen(map(reading, ({ coverage }) => coverage));
  return { reading, kinds: covered?.map(({ kind }) => kind).sort() };
}

function listOf({ at }: Chain, pagesMax: number) {
  const asked = { chain: 'ethereum', address: OWNER, fromBlock: 0, toBlock: HEAD } as const;
  return withBudget({ timeMs: 10_000, callsMax: 10, signal }, (budget) =>
    readTransfers(at, 'txlist', asked, { transfersMax: 1e6, pagesMax }, budget),
  );
}

const ROW = { timeStamp: String(NOW - 1_000), from: OWNER, to: OTHER, hash: '0x1', value: '0' };

/** A full page from a block on, which ends with the first row of the next one; all rows failed. */
function fullPage(block: number, next = block + 1): string {
  const row = (blockNumber: number) =>
    JSON.stringify({ ...ROW, blockNumber: String(blockNumber), isError: '1' });
  const rows = `${row(block)},`.repeat(PAGE_ROWS - 1) + row(next);
  return `{"status":"1","message":"OK","result":[${rows}]}`;
}

test('a list that goes on past the 200 pages that are read of it is a part', async () => {
  const chain = await chainWith('txlist', ({ block }) => fullPage(block));
  const { reading, kinds } = await historyOf(chain);
  expect(chain.pages).toHaveLength(200);
  expect(reading).toBeInstanceOf(Part);
  expect(reading).toMatchObject({ why: { code: 'row_cap' } });
  expect(kinds).toEqual(['internal', 'token']);
});

test('a list that is read a few pages at a time is cut before the block it stopped in', async () => {
  const chain = await chainWith('txlist', ({ block }) => fullPage(block));
  expect(await listOf(chain, 2)).toMatchObject({ cut: true, whole_to: 1 });
});

test('a block that goes on past 200 numbered pages leaves its list a part', async () => {
  const page = fullPage(5, 5);
  const chain = await chainWith('txlist', ({ block }) => (block <= 5 ? page : NOTHING));
  const { reading, kinds } = await historyOf(chain);
  expect(reading).toBeInstanceOf(Part);
  expect(reading).toMatchObject({ why: { code: 'row_cap' } });
  expect(chain.pages.at(-1)).toMatchObject({ block: 5, page: 200 });
  expect(kinds).toEqual(['internal', 'token']);
});

test('a list whose window ends behind its first page is a part, cut where it ended', async () => {
  const answer = ({ block }: Asked) => (block === 0 ? fullPage(0) : WINDOW_ENDED);
  const chain = await chainWith('txlist', answer);
  const { reading, kinds } = await historyOf(chain);
  expect(chain.pages.map(({ block }) => block)).toEqual([0, 1]);
  expect(reading).toBeInstanceOf(Part);
  expect(reading).toMatchObject({ why: { code: 'row_cap' } });
  expect(kinds).toEqual(['internal', 'token']);
  expect(await listOf(chain, 10)).toMatchObject({ cut: true, whole_to: 0 });
});

const LISTS = [
  ['txlist', 'native', { isError: '0' }],
  ['tokentx', 'token', { contractAddress: `0x${'7'.repeat(40)}` }],
  ['txlistinternal', 'internal', { isError: '0', type: 'call' }],
] as const;
const BROKEN = [
  ['no block', { blockNumber: undefined }],
  ['a time as a word', { timeStamp: 'yesterday' }],
  ['no sender', { from: null }],
  ['a value as a word', { value: 'much' }],
] as const;
const CASES = LISTS.flatMap(([action, kind, over]) =>
  BROKEN.map(([what, damage]) => [action, what, kind, over, damage] as const),
);

/** The rows of blocks 1, 2 and 3, in the order asked; `damage` is done to the middle one. */
function threeRows(over: object, damage: object): (asked: Asked) => string {
  const rows = [1, 2, 3].map((n) => {
    const row = { ...ROW, ...over, value: '7', blockNumber: String(n) };
    return { n, row: n === 2 ? { ...row, ...damage } : row };
  });
  return ({ block, isNewestFirst }) => {
    const told = rows.filter(({ n }) => n >= block).map(({ row }) => row);
    return listed(isNewestFirst ? told.reverse() : told);
  };
}

test.each(CASES)(
  'a list that has a row it cannot read among good ones is not whole (%s: %s)',
  async (action, _, kind, over, damage) => {
    const whole = await historyOf(await chainWith(action, threeRows(over, {})));
    expect(whole.reading).toBeInstanceOf(Read);
    expect(whole.kinds).toContain(kind);
    const { reading, kinds } = await historyOf(await chainWith(action, threeRows(over, damage)));
    expect(reading).not.toBeInstanceOf(Read);
    expect(reading).toMatchObject({ why: { code: 'provider_failed' } });
    expect(kinds).not.toContain(kind);
  },
);
