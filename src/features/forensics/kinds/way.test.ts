import { describe, expect, test } from 'vitest';
import { evm } from '../../../testing/addresses.ts';
import { STILL_NOW } from '../../../testing/clock.ts';
import { checkedKinds, foundOf, scored } from '../../../testing/finding-suite.ts';
import { heldInFull, memoryTransfer } from '../../../testing/twins/history.ts';
import { listedEntry } from '../../../testing/walked-world.ts';
import { notesOf } from '../notes.ts';

const SUBJECT = evm('subject');
const FRIEND = evm('friend');
const LISTED = evm('listed');
const listed = [listedEntry(LISTED)];
const PAID = memoryTransfer(1, LISTED, FRIEND);
const PASSED_ON = memoryTransfer(2, FRIEND, SUBJECT);
const ETHER = { symbol: 'ETH', raw_amount: `1${'0'.repeat(18)}`, amount: '1' };
const PLAIN = { evidence: 'transfer', chain: 'ethereum', direction: 'in', token: null, usd: null };

describe('the way to a listed address', () => {
  test('over two hops is found with the transaction of each hop and its source', async () => {
    const evidence = await scored(SUBJECT, { listed, transfers: [PAID, PASSED_ON] });
    expect(foundOf(evidence, 'way_to_listed')).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        kind: 'way_to_listed',
        title: 'Shortest way to a listed address within two hops',
        statement:
          `2 hops lead from this address to ${LISTED}, which the list names under LAST, First ` +
          `(CYBER2, DPRK3): ${SUBJECT}, ${FRIEND}, ${LISTED}; the address itself signed none of ` +
          'them.',
        evidence: [
          Object.assign(
            { tx: PASSED_ON.tx, block: 2, at: '2026-01-01T00:00:02.000Z' },
            { from: FRIEND, to: SUBJECT, initiator: FRIEND, initiated_by_subject: false },
            PLAIN,
            ETHER,
          ),
          Object.assign(
            { tx: PAID.tx, block: 1, at: '2026-01-01T00:00:01.000Z' },
            { from: LISTED, to: FRIEND, initiator: LISTED, initiated_by_subject: false },
            PLAIN,
            ETHER,
          ),
          expect.objectContaining({ evidence: 'record', name: 'list_entry', tx: null }),
        ],
        evidence_count: 3,
        initiated_by_subject: false,
        source: 'OFAC SDN List; Transfers in memory',
        as_of: STILL_NOW - 60,
      },
    ]);
    expect(foundOf(evidence, 'listed_counterparty')).toBeNull();
  });

  test('over one hop is the shortest, and a third hop is not walked', async () => {
    const near = [PAID, PASSED_ON, memoryTransfer(3, SUBJECT, LISTED)];
    const [found] =
      foundOf(await scored(SUBJECT, { listed, transfers: near }), 'way_to_listed') ?? [];
    expect(found?.statement).toContain(`1 hop leads from this address to ${LISTED}`);
    expect(found).toMatchObject({ initiated_by_subject: true, evidence_count: 2 });
    const far = [PAID, memoryTransfer(2, FRIEND, evm('x')), memoryTransfer(3, evm('x'), SUBJECT)];
    const evidence = await scored(SUBJECT, { listed, transfers: far });
    expect(foundOf(evidence, 'way_to_listed')).toBeNull();
    expect(checkedKinds(evidence)).toContain('way_to_listed');
  });

  test('by an NFT shows no amount: an NFT is none', async () => {
    const nft = { kind: 'nft', token: evm('nfts'), token_id: 7n, raw_amount: 0n } as const;
    const transfers = [memoryTransfer(1, SUBJECT, LISTED, nft)];
    const [found] = foundOf(await scored(SUBJECT, { listed, transfers }), 'way_to_listed') ?? [];
    expect(found?.evidence[0]).toMatchObject({ amount: null, symbol: null, token: evm('nfts') });
  });

  test('is denied only where the counterparties were read too', async () => {
    const transfers = [memoryTransfer(2, FRIEND, SUBJECT)];
    const ofSubject = heldInFull('ethereum', STILL_NOW - 60).map((one) =>
      Object.assign(one, { address: SUBJECT }),
    );
    const history = { coverage: ofSubject };
    const evidence = await scored(SUBJECT, { listed, transfers, history });
    const coverage = evidence.kinds.find(({ kind }) => kind.kind === 'way_to_listed');
    expect(coverage?.found.checked).toBe(false);
    expect(checkedKinds(evidence)).toContain('listed_counterparty');
    expect(evidence.checked.checked).toBe(false);
  });

  test('past a counterparty too busy to be walked past is told in a note', async () => {
    const busy = Array.from({ length: 5_001 }, (_, n) =>
      memoryTransfer(n + 10, FRIEND, evm(`${n}`)),
    );
    const transfers = [PAID, PASSED_ON, ...busy];
    const evidence = await scored(SUBJECT, { listed, transfers });
    expect(foundOf(evidence, 'way_to_listed')).toBeNull();
    expect(notesOf(evidence).join(' ')).toContain(
      `dealt with a listed address, first ${FRIEND} with ${LISTED}`,
    );
  });
});
