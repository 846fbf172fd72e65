// Answers one question: is this file a publication of the list, and may it come into force.
// It joins the readers and rules of the publisher's formats to the ports that a refresh uses.

import { parseAddress } from '../../chain/address.ts';
import type { Gate, ListRefusal, PublicationReader } from '../../ports/publisher.ts';
import { CONTAINER_LIMITS, type ContainerLimits } from '../sdn/container.ts';
import {
  absoluteGate,
  BASELINE,
  clockGate,
  isSizeRule,
  relativeGate,
  SHARES,
} from '../sdn/gate.ts';
import { isRefusal, type Refusal } from '../sdn/publication.ts';
import { readPublicationApart } from '../sdn/read-apart.ts';

/** Reads a file in a process apart, so that serving goes on meanwhile. */
export function sdnReader(limits: ContainerLimits = CONTAINER_LIMITS): PublicationReader {
  return async (path, signal) => {
    const isKnownForm = (address: string): boolean => parseAddress(address) !== null;
    const outcome = await readPublicationApart(path, { isKnownForm, limits, signal });
    return isRefusal(outcome) ? listRefusal(outcome) : outcome;
  };
}

/** The gate with this deployment's floor, in distinct addresses. `now` gives Unix seconds. */
export function sdnGate(floor: number, now: () => number): Gate {
  return {
    absolute: (list) => orNull(absoluteGate(list, { floor })),
    relative: (list, last) => {
      const ahead = clockGate(list, now());
      return orNull(ahead === null ? relativeGate(list, last, BASELINE, SHARES) : ahead);
    },
  };
}

function orNull(refused: Refusal | null): ListRefusal | null {
  return refused === null ? null : listRefusal(refused);
}

function listRefusal(refused: Refusal): ListRefusal {
  const { code, reason } = refused;
  return { refused: true, code, reason, size: isSizeRule(refused) };
}
