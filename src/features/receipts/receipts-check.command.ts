// The command that checks each file of the receipts folder before publication.

import { defineCommand, EXIT, fail, filePath, several, UsageError } from '../../command/command.ts';
import { print, printJson, tableLines } from '../../command/output.ts';
import { Read } from '../../evidence/reading.ts';
import type { ReceiptFile, ReceiptFolder } from '../../ports/receipts.ts';

/** The dependencies of the command. Compose fills them. */
export type ReceiptsServices = {
  readonly receipts: {
    /** The folder that the service publishes. */
    readonly folder: string;
    readonly open: (folder: string) => ReceiptFolder;
  };
};

/** `exhibit receipts check`. */
export const receiptsCheck = defineCommand({
  name: 'receipts check',
  summary: 'Check a folder of receipts: what is published, a draft, or refused.',
  usage: '[FOLDER]',
  example: 'exhibit receipts check receipts',
  arguments: { folder: several('FOLDER', 'instead of EXHIBIT_RECEIPTS_DIR', filePath) },
  json: 'one file a line',
  notes: [
    'Exit status 1: at least one file is refused. 3: the folder could not be read to its end.',
  ],
  run: async ({ folder: [named, ...more] }, io, { receipts }: ReceiptsServices) => {
    if (more.length > 0) throw new UsageError('One FOLDER at a time.');
    const folder = named === undefined ? receipts.folder : named;
    const files = await receipts.open(folder).files();
    if (!(files instanceof Read)) {
      return fail(io, `${folder}: ${files.why.reason}`, EXIT.couldNotCheck);
    }
    if (io.json) for (const one of files.value) printJson(io, fileView(one));
    else print(io, [...lines(files.value, io), summary(files.value)]);
    return files.value.some(({ state }) => state === 'refused') ? EXIT.failed : EXIT.done;
  },
});

function fileView(one: ReceiptFile): object {
  const { file, state } = one;
  if (one.state === 'refused') return { file, state, reasons: one.reasons };
  return one.state === 'draft' ? { file, state } : { file, state, id: one.receipt.id };
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

function summary(files: readonly ReceiptFile[]): string {
  const count = (state: ReceiptFile['state']) => files.filter((one) => one.state === state).length;
  return `Published ${count('published')}, drafts ${count('draft')}, refused ${count('refused')}.`;
}
