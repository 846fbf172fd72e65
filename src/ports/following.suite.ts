// The guarantees of every node of a chain. sources/evm/node.test.ts runs them on a real node, and
// testing/twins/indexing.test.ts on the one in memory.

import { beforeEach, describe, expect, test } from 'vitest';
import { BLOCKS_AT_ONCE_MAX, type ChainNode } from './indexing.ts';

const never = new AbortController().signal;

/** Runs the promises on a chain of some 10 to 60 blocks, of which the node is not opened yet. */
export function chainNodeKeeps(name: string, fresh: () => Promise<ChainNode>): void {
  describe(`${name}: node`, () => {
    let node: ChainNode;
    let latest: number;
    beforeEach(async () => {
      node = await fresh();
      expect((await node.open(0, never)).checked).toBe(true);
      const heads = await node.heads(never);
      latest = heads.checked ? heads.value.latest : Number.NaN;
    });

    test('tells each block as its header does, each the parent of the next', async () => {
      const told = await node.blocks(0, latest, never);
      if (!told.checked || told.value === 'moved') throw new Error('the blocks were not told');
      const { blocks } = told.value;
      expect(blocks.map((one) => one.number)).toEqual(
        Array.from({ length: latest + 1 }, (_, i) => i),
      );
      for (const [i, block] of blocks.entries()) {
        if (i > 0) expect(block.parent_hash).toBe(blocks[i - 1]?.hash);
        const { number, hash, parent_hash, time } = block;
        const header = await node.header(number, never);
        expect(header.checked && header.value).toMatchObject({ number, hash, parent_hash, time });
        for (const { block: of, block_hash, block_time } of block.transfers) {
          expect([of, block_hash, block_time]).toEqual([number, hash, time]);
        }
      }
    });

    test('tells the same facts of a block whether it is asked for alone or with others', async () => {
      const all = await node.blocks(0, latest, never);
      if (!all.checked || all.value === 'moved') throw new Error('the blocks were not told');
      for (const number of [0, Math.floor(latest / 2), latest]) {
        const one = await node.blocks(number, number, never);
        expect(one.checked && one.value !== 'moved' && one.value.blocks).toEqual([
          all.value.blocks[number],
        ]);
      }
    });

    test('has no header above its head, and no blocks there that were empty', async () => {
      expect(await node.header(latest + 1, never)).toMatchObject({ checked: true, value: null });
      expect(await node.blocks(latest, latest + 1, never)).toMatchObject({
        checked: true,
        value: 'moved',
      });
      expect(BLOCKS_AT_ONCE_MAX).toBeGreaterThan(latest);
    });
  });
}
