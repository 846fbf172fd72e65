import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Neighbourhood, NeighbourhoodLimits, RawHistory } from '../../ports/history.ts';
import {
  SUITE_NOW,
  type SuiteHistory,
  transferHistoryKeeps,
} from '../../ports/transfer-history.suite.ts';
import { UNHELD } from '../../testing/clock.ts';
import { startFront } from '../../testing/damaged-front.ts';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { SANDBOX_WALLETS, worldChains } from '../../world/chain-data.ts';
import type { ExplorerChains, ExplorerRow } from '../../world/chain-types.ts';
import {
  EXPLORER_FAULTS,
  type ExplorerFault,
  type StartedExplorer,
  startExplorer,
} from '../../world/explorer-api.ts';
import { SANDBOX_LABELLED } from '../../world/labels.ts';
import { WORLD_SEED } from '../../world/listed-parties.ts';
import { inventAddress } from '../../world/made-up-address.ts';
import { ProviderFault, providerGuard, withBudget } from '../http/provider.ts';
import {
  askExplorer,
  blockscoutChain,
  ChainRefused,
  EMPTIES,
  etherscanChain,
  type ListAction,
  nodeResultIn,
  pageIn,
  WindowEnded,
} from './envelope.ts';
import { explorerHistory, explorerLists } from './history.ts';
import { readTransfers, rowIn } from './listing.ts';

