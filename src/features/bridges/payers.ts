// Which contracts of the other chain pay what was sent, and do their logs show it?
// That nothing arrived may be said only where each of them is read and logs what it pays.

import { type Why, why } from '../../evidence/reasons.ts';
import type { RegistryRow } from '../../ports/bridges/bridge-registry.ts';
import { isCarried } from './protocols/circle.ts';
import type { DecodedEvent } from './protocols/decode.ts';

/** Ids that one side alone writes: what NTT logs of a deposit. */
const OF_ONE_SIDE = /^ntt:/;
/** It sends as the token bridge does, and logs nothing of what it pays. */
const NFT_BRIDGE = 'NFT Bridge';

/** Whether the other side's event has this one's id. */
export function hasSharedId({ message_id, name }: DecodedEvent): boolean {
  return message_id !== null && !OF_ONE_SIDE.test(message_id) && name !== NFT_BRIDGE;
}

/**
 * Since when every token bridge of Wormhole logs redemptions, in Unix seconds. The event came with
 * wormhole-foundation/wormhole#3173 (August 2023) and was on all five chains before 2024.
 */
const REDEMPTIONS_LOGGED_SINCE = Date.UTC(2024, 0, 1) / 1_000;

/** Both versions of Celer's vaults and pegged tokens pay each other. */
const CELER_PEGGED = [
  ...['OriginalTokenVault', 'OriginalTokenVaultV2'],
  ...['PeggedTokenBridge', 'PeggedTokenBridgeV2'],
];

/** The contracts that may pay what a contract sent, by the registry's names. */
function payersOf({ protocol, name, destination }: DecodedEvent): readonly string[] {
  if (protocol === 'celer' && CELER_PEGGED.includes(name)) return CELER_PEGGED;
  const layer = destination === 'ethereum' ? 'L1 Bridge' : 'L2 Bridge';
  return [protocol === 'hop' ? name.replace(/^L[12] Bridge/, layer) : name];
}

/** Why it may not be denied that something arrived, though all that is listed was read. */
export function whyUndeniable(
  event: DecodedEvent,
  at: number,
  there: readonly RegistryRow[],
): Why | null {
  const { protocol, destination, message_id } = event;
  // Circle's one contract of a chain brings all that it carries there, and logs each.
  if (message_id !== null && isCarried(message_id)) return null;
  if (protocol === 'wormhole' && at < REDEMPTIONS_LOGGED_SINCE) {
    return why('destination_not_joined', { event: event.event });
  }
  const missing = payersOf(event).find((payer) => !there.some(({ name }) => name === payer));
  if (missing === undefined) return null;
  return why('payer_not_listed', {
    contract: `${protocol} ${missing}`,
    chain: String(destination),
  });
}
