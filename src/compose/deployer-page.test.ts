// The page of a deployer: a record, an address that is credited with nothing and one that nobody
// looked at are three pages, and whoever opens one has nobody walked.

import { expect, test } from 'vitest';
import { Refusal } from '../contract/refusals.ts';
import { NOBODY } from '../contract/route.ts';
import { deployerHtml } from '../features/deployers/deployer-record.route.tsx';
import type { DeployerRecords } from '../ports/deployers.ts';
import { addressNamed, evm } from '../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../testing/clock.ts';
import { launchOf, walkOf } from '../testing/deployer-worlds.ts';
import { memoryDeployerRecords, memoryWalletLaunches } from '../testing/twins/deployers.ts';
import { deployerShown } from './deployer-pages.ts';

const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const MAKER = evm('maker');
const WALLET = addressNamed('solana', 'launcher');
const asked = { now: stillClock(), signal: new AbortController().signal };
const held = { simulated: false, as_of: STILL_NOW };

const RECORD = {
  ...walkOf(MAKER, {
    launches: [
      launchOf('live', 'live', { liquidity_usd: 5_000 }),
      launchOf('dead', 'died', { factory: evm('factory') }),
      launchOf('unchecked', 'unchecked', { transfers_observed: null, transfers_truncated: null }),
    ],
    skipped: [{ address: evm('router'), reason: 'not_an_erc20' }],
    direct_creations: 3,
    truncated: true,
  }),
  failed: null,
};
const launch = (mint: string, listed: boolean) => ({
  mint,
  deployer: WALLET,
  launched_at: STILL_NOW - 200_000,
  listed_after_window: listed,
  last_checked_at: STILL_NOW - 100_000,
  settled: true,
});

const memory = memoryDeployerRecords({ ...held, records: [RECORD] });
const records: DeployerRecords = {
  heldOf: memory.heldOf,
  recordOf: () => Promise.reject(new Error('test: the page had an address walked')),
};
const walletLaunches = memoryWalletLaunches({ ...held, launches: [launch('mint one', false)] });
const nothing = memoryWalletLaunches({ ...held, launches: null });

async function shown(chain: string, address: string, launches = walletLaunches) {
  const ask = deployerShown({ deployerRecords: records, walletLaunches: launches });
  const said = await ask({ chain, address }, asked, NOBODY);
  if (said instanceof Refusal) throw new Error('test: refused');
  return { status: said.status, html: deployerHtml(FACTS, chain, address, said.shown) };
}

test('a record shows each launch with its outcome, and what was not read as not read', async () => {
  const { status, html } = await shown('ethereum', MAKER);
  expect(status).toBe(200);
  for (const words of [
    'Some listed launches live',
    '1 of 2 listed',
    'every count is a floor',
    '>died<',
    '>unchecked<',
    'not measured',
    'not read',
    `factory:${evm('factory')}`,
    'not an erc20',
  ]) {
    expect(html).toContain(words);
  }
});

test('an address that the walk credits with nothing is no clearance', async () => {
  const { status, html } = await shown('ethereum', evm('nobody'));
  expect(status).toBe(200);
  expect(html).toContain('No launch is credited to it');
  expect(html).toContain('That is no clearance of the address.');
});

test('a wallet of Solana shows its settled launches', async () => {
  const { html } = await shown('solana', WALLET);
  expect(html).toContain('Every settled launch has died');
  expect(html).toContain('1 of 1 settled');
  expect(html).toContain('mint one');
});

test('where nobody has looked the page says so, and of a chain that is not served why', async () => {
  const unread = await shown('solana', WALLET, nothing);
  // Launches of Solana were never imported there, which is no outage.
  expect(unread.status).toBe(200);
  expect(unread.html).toContain('Nobody has looked');
  const elsewhere = await shown('base', MAKER);
  expect(elsewhere.status).toBe(200);
  expect(elsewhere.html).toContain('Nobody has looked');
  for (const { html } of [unread, elsewhere]) expect(html).not.toContain('no clearance');
});

test('what is no address is refused', async () => {
  const ask = deployerShown({ deployerRecords: records, walletLaunches });
  const said = await ask({ chain: 'ethereum', address: '<script>' }, asked, NOBODY);
  expect(said).toBeInstanceOf(Refusal);
});
