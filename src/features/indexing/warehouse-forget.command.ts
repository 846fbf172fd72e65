// What an operator types to take blocks that were wrongly imported out of the warehouse again.
// What would go is shown first; only --yes does it.

import {
  type Command,
  EXIT,
  type Io,
  oneOf,
  readArgs,
  requireOption,
  UsageError,
  wholeNumber,
} from '../../command/command.ts';
import { coloured, factLines, print, printJson } from '../../command/output.ts';
import { BULK_CHAINS } from '../../ports/indexing/bulk-import.ts';
import type { ForgetOrder, Forgetting, Forgotten } from '../../ports/indexing/forgetting.ts';

/** The command's services; compose fills them. */
type WarehouseForgetServices = { readonly warehouseForget: Forgetting };

const BLOCK_MAX = 999_999_999_999;
const RANGES_SHOWN = 20;
const OPTIONS = {
  chain: { type: 'string' },
  blocks: { type: 'string' },
  import: { type: 'string' },
  yes: { type: 'boolean' },
} as const;

/** `exhibit warehouse forget`. */
export const warehouseForget: Command<WarehouseForgetServices> = {
  name: 'warehouse forget',
  summary: 'Take wrongly imported blocks, or a whole import, out of the warehouse.',
  usage: 'exhibit warehouse forget --chain CHAIN --blocks A..B | --import ID [--yes] [--json]',
  example: 'exhibit warehouse forget --chain base --blocks 2000000..2009999',
  details: [
    `--chain CHAIN   ${BULK_CHAINS.join(', ')}`,
    '--blocks A..B   all that is held of these blocks, both ends included',
    '--import ID     what one import wrote; exhibit warehouse status lists them',
    '--yes           do it; without it, what would go is shown and nothing is changed',
    'First nothing of these blocks is held in full any more, then their rows go. What a follower',
    'holds stays; of an import also what other coverage or another import vouches for. A command',
    'that was killed is typed again.',
    'Exit status 1: no such import wrote anything. 3: the warehouse could not be read, or may',
    'still hold some of the rows.',
  ],
  run: async (argv, io, { warehouseForget: forgetting }) => {
    const { values } = readArgs(argv, { options: OPTIONS });
    const order = orderOf(values);
    return values.yes === true ? forget(forgetting, order, io) : plan(forgetting, order, io);
  },
};

type Values = {
  readonly chain?: string | undefined;
  readonly blocks?: string | undefined;
  readonly import?: string | undefined;
};

function orderOf({ chain, blocks, import: import_id }: Values): ForgetOrder {
  if (import_id !== undefined) {
    if (chain === undefined && blocks === undefined) return { import_id };
    throw new UsageError('--import stands alone: an import is of one chain.');
  }
  const named = oneOf(requireOption(chain, '--chain'), '--chain', BULK_CHAINS);
  return { chain: named, ...blocksOf(requireOption(blocks, '--blocks')) };
}

function blocksOf(text: string): { readonly from_block: number; readonly to_block: number } {
  const [from, to, ...more] = text.split('..');
  if (from === undefined || to === undefined || more.length > 0) {
    throw new UsageError('--blocks takes two numbers: A..B.');
  }
  const from_block = wholeNumber(from, '--blocks', { min: 0, max: BLOCK_MAX });
  return { from_block, to_block: wholeNumber(to, '--blocks', { min: from_block, max: BLOCK_MAX }) };
}

async function plan(forgetting: Forgetting, order: ForgetOrder, io: Io) {
  const planned = await forgetting.plan(order);
  if (!planned.checked) {
    io.err(planned.why.reason);
    return EXIT.couldNotCheck;
  }
  if (planned.value === null) return unknownImport(io);
  tell(planned.value, 'Nothing was changed. With --yes this goes:', false, io);
  return EXIT.done;
}

async function forget(forgetting: Forgetting, order: ForgetOrder, io: Io) {
  io.err('Coverage goes first; the rows follow when no answer under way can rest on them.');
  const done = await forgetting.forget(order, io.signal);
  if (!done.checked) {
    io.err(done.why.reason);
    io.err('Some rows may still be held; none of them counts as held in full. Type it again.');
    return EXIT.couldNotCheck;
  }
  if (done.value === null) return unknownImport(io);
  tell(done.value, coloured('Forgotten.', 'green', io), true, io);
  return EXIT.done;
}

function unknownImport(io: Io) {
  io.err('No import of this id wrote anything. exhibit warehouse status lists the imports.');
  return EXIT.failed;
}

const BECAUSE = {
  followed: 'stays, because it is followed',
  held_in_full: 'stays, because it is held in full by others',
  another_import: 'stays, because another import wrote it too',
} as const;

function tell(forgotten: Forgotten, heading: string, isDone: boolean, io: Io): void {
  if (io.json) {
    printJson(io, { done: isDone, ...forgotten });
    return;
  }
  const { chain, import_id, from_block, to_block, transfers, withdrawn, addresses, staying } =
    forgotten;
  const ranges = withdrawn.slice(0, RANGES_SHOWN).map((one) => {
    return [
      `no longer held in full: ${one.kind}`,
      `${one.from_block} to ${one.to_block}, by ${one.source}`,
    ] as const;
  });
  const more = withdrawn.length - RANGES_SHOWN;
  print(io, [
    heading,
    ...factLines([
      ...(import_id === null ? [] : [['import', import_id] as const]),
      ['chain', chain],
      ['blocks', `${from_block} to ${to_block}`],
      ['transfers', transfers],
      ...ranges,
      ...(more > 0 ? [['', `and ${more} more ranges`] as const] : []),
      ['ranges of single addresses', addresses],
      ...staying.map(({ because, kind, blocks }) => {
        return [BECAUSE[because], `${kind}: ${blocks} blocks`] as const;
      }),
    ]),
  ]);
}
