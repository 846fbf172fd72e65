import { describe, expect, test } from 'vitest';
import type { ReceiptLog, RegistryRow } from '../../../ports/bridges.ts';
import { ALICE, BOB, circleArrival, TOKEN, TRANSMITTER } from '../../../testing/bridge-pairs.ts';
import { row } from '../../../testing/bridge-trace.ts';
import { inOrder, logOf, movedLog } from '../../../testing/event-logs.ts';
import { registryIndex } from '../registry.ts';
import { decodeReceipt } from './decode.ts';

const SENDER = `0x${'4'.repeat(40)}`;
const RELAYER = `0x${'6'.repeat(40)}`;
const NOBODY = `0x${'0'.repeat(40)}`;
const TX = `0x${'cd'.repeat(32)}`;
const HOP = row(SENDER, 'L1 CCTP Bridge (USDC)', { protocol: 'hop', role: 'lock' });
const TERMS = { recipient: BOB, amount: 70n, deadline: 0, origin: 1, id: 9 };

function decoded(logs: readonly ReceiptLog[], rows: readonly RegistryRow[] = [HOP]) {
  const facts = { chain: 'base', tx: TX, block: 5, from: RELAYER, to: null, value: 0n } as const;
  const receipt = { ...facts, input: null, success: true, logs: inOrder(...logs) };
  return decodeReceipt(receipt, registryIndex(rows));
}

const minted = movedLog(TOKEN, NOBODY, BOB, 70n);
const arrival = (over: Partial<typeof TERMS> = {}, sender = SENDER, at = TRANSMITTER) =>
  logOf(at, ...circleArrival({ ...TERMS, ...over }, sender));
/** The same message as another contract than Circle's messenger would send it. */
function forged(): ReceiptLog {
  const [declared, [caller, domain, nonce, , body]] = circleArrival(TERMS, SENDER);
  const own = `0x${SENDER.slice(2).padStart(64, '0')}`;
  return logOf(TRANSMITTER, declared, [caller, domain, nonce, own, body]);
}

test('what Circle brings for a contract of a protocol is that protocol’s arrival', () => {
  const { events, unknown } = decoded([minted, arrival()]);
  expect(unknown).toEqual([]);
  expect(events).toEqual([
    expect.objectContaining({
      protocol: 'hop',
      name: 'L1 CCTP Bridge (USDC)',
      direction: 'in',
      kind: 'bridge',
      event: 'MessageReceived',
      user: BOB,
      asset: TOKEN,
      amount: 70n,
      message_id: 'cctp:1/9',
      origin: 'ethereum',
      destination: 'base',
      row: expect.objectContaining({ chain: 'base', address: TRANSMITTER }),
    }),
  ]);
});

test('so is what it brings to a contract of the registry, which is no wallet', () => {
  const recipient = row(BOB, 'SpokePool', { chain: 'base' });
  const { events } = decoded([minted, arrival()], [HOP, recipient]);
  expect(events.map(({ protocol, user }) => [protocol, user])).toEqual([['hop', null]]);
});

describe('it is nobody’s', () => {
  const elsewhere = { ...HOP, chain: 'arbitrum' } as const;
  const synapse = row(SENDER, 'SynapseCCTP', { protocol: 'synapse', role: 'lock' });
  const messenger = { ...HOP, role: 'messaging' } as const;

  test.each<readonly [string, ReceiptLog, RegistryRow[]]>([
    ['where a plain user of Circle sent it', arrival({}, ALICE), [HOP]],
    ['where another contract than Circle’s logs it', arrival({}, SENDER, RELAYER), [HOP]],
    ['where it only reads like a burn', forged(), [HOP]],
    ['where its sender is the protocol’s on another chain alone', arrival(), [elsewhere]],
    ['where it came from another chain', arrival({ origin: 56 }), [HOP]],
    ['where its sender only passes messages', arrival(), [messenger]],
    ['where the protocol’s own contract tells it', arrival(), [synapse]],
  ])('%s', (_, log, rows) => {
    expect(decoded([minted, log], rows)).toEqual({ events: [], unknown: [], off_registry: [] });
  });
});
