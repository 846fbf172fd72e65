// Walks over a history read through an explorer, which names no signer of a token transfer.

import { afterEach, expect, test } from 'vitest';
import { parseAddress } from './chain/address.ts';
import { Read } from './evidence/reading.ts';
import { proximity, WALK_LIMITS, type Walk } from './features/sanctions/walk.ts';
import { etherscanChain } from './sources/explorer/envelope.ts';
import { explorerHistory } from './sources/explorer/history.ts';
import { providerGuard } from './sources/http/provider.ts';
import { coveredHistory } from './stores/history/covered.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW, TIP_MAX_AGE_S, UNHELD } from './testing/clock.ts';
import { listedEntry, walkedPorts } from './testing/walked-world.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

const HEAD = 30_000;
const [SUBJECT, FRIEND, LISTED, USDC] = ['me', 'friend', 'listed', 'usdc'].map(evm) as [
  string,
  string,
  string,
  string,
];

const open: StartedExplorer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function row(n: number, from: string, to: string, over: Partial<ExplorerRow> = {}): ExplorerRow {
  const tx = `0x${n.toString(16).padStart(64, '0')}`;
  const block = 100 + n;
  const value = 10n ** 18n;
  const at = STILL_NOW - HEAD + block;
  return { kind: 'native', tx, block, at, from, to, value, token: null, success: true, ...over };
}

function token(n: number, from: string, to: string, value: bigint): ExplorerRow {
  const usdc = { address: USDC, symbol: 'USDC', decimals: 6 };
  return row(n, from, to, { kind: 'token', value, token: usdc });
}

async function walked(rows: readonly ExplorerRow[]): Promise<Walk> {
  const explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => STILL_NOW - (HEAD - block),
    rowsOf: (_, address) => rows.filter(({ from, to }) => from === address || to === address),
    rowsOfToken: (_, token) => rows.filter((one) => one.token?.address === token),
  });
  open.push(explorer);
  const limits = { callsPerS: 10_000, retriesMax: 1, backoffMs: 1, failuresMax: 100, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const raw = explorerHistory({
    chains: [etherscanChain('ethereum', { url: explorer.etherscan, guard }, 'key')],
    now: () => STILL_NOW,
    timeMs: 5_000,
    callsMax: 500,
    simulated: false,
    ...UNHELD,
  });
  const listed = [listedEntry(LISTED)];
  const ports = walkedPorts({ now: STILL_NOW, labels: null, transfers: [], listed });
  const history = coveredHistory(raw, { now: () => STILL_NOW, tipMaxAgeS: TIP_MAX_AGE_S });
  const subject = parseAddress(SUBJECT);
  if (subject === null) throw new Error('test: the subject is no address');
  const { signal } = new AbortController();
  const reading = await proximity({ ...ports, history }, subject, WALK_LIMITS, { signal });
  if (!(reading instanceof Read)) throw new Error(`test: not whole: ${reading.why.reason}`);
  return reading.value;
}

const PAID_FRIEND = [row(1, SUBJECT, USDC, { value: 0n }), token(1, SUBJECT, FRIEND, 5n)] as const;

test('poisoning in the name of an address is no way to a listed one, and is always shown', async () => {
  const one = await walked([...PAID_FRIEND, token(9, SUBJECT, LISTED, 0n)]);
  expect(one.found).toBeNull();
  expect(one.left_out).toEqual({ zero_value: 1, no_market_token: 0 });
  expect(one.contacts.map(({ listed_address }) => listed_address)).toEqual([LISTED]);
  const two = await walked([...PAID_FRIEND, token(9, FRIEND, LISTED, 0n)]);
  expect([two.found, two.contacts_count]).toEqual([null, 1]);
});

test('a transfer of no value that the address signed itself is a way', async () => {
  const signed = [row(9, SUBJECT, USDC, { value: 0n }), token(9, SUBJECT, LISTED, 0n)];
  expect((await walked([...PAID_FRIEND, ...signed])).found?.way[0].far).toBe(LISTED);
  // An account with code of its own calls itself, and sends from within.
  const itself = [row(9, SUBJECT, SUBJECT, { value: 0n }), token(9, SUBJECT, LISTED, 0n)];
  expect((await walked([...PAID_FRIEND, ...itself])).found?.way[0].far).toBe(LISTED);
});

test('coins of value are a way, whoever signed: an approved spender moves them too', async () => {
  const one = await walked([...PAID_FRIEND, token(9, SUBJECT, LISTED, 7n)]);
  expect(one.found?.way[0].far).toBe(LISTED);
});
