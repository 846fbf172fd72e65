// A call of what a detector said: its hash, its id, and how chats are told of it. Pure.

import { hashBundle } from '../../chain/call-hash.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { writeCanonical } from '../../contract/canonical.ts';
import type {
  DetectorVersion,
  EmissionStatement,
  HashedVersion,
  NewEmission,
} from '../../ports/emitted-calls.ts';
import type { DispatchMessage, FlagDispatch } from '../../ports/integrations.ts';

const ID_DIGITS = 32;

/** What a detector said, with what follows from it. */
export function makeEmission(said: EmissionStatement): NewEmission {
  const hash = hashBundle(writeCanonical(said));
  return { call_id: `call_${hash.slice('0x'.length, '0x'.length + ID_DIGITS)}`, hash, said };
}

/** A version with the hash that its leaf holds. */
export function hashVersion(version: DetectorVersion): HashedVersion {
  return { ...version, hash: hashBundle(writeCanonical(version)) };
}

const CAVEAT =
  'A call states what a published rule found in observations, and shows each of them. How calls ' +
  'of its kind turned out, with their number, stands on the page.';

/** The page that shows how calls turned out. */
const CALLS_PATH = '/edge';

/** Chats that ask for calls are told of each. */
export function callDispatch({ call_id, said }: NewEmission): FlagDispatch {
  const { kind, asset, venue, direction, conviction, price, horizon_h, simulated } = said;
  const message: DispatchMessage = {
    title: `Call on ${asset}: ${direction} (${kind})`,
    facts: [
      `Asset: ${asset}`,
      `Detector: ${said.detector_version}`,
      `Direction: ${direction}`,
      `Conviction: ${conviction} (emitted from ${said.bar} on)`,
      `Price at ${venue}: ${price}`,
      `Horizon: ${horizon_h} h`,
      `Emitted at: ${formatIsoTime(said.emitted_at)}`,
      `Observations: ${said.inputs.length}`,
      `Call: ${call_id}`,
    ],
    caveat: CAVEAT,
    path: CALLS_PATH,
    at: said.emitted_at,
    simulated,
  };
  return { key: `call:${call_id}`, chain: null, address: null, message };
}
