import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ProviderFault } from '../provider-guard.ts';
import { EMPTIES, type ListAction } from './empties.ts';
import { ChainRefused, nodeResultIn, pageIn, WindowEnded } from './envelope.ts';
import { rowIn } from './rows.ts';

const DATA = process.env['EXHIBIT_TEST_DATA'] ?? '../shared/data';
const FOLDER = `${DATA}/provider-recordings/external_apis`;
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

describe.skipIf(FILES.length === 0)('recorded answers (skipped where none are)', () => {
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

  test('a plan that lacks the chain is told from weather, in every module', () => {
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
