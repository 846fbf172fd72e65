import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RegistryRow } from '../../ports/bridges.ts';
import { evm } from '../../testing/addresses.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { registryIndex } from './registry.ts';
import { addReceipts, sortContacts, transactionsToRead } from './trace.ts';

const SUBJECT = evm('subject');
const BRIDGE = evm('bridge');
const ATTACKER = evm('attacker');

const row = (address: string, over: Partial<RegistryRow> = {}): RegistryRow => ({
  chain: 'ethereum',
  address,
  protocol: 'hop',
  name: 'Bridge',
  role: 'lock',
  note: null,
  also_on: [],
  valid_from_block: 50,
  sources: ['tests'],
  reviewed: '2026-01-01',
  ...over,
});
const INDEX = registryIndex([row(BRIDGE), row(BRIDGE, { role: 'messaging' })]);

const transfer = fc
  .record({
    n: fc.integer({ min: 1, max: 100 }),
    out: fc.boolean(),
    other: fc.constantFrom(BRIDGE, evm('friend')),
    initiator: fc.constantFrom(SUBJECT, ATTACKER, null),
    raw_amount: fc.constantFrom(0n, 7n),
    has_market: fc.constantFrom(true, false, null),
    success: fc.constantFrom(true, false, null),
  })
  .map(({ n, out, other, ...over }) =>
    memoryTransfer(n, out ? SUBJECT : other, out ? other : SUBJECT, {
      kind: 'token',
      token: evm('token'),
      ...over,
    }),
  );

describe('contacts', () => {
  test('every transfer with a contract is a contact, left out and counted, or no transfer', () => {
    fc.assert(
      fc.property(fc.array(transfer, { maxLength: 40 }), (transfers) => {
        const { bridging, messaging, provided, left_out } = sortContacts(
          ...([SUBJECT, 'ethereum', transfers, INDEX] as const),
        );
        const withBridge = transfers.filter(
          ({ from, to, block, success }) =>
            (from === BRIDGE || to === BRIDGE) && block >= 50 && success !== false,
        );
        const left = left_out.zero_value + left_out.no_market_token;
        expect(bridging.length + left).toBe(withBridge.length);
        expect([messaging, provided]).toEqual([[], []]);
      }),
    );
  });

  test('nothing that an attacker sends for nothing, or in a worthless token, is one', () => {
    fc.assert(
      fc.property(fc.array(transfer, { maxLength: 40 }), (transfers) => {
        const planted = transfers.map((one) => ({
          ...one,
          initiator: ATTACKER,
          has_market: false,
        }));
        const { bridging } = sortContacts(SUBJECT, 'ethereum', planted, INDEX);
        expect(bridging).toEqual([]);
      }),
    );
  });

  test('the transactions of contacts are read first, and no more than asked', () => {
    const paid = memoryTransfer(60, SUBJECT, BRIDGE);
    const inbound = [61, 62, 63].map((n) => memoryTransfer(n, ATTACKER, SUBJECT));
    const contacts = sortContacts(SUBJECT, 'ethereum', [...inbound, paid], INDEX);
    expect(transactionsToRead(contacts, 2)).toEqual([paid.tx, String(inbound[0]?.tx)]);
    expect(transactionsToRead(contacts, 0)).toEqual([]);
  });

  test('a receipt without an event of the contract changes nothing of a contact', () => {
    const paid = memoryTransfer(60, SUBJECT, BRIDGE);
    const contacts = sortContacts(SUBJECT, 'ethereum', [paid], INDEX);
    const receipts = new Map([[paid.tx, { events: [], unknown: [], off_registry: [] }]]);
    const told = addReceipts(SUBJECT, contacts, receipts, INDEX);
    expect(told.bridging).toEqual([{ ...contacts.bridging[0], events: [] }]);
  });
});
