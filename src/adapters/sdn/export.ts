// Answers one question: which rows does a publication list, for scripts and for people.
// It adds nothing that the list does not print, and drops no row of it.

import type { ListedAddress, PartyType, Publication } from './publication.ts';

/** One listed address under one entry. */
export type ExportRow = {
  readonly address: string;
  readonly currency: string;
  readonly entity: string;
  readonly type: PartyType;
  readonly programs: readonly string[];
  readonly uid: string;
  /** Publication date of the list, `YYYY-MM-DD`. */
  readonly published: string;
};

/** The rows in the order of the list. */
export function exportRows({
  addresses,
  published,
}: {
  readonly addresses: readonly ListedAddress[];
  readonly published: Publication['published'];
}): ExportRow[] {
  return addresses.map(({ address, currency, entity, type, programs, uid }) => {
    return { address, currency, entity, type, programs, uid, published };
  });
}
