// One source that never answers holds up no page: its part is told as not read, the rest is there.
// Each neighbour stands on a page, however many there are.

import { expect, test } from 'vitest';
import { badField, Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { piece } from '../../pages/layout.tsx';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { walletEntityData } from '../entities/wallet-entity.route.ts';
import { dossierHandler } from './dossier.route.tsx';
import { Ways } from './picture.page.tsx';
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
  expect(later.join('')).toContain('Receipts: This part is about addresses of other forms.');
});

test('all of many neighbours stand on pages of their own, which the dossier links', () => {
  const subject = evm('tied to many');
  const others = [...Array(45).keys()].map((n) => evm(`tied ${n}`));
  const tie = { evidence: 'e', heuristic: 'lockstep', weight: 0.5, basis: 'assumed' } as const;
  const data = walletEntityData.parse({
    address: subject,
    chain: 'ethereum',
    cluster_id: 'ethereum:e',
    confidence: 0.5,
    confidence_basis: 'assumed',
    tied_as: 'controlled',
    evidence: [],
    evidence_total: 45,
    against: [],
    members: others.map((address) => ({
      address,
      links: 1,
      tied_as: 'controlled',
      path: [{ from: subject, to: address, ...tie }],
      weakest: tie,
    })),
    labels: [],
    related_wallets: [subject, ...others],
    related_wallets_total: 46,
    checked: true,
    reason: null,
    coverage: [{ heuristic: 'lockstep', checked: true, reason: null }],
    edges_left_out: null,
    merge_history: [],
    explain: null,
    simulated: false,
    as_of: STILL_NOW,
    caveat: 'A tie is an inference.',
  });
  const silent = { path: '', ran_out: false, state: 'unasked', reason: 'Nobody looked.' } as const;
  const entity = { path: '', ran_out: false, state: 'ok', data, sources: [], json: '' } as const;
  const parts = { lists: silent, evidence: silent, entity };
  const draw = (page: number | null) =>
    piece(
      { explorers: new Map() },
      Ways({ parts, subject, shown: page === null ? null : { page } }),
    );
  const rowsOf = (html: string) =>
    others.filter((other) => html.includes(`href="/address/${other}" title="${other}"`));
  const pages = [1, 2, 3].map(draw).map(rowsOf);
  expect(pages.map(({ length }) => length)).toEqual([20, 20, 5]);
  expect(new Set(pages.flat()).size).toBe(others.length);
  expect(draw(2)).toContain('<a rel="next" href="?page=3">');
  const whole = draw(null);
  expect(whole).toContain(`<a href="/address/${subject}/ways">All 45 neighbours</a>`);
  expect(rowsOf(whole).length).toBe(20);
});
