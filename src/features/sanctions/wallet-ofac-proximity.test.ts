import { describe, expect, test } from 'vitest';
import { LISTED, screenData, UNCHECKED } from '../../testing/ofac-screen.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { listedEntry } from '../../testing/walked-world.ts';
import { WALK_LIMITS } from './walk.ts';

const SUBJECT = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const MIDDLE = '0x1111111111111111111111111111111111111abc';
const TOKEN = '0x3333333333333333333333333333333333333fed';
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';

const HARMLESS = [memoryTransfer(1, SUBJECT, MIDDLE)];
const PAID = [
  memoryTransfer(1, SUBJECT, MIDDLE, { usd: '3000.5' }),
  memoryTransfer(2, LISTED, MIDDLE, {
    kind: 'token',
    token: TOKEN,
    symbol: 'USDX',
    decimals: 6,
    raw_amount: 2_500_001n,
    usd: '2.5',
    initiator: SUBJECT,
  }),
];

describe('says', () => {
  test('the whole way to a listed address, hop by hop, and no designation of it', async () => {
    const { sanctioned, proximity, proximity_checked } = await screenData(
      { transfers: PAID },
      SUBJECT,
    );
    expect(sanctioned).toBe(false);
    expect(proximity_checked).toBe(true);
    expect(proximity).toMatchObject({
      checked: true,
      reason: null,
      found: true,
      hops: 2,
      path: [SUBJECT, MIDDLE, LISTED],
      entity: 'LAST, First',
      program: 'CYBER2, DPRK3',
      listed_address: LISTED,
      hops_examined: 2,
      nodes_examined: 1,
      frontier_exhausted: true,
    });
    expect(proximity.hops_detail).toEqual([
      {
        from: SUBJECT,
        to: MIDDLE,
        chain: 'ethereum',
        tx: PAID[0]?.tx,
        token: null,
        symbol: 'ETH',
        amount: '1',
        raw_amount: '1000000000000000000',
        token_id: null,
        usd: '3000.5',
        at: '2026-01-01T00:00:01.000Z',
        direction: 'out',
        initiator: SUBJECT,
        initiated_by_subject: true,
        success: true,
      },
      {
        from: LISTED,
        to: MIDDLE,
        chain: 'ethereum',
        tx: PAID[1]?.tx,
        token: TOKEN,
        symbol: 'USDX',
        amount: '2.500001',
        raw_amount: '2500001',
        token_id: null,
        usd: '2.5',
        at: '2026-01-01T00:00:02.000Z',
        direction: 'in',
        initiator: SUBJECT,
        initiated_by_subject: true,
        success: true,
      },
    ]);
  });

  test('left-out contacts with a listed address, in the field and in the caveat', async () => {
    const poison = memoryTransfer(7, SUBJECT, LISTED, {
      kind: 'token',
      token: TOKEN,
      raw_amount: 0n,
      initiator: MIDDLE,
    });
    const data = await screenData({ transfers: [poison] }, SUBJECT);
    expect(data.proximity.found).toBe(false);
    expect(data.proximity.edges_left_out).toEqual({ zero_value: 1, no_market_token: 0 });
    expect(data.proximity.left_out_contacts).toEqual([
      { chain: 'ethereum', tx: poison.tx, token: TOKEN, why: 'zero_value', listed_address: LISTED },
    ]);
    expect(data.caveat).toContain(
      `Transfers that the walk leaves out as unwanted touch listed addresses: 1, of ${LISTED}.`,
    );
  });

  test('a way that was seen though history is not held in full, and what misses', async () => {
    const world = { transfers: PAID, history: { coverage: [] } };
    const { proximity, caveat } = await screenData(world, SUBJECT);
    expect(proximity).toMatchObject({ checked: true, found: true, hops_examined: 0 });
    // A party that was met is told; that nothing else was met rests on the whole walk.
    expect(proximity).toMatchObject({
      left_out_contacts: null,
      edges_left_out: null,
      hubs_not_expanded: null,
      hubs_not_expanded_count: null,
      hub_contacts: null,
      hub_contacts_count: null,
      node_budget_hit: null,
      frontier_exhausted: false,
      nodes_examined: 2,
    });
    expect(proximity.chains_examined).toBeNull();
    expect(proximity.nodes_unread).toBe(2);
    expect(caveat).toMatch(/found a way before it came to its end: partial_history: /);
  });

  test('on made-up data the way, labelled, and that proximity is not checked', async () => {
    const world = { transfers: PAID, simulated: true };
    const data = await screenData(world, SUBJECT);
    expect(data.sanctioned).toBe(false);
    expect(data.proximity_checked).toBe(false);
    expect(data.proximity).toMatchObject({
      checked: false,
      found: true,
      path: [SUBJECT, MIDDLE, LISTED],
      hops_examined: null,
      provenance: null,
    });
    expect(data.proximity.reason).toMatch(/^Simulated: /);
    expect(data.caveat).toMatch(/^Simulated: /);
    const miss = await screenData({ transfers: HARMLESS, simulated: true }, SUBJECT);
    expect(miss.proximity).toMatchObject({ checked: false, found: null, nodes_examined: null });
  });

  test('an amount of unknown decimals as the exact integer alone', async () => {
    const odd = memoryTransfer(1, SUBJECT, LISTED, {
      kind: 'token',
      token: TOKEN,
      raw_amount: 77n,
      initiator: null,
      success: null,
    });
    const { proximity } = await screenData({ transfers: [odd] }, SUBJECT);
    expect(proximity.hops_detail?.[0]).toMatchObject({
      symbol: null,
      amount: null,
      raw_amount: '77',
      token_id: null,
      usd: null,
      initiator: null,
      initiated_by_subject: false,
      success: null,
    });
  });

  test('hubs that were not walked past, largest first, beside a negative', async () => {
    const hubs = [MIDDLE, TOKEN];
    const crowd = hubs.flatMap((hub, i) =>
      Array.from({ length: 4 + i }, (_, n) =>
        memoryTransfer(10 * i + n, hub, `0x${(n + 2 ** 20).toString(16).padStart(40, '1')}`),
      ),
    );
    const transfers = [...hubs.map((hub, n) => memoryTransfer(n, SUBJECT, hub)), ...crowd];
    const { proximity, caveat } = await screenData(
      { transfers, ring: 'unbuilt', limits: { ...WALK_LIMITS, degreeMax: 4 } },
      SUBJECT,
    );
    expect(proximity).toMatchObject({
      checked: true,
      found: false,
      frontier_exhausted: false,
      hubs_not_expanded_count: 2,
      hubs_not_expanded: [
        { address: TOKEN, degree: 6, label: null },
        { address: MIDDLE, degree: 5, label: null },
      ],
    });
    expect(caveat).toContain('Addresses with too many counterparties were not walked past: 2.');
  });
});

