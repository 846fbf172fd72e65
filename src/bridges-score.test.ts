// `score` never says that it looked for bridges to the end where `bridges` sees one, or could not:
// one trace decides for both. In every world, as it is and with each port of a trace silent.

import { expect, test } from 'vitest';
import { handlerOf } from './compose/list.ts';
import { Answer } from './contract/answer.ts';
import type { Caller } from './contract/route.ts';
import { walletBridges } from './features/bridges/wallet-bridges.route.ts';
import { walletScore } from './features/forensics/wallet-score.route.ts';
import type { ReceiptFacts } from './ports/bridges.ts';
import { evm } from './testing/addresses.ts';
import {
  NOBODY,
  POOL,
  portsOf,
  RELAYER,
  receipt,
  SUBJECT,
  token,
  USDC,
} from './testing/bridge-trace.ts';
import { STILL_NOW } from './testing/clock.ts';
import { logOf } from './testing/event-logs.ts';
import { checkedKinds, findingOf, scoreAddress } from './testing/finding-suite.ts';
import type { World } from './testing/planted.ts';
import { TEST_SERVICE } from './testing/service.ts';
import {
  type PortName,
  type SilencePorts,
  silencing,
  spoiledPorts,
} from './testing/silence-ports.ts';
import { BRIDGE_ROWS } from './testing/twins/bridges.ts';
import { fullCoverage, memoryTransfer } from './testing/twins/history.ts';
import { WORLDS } from './testing/worlds.ts';

const MEMBER: Caller = { kind: 'member', membership_id: 'm', plan: 'enterprise', key_id: 'k' };
const CHAINS = [...new Set(BRIDGE_ROWS.map(({ chain }) => chain))];
const CASES: readonly (readonly PortName[])[] = [
  [],
  ['transactionReceipts'],
  ['bridgeRegistry'],
  ['transferHistory'],
];

async function ask(name: string, input: object, world: World, ports: SilencePorts) {
  const handle = handlerOf(name, { ...ports, service: TEST_SERVICE }) as (
    ...asked: readonly unknown[]
  ) => Promise<unknown>;
  const { signal } = new AbortController();
  const said = await handle(input, { now: () => world.now, signal }, MEMBER);
  return said instanceof Answer ? said.envelope(world.now).data : null;
}

/** The transactions that `bridges` shows on a chain, and whether it looked to the end. */
async function bridgesOn(chain: string, address: string, world: World, ports: SilencePorts) {
  const input = { params: { address }, query: { chain }, body: undefined };
  const data = walletBridges.data.safeParse(await ask('wallet_bridges', input, world, ports)).data;
  if (data === undefined) return { checked: false, transactions: [], others: 0 };
  const { contacts, messaging_only, liquidity_actions, coverage } = data;
  const others = Number(messaging_only) + Number(liquidity_actions);
  const transactions = (contacts ?? []).map(({ tx }) => tx);
  return { checked: coverage.checked, transactions, others };
}

test('what bridges sees or cannot rule out, score does not deny', {
  timeout: 120_000,
}, async () => {
  const met = { denied: 0, seen: 0, unlooked: 0 };
  for (const world of WORLDS) {
    const [address] = world.subjects;
    if (address === undefined || !address.startsWith('0x')) continue;
    for (const silent of CASES) {
      const ports = spoiledPorts(world.ports, silencing(new Set(silent)));
      const on = await Promise.all(CHAINS.map((one) => bridgesOn(one, address, world, ports)));
      const input = { params: { address }, query: {}, body: undefined };
      const scored = walletScore.data.safeParse(
        await ask('wallet_score', input, world, ports),
      ).data;
      if (scored === undefined) continue;
      const coverage = scored.findings_coverage.find(({ kind }) => kind === 'bridge_contact');
      const found = scored.findings.filter(({ kind }) => kind === 'bridge_contact');
      const shown = found.flatMap(({ evidence }) => evidence.map((one) => String(one.tx)));
      const name = `${world.name} | ${silent.join()}`;
      const seen = on.flatMap(({ transactions }) => transactions);
      const others = on.reduce((sum, one) => sum + one.others, 0);
      expect(shown, name).toEqual(expect.arrayContaining(seen));
      const count = found.reduce((sum, { evidence_count }) => sum + evidence_count, 0);
      expect([name, count]).toEqual([name, seen.length + others]);
      const isWhole = on.every(({ checked }) => checked);
      expect([name, coverage?.checked]).toEqual([name, isWhole]);
      if (count > 0) met.seen += 1;
      else met[isWhole ? 'denied' : 'unlooked'] += 1;
    }
  }
  console.log(`bridges and score: ${JSON.stringify(met)}`);
  for (const [what, count] of Object.entries(met)) expect(count, what).toBeGreaterThan(0);
});

const COVERAGE = (['ethereum', 'base'] as const).flatMap((chain) =>
  fullCoverage(chain, STILL_NOW - 120),
);
const FILL = [
  'event FilledV3Relay(address inputToken, address outputToken, uint256 inputAmount,',
  'uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId,',
  'uint32 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline,',
  'address exclusiveRelayer, address indexed relayer, address depositor, address recipient,',
  'bytes message, (address updatedRecipient, bytes updatedMessage, uint256 updatedOutputAmount,',
  'uint8 fillType) relayExecutionInfo)',
].join(' ');

test('a fill out of a relayer’s wallet is a finding, and nothing is denied where its receipt is not read', async () => {
  const fill = memoryTransfer(40, RELAYER, SUBJECT, token());
  const amount = 70_000_000n;
  const info = { updatedRecipient: SUBJECT, updatedMessage: '0x', updatedOutputAmount: amount };
  const log = logOf(POOL, FILL, [
    ...[USDC, USDC, 71_000_000n, amount, 1n, 8453n, 9, 0, 0, NOBODY, RELAYER],
    ...[evm('depositor'), SUBJECT, '0x', { ...info, fillType: 0 }],
  ]);
  const scored = async (receipts: readonly ReceiptFacts[]) => {
    const said = await scoreAddress(
      SUBJECT,
      {},
      portsOf({ transfers: [fill], receipts, coverage: COVERAGE }),
    );
    return [findingOf(said, 'bridge_contact'), checkedKinds(said).includes('bridge_contact')];
  };
  const statement = expect.stringContaining('1 of them by what its events name');
  expect(await scored([receipt(fill, log)])).toEqual([
    [expect.objectContaining({ statement, evidence_count: 1 })],
    true,
  ]);
  expect(await scored([])).toEqual([null, false]);
});