describe('explorer', () => {
  const HEAD = 30_000;
  const LIMITS: NeighbourhoodLimits = {
    rowsMax: 5_000,
    degreeMax: 50,
    transfersPerCounterpartyMax: 100,
    batchRowsMax: 10_000,
    signal: new AbortController().signal,
  };
  const ALICE = `0x${'a'.repeat(40)}`;
  const BOB = `0x${'b'.repeat(40)}`;
  const KEY = 'MARKER7f3aKEY';

  const open: StartedExplorer[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  function chainsOf(rows: readonly ExplorerRow[]): ExplorerChains {
    return {
      headOf: () => HEAD,
      timeOf: (_, block) => SUITE_NOW - (HEAD - block),
      rowsOfToken: (_, token) => rows.filter((one) => one.token?.address === token),
      rowsOf: (chainId, address) =>
        chainId === 1 ? rows.filter(({ from, to }) => from === address || to === address) : [],
    };
  }

  function row(n: number, over: Partial<ExplorerRow> = {}): ExplorerRow {
    return {
      kind: 'native',
      tx: `0x${n.toString(16).padStart(64, '0')}`,
      block: 100 + n,
      at: SUITE_NOW - 10_000 + n,
      from: ALICE,
      to: BOB,
      value: 10n ** 18n,
      token: null,
      success: true,
      ...over,
    };
  }

  type Dialect = 'etherscan' | 'blockscout';
  type Over = Partial<Parameters<typeof explorerHistory>[0]>;

  async function started(rows: readonly ExplorerRow[]): Promise<StartedExplorer> {
    const explorer = await startExplorer(chainsOf(rows));
    open.push(explorer);
    return explorer;
  }

  function historyOf(
    explorer: StartedExplorer,
    dialect: Dialect,
    names: readonly EvmChainName[] = ['ethereum'],
    over: Over = {},
    retriesMax = 1,
  ): RawHistory {
    const limits = { callsPerS: 10_000, retriesMax, backoffMs: 1, failuresMax: 100, restMs: 1 };
    const guard = providerGuard(limits, () => performance.now());
    return explorerHistory({
      chains: names.map((name) =>
        dialect === 'etherscan'
          ? etherscanChain(name, { url: explorer.etherscan, guard }, KEY)
          : blockscoutChain(name, {
              url: explorer.blockscout(Number(CHAINS[name].chain_id)),
              guard,
            }),
      ),
      now: () => SUITE_NOW,
      timeMs: 60_000,
      callsMax: 500,
      simulated: false,
      ...UNHELD,
      ...over,
    });
  }

  async function ask(history: RawHistory, address: string, over = {}) {
    const readings = await history.neighbourhoods([address], { ...LIMITS, ...over });
    const reading = readings.get(address);
    if (reading === undefined) throw new Error('no reading for the address asked');
    return reading;
  }

  function known(reading: Partly<Neighbourhood, 'raw_history'>): Neighbourhood | null {
    const sight = rowsSeen(map(reading, (one) => [one]));
    return sight === null ? null : sight[0];
  }

  function asRows(world: SuiteHistory): ExplorerRow[] {
    return world.transfers
      .filter(({ chain }) => chain === 'ethereum')
      .map(({ kind, raw_amount, token, symbol, decimals, ...rest }) => ({
        ...rest,
        kind: kind === 'nft' ? 'token' : kind,
        value: raw_amount,
        token: token === null ? null : { address: token, symbol, decimals },
      }))
      .sort((a, b) => a.block - b.block);
  }

  for (const dialect of ['etherscan', 'blockscout'] as const) {
    transferHistoryKeeps(dialect, async (world) => {
      const explorer = await startExplorer(chainsOf(asRows(world)));
      // An explorer holds every address: what is not held of one is an address that it fails on.
      const held = new Set(world.coverage.map(({ address }) => address));
      const history = historyOf(explorer, dialect, ['ethereum'], { simulated: world.simulated });
      const neighbourhoods: RawHistory['neighbourhoods'] = async (addresses, limits) => {
        const readings = new Map(await history.neighbourhoods([], limits));
        for (const address of addresses) {
          explorer.fault(() => (held.has(address) ? null : 'notok'));
          for (const one of await history.neighbourhoods([address], limits)) readings.set(...one);
        }
        return readings;
      };
      const onlyHeld = held.has(null) ? history : { ...history, neighbourhoods };
      return { history: onlyHeld, close: explorer.close };
    });
  }

  describe('covers', () => {
    test('native, token and internal history, from the first block to a settled one', async () => {
      const explorer = await started([row(1)]);
      const reading = await ask(historyOf(explorer, 'etherscan'), ALICE);
      expect(reading).toBeInstanceOf(Read);
      const ranges = known(reading)?.coverage;
      expect(ranges?.map(({ kind }) => kind).sort()).toEqual(['internal', 'native', 'token']);
      for (const range of ranges ?? []) {
        expect(range).toMatchObject({ from_block: 0, from_first: true, to_block: HEAD - 100 });
        expect(range.to_time).toBe(SUITE_NOW - 100);
      }
    });

    test('no native transfers where the success of one is not told', async () => {
      const explorer = await started([row(1, { success: null })]);
      const reading = await ask(historyOf(explorer, 'etherscan'), ALICE);
      expect(known(reading)?.coverage.map(({ kind }) => kind)).not.toContain('native');
    });

    test('a failed transaction is no transfer', async () => {
      const explorer = await started([row(1, { success: false })]);
      expect(known(await ask(historyOf(explorer, 'etherscan'), ALICE))?.degree).toBe(0);
    });
  });

  test('who signed is told of all that moved in a transaction of the address, and else not', async () => {
    const token = { address: `0x${'7'.repeat(40)}`, symbol: 'T', decimals: 6 };
    const own = [row(1, { value: 0n }), row(1, { kind: 'token', token })];
    const explorer = await started([...own, row(2, { kind: 'token', token, value: 0n })]);
    const reading = await ask(historyOf(explorer, 'etherscan'), ALICE);
    const rows = known(reading)?.counterparties.flatMap(({ transfers }) => transfers);
    expect(rows?.map(({ block, initiator }) => [block, initiator])).toEqual([
      [102, null],
      [101, ALICE],
      [101, ALICE],
    ]);
  });

  describe('the simulated chains', () => {
    const { oneHop, unused, hub } = SANDBOX_WALLETS;
    const names = ['ethereum', 'base'] as const;

    test('are read through the same adapter, and go on from day to day', async () => {
      let now = SUITE_NOW;
      const explorer = await startExplorer(worldChains(() => now, WORLD_SEED));
      open.push(explorer);
      const history = historyOf(explorer, 'blockscout', names, { now: () => now });
      const degree = async (address: string) => {
        const reading = await ask(history, address, { degreeMax: 5_000, rowsMax: 5_000 });
        return [reading instanceof Read, known(reading)?.degree];
      };
      expect(await degree(oneHop)).toEqual([true, 1]);
      expect(await degree(unused)).toEqual([true, 0]);
      const [, crowd] = await degree(hub);
      expect(crowd).toBeGreaterThan(5_000);
      const hot = async () => Number((await degree(SANDBOX_LABELLED.hot))[1]);
      const before = await hot();
      now += 60 * 86_400;
      expect(await hot()).toBeGreaterThan(before);
    });
  });

  describe('pages', () => {
    test('past the rows of one answer, each row once', async () => {
      const rows = Array.from({ length: 2_500 }, (_, i) => row(i, { block: 100 + (i >> 2) }));
      const explorer = await started(rows);
      const reading = await ask(historyOf(explorer, 'etherscan'), ALICE);
      expect(reading).toBeInstanceOf(Read);
      expect(known(reading)?.counterparties[0]?.transfer_count).toBe(2_500);
    });

    test.each([2, 3, 4, 5])('cut to half are no whole list of %i rows', async (count) => {
      const blocks = [(n: number) => 100 + n, () => 100];
      for (const block of blocks) {
        const rows = Array.from({ length: count }, (_, n) => row(n, { block: block(n) }));
        for (const dialect of ['etherscan', 'blockscout'] as const) {
          const explorer = await started(rows);
          expect(await ask(historyOf(explorer, dialect), ALICE)).toBeInstanceOf(Read);
          explorer.fault(({ action }) => (action.startsWith('tx') ? 'truncated-page' : null));
          const reading = await ask(historyOf(explorer, dialect), ALICE);
          expect(reading, `${dialect} from block ${rows[1]?.block}`).not.toBeInstanceOf(Read);
          expect(known(reading)?.coverage.map(({ kind }) => kind)).not.toContain('native');
        }
      }
    });

    test('through a block that alone fills several answers', async () => {
      const rows = Array.from({ length: 2_500 }, (_, i) =>
        row(i, { block: i < 2_400 ? 100 : 200 }),
      );
      const reading = await ask(historyOf(await started(rows), 'etherscan'), ALICE);
      expect(reading).toBeInstanceOf(Read);
      expect(known(reading)?.counterparties[0]?.transfer_count).toBe(2_500);
    });

    test('until the window of the provider ends, which makes it a part', async () => {
      const rows = Array.from({ length: 11_000 }, (_, i) => row(i, { block: 100 }));
      const reading = await ask(historyOf(await started(rows), 'etherscan'), ALICE, {
        rowsMax: 20_000,
        batchRowsMax: 20_000,
      });
      expect(reading instanceof Part && reading.why.code).toBe('row_cap');
      expect(known(reading)?.coverage.map(({ kind }) => kind)).not.toContain('native');
    });
  });

  const ROWS = [1, 2, 3, 4].flatMap((n) => [
    row(n),
    row(n + 10, { kind: 'internal', from: BOB, to: ALICE }),
    row(n + 20, {
      kind: 'token',
      token: { address: `0x${'7'.repeat(40)}`, symbol: 'T', decimals: 6 },
    }),
  ]);
  /** An explorer that lags answers in full up to its head, whose age decides what that denies. */
  const BROKEN = EXPLORER_FAULTS.filter((fault) => fault !== 'lagging');
  /** Which calls a fault changes at all: the others are answered as ever. */
  const NO_CHANGE: Readonly<Partial<Record<ExplorerFault, RegExp>>> = {
    'pending-internal': /^(?!txlistinternal)/,
    'truncated-page': /^eth_/,
    'other-address': /^eth_/,
    'window-ended': /^eth_/,
    'lists-notok': /^eth_/,
  };

  describe.each(['etherscan', 'blockscout'] as const)('each fault at each call (%s)', (dialect) => {
    test.each(BROKEN)('%s never makes an empty or whole history', async (fault) => {
      const clear = await started(ROWS);
      expect(await ask(historyOf(clear, dialect), ALICE)).toBeInstanceOf(Read);
      const limits = { timeMs: fault === 'timeout' || fault === 'slow' ? 200 : 5_000 };
      for (const action of new Set(clear.calls.map((call) => call.action))) {
        if (NO_CHANGE[fault]?.test(action) === true) continue;
        const explorer = await started(ROWS);
        explorer.fault((call) => (call.action === action ? fault : null));
        const history = historyOf(explorer, dialect, ['ethereum'], limits);
        const reading = await ask(history, ALICE);
        if (fault === 'wrong-chain-id' && dialect === 'blockscout' && action !== 'eth_chainId') {
          continue;
        }
        expect(reading, `${fault} at ${action}`).not.toBeInstanceOf(Read);
        if (reading instanceof Read) throw new Error('unreachable');
        const spent = fault === 'timeout' || fault === 'slow';
        const refusedWhole = fault === 'refused-chain' && action.startsWith('eth_');
        const code = spent ? 'time_budget' : refusedWhole ? 'no_history' : 'provider_failed';
        expect(reading.why.code, `${fault} at ${action}`).toBe(code);
        if (code === 'provider_failed') {
          expect(reading.why.reason).toContain(`http://${explorer.etherscan.host}`);
          expect(reading.why.reason).toContain('(ethereum');
        }
        expect(reading.why.reason).not.toContain(KEY);
      }
    });
  });

  test('a list that fails is told where the history is made up, too', async () => {
    const explorer = await started(ROWS);
    explorer.fault(({ action }) => (action === 'tokentx' ? 'error500' : null));
    const history = historyOf(explorer, 'etherscan', ['ethereum'], { simulated: true }, 0);
    const reading = await ask(history, ALICE);
    expect(reading instanceof Part && reading.why.code).toBe('provider_failed');
    expect(known(reading)?.degree).toBe(1);
  });

  const AT_ONCE = BROKEN.filter((fault) => fault !== 'slow' && fault !== 'timeout');

  test.each(AT_ONCE)('%s at one call alone is told, or changes nothing', async (fault) => {
    const clear = await started(ROWS);
    const whole = known(await ask(historyOf(clear, 'blockscout'), ALICE));
    for (const { n } of clear.calls) {
      const explorer = await started(ROWS);
      explorer.fault((call) => (call.n === n ? fault : null));
      const reading = await ask(historyOf(explorer, 'blockscout', ['ethereum'], {}, 0), ALICE);
      if (reading instanceof Read) expect(reading.value, `${fault} at call ${n}`).toEqual(whole);
    }
  });

  describe('chains', () => {
    test('one that the plan refuses is not read here, and leaves no gap', async () => {
      const explorer = await started(ROWS);
      explorer.fault(({ chainId }) => (chainId === 8453 ? 'refused-chain' : null));
      const history = historyOf(explorer, 'etherscan', ['ethereum', 'base']);
      const chains = await history.chainsRead();
      expect(chains instanceof Read && chains.value).toEqual(['ethereum']);
      expect(await ask(history, ALICE)).toBeInstanceOf(Read);
    });

    test('one that fails just now is still read here', async () => {
      const explorer = await started(ROWS);
      explorer.fault(({ chainId }) => (chainId === 8453 ? 'error500' : null));
      const history = historyOf(explorer, 'etherscan', ['ethereum', 'base']);
      const chains = await history.chainsRead();
      expect(chains instanceof Read && chains.value).toEqual(['ethereum', 'base']);
      const reading = await ask(history, ALICE);
      expect(reading).toBeInstanceOf(Part);
      expect(known(reading)?.degree).toBe(1);
    });

    test('an address of another kind is not looked for on them', async () => {
      const explorer = await started(ROWS);
      const reading = await ask(
        historyOf(explorer, 'etherscan'),
        '1BoatSLRHtKNngkdXEeobR76b53LETtpyT',
      );
      expect(reading instanceof Unread && reading.why.code).toBe('not_walked_kind');
      expect(explorer.calls).toHaveLength(0);
    });
  });

  describe('budget', () => {
    test('calls that are spent leave the rest unread, with that reason', async () => {
      const explorer = await started(ROWS);
      const history = historyOf(explorer, 'etherscan', ['ethereum'], { callsMax: 2 });
      const reading = await ask(history, ALICE);
      expect(reading instanceof Unread && reading.why.code).toBe('call_budget');
      expect(explorer.calls.length).toBeLessThanOrEqual(2);
    });

    test('a request that hangs up stops waiting and asks nothing more', async () => {
      const explorer = await started(ROWS);
      const hung = new AbortController();
      explorer.fault(() => {
        hung.abort();
        return 'timeout';
      });
      const reading = await ask(historyOf(explorer, 'etherscan'), ALICE, { signal: hung.signal });
      expect(reading instanceof Unread && reading.why.code).toBe('time_budget');
      expect(explorer.calls).toHaveLength(1);
    });
  });

  test.each([0, 1])('a window that ends at question %i of a list leaves it unread', async (n) => {
    const explorer = await started([row(1)]);
    let lists = 0;
    explorer.fault(({ action }) => {
      if (action !== 'txlist') return null;
      lists += 1;
      return lists > n ? 'window-ended' : null;
    });
    const reading = await ask(historyOf(explorer, 'etherscan', ['ethereum'], {}, 0), ALICE);
    expect(reading).toBeInstanceOf(Part);
    expect(reading instanceof Part && reading.why.reason).toContain('ended its window of results');
  });

  test('a page that ends inside a block is asked again from that block, and is no end', async () => {
    // Both rows are of one block: nothing lies behind it that could show the cut.
    const explorer = await started([row(1), row(2, { block: row(1).block })]);
    let pages = 0;
    explorer.fault(({ action }) => {
      if (action !== 'txlist') return null;
      pages += 1;
      return pages === 1 ? 'truncated-page' : null;
    });
    const history = historyOf(explorer, 'etherscan', ['ethereum'], {}, 0);
    const reading = (await history.neighbourhoods([ALICE], LIMITS)).get(ALICE);
    expect(pages).toBe(2);
    expect(reading).not.toBeInstanceOf(Read);
    const coverage =
      reading === undefined ? null : rowsSeen(map(reading, (known) => known.coverage));
    expect(coverage?.filter(({ kind }) => kind === 'native')).toEqual([]);
  });
});

describe('a list', () => {
  const NOW = 1_790_000_000;
  const HEAD = 5_000;
  const OWNER = `0x${'a'.repeat(40)}`;
  const fronts: (() => void)[] = [];
  afterEach(() => {
    for (const close of fronts.splice(0)) close();
  });
  type Row = Readonly<Record<string, string>>;
  const rowOf = (block: number, over: Row = {}): Row => ({
    blockNumber: String(block),
    timeStamp: String(NOW - 1_000),
    hash: `0x${'1'.repeat(64)}`,
    from: OWNER,
    to: `0x${'b'.repeat(40)}`,
    value: '1',
    isError: '0',
    ...over,
  });
  /** An explorer whose newest block is 5,100, so that 5,000 is settled. */
  async function chainWith(rowsFrom: (block: number) => readonly Row[]) {
    const front = await startFront(async (path) => {
      const asked = new URL(path, 'http://x').searchParams;
      const action = asked.get('action');
      const number = `0x${HEAD.toString(16)}`;
      if (action === 'eth_blockNumber') return JSON.stringify({ result: '0x13ec' });
      if (action === 'eth_getBlockByNumber') {
        return JSON.stringify({ result: { number, timestamp: `0x${NOW.toString(16)}` } });
      }
      const result = rowsFrom(Number(asked.get('startblock')));
      return JSON.stringify({ status: '1', message: 'OK', result });
    });
    fronts.push(front.close);
    const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
    const guard = providerGuard(limits, () => performance.now());
    return etherscanChain('ethereum', { url: new URL('/v2/api', front.url), guard }, null);
  }
  const signal = new AbortController().signal;
  const full = Array.from({ length: 998 }, (_, i) => rowOf(i));

  test.each<[string, (from: number) => readonly Row[]]>([
    ['answered rows out of order', () => [rowOf(2), rowOf(1)]],
    ['answered more rows than were asked for', () => [...full, rowOf(998), rowOf(998), rowOf(999)]],
    [
      'answered pages that disagree',
      (from) => (from === 0 ? [...full, rowOf(999), rowOf(999)] : [rowOf(999)]),
    ],
    ['cut a page short without a word', (from) => (from === 0 ? [rowOf(3)] : [rowOf(3), rowOf(3)])],
    ['answered rows of blocks that were not asked for', () => [rowOf(HEAD + 1)]],
  ])('whose provider %s is not read', async (fault, rowsFrom) => {
    const at = await chainWith(rowsFrom);
    const asked = { chain: 'ethereum', address: OWNER, fromBlock: 0, toBlock: HEAD } as const;
    const list = withBudget({ timeMs: 5_000, callsMax: 10, signal }, (budget) =>
      readTransfers(at, 'txlist', asked, { transfersMax: 5_000 }, budget),
    );
    await expect(list).rejects.toThrow(fault);
  });

  test('that fits together is read to its end, over the rows of one answer', async () => {
    const rest = [rowOf(999), rowOf(999), rowOf(1_000)];
    const at = await chainWith((from) => {
      return [...full, ...rest].filter((one) => Number(one['blockNumber']) >= from).slice(0, 1_000);
    });
    const asked = { chain: 'ethereum', address: OWNER, fromBlock: 0, toBlock: HEAD } as const;
    const list = await withBudget({ timeMs: 5_000, callsMax: 10, signal }, (budget) =>
      readTransfers(at, 'txlist', asked, { transfersMax: 5_000 }, budget),
    );
    expect(list.transfers).toHaveLength(1_001);
    expect(list).toMatchObject({ cut: false, pending: false, whole_to: HEAD });
  });

  test.each<[string, number, readonly Row[]]>([
    ['has settled no block since 5000', HEAD + 1, []],
    ['tells no success', HEAD - 1, [rowOf(HEAD, { isError: '' })]],
  ])('of a kind that %s is no slice', async (fault, from_block, rows) => {
    const at = await chainWith(() => rows);
    const { slice } = explorerLists({ chains: [at], now: () => NOW });
    const how = { callsMax: 10, signal, onCall: () => undefined };
    const asked = { chain: 'ethereum', address: OWNER, kind: 'native', from_block } as const;
    const reading = await slice(asked, how);
    expect(reading instanceof Unread && reading.why.reason).toContain(fault);
  });

  test('from its newest settled block on is a slice of that one block', async () => {
    const at = await chainWith(() => [rowOf(HEAD)]);
    const { slice } = explorerLists({ chains: [at], now: () => NOW });
    const how = { callsMax: 10, signal, onCall: () => undefined };
    const asked = { chain: 'ethereum', address: OWNER, kind: 'native', from_block: HEAD } as const;
    const reading = await slice(asked, how);
    expect(reading instanceof Read && reading.value).toMatchObject({
      to_block: HEAD,
      to_time: NOW,
      ended: true,
    });
  });
});

const FOLDER = `${SHARED_DATA}/provider-recordings/external_apis`;
const FILES = [
  'test_etherscan/test_etherscan_get_transactions_genesis_block.yaml',
  'test_etherscan/test_has_activity.yaml',
  'test_routescan/test_routescan_has_activity.yaml',
  'test_blockscout/test_hash_activity.yaml',
].filter((name) => existsSync(`${FOLDER}/${name}`));
const ACTIONS: readonly string[] = Object.keys(EMPTIES);

type Recorded = { readonly action: ListAction; readonly address: string; readonly said: string };

/** A recorded request with its answer; a recording whose text spans lines is left out. */
function recordedIn(name: string): Recorded[] {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  return text.split('\n- request:').flatMap((one) => {
    const uri = /^ {4}uri: (\S+)$/m.exec(one)?.[1];
    const said = /^ {6}string: '(\{.*\})'$/m.exec(one)?.[1];
    if (uri === undefined || said === undefined) return [];
    const { searchParams } = new URL(uri);
    const action = String(searchParams.get('action'));
    if (!ACTIONS.includes(action)) return [];
    const address = String(searchParams.get('address')).toLowerCase();
    return [{ action: action as ListAction, address, said: said.replaceAll("''", "'") }];
  });
}

/** Answers of our own making, in the exact form; a file for each situation. */
function ownIn(situation: string): readonly z.output<typeof OWN>[number][] {
  const file = new URL(`./recordings/${situation}.json`, import.meta.url);
  const held: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return OWN.parse(held);
}

const OWN = z
  .array(
    z.strictObject({
      action: z.enum(['txlist', 'txlistinternal', 'tokentx']),
      address: z.string(),
      answer: z.unknown(),
    }),
  )
  .min(1);

describe('recordings of our own making', () => {
  const transfersIn = (situation: string) =>
    ownIn(situation).flatMap(({ action, address, answer }) => {
      const { rows, pending } = pageIn(action, answer);
      expect(pending).toBe(false);
      const asked = { chain: 'ethereum', address, fromBlock: 0, toBlock: 1_000_000_000 } as const;
      return rows.map((row) => rowIn(action, row, asked));
    });
  const [alice, bob] = ['alice', 'bob'].map((name) => inventAddress('recordings', 'evm', name));
  const made = inventAddress('recordings', 'evm', 'made');

  test('transactions: what failed moved nothing, a creation paid what it made', () => {
    expect(transfersIn('etherscan-transactions')).toMatchObject([
      { block: 101, transfer: { from: alice, to: bob, raw_amount: 58_111_783_231_682_072n } },
      { block: 102, transfer: null },
      { block: 103, transfer: { to: made, raw_amount: 7n } },
    ]);
  });

  test('an allocation of the genesis block was sent by nobody', () => {
    expect(transfersIn('etherscan-genesis')).toEqual([{ block: 0, transfer: null }]);
  });

  test('internal calls: a delegated one moves nothing', () => {
    const [call, create, delegated] = transfersIn('etherscan-internal');
    expect(call?.transfer).toMatchObject({ to: alice, raw_amount: 1_000n, kind: 'internal' });
    expect(create?.transfer).toMatchObject({ to: made, raw_amount: 0n });
    expect(delegated?.transfer).toBeNull();
  });

  test('token transfers: decimals that are not told are unknown, not zero', () => {
    expect(transfersIn('etherscan-token-transfers').map(({ transfer }) => transfer)).toMatchObject([
      { to: alice, raw_amount: 422_866_751n, decimals: 6 },
      { to: alice, raw_amount: 422_866_751n, decimals: null },
    ]);
  });

  test('each of the words for nothing is an empty page', () => {
    expect(ownIn('nothing-there')).toHaveLength(6);
    expect(transfersIn('nothing-there')).toEqual([]);
  });

  test('pending traces are no empty page', () => {
    const [first] = ownIn('pending-internal');
    expect(pageIn('txlistinternal', first?.answer)).toEqual({ rows: [], pending: true });
  });

  test.each([
    ['rate-limited', ProviderFault],
    ['window-ended', WindowEnded],
    ['chain-refused', ChainRefused],
  ])('%s is a failure of its own kind', (situation, kind) => {
    for (const { action, answer } of ownIn(situation)) {
      expect(() => pageIn(action, answer)).toThrow(kind);
    }
  });
});

describe.skipIf(FILES.length === 0)('recorded answers (or skipped: no shared data)', () => {
  test.each(FILES)('%s is read as what it says', (name) => {
    const recorded = recordedIn(name);
    expect(recorded.length).toBeGreaterThan(0);
    for (const { action, address, said } of recorded) {
      const answer: unknown = JSON.parse(said);
      const { rows, pending } = pageIn(action, answer);
      expect(pending).toBe(false);
      const asked = { chain: 'ethereum', address, fromBlock: 0, toBlock: 1_000_000_000 } as const;
      expect(rows.length === 0).toBe(said.includes('"result":[]'));
      for (const row of rows) expect(rowIn(action, row, asked).block).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('rows', () => {
  const [from, to] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string];
  const asked = { chain: 'ethereum', address: from, fromBlock: 0, toBlock: 10 } as const;
  const row = { blockNumber: '5', timeStamp: '1600000000', hash: '0x1', from, to, value: '7' };

  test('a creation that failed names no receiver, and moves nothing', () => {
    const failed = { ...row, to: '', contractAddress: '', isError: '1' };
    expect(rowIn('txlist', failed, asked)).toEqual({ block: 5, transfer: null });
    expect(rowIn('txlistinternal', { ...failed, type: 'create' }, asked).transfer).toBeNull();
  });

  test('a creation that succeeded paid the contract that it made', () => {
    const made = { ...row, to: '', contractAddress: to, isError: '0' };
    expect(rowIn('txlist', made, asked).transfer).toMatchObject({ to, raw_amount: 7n });
  });

  test.each([
    ['callcode', {}],
    ['delegatecall', {}],
    ['call', { callType: 'staticcall' }],
  ])('%s %j moves nothing', (type, over) => {
    const internal = { ...row, type, isError: '0', ...over };
    expect(rowIn('txlistinternal', internal, asked).transfer).toBeNull();
  });

  test.each([
    ['a block that was not asked for', 'txlist', { blockNumber: '11' }],
    ['a value that is no integer', 'txlist', { value: '1.5' }],
    ['a value as a number', 'txlist', { value: 7 }],
    ['no sender', 'txlist', { from: '' }],
    ['an unknown kind of call', 'txlistinternal', { type: 'teleport' }],
    ['no value', 'tokentx', { contractAddress: to, value: undefined }],
  ] as const)('%s is a failure of the provider (%s)', (_, action, over) => {
    const broken = { isError: '0', type: 'call', ...row, ...over };
    expect(() => rowIn(action, broken, asked)).toThrow(ProviderFault);
  });

  test('a token that has an id is no amount, and no transfer', () => {
    const nft = { ...row, contractAddress: to, tokenID: '12' };
    expect(rowIn('tokentx', nft, asked).transfer).toBeNull();
  });
});

describe('nothing is empty but the words for it', () => {
  test.each([
    ['an unknown message', { status: '0', message: 'No data found', result: [] }],
    ['an error as text', { status: '0', message: 'NOTOK', result: 'Max rate limit reached' }],
    ['the words without a list', { status: '0', message: 'No transactions found', result: '' }],
    ['text where a list belongs', { status: '1', message: 'OK', result: '' }],
    ['no result at all', { status: '1', message: 'OK' }],
    ['another shape', []],
    ['another list’s words', { status: '0', message: 'No token transfers found', result: [] }],
  ])('%s is a failure', (_, answer) => {
    expect(() => pageIn('txlist', answer)).toThrow(ProviderFault);
  });

  test('pending traces are no empty list', () => {
    const answer = { status: '2', message: 'Some internal transactions …', result: [] };
    expect(pageIn('txlistinternal', answer)).toEqual({ rows: [], pending: true });
  });

  test('the end of a window is no end of the list', () => {
    const message = 'Result window is too large, PageNo x Offset size must be less than …';
    expect(() => pageIn('txlist', { status: '0', message, result: null })).toThrow(WindowEnded);
    const inReason = { status: '0', message: 'NOTOK', result: message };
    expect(() => pageIn('txlist', inReason)).toThrow(WindowEnded);
  });

  test('a plan that lacks the chain is told from a passing failure, in every module', () => {
    const result = 'Free API access is not supported for this chain. Please upgrade …';
    const answer = { status: '0', message: 'NOTOK', result };
    expect(() => pageIn('txlist', answer)).toThrow(ChainRefused);
    expect(() => nodeResultIn(answer)).toThrow(ChainRefused);
  });

  test.each([
    [`/${'a1'}/v2/api`, 'Q7'],
    ['/v2/api', 'K'.repeat(34)],
    ['/secretpath/v2/api?extra=%2Bplus', 'has spaces & marks'],
  ])('what an explorer at %s says is shown without its key %s', async (path, key) => {
    const server = createServer((request, response) => {
      const extra = new URL(String(request.url), 'http://x').searchParams.get('extra');
      const result = `Invalid API Key (#err2)|${key}|${encodeURIComponent(key)}|${extra} at /secretpath`;
      response.end(JSON.stringify({ status: '0', message: 'NOTOK', result }));
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = new URL(`http://127.0.0.1:${Object(server.address()).port}${path}`);
    const limits = { callsPerS: 100, retriesMax: 0, backoffMs: 1, failuresMax: 9, restMs: 1 };
    const guard = providerGuard(limits, () => 0);
    const at = etherscanChain('ethereum', { url, guard }, key);
    const { signal } = new AbortController();
    const said = await withBudget({ callsMax: 1, timeMs: 10_000, signal }, (budget) =>
      askExplorer(at, budget, at.list({}), (answer) => pageIn('txlist', answer)),
    ).catch(String);
    server.close();
    expect(said).toContain('Invalid API Key (#err2)|[…]|[…]|');
    const sent = [
      key,
      encodeURIComponent(key),
      ...(path.includes('secret') ? ['+plus', 'secretpath'] : []),
    ];
    for (const part of sent) {
      expect(said).not.toContain(part);
    }
  });

  test('a key that is a word of ours changes no kind of refusal', async () => {
    const said = 'Free API access is not supported for this chain.';
    const server = createServer((_, response) => {
      response.end(JSON.stringify({ status: '0', message: 'NOTOK', result: said }));
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = new URL(`http://127.0.0.1:${Object(server.address()).port}/v2/api`);
    const limits = { callsPerS: 100, retriesMax: 0, backoffMs: 1, failuresMax: 9, restMs: 1 };
    const at = etherscanChain('ethereum', { url, guard: providerGuard(limits, () => 0) }, 'plan');
    const { signal } = new AbortController();
    const asked = withBudget({ callsMax: 1, timeMs: 10_000, signal }, (budget) =>
      askExplorer(at, budget, at.list({}), (answer) => pageIn('txlist', answer)),
    );
    await expect(asked).rejects.toBeInstanceOf(ChainRefused);
    server.close();
  });
});
