// Checks the rows of a table that the rules took by asking nodes: is there code, is it a token or a
// pool? A row whose node was silent is neither confirmed nor refused.

import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type BridgeChain,
  type ContractFacts,
  type ContractProbe,
  REGISTRY_REFUSALS,
  type RegistryRow,
  type RowRefusal,
} from '../../ports/bridges/bridge-registry.ts';
import type { RefusedLine } from '../../ports/tables/table-import.ts';
import { EVENT_LAYOUTS } from './protocols/decode.ts';

/** The outcome of asking the node of one chain. */
export type NodeCheck = {
  readonly chain: BridgeChain;
  readonly rows: number;
  readonly checked: number;
  /** Contracts that logged one of their protocol's events in the newest blocks. */
  readonly events_seen: number;
  /** Why some rows were not checked; `null` where all were. */
  readonly silent: string | null;
  readonly refused: readonly RefusedLine[];
};

/** The most rows of one chain whose contracts are looked at, one after the other. */
const ROWS_MAX = 2_000;

/** The outcome of checking a file of rows that could be read. */
export type RegistryCheck = {
  readonly file: string;
  readonly sha256: string;
  readonly rows: number;
  readonly accepted: number;
  readonly refused: readonly RefusedLine[];
  readonly nodes: readonly NodeCheck[];
  /** Chains with rows and without a node. */
  readonly without_node: readonly BridgeChain[];
};

/** Asks each node about the rows of its chain. */
export async function checkWithNodes(
  rows: readonly RegistryRow[],
  probes: readonly ContractProbe[],
  signal: AbortSignal,
): Promise<NodeCheck[]> {
  const checks: NodeCheck[] = [];
  for (const probe of probes) {
    const own = rows.filter(({ chain }) => chain === probe.chain).slice(0, ROWS_MAX);
    checks.push(await checkChain(own, probe, signal));
  }
  return checks;
}

async function checkChain(
  rows: readonly RegistryRow[],
  probe: ContractProbe,
  signal: AbortSignal,
): Promise<NodeCheck> {
  const refused: RefusedLine[] = [];
  let silent: string | null = null;
  let checked = 0;
  let seen = 0;
  for (const row of rows) {
    const reading = await probe.look(row.address, topicsOf(row), signal);
    if (!(reading instanceof Read)) {
      silent = reading.why.reason;
      continue;
    }
    checked += 1;
    if (reading.value.events) seen += 1;
    const code = refusalOf(reading.value, row);
    if (code !== null) refused.push(refusedRow(row, code));
  }
  return { chain: probe.chain, rows: rows.length, checked, events_seen: seen, silent, refused };
}

function refusedRow({ chain, address }: RegistryRow, code: RowRefusal): RefusedLine {
  const parsed = parseEvmAddress(address);
  const written = parsed === null ? address : checksumAddress(parsed);
  return { line: NO_LINE, chain, address: written, code, reason: REGISTRY_REFUSALS[code] };
}

/** A node judges a contract, whatever line names it. */
const NO_LINE = 0;

function refusalOf({ code, token, pool }: ContractFacts, { role }: RegistryRow): RowRefusal | null {
  if (!code) return 'no_code';
  if (pool) return 'amm_pool';
  return token && role !== 'token' ? 'token_contract' : null;
}

const TOPICS = new Map<string, string[]>();
for (const { kind, protocol, topic } of EVENT_LAYOUTS) {
  if (kind !== 'other') collect(TOPICS, protocol, topic);
}

/** The events that a contract of a protocol is expected to log. */
function topicsOf({ protocol }: RegistryRow): readonly string[] {
  const topics = TOPICS.get(protocol);
  if (topics === undefined) throw new TypeError('a protocol without layouts');
  return topics;
}
