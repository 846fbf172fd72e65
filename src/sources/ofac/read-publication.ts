// Answers one question: what publication does a file on disk hold.
// It reads to the end or refuses with one reason; it judges neither size nor age (see gate.ts).
// It parses where it is called: a serving process calls read-apart.ts instead.

import { createHash } from 'node:crypto';
import { type ContainerLimits, documentBytes, inspect, unreadable } from './container.ts';
import { readDocument } from './document.ts';
import {
  counted,
  isRefusal,
  type Publication,
  type ReadDocument,
  type Refusal,
  Refused,
  withForms,
} from './publication.ts';
import { STATED_WITHIN_BYTES, statedDay } from './stated-day.ts';

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
): Promise<Publication | Refusal> {
  const outcome = await readFileDocument(path, options.limits, options.onProgress);
  return isRefusal(outcome) ? outcome : withForms(outcome, options.isKnownForm);
}

/** The same without judging the forms of its addresses: what a separate process can do. */
export async function readFileDocument(
  path: string,
  limits: ContainerLimits,
  onProgress?: OnProgress,
): Promise<ReadDocument | Refusal> {
  let head = '';
  try {
    const delivered = await inspect(path, limits);
    const hash = createHash('sha256');
    let bytes = 0;
    const watched = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of documentBytes(path, delivered.kind, limits)) {
        hash.update(chunk);
        if (bytes < STATED_WITHIN_BYTES) head += Buffer.from(chunk).toString('latin1');
        bytes += chunk.byteLength;
        yield chunk;
        onProgress?.(bytes);
      }
    };
    const document = await readDocument(watched());
    const digests = { sha256: delivered.sha256, sha256_xml: hash.digest('hex') };
    return { ...document, ...counted(document.addresses), ...digests, bytes: delivered.bytes };
  } catch (error) {
    if (!(error instanceof Refused)) return unreadable(error);
    return { ...error.refusal, published: statedDay(head) };
  }
}
