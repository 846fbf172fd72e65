// Reads a publication to its end or refuses it with one reason; `publication-gate.ts` judges size
// and age. It parses in the calling process: a serving process calls `read-apart.ts` instead.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ADVANCED_NAMESPACES, ADVANCED_ROOT, advancedReader } from './advanced.ts';
import { LEGACY_NAMESPACES, LEGACY_ROOT, legacyReader } from './legacy.ts';
import {
  countAddresses,
  type Document,
  dayIn,
  isRefusal,
  ListRefused,
  type Publication,
  type PublicationRefusal,
  quoteText,
  type ReadDocument,
  refusal,
  withForms,
} from './publication.ts';
import { type DocumentReader, type Root, XmlWalk } from './xml-walk.ts';

/** Tells how many bytes of the unpacked document were read so far. */
export type OnProgress = (bytes: number) => void;

export type ReadOptions = {
  /** Whether an address is of a form that the product can look up by more than its letters. */
  readonly isKnownForm: (address: string) => boolean;
  readonly limits: ContainerLimits;
  readonly onProgress?: OnProgress;
};

/** Reads a file of the publisher's. Never rejects for a bad or missing file: that is a refusal. */
export async function readPublication(
  path: string,
  options: ReadOptions,
): Promise<Publication | PublicationRefusal> {
  const outcome = await readFileDocument(path, options.limits, options.onProgress);
  return isRefusal(outcome) ? outcome : withForms(outcome, options.isKnownForm);
}

/** The same without judging the forms of its addresses: what a separate process can do. */
export async function readFileDocument(
  path: string,
  limits: ContainerLimits,
  onProgress?: OnProgress,
): Promise<ReadDocument | PublicationRefusal> {
  let head = '';
  try {
    const delivered = await inspect(path, limits);
    const hash = createHash('sha256');
    let bytes = 0;
    const watchBytes = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of documentBytes(path, delivered.kind, limits)) {
        hash.update(chunk);
        if (bytes < STATED_WITHIN_BYTES) head += Buffer.from(chunk).toString('latin1');
        bytes += chunk.byteLength;
        yield chunk;
        onProgress?.(bytes);
      }
    };
    const document = await readDocument(watchBytes());
    const digests = { sha256: delivered.sha256, sha256_xml: hash.digest('hex') };
    return {
      ...document,
      ...countAddresses(document.addresses),
      ...digests,
      bytes: delivered.bytes,
    };
  } catch (error) {
    if (!(error instanceof ListRefused)) return unreadable(error);
    return { ...error.refusal, published: statedDay(head) };
  }
}

// The kind is read off the first bytes, never off a name. It refuses an archive that is cut
// short, damaged or ambiguous, and stops at a byte cap whatever an archive says of itself.

/** How many bytes a delivered file and the document in it may have. */
export type ContainerLimits = {
  readonly deliveredBytesMax: number;
  readonly documentBytesMax: number;
};

/** Four times the largest file that the publisher delivers today (127 MB, advanced XML). */
export const DELIVERED_BYTES_MAX = 512 * 1024 * 1024;
export const DOCUMENT_BYTES_MAX = 512 * 1024 * 1024;
/** The limits that hold unless a caller names others. */
export const CONTAINER_LIMITS: ContainerLimits = {
  deliveredBytesMax: DELIVERED_BYTES_MAX,
  documentBytesMax: DOCUMENT_BYTES_MAX,
};

const CHUNK_BYTES = 64 * 1024;
const ZIP_MEMBERS_MAX = 64;

/** A delivered file: its kind, its size, the SHA-256 of its bytes. */
export type Delivered = {
  readonly kind: 'plain' | 'gzip' | 'zip';
  readonly bytes: number;
  readonly sha256: string;
};

/**
 * Writes a stream to a file, up to `bytesMax`. What it refuses leaves a cut file to its caller;
 * it rejects where the stream or the disk fails.
 */
