// What providers answer that is no answer, in their own words: their tables of faults, and what
// stands in front of them. `KEY` and `PATH_KEY` stand where a provider may repeat what it was sent.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { bodyOf } from '../world/stand-in.ts';

/** A short key that is sent in a query or a header, and one that stands in a path. */
export const KEY = 'Q7#z';
export const PATH_KEY = 'Zk3-node-key-Q7';
const BODY_CHARS_MAX = 1_000_000;

/** An answer to whatever is asked; `of` makes the text of the question. */
export type Fault = {
  readonly name: string;
  readonly status: number;
  readonly of: (asked: string) => string;
};

function saying(status: number, body: unknown): Fault {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { name: `${status} ${text}`, status, of: () => text };
}

const WINDOW =
  'Result window is too large, PageNo x Offset size must be less than or equal to 10000';
const envelope = (status: string, message: string, result: unknown) =>
  saying(200, { status, message, result });
const notOk = (reason: string) => envelope('0', 'NOTOK', reason);

/** Etherscan V2: errors come with 200. */
export const ETHERSCAN: readonly Fault[] = [
  envelope('0', WINDOW, null),
  notOk(`Invalid API Key (#err2)|${KEY}`),
  notOk(WINDOW),
  notOk('Max calls per sec rate limit reached (3/sec)'),
  notOk('Max rate limit reached, please use API Key for higher rate limit'),
  notOk('Max daily rate limit reached. 100000 (100%) of 100000 day/limit'),
  notOk('Invalid API Key'),
  notOk('Too many invalid api key attempts, please try again later'),
  notOk('Missing or unsupported chainid parameter (required for v2 api), please see chainlist'),
  notOk('Error! Missing Or invalid Action name'),
  notOk('Error! Invalid address format'),
  notOk('Query Timeout occured. Please select a smaller result dataset'),
  notOk(
    'Free API access is not supported for this chain. Please upgrade your api plan for full ' +
      'chain coverage.',
  ),
  envelope('1', `OK-Missing/Invalid API Key, rate limit of 1/5sec applied ${KEY}`, 'Unexpected'),
  envelope('2', 'Some internal transactions are not processed yet', []),
];

/** Blockscout, of one chain, and what stands in front of it. */
export const BLOCKSCOUT: readonly Fault[] = [
  envelope('0', 'Invalid address format', null),
  saying(403, { message: `restricted: ${PATH_KEY}` }),
  envelope(
    '2',
    'Some internal transactions within this block range have not yet been processed',
    [],
  ),
  envelope('0', WINDOW, null),
  saying(422, { errors: [{ title: 'Invalid value', source: {}, detail: `of ${PATH_KEY}` }] }),
  saying(422, { message: `Unexpected field ${PATH_KEY}` }),
  saying(429, { message: 'Too Many Requests' }),
  saying(404, { message: 'Not found' }),
  saying(502, '<html><body>Bad Gateway</body></html>'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  saying(200, '{"status":"1","message":"OK","result":[{"blockNumber"'),
  saying(200, { jsonrpc: '2.0', id: 1, error: `forbidden ${PATH_KEY}` }),
  saying(200, { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: `bad ${PATH_KEY}` } }),
];

const call = z.looseObject({ id: z.unknown() });

/** A node's own error: its code, its message, and its data where it has any. */
function nodeError(code: number, message: string, data?: unknown): Fault {
  const error = data === undefined ? { code, message } : { code, message, data };
  const answerTo = ({ id }: z.output<typeof call>) => ({ jsonrpc: '2.0', id, error });
  return {
    name: `${code} ${message}`,
    status: 200,
    of: (text) => {
      const asked = z.union([z.array(call), call]).parse(JSON.parse(text));
      return JSON.stringify(Array.isArray(asked) ? asked.map(answerTo) : answerTo(asked));
    },
  };
}

const RANGE = '[0x12cd2c0, 0x12cd2c1]';
const OVER_10000 = `Query returned more than 10000 results. Try with this block range ${RANGE}.`;

/** EVM nodes: the standard errors, and what each provider says to ranges of logs. */
export const EVM_NODE: readonly Fault[] = [
  nodeError(-32_601, `the method does not exist at /${PATH_KEY}`),
  nodeError(-32_700, 'parse error'),
  nodeError(-32_600, 'invalid request'),
  nodeError(-32_602, 'invalid params'),
  nodeError(-32_603, 'internal error'),
  nodeError(-32_000, 'invalid input'),
  nodeError(-32_001, 'resource not found'),
  nodeError(-32_002, 'resource unavailable'),
  nodeError(-32_003, 'transaction rejected'),
  nodeError(-32_004, 'method not supported'),
  nodeError(-32_005, 'limit exceeded'),
  nodeError(-32_006, 'JSON-RPC version not supported'),
  nodeError(4_444, 'Pruned history unavailable'),
  nodeError(3, 'execution reverted', '0x'),
  nodeError(-32_602, 'block range extends beyond current head block'),
  nodeError(-32_602, 'invalid block range params'),
  nodeError(-32_000, 'block 0x12cd2c0 not found'),
  nodeError(-32_005, OVER_10000, { from: '0x12cd2c0', to: '0x12cd2c1', limit: 10_000 }),
  nodeError(-32_602, `Log response size exceeded. This block range should work: ${RANGE}`),
  nodeError(-32_600, `Under the Free tier plan, this block range should work: ${RANGE}`),
  nodeError(-32_614, 'eth_getLogs is limited to a 10,000 range'),
  nodeError(-32_602, 'eth_getLogs is limited to 0 - 50 blocks range'),
  nodeError(-32_602, 'invalid params', 'query exceeds max results 20000, retry with a range'),
  nodeError(-32_602, OVER_10000),
  nodeError(-32_000, 'logs matched by query exceeds limit of 10000'),
  nodeError(-32_000, 'requested too many blocks from 1 to 9000, maximum is set to 2048'),
  nodeError(-32_000, 'block range too large, max range: 5000'),
  nodeError(-32_000, 'exceeded maximum block range: 5000'),
  nodeError(-32_000, 'maximum [from, to] blocks distance: 2000'),
  nodeError(-32_600, 'block range is too wide'),
  nodeError(35, 'ranges over 10000 blocks are not supported on freetier'),
  nodeError(-32_603, 'block range is too wide'),
  nodeError(-32_602, 'Archive requests require a personal token. Get one at a page of ours.'),
  nodeError(-32_029, 'rate limit'),
  nodeError(-32_005, `daily request count exceeded, request rate limited: ${PATH_KEY}`),
  saying(429, `Too many requests for ${PATH_KEY}`),
  saying(413, 'request entity too large'),
  saying(401, { error: `no such project ${PATH_KEY}` }),
  saying(502, '<html><body>Bad Gateway</body></html>'),
  saying(200, '[{"jsonrpc":"2.0","id":1,"result":"0x1'),
];

