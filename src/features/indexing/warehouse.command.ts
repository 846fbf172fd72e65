// The commands that import into the warehouse, remove a wrong import, follow the head of a chain,
// and show the contents. A store that does not answer is unread, never empty.

import {
  anyText,
  atLeastOne,
  chooseOne,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  flag,
  type Io,
  mandatory,
  numberWithin,
  optional,
  requireOption,
  UsageError,
  wholeNumber,
  wordIn,
} from '../../command/command.ts';
import {
  factLines,
  formatTime,
  paint,
  print,
  printJson,
  tableLines,
  timeText,
} from '../../command/output.ts';
import { parseOrigin, progressLine } from '../../command/run-import.ts';
import {
  BULK_CHAINS,
  type BulkImport,
  type BulkImportOrder,
  type BulkImportRecord,
  type Followable,
  type FollowReport,
  type FollowReports,
  type FollowState,
  type ForgetOrder,
  type Forgetting,
  type Forgotten,
  type HeldChain,
  type ImportList,
  type ListedImport,
  type TransferStore,
} from '../../ports/indexing.ts';

const WEB = /^[a-z][a-z0-9+.-]*:\/\//i;
const BLOCK_MAX = 999_999_999_999;
const RANGES_SHOWN = 20;
const IMPORTS_SHOWN = 20;
/** How long a line of following stands before the next one, unless something happened. */
const LINE_EVERY_MS = 5_000;
const NONE_HELD =
  'No block is recorded as held in full: these transfers can show, and can rule out nothing.';
const CHAIN_WORDS = BULK_CHAINS.join(', ');

/** `exhibit warehouse import`. */
export const warehouseImport = defineCommand({
  name: 'warehouse import',
  summary: 'Fill the warehouse from exports of a chain.',
  usage:
    'PATH… --chain CHAIN --origin observed|simulated [--from-block N --to-block N] ' +
    '[--failed-excluded]',
  example: "exhibit warehouse import export/ 'blocks/*.csv.gz' --chain ethereum --origin observed",
  arguments: {
    paths: atLeastOne(
      'PATH',
      'files, folders, or patterns with * and ? in their last part: Parquet, CSV or JSON lines, ' +
        'gzip or not, as ethereum-etl, BigQuery and cryo write them',
      (text, name, io: Pick<Io, 'cwd'>) => {
        if (!WEB.test(text)) return filePath(text, name, io);
        throw new UsageError(
          'PATH is an address of the web; fetch the file first, then import it.',
        );
      },
    ),
  },
  options: {
    chain: mandatory('CHAIN', CHAIN_WORDS, wordIn(BULK_CHAINS)),
    origin: mandatory('ORIGIN', 'whether the rows were observed or made up', anyText),
    'from-block': optional(
      'N',
      'with --to-block: you declare that these files hold these blocks in full',
      anyText,
    ),
    'to-block': optional('N', null, anyText),
    'failed-excluded': flag('you declare that cryo wrote its files with --exclude-failed'),
  },
  notes: [
    'A killed import goes on where it was when the same command is typed again.',
    'Exit status 1: no row was accepted, or a file or the store could not be read.',
  ],
  run: async (
    { paths, chain, origin, ...values },
    io,
    {
      warehouseImport: { simulated, importFiles },
    }: {
      readonly warehouseImport: {
        /** Whether this deployment serves the simulated world: what it imports is made up then. */
        readonly simulated: boolean;
        readonly importFiles: BulkImport;
      };
    },
  ) => {
    const order: BulkImportOrder = {
      paths,
      chain,
      origin: parseOrigin(origin, simulated),
      declared: declaredBlocks(values['from-block'], values['to-block']),
      failed_excluded: values['failed-excluded'],
    };
    const line = progressLine(io, () => performance.now());
    const outcome = await importFiles(order, {
      onNote: line.say,
      onProgress: line.show,
      signal: io.signal,
    });
    switch (outcome.outcome) {
      case 'completed':
        printImport(outcome.record, order, io);
        return outcome.record.rows > outcome.record.rows_refused ? EXIT.done : EXIT.failed;
      case 'unread':
        line.say(outcome.why.reason);
        return EXIT.failed;
      case 'stopped':
        line.say('Stopped. The same command goes on where this one was.');
        return EXIT.failed;
    }
  },
});

function declaredBlocks(from: string | null, to: string | null): BulkImportOrder['declared'] {
  if (from === null && to === null) return null;
  if (from === null || to === null) {
    throw new UsageError('--from-block and --to-block go together.');
  }
  const from_block = wholeNumber(from, '--from-block', { min: 0, max: BLOCK_MAX });
  return {
    from_block,
    to_block: wholeNumber(to, '--to-block', { min: from_block, max: BLOCK_MAX }),
  };
}

