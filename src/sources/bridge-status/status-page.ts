// Reads the status of a deposit from its protocol's own page. The status is the page's statement,
// never a chain's. Each request names one deposit, and an answer that does not name the same one is
// a failure.

import { z } from 'zod';
import { CHAINS } from '../../chain/chain.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BridgeArrivals,
  BridgeProtocol,
  DepositStatus,
  StatusPage,
  StatusQuery,
} from '../../ports/bridges.ts';
import {
  fetchJson,
  type JsonAsk,
  type JsonLimits,
  outsideBody,
  outsideRow,
  WORD,
} from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import { ProviderFault, type ProviderGuard, readProvider } from '../http/provider.ts';

const PORT = 'bridge_arrivals';
const HTTP_OK = 200;
const LIMITS: JsonLimits = { deadlineMs: 8_000, bytesMax: 2 ** 20 };
/** One question, and once more after a passing failure. */
const CALLS_MAX = 2;

/** A page that is set. `key` goes as a bearer token, as Across asks for one. */
type SetPage = { readonly url: URL; readonly key: string | null; readonly guard: ProviderGuard };

type StatusPagesOptions = {
  readonly pages: ReadonlyMap<StatusPage, SetPage>;
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
};

export function statusPages(
  options: StatusPagesOptions,
): Pick<BridgeArrivals, 'pageOf' | 'statusOf'> {
  const { pages, now, timeMs } = options;
  const setFor = (protocol: BridgeProtocol) => {
    const reader = READERS.find((one) => one.protocols.includes(protocol));
    const set = reader === undefined ? undefined : pages.get(reader.page);
    return reader === undefined || set === undefined ? null : { reader, ...set };
  };
  return {
    pageOf: (protocol) => {
      const set = setFor(protocol);
      return set === null ? null : set.reader.page;
    },
    statusOf: async (asked, signal) => {
      const set = setFor(asked.protocol);
      if (set === null) return unread(PORT, why('not_configured', { what: 'A status page' }));
      const { reader, url, key, guard } = set;
      const { page } = reader;
      const question = reader.question(url, asked);
      if (question === null) return unread(PORT, why('status_page_unasked', { page }));
      const shown = originText(url);
      const ask =
        key === null ? question : { ...question, headers: { authorization: `Bearer ${key}` } };
      const toReason = (fault: string) => why('provider_failed', { provider: shown, fault });
      const provider = { name: `${page} ${shown}`, url: shown, simulated: false, now, toReason };
      const limits = { timeMs, callsMax: CALLS_MAX, signal };
      const told = await readProvider(PORT, provider, limits, (budget) =>
        guard.ask(budget, (within) => askPage(reader, ask, asked, within)),
      );
      const late = !told.checked && told.why.code === 'time_budget';
      return late ? unread(PORT, why('arrivals_out_of_time')) : told;
    },
  };
}

type Question = NonNullable<ReturnType<PageReader['question']>> & Pick<JsonAsk, 'headers'>;

async function askPage(
  reader: PageReader,
  question: Question,
  asked: StatusQuery,
  signal: AbortSignal,
): Promise<DepositStatus> {
  const { page } = reader;
  let isKnown = true;
  const isAnswer = (status: number, said: unknown) => {
    isKnown = !isNotKnown(page, status, said);
    return !isKnown;
  };
  const answer = await fetchJson({ ...question, isAnswer, limits: LIMITS, signal });
  if (!isKnown || isNotKnown(page, HTTP_OK, answer)) {
    return { page, state: 'unknown', tx: null, word: 'unknown' };
  }
  return { page, ...reader.read(answer, asked) };
}

/** One page. `read` throws `ProviderFault` where an answer is no such answer, or another's. */
export type PageReader = {
  readonly page: StatusPage;
  readonly protocols: readonly BridgeProtocol[];
  /** `null` where the deposit bears nothing that the page is asked by. */
  readonly question: (
    root: URL,
    asked: StatusQuery,
  ) => { readonly url: URL; readonly body: unknown } | null;
  readonly read: (answer: unknown, asked: StatusQuery) => Omit<DepositStatus, 'page'>;
};