export async function spool(
  stream: AsyncIterable<Uint8Array>,
  path: string,
  bytesMax: number,
): Promise<{ readonly bytes: number; readonly sha256: string } | PublicationRefusal> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) {
        done(new ListRefused('too_large', `the delivered file has over ${bytesMax} bytes`));
        return;
      }
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // Opened before the first byte is asked for: a file that a refused stream were still to make
  // would appear after its caller had removed it.
  const file = await open(path, 'w', 0o600);
  try {
    await pipeline(stream, counted, file.createWriteStream());
  } catch (error) {
    if (error instanceof ListRefused) return error.refusal;
    throw error;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Reads a file once for its kind, size and digest. Throws `Refused` past the cap. */
export async function inspect(path: string, limits: ContainerLimits): Promise<Delivered> {
  const hash = createHash('sha256');
  let bytes = 0;
  let kind: Delivered['kind'] | null = null;
  for await (const chunk of bytesOf(createReadStream(path, { highWaterMark: CHUNK_BYTES }))) {
    if (kind === null) kind = kindOf(chunk);
    bytes += chunk.byteLength;
    if (bytes > limits.deliveredBytesMax) {
      const reason = `the delivered file has over ${limits.deliveredBytesMax} bytes`;
      throw new ListRefused('too_large', reason);
    }
    hash.update(chunk);
  }
  if (kind === null) throw new ListRefused('not_xml', 'the file is empty');
  return { kind, bytes, sha256: hash.digest('hex') };
}

function kindOf(head: Uint8Array): Delivered['kind'] {
  const [first, second, third, fourth] = head;
  if (first === 0x1f && second === 0x8b) return 'gzip';
  const isZip = first === 0x50 && second === 0x4b;
  if (isZip && ((third === 3 && fourth === 4) || (third === 5 && fourth === 6))) return 'zip';
  return 'plain';
}

/** The bytes of the document, unpacked. Throws `Refused`. */
export async function* documentBytes(
  path: string,
  kind: Delivered['kind'],
  limits: ContainerLimits,
): AsyncGenerator<Uint8Array> {
  const unpacked =
    kind === 'plain' ? plain(path) : kind === 'gzip' ? unpackGzip(path) : unzip(path, limits);
  let bytes = 0;
  for await (const chunk of unpacked) {
    bytes += chunk.byteLength;
    if (bytes > limits.documentBytesMax) throw tooLarge(limits);
    yield chunk;
  }
}

function tooLarge(limits: ContainerLimits): ListRefused {
  return new ListRefused('too_large', `the document has over ${limits.documentBytesMax} bytes`);
}

function plain(path: string): AsyncIterable<Uint8Array> {
  return bytesOf(createReadStream(path, { highWaterMark: CHUNK_BYTES }));
}

async function* unpackGzip(path: string): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const source = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  // A failed read ends the gunzip with that error, which the loop below throws.
  source.once('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    yield* bytesOf(gunzip);
  } catch (error) {
    throw archiveFault(error);
  } finally {
    source.destroy();
  }
}

async function* unzip(path: string, limits: ContainerLimits): AsyncGenerator<Uint8Array> {
  let zip: ZipFile | null = null;
  try {
    zip = await openPromise(path, { autoClose: false, lazyEntries: true });
    const entry = await onlyDocument(zip);
    if (entry.uncompressedSize > limits.documentBytesMax) throw tooLarge(limits);
    let sum = 0;
    for await (const chunk of bytesOf(await zip.openReadStreamPromise(entry))) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== entry.crc32) {
      throw new ListRefused('bad_archive', 'the document in the archive fails its checksum');
    }
  } catch (error) {
    throw archiveFault(error);
  } finally {
    zip?.close();
  }
}

async function onlyDocument(zip: ZipFile): Promise<Entry> {
  if (zip.entryCount > ZIP_MEMBERS_MAX) {
    throw new ListRefused('bad_archive', `the archive has ${zip.entryCount} members`);
  }
  const documents: Entry[] = [];
  let delimited: string | null = null;
  for await (const entry of zip.eachEntry()) {
    if (/\.xml$/i.test(entry.fileName)) documents.push(entry);
    else if (/\.(csv|del|pip|ff)$/i.test(entry.fileName)) delimited = entry.fileName;
  }
  const [document, another] = documents;
  if (document !== undefined && another === undefined) return document;
  if (document === undefined && delimited !== null) {
    const reason = `the archive holds the delimited file ${quoteText(delimited)}`;
    throw new ListRefused('delimited_file', `${reason}, which cuts long remarks`);
  }
  throw new ListRefused(
    'bad_archive',
    `the archive holds ${documents.length} XML documents, not one`,
  );
}

/** The chunks of a stream, each asserted to be bytes. */
async function* bytesOf(stream: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a stream gave text, not bytes');
    yield chunk;
  }
}

const CUT_SHORT =
  /unexpected end of file|end of central directory|unexpected EOF|not enough bytes/i;

/** The meaning of an archive's own fault. A fault of the file system stays as it is. */
function archiveFault(error: unknown): unknown {
  if (error instanceof ListRefused || !(error instanceof Error) || isSystemFault(error))
    return error;
  const about = quoteText(error.message);
  if (CUT_SHORT.test(error.message))
    return new ListRefused('truncated', `the archive is cut: ${about}`);
  return new ListRefused('bad_archive', `the archive is damaged: ${about}`);
}