function printImport(record: BulkImportRecord, { chain, origin }: BulkImportOrder, io: Io): void {
  const { refused, left_out, coverage, ...facts } = record;
  if (io.json) {
    const ranges = coverage.map(({ kind, from_block, to_block, to_time }) => {
      return { kind, from_block, to_block, to_time: formatTime(to_time) };
    });
    const counts = { refused: Object.fromEntries(refused), left_out: Object.fromEntries(left_out) };
    printJson(io, { chain, origin, ...facts, ...counts, coverage: ranges });
    return;
  }
  const isNone = facts.rows === facts.rows_refused;
  const sentence = isNone
    ? 'No row was accepted.'
    : `Imported ${facts.transfers.toLocaleString('en')} transfers.`;
  print(io, [
    paint(sentence, isNone ? 'red' : 'green', io),
    ...factLines(
      [
        ['import', facts.import_id],
        ['chain', `${chain}, ${origin}`],
        ['files', facts.files.length],
        ['rows', facts.rows],
        ['creations', facts.creations],
        ['refused', facts.rows_refused],
        ...[...refused].map(([code, n]) => [`  ${code}`, n] as const),
        ...[...left_out].map(([code, n]) => [`no transfer: ${code}`, n] as const),
        ...(facts.of_another_fork === 0
          ? []
          : [['of another fork', facts.of_another_fork] as const]),
        ...coverage
          .slice(0, RANGES_SHOWN)
          .map(
            (one) => [`held in full: ${one.kind}`, `${one.from_block} to ${one.to_block}`] as const,
          ),
        ...moreRanges(coverage.length),
      ],
      io,
    ),
    ...(coverage.length === 0 ? [NONE_HELD] : []),
    ...(facts.refused_file === null ? [] : [`Refused rows: ${facts.refused_file}`]),
  ]);
}

function moreRanges(count: number): readonly (readonly [string, string])[] {
  return count <= RANGES_SHOWN ? [] : [['', `and ${count - RANGES_SHOWN} more ranges`]];
}

/** `exhibit warehouse forget`. What would go is shown first; only --yes does it. */
export const warehouseForget = defineCommand({
  name: 'warehouse forget',
  summary: 'Take wrongly imported blocks, or a whole import, out of the warehouse.',
  usage: '--chain CHAIN --blocks A..B | --import ID [--yes]',
  example: 'exhibit warehouse forget --chain base --blocks 2000000..2009999',
  options: {
    chain: optional('CHAIN', CHAIN_WORDS, wordIn(BULK_CHAINS)),
    blocks: optional('A..B', 'all that is held of these blocks, both ends included', anyText),
    import: optional('ID', 'what one import wrote; exhibit warehouse status lists them', anyText),
    yes: flag('do it; without it, what would go is shown and nothing is changed'),
  },
  notes: [
    'First nothing of these blocks is held in full any more, then their rows go. What a follower',
    'holds stays; of an import also what other coverage or another import vouches for. A command',
    'that was killed is typed again.',
    'Exit status 1: no such import wrote anything. 3: the warehouse could not be read, or may',
    'still hold some of the rows.',
  ],
  run: async (
    { yes, ...named },
    io,
    { warehouseForget: forgetting }: { readonly warehouseForget: Forgetting },
  ) => {
    const order = orderOf(named);
    if (yes) {
      io.err('Coverage goes first; the rows follow when no answer under way can rest on them.');
    }
    const reading = yes ? await forgetting.forget(order, io.signal) : await forgetting.plan(order);
    if (!reading.checked) {
      io.err(reading.why.reason);
      if (yes) {
        io.err('Some rows may still be held; none of them counts as held in full. Type it again.');
      }
      return EXIT.couldNotCheck;
    }
    if (reading.value === null) {
      return fail(
        io,
        'No import of this id wrote anything. exhibit warehouse status lists the imports.',
      );
    }
    const heading = yes
      ? paint('Forgotten.', 'green', io)
      : 'Nothing was changed. With --yes this goes:';
    if (io.json) printJson(io, { done: yes, ...reading.value });
    else print(io, [heading, ...forgottenLines(reading.value, io)]);
    return EXIT.done;
  },
});

type Named = {
  readonly chain: (typeof BULK_CHAINS)[number] | null;
  readonly blocks: string | null;
  readonly import: string | null;
};

