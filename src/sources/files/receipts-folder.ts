// A file that cannot be read leaves all of it unread: it could be the one that was asked for.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { isSolanaSignature } from '../../chain/coin-address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { collect, listOrNone, textOrEmpty } from '../../evidence/measure.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  NAMED_CHAINS,
  type ReceiptFile,
  type ReceiptFiles,
  type ReceiptFolder,
  type ReceiptsPort,
} from '../../ports/receipts.ts';
import { WORD } from '../http/fetch.ts';
import { observation } from '../http/provider.ts';

const PORT = 'receipts';
const WHAT = 'The folder of receipts';
const FILES_MAX = 10_000;
const FILE_BYTES_MAX = 256 * 1024;
/** For how long one reading serves whoever asks. */
const KEPT_S = 10;
/** It explains the folder to people, and is no receipt. */
const README = 'README.md';

type Options = {
  readonly folder: string | URL;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};
type Held = { readonly stamp: string; readonly read: ReceiptFile };

/** A folder of files `*.md`; others, hidden ones, README.md and folders within are left aside. */
export function receiptsFolder({ folder, simulated, now }: Options): ReceiptFolder {
  let held = new Map<string, Held>();
  let kept: { at: number; files: Promise<Reading<ReceiptFiles, ReceiptsPort>> } | null = null;

  async function everyFile(): Promise<ReceiptFiles> {
    const path = folder instanceof URL ? fileURLToPath(folder) : folder;
    const names = (await readdir(path)).filter(isReceipt).sort();
    if (names.length > FILES_MAX) throw new RangeError(`over ${FILES_MAX} files`);
    const next = new Map<string, Held>();
    for (const name of names) {
      const one = await fileAt(join(path, name), name, held.get(name));
      if (one !== null) next.set(name, one);
    }
    held = next;
    return withoutTwins([...next.values()].map((one) => one.read));
  }

  async function asReading(at: number): Promise<Reading<ReceiptFiles, ReceiptsPort>> {
    try {
      // A folder is observed by reading it, like a node: it has no date of its own.
      const named = { name: 'Receipts of this deployment', url: 'urn:exhibit:receipts', simulated };
      return read(await everyFile(), { port: PORT, source: observation(named, () => at) });
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) return unread(PORT, why('not_configured', { what: WHAT }));
      return unread(PORT, why('store_unreadable', { what: WHAT, fault }));
    }
  }

  return {
    files: () => {
      const at = now();
      if (kept === null || at - kept.at >= KEPT_S || at < kept.at) {
        kept = { at, files: asReading(at) };
      }
      return kept.files;
    },
  };
}

const isReceipt = (name: string): boolean =>
  name.endsWith('.md') && !name.startsWith('.') && name !== README;

/** A file as it is, or as it was read before where nothing of it changed; `null` for a folder. */
async function fileAt(path: string, file: string, before: Held | undefined): Promise<Held | null> {
  const facts = await stat(path);
  if (!facts.isFile()) return null;
  const stamp = `${facts.ino} ${facts.size} ${facts.mtimeMs}`;
  if (before?.stamp === stamp) return before;
  if (facts.size > FILE_BYTES_MAX) {
    const reasons = [`its size: expected ${FILE_BYTES_MAX} bytes at most`];
    return { stamp, read: { file, state: 'refused', reasons } };
  }
  return { stamp, read: parseReceipt(file, await readFile(path, 'utf8')) };
}

/** Of files that give one id to several receipts none is published: no reader could tell them. */
function withoutTwins(files: ReceiptFiles): ReceiptFiles {
  const filesOf = new Map<string, string[]>();
  for (const one of files) {
    if (one.state === 'published') collect(filesOf, one.receipt.id, one.file);
  }
  return files.map((one) => {
    if (one.state !== 'published') return one;
    const twins = listOrNone(filesOf.get(one.receipt.id)).filter((file) => file !== one.file);
    if (twins.length === 0) return one;
    const reasons = [`id: given by ${twins.join(', ')} too`];
    return { file: one.file, state: 'refused', reasons };
  });
}

/** The fault, in a word; `null` if there is no such folder. */
function faultOf(error: unknown): string | null {
  if (error instanceof RangeError) return error.message;
  if (!(error instanceof Error) || !('code' in error)) throw error;
  return error.code === 'ENOENT' && 'syscall' in error && error.syscall === 'scandir'
    ? null
    : String(error.code);
}

// Each missing, unknown or malformed field is named; nothing is guessed.

const TITLE_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 500;
const TAGS_MAX = 20;
const TRANSACTIONS_MAX = 200;
const ENDING = '.md';
const HASH = /0x[0-9a-fA-F]{64}(?![0-9a-fA-F])/g;
const SIGNATURE = /\b[1-9A-HJ-NP-Za-km-z]{64,88}\b/g;
const HEAD = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME_CHARS_MAX = 100;

