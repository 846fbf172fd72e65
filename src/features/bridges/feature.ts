// Bridges: the registry of contracts, the receipts of transactions, and who checks both.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { MS_PER_S } from '../../chain/time.ts';
import { nowS } from '../../compose/clock.ts';
import { evmClients } from '../../compose/evm-clients.ts';
import { type Base, feature, liveHolding, servePage, serveRoute } from '../../compose/feature.ts';
import { type Outside, outsideOf } from '../../compose/outside.ts';
import type { Config } from '../../config.ts';
import { map, Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { BRIDGE_CHAINS, type BridgeArrivals, type BridgeRegistry } from '../../ports/bridges.ts';
import type { ProviderWatch } from '../../ports/providers.ts';
import { statusPages } from '../../sources/bridge-status/status-page.ts';
import { nodeProbe } from '../../sources/evm/contract-probe.ts';
import {
  factsOf,
  filedReceipt,
  nodeArrivals,
  nodeReceipts,
} from '../../sources/evm/receipts-node.ts';
import { csvTable } from '../../sources/files/csv.ts';
import { FileFault } from '../../sources/files/text-lines.ts';
import type { RpcLimits } from '../../sources/http/json-rpc.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { type GuardLimits, providerGuard } from '../../sources/http/provider.ts';
import { UNWATCHED } from '../../sources/http/provider-watch.ts';
import { fileBridgeRegistry } from '../../sources/registry/registry-files.ts';
import { heldArrivals, heldReceipts } from '../../stores/history/held-ports.ts';
import { warehousePaidTo } from '../../stores/warehouse/history/paid-to.ts';
import { SHIPPED_LABELS } from '../tables/feature.ts';
import { SHIPPED_LABEL_COLUMNS, validateShippedLabels } from '../tables/labels.ts';
import { type BridgesServices, bridgesExplain } from './bridges.command.ts';
import { addArrivals, explainReceipt } from './explain.ts';
import { checkWithNodes, type RegistryServices, registryCheck } from './registry.command.ts';
import {
  bridgeContractsPage,
  bridgeContractsPageHandler,
  registryBridges,
  registryBridgesHandler,
} from './registry.route.tsx';
import { validateRegistry } from './registry.ts';
import { walletBridges, walletBridgesHandler } from './wallet-bridges.route.ts';

type RegistryPorts = { readonly bridgeRegistry: BridgeRegistry };

const TABLE = new URL('../../../registry/bridge-contracts.csv', import.meta.url);

/** A request waits for receipts no longer than this, whatever a node asks for. */
const RECEIPT_LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 16 * 1024 * 1024,
  batchMax: 20,
  waitMaxMs: 1_000,
  attemptsMax: 2,
};

/** The limits of one look-up of an arrival: in a request, and at the command line. */
const REQUEST_RANGES_MAX = 30;
const COMMAND_ARRIVALS = { timeMs: 120_000, rangesMax: 500 } as const;

