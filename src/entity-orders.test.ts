// An entity does not depend on who asked first: what one question teaches another makes unread
// things read, which `checked` tells, and changes no answer otherwise. Over random worlds, each in
// random orders of questions.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HistoryTransfer } from './ports/history.ts';
import { evm } from './testing/addresses.ts';
import { DEPOSIT, dataOfEntity, HOT, type Ports, t, world } from './testing/entity-world.ts';
import { trialRange } from './testing/trials.ts';

/** Random worlds, each asked in so many orders; `FROM-TO` makes some of them. */
const WORLDS = trialRange('EXHIBIT_TEST_ENTITY_WORLDS', 6, 200);
const ORDERS = 10;
const SEED = 20_261_125;
const TIMEOUT_MS = (WORLDS.to - WORLDS.from + 1) * 20_000;

const PEOPLE = Array.from({ length: 4 }, (_, n) => evm(`payer ${n}`));
const DEPOSITS = Array.from({ length: 2 }, (_, n) => evm(`deposit ${n}`));
const FUNDERS = Array.from({ length: 2 }, (_, n) => evm(`funder ${n}`));
const ASKED = [...PEOPLE, ...DEPOSITS, ...FUNDERS];
/** More than are read of who is paid, where each reading costs a call. */
const SHOPS = 24;

type Step =
  | { readonly does: 'pays in'; readonly who: number; readonly into: number }
  | { readonly does: 'begins'; readonly who: number; readonly by: number }
  | { readonly does: 'shops'; readonly who: number }
  | { readonly does: 'acts alike'; readonly who: number; readonly with: number }
  | { readonly does: 'pays'; readonly who: number; readonly whom: number };

const person = fc.nat({ max: PEOPLE.length - 1 });
const pair = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('pays in' as const), who: person, into: pair }),
  fc.record({ does: fc.constant('pays in' as const), who: person, into: pair }),
  fc.record({ does: fc.constant('begins' as const), who: person, by: pair }),
  fc.record({ does: fc.constant('shops' as const), who: person }),
  fc.record({ does: fc.constant('acts alike' as const), who: person, with: person }),
  fc.record({ does: fc.constant('pays' as const), who: person, whom: person }),
);
const BEHIND_SHOPS: readonly Step[] = [
  { does: 'shops', who: 0 },
  { does: 'pays in', who: 0, into: 0 },
  { does: 'pays in', who: 1, into: 0 },
];
const DAY_S = 86_400;

/** What happened, one step after the other, days apart but for what belongs together. */
function transfersOf(steps: readonly Step[]): HistoryTransfer[] {
  const all: HistoryTransfer[] = [];
  let at = 1_000;
  const add = (from: string | undefined, to: string | undefined) => {
    at += 10;
    all.push(t(at, String(from), String(to)));
  };
  for (const one of steps) {
    at += 3 * DAY_S;
    const who = PEOPLE[one.who];
    if (one.does === 'pays in') {
      add(who, DEPOSITS[one.into]);
      add(DEPOSITS[one.into], HOT);
    } else if (one.does === 'pays') add(who, PEOPLE[one.whom]);
    else if (one.does === 'begins') {
      const n = 10 + one.who;
      all.push(t(n, String(FUNDERS[one.by]), String(who)));
      add(who, evm(`first shop of ${one.who}`));
    } else if (one.does === 'shops') {
      // Each twice, so that who is paid most often comes before a deposit address.
      for (let n = 0; n < 2 * SHOPS; n += 1) add(who, evm(`shop ${n % SHOPS}`));
    } else {
      add(who, PEOPLE[one.with]);
      add(PEOPLE[one.with], who);
      for (let n = 0; n < 3; n += 1) {
        at += 3 * DAY_S;
        const target = evm(`target ${n}`);
        add(who, target);
        add(PEOPLE[one.with], target);
      }
    }
  }
  return all.filter(({ from, to }) => from !== to);
}

async function told(address: string, ports: Ports) {
  const { checked, members, evidence, confidence, cluster_id } = await dataOfEntity(address, ports);
  const names = members.map((one) => one.address).sort();
  const ids = (evidence ?? []).map(({ id }) => id).sort();
  return { checked, members: names, evidence: ids, confidence, cluster_id };
}

test('who pays 24 shops and one deposit address is tied to its other user, whoever asked first', async () => {
  const [mine, other] = [evm('mine'), evm('other')];
  const transfers = [
    ...Array.from({ length: 48 }, (_, n) => t(n, mine, evm(`shop ${n % SHOPS}`))),
    ...[t(100, mine, DEPOSIT), t(101, DEPOSIT, HOT), t(102, other, DEPOSIT), t(103, DEPOSIT, HOT)],
  ];
  const { ports: first } = world({ transfers });
  const before = await told(mine, first);
  expect(before.members).toEqual([DEPOSIT, other].sort());
  const { ports: second } = world({ transfers });
  await told(DEPOSIT, second);
  expect(await told(mine, second)).toEqual(before);
});

test('no order of questions changes an answer that was checked, or takes from one that was not', {
  timeout: TIMEOUT_MS,
}, async () => {
  const some = fc.array(step, { minLength: 3, maxLength: 8 });
  // A deposit address behind many shops, in every second world.
  const steps = fc.tuple(fc.boolean(), some).map(([behind, more]) => {
    return behind ? [...BEHIND_SHOPS, ...more] : more;
  });
  const order = fc.shuffledSubarray(ASKED, { minLength: ASKED.length });
  const orders = fc.array(order, { minLength: ORDERS, maxLength: ORDERS });
  const isLive = fc.boolean();
  const drawn = fc.sample(fc.tuple(steps, orders, isLive), { numRuns: WORLDS.to, seed: SEED });
  const met = { orders: 0, tied: 0, alone: 0, unchecked: 0, grown: 0 };
  for (const [n, [happened, asked, live]] of drawn.entries()) {
    if (n + 1 < WORLDS.from) continue;
    const transfers = transfersOf(happened);
    const provenance = live ? ('onchain' as const) : ('warehouse' as const);
    const anew = () => world({ transfers, history: { provenance } }).ports;
    const alone = new Map<string, Awaited<ReturnType<typeof told>>>();
    for (const address of ASKED) alone.set(address, await told(address, anew()));
    for (const one of asked) {
      met.orders += 1;
      const ports = anew();
      for (const address of one) {
        const name = `world ${n}: ${JSON.stringify(happened)}, ${address}`;
        const first = alone.get(address);
        const now = await told(address, ports);
        if (first?.checked === true) {
          expect(now, name).toEqual(first);
          met[first.members.length > 0 ? 'tied' : 'alone'] += 1;
          continue;
        }
        met.unchecked += 1;
        expect(now.members, name).toEqual(expect.arrayContaining([...(first?.members ?? [])]));
        expect(now.evidence, name).toEqual(expect.arrayContaining([...(first?.evidence ?? [])]));
        if (now.members.length > Number(first?.members.length)) met.grown += 1;
      }
    }
  }
  console.log(`entities: worlds ${WORLDS.from} to ${WORLDS.to}: ${JSON.stringify(met)}`);
  for (const [what, count] of Object.entries(met)) expect(count, what).toBeGreaterThan(1);
});
