// Runs the forensic record over a planted world. For tests of the kinds.

import { parseAddress } from '../chain/address.ts';
import { rowsSeen } from '../evidence/reading.ts';
import {
  type ForensicEvidence,
  type ForensicPorts,
  forensicEvidence,
} from '../features/forensics/evidence.ts';
import { forensicPorts, type PlantedFacts } from './forensic-ports.ts';

/** The evidence of an address in a planted world. */
export async function scoreAddress(
  address: string,
  planted: PlantedFacts,
  ports: ForensicPorts = forensicPorts(planted),
): Promise<ForensicEvidence> {
  const subject = parseAddress(address);
  if (subject === null) throw new Error(`no address: ${address}`);
  return forensicEvidence(ports, subject, {
    signal: new AbortController().signal,
  });
}

/** The findings of one kind, complete or partial; `null` if it found nothing. */
export function findingOf({ kinds }: ForensicEvidence, name: string) {
  const one = kinds.find(({ kind }) => kind.kind === name);
  if (one === undefined) throw new Error(`no kind ${name}`);
  return rowsSeen(one.found);
}

/** Which kinds ran to their end. */
export function checkedKinds({ kinds }: ForensicEvidence): string[] {
  return kinds.filter(({ found }) => found.checked).map(({ kind }) => kind.kind);
}
