// A child process parses, in a heap of its own that is capped; one that crashes, stalls or
// speaks out of turn is a refusal with the code `unreadable`, and leaves this process as it was.

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { parseKnownAddress } from '../../chain/address.ts';
import { listEntry, type PublicationReader } from '../../ports/sanctions.ts';
import {
  countAddresses,
  FORMATS,
  isRefusal,
  type ListedAddress,
  PARTY_TYPES,
  type Publication,
  type PublicationRefusal,
  quoteText,
  REFUSAL_CODES,
  type ReadDocument,
  refusal,
  withForms,
} from './publication.ts';
import { CONTAINER_LIMITS, type ContainerLimits, type ReadOptions } from './read-publication.ts';

/** How long a child may take: ten times what the largest file takes on a slow machine. */
export const READ_MS_MAX = 300_000;

/** The heap of the child. The list of today needs a third of it. */
const HEAP_FLAGS = ['--max-old-space-size=96', '--max-semi-space-size=2'];
const STDERR_CHARS_MAX = 4_000;

export type ReadApartOptions = ReadOptions & {
  /** Stops the child; the outcome is then `unreadable`. */
  readonly signal?: AbortSignal;
  /** Milliseconds before the child is stopped; `READ_MS_MAX` unless named. */
  readonly timeoutMs?: number;
  /** The child's program; the compiled reader beside this file unless a test names another. */
  readonly program?: string;
};

/** Reads a file in a child process. Never rejects: whatever goes wrong is a refusal. */
export async function readPublicationApart(
  path: string,
  options: ReadApartOptions,
): Promise<Publication | PublicationRefusal> {
  const program = options.program === undefined ? compiledReader() : options.program;
  if (!existsSync(program)) {
    return refusal('unreadable', 'the reader is not built: run the build first');
  }
  if (options.signal?.aborted === true) return refusal('unreadable', 'the reading was stopped');
  const outcome = await conversation({ path, limits: options.limits }, program, options);
  return isRefusal(outcome) ? outcome : withForms(outcome, options.isKnownForm);
}

/** The compiled entry of the child, whether this file runs compiled or from its source. */
function compiledReader(): string {
  const here = fileURLToPath(import.meta.url);
  const compiled = here.endsWith('.ts') ? here.replace('/src/sources/', '/dist/sources/') : here;
  return compiled.replace(/read-apart\.[jt]s$/, 'reading-child.js');
}

function conversation(
  task: ReadingTask,
  program: string,
  options: ReadApartOptions,
): Promise<ReadDocument | PublicationRefusal> {
  return new Promise((resolve) => {
    const child = fork(program, [READER_MARK], {
      env: {},
      execArgv: HEAP_FLAGS,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const stderr = lastWords(child);
    const rows: ListedAddress[] = [];
    const settle = (outcome: ReadDocument | PublicationRefusal): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', stop);
      child.kill('SIGKILL');
      resolve(outcome);
    };
    const stop = (): void => settle(refusal('unreadable', 'the reading was stopped'));
    const limitMs = options.timeoutMs === undefined ? READ_MS_MAX : options.timeoutMs;
    const timer = setTimeout(() => {
      settle(refusal('unreadable', `the reader took over ${limitMs} ms`));
    }, limitMs);
    options.signal?.addEventListener('abort', stop, { once: true });
    child.on('error', (error) => {
      settle(refusal('unreadable', `the reader failed: ${quoteText(error.message)}`));
    });
    child.on('exit', (code, signal) => {
      const how = signal === null ? `status ${code}` : signal;
      const reason = `the reader ended before its answer (${how})${stderr()}`;
      settle(refusal('unreadable', reason));
    });
    child.on('message', (message) => {
      const heard = readingMessage.safeParse(message);
      if (!heard.success) {
        settle(refusal('unreadable', 'the reader said what no reader says'));
        return;
      }
      const outcome = take(heard.data, rows, options);
      if (outcome !== null) settle(outcome);
    });
    child.send(task);
  });
}

/** Takes one message in; the outcome once it is the last. */
function take(
  message: ReadingMessage,
  rows: ListedAddress[],
  options: ReadApartOptions,
): ReadDocument | PublicationRefusal | null {
  if (message.kind === 'progress') {
    options.onProgress?.(message.bytes);
    return null;
  }
  if (message.kind === 'rows') {
    rows.push(...message.rows);
    return null;
  }
  if (message.kind === 'refused') return message.refusal;
  if (message.rows !== rows.length) {
    const reason = `the reader sent ${rows.length} of ${message.rows} rows`;
    return refusal('unreadable', reason);
  }
  const document = { ...message.facts, addresses: rows };
  return { ...document, ...countAddresses(rows) };
}

/** The child's error stream: the first line that names an error, for the reason. */
function lastWords(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (chunk: string) => {
    text = (text + chunk).slice(0, STDERR_CHARS_MAX);
  });
  return () => {
    const line = text.split('\n').find((candidate) => /error/i.test(candidate));
    return line === undefined ? '' : `: ${quoteText(line.trim())}`;
  };
}

// Rows come in batches, so that neither side is held up by one long message.

/** Marks the command line of the separate reader. */
export const READER_MARK = 'read-sdn-publication';

export const ROWS_PER_MESSAGE = 250;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
const day = z.iso.date();

const row = listEntry.extend({ type: z.enum(PARTY_TYPES).nullable() });

/** The messages of the separate reader: its progress, the rows, then one of the two endings. */
export const readingMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('progress'), bytes: count }),
  z.strictObject({ kind: z.literal('rows'), rows: z.array(row).max(ROWS_PER_MESSAGE) }),
  z.strictObject({
    kind: z.literal('read'),
    rows: count,
    facts: z.strictObject({
      format: z.enum(FORMATS),
      published: day,
      record_count: count,
      parties: count,
      sha256: digest,
      sha256_xml: digest,
      bytes: count,
    }),
  }),
  z.strictObject({
    kind: z.literal('refused'),
    refusal: z.strictObject({
      refused: z.literal(true),
      code: z.enum(REFUSAL_CODES),
      reason: z.string(),
      published: day.nullable(),
    }),
  }),
]);
export type ReadingMessage = z.infer<typeof readingMessage>;

/** The task of the separate reader. */
export const readingTask = z.strictObject({
  path: z.string().min(1),
  limits: z.strictObject({ deliveredBytesMax: count, documentBytesMax: count }),
});
export type ReadingTask = z.infer<typeof readingTask>;

// The port of a refresh, over the readers of the publisher's formats.

/** Reads a file in a process apart, so that serving goes on meanwhile. */
export function sdnReader(limits: ContainerLimits = CONTAINER_LIMITS): PublicationReader {
  return async (path, signal) => {
    const isKnownForm = (address: string): boolean => parseKnownAddress(address) !== null;
    const outcome = await readPublicationApart(path, { isKnownForm, limits, signal });
    return isRefusal(outcome) ? { ...outcome, size: false } : outcome;
  };
}
