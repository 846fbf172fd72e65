// The page of a token: who made it, nobody who is named, and nobody who looked are three pages; a
// chain is asked for those alone who may have it asked, and nobody is walked.

import { expect, test } from 'vitest';
import type { PageReading } from '../access/page-reading.ts';
import { DAY_S } from '../chain/time.ts';
import { Refusal } from '../contract/refusals.ts';
import { NOBODY } from '../contract/route.ts';
import { why } from '../evidence/reasons.ts';
import { tokenHtml } from '../features/deployers/token.route.tsx';
import { type ChainFacts, factUnread } from '../ports/accounts.ts';
import type { DeployerRecords } from '../ports/deployers.ts';
import { addressNamed, evm } from '../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../testing/clock.ts';
import { launchOf, walkOf } from '../testing/deployer-worlds.ts';
import { memoryChainFacts } from '../testing/twins/accounts.ts';
import { memoryDeployerRecords, memoryWalletLaunches } from '../testing/twins/deployers.ts';
import { type TokenPagePorts, tokenShown } from './deployer-pages.ts';

const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const held = { simulated: false, as_of: STILL_NOW };
const asked = { now: stillClock(), signal: new AbortController().signal };
const MAKER = evm('maker');
const TOKEN = evm('token');
const WALLET = addressNamed('solana', 'launcher');
const MINT = addressNamed('solana', 'mint');

const memory = memoryDeployerRecords({
  ...held,
  records: [
    {
      ...walkOf(MAKER, { launches: [launchOf('dead', 'died')], direct_creations: 1 }),
      failed: null,
    },
  ],
});
const deployerRecords: DeployerRecords = {
  heldOf: memory.heldOf,
  recordOf: () => Promise.reject(new Error('test: the page had an address walked')),
};
const walletLaunches = memoryWalletLaunches({
  ...held,
  launches: [
    {
      mint: MINT,
      deployer: WALLET,
      launched_at: STILL_NOW - 200_000,
      listed_after_window: false,
      last_checked_at: STILL_NOW - 100_000,
      settled: true,
    },
  ],
});
const made = {
  chains: ['ethereum'],
  facts: [
    {
      chain: 'ethereum',
      address: TOKEN,
      code: { size: 120, delegates_to: null, minimal_proxy_of: null },
      creation: { creator: MAKER, relay: null, factory: null, tx: `0x${'1'.repeat(64)}`, block: 7 },
    },
  ],
} as const;
const chainFacts = memoryChainFacts({ ...made, ...held });

async function shown(
  chain: 'ethereum' | 'solana',
  address: string,
  may: boolean,
  over: Partial<TokenPagePorts> = {},
) {
  const paid: string[] = [];
  const pay = async () => {
    paid.push(address);
    return null;
  };
  const permit: PageReading = may ? { may, pay } : { may, why: why('page_of_nobody') };
  const members = { reading: async () => permit };
  const ask = tokenShown({ deployerRecords, walletLaunches, chainFacts, members, ...over });
  const said = await ask({ chain, address }, asked, NOBODY);
  if (said instanceof Refusal) throw new Error('test: refused');
  const html = tokenHtml(FACTS, { chain, address }, said.shown, STILL_NOW);
  return { status: said.status, html, paid };
}

test('a contract shows its maker with the record that is held, and is paid for', async () => {
  const { status, html, paid } = await shown('ethereum', TOKEN, true);
  expect(status).toBe(200);
  expect(html).toContain(`/address/${MAKER}`);
  expect(html).toContain('Every listed launch has died');
  expect(paid).toEqual([TOKEN]);
});

test('a chain is not asked for somebody who may not have it asked, and is told so', async () => {
  const { html, paid } = await shown('ethereum', TOKEN, false);
  expect(html).toContain('Nobody has looked');
  expect(html).toContain('href="/activate"');
  expect(html).not.toContain(MAKER);
  expect(paid).toEqual([]);
});

test('a mint shows its launcher to anybody: it is on record', async () => {
  const { html, paid } = await shown('solana', MINT, false);
  expect(html).toContain(`/address/${WALLET}`);
  expect(html).toContain('Every settled launch has died.');
  expect(paid).toEqual([]);
});

test('a mint that is not on record names nobody, which says nothing of who made it', async () => {
  const { html } = await shown('solana', addressNamed('solana', 'unknown'), false);
  expect(html).toContain('Nobody is named as its maker');
  expect(html).toContain('That is no statement about who made it.');
});

/** A source, its date twice and its age, as they stand on the page. */
const REST = /<dt>([^<]*)<\/dt><dd><time datetime="([^"]*)">([^<]*)<\/time> <span[^>]*>([^<]*)</g;

test('each source has the date that its reading carries, and the age that follows', async () => {
  const old = memoryChainFacts({ ...made, ...held, as_of: STILL_NOW - 3 * DAY_S });
  const { html } = await shown('ethereum', TOKEN, true, { chainFacts: old });
  const rests = [...html.matchAll(REST)].map(([, ...written]) => written);
  expect(rests).toEqual([
    ['Chain state in memory', '2026-09-21T12:00:00.000Z', '2026-09-21 12:00 UTC', '(3 days ago)'],
    ['Deployer walk', '2026-09-24T11:00:00.000Z', '2026-09-24 11:00 UTC', '(1 hour ago)'],
  ]);
});

test('a code whose size was not read is said to be unread, with the reason, and has no size', async () => {
  const unreadCode: ChainFacts = {
    ...chainFacts,
    of: async (...asked) => ({
      ...(await chainFacts.of(...asked)),
      code: factUnread(why('not_configured', { what: 'A node of ethereum' })),
    }),
  };
  const { html } = await shown('ethereum', TOKEN, true, { chainFacts: unreadCode });
  expect(html).toContain('Every listed launch has died');
  expect(html).toContain('<dt>Code</dt><dd>not read</dd>');
  expect(html).toContain('A node of ethereum');
  expect(html).not.toMatch(/\b0 bytes/);
  const { html: ofMint } = await shown('solana', MINT, false);
  expect(ofMint).not.toContain('<dt>Code</dt>');
});
