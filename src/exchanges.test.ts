// Exchanges from a real node to the answer, and the deposit rule on a recorded token network.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { why } from './evidence/reasons.ts';
import { inferDeposits, type Movement, publishedRule } from './features/deposits/inference.ts';
import { walletCex, walletCexHandler } from './features/exchanges/wallet-cex.route.ts';
import { coveredHistory } from './stores/history/covered.ts';
import type { EmbeddedWarehouse } from './stores/warehouse/engine/embedded.ts';
import { warehouseHistory } from './stores/warehouse/history/warehouse.ts';
import { type Anvil, anvilPath, type SentTransaction, startAnvil } from './testing/anvil.ts';
import { followAnvil } from './testing/anvil-following.ts';
import { TIP_MAX_AGE_S } from './testing/clock.ts';
import { callData, compileContracts } from './testing/contracts.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { SHARED_DATA } from './testing/shared-data.ts';
import { silentPorts } from './testing/twins/ports.ts';
import { labelOf, memoryExchangeLabels } from './testing/twins/tables.ts';

const absent = anvilPath() === null;
const title = absent ? 'a real node (skipped: anvil is not installed)' : 'a real node';
const ANSWERED_MAX_MS = 20_000;
const now = () => Math.floor(Date.now() / 1_000);

describe.skipIf(absent)(title, () => {
  let anvil: Anvil;
  let warehouse: EmbeddedWarehouse;
  const sent = new Map<string, string>();
  const account = (i: number) => () => String(anvil.accounts[i]);
  const [user, deposit, hot, poisoner] = [account(0), account(1), account(2), account(3)];

  beforeAll(async () => {
    const [started, contracts, opened] = await Promise.all([
      startAnvil(1),
      compileContracts(),
      freshWarehouse(),
    ]);
    anvil = started;
    warehouse = opened;
    const code = callData(contracts('Token').code, 1_000n);
    const token = await anvil.created((await anvil.mine({ from: user(), data: code }))[0]);
    const call = (from: string, method: string, ...words: (string | bigint)[]) => ({
      from,
      to: token,
      data: callData(contracts('Token').selector(method), ...words),
    });
    const mined = async (name: string, one: SentTransaction) => {
      sent.set(name, String((await anvil.mine(one))[0]));
    };
    await mined('paid the hot wallet', { from: user(), to: hot(), value: 3n });
    await mined('withdrew', { from: hot(), to: user(), value: 2n });
    await mined('deposited', { from: user(), to: deposit(), value: 100n });
    await mined('forwarded', { from: deposit(), to: hot(), value: 95n });
    await mined('deposited tokens', call(user(), 'transfer', deposit(), 50n));
    await mined('forwarded tokens', call(deposit(), 'transfer', hot(), 50n));
    await mined('poisoned', call(poisoner(), 'poison', hot(), user()));
    await followAnvil(anvil, warehouse, now);
  }, 60_000);
  afterAll(async () => {
    await warehouse?.close();
    await anvil?.stop();
  });

  /** The answer of the route about an address. */
  async function answered(address: string) {
    const label = labelOf(hot(), 'Exemplar');
    const { entityClusters, chainFacts } = silentPorts(why('no_history'));
    const handler = walletCexHandler({
      exchangeLabels: memoryExchangeLabels({ labels: [label], as_of: now(), simulated: false }),
      transferHistory: coveredHistory(warehouseHistory(warehouse, now), {
        now,
        tipMaxAgeS: TIP_MAX_AGE_S,
      }),
      entityClusters,
      chainFacts,
    }) as Call;
    const signal = AbortSignal.timeout(ANSWERED_MAX_MS);
    const input = { params: { address }, query: {}, body: undefined };
    const answer = await handler(input, { now, signal });
    if (answer instanceof Refusal) throw new Error('refused');
    return walletCex.data.parse(answer.envelope(now()).data).activity;
  }

  test('is answered transaction by transaction, and the poisoning is counted apart', async () => {
    const activity = await answered(user());
    expect(activity).toMatchObject({ checked: true, truncated: false, provenance: 'warehouse' });
    const told = activity.exchanges?.map((one) => [
      ...[one.entity, one.transfers_in, one.transfers_out],
      one.transactions.map(({ direction, tx, raw_amount }) => [direction, tx, raw_amount]),
    ]);
    const withdrawn = ['in', sent.get('withdrew'), '2'];
    const paid = ['out', sent.get('paid the hot wallet'), '3'];
    expect(told).toEqual([['Exemplar', 1, 1, [withdrawn, paid]]]);
    expect(activity.transfers_left_out).toEqual({ zero_value: 1, no_market_token: 0 });
  });

  test.each([
    ['its user', user, false],
    ['itself', deposit, true],
  ])('shows the deposit address to %s, with what came and went', async (_, who, is_subject) => {
    const { inferred_deposit_addresses: found } = await answered(who());
    const shown = { address: deposit(), entity: 'Exemplar', ratio: 0.95, is_subject };
    expect(found).toMatchObject([{ ...shown, externally_owned: true, history_complete: true }]);
    const pairs = found?.[0]?.forwards.map((one) => [
      ...[one.received_tx, one.forwarded_tx, one.raw_amount],
    ]);
    const coins = [sent.get('deposited'), sent.get('forwarded'), '95'];
    const tokens = [sent.get('deposited tokens'), sent.get('forwarded tokens'), '50'];
    expect(pairs?.sort()).toEqual([coins, tokens].sort());
    const shares = found?.[0]?.assets.map(({ received, forwarded }) => [received, forwarded]);
    expect(shares?.sort()).toEqual([
      ['100', '95'],
      ['50', '50'],
    ]);
  });
});