/** An address below a page's root. */
export function below(root: URL, path: string, query?: Readonly<Record<string, string>>): URL {
  const url = new URL(root);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  if (query !== undefined) url.search = new URLSearchParams(query).toString();
  return url;
}

/** An answer under its schema. */
export function parseAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const told = schema.safeParse(answer);
  if (!told.success) throw new ProviderFault('answered JSON of another shape', 'passing');
  return told.data;
}

/** Refuses an answer that names another deposit. */
export function sameDeposit(isSame: boolean): void {
  if (!isSame) throw new ProviderFault('answered of another deposit', 'lasting');
}

/** Whether an id is one of 32 bytes. */
export function isHash(id: string | null): id is string {
  return id !== null && /^0x[0-9a-f]{64}$/.test(id);
}

/** The payment: a page that reports one without a transaction has not located it. */
export function paymentIn(tx: string | null | undefined, word: string) {
  if (tx === null || tx === undefined) return { state: 'unknown', tx: null, word } as const;
  return { state: 'paid', tx, word } as const;
}

// Any other answer without a status is a failure, not a statement of the page.

type Empty = { readonly status: number; readonly body: z.ZodType };

const EMPTIES: { readonly [P in StatusPage]: Empty | null } = {
  // across-protocol/indexer, packages/indexer-api/src/services/exceptions.ts.
  across_status: {
    status: 404,
    body: outsideBody({ error: z.literal('DepositNotFoundException') }),
  },
  // docs.layerzero.network/v2/tools/layerzeroscan: the list of a new message is empty.
  layerzero_scan: { status: 200, body: outsideBody({ data: z.tuple([]) }) },
  // wormhole-foundation/wormhole-explorer, api/response/error.go: 5 is gRPC's NotFound.
  wormholescan: { status: 404, body: outsideBody({ code: z.literal(5) }) },
  // celer-network/sgn-v2, gateway: GetTransferStatus of a transfer that is not in its table.
  cbridge_status: {
    status: 200,
    body: outsideBody({ err: outsideRow({ msg: z.literal('transfer not found') }) }),
  },
  // synapsecns/sanguine, packages/rest-api/src/controllers/destinationTxController.ts.
  synapse_explorer: {
    status: 200,
    body: outsideBody({ data: outsideRow({ bridgeTransactions: z.tuple([]) }) }),
  },
  // hop-protocol/hop, packages/api/src/server.ts: every failure is one `error`, whatever failed.
  hop_status: null,
};

/** Whether an answer says that the page does not know what it was asked about. */
export function isNotKnown(page: StatusPage, status: number, answer: unknown): boolean {
  const empty = EMPTIES[page];
  return empty !== null && empty.status === status && empty.body.safeParse(answer).success;
}

// Across: `GET deposit/status?originChainId&depositId`. Format:
// docs.across.to/api-reference/deposit/status/get, and its source, across-protocol/indexer
// packages/indexer-api/src/services/deposits.ts (`getDepositStatus`).

/** A transaction of Solana. */
const BASE58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/);

const ACROSS_ANSWER = outsideBody({
  status: z.enum(['pending', 'filled', 'slowFillRequested', 'slowFilled', 'expired', 'refunded']),
  originChainId: z.number(),
  depositId: z.union([z.string(), z.number()]),
  depositTxnRef: z.string().nullish(),
  fillTxnRef: z.union([WORD, BASE58]).nullish(),
  destinationChainId: z.number().nullable(),
});

