// Answers one question: where do the bridge registry and receipts come from, and who checks them.

import { readFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { Read } from '../../evidence/reading.ts';
import type { BridgesServices } from '../../features/bridges/bridges.command.ts';
import { explainReceipt } from '../../features/bridges/explain.ts';
import type { RegistryServices } from '../../features/bridges/registry.command.ts';
import { judgeRegistry } from '../../features/bridges/registry.ts';
import { checkWithNodes } from '../../features/bridges/registry-nodes.ts';
import { BRIDGE_CHAINS, type BridgeRegistry } from '../../ports/bridges/bridge-registry.ts';
import type { TransactionReceipts } from '../../ports/bridges/transaction-receipts.ts';
import { nodeReceipts } from '../../sources/evm/receipts-node.ts';
import { factsOf, filedReceipt } from '../../sources/evm/receipts-wire.ts';
import { csvTable } from '../../sources/files/csv.ts';
import { FileFault } from '../../sources/files/file-fault.ts';
import type { RpcLimits } from '../../sources/http/json-rpc.ts';
import { fileBridgeRegistry } from '../../sources/registry/bridges-file.ts';
import { nodeProbe } from '../../sources/registry/bridges-node-probe.ts';
import { nowS } from '../clock.ts';
import { evmClients } from '../evm-clients.ts';
import { type Outside, outsideOf } from '../outside.ts';

const TABLE = new URL('../../../registry/bridge-contracts.csv', import.meta.url);

/** A request waits for receipts no longer than this, whatever a node asks for. */
const RECEIPT_LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 16 * 1024 * 1024,
  batchMax: 20,
  waitMaxMs: 1_000,
  attemptsMax: 2,
};

/** The ports of bridges as they are composed. */
export type BridgeParts = {
  readonly bridgeRegistry: BridgeRegistry;
  readonly transactionReceipts: TransactionReceipts;
  readonly close: () => void;
};

/** Composes the registry and receipts. Nothing is read before it is asked for. */
export function bridgeParts(config: Config, outside: Outside): BridgeParts {
  const { byChain: nodes, close } = evmClients(outside, RECEIPT_LIMITS);
  return {
    bridgeRegistry: bridgeRegistryOf(),
    transactionReceipts: nodeReceipts({ nodes, simulated: config.simulate, now: nowS }),
    close,
  };
}

/** The table that comes with the product. */
export function bridgeRegistryOf(): BridgeRegistry {
  return fileBridgeRegistry(TABLE, judgeRegistry);
}

/** What the commands need that check a table and explain a receipt. They open no store. */
export function bridgeServices(config: Config | null): RegistryServices & BridgesServices {
  return {
    checkRegistry: (path, signal) => checked(path === null ? TABLE : path, config, signal),
    explainReceipt: explained,
  };
}

const UNREADABLE = { read: false, reason: 'The file cannot be opened.' } as const;

async function textOf(path: string | URL): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}

async function checked(path: string | URL, config: Config | null, signal: AbortSignal) {
  const table = await judgedOrFault(path);
  if (!table.read) return table;
  const { judged, sha256 } = table;
  const nodes = config === null ? null : evmClients(outsideOf(config), RECEIPT_LIMITS);
  const probes = BRIDGE_CHAINS.flatMap((chain) => {
    const rpc = nodes?.byChain.get(chain);
    return rpc === undefined ? [] : nodeProbe(chain, rpc, nowS);
  });
  const looked = await checkWithNodes(judged.rows, probes, signal);
  nodes?.close();
  const refusedByNode = looked.reduce((sum, { refused }) => sum + refused.length, 0);
  return {
    read: true,
    file: path instanceof URL ? 'registry/bridge-contracts.csv' : path,
    sha256,
    rows: judged.rows.length + judged.refused.length,
    accepted: judged.rows.length - refusedByNode,
    refused: judged.refused,
    nodes: looked,
    without_node: BRIDGE_CHAINS.filter(
      (chain) =>
        nodes?.byChain.has(chain) !== true && judged.rows.some((row) => row.chain === chain),
    ),
  } as const;
}

async function judgedOrFault(path: string | URL) {
  try {
    const { sha256, lines } = await csvTable(path);
    return { read: true, judged: judgeRegistry(lines), sha256 } as const;
  } catch (fault) {
    if (!(fault instanceof RangeError || fault instanceof FileFault)) return UNREADABLE;
    return { read: false, reason: `The file is no table of bridges: ${fault.message}.` } as const;
  }
}

async function explained(path: string, chain: string | null) {
  const text = await textOf(path);
  if (text === null) return UNREADABLE;
  const table = await bridgeRegistryOf().table();
  if (!(table instanceof Read)) return { read: false, reason: table.why.reason } as const;
  const filed = filedOrFault(text);
  if (typeof filed === 'string') return { read: false, reason: filed } as const;
  const facts = factsOf(filed.transaction, filed.receipt);
  const place = chain === null ? filed.chain : chain;
  return { read: true, ...explainReceipt(facts, place, table.value.rows) } as const;
}

function filedOrFault(text: string): ReturnType<typeof filedReceipt> | string {
  try {
    return filedReceipt(text);
  } catch (fault) {
    if (fault instanceof RangeError) return `The file cannot be explained: ${fault.message}.`;
    throw fault;
  }
}
