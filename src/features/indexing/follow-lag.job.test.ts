import { expect, test } from 'vitest';
import type { FollowState } from '../../ports/indexing/chain-following.ts';
import { followLags } from './follow-lag.job.ts';

const STATE: FollowState = {
  chain: 'base',
  source: 'https://node.example',
  kinds: null,
  head_block: 12,
  last_block: 10,
  last_time: 1_000,
  final_block: null,
  lag_blocks: 2,
  lag_s: 5,
  blocks: 0,
  transfers: 0,
  reorgs: 3,
  blocks_undone: 4,
  left_out: { misshapen: 0 },
  fault: null,
};

test('a lag grows while nothing is heard, and is unknown before anything was', () => {
  let now = 1_005;
  const lags = followLags(() => now);
  expect([lags.lagS('base'), lags.lagBlocks('base'), lags.reorgs('base')]).toEqual([
    ...[null, null, null],
  ]);
  lags.onState(STATE);
  expect([lags.lagS('base'), lags.lagBlocks('base'), lags.reorgs('base')]).toEqual([5, 2, 3]);
  now = 4_600;
  expect(lags.lagS('base')).toBe(3_600);
  expect(lags.lagS('ethereum')).toBeNull();
  lags.onState({ ...STATE, last_time: null });
  expect(lags.lagS('base')).toBeNull();
});
