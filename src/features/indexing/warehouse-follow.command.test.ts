import { describe, expect, test } from 'vitest';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Followable, FollowEnd, FollowState } from '../../ports/indexing/chain-following.ts';
import { ran } from '../../testing/recording-io.ts';
import { warehouseFollow } from './warehouse-follow.command.ts';

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
function services(states: readonly FollowState[], end: FollowEnd) {
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

const STOPPED: FollowEnd = { end: 'stopped', state: STATE };
const typed = (line: string, has = services([STATE], STOPPED), json = false) =>
  ran(line, [warehouseFollow], has, { json });
const LINE = 'base: block 20,000,000, 10 behind, 24 s old, 12,345 transfers since the start.';

describe('exhibit warehouse follow', () => {
  test('says what is held and how far behind it is, and that it was stopped', async () => {
    const has = services([STATE], STOPPED);
    const { status, lines, errors } = await typed(
      'warehouse follow base --from-block 19000000',
      has,
    );
    expect(status).toBe(0);
    expect(lines).toEqual([LINE, `Stopped. ${LINE}`]);
    expect(errors).toEqual([]);
    expect(has.asked).toEqual([19_000_000]);
  });

  test('says where a node does not tell what contracts send', async () => {
    const told = services([{ ...STATE, kinds: ['native', 'token'] }], STOPPED);
    const { lines } = await typed('warehouse follow base', told);
    expect(lines[0]).toBe(LINE.replace('start.', 'start, no internal transfers.'));
  });

  test('without a block to begin at, none is made up', async () => {
    const has = services([STATE], STOPPED);
    await typed('warehouse follow base', has);
    expect(has.asked).toEqual([null]);
  });

  test('shows a quiet chain now and then, but each re-org and each fault at once', async () => {
    const silent = { ...STATE, fault: FAULT };
    const undone = { ...STATE, reorgs: 1, blocks_undone: 2 };
    const quiet = Array.from({ length: 10 }, () => STATE);
    const has = services([...quiet, undone, silent, silent], STOPPED);
    const { lines, errors } = await typed('warehouse follow base', has);
    const more = LINE.replace('start.', 'start, 1 re-orgs, 2 blocks undone.');
    expect(lines).toEqual([LINE, LINE, more, LINE, `Stopped. ${LINE}`]);
    expect(errors).toEqual(['https://node.example failed: is away.']);
  });

  test('where nothing is held or known yet, it does not show a zero', async () => {
    const none = { last_block: null, last_time: null, lag_blocks: null, lag_s: null, transfers: 0 };
    const { lines } = await typed(
      'warehouse follow base',
      services([{ ...STATE, ...none }], STOPPED),
    );
    expect(lines[0]).toBe(
      'base: nothing held yet, the head is not known, 0 transfers since the start.',
    );
  });

  test('one JSON object a line, with the fault as its sentence', async () => {
    const has = services([{ ...STATE, fault: FAULT }], STOPPED);
    const { lines } = await typed('warehouse follow base', has, true);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { ...STATE, fault: 'https://node.example failed: is away.' },
      STATE,
    ]);
  });

  test('a chain that cannot be gone on with ends with status 1 and its reason', async () => {
    const { status, errors } = await typed(
      'warehouse follow base',
      services([], { end: 'broken', state: STATE, why: FAULT }),
    );
    expect(status).toBe(1);
    expect(errors).toEqual([
      'https://node.example failed: is away. Following base has stopped; nothing was changed.',
    ]);
  });

  test('refuses a chain without a node, and a block that is none', async () => {
    expect((await typed('warehouse follow solana')).status).toBe(2);
    expect((await typed('warehouse follow base --from-block -1')).status).toBe(2);
    expect((await typed('warehouse follow')).status).toBe(2);
    const none = { following: { chains: [], elapsedMs: () => 0 } };
    const { status, errors } = await ran('warehouse follow base', [warehouseFollow], none);
    expect(status).toBe(2);
    expect(errors.join(' ')).toContain('No node is configured: set EXHIBIT_RPC_<CHAIN>.');
  });
});
