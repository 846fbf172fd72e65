// The command that checks a table of the registry before publication. It names each refused row.
// Without a node it verifies neither code nor events, and reports that.

import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import {
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  type Io,
  several,
} from '../../command/command.ts';
import { print, printJson, tableLines } from '../../command/output.ts';
import { collect } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type BridgeChain,
  type ContractFacts,
  type ContractProbe,
  REGISTRY_REFUSALS,
  type RegistryRow,
  type RowRefusal,
} from '../../ports/bridges.ts';
import type { RefusedLine } from '../../ports/tables.ts';
import { EVENT_LAYOUTS } from './protocols/decode.ts';

type CheckResult =
  | { readonly read: false; readonly reason: string }
  | ({ readonly read: true } & RegistryCheck);

/** The command's services. Compose fills them; without a path it takes the tables that ship. */
export type RegistryServices = {
  readonly checkRegistry: (
    path: string | null,
    signal: AbortSignal,
  ) => Promise<readonly CheckResult[]>;
};

export const registryCheck = defineCommand({
  name: 'registry check',
  summary: 'Check bridge contracts and exchange wallets by their rules and by nodes.',
  usage: '[FILE]',
  example: 'exhibit registry check registry/bridge-contracts.csv',
  arguments: {
    files: several(
      'FILE',
      'CSV of bridge contracts (chain, address, protocol, name, role, valid_from_block, sources, ' +
        'reviewed, note) or exchange wallets (chain, address, entity, label, role, confidence, ' +
        'source, source_url, first_seen, reviewed); without it, both tables of the product',
      filePath,
    ),
  },
  notes: [
    'Of exchange wallets the rules are those of `labels import`, and no cell may be empty.',
    'Of bridge contracts a node of a chain (EXHIBIT_RPC_<CHAIN>) verifies that there is code, that',
    'it is no token and no pool, and whether it logged an event of its protocol.',
    'Exit status 1: a row was refused, or the file could not be read. 3: a node did not answer.',
  ],
  run: async ({ files: [file] }, io, { checkRegistry }: RegistryServices) => {
    const checks = await checkRegistry(file === undefined ? null : file, io.signal);
    const statuses = checks.map((one) => printCheck(one, io));
    const worst = [EXIT.failed, EXIT.couldNotCheck].find((status) => statuses.includes(status));
    return worst === undefined ? EXIT.done : worst;
  },
});

function printCheck(checked: CheckResult, io: Io): ExitStatus {
  if (!checked.read) return fail(io, checked.reason);
  const refused = [...checked.refused, ...checked.nodes.flatMap((node) => node.refused)];
  const isSilent = checked.nodes.some(({ silent }) => silent !== null);
  const isRefused = refused.length > 0 || checked.rows === 0;
  const status = isRefused ? EXIT.failed : isSilent ? EXIT.couldNotCheck : EXIT.done;
  const { read: _, ...fields } = checked;
  if (io.json) printJson(io, { ...fields, status });
  else {
    const columns = ['line', 'chain', 'address', 'why', 'reason'].map((title) => ({ title }));
    if (refused.length > 0) {
      const cells = refused.map(({ line, chain, address, code, reason }) => [
        line === NO_LINE ? null : line,
        chain,
        address,
        code,
        reason,
      ]);
      print(io, tableLines(columns, cells, io));
    }
    const { file, rows, accepted } = checked;
    io.out(`${file}: ${rows} rows, ${accepted} accepted, ${refused.length} refused.`);
    if (checked.rows === 0) io.err('The table holds no row.');
    for (const node of checked.nodes) {
      const { chain, checked: done, events_seen } = node;
      io.out(
        `${chain}: ${done} of ${node.rows} contracts asked, ${events_seen} logged an event lately.`,
      );
      if (node.silent !== null) io.err(`${chain}: not all checked. ${node.silent}`);
    }
    if (checked.without_node.length > 0) {
      io.out(
        `No node is set for ${checked.without_node.join(', ')}: code and events not verified.`,
      );
    }
  }
  return status;
}

// Checks the rows of a table that the rules took by asking nodes: is there code, is it a token or a
// pool? A row whose node was silent is neither confirmed nor refused.

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
    if (code === null) continue;
    const parsed = parseEvmAddress(row.address);
    const address = parsed === null ? row.address : checksumAddress(parsed);
    const reason = REGISTRY_REFUSALS[code];
    refused.push({ line: NO_LINE, chain: row.chain, address, code, reason });
  }
  return { chain: probe.chain, rows: rows.length, checked, events_seen: seen, silent, refused };
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

function topicsOf({ protocol }: RegistryRow): readonly string[] {
  const topics = TOPICS.get(protocol);
  if (topics === undefined) throw new TypeError('a protocol without layouts');
  return topics;
}
