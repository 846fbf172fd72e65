// Answers one question: under which name is a configured address of the list shown and told apart.
// It shows scheme and host of a configured address, more only of the publisher's own pages.

import { createHash } from 'node:crypto';
import { shownAddress } from '../http/outbound-call.ts';

/** The publisher's own exports that can serve as the list, smallest first. */
export const PUBLISHER_EXPORTS = [
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_XML.ZIP',
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN.XML',
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.ZIP',
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.XML',
] as const;

/** The publisher's public page where the address is exactly that, else scheme and host. */
export function publicAddress(url: URL): string {
  const own = PUBLISHER_EXPORTS.find((known) => known === url.href);
  return own === undefined ? shownAddress(url) : own;
}

/** Tells configured addresses apart. A digest, because an address may hold a credential. */
export function addressKey(url: URL): string {
  return createHash('sha256').update(url.href).digest('hex');
}
