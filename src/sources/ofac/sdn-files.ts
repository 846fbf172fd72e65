// Answers one question: is this file a publication of the list.
// It joins the readers of the publisher's formats to the port that a refresh uses.

import { parseKnownAddress } from '../../chain/address.ts';
import type { PublicationReader } from '../../ports/sanctions/publisher.ts';
import { CONTAINER_LIMITS, type ContainerLimits } from './container.ts';
import { isRefusal } from './publication.ts';
import { readPublicationApart } from './read-apart.ts';

/** Reads a file in a process apart, so that serving goes on meanwhile. */
export function sdnReader(limits: ContainerLimits = CONTAINER_LIMITS): PublicationReader {
  return async (path, signal) => {
    const isKnownForm = (address: string): boolean => parseKnownAddress(address) !== null;
    const outcome = await readPublicationApart(path, { isKnownForm, limits, signal });
    return isRefusal(outcome) ? { ...outcome, size: false } : outcome;
  };
}