/** Solana nodes: all of these mean that it was not read. */
export const SOLANA_NODE: readonly Fault[] = [
  nodeError(-32_005, `Node is unhealthy ${PATH_KEY}`, { numSlotsBehind: 42 }),
  nodeError(-32_001, 'Block 5 cleaned up, does not exist on node. First available block: 9'),
  nodeError(-32_004, 'Block not available for slot 1'),
  nodeError(-32_007, 'Slot 1 was skipped, or missing due to ledger jump to recent snapshot'),
  nodeError(-32_009, 'Slot 1 was skipped, or missing in long-term storage'),
  nodeError(-32_010, `${PATH_KEY} excluded from account secondary indexes`),
  nodeError(-32_011, 'Transaction history is not available from this node'),
  nodeError(-32_014, 'Block status not yet available for slot 1'),
  nodeError(-32_015, 'Transaction version (0) is not supported by the requesting client'),
  nodeError(-32_016, 'Minimum context slot has not been reached', { contextSlot: 1 }),
  nodeError(-32_019, 'Failed to query long-term storage; please try again'),
  nodeError(-32_020, 'The before signature was not found'),
  nodeError(-32_021, 'Slot history is not available'),
  saying(429, { jsonrpc: '2.0', error: { code: 429, message: 'Too many requests' }, id: 1 }),
  saying(403, { jsonrpc: '2.0', error: { code: 403, message: `blocked ${PATH_KEY}` }, id: 1 }),
];

const GATEWAY = saying(502, '<html><body>Bad Gateway</body></html>');

/** DefiLlama's prices, those of CoinGecko, and what stands in front of them. */
export const PRICES: readonly Fault[] = [
  saying(429, `Too Many Requests ${PATH_KEY}`),
  saying(200, { coins: null, message: PATH_KEY }),
  saying(400, { message: `invalid coins of ${PATH_KEY}` }),
  saying(403, { message: `no such key ${PATH_KEY}` }),
  saying(401, { status: { error_code: 10_010, error_message: `Invalid API key ${PATH_KEY}` } }),
  saying(429, { status: { error_code: 429, error_message: 'rate limit' } }),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  saying(200, '{"coins":{"ethereum:0x'),
  GATEWAY,
];

/** Hyperliquid: most errors are plain text. */
export const HYPERLIQUID: readonly Fault[] = [
  saying(422, `Failed to deserialize the JSON body into the target type ${PATH_KEY}`),
  saying(500, 'null'),
  saying(200, 'null'),
  saying(429, `rate limited ${PATH_KEY}`),
  saying(200, '[[],'),
  GATEWAY,
];

/** Binance USD-M: `code` and `msg`, and the statuses of its firewall. */
export const BINANCE: readonly Fault[] = [
  saying(400, { code: -1121, msg: 'Invalid symbol.' }),
  saying(429, { code: -1003, msg: `Too many requests; current limit of ${PATH_KEY}` }),
  saying(418, { code: -1003, msg: `Way too many requests; IP banned ${PATH_KEY}` }),
  saying(403, `<html>${PATH_KEY}</html>`),
  saying(451, { code: 0, msg: 'Service unavailable from a restricted location' }),
  saying(200, { code: -1000, msg: 'An unknown error occurred' }),
  GATEWAY,
];

const retCode = (code: number, retMsg: string) =>
  saying(200, { retCode: code, retMsg, result: {}, retExtInfo: {}, time: 1 });

/** Bybit v5: errors come with 200 and a `retCode`. */
export const BYBIT: readonly Fault[] = [
  retCode(10_006, `Too many visits. Exceeded the API Rate Limit. ${PATH_KEY}`),
  saying(403, `access too frequent ${PATH_KEY}`),
  retCode(10_001, 'Request parameter error'),
  retCode(10_002, 'The request time exceeds the time window range'),
  retCode(10_009, 'IP has been banned'),
  retCode(10_024, 'Compliance rules triggered'),
  retCode(10_016, 'Server error'),
  retCode(10_017, `Route not found: /${PATH_KEY}`),
  retCode(10_429, 'System level frequency protection'),
  saying(429, 'System level frequency protection'),
  GATEWAY,
];

/** A running provider that answers everything in one way, and how often it was asked. */
export type FaultyProvider = {
  readonly url: string;
  readonly asked: () => number;
  readonly close: () => void;
};

/** Starts it on a free port of 127.0.0.1. */
export async function startFaulty({ status, of }: Fault): Promise<FaultyProvider> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    void bodyOf(request, BODY_CHARS_MAX).then((text) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(of(text));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