export const bridges = feature({
  name: 'bridges',
  heading: 'Bridges',
  open: ({ config, outside, warehouse, providers }: Base) => {
    const { byChain: nodes, close } = evmClients(outside, RECEIPT_LIMITS, {
      ...providers,
      ports: ['transaction_receipts', 'bridge_arrivals'],
    });
    const { simulate: simulated, liveBudgetMs: timeMs } = config;
    const bounds = { timeMs, rangesMax: REQUEST_RANGES_MAX };
    const tip = { now: nowS, tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S };
    const holding = liveHolding(config);
    const arrivals = {
      ...nodeArrivals({ nodes, simulated, now: nowS, ...bounds }),
      ...statusPagesOf(outside, timeMs, providers.watch),
    };
    return {
      ports: {
        bridgeRegistry: bridgeRegistryOf(),
        transactionReceipts: heldReceipts(nodeReceipts({ nodes, simulated, now: nowS }), holding),
        bridgeArrivals: {
          ...heldArrivals(arrivals, holding),
          ...warehousePaidTo(warehouse, { ...tip, timeMs }),
        },
      },
      services: {},
      close,
    };
  },
  routes: [
    serveRoute(walletBridges, walletBridgesHandler),
    serveRoute(registryBridges, (ports: RegistryPorts) =>
      registryBridgesHandler(ports.bridgeRegistry),
    ),
  ],
  ports: {
    bridgeRegistry: {
      tag: 'bridge_registry',
      title: 'Bridge registry',
      says: 'Which contracts of seven protocols are looked for',
      pages: false,
      freshness: {
        kind: 'dated',
        ask: async (registry) => map(await registry.table(), () => null),
        maxAgeS: () => null,
      },
    },
    transactionReceipts: {
      tag: 'transaction_receipts',
      title: 'Transaction receipts',
      says: 'Which message and destination a bridge transaction names',
      pages: false,
      freshness: {
        kind: 'per_answer',
        absence: ({ rpc }) =>
          Object.values(rpc).some((url) => url !== null) ? null : 'No node is set.',
      },
    },
    bridgeArrivals: {
      tag: 'bridge_arrivals',
      title: 'Bridge arrivals',
      says: 'What became of a deposit on the other chain',
      pages: true,
      // The warehouse is always asked.
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  optional: (
    [
      ['across', 'EXHIBIT_ACROSS_STATUS_URL', 'Across'],
      ['layerzero', 'EXHIBIT_LAYERZERO_STATUS_URL', 'LayerZero Scan'],
      ['wormhole', 'EXHIBIT_WORMHOLE_STATUS_URL', 'Wormholescan'],
      ['celer', 'EXHIBIT_CELER_STATUS_URL', 'cBridge’s gateway'],
      ['synapse', 'EXHIBIT_SYNAPSE_STATUS_URL', 'Synapse’s explorer'],
      ['hop', 'EXHIBIT_HOP_STATUS_URL', 'Hop'],
    ] as const
  ).map(([name, setting, page]) => ({
    name: `${name} status`,
    setting,
    isSet: ({ statusUrls }: Config) => statusUrls[name] !== null,
    without: `${page} is not asked what became of a deposit: a node and the warehouse tell it`,
  })),
  local: {
    commands: [registryCheck, bridgesExplain],
    services: ({ configured }) => bridgeServices(configured.ok ? configured.config : null),
  },
  pages: [
    servePage(bridgeContractsPage, 'Bridges', ({ bridgeRegistry }: RegistryPorts, facts) =>
      bridgeContractsPageHandler(bridgeRegistry, facts),
    ),
  ],
});

function statusPagesOf(
  { statusPages: urls }: Outside,
  timeMs: number,
  watch: ProviderWatch['watch'],
) {
  const pages = [...urls].map(([page, { url: configured, key }]) => {
    const url = new URL(configured);
    const onCallEnd = watch({
      name: `Status page ${page}`,
      url: originText(url),
      ports: ['bridge_arrivals'],
      carries: null,
    });
    const guard = providerGuard(STATUS_GUARD, () => performance.now(), onCallEnd);
    return [page, { url, key, guard }] as const;
  });
  return statusPages({ pages: new Map(pages), now: nowS, timeMs });
}

const STATUS_GUARD: GuardLimits = {
  callsPerS: 2,
  retriesMax: 1,
  backoffMs: 250,
  failuresMax: 5,
  restMs: 30_000,
};
const NO_PAGES = statusPages({ pages: new Map(), now: nowS, timeMs: 0 });

/** The command opens no store. */
const NO_WAREHOUSE: Pick<BridgeArrivals, 'paidTo'> = {
  paidTo: async ({ chain }) => unread('bridge_arrivals', why('arrivals_not_held', { chain })),
};

/** The table that comes with the product. */
export function bridgeRegistryOf(): BridgeRegistry {
  return fileBridgeRegistry(TABLE, validateRegistry);
}

/**
 * The dependencies of the commands that check a table and explain a receipt. They open no store.
 */
export function bridgeServices(config: Config | null): RegistryServices & BridgesServices {
  return {
    checkRegistry: (path, signal) => {
      const files = path === null ? [TABLE, SHIPPED_LABELS] : [path];
      return Promise.all(files.map((file) => checkFile(file, config, signal)));
    },
    explainReceipt: async (path, options, signal) => {
      const text = await readFile(path, 'utf8').catch(() => null);
      if (text === null) return unreadable(CANNOT_OPEN);
      const table = await bridgeRegistryOf().table();
      if (!(table instanceof Read)) return unreadable(table.why.reason);
      const filed = parseFiled(text);
      if (typeof filed === 'string') return unreadable(filed);
      const facts = factsOf(filed.transaction, filed.receipt);
      const { rows } = table.value;
      const explanation = explainReceipt(facts, options.chain ?? filed.chain, rows);
      if (!options.destination) return { read: true, ...explanation };
      const nodes = config === null ? null : evmClients(outsideOf(config), RECEIPT_LIMITS, null);
      const byChain = nodes === null ? new Map() : nodes.byChain;
      const simulated = config?.simulate === true;
      const pages =
        config === null
          ? NO_PAGES
          : statusPagesOf(outsideOf(config), COMMAND_ARRIVALS.timeMs, () => UNWATCHED);
      const logs = nodeArrivals({ nodes: byChain, simulated, now: nowS, ...COMMAND_ARRIVALS });
      const ports = {
        bridgeArrivals: { ...logs, ...pages, ...NO_WAREHOUSE },
        transactionReceipts: nodeReceipts({ nodes: byChain, simulated, now: nowS }),
      };
      const whole = await addArrivals(ports, explanation, facts, rows, signal);
      nodes?.close();
      return { read: true, ...whole };
    },
  };
}

const CANNOT_OPEN = 'The file cannot be opened.';

function unreadable(reason: string) {
  return { read: false, reason } as const;
}

async function checkFile(path: string | URL, config: Config | null, signal: AbortSignal) {
  const table = await validateFile(path);
  if (!table.read) return table;
  const { sha256, validated, bridges } = table;
  const clients = config === null ? null : evmClients(outsideOf(config), RECEIPT_LIMITS, null);
  const probes = BRIDGE_CHAINS.flatMap((chain) => {
    const rpc = clients?.byChain.get(chain);
    return rpc === undefined ? [] : nodeProbe(chain, rpc, nowS);
  });
  const nodes = await checkWithNodes(bridges, probes, signal);
  clients?.close();
  const refusedByNodes = nodes.reduce((sum, { refused }) => sum + refused.length, 0);
  return {
    read: true,
    file: path instanceof URL ? `registry/${basename(path.pathname)}` : path,
    sha256,
    rows: validated.rows.length + validated.refused.length,
    accepted: validated.rows.length - refusedByNodes,
    refused: validated.refused,
    nodes,
    without_node: BRIDGE_CHAINS.filter(
      (chain) => clients?.byChain.has(chain) !== true && bridges.some((row) => row.chain === chain),
    ),
  } as const;
}

/** The rows of a file by the rules of the table that its heading names, and which are bridges. */
async function validateFile(path: string | URL) {
  try {
    const { sha256, lines } = await csvTable(path);
    if (lines[0]?.cells.join() === SHIPPED_LABEL_COLUMNS.join()) {
      return { read: true, sha256, validated: validateShippedLabels(lines), bridges: [] } as const;
    }
    const validated = validateRegistry(lines);
    return { read: true, sha256, validated, bridges: validated.rows } as const;
  } catch (fault) {
    if (!(fault instanceof RangeError || fault instanceof FileFault))
      return unreadable(CANNOT_OPEN);
    return unreadable(`The file is no table of bridges or exchange wallets: ${fault.message}.`);
  }
}

function parseFiled(text: string): ReturnType<typeof filedReceipt> | string {
  try {
    return filedReceipt(text);
  } catch (fault) {
    if (fault instanceof RangeError) return `The file cannot be explained: ${fault.message}.`;
    throw fault;
  }
}
