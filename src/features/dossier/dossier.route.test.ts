// One source that never answers holds up no page: its part is told as not read, the rest is there.

import { expect, test } from 'vitest';
import { badInput } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { dossierHandler } from './dossier.route.tsx';
import type { PartOf, PartReaders } from './shapes.ts';

test('a part that never answers is late, and denies nothing', async () => {
  const never = () => new Promise<never>(() => undefined);
  const refused = async () => badInput(['address: not of this kind']);
  const held = { lists: refused, evidence: refused, exchanges: refused };
  const pages: PartReaders[] = [];
  const handle = dossierHandler(
    {
      all: { ...held, evidence: never, entity: never, bridges: refused },
      held: () => held,
      launches: { ethereum: never, solana: never },
      receipts: refused,
      reading: async () => ({ may: true, pay: async () => null }),
      base: () => '',
    },
    {
      whole: (_head, _lists, readers) => {
        pages.push(readers);
        return { beginning: '', rest: { pieces: [], end: '' } };
      },
      part: async () => '',
      notFound: () => '',
    },
    { partMs: 1, graceMs: 1, headMs: 1 },
  );
  const params = { address: '0x00000000219ab540356cbb839cbe05303d7705fa' };
  const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
  await handle({ params, query: {}, body: undefined }, asked, NOBODY);
  const [readers] = pages;
  if (readers === undefined) throw new Error('test: nothing was drawn');
  const states = Object.entries(readers).map(
    async ([name, read]: [string, () => Promise<PartOf<unknown>>]) => [name, (await read()).state],
  );
  expect(Object.fromEntries(await Promise.all(states))).toEqual({
    lists: 'refused',
    evidence: 'late',
    entity: 'late',
    exchanges: 'refused',
    bridges: 'refused',
    launches: 'late',
    receipts: 'refused',
  });
});
