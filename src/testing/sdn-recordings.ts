// The recordings of the publisher's two formats for tests, and how a test reads an altered one.

import { readFileSync } from 'node:fs';
import {
  type Document,
  ListRefused,
  type PublicationRefusal,
} from '../sources/ofac/publication.ts';
import { readDocument } from '../sources/ofac/read-publication.ts';

/** The recordings of both formats, which say the same list. */
export const legacy = readFileSync(
  new URL('../sources/ofac/recordings/sdn.xml', import.meta.url),
  'utf8',
);
export const advanced = readFileSync(
  new URL('../sources/ofac/recordings/sdn-advanced.xml', import.meta.url),
  'utf8',
);

/** Reads a text that comes in chunks of so many bytes. */
export async function readText(
  text: string,
  chunkBytes = 1000,
): Promise<Document | PublicationRefusal> {
  return readBytes(Buffer.from(text, 'utf8'), chunkBytes);
}

/** The same of bytes. */
export async function readBytes(
  bytes: Uint8Array,
  chunkBytes: number,
): Promise<Document | PublicationRefusal> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; at += chunkBytes) {
      yield bytes.subarray(at, at + chunkBytes);
    }
  }
  try {
    return await readDocument(chunks());
  } catch (error) {
    if (error instanceof ListRefused) return error.refusal;
    throw error;
  }
}

/** The text with one part replaced; it throws where the part is not there, so no test is idle. */
export function alterRecording(text: string, part: string | RegExp, by: string): string {
  const changed = text.replace(part, by);
  if (changed === text) throw new Error(`the recording holds no ${part}`);
  return changed;
}

/** The address that stands first in both recordings. */
export const EVM = '0x00000000000000000000000000000000000Dec0A';