function orderOf({ chain, blocks, import: import_id }: Named): ForgetOrder {
  if (import_id !== null) {
    if (chain === null && blocks === null) return { import_id };
    throw new UsageError('--import stands alone: an import is of one chain.');
  }
  const named = requireOption(chain, '--chain');
  const [from, to, ...more] = requireOption(blocks, '--blocks').split('..');
  if (from === undefined || to === undefined || more.length > 0) {
    throw new UsageError('--blocks takes two numbers: A..B.');
  }
  const from_block = wholeNumber(from, '--blocks', { min: 0, max: BLOCK_MAX });
  const to_block = wholeNumber(to, '--blocks', { min: from_block, max: BLOCK_MAX });
  return { chain: named, from_block, to_block };
}

const BECAUSE = {
  followed: 'stays, because it is followed',
  held_in_full: 'stays, because it is held in full by others',
  another_import: 'stays, because another import wrote it too',
} as const;

function forgottenLines(forgotten: Forgotten, io: Io): string[] {
  const { chain, import_id, from_block, to_block, withdrawn } = forgotten;
  const ranges = withdrawn.slice(0, RANGES_SHOWN).map((one) => {
    const blocks = `${one.from_block} to ${one.to_block}, by ${one.source}`;
    return [`no longer held in full: ${one.kind}`, blocks] as const;
  });
  return factLines(
    [
      ...(import_id === null ? [] : [['import', import_id] as const]),
      ['chain', chain],
      ['blocks', `${from_block} to ${to_block}`],
      ['transfers', forgotten.transfers],
      ...ranges,
      ...moreRanges(withdrawn.length),
      ['ranges of single addresses', forgotten.addresses],
      ...forgotten.staying.map(({ because, kind, blocks }) => {
        return [BECAUSE[because], `${kind}: ${blocks} blocks`] as const;
      }),
    ],
    io,
  );
}

export const warehouseStatus = defineCommand({
  name: 'warehouse status',
  summary: 'Show which transfers of which chains are held.',
  example: 'exhibit warehouse status',
  notes: ['Exit status 3: the warehouse could not be read.'],
  run: async (
    _,
    io,
    {
      warehouseStatus: store,
    }: {
      readonly warehouseStatus: Pick<TransferStore, 'status'> &
        ImportList & { readonly followers: FollowReports['all'] };
    },
  ): Promise<ExitStatus> => {
    const held = await store.status();
    if (!held.checked) return fail(io, held.why.reason, EXIT.couldNotCheck);
    const listed = await store.imports();
    if (!listed.checked) return fail(io, listed.why.reason, EXIT.couldNotCheck);
    const followers = await store.followers();
    if (io.json) {
      printJson(io, {
        chains: held.value.map(({ coverage, ...chain }) => {
          const ranges = coverage.map((one) => ({ ...one, to_time: formatTime(one.to_time) }));
          return { ...chain, coverage: ranges };
        }),
        following: followers.checked
          ? followers.value.map((one) => ({ ...one, since: formatTime(one.since) }))
          : null,
        imports: listed.value.map((one) => ({
          ...one,
          began_at: formatTime(one.began_at),
          changed_at: formatTime(one.changed_at),
        })),
      });
      return EXIT.done;
    }
    printHeld(held.value, io);
    printImports(listed.value, io);
    if (!followers.checked) io.err(followers.why.reason);
    else print(io, followers.value.flatMap(stoppedLine));
    return EXIT.done;
  },
});

function stoppedLine({ chain, state, reason, since }: FollowReport): readonly string[] {
  if (state === 'following') return [];
  const word = state === 'stopped' ? 'stopped' : 'held up';
  return [`${chain}: following ${word} since ${timeText(since)}. ${reason}`];
}

function printImports(imports: readonly ListedImport[], io: Io): void {
  if (imports.length === 0) return;
  const columns = [
    { title: 'import' },
    { title: 'chain' },
    { title: 'state' },
    { title: 'transfers', right: true },
    { title: 'refused', right: true },
    { title: 'begun' },
    { title: 'files' },
  ];
  const rows = imports.slice(0, IMPORTS_SHOWN).map((one) => {
    const { import_id, chain, state, transfers, rows_refused, began_at, source } = one;
    return [import_id, chain, state, transfers, rows_refused, timeText(began_at), source];
  });
  print(io, ['', ...tableLines(columns, rows, io)]);
  const more = imports.length - IMPORTS_SHOWN;
  if (more > 0) print(io, [`and ${more} more; --json tells all of them`]);
}

