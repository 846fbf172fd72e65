// Receipts: reviewed articles in a folder, their index, their pages and their feed.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAddress } from '../../chain/address.ts';
import { nowS } from '../../compose/clock.ts';
import { evmClients } from '../../compose/evm-clients.ts';
import { type Base, feature, servePage, serveRoute } from '../../compose/feature.ts';
import { outsideOf } from '../../compose/outside.ts';
import type { Config } from '../../config.ts';
import { textOrEmpty } from '../../evidence/measure.ts';
import { map, Read, unread } from '../../evidence/reading.ts';
import { isNotSetUp } from '../../evidence/reason-kinds.ts';
import { why } from '../../evidence/reasons.ts';
import { atomFeed } from '../../pages/atom.ts';
import type { TransactionReceipts } from '../../ports/bridges.ts';
import type { SolanaTransactions } from '../../ports/receipts.ts';
import { nodeReceipts } from '../../sources/evm/receipts-node.ts';
import { receiptsFolder } from '../../sources/files/receipts-folder.ts';
import type { RpcLimits } from '../../sources/http/json-rpc.ts';
import { providerGuard } from '../../sources/http/provider.ts';
import { solanaTransactions } from '../../sources/solana/transactions.ts';
import { covering, selectPublished } from './covering.ts';
import { type ReceiptsServices, receiptsCheck } from './receipts-check.command.ts';
import {
  RECEIPTS_DEFAULT,
  type ReceiptsPorts,
  receiptArticle,
  receiptMissing,
  receiptPage,
  receiptShown,
  receiptsFeed,
  receiptsFeedOf,
  receiptsIndex,
  receiptsIndexHandler,
  receiptsIndexPage,
  receiptsPage,
} from './receipts-index.route.tsx';

/** Articles about the simulated world, which are served there and nowhere else. */
const MADE_UP = fileURLToPath(new URL('../../../registry/simulated-receipts', import.meta.url));

export const receipts = feature({
  name: 'receipts',
  heading: 'Receipts',
  open: ({ config }: Base) => ({
    ports: { receiptFolder: openFolder(folderOf(config), config.simulate) },
    services: {},
  }),
  routes: [serveRoute(receiptsIndex, (given: ReceiptsPorts) => receiptsIndexHandler(given))],
  ports: {
    receiptFolder: {
      tag: 'receipts',
      title: 'Receipts',
      says: 'Which reviewed articles are published',
      pages: false,
      freshness: {
        kind: 'dated',
        ask: async (folder) => map(await folder.files(), () => null),
        maxAgeS: () => null,
      },
    },
  },
  pages: [
    servePage(receiptsPage, 'Receipts', ({ receiptFolder, service }: ReceiptsPorts, facts) => {
      return async ({ query: { q, page } }) => {
        const files = await receiptFolder.files();
        if (!(files instanceof Read)) {
          const status = isNotSetUp(files.why) ? 200 : 503;
          return receiptsPage.reply(status, receiptsIndexPage(facts, files.why));
        }
        const published = selectPublished(files.value);
        const sought = textOrEmpty(q).trim();
        const isAddress = parseAddress(sought) !== null;
        const found = covering(published, {
          address: isAddress ? sought : null,
          words: isAddress || sought === '' ? null : sought,
        });
        const last = Math.max(1, Math.ceil(found.length / RECEIPTS_DEFAULT));
        const at = page === undefined ? 1 : Math.min(page, last);
        const shown = found.slice((at - 1) * RECEIPTS_DEFAULT, at * RECEIPTS_DEFAULT);
        const html = receiptsIndexPage(facts, {
          sought,
          receipts: shown.map((one) => receiptShown(one, service.base())),
          total: found.length,
          published: published.length,
          withheld: files.value.length - published.length,
          at,
          last,
        });
        return receiptsPage.reply(200, html);
      };
    }),
    servePage(receiptPage, null, ({ receiptFolder, service }: ReceiptsPorts, facts) => {
      return async ({ params: { slug } }) => {
        const files = await receiptFolder.files();
        if (!(files instanceof Read)) {
          const status = isNotSetUp(files.why) ? 404 : 503;
          return receiptPage.reply(status, receiptMissing(facts, files.why.reason));
        }
        const found = selectPublished(files.value).find((one) => one.slug === slug);
        if (found === undefined) return receiptPage.reply(404, receiptMissing(facts, null));
        const shown = receiptShown(found, service.base());
        return receiptPage.reply(200, receiptArticle(facts, shown, found.body));
      };
    }),
    servePage(receiptsFeed, null, ({ receiptFolder, service }: ReceiptsPorts, { simulated }) => {
      return async () => {
        const files = await receiptFolder.files();
        if (!(files instanceof Read)) {
          return receiptsFeed.reply(isNotSetUp(files.why) ? 404 : 503, files.why.reason);
        }
        const feed = receiptsFeedOf(selectPublished(files.value), simulated, nowS());
        return receiptsFeed.reply(200, atomFeed(service.base(), feed));
      };
    }),
  ],
  local: {
    commands: [receiptsCheck],
    services: ({ configured }): ReceiptsServices => {
      const config = configured.ok ? configured.config : NOTHING_SET;
      const open = (folder: string) => openFolder(folder, config.simulate);
      const set = configured.ok ? configured.config : null;
      const lookUps = { lookUp: lookUpBy(set), lookUpSolana: lookUpSolanaBy(set) };
      return { receipts: { folder: folderOf(config), open, ...lookUps } };
    },
  },
});

const NODE_LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 16 * 1024 * 1024,
  batchMax: 20,
  waitMaxMs: 1_000,
  attemptsMax: 2,
};

/** Looks transactions up at the nodes that are configured; without a node they are unread. */
function lookUpBy(config: Config | null): TransactionReceipts['lookUp'] {
  return async (chain, hashes, signal) => {
    const clients = config === null ? null : evmClients(outsideOf(config), NODE_LIMITS, null);
    const nodes = clients === null ? new Map() : clients.byChain;
    const simulated = config?.simulate === true;
    try {
      return await nodeReceipts({ nodes, simulated, now: nowS }).lookUp(chain, hashes, signal);
    } finally {
      clients?.close();
    }
  };
}

const SOLANA_GUARD = {
  callsPerS: 4,
  retriesMax: 1,
  backoffMs: 500,
  failuresMax: 5,
  restMs: 30_000,
};

function lookUpSolanaBy(config: Config | null): SolanaTransactions['lookUp'] {
  const url = config === null ? null : outsideOf(config).solana;
  if (url === null) {
    const silent = unread('transaction_receipts', why('not_configured', { what: SOLANA_NODE }));
    return async () => silent;
  }
  const guard = providerGuard(SOLANA_GUARD, () => performance.now());
  const limits = { timeMs: NODE_LIMITS.deadlineMs, simulated: config?.simulate === true };
  return solanaTransactions({ url: new URL(url), guard, now: nowS, ...limits }).lookUp;
}

const SOLANA_NODE = 'A node of solana';

type Settings = Pick<Config, 'simulate' | 'receiptsDir'>;
const NOTHING_SET: Settings = { simulate: false, receiptsDir: null };

function openFolder(folder: string, simulated: boolean) {
  return receiptsFolder({ folder, simulated, now: nowS });
}

function folderOf({ simulate, receiptsDir }: Settings): string {
  if (receiptsDir !== null) return receiptsDir;
  return simulate ? MADE_UP : resolve('receipts');
}
