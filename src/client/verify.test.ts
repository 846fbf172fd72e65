// Does the check of a saved signal ask the chain for what it anchored, and take nobody at his word?

import { hex } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { keccak256 } from '../chain/digest.ts';
import { savedAnswerVector } from '../testing/answer-vectors.ts';
import { LOST, LOST_AT, STRANGER, VECTOR_KEYS } from '../testing/vector-keys.ts';
import { savedVector } from '../testing/verification-vectors.ts';
import { type SavedCheck, verifySaved } from './verify.ts';

const NOW = 1_790_000_000;
const TX = `0x${'ab'.repeat(32)}`;
const BLOCK_HASH = `0x${'cd'.repeat(32)}`;
const ANCHORED = `0x${hex.encode(keccak256('Anchored(uint64,bytes32)'))}`;
const { file, root, size, older } = savedVector({
  shown: { anchor_tx: TX, anchor_status: 'confirmed' },
});

type Chain = { readonly [method: string]: unknown };

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`;
const CONTRACT = `0x${'c0'.repeat(20)}`;
const RECEIPT = {
  status: '0x1',
  blockNumber: '0x64',
  blockHash: BLOCK_HASH,
  logs: [{ address: CONTRACT, topics: [ANCHORED, word(size)], data: root }],
};
const CHAIN: Chain = {
  eth_chainId: '0x2105',
  eth_getTransactionReceipt: RECEIPT,
  finalized: { number: '0x65' },
  eth_getBlockByNumber: { hash: BLOCK_HASH },
};

/** The check of the anchor by a node that answers so. */
async function anchorBy(changes: Chain, saved: object = file): Promise<SavedCheck | undefined> {
  const chain = { ...CHAIN, ...changes };
  const node = async (method: string, params: readonly unknown[]) => {
    const name = params[0] === 'finalized' ? 'finalized' : method;
    const said = chain[name];
    if (said instanceof Error) throw said;
    return said;
  };
  const bytes = Buffer.from(JSON.stringify(saved));
  const { checks, outcome } = await verifySaved(bytes, {
    keys: VECTOR_KEYS,
    checkpoint: null,
    node,
    now: NOW,
  });
  const anchor = checks.find(({ check }) => check === 'anchor');
  const others = checks.filter(({ check }) => check !== 'anchor');
  expect(others.filter((one) => one.outcome !== 'holds')).toEqual([]);
  const outcomes = { holds: 'verified', fails: 'refuted', unchecked: 'unchecked' } as const;
  expect(outcome).toBe(anchor === undefined ? 'verified' : outcomes[anchor.outcome]);
  return anchor;
}

const receipt = (changes: object) => ({ eth_getTransactionReceipt: { ...RECEIPT, ...changes } });
const log = (changes: object) => receipt({ logs: [{ ...RECEIPT.logs[0], ...changes }] });

describe('the anchor', () => {
  test('holds where a final transaction of the chain anchored a root over the leaf', async () => {
    expect(await anchorBy({})).toEqual({
      check: 'anchor',
      outcome: 'holds',
      says:
        `It is under the root of ${size} leaves of which the contract ${CONTRACT} of chain ` +
        '8453 tells, final since block 100.',
    });
    const beside = [{ topics: [word(1)], data: '0x' }, ...RECEIPT.logs];
    expect(await anchorBy(receipt({ logs: beside }))).toMatchObject({ outcome: 'holds' });
  });

  test.each<readonly [string, Chain, string]>([
    ['a failed transaction', receipt({ status: '0x0' }), 'failed on chain 8453'],
    ['a transaction without the event', receipt({ logs: [] }), 'anchored no root on chain 8453'],
    ['another event', log({ topics: [word(1), word(size)] }), 'anchored no root'],
    ['another root', log({ data: word(1) }), 'It is not under the root of'],
  ])('fails by %s', async (_, changes, says) => {
    const check = await anchorBy(changes);
    expect(check).toMatchObject({ outcome: 'fails', says: expect.stringContaining(says) });
  });

  test.each<readonly [string, Chain, string]>([
    ['an unknown transaction', { eth_getTransactionReceipt: null }, 'knows no such transaction'],
    ['a node of another chain', { eth_chainId: '0x1' }, 'The node is of chain 1, and not of 8453.'],
    [
      'a node that does not answer',
      { eth_chainId: new Error('HTTP 500') },
      'eth_chainId: HTTP 500',
    ],
    ['a node that answers nonsense', { eth_chainId: 8453 }, 'no number of the chain'],
    ['a node without a finalised block', { finalized: null }, 'no number of the finalised block'],
    ['an event of no contract', log({ address: null }), 'tells no contract of the event'],
    ['a block that is not final', { finalized: { number: '0x63' } }, 'Block 100 is not final'],
    [
      'a receipt of a block that was left',
      { eth_getBlockByNumber: { hash: word(7) } },
      'two blocks of one number',
    ],
    [
      'a root of a size without a proof in the file',
      log({ topics: [ANCHORED, word(8)], data: older.root }),
      'no proof under the 8 leaves anchored',
    ],
  ])('is unchecked by %s', async (_, changes, says) => {
    const check = await anchorBy(changes);
    expect(check).toMatchObject({ outcome: 'unchecked', says: expect.stringContaining(says) });
  });

  test('holds under the root of another size by the proof that the file has of it', async () => {
    const chain = log({ topics: [ANCHORED, word(8)], data: older.root });
    const proved = { ...file, anchor_proof: older.proof };
    expect(await anchorBy(chain, proved)).toMatchObject({ outcome: 'holds' });
    const wrong = { ...file, anchor_proof: older.proof.slice(1) };
    expect(await anchorBy(chain, wrong)).toMatchObject({ outcome: 'fails' });
  });

  test('is not asked for where the file claims none and no node is named', async () => {
    const queued = savedVector({}).file;
    const bytes = Buffer.from(JSON.stringify(queued));
    const said = await verifySaved(bytes, {
      keys: VECTOR_KEYS,
      checkpoint: null,
      node: null,
      now: NOW,
    });
    expect(said.checks.map(({ check }) => check)).not.toContain('anchor');
    expect(await anchorBy({}, queued)).toMatchObject({ outcome: 'unchecked' });
  });
});

describe('a saved answer', () => {
  const outcomeOf = async (file: object, keys: string | null = VECTOR_KEYS) => {
    const bytes = Buffer.from(JSON.stringify(file));
    const trust = { keys, checkpoint: null, node: null, now: NOW };
    const { outcome, checks } = await verifySaved(bytes, trust);
    expect(checks.map(({ check }) => check)).toEqual(['signature']);
    return [outcome, checks[0]?.says];
  };
  const answer = savedAnswerVector({ created: LOST_AT });

  test('holds by a key of the pinned set, and is unchecked without one', async () => {
    expect(await outcomeOf(answer)).toEqual([
      'verified',
      expect.stringMatching(/signed 200 to GET https:\S+receipts at 2026-05-29T20:26:40.000Z\.$/),
    ]);
    expect(await outcomeOf(answer, null)).toEqual([
      'unchecked',
      'No pinned key set was given to check the signature with.',
    ]);
  });

  test('of another address, of changed bytes or by another key is refuted', async () => {
    const moved = {
      ...answer,
      request: { ...answer.request, url: 'https://exhibit.example/other' },
    };
    expect(await outcomeOf(moved)).toEqual(['refuted', expect.stringContaining('wrong')]);
    const bytes = { ...answer, answer: { ...answer.answer, body_base64: 'e30=' } };
    expect(await outcomeOf(bytes)).toEqual(['refuted', expect.stringContaining('bytes')]);
    const foreign = savedAnswerVector({ key: STRANGER, created: LOST_AT });
    expect(await outcomeOf(foreign)).toEqual(['refuted', expect.stringContaining('pinned set')]);
  });

  test('by a lost key is refuted from then on, and unchecked before', async () => {
    const after = savedAnswerVector({ key: LOST, created: LOST_AT });
    expect(await outcomeOf(after)).toEqual(['refuted', expect.stringContaining('compromised')]);
    const before = savedAnswerVector({ key: LOST, created: LOST_AT - 1 });
    expect(await outcomeOf(before)).toEqual(['unchecked', expect.stringContaining('compromised')]);
  });
});

describe('a file that is none', () => {
  test.each<readonly [string, unknown, string]>([
    ['no object', [], 'format: expected exhibit-saved-signal/1 or'],
    ['another format', { format: 'x' }, 'format: expected exhibit-saved-signal/1 or'],
    ['no signal', { ...file, answer: {} }, 'answer.signal: expected an object'],
    ['no base64', { ...file, bundle_base64: '***' }, 'bundle_base64: expected base64'],
    ['a list of other things', { ...file, anchor_proof: [1] }, 'anchor_proof: expected a list of'],
    ['a field that every object has', { format: file.format, answer: null }, 'answer: expected'],
  ])('%s is refuted and named', async (_, value, says) => {
    const bytes = Buffer.from(JSON.stringify(value));
    const said = await verifySaved(bytes, { keys: null, checkpoint: null, node: null, now: NOW });
    expect(said).toEqual({
      outcome: 'refuted',
      checks: [{ check: 'file', outcome: 'fails', says: expect.stringContaining(says) }],
    });
  });

  test('bytes that are no JSON, and keys that are none, are refuted', async () => {
    const none = { keys: null, checkpoint: null, node: null, now: NOW };
    for (const bytes of [new Uint8Array(), Uint8Array.of(0xff), Buffer.from('{')]) {
      expect(await verifySaved(bytes, none)).toMatchObject({ outcome: 'refuted' });
    }
    const saved = Buffer.from(JSON.stringify(file));
    for (const keys of ['', '[]', '{"keys":[{}]}', '{"keys":[{"kid":"k","x":"short"}]}']) {
      expect(await verifySaved(saved, { ...none, keys })).toMatchObject({
        outcome: 'refuted',
        checks: [{ check: 'file' }],
      });
    }
  });
});