/** Whether an error came from the operating system: missing, forbidden, full, gone. */
export function isSystemFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && typeof error.syscall === 'string';
}

/** Refuses for a fault of the operating system; anything else is a bug and is thrown again. */
export function unreadable(error: unknown): PublicationRefusal {
  if (!isSystemFault(error)) throw error;
  return refusal('unreadable', `the file could not be read: ${error.code}`);
}

// The SDN XML and the SDN advanced XML are read; the enhanced and the delimited files are
// recognised and refused by name, and so is every other root or namespace.

const ENHANCED_ROOT = 'sanctionsData';
const HEAD_BYTES = 512;
/** A hundred times what the list holds today. */
const ADDRESS_ROWS_MAX = 100_000;
/** A row of the comma, at-sign or bar delimited files, or of the fixed-width one: first a uid. */
const DELIMITED_ROW = /^\s*"?\d+"?\s*([,@|]|\s{2,})/;

/** Reads a document to its end. Throws `Refused`; what the stream throws passes through. */
export async function readDocument(chunks: AsyncIterable<Uint8Array>): Promise<Document> {
  let reader: DocumentReader | null = null;
  const walk = new XmlWalk((root) => {
    reader = readerFor(root);
    return reader;
  });
  let head: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (head === null) {
      walk.write(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.byteLength < HEAD_BYTES) continue;
    beginWith(head, walk);
    head = null;
  }
  if (head !== null) beginWith(head, walk);
  walk.end();
  const document = documentOf(reader);
  if (document.addresses.length === 0) {
    throw new ListRefused('no_addresses', 'it holds no digital currency address');
  }
  if (document.addresses.length > ADDRESS_ROWS_MAX) {
    throw new ListRefused('too_large', `it lists over ${ADDRESS_ROWS_MAX} addresses`);
  }
  return document;
}

function documentOf(reader: DocumentReader | null): Document {
  if (reader === null) throw new ListRefused('not_xml', 'it has no root element');
  return reader.finish();
}

function beginWith(head: Uint8Array, walk: XmlWalk): void {
  refuseByHead(head);
  walk.write(head);
}

function refuseByHead(head: Uint8Array): void {
  const text = Buffer.from(head.subarray(0, HEAD_BYTES))
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text === '' || text.startsWith('<')) return;
  if (DELIMITED_ROW.test(text)) {
    const reason = 'it is the delimited file, which cuts long remarks and with them addresses';
    throw new ListRefused('delimited_file', reason);
  }
  throw new ListRefused('not_xml', `it is not XML: it begins ${quoteText(text)}`);
}

function readerFor({ local, namespace }: Root): DocumentReader {
  if (local === ENHANCED_ROOT) {
    const reason = 'it is the enhanced file (or a delta), which cannot show that it is whole';
    throw new ListRefused('enhanced_file', reason);
  }
  if (local.toLowerCase() === 'html') throw new ListRefused('not_xml', 'it is an HTML page');
  const [namespaces, make] =
    local === ADVANCED_ROOT
      ? [ADVANCED_NAMESPACES, advancedReader]
      : local === LEGACY_ROOT
        ? [LEGACY_NAMESPACES, legacyReader]
        : [null, null];
  if (namespaces === null || make === null) {
    throw new ListRefused('unknown_root', `its root element is ${quoteText(local)}`);
  }
  if (!namespaces.includes(namespace)) {
    throw new ListRefused('unknown_namespace', `its namespace is ${quoteText(namespace)}`);
  }
  return make();
}

// The date is read from the beginning alone, whatever the root, the namespace and the rest of the
// file are: that a newer list was published is known even where its format is not.

/** Both formats state their day in their first kilobyte. */
export const STATED_WITHIN_BYTES = 64 * 1024;

const LEGACY = /<Publish_Date>\s*(?<month>\d{1,2})\/(?<day>\d{1,2})\/(?<year>\d{4})\s*</;
const ADVANCED = new RegExp(
  '<DateOfIssue[^>]*>\\s*<Year>\\s*(?<year>\\d{4})\\s*</Year>' +
    '\\s*<Month>\\s*(?<month>\\d{1,2})\\s*</Month>\\s*<Day>\\s*(?<day>\\d{1,2})\\s*<',
);

/** The day as `YYYY-MM-DD`; `null` where the beginning of the document states none. */
export function statedDay(head: string): string | null {
  const legacy = LEGACY.exec(head);
  const stated = legacy === null ? ADVANCED.exec(head) : legacy;
  if (stated?.groups === undefined) return null;
  const { year, month, day } = stated.groups;
  return dayIn(String(year), String(month), String(day));
}
