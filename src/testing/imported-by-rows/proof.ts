// Which kinds of transfer do the rows of a block prove to hold in full?
// A header counts its transactions and a trace its calls, so what is missing shows. Token logs are
// counted nowhere: nothing proves them whole, and nothing is said of them here.

import type { EvmChainName } from '../../chain/chain.ts';
import { wholeKinds } from '../../chain/whole-kinds.ts';
import { tally } from '../../evidence/measure.ts';
import type { StagedRow } from './scratch.ts';
import { withdrawalsOf } from './withdrawals.ts';

/** What is proved of a block; `null` where nothing is. */
export type Proof = { readonly native: boolean; readonly internal: boolean };

/** From when Ethereum's blocks pay no reward, and from when they hold withdrawals: Unix seconds. */
const MERGE_S = 1_663_224_179;
const SHANGHAI_S = 1_681_338_455;
const HASH = /^0x[0-9a-f]{64}$/;
const NOTHING: Proof = { native: false, internal: false };

/** What the rows of a block prove; `spoilt` are the datasets of which a row was refused. */
export function proofOf(
  rows: readonly StagedRow[],
  header: StagedRow | undefined,
  chain: EvmChainName,
  spoilt: ReadonlySet<string>,
): Proof {
  if (header === undefined || header.tx_count < 0 || spoilt.has('blocks')) return NOTHING;
  // A header of another fork, or of another chain, counts other transactions than these.
  if (rows.some(({ hash }) => HASH.test(hash) && hash !== header.hash)) return NOTHING;
  const traces = rows.filter(({ dataset }) => dataset === 'traces');
  const traced = !spoilt.has('traces') && isTraced(traces, header.tx_count);
  const sent = rows.filter(({ dataset }) => dataset === 'transactions');
  const byStatus =
    !spoilt.has('transactions') &&
    sent.length === header.tx_count &&
    sent.every(({ status, to }) => status !== -1 && to !== '');
  return {
    native: traced || byStatus,
    internal: traced && holdsWhatTheChainMade(traces, header, chain),
  };
}

function isTraced(traces: readonly StagedRow[], transactions: number): boolean {
  const calls = traces.filter(({ tx }) => tx !== '');
  const roots = calls.filter(({ path }) => path === '');
  if (roots.length !== transactions) return false;
  const children = new Map<string, number>();
  for (const { tx, path } of calls) {
    if (path !== '') tally(children, `${tx} ${path.replace(/_?\d+$/, '')}`);
  }
  return calls.every(({ tx, path, subtraces }) => {
    const held = children.get(`${tx} ${path}`);
    return held === undefined ? subtraces === 0 : subtraces === held;
  });
}

/** Rewards and withdrawals are internal transfers too, and Ethereum's headers say when they are. */
function holdsWhatTheChainMade(
  traces: readonly StagedRow[],
  { block, time, withdrawals }: StagedRow,
  chain: EvmChainName,
): boolean {
  if (!wholeKinds('trace_files', chain, block).includes('internal')) return false;
  if (time < MERGE_S) return block === 0 || traces.some(({ trace }) => trace === 'reward');
  return time < SHANGHAI_S || withdrawalsOf(withdrawals) !== null;
}
