// One source that never answers holds up no page: its part is told as not read, the rest is there.

import { expect, test } from 'vitest';
import { badField, Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { dossierHandler } from './dossier.route.tsx';
import { PART_NAMES } from './shapes.ts';

const LATE = 'Not read in time.';
const REFUSED = 'Not read for this kind of address.';

test('a part that never answers is late, and denies nothing', async () => {
  const never = () => new Promise<never>(() => undefined);
  const refused = async () => badField('address', 'not of this kind');
  const held = { lists: refused, evidence: refused, exchanges: refused };
  const handle = dossierHandler(
    {
      all: { ...held, evidence: never, entity: never, bridges: refused },
      held: () => held,
      launches: { ethereum: never, solana: never },
      receipts: refused,
      reading: async () => ({ may: true, pay: async () => null }),
      base: () => '',
    },
    { simulated: false, version: '0', links: [], explorers: new Map() },
    { partMs: 1, graceMs: 1, headMs: 1 },
  );
  const params = { address: '0x00000000219ab540356cbb839cbe05303d7705fa' };
  const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
  const reply = await handle({ params, query: {}, body: undefined }, asked, NOBODY);
  if (reply instanceof Refusal || reply.rest === null) throw new Error('test: no page came');
  const later = await Promise.all(reply.rest.pieces.map(({ draw }) => draw()));
  const drawn = [reply.bytes().toString(), ...later];
  const states = PART_NAMES.map((name) => {
    const [piece = ''] = drawn.filter((text) => text.includes(`id="${name}"`));
    return [name, /<strong>(.*?)<\/strong>/.exec(piece)?.[1]];
  });
  expect(Object.fromEntries(states)).toEqual({
    lists: REFUSED,
    evidence: LATE,
    entity: LATE,
    exchanges: REFUSED,
    bridges: REFUSED,
    launches: LATE,
  });
  expect(later.join('')).toContain('Receipts: Address: not of this kind.');
});
