import { defineCommand, EXIT, fail, filePath, several, UsageError } from '../../command/command.ts';
import { type FieldText, print, printJson, rowsPrinter, tableLines } from '../../command/output.ts';
import { map, Read } from '../../evidence/reading.ts';
import type { TransactionReceipts } from '../../ports/bridges.ts';
import type {
  NamedChain,
  ReceiptFile,
  ReceiptFolder,
  SolanaTransactions,
} from '../../ports/receipts.ts';

/** The dependencies of the command. Compose fills them. */
export type ReceiptsServices = {
  readonly receipts: {
    /** The folder that the service publishes. */
    readonly folder: string;
    readonly open: (folder: string) => ReceiptFolder;
    /** Asks the nodes that are configured. */
    readonly lookUp: TransactionReceipts['lookUp'];
    readonly lookUpSolana: SolanaTransactions['lookUp'];
  };
};

export const receiptsCheck = defineCommand({
  name: 'receipts check',
  summary: 'Check a folder of receipts, and look up the transactions that they name.',
  usage: '[FOLDER]',
  example: 'exhibit receipts check receipts',
  arguments: { folder: several('FOLDER', 'instead of EXHIBIT_RECEIPTS_DIR', filePath) },
  json: 'one file a line, a published one with its transactions',
  notes: [
    'Transactions are looked up at the nodes that are configured (EXHIBIT_RPC_<CHAIN>), those of',
    'Solana by their signatures.',
    'Exit status 1: a file is refused, or the node of its chain holds no such transaction. 3: the',
    'folder or a transaction could not be read.',
  ],
  run: async ({ folder: [named, ...more] }, io, { receipts }: ReceiptsServices) => {
    if (more.length > 0) throw new UsageError('One FOLDER at a time.');
    const folder = named === undefined ? receipts.folder : named;
    const files = await receipts.open(folder).files();
    if (!(files instanceof Read)) {
      return fail(io, `${folder}: ${files.why.reason}`, EXIT.couldNotCheck);
    }
    const transactions = await lookUpAll(files.value, receipts, io.signal);
    if (io.json) for (const one of files.value) printJson(io, fileView(one, transactions));
    else {
      print(io, lines(files.value, io));
      if (transactions.length > 0) rowsPrinter<LookedUp>(io, { columns: LOOKED_UP })(transactions);
      io.out(summary(files.value, transactions));
    }
    const isWrong = transactions.some(({ state }) => state === 'not found');
    if (isWrong || files.value.some(({ state }) => state === 'refused')) return EXIT.failed;
    return transactions.some(({ state }) => state === 'not read') ? EXIT.couldNotCheck : EXIT.done;
  },
});

function fileView(one: ReceiptFile, transactions: readonly LookedUp[]): object {
  const { file, state } = one;
  if (one.state === 'refused') return { file, state, reasons: one.reasons };
  if (one.state === 'draft') return { file, state };
  const own = transactions.filter((each) => each.file === file).map(({ file: _, ...each }) => each);
  return { file, state, id: one.receipt.id, transactions: own };
}

/** A transaction that a receipt names. `says`: who sent it to whom, or why it was not read. */
type LookedUp = {
  readonly file: string;
  readonly chain: NamedChain | null;
  readonly tx: string;
  readonly state: 'found' | 'not found' | 'not read';
  readonly says: string;
};

const LOOKED_UP: readonly FieldText<LookedUp>[] = ['file', 'chain', 'tx', 'state', 'says'];

async function lookUpAll(
  files: readonly ReceiptFile[],
  nodes: LookUps,
  signal: AbortSignal,
): Promise<readonly LookedUp[]> {
  const all: LookedUp[] = [];
  for (const one of files) {
    if (one.state !== 'published') continue;
    const { file, receipt } = one;
    for (const { chain, tx } of receipt.transactions) {
      const state = chain === null ? NO_CHAIN : await lookUpOne(chain, tx, nodes, signal);
      all.push({ file, chain, tx, ...state });
    }
  }
  return all;
}

const NO_CHAIN = {
  state: 'not read',
  says: 'its chain is not named: write CHAIN:HASH among transactions of the head',
} as const;

type LookUps = Pick<ReceiptsServices['receipts'], 'lookUp' | 'lookUpSolana'>;

async function lookUpOne(
  chain: NamedChain,
  tx: string,
  { lookUp, lookUpSolana }: LookUps,
  signal: AbortSignal,
): Promise<Pick<LookedUp, 'state' | 'says'>> {
  const reading =
    chain === 'solana'
      ? map(await lookUpSolana(tx, signal), ({ slot, payer, success }) => {
          return `slot ${slot}: paid for by ${payer}${success ? '' : ', and failed'}`;
        })
      : map(readingOf(await lookUp(chain, [tx], signal), tx), ({ from, to, block, success }) => {
          const failed = success === false ? ', and failed' : '';
          const whom = to === null ? 'made a contract' : `to ${to}`;
          return `block ${block}: ${from} ${whom}${failed}`;
        });
  if (reading instanceof Read) return { state: 'found', says: reading.value };
  // A node that was asked and does not know a transaction is told apart from one that was not read.
  const { code, reason } = reading.why;
  return { state: code === 'receipt_not_held' ? 'not found' : 'not read', says: reason };
}

function readingOf<R>(readings: ReadonlyMap<string, R>, tx: string): R {
  const reading = readings.get(tx);
  if (reading === undefined) throw new Error('receipts: no reading for a transaction');
  return reading;
}

function lines(files: readonly ReceiptFile[], io: { readonly colour: boolean }): string[] {
  if (files.length === 0) return [];
  const columns = ['file', 'state', 'date', 'title or what to correct'].map((title) => ({ title }));
  const rows = files.flatMap((one): string[][] => {
    if (one.state === 'draft') return [[one.file, one.state, '', '']];
    if (one.state === 'published') {
      return [[one.file, one.state, one.receipt.date, one.receipt.title]];
    }
    return one.reasons.map((reason) => [one.file, one.state, '', reason]);
  });
  return tableLines(columns, rows, io);
}

function summary(files: readonly ReceiptFile[], transactions: readonly LookedUp[]): string {
  const file = (state: ReceiptFile['state']) => files.filter((one) => one.state === state).length;
  const [published, drafts, refused] = [file('published'), file('draft'), file('refused')];
  const told = `Published ${published}, drafts ${drafts}, refused ${refused}.`;
  if (transactions.length === 0) return told;
  const counts = (['found', 'not found', 'not read'] as const).map((state) => {
    return `${state} ${transactions.filter((one) => one.state === state).length}`;
  });
  return `${told} Transactions: ${counts.join(', ')}.`;
}
