// What an operator types to fill the warehouse from exports of a chain.
// Refused rows are counted by reason and told in a file; nothing is taken as held in full unless
// the files prove it or the operator declares it.

import {
  type Command,
  EXIT,
  type ExitStatus,
  fileArgument,
  type Io,
  oneOf,
  readArgs,
  requireOption,
  UsageError,
  wholeNumber,
} from '../../command/command.ts';
import { coloured, factLines, formatTime, print, printJson } from '../../command/output.ts';
import { progressLine } from '../../command/progress-line.ts';
import { parseOrigin } from '../../command/run-import.ts';
import {
  BULK_CHAINS,
  type BulkImport,
  type BulkImportOrder,
  type BulkImportRecord,
} from '../../ports/indexing/bulk-import.ts';

/** The command's services; compose fills them. */
type WarehouseImportServices = {
  readonly warehouseImport: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    readonly importFiles: BulkImport;
  };
};

const WEB = /^[a-z][a-z0-9+.-]*:\/\//i;
const BLOCK_MAX = 999_999_999_999;
const OPTIONS = {
  chain: { type: 'string' },
  origin: { type: 'string' },
  'from-block': { type: 'string' },
  'to-block': { type: 'string' },
  'failed-excluded': { type: 'boolean' },
} as const;

/** `exhibit warehouse import`. */
export const warehouseImport: Command<WarehouseImportServices> = {
  name: 'warehouse import',
  summary: 'Fill the warehouse from exports of a chain.',
  usage:
    'exhibit warehouse import PATH… --chain CHAIN --origin observed|simulated ' +
    '[--from-block N --to-block N] [--failed-excluded] [--json]',
  example: "exhibit warehouse import export/ 'blocks/*.csv.gz' --chain ethereum --origin observed",
  details: [
    'PATH               files, folders, or patterns with * and ? in their last part: Parquet, CSV',
    '                   or JSON lines, gzip or not, as ethereum-etl, BigQuery and cryo write them',
    `--chain CHAIN      ${BULK_CHAINS.join(', ')}`,
    '--origin ORIGIN    whether the rows were observed or made up',
    '--from-block N     with --to-block: you declare that these files hold these blocks in full',
    '--failed-excluded  you declare that cryo wrote its files with --exclude-failed',
    'A killed import goes on where it was when the same command is typed again.',
    'Exit status 1: no row was accepted, or a file or the store could not be read.',
  ],
  run: async (argv, io, { warehouseImport: services }) => {
    const { values, positionals } = readArgs(argv, {
      options: OPTIONS,
      positionals: ['PATH'],
      many: true,
    });
    const web = positionals.find((path) => WEB.test(path));
    if (web !== undefined) {
      throw new UsageError('PATH is an address of the web; fetch the file first, then import it.');
    }
    const order: BulkImportOrder = {
      paths: positionals.map((path) => fileArgument(path, io)),
      chain: oneOf(requireOption(values.chain, '--chain'), '--chain', BULK_CHAINS),
      origin: parseOrigin(requireOption(values.origin, '--origin'), services.simulated),
      declared: declaredBlocks(values['from-block'], values['to-block']),
      failed_excluded: values['failed-excluded'] === true,
    };
    return runBulkImport(services.importFiles, order, io);
  },
};

function declaredBlocks(from: string | undefined, to: string | undefined) {
  if (from === undefined && to === undefined) return null;
  if (from === undefined || to === undefined) {
    throw new UsageError('--from-block and --to-block go together.');
  }
  const from_block = wholeNumber(from, '--from-block', { min: 0, max: BLOCK_MAX });
  const to_block = wholeNumber(to, '--to-block', { min: from_block, max: BLOCK_MAX });
  return { from_block, to_block };
}

async function runBulkImport(
  importFiles: BulkImport,
  order: BulkImportOrder,
  io: Io,
): Promise<ExitStatus> {
  const line = progressLine(io, () => performance.now());
  const outcome = await importFiles(order, {
    onNote: line.say,
    onProgress: line.show,
    signal: io.signal,
  });
  switch (outcome.outcome) {
    case 'completed':
      tell(outcome.record, order, io);
      return outcome.record.rows > outcome.record.rows_refused ? EXIT.done : EXIT.failed;
    case 'unread':
      line.say(outcome.why.reason);
      return EXIT.failed;
    case 'stopped':
      line.say('Stopped. The same command goes on where this one was.');
      return EXIT.failed;
  }
}

function tell(record: BulkImportRecord, { chain, origin }: BulkImportOrder, io: Io): void {
  if (io.json) {
    const { refused, left_out, coverage, ...facts } = record;
    const ranges = coverage.map(({ kind, from_block, to_block, to_time }) => {
      return { kind, from_block, to_block, to_time: formatTime(to_time) };
    });
    const counts = { refused: Object.fromEntries(refused), left_out: Object.fromEntries(left_out) };
    printJson(io, { chain, origin, ...facts, ...counts, coverage: ranges });
    return;
  }
  const { transfers, rows, rows_refused } = record;
  const isNone = rows === rows_refused;
  const sentence = isNone
    ? 'No row was accepted.'
    : `Imported ${transfers.toLocaleString('en')} transfers.`;
  print(io, [
    coloured(sentence, isNone ? 'red' : 'green', io),
    ...factLines([
      ['import', record.import_id],
      ['chain', `${chain}, ${origin}`],
      ['files', record.files.length],
      ['rows', rows],
      ['creations', record.creations],
      ['refused', rows_refused],
      ...[...record.refused].map(([code, n]) => [`  ${code}`, n] as const),
      ...[...record.left_out].map(([code, n]) => [`no transfer: ${code}`, n] as const),
      ...forkLine(record.of_another_fork),
      ...record.coverage
        .slice(0, RANGES_SHOWN)
        .map(
          (one) => [`held in full: ${one.kind}`, `${one.from_block} to ${one.to_block}`] as const,
        ),
      ...moreLine(record.coverage.length),
    ]),
    ...(record.coverage.length === 0 ? [NONE_HELD] : []),
    ...(record.refused_file === null ? [] : [`Refused rows: ${record.refused_file}`]),
  ]);
}

const RANGES_SHOWN = 20;
const NONE_HELD =
  'No block is recorded as held in full: these transfers can show, and can rule out nothing.';

function forkLine(count: number): readonly (readonly [string, number])[] {
  return count === 0 ? [] : [['of another fork', count]];
}

function moreLine(count: number): readonly (readonly [string, string])[] {
  return count <= RANGES_SHOWN ? [] : [['', `and ${count - RANGES_SHOWN} more ranges`]];
}
