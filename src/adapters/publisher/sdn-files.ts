// Answers one question: is this file a publication of the list, and may it come into force.
// It joins the readers and rules of the publisher's formats to the ports that a refresh uses.

import { parseAddress } from '../../chain/address.ts';
import type { Gate, ListDiff, ListRefusal, PublicationReader } from '../../ports/publisher.ts';
import type { ListEntry } from '../../ports/sanctions-list.ts';
import { CONTAINER_LIMITS, type ContainerLimits } from '../sdn/container.ts';
import { diffPublications } from '../sdn/diff.ts';
import { absoluteGate, BASELINE, isSizeRule, relativeGate, SHARES } from '../sdn/gate.ts';
import { isRefusal, type ListedAddress, PARTY_TYPES, type Refusal } from '../sdn/publication.ts';
import { readPublicationApart } from '../sdn/read-apart.ts';

/** Reads a file in a process apart, so that serving goes on meanwhile. */
export function sdnReader(limits: ContainerLimits = CONTAINER_LIMITS): PublicationReader {
  return async (path) => {
    const isKnownForm = (address: string): boolean => parseAddress(address) !== null;
    const outcome = await readPublicationApart(path, { isKnownForm, limits });
    return isRefusal(outcome) ? listRefusal(outcome) : outcome;
  };
}

/** The gate with this deployment's floor, in distinct addresses. */
export function sdnGate(floor: number): Gate {
  return {
    absolute: (list) => orNull(absoluteGate(list, { floor })),
    relative: (list, last) => orNull(relativeGate(list, last, BASELINE, SHARES)),
  };
}

function orNull(refused: Refusal | null): ListRefusal | null {
  return refused === null ? null : listRefusal(refused);
}

function listRefusal(refused: Refusal): ListRefusal {
  const { code, reason } = refused;
  return { refused: true, code, reason, size: isSizeRule(refused) };
}

type Rows = { readonly addresses: readonly ListEntry[] };

/** What changed from the rows of one publication to those of another. */
export function diffLists(before: Rows, after: Rows): ListDiff {
  return diffPublications(asPublished(before), asPublished(after));
}

/** Rows that came from a file, or from a store that was filled from one. */
function asPublished({ addresses }: Rows): { readonly addresses: readonly ListedAddress[] } {
  return {
    addresses: addresses.map((row) => {
      const type = PARTY_TYPES.find((known) => known === row.type);
      if (type === undefined) throw new TypeError('a stored row is of no known type of party');
      return { ...row, type };
    }),
  };
}
