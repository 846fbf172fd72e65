// A search leads to the dossier of an address, and says of anything else what it is.

import { expect, test } from 'vitest';
import { whereTo } from './search.route.ts';

test.each([
  ['0x64144967C175997fc8526ba694021ae36965331c'.toLowerCase(), '/address/0x64144967c17599'],
  [' 0x64144967c175997FC8526ba694021ae36965331c\n', '/address/0x64144967c175997fc8526ba694021ae'],
  ['H39ksuUUtqnoA86MD3eLiGBiTr8uVyEFQbcUizrddwzi', '/address/H39ksuUUtqnoA86MD3eLiGBiTr8uVyEF'],
  ['1B2B9sZ8biL9HAp7ELHsDyB43J79rz8HSf', '/address/1B2B9sZ8biL9HAp7ELHsDyB43J79rz8HSf'],
  ['TRtiYdiniAv5rBy7qDA3Lecqe7zvvaZhJz', '/address/TRtiYdiniAv5rBy7qDA3Lecqe7zvvaZhJz'],
  ['', '/'],
])('%s leads to its page', (typed, path) => {
  expect(whereTo(typed)).toEqual({ path: expect.stringContaining(path) });
});

test.each([
  [`0x${'ab'.repeat(32)}`, 'the id of a transaction'],
  ['5'.repeat(88), 'the id of a transaction'],
  ['0x64144967c175997fc8526ba694021ae3696533', 'An EVM address has 40 digits after 0x'],
  ['vitalik.eth', 'Names are not resolved here'],
  ['cfk7ugwk6o6kfvzt1fj5esppn7hcxvabzweezbz1tgka', 'a letter in wrong case'],
  ['<script>alert(1)</script>', 'no address of a form'],
  ['//elsewhere.example/', 'no address of a form'],
])('%s leads nowhere, and is told what it is', (typed, problem) => {
  expect(whereTo(typed)).toEqual({ problem: expect.stringContaining(problem) });
});