const named = z
  .string()
  .max(NAME_CHARS_MAX)
  .regex(NAME, 'expected small letters and digits, with single hyphens between them');
const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'expected a text')
    .max(max, `expected ${max} characters at most`)
    .regex(/^\P{C}*$/u, 'expected one line of text');
const address = z.string().transform((text, check) => {
  const parsed = parseAddress(text);
  if (parsed !== null) return parsed.address as string;
  check.addIssue({ code: 'custom', message: 'expected an EVM, Solana, Bitcoin or Tron address' });
  return z.NEVER;
});

const signature = z.string().refine(isSolanaSignature);

const transaction = z.string().transform((text, check) => {
  const [name, hash, ...more] = text.split(':');
  const chain = NAMED_CHAINS.find((one) => one === name);
  const tx = chain === 'solana' ? signature.safeParse(hash) : WORD.safeParse(hash);
  if (chain !== undefined && tx.success && more.length === 0) return { chain, tx: tx.data };
  const message = `expected CHAIN:HASH, of ${NAMED_CHAINS.join(', ')}; of Solana its signature`;
  check.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const head = z.strictObject({
  id: named,
  title: line(TITLE_CHARS_MAX),
  date: z.string().refine((day) => parseIsoDate(day) !== null, 'expected a day, YYYY-MM-DD'),
  description: line(DESCRIPTION_CHARS_MAX),
  subject: address,
  deployer: address,
  kind: named,
  tags: z.array(named).max(TAGS_MAX).optional(),
  transactions: z.array(transaction).max(TRANSACTIONS_MAX).optional(),
  status: z.enum(['published', 'draft'], 'expected published or draft'),
});

/** Parses a file. A draft need not be complete: it shows nothing. */
export function parseReceipt(file: string, text: string): ReceiptFile {
  const slug = file.slice(0, -ENDING.length);
  const refuse = (...reasons: string[]) => ({ file, state: 'refused', reasons }) as const;
  if (!named.safeParse(slug).success) {
    return refuse(`its name: expected like the-name-of-a-case${ENDING}`);
  }
  const parts = HEAD.exec(text);
  if (parts === null) return refuse('its first line: expected ---, a head, and --- again');
  const [yaml, body] = [textOrEmpty(parts[1]), textOrEmpty(parts[2])];
  // Every scalar is text: an address that no quotes protect would be a number.
  const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'error' });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const place = fault.linePos?.[0];
    return refuse(`line ${place === undefined ? 1 : place.line + 1}: ${fault.code}`);
  }
  const said = plainOf(document);
  if (said instanceof ReferenceError) return refuse('its head: expected no aliases');
  if (z.looseObject({ status: z.literal('draft') }).safeParse(said).success) {
    return { file, state: 'draft' };
  }
  const parsed = head.safeParse(said);
  if (!parsed.success) return refuse(...parsed.error.issues.map(reasonOf));
  if (body.trim() === '') return refuse('its text: expected some below the head');
  const { status: _, tags, transactions: inHead, ...rest } = parsed.data;
  const inText = [...new Set(listOrNone(body.match(HASH)).map((tx) => tx.toLowerCase()))];
  const isInHead = (hash: string) => listOrNone(inHead).some(({ tx }) => tx === hash);
  const signed = [...new Set(body.match(SIGNATURE))].filter(isSolanaSignature);
  // A hash is of any EVM chain; a signature of that length is of Solana alone.
  const inBody = [
    ...inText.map((tx) => ({ chain: null, tx })),
    ...signed.map((tx) => ({ chain: 'solana' as const, tx })),
  ];
  const alone = inBody.filter(({ tx }) => !isInHead(tx));
  // A head may leave its tags out: then the receipt has none.
  const lists = { tags: [...listOrNone(tags)], transactions: [...listOrNone(inHead), ...alone] };
  const receipt = { slug, ...rest, ...lists, body: body.trim() };
  return { file, state: 'published', receipt };
}

/** The fields of the head; a fault if a part of it is an alias. */
function plainOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (fault) {
    if (fault instanceof ReferenceError) return fault;
    throw fault;
  }
}

function reasonOf(issue: z.core.$ZodIssue): string {
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return `${issue.keys.join(', ')}: no such field`;
  if (issue.code === 'invalid_type') {
    return `${field === '' ? 'its head' : field}: expected ${EXPECTED[issue.expected] ?? 'a text'}`;
  }
  return `${field}: ${issue.message}`;
}

const EXPECTED: { readonly [type: string]: string } = { array: 'a list', object: 'fields' };
