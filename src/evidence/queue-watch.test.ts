// A queue is too long where everybody in it has waited too long for a while: neither a burst nor
// one long turn is, nor is a queue that stands still.

import { expect, test } from 'vitest';
import { HEARD_WITHIN_MS, LATE_FOR_MS, TURN_WAIT_MS_MAX, watchQueue } from './queue-watch.ts';

const LONG = TURN_WAIT_MS_MAX + 1;

/** A queue at a clock of the test's own. */
function queue() {
  let nowMs = 0;
  const { noteTurn, isLate } = watchQueue(() => nowMs);
  const after = (ms: number) => {
    nowMs += ms;
  };
  return { noteTurn, isLate, after };
}

test('all that waited too long for a while make it late, and one that did not ends it', () => {
  const { noteTurn, isLate, after } = queue();
  noteTurn(LONG);
  after(LATE_FOR_MS - 1);
  noteTurn(LONG);
  expect(isLate()).toBe(false);
  after(1);
  expect(isLate()).toBe(true);
  noteTurn(TURN_WAIT_MS_MAX);
  expect(isLate()).toBe(false);
});

test('a burst, after which some did not wait, is no overload however long the first waited', () => {
  const { noteTurn, isLate, after } = queue();
  for (let burst = 0; burst < 10; burst += 1) {
    noteTurn(60_000);
    noteTurn(0);
    after(LATE_FOR_MS);
    expect(isLate()).toBe(false);
  }
});

test('a queue that stands still is not told from one that nobody uses', () => {
  const { noteTurn, isLate, after } = queue();
  noteTurn(LONG);
  after(LATE_FOR_MS);
  noteTurn(LONG);
  expect(isLate()).toBe(true);
  after(HEARD_WITHIN_MS);
  expect(isLate()).toBe(false);
});