type Handler = ReturnType<typeof walletCexHandler>;
type Call = (
  input: { params: { address: string }; query: object; body: undefined },
  asked: Parameters<Handler>[1],
) => ReturnType<Handler>;

const DATA = join(SHARED_DATA, 'clusters');

describe.skipIf(!existsSync(DATA))('a recorded network (or skipped: no shared data)', () => {
  async function rowsOf(name: string): Promise<Record<string, string>[]> {
    return parse(await readFile(join(DATA, name)), { columns: true });
  }
  const textIn = (row: Record<string, string>, name: string) => String(row[name]).toLowerCase();

  test('shows under the published rule the triplets that a plain search finds too', async () => {
    const listed = (await rowsOf('exchanges.csv')).map((row) => textIn(row, 'address'));
    const wallets = new Map(listed.map((one) => [one, one]));
    const movements = (await rowsOf('bionic.csv')).map((row): Movement => {
      const [from, to] = [textIn(row, 'source'), textIn(row, 'target')];
      const when = Number(row['blockNumber']);
      return { asset: 'BNC', from, to, raw_amount: BigInt(textIn(row, 'amount')), when, tx: null };
    });
    expect(movements).toHaveLength(20_913);
    const hot = listed.map((one) => [one, { exchange: one, role: 'hot' }] as const);
    const known = { receivers: new Map(hot), owners: wallets };
    const rule = publishedRule(() => 8);
    const found = inferDeposits(movements, known, rule).flatMap(({ address, forwards }) =>
      forwards.map(({ user, wallet }) => `${user},${address},${wallet}`),
    );
    expect([...new Set(found)].sort()).toEqual(plainly(movements, wallets));
    expect(new Set(found).size).toBe(312);
  });
});

/** The triplets by trying every forward with every receipt, as the rule is written. */
function plainly(all: readonly Movement[], wallets: ReadonlyMap<string, string>): string[] {
  const forwards = all.filter(({ from, to }) => wallets.has(to) && !wallets.has(from));
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of forwards) {
    targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  const found = forwards.flatMap((sent) => {
    if (targets.get(sent.from)?.size !== 1) return [];
    const received = all.filter(({ to }) => to === sent.from);
    return received.flatMap(({ from, raw_amount, when }) => {
      const blocks = sent.when - when;
      const apart = raw_amount - sent.raw_amount;
      const fits = blocks >= 0 && blocks <= 3_200 && apart <= 1_000_000n && apart >= -1_000_000n;
      return fits && !wallets.has(from) ? [`${from},${sent.from},${sent.to}`] : [];
    });
  });
  return [...new Set(found)].sort();
}
