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

/** A secret of a chat: digits and letters, as each platform's own may be. */
export const CHAT_KEY = 'Zk3ChatKeyQ7Zk3ChatKeyQ7Zk3ChatKeyQ7';

const slackBot = (status: number, error: string) => saying(status, { ok: false, error });

/** Webhooks of Slack answer words, with a status. */
export const SLACK_WEBHOOK: readonly Fault[] = [
  saying(200, `invalid_payload ${CHAT_KEY}`),
  saying(400, 'invalid_payload'),
  saying(400, 'no_text'),
  saying(400, 'posting_to_general_channel_denied'),
  saying(400, 'too_many_attachments'),
  saying(400, 'user_not_found'),
  saying(403, 'action_prohibited'),
  saying(403, 'invalid_token'),
  saying(404, 'channel_not_found'),
  saying(404, 'no_service'),
  saying(410, 'channel_is_archived'),
  saying(404, 'no_active_hooks'),
  saying(404, 'no_team'),
  saying(403, 'team_disabled'),
  saying(500, 'rollup_error'),
  saying(429, `rate_limited ${CHAT_KEY}`),
  saying(200, '<html><body>ok</body></html>'),
  GATEWAY,
];

/** Bots of Slack are answered 200 whatever happened. */
export const SLACK_BOT: readonly Fault[] = [
  slackBot(200, `invalid_auth ${CHAT_KEY}`),
  ...['channel_not_found', 'not_in_channel', 'invalid_auth', 'is_archived'].map((error) =>
    slackBot(200, error),
  ),
  ...['msg_too_long', 'invalid_blocks', 'ratelimited'].map((error) => slackBot(200, error)),
  slackBot(429, 'ratelimited'),
  saying(200, '{"ok":true,"channel"'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  GATEWAY,
];

const NESTED = { embeds: { 0: { title: { _errors: [{ code: 'BASE', message: CHAT_KEY }] } } } };

/** Webhooks of Discord, and Cloudflare's ban in front of them. */
export const DISCORD: readonly Fault[] = [
  saying(404, { message: `Unknown Webhook ${CHAT_KEY}`, code: 10_015 }),
  saying(204, ''),
  saying(404, { message: 'Unknown Webhook', code: 10_015 }),
  saying(401, { message: 'Invalid Webhook Token', code: 50_027 }),
  saying(400, { message: 'Invalid Form Body', code: 50_035, errors: NESTED }),
  saying(429, { message: 'You are being rate limited.', retry_after: 0.64, global: false }),
  saying(429, { message: 'blocked', retry_after: 65.5, global: true, code: 40_062 }),
  saying(429, '<html><body>Error 1015: You are being rate limited</body></html>'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  saying(200, { message: 'Unknown Webhook', code: 10_015 }),
  GATEWAY,
];

const telegram = (error_code: number, description: string, parameters?: object) =>
  saying(error_code, { ok: false, error_code, description, parameters });

/** The Bot API of Telegram: the status is the code of the error. */
export const TELEGRAM: readonly Fault[] = [
  telegram(401, `Unauthorized: bot1:${CHAT_KEY}`),
  telegram(400, 'Bad Request: group chat was upgraded', { migrate_to_chat_id: -1_001 }),
  telegram(401, 'Unauthorized'),
  telegram(404, 'Not Found'),
  telegram(400, 'Bad Request: chat not found'),
  telegram(400, "Bad Request: can't parse entities: Unsupported start tag"),
  telegram(403, 'Forbidden: bot was blocked by the user'),
  telegram(403, 'Forbidden: bot is not a member of the channel chat'),
  telegram(429, 'Too Many Requests: retry after 7', { retry_after: 7 }),
  saying(200, { ok: false, error_code: 400, description: 'Bad Request: chat not found' }),
  saying(200, '{"ok":true,"result":{"message_id"'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  GATEWAY,
];

/** DexScreener has no table of its errors: what is no list of pairs of the token is none. */
export const VENUE: readonly Fault[] = [
  saying(200, { schemaVersion: '1.0.0', pairs: null }),
  saying(429, ''),
  saying(429, `Too Many Requests ${PATH_KEY}`),
  saying(200, { schemaVersion: '1.0.0', pairs: [] }),
  saying(200, 'null'),
  saying(200, ''),
  saying(200, { error: `no such token at /${PATH_KEY}` }),
  saying(200, '[null]'),
  saying(400, {}),
  saying(403, `<html>Error 1020 ${PATH_KEY}</html>`),
  saying(404, '[]'),
  saying(500, '[]'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  saying(200, '[{"chainId":"ethereum","dexId"'),
  GATEWAY,
];

/** Status pages of bridges, in the words of their interfaces, where a deposit is not named. */
export const STATUS_PAGE: readonly Fault[] = [
  saying(400, { error: 'InvalidParamException', message: `of ${PATH_KEY} and ${KEY}` }),
  saying(200, { errors: [{ message: `Cannot query field of ${PATH_KEY}` }] }),
  saying(401, { message: `no such key ${KEY}` }),
  saying(404, { message: 'Not Found' }),
  saying(404, { code: 3, message: 'INVALID ARGUMENT', details: [{ request_id: PATH_KEY }] }),
  saying(429, { message: 'Too Many Requests' }),
  saying(500, { error: 'InternalServerError', message: 'Something went wrong' }),
  saying(200, { error: 'Transfer not found' }),
  saying(200, { err: { code: 500, msg: 'internal error' }, status: 0 }),
  saying(200, { err: null, status: 5, src_block_tx_link: '', dst_block_tx_link: '' }),
  saying(200, { data: null }),
  saying(200, { data: { bridgeTransactions: null } }),
  saying(200, 'null'),
  saying(200, '[]'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  saying(200, '{"status":"filled","originChainId"'),
  GATEWAY,
];

const goplus = (code: number, message: string) => saying(200, { code, message, result: null });

/** GoPlus: the code counts, and never the status. */
export const GOPLUS: readonly Fault[] = [
  saying(200, { code: 4029, message: 'too many requests' }),
  saying(200, { code: 2, message: 'partial data obtained', result: {} }),
  goplus(2004, 'contract address format error!'),
  goplus(2018, 'ChainID not supported'),
  goplus(2020, 'address is not a contract'),
  goplus(2021, 'no contract information'),
  goplus(5006, 'param error!'),
  goplus(4010, `app_key not exist ${PATH_KEY}`),
  goplus(4011, 'signature expiration'),
  goplus(4012, 'wrong signature'),
  goplus(4022, `invalid access token ${PATH_KEY}`),
  goplus(4023, 'access token not found'),
  goplus(5000, 'system error'),
  saying(429, `too many requests ${PATH_KEY}`),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  GATEWAY,
];

/** RugCheck, of which every answer but a report is none. */
export const RUGCHECK: readonly Fault[] = [
  saying(429, { message: 'Too many requests' }),
  saying(400, { error: `unable to generate report at /${PATH_KEY}` }),
  saying(401, { error: `unauthorized ${KEY}` }),
  saying(404, { error: 'not found' }),
  saying(200, { error: 'not found' }),
  saying(200, { score: 1, score_normalised: 1, risks: [], tokenProgram: '', tokenType: '' }),
  saying(200, '{"mint":"'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  GATEWAY,
];

const S3 = (code: string, words: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${words}</Message></Error>`;

/** The publisher of the list, and the storage that it leads to. */
export const PUBLISHER: readonly Fault[] = [
  saying(403, S3('AccessDenied', 'Request has expired')),
  saying(200, S3('AccessDenied', `Request has expired ${PATH_KEY}`)),
  saying(403, 'Forbidden'),
  saying(404, { error: `Not Found: /${PATH_KEY}` }),
  saying(429, ''),
  saying(503, S3('SlowDown', 'Please reduce your request rate')),
  saying(200, ''),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  saying(200, '<?xml version="1.0"?><sdnList><publshInformation><Publish_Date>'),
  GATEWAY,
];

/** GitHub's REST API where the keys of secret scanning are asked for. */
export const GITHUB: readonly Fault[] = [
  saying(401, { message: `Bad credentials ${PATH_KEY}` }),
  saying(403, { message: 'API rate limit exceeded for 192.0.2.1.' }),
  saying(404, { message: 'Not Found' }),
  saying(429, { message: 'You have exceeded a secondary rate limit.' }),
  saying(200, { message: 'Not Found' }),
  saying(200, { public_keys: [] }),
  saying(200, '{"public_keys":[{"key_identifier"'),
  saying(200, '<html><body>Unicorn!</body></html>'),
  GATEWAY,
];

const openai = (status: number, type: string, message: string, code: unknown = null) =>
  saying(status, { error: { message, type, param: null, code } });
/** An abstention that would be taken of an answer that is whole. */
const PROPOSED = JSON.stringify({ verdict: 'no_opinion', evidence_used: [], sentences: [] });
const choice = (finish_reason: string, content: string | null) =>
  saying(200, { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }] });
const anthropicEnd = (stop_reason: string) =>
  saying(200, { content: [{ type: 'text', text: PROPOSED }], stop_reason });
const anthropic = (status: number, type: string) =>
  saying(status, { type: 'error', error: { type, message: `${type} ${KEY}` }, request_id: null });
/** Language models, by both wires, and what compatible servers say in the place of an answer. */
export const ANALYST: readonly Fault[] = [
  openai(401, 'invalid_request_error', `Incorrect API key provided: ${KEY}`, 'invalid_api_key'),
  ...['length', 'content_filter', 'tool_calls'].map((reason) => choice(reason, PROPOSED)),
  ...['max_tokens', 'refusal', 'pause_turn'].map(anthropicEnd),
  choice('stop', null),
  openai(400, 'invalid_request_error', "'json' must be in the prompt"),
  openai(403, 'permission_error', 'region not supported'),
  openai(404, 'invalid_request_error', 'The model does not exist', 'model_not_found'),
  openai(409, 'conflict', 'try again'),
  openai(422, 'invalid_request_error', 'unprocessable'),
  openai(429, 'requests', 'Rate limit reached', 'rate_limit_exceeded'),
  openai(429, 'insufficient_quota', 'You exceeded your quota', 'insufficient_quota'),
  openai(500, 'server_error', 'The server had an error'),
  openai(200, 'server_error', 'Provider returned error', 502),
  saying(400, { object: 'error', message: `bad ${KEY}`, type: 'BadRequestError', code: 400 }),
  anthropic(400, 'invalid_request_error'),
  anthropic(401, 'authentication_error'),
  anthropic(402, 'billing_error'),
  anthropic(403, 'permission_error'),
  anthropic(404, 'not_found_error'),
  anthropic(413, 'request_too_large'),
  anthropic(429, 'rate_limit_error'),
  anthropic(500, 'api_error'),
  anthropic(504, 'timeout_error'),
  anthropic(529, 'overloaded_error'),
  saying(200, '{"choices":[{"message"'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
  GATEWAY,
];

/** A witness of the log: every status but 200 with a signature of its own is none. */
export const WITNESS: readonly Fault[] = [
  saying(403, `no trusted signature ${PATH_KEY}`),
  saying(200, ''),
  saying(200, '— witness.example/w1 3xwKNQAAAABo53gA\n'),
  saying(400, 'old size above the checkpoint'),
  saying(404, 'unknown origin'),
  saying(409, '7\n'),
  saying(409, 'not a size'),
  saying(422, 'the proof does not verify'),
  saying(200, '<html><body>Bad Gateway</body></html>'),
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