export const ACROSS: PageReader = {
  page: 'across_status',
  protocols: ['across'],
  question: (root, { message_id: id }) => {
    const [originChainId, depositId] = id === null ? [] : id.split('/');
    if (originChainId === undefined || depositId === undefined) return null;
    return { url: below(root, 'deposit/status', { originChainId, depositId }), body: null };
  },
  read: (answer, { chain, tx, message_id, destination_id }) => {
    const { status, ...said } = parseAnswer(ACROSS_ANSWER, answer);
    const { depositTxnRef: sent, destinationChainId: there } = said;
    sameDeposit(
      said.originChainId === CHAINS[chain].chain_id &&
        `${said.originChainId}/${said.depositId}` === message_id &&
        (sent === null || sent === undefined || sent.toLowerCase() === tx) &&
        (there === null || destination_id === null || there === destination_id),
    );
    if (status === 'filled' || status === 'slowFilled') return paymentIn(said.fillTxnRef, status);
    const over = status === 'expired' || status === 'refunded';
    return { state: over ? 'stopped' : 'under_way', tx: null, word: status };
  },
};

// cBridge's gateway: `POST v2/getTransferStatus {transfer_id}`. Format and words:
// cbridge-docs.celer.network, "Gateway: GetTransferStatus", and its source, celer-network/sgn-v2
// gateway. It names the transactions once their funds are to be released.

const CBRIDGE_ANSWER = outsideBody({
  err: z.null(),
  status: z.int(),
  src_block_tx_link: z.string(),
  dst_block_tx_link: z.string(),
});

const COMPLETED = 5;
const WORDS: ReadonlyMap<number, readonly [state: 'under_way' | 'stopped', word: string]> = new Map(
  [
    [2, ['stopped', 'TRANSFER_FAILED']],
    [4, ['under_way', 'TRANSFER_WAITING_FOR_FUND_RELEASE']],
    [6, ['stopped', 'TRANSFER_TO_BE_REFUNDED']],
    [7, ['stopped', 'TRANSFER_REQUESTING_REFUND']],
    [8, ['stopped', 'TRANSFER_REFUND_TO_BE_CONFIRMED']],
    [9, ['stopped', 'TRANSFER_CONFIRMING_YOUR_REFUND']],
    [10, ['stopped', 'TRANSFER_REFUNDED']],
  ],
);

/** The page of Celer's cBridge. */
export const CBRIDGE: PageReader = {
  page: 'cbridge_status',
  protocols: ['celer'],
  question: (root, { message_id: id }) => {
    if (!isHash(id)) return null;
    return { url: below(root, 'v2/getTransferStatus'), body: { transfer_id: id.slice(2) } };
  },
  read: (answer, { tx }) => {
    const {
      status,
      src_block_tx_link: from,
      dst_block_tx_link: to,
    } = parseAnswer(CBRIDGE_ANSWER, answer);
    const [state, word] = WORDS.get(status) ?? UNTOLD;
    // Until then it names no transaction, so that nothing shows of which transfer it speaks.
    if (status === COMPLETED || state === 'under_way') sameDeposit(hashIn(from) === tx);
    if (status === COMPLETED) return paymentIn(parseAnswer(WORD, hashIn(to)), 'TRANSFER_COMPLETED');
    return { state, tx: null, word };
  },
};

const UNTOLD = ['unknown', 'not told'] as const;

/** The transaction at the end of a link to an explorer. */
function hashIn(link: string): string {
  return link.slice(link.lastIndexOf('/') + 1).toLowerCase();
}

// Hop's API: `GET v1/transfer-status?transferId`, or `transactionHash` from Ethereum, where a
// transfer has no id. Format: docs.hop.exchange/developer-docs/api, and its source,
// hop-protocol/hop packages/api/src/server.ts. A transfer that no bonder paid may be paid later,
// without a bond, which the API does not report: it then has no status.

const TRANSFER = outsideBody({
  transferId: WORD.nullish(),
  transactionHash: WORD,
  sourceChainId: z.number(),
  destinationChainId: z.number(),
  recipientAddress: z.string(),
  amount: z.string(),
  bonded: z.boolean(),
  bondTransactionHash: WORD.nullish(),
});
// A transaction with several transfers is answered by a list.
const HOP_ANSWER = z.union([z.array(TRANSFER).min(1).max(100), TRANSFER.transform((one) => [one])]);

