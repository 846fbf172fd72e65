// Arguments: --data DIR, --out FILE, --ours (the file then holds ours), --decimals N.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tally } from '../src/evidence/measure.ts';
import {
  type DepositRule,
  inferDeposit,
  inferDeposits,
  type KnownExchanges,
  OWN_RULE,
  PUBLISHED_BLOCKS_MAX,
  publishedRule,
} from '../src/features/deposits/inference.ts';
import { NATIVE_DECIMALS, type Network, networkAt } from './clusters-data.ts';

/** The file has blocks and no times: 24 hours at 15 seconds a block. */
const DAY_BLOCKS = 5_760;
/** How many triplets of each difference are printed. */
const SHOWN_MAX = 5;

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    ours: { type: 'boolean', default: false },
    decimals: { type: 'string' },
  },
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function knownBy(
  receiving: ReadonlyMap<string, string>,
  owners: ReadonlyMap<string, string>,
): KnownExchanges {
  const hot = [...receiving].map(([one, exchange]) => [one, { exchange, role: 'hot' }] as const);
  return { receivers: new Map(hot), owners };
}

/** Under the published rule every wallet of the file takes deposits; under ours, the owned ones. */
const every = ({ exchanges }: Network): KnownExchanges => {
  return knownBy(exchanges, exchanges);
};
const hot = ({ hotWallets, exchanges }: Network): KnownExchanges => {
  return knownBy(hotWallets, exchanges);
};

type Triplets = ReadonlySet<string>;

/** `user,deposit,exchange`, each once, in the order of their texts. */
function tripletsOf(network: Network, known: KnownExchanges, rule: DepositRule): Triplets {
  const found = inferDeposits(network.movements, known, rule).flatMap(({ address, forwards }) =>
    forwards.map(({ user, wallet }) => `${user},${address},${wallet}`),
  );
  return new Set(found.sort());
}

function column(triplets: Iterable<string>, index: number): Set<string> {
  return new Set([...triplets].map((one) => String(one.split(',')[index])));
}

function sayCounts(name: string, triplets: Triplets, network: Network): void {
  const [users, deposits, exchanges] = [0, 1, 2].map((i) => column(triplets, i).size);
  const proven = [...column(triplets, 1)].filter((one) => network.signers.has(one)).length;
  say(`${name}: ${triplets.size} triplets`);
  say(`  ${users} users, ${deposits} deposit addresses, ${exchanges} exchange wallets`);
  say(`  ${proven} of the deposit addresses signed a transaction, so are externally owned;`);
  say(`  of ${Number(deposits) - proven} the files do not tell`);
}

function sayDifference(title: string, triplets: readonly string[]): void {
  say(`${title}: ${triplets.length}`);
  for (const one of triplets.slice(0, SHOWN_MAX)) say(`  ${one}`);
  if (triplets.length > SHOWN_MAX) say(`  and ${triplets.length - SHOWN_MAX} more`);
}

function sayReasons(reasons: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const one of reasons) tally(counts, one);
  for (const [why, count] of [...counts].sort((a, b) => b[1] - a[1])) say(`  ${count}: ${why}`);
}

function whyNotOurs(triplet: string, network: Network, rule: DepositRule): string {
  const [, deposit = '', wallet = ''] = triplet.split(',');
  if (!network.hotWallets.has(wallet))
    return 'the exchange is a contract that users pay themselves';
  const one = inferDeposit(deposit, network.movements, hot(network), rule);
  return WHY[typeof one === 'string' ? one : 'paired_otherwise'];
}

function whyOnlyOurs(triplet: string, longer: Triplets): string {
  const paired = 'the amounts agree, but more blocks lie between than the published rule allows';
  return longer.has(triplet) ? paired : 'several receipts were passed on together, or one in parts';
}

const WHY = {
  exchange_wallet: 'it is itself a wallet of an exchange',
  no_forward: 'nothing of it goes to a hot wallet',
  several_targets: 'its coins go to several exchanges',
  other_receivers: 'it pays more than two others beside the exchange',
  share_too_small: 'less than 90 % of what it received was passed on within a day',
  no_match_in_time: 'nothing was passed on within a day',
  paired_otherwise: 'the amount is accounted for by an older receipt',
} as const;

async function main(): Promise<void> {
  const { data, out } = options;
  if (data === undefined || out === undefined) {
    throw new Error('clusters: name --data DIR and --out FILE');
  }
  const network = await networkAt(
    { transfers: join(data, 'bionic.csv'), traces: join(data, 'bionictx.csv') },
    join(data, 'exchanges.csv'),
    options.decimals === undefined ? null : Number(options.decimals),
  );
  say(`${network.transfers} token transfers, ${network.traces} traces, as they stand in the files`);
  say(`${network.valued} traces move coins; ${network.exchanges.size} exchange wallets, of which`);
  say(`${network.hotWallets.size} are externally owned and taken for hot wallets by our rule`);
  for (const [asset, decimals] of network.decimals) {
    say(`${asset}: ${decimals} decimals, so 0.01 is ${10n ** BigInt(decimals) / 100n}`);
  }
  const decimalsOf = (asset: string) => network.decimals.get(asset) ?? NATIVE_DECIMALS;
  const own: DepositRule = { ...OWN_RULE, windowMax: DAY_BLOCKS };
  const published = tripletsOf(network, every(network), publishedRule(decimalsOf));
  const ours = tripletsOf(network, hot(network), own);
  say('');
  sayCounts(
    `published (0.01 token, ${PUBLISHED_BLOCKS_MAX} blocks, one wallet)`,
    published,
    network,
  );
  sayCounts(`ours (90 %, ${DAY_BLOCKS} blocks for 24 h, one exchange)`, ours, network);
  say('');
  say(`in both: ${[...published].filter((one) => ours.has(one)).length} triplets`);
  const onlyPublished = [...published].filter((one) => !ours.has(one));
  sayDifference('only under the published rule', onlyPublished);
  sayReasons(onlyPublished.map((one) => whyNotOurs(one, network, own)));
  const onlyOurs = [...ours].filter((one) => !published.has(one));
  sayDifference('only under ours', onlyOurs);
  const longer = tripletsOf(network, every(network), {
    ...publishedRule(decimalsOf),
    windowMax: DAY_BLOCKS,
  });
  sayReasons(onlyOurs.map((one) => whyOnlyOurs(one, longer)));
  const chosen = options.ours ? ours : published;
  writeFileSync(out, `${['user,deposit,exchange', ...chosen].join('\n')}\n`);
  say('');
  say(`${chosen.size} triplets under ${options.ours ? 'our' : 'the published'} rule: ${out}`);
}

await main();
