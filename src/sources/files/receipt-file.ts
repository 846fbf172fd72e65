// Answers one question: what does one file of receipts say, Markdown under a head of YAML?
// Whatever is missing, unknown or malformed is named by its field; nothing is guessed.

import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { given, written } from '../../evidence/measure.ts';
import type { ReceiptFile } from '../../ports/receipts/published-receipts.ts';

const TITLE_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 500;
const TAGS_MAX = 20;
const ENDING = '.md';
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

const head = z.strictObject({
  id: named,
  title: line(TITLE_CHARS_MAX),
  date: z.string().refine((day) => parseIsoDate(day) !== null, 'expected a day, YYYY-MM-DD'),
  description: line(DESCRIPTION_CHARS_MAX),
  subject: address,
  deployer: address,
  kind: named,
  tags: z.array(named).max(TAGS_MAX).optional(),
  status: z.enum(['published', 'draft'], 'expected published or draft'),
});

/** What a file is. A draft need not be complete: it shows nothing. */
export function parseReceipt(file: string, text: string): ReceiptFile {
  const slug = file.slice(0, -ENDING.length);
  const refused = (...reasons: string[]) => ({ file, state: 'refused', reasons }) as const;
  if (!named.safeParse(slug).success) {
    return refused(`its name: expected like the-name-of-a-case${ENDING}`);
  }
  const parts = HEAD.exec(text);
  if (parts === null) return refused('its first line: expected ---, a head, and --- again');
  const [yaml, body] = [written(parts[1]), written(parts[2])];
  // Every scalar is text: an address that no quotes protect would be a number.
  const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'error' });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const place = fault.linePos?.[0];
    return refused(`line ${place === undefined ? 1 : place.line + 1}: ${fault.code}`);
  }
  const said = plainOf(document);
  if (said instanceof ReferenceError) return refused('its head: expected no aliases');
  if (z.looseObject({ status: z.literal('draft') }).safeParse(said).success) {
    return { file, state: 'draft' };
  }
  const parsed = head.safeParse(said);
  if (!parsed.success) return refused(...parsed.error.issues.map(reasonOf));
  if (body.trim() === '') return refused('its text: expected some below the head');
  const { status: _, tags, ...rest } = parsed.data;
  // A head may leave its tags out: then the receipt has none.
  const receipt = { slug, ...rest, tags: [...given(tags)], body: body.trim() };
  return { file, state: 'published', receipt };
}

/** What the head says; the fault where a part of it stands for another. */
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