describe('is silent', () => {
  test('of proximity where the address is a hub, with the direct check complete', async () => {
    const transfers = Array.from({ length: 5_001 }, (_, n) =>
      memoryTransfer(n, SUBJECT, `0x${(n + 2 ** 20).toString(16).padStart(40, '1')}`),
    );
    const data = await screenData({ transfers, listed: [listedEntry(SUBJECT)] }, SUBJECT);
    expect(data.sanctioned).toBe(true);
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'high_degree: no walk starts from a hub: 5001 counterparties, over 5000.',
    });
  });

  test('of proximity of an address on a chain that is not read', async () => {
    const data = await screenData({}, BITCOIN);
    expect(data.address).toBe(BITCOIN);
    expect(data.proximity).toEqual({
      ...UNCHECKED,
      reason: 'Transfer history of this kind of address (bitcoin) is not read by this deployment.',
    });
  });

  test('of proximity where the node budget was hit, naming how many were met', async () => {
    const transfers = [...HARMLESS, memoryTransfer(2, SUBJECT, TOKEN)];
    const limits = { ...WALK_LIMITS, nodesMax: 1 };
    const world = { transfers, limits, ring: 'unbuilt' } as const;
    const { proximity, proximity_checked } = await screenData(world, SUBJECT);
    expect(proximity_checked).toBe(false);
    expect(proximity).toEqual({
      ...UNCHECKED,
      reason: 'node_budget: the walk met 2 addresses, more than the 1 it may hold.',
    });
  });
});
