// Puts a list in force in a test, with the fields of an acceptance.

import { Read } from '../evidence/reading.ts';
import type { PublicationStore, PublishedList, Written } from '../ports/sanctions.ts';
import { READER_VERSION } from '../sources/ofac/publication.ts';

const SOURCE = { key: 'a'.repeat(64), url: 'https://publisher.example' };

/** Accepts a list at a time (Unix seconds) in place of the one in force, or of another. */
export async function acceptPublication(
  store: PublicationStore,
  list: PublishedList,
  at: number,
  instead: number | null = null,
): Promise<Written> {
  const inForce = await store.inForce();
  if (!(inForce instanceof Read)) throw new Error(inForce.why.reason);
  const { publication } = inForce.value;
  const written = await store.accept({
    list,
    source: SOURCE,
    reader_version: READER_VERSION,
    accepted_at: at,
    check: { at, by: 'asked' },
    accepted_why: null,
    instead_of: instead ?? (publication === null ? null : publication.id),
  });
  if (!(written instanceof Read)) throw new Error(written.why.reason);
  return written.value;
}

/** A check at a time (Unix seconds) that found the list in force the newest. */
export async function noteCheck(store: PublicationStore, at: number): Promise<void> {
  const inForce = await store.inForce();
  if (!(inForce instanceof Read) || inForce.value.publication === null) {
    throw new Error('no list is in force');
  }
  const written = await store.recordCheck({
    publication_id: inForce.value.publication.id,
    source: SOURCE,
    check: { at, by: 'asked' },
  });
  if (!(written instanceof Read)) throw new Error(written.why.reason);
}
