import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { madeUpAddress } from '../../world/made-up-address.ts';
import { ProviderFault } from '../http/provider.ts';
import {
  ChainRefused,
  EMPTIES,
  type ListAction,
  nodeResultIn,
  pageIn,
  WindowEnded,
} from './envelope.ts';
import { rowIn } from './listing.ts';

const FOLDER = `${SHARED_DATA}/provider-recordings/external_apis`;
const FILES = [
  'test_etherscan/test_etherscan_get_transactions_genesis_block.yaml',
  'test_etherscan/test_has_activity.yaml',
  'test_routescan/test_routescan_has_activity.yaml',
  'test_blockscout/test_hash_activity.yaml',
].filter((name) => existsSync(`${FOLDER}/${name}`));
const ACTIONS: readonly string[] = Object.keys(EMPTIES);

type Recorded = { readonly action: ListAction; readonly address: string; readonly said: string };

/** What was asked and answered; a recording whose text is broken over lines is left out. */
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
  const [alice, bob] = ['alice', 'bob'].map((name) => madeUpAddress('recordings', 'evm', name));
  const made = madeUpAddress('recordings', 'evm', 'made');

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
  });

  test('a plan that lacks the chain is told from a passing failure, in every module', () => {
    const result = 'Free API access is not supported for this chain. Please upgrade …';
    const answer = { status: '0', message: 'NOTOK', result };
    expect(() => pageIn('txlist', answer)).toThrow(ChainRefused);
    expect(() => nodeResultIn(answer)).toThrow(ChainRefused);
  });

  test('what a provider says is shown without what could be a key', () => {
    const result = `Invalid API Key ${'K'.repeat(34)} at https://x.example/y`;
    let said = '';
    try {
      pageIn('txlist', { status: '0', message: 'NOTOK', result });
    } catch (error) {
      said = String(error);
    }
    expect(said).toContain('Invalid API Key');
    expect(said).not.toContain('KKKK');
    expect(said).not.toContain('x.example');
  });
});
