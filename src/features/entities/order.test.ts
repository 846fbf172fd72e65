// The same history gives the same entity, whoever asked about whom before: random worlds, random
// sequences of questions. EXHIBIT_TRIALS=200 runs as many; the suite runs a few.

import { describe, expect, test, vi } from 'vitest';
import type { HistoryTransfer } from '../../ports/history.ts';
import { evm } from '../../testing/addresses.ts';
import { answered, HOT, t, world } from '../../testing/entity-world.ts';
import { trialsOf } from '../../testing/trials.ts';

vi.setConfig({ testTimeout: 3_600_000 });
const TRIALS = trialsOf('EXHIBIT_TRIALS', 4, 200);
const QUESTIONS = 5;
const TRANSFERS = 26;

const PEOPLE = Array.from({ length: 7 }, (_, n) => evm(`person ${n}`));
const DEPOSITS = Array.from({ length: 3 }, (_, n) => evm(`account ${n}`));

/** The same numbers for the same seed. */
function lottery(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function some<T>(list: readonly T[], draw: (below: number) => number): T {
  const one = list[draw(list.length)];
  if (one === undefined) throw new Error('an empty list');
  return one;
}

/** People who fund each other, deposit into shared accounts and pay shops. */
function happenings(seed: number): HistoryTransfer[] {
  const draw = lottery(seed);
  const transfers: HistoryTransfer[] = [];
  for (let n = 0; n < TRANSFERS; n += 1) {
    const at = 1 + n * 40_000 + draw(30_000);
    const person = some(PEOPLE, draw);
    const kind = draw(3);
    if (kind === 0) transfers.push(t(at, person, some(PEOPLE, draw)));
    else if (kind === 1) {
      const account = some(DEPOSITS, draw);
      transfers.push(t(at, person, account), t(at + 9, account, HOT));
    } else transfers.push(t(at, person, evm(`shop ${draw(3)}`)));
  }
  return transfers.filter(({ from, to }) => from !== to);
}

describe('the entity of an address', () => {
  test(`is the same in ${TRIALS} random sequences of questions`, async () => {
    let joined = 0;
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const transfers = happenings(Math.floor(trial / 2));
      const draw = lottery(1_000 + trial);
      const subject = some(PEOPLE, draw);
      const alone = await answered(subject, world({ transfers }).ports);
      const { ports } = world({ transfers });
      for (let n = 0; n < QUESTIONS; n += 1)
        await answered(some([...PEOPLE, ...DEPOSITS], draw), ports);
      expect(await answered(subject, ports)).toEqual(alone);
      const members = alone.related_wallets;
      const other = members[members.length - 1];
      const theirs = await answered(String(other), ports);
      expect(theirs.related_wallets.toSorted()).toEqual(members.toSorted());
      if (members.length > 1) joined += 1;
    }
    expect(joined).toBeGreaterThan(0);
  });
});
