import { describe, expect, test } from 'vitest';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { noFacts } from '../../ports/accounts.ts';
import { UNPRICED } from '../../ports/history.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { clustersIn, embeddedControl } from '../../testing/control-store.ts';
import {
  answered,
  DEPOSIT,
  DEPOSITS,
  FUNDED,
  type Ports,
  SUBJECT,
  THIRD,
  world,
} from '../../testing/entity-world.ts';
import { heldInFull } from '../../testing/twins/history.ts';

describe('GET /api/wallet/{address}/entity is silent', () => {
  const silence = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
  const silenced = embeddedControl()();
  silenced.silence('a planted silence');
  const silentPorts: { readonly [P in keyof Ports]: Ports[P] } = {
    store: clustersIn(silenced),
    labels: { lookUp: async () => unread('exchange_labels', silence) },
    history: {
      worths: UNPRICED,
      chainsRead: async () => unread('transfer_history', silence),
      neighbourhoods: async (all) =>
        new Map(all.map((one) => [one, unread('transfer_history' as const, silence)])),
    },
    creations: { around: async () => unread('contract_creations', silence) },
    facts: {
      stateChains: [],
      of: async () => noFacts(silence),
      setBy: async () => unread('chain_facts', silence),
    },
  };
  const names = ['store', 'labels', 'history', 'creations'] as const;
  const subsets = Array.from({ length: 15 }, (_, n) =>
    names.filter((_name, i) => Math.floor((n + 1) / 2 ** i) % 2 === 1),
  );

  test.each(subsets)('and checked nothing to its end without %s %s %s %s', async (...silent) => {
    for (const transfers of [[], DEPOSITS]) {
      const { ports } = world({ transfers });
      const over = Object.fromEntries(silent.map((name) => [name, silentPorts[name]]));
      const answer = await answered(SUBJECT, { ...ports, ...over }, { explain: THIRD });
      expect(answer).toMatchObject({
        checked: false,
        explain: { linked: null },
        merge_history: null,
      });
      expect(answer.reason).not.toBeNull();
      for (const one of answer.coverage) {
        expect(one.checked).toBe(one.reason === null);
        if (silent.some((name) => name === 'store' || name === 'labels')) {
          expect(one.checked).toBe(false);
        }
      }
      const counts = Object.values(answer.edges_left_out ?? {});
      if (silent.some((name) => name === 'history')) expect(counts).toEqual([]);
    }
  });

  test('where one neighbour was not read: the heuristics that need it say so, and no other', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    const history: Ports['history'] = {
      ...ports.history,
      neighbourhoods: async (all, limits) => {
        const readings = await ports.history.neighbourhoods(all, limits);
        return new Map(
          [...readings].map(([address, reading]) => [
            address,
            address === DEPOSIT ? unread('transfer_history' as const, silence) : reading,
          ]),
        );
      },
    };
    const answer = await answered(SUBJECT, { ...ports, history });
    expect(answer).toMatchObject({ checked: false, evidence: [] });
    expect(answer.coverage.map(({ checked }) => checked)).toEqual([false, true, true, true]);
  });

  test('of a negative on blocks N to N+1000, on what is stale, cut or simulated, and past its time', async () => {
    const some = heldInFull('ethereum', STILL_NOW - 120).map((range) => {
      return { ...range, from_block: 500, to_block: 1_500, from_first: false };
    });
    const inPart = world({ transfers: DEPOSITS, history: { coverage: some } });
    expect(await answered(SUBJECT, inPart.ports)).toMatchObject({
      checked: false,
      evidence: [{ heuristic: 'deposit_reuse' }],
      reason: expect.stringContaining('partial_history'),
    });
    const old = { coverage: heldInFull('ethereum', STILL_NOW - 90_000) };
    expect((await answered(SUBJECT, world({ history: old }).ports)).checked).toBe(false);
    expect((await answered(SUBJECT, world({ wholeCreations: false }).ports)).checked).toBe(false);
    expect(
      await answered(SUBJECT, world({ simulated: true, transfers: DEPOSITS }).ports),
    ).toMatchObject({
      checked: false,
      simulated: true,
      evidence: [{ heuristic: 'deposit_reuse' }],
      caveat: expect.stringMatching(/^Simulated: /),
    });
    const late = await answered(SUBJECT, world().ports, {}, AbortSignal.abort());
    expect(late).toMatchObject({ checked: false, evidence: [], reason: why('time_budget').reason });
  });

  test('about a first funder in a history that does not reach its first block', async () => {
    const some = heldInFull('ethereum', STILL_NOW - 120).map((range) => {
      return { ...range, from_block: 500, from_first: false };
    });
    const { ports } = world({ transfers: FUNDED, history: { coverage: some } });
    expect((await answered(SUBJECT, ports)).evidence).toEqual([]);
  });

  test('about nobody’s address', async () => {
    const nobody = `0x${'0'.repeat(36)}dead`;
    expect(await answered(nobody, world().ports)).toMatchObject({
      checked: false,
      related_wallets: [nobody],
      reason: why('entity_nobody').reason,
    });
  });
});
