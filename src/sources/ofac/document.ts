// Answers one question: which of the publisher's formats is this, and what does it say.
// It reads the SDN XML and the SDN advanced XML; the enhanced and the delimited files are
// recognised and refused by name, and so is every other root or namespace.

import { ADVANCED_NAMESPACES, ADVANCED_ROOT, advancedReader } from './advanced.ts';
import { LEGACY_NAMESPACES, LEGACY_ROOT, legacyReader } from './legacy.ts';
import { type Document, quoted, Refused } from './publication.ts';
import { type DocumentReader, type Root, XmlWalk } from './xml-walk.ts';

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
    throw new Refused('no_addresses', 'it holds no digital currency address');
  }
  if (document.addresses.length > ADDRESS_ROWS_MAX) {
    throw new Refused('too_large', `it lists over ${ADDRESS_ROWS_MAX} addresses`);
  }
  return document;
}

function documentOf(reader: DocumentReader | null): Document {
  if (reader === null) throw new Refused('not_xml', 'it has no root element');
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
    throw new Refused('delimited_file', reason);
  }
  throw new Refused('not_xml', `it is not XML: it begins ${quoted(text)}`);
}

function readerFor({ local, namespace }: Root): DocumentReader {
  if (local === ENHANCED_ROOT) {
    const reason = 'it is the enhanced file (or a delta), which cannot show that it is whole';
    throw new Refused('enhanced_file', reason);
  }
  if (local.toLowerCase() === 'html') throw new Refused('not_xml', 'it is an HTML page');
  const [namespaces, make] =
    local === ADVANCED_ROOT
      ? [ADVANCED_NAMESPACES, advancedReader]
      : local === LEGACY_ROOT
        ? [LEGACY_NAMESPACES, legacyReader]
        : [null, null];
  if (namespaces === null || make === null) {
    throw new Refused('unknown_root', `its root element is ${quoted(local)}`);
  }
  if (!namespaces.includes(namespace)) {
    throw new Refused('unknown_namespace', `its namespace is ${quoted(namespace)}`);
  }
  return make();
}