function printHeld(chains: readonly HeldChain[], io: Io): void {
  if (chains.length === 0) {
    print(io, ['No transfers are held.']);
    return;
  }
  const columns = [
    { title: 'chain' },
    { title: 'origin' },
    { title: 'transfers', right: true },
    { title: 'from block', right: true },
    { title: 'to block', right: true },
    { title: 'followed to', right: true },
  ];
  const rows = chains.map(({ chain, origin, transfers, from_block, to_block, following }) => {
    const followed = following === null ? null : following.tip_block;
    return [chain, origin, transfers, from_block, to_block, followed];
  });
  print(io, tableLines(columns, rows, io));
  const ranges = chains.flatMap(({ chain, coverage }) =>
    coverage.map(({ kind, origin, from_block, to_block, to_time }) => {
      return [chain, kind, origin, from_block, to_block, timeText(to_time)];
    }),
  );
  if (ranges.length === 0) {
    print(io, ['', 'No block is held in full.']);
    return;
  }
  const heading = [
    { title: 'held in full' },
    { title: 'kind' },
    { title: 'origin' },
    { title: 'from block', right: true },
    { title: 'to block', right: true },
    { title: 'last block of' },
  ];
  print(io, ['', ...tableLines(heading, ranges, io)]);
}

/**
 * `exhibit warehouse follow`. Each line says what is held and how far behind the head it is. It
 * ends with status 1 only where following cannot go on by itself.
 */
export const warehouseFollow = defineCommand({
  name: 'warehouse follow',
  summary: 'Follow the head of a chain from its node until stopped.',
  example: 'exhibit warehouse follow ethereum --from-block 21000000',
  arguments: {
    chain: mandatory('CHAIN', 'a chain whose node is set (EXHIBIT_RPC_<CHAIN>)', anyText),
  },
  options: {
    'from-block': optional(
      'N',
      'the first block to hold, on the first start of a chain; the newest final block where it ' +
        'is not said. Later starts go on where the last one stood.',
      numberWithin(0, BLOCK_MAX),
    ),
  },
  json: 'one object a line',
  notes: [
    'Blocks that the node may still take back are held apart and undone where it does.',
    'Stop it with Ctrl-C; nothing is lost or held twice.',
    'Exit status 1: the node’s chain no longer holds a block that was final here.',
  ],
  run: async (
    { chain, 'from-block': from },
    io,
    {
      following,
    }: {
      readonly following: {
        /** The chains whose node is configured. */
        readonly chains: readonly Followable[];
        /** Milliseconds of a clock that only goes forward. */
        readonly elapsedMs: () => number;
      };
    },
  ) => {
    const names = following.chains.map((one) => one.chain);
    if (names.length === 0) throw new UsageError('No node is configured: set EXHIBIT_RPC_<CHAIN>.');
    const name = chooseOne(chain, 'CHAIN', names);
    const chosen = following.chains.find((one) => one.chain === name);
    if (chosen === undefined) throw new UsageError(`${name} is not followed here.`);
    const onState = statePrinter(io, following.elapsedMs);
    const ended = await chosen.follow(from, { onState, signal: io.signal });
    if (io.json) printJson(io, plainState(ended.state));
    if (ended.end === 'broken') {
      return fail(io, `${ended.why.reason} Following ${name} has stopped; nothing was changed.`);
    }
    if (!io.json) io.out(`Stopped. ${stateText(ended.state)}`);
    return EXIT.done;
  },
});

/** Prints a state where something happened that people look for, and otherwise now and then. */
function statePrinter(io: Io, elapsedMs: () => number): (state: FollowState) => void {
  let printedAt: number | null = null;
  let reorgs = 0;
  let fault: string | null = null;
  return (state) => {
    const now = elapsedMs();
    const reason = state.fault === null ? null : state.fault.reason;
    const happened = state.reorgs !== reorgs || reason !== fault;
    if (!happened && printedAt !== null && now < printedAt + LINE_EVERY_MS) return;
    if (reason !== null && reason !== fault) io.err(reason);
    printedAt = now;
    reorgs = state.reorgs;
    fault = reason;
    if (io.json) printJson(io, plainState(state));
    else io.out(paint(stateText(state), state.fault === null ? 'green' : 'yellow', io));
  };
}

function stateText(state: FollowState): string {
  const { chain, kinds, last_block, lag_blocks, lag_s, transfers, reorgs, blocks_undone } = state;
  const held = last_block === null ? 'nothing held yet' : `block ${numberText(last_block)}`;
  const behind = lag_blocks === null ? 'the head is not known' : `${numberText(lag_blocks)} behind`;
  const lacks = kinds === null || kinds.includes('internal') ? [] : ['no internal transfers'];
  const aged = lag_s === null ? [] : [`${numberText(lag_s)} s old`];
  const undone =
    reorgs === 0 ? [] : [`${reorgs} re-orgs, ${numberText(blocks_undone)} blocks undone`];
  const wrote = `${numberText(transfers)} transfers since the start`;
  return `${chain}: ${[held, behind, ...aged, wrote, ...lacks, ...undone].join(', ')}.`;
}

function numberText(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function plainState({ fault, ...state }: FollowState): object {
  return { ...state, fault: fault === null ? null : fault.reason };
}