export const HOP: PageReader = {
  page: 'hop_status',
  protocols: ['hop'],
  question: (root, { message_id: id, tx, terms }) => {
    if (isHash(id))
      return { url: below(root, 'v1/transfer-status', { transferId: id }), body: null };
    if (id !== null || terms === null || !isHash(tx)) return null;
    return { url: below(root, 'v1/transfer-status', { transactionHash: tx }), body: null };
  },
  read: (answer, { chain, tx, message_id, destination_id, terms }) => {
    const told = parseAnswer(HOP_ANSWER, answer).filter(
      (one) =>
        one.transactionHash === tx &&
        one.sourceChainId === CHAINS[chain].chain_id &&
        one.destinationChainId === destination_id &&
        (message_id === null || one.transferId === message_id) &&
        (message_id !== null || isOn(terms, one)),
    );
    const [own] = told;
    // Two that are alike in all that is known of it could be either's.
    sameDeposit(own !== undefined && told.length === 1);
    if (own?.bonded !== true) return { state: 'unknown', tx: null, word: 'not bonded' };
    return paymentIn(own.bondTransactionHash, 'bonded');
  },
};

/** Whether a transfer is on the terms by which it is known where it has no id. */
function isOn(terms: StatusQuery['terms'], one: z.output<typeof TRANSFER>): boolean {
  return terms?.recipient === one.recipientAddress.toLowerCase() && terms.amount === one.amount;
}

// LayerZero Scan: `GET messages/guid/{guid}`, for Stargate's deposits too. Format and words:
// docs.layerzero.network/v2/tools/layerzeroscan/api, and its OpenAPI document.

const STATUSES = {
  INFLIGHT: 'under_way',
  CONFIRMING: 'under_way',
  DELIVERED: 'paid',
  // Each of these waits for somebody: to retry it, to configure its path, or for ever.
  FAILED: 'stopped',
  PAYLOAD_STORED: 'stopped',
  BLOCKED: 'stopped',
  APPLICATION_BURNED: 'stopped',
  APPLICATION_SKIPPED: 'stopped',
} as const;
type Status = keyof typeof STATUSES;

const TX = outsideRow({ txHash: WORD.nullish() }).nullish();
const MESSAGE = outsideRow({
  guid: WORD,
  source: outsideRow({ tx: TX }).nullish(),
  destination: outsideRow({ tx: TX }).nullish(),
  status: outsideRow({ name: z.enum(Object.keys(STATUSES) as [Status, ...Status[]]) }),
});
const LAYERZERO_ANSWER = outsideBody({ data: z.array(MESSAGE).min(1).max(8) });

export const LAYERZERO_SCAN: PageReader = {
  page: 'layerzero_scan',
  protocols: ['layerzero', 'stargate'],
  question: (root, { message_id: guid }) =>
    isHash(guid) ? { url: below(root, `messages/guid/${guid}`), body: null } : null,
  read: (answer, { tx, message_id }) => {
    const { data } = parseAnswer(LAYERZERO_ANSWER, answer);
    const [message] = data;
    if (message === undefined) throw new TypeError('a list of at least one has a first');
    const { guid, source, destination, status } = message;
    const sent = source?.tx?.txHash;
    const isOwn = guid === message_id && (sent === undefined || sent === null || sent === tx);
    sameDeposit(isOwn && data.length === 1);
    const state = STATUSES[status.name];
    if (state === 'paid') return paymentIn(destination?.tx?.txHash, status.name);
    return { state, tx: null, word: status.name };
  },
};

// Synapse's explorer: GraphQL, `bridgeTransactions` of the transaction. Query and fields:
// synapsecns/sanguine, packages/rest-api/src/utils/fetchBridgeTransaction.ts. A deposit without its
// other side may have been refunded, which the explorer does not report: it then has no status.

const SIDE = outsideRow({ chainID: z.int(), txnHash: WORD });
const ROW = outsideRow({ kappa: z.string(), fromInfo: SIDE.nullable(), toInfo: SIDE.nullable() });
const SYNAPSE_ANSWER = outsideBody({
  data: outsideRow({ bridgeTransactions: z.array(ROW).min(1).max(100) }),
});

