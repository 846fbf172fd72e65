// How does a test put a list in force, whatever else an acceptance has to say?

import { Read } from '../evidence/reading.ts';
import type { PublicationStore, Written } from '../ports/sanctions/publication-store.ts';
import type { PublishedList } from '../ports/sanctions/publisher.ts';

const SOURCE = { key: 'a'.repeat(64), url: 'https://publisher.example' };

/** Accepts a list at a time (Unix seconds) in place of the one in force, or of another. */
export async function acceptedIn(
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
    validators: { etag: null, last_modified: null },
    accepted_at: at,
    checked_at: at,
    accepted_why: null,
    instead_of: instead ?? (publication === null ? null : publication.id),
  });
  if (!(written instanceof Read)) throw new Error(written.why.reason);
  return written.value;
}
