// What an operator types to follow a chain's head from its node, until it is stopped.
// Each line says what is held and how far behind the head it is. It ends with status 1 only where
// following cannot go on by itself.

import {
  type Command,
  EXIT,
  type Io,
  oneOf,
  readArgs,
  UsageError,
  wholeNumber,
} from '../../command/command.ts';
import { coloured, printJson } from '../../command/output.ts';
import type { Followable, FollowState } from '../../ports/indexing/chain-following.ts';

/** The command's services: the chains whose node is configured. Compose fills them. */
type WarehouseFollowServices = {
  readonly following: {
    readonly chains: readonly Followable[];
    /** Milliseconds of a clock that only goes forward. */
    readonly elapsedMs: () => number;
  };
};

const BLOCK_MAX = 10 ** 12;
/** How long a line stands before the next one, unless something happened. */
const LINE_EVERY_MS = 5_000;

/** `exhibit warehouse follow`. */
export const warehouseFollow: Command<WarehouseFollowServices> = {
  name: 'warehouse follow',
  summary: 'Follow the head of a chain from its node until stopped.',
  usage: 'exhibit warehouse follow CHAIN [--from-block N] [--json]',
  example: 'exhibit warehouse follow ethereum --from-block 21000000',
  details: [
    'CHAIN            a chain whose node is set (EXHIBIT_RPC_<CHAIN>)',
    '--from-block N   the first block to hold, on the first start of a chain; the newest final',
    '                 block where it is not said. Later starts go on where the last one stood.',
    'Blocks that the node may still take back are held apart and undone where it does.',
    '--json prints one object a line. Stop it with Ctrl-C; nothing is lost or held twice.',
    'Exit status 1: the node’s chain no longer holds a block that was final here.',
  ],
  run: async (argv, io, { following }) => {
    const { values, positionals } = readArgs(argv, {
      options: { 'from-block': { type: 'string' } },
      positionals: ['CHAIN'],
    });
    const names = following.chains.map(({ chain }) => chain);
    if (names.length === 0) throw new UsageError('No node is configured: set EXHIBIT_RPC_<CHAIN>.');
    const name = oneOf(String(positionals[0]), 'CHAIN', names);
    const chosen = following.chains.find(({ chain }) => chain === name);
    if (chosen === undefined) throw new UsageError(`${name} is not followed here.`);
    const text = values['from-block'];
    const bounds = { min: 0, max: BLOCK_MAX };
    const from = text === undefined ? null : wholeNumber(text, '--from-block', bounds);
    const onState = lines(io, following.elapsedMs);
    const ended = await chosen.follow(from, { onState, signal: io.signal });
    if (ended.end === 'broken') {
      if (io.json) printJson(io, shown(ended.state));
      io.err(`${ended.why.reason} Following ${name} has stopped; nothing was changed.`);
      return EXIT.failed;
    }
    if (io.json) printJson(io, shown(ended.state));
    else io.out(`Stopped. ${sentence(ended.state)}`);
    return EXIT.done;
  },
};

/** Shows a state where something happened that people look for, and otherwise now and then. */
function lines(io: Io, elapsedMs: () => number): (state: FollowState) => void {
  let shownAt: number | null = null;
  let reorgs = 0;
  let fault: string | null = null;
  return (state) => {
    const now = elapsedMs();
    const reason = state.fault === null ? null : state.fault.reason;
    const happened = state.reorgs !== reorgs || reason !== fault;
    if (!happened && shownAt !== null && now < shownAt + LINE_EVERY_MS) return;
    if (reason !== null && reason !== fault) io.err(reason);
    shownAt = now;
    reorgs = state.reorgs;
    fault = reason;
    if (io.json) printJson(io, shown(state));
    else io.out(coloured(sentence(state), state.fault === null ? 'green' : 'yellow', io));
  };
}

function sentence(state: FollowState): string {
  const { chain, last_block, lag_blocks, lag_s, transfers, reorgs, blocks_undone } = state;
  const { kinds } = state;
  const held = last_block === null ? 'nothing held yet' : `block ${number(last_block)}`;
  const behind = lag_blocks === null ? 'the head is not known' : `${number(lag_blocks)} behind`;
  const lacks = kinds === null || kinds.includes('internal') ? [] : ['no internal transfers'];
  const aged = lag_s === null ? [] : [`${number(lag_s)} s old`];
  const undone = reorgs === 0 ? [] : [`${reorgs} re-orgs, ${number(blocks_undone)} blocks undone`];
  const wrote = `${number(transfers)} transfers since the start`;
  return `${chain}: ${[held, behind, ...aged, wrote, ...lacks, ...undone].join(', ')}.`;
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** A state as pipes see it. */
function shown({ fault, ...state }: FollowState): object {
  return { ...state, fault: fault === null ? null : fault.reason };
}