export const SYNAPSE: PageReader = {
  page: 'synapse_explorer',
  protocols: ['synapse'],
  question: (root, { chain, tx, message_id }) => {
    if (!isHash(message_id) || !isHash(tx)) return null;
    const from = `useMv: true, chainIDFrom: ${CHAINS[chain].chain_id}, txnHash: "${tx}"`;
    const sides = 'fromInfo { chainID txnHash } toInfo { chainID txnHash }';
    return {
      url: root,
      body: { query: `{ bridgeTransactions(${from}) { kappa ${sides} } }` },
    };
  },
  read: (answer, { chain, tx, message_id, destination_id }) => {
    const rows = parseAnswer(SYNAPSE_ANSWER, answer).data.bridgeTransactions;
    // A transaction may hold several deposits: this one is known by its id.
    const own = rows.find(
      ({ kappa }) => `0x${kappa.toLowerCase().replace(/^0x/, '')}` === message_id,
    );
    const from = own?.fromInfo;
    sameDeposit(from?.txnHash === tx && from.chainID === CHAINS[chain].chain_id);
    const to = own?.toInfo;
    if (to === null || to === undefined) return { state: 'unknown', tx: null, word: 'no toInfo' };
    sameDeposit(destination_id === null || to.chainID === destination_id);
    return paymentIn(to.txnHash, 'toInfo');
  },
};

// Wormholescan: `GET api/v1/operations/{chain}/{emitter}/{sequence}`. Format:
// wormhole-foundation/wormhole-explorer, api/routes/wormscan/operations/response.go; words: its
// common/domain/const.go. Without a target it has seen no redemption, which denies none.

const WORMHOLE_ANSWER = outsideBody({
  id: z.string(),
  sourceChain: outsideRow({
    transaction: outsideRow({ txHash: z.string(), secondTxHash: z.string().nullish() }),
  }).nullish(),
  targetChain: outsideRow({
    status: z.string(),
    transaction: outsideRow({ txHash: z.string() }),
  }).nullish(),
});

const TOKEN_TRANSFER = /^(\d+)\/0x([0-9a-f]{64})\/(\d+)$/;

/** An id as the page writes it: its emitter without the sign of hex. */
function idOf(message_id: string | null): string | null {
  const [, chain, emitter, sequence] = listOrNone(TOKEN_TRANSFER.exec(String(message_id)));
  return emitter === undefined ? null : `${chain}/${emitter}/${sequence}`;
}

/** The page of Wormhole. */
export const WORMHOLESCAN: PageReader = {
  page: 'wormholescan',
  protocols: ['wormhole'],
  question: (root, { message_id }) => {
    const id = idOf(message_id);
    return id === null ? null : { url: below(root, `api/v1/operations/${id}`), body: null };
  },
  read: (answer, { tx, message_id }) => {
    const { id, sourceChain, targetChain } = parseAnswer(WORMHOLE_ANSWER, answer);
    const sent = sourceChain === null || sourceChain === undefined ? null : sourceChain.transaction;
    const hashes = sent === null ? [tx] : [sent.txHash, sent.secondTxHash].map(plain);
    sameDeposit(id === idOf(message_id) && hashes.includes(tx));
    if (targetChain === null || targetChain === undefined) {
      return { state: 'unknown', tx: null, word: 'no target' };
    }
    const { status, transaction } = targetChain;
    if (status !== 'completed') return { state: 'unknown', tx: null, word: 'not completed' };
    return paymentIn(parseAnswer(WORD, plain(transaction.txHash)), status);
  },
};

/** It writes the hash of an EVM transaction with the sign of hex or without. */
function plain(hash: string | null | undefined): string {
  return `0x${String(hash).toLowerCase().replace(/^0x/, '')}`;
}

const READERS: readonly PageReader[] = [
  ...[ACROSS, LAYERZERO_SCAN, WORMHOLESCAN],
  ...[CBRIDGE, SYNAPSE, HOP],
];
