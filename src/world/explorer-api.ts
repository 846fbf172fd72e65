// A stand-in for tests and the simulated world: Etherscan V2 at `/v2/api`, Blockscout instances at
// `/blockscout/CHAIN_ID`, their words for nothing, their errors as HTTP 200, their windows, and
// their faults on demand, at any call.

import type { ServerResponse } from 'node:http';
import { contractAnswer } from './account-state.ts';
import type { ExplorerChains, ExplorerRow } from './chain-types.ts';
import { deployedCode } from './deployers.ts';
import { evmLaunchAnswer, launchLogs } from './launch-logs.ts';
import { BAD_GATEWAY_PAGE, bodyOf, drip, type StandIn, startStandIn } from './stand-in.ts';

/** The faults that an explorer can be given. */
export const EXPLORER_FAULTS = [
  'rate-limited',
  'notok',
  'pending-internal',
  'truncated-page',
  'cut-body',
  'html',
  'wrong-chain-id',
  'refused-chain',
  'wrong-type',
  'unknown-empty',
  'other-address',
  'window-ended',
  'slow',
  'timeout',
  'error500',
  'cut-connection',
  'lagging',
  'lists-notok',
] as const;
export type ExplorerFault = (typeof EXPLORER_FAULTS)[number];

/** One question, in the order in which they came. */
type ExplorerCall = {
  readonly n: number;
  readonly dialect: 'etherscan' | 'blockscout';
  readonly chainId: number;
  readonly action: string;
  /** Of a list: whose, and from which block on. */
  readonly address: string | null;
  readonly from: number;
};

type ExplorerOptions = {
  readonly chains: ExplorerChains;
  readonly fault: (call: ExplorerCall) => ExplorerFault | null;
};

const LISTS = { txlist: 'native', txlistinternal: 'internal', tokentx: 'token' } as const;
type ListAction = keyof typeof LISTS;

/** Rows of one answer at most, and of all numbered pages of one range together. */
const ROWS_MAX = 1_000;
const WINDOW_ROWS = 10_000;
const BODY_CHARS_MAX = 10_000;

type Question = ExplorerCall & { readonly params: URLSearchParams; readonly block: string | null };
type Answer = { readonly status: number; readonly type: string; readonly text: string };

/** The part of a server that is an explorer: answers its paths, and says whether it did. */
function explorerPart(options: ExplorerOptions): StandIn {
  let calls = 0;
  return (request, response) => {
    const url = new URL(String(request.url), 'http://explorer.invalid');
    const place = placeOf(url);
    if (place === null) return false;
    const n = calls;
    calls += 1;
    void bodyOf(request, BODY_CHARS_MAX).then((body) => {
      const { dialect, chainId } = place;
      const method = place.node ? methodIn(body) : null;
      const action = method === null ? String(url.searchParams.get('action')) : method.method;
      const block = method === null ? url.searchParams.get('tag') : method.block;
      const params = url.searchParams;
      const [address, from] = [params.get('address'), Number(params.get('startblock'))];
      const call = { n, dialect, chainId, action, address, from };
      const question = { ...call, block, params };
      const fault = options.fault(call);
      deliver(response, answerTo(options.chains, question, fault), fault);
    });
    return true;
  };
}

type Place = Pick<ExplorerCall, 'dialect' | 'chainId'> & { readonly node: boolean };

function placeOf(url: URL): Place | null {
  if (url.pathname === '/v2/api') {
    const chainId = Number(url.searchParams.get('chainid'));
    return { dialect: 'etherscan', chainId, node: false };
  }
  const match = /^\/blockscout\/([0-9]+)\/api(\/eth-rpc)?$/.exec(url.pathname);
  if (match === null) return null;
  return { dialect: 'blockscout', chainId: Number(match[1]), node: match[2] !== undefined };
}

function methodIn(body: string): { method: string; block: string | null } {
  const asked: unknown = JSON.parse(body);
  if (typeof asked !== 'object' || asked === null) return { method: '', block: null };
  const params: unknown = Reflect.get(asked, 'params');
  const block: unknown = Array.isArray(params) ? params[0] : null;
  return {
    method: String(Reflect.get(asked, 'method')),
    block: typeof block === 'string' ? block : null,
  };
}

function deliver(response: ServerResponse, answer: Answer, fault: ExplorerFault | null): void {
  if (fault === 'timeout') return;
  const bytes = Buffer.from(answer.text, 'utf8');
  const length = { 'content-type': answer.type, 'content-length': bytes.byteLength };
  response.writeHead(answer.status, length);
  if (fault === 'cut-connection') {
    response.write(bytes.subarray(0, bytes.byteLength / 2), () => response.destroy());
  } else if (fault === 'slow') drip(response, bytes);
  else response.end(bytes);
}

function json(value: unknown): Answer {
  return { status: 200, type: 'application/json; charset=utf-8', text: JSON.stringify(value) };
}

const PENDING = 'Some internal transactions within this block range have not yet been processed';
const QUERY_TIMEOUT = 'Query Timeout occured. Please select a smaller result dataset';
const FREE_PLAN =
  'Free API access is not supported for this chain. Please upgrade your api plan for full ' +
  'chain coverage.';

function answerTo(chains: ExplorerChains, asked: Question, fault: ExplorerFault | null): Answer {
  if (fault === 'html') return { status: 200, type: 'text/html', text: BAD_GATEWAY_PAGE };
  if (fault === 'error500') return { status: 500, type: 'text/html', text: BAD_GATEWAY_PAGE };
  if (fault === 'rate-limited' && asked.dialect === 'blockscout') {
    const text = JSON.stringify({ message: 'Too Many Requests' });
    return { status: 429, type: 'application/json', text };
  }
  if (fault === 'rate-limited') return notOk('Max calls per sec rate limit reached (3/sec)');
  if (fault === 'notok') return notOk(QUERY_TIMEOUT);
  if (fault === 'refused-chain') return notOk(FREE_PLAN);
  if (fault === 'wrong-chain-id' && asked.dialect === 'etherscan') {
    return notOk(
      'Missing or unsupported chainid parameter (required for v2 api), please see chainlist',
    );
  }
  if (asked.action === 'getLogs' && fault === null) return json(launchLogs(chains, asked));
  const told = fault === null ? evmLaunchAnswer(asked.action, asked.params) : null;
  const contract =
    fault === null && told === null ? contractAnswer(asked.action, asked.params) : told;
  if (contract !== null) return json(contract);
  const list = Object.keys(LISTS).find((name): name is ListAction => name === asked.action);
  if (fault === 'lists-notok' && list !== undefined) return notOk(QUERY_TIMEOUT);
  const whole =
    list === undefined ? node(chains, asked, fault) : answerList(chains, asked, list, fault);
  if (fault !== 'cut-body') return whole;
  return { ...whole, text: whole.text.slice(0, Math.floor(whole.text.length / 2)) };
}

function notOk(result: string): Answer {
  return json({ status: '0', message: 'NOTOK', result });
}

function node(chains: ExplorerChains, asked: Question, fault: ExplorerFault | null): Answer {
  const answer = (result: unknown) => json({ jsonrpc: '2.0', id: 1, result });
  const { chainId, action, block } = asked;
  if (fault === 'wrong-type' || fault === 'unknown-empty') return answer(null);
  if (action === 'eth_chainId')
    return answer(hex(fault === 'wrong-chain-id' ? chainId + 1 : chainId));
  if (action === 'eth_blockNumber') return answer(hex(headOf(chains, chainId, fault)));
  if (action === 'eth_getCode') {
    const code = deployedCode(String(asked.address === null ? block : asked.address));
    return answer(code === null ? '0x' : code);
  }
  const account = String(asked.address === null ? block : asked.address).toLowerCase();
  if (action === 'eth_getTransactionCount') {
    return answer(hex(countSigned(chains, chainId, account)));
  }
  if (action === 'eth_getBalance') return answer('0x0');
  if (action === 'balance') return json({ status: '1', message: 'OK', result: '0' });
  const number = Number(block);
  if (action !== 'eth_getBlockByNumber' || !Number.isSafeInteger(number)) {
    return notOk('Error! Missing Or invalid Action name');
  }
  return answer({ number: hex(number), timestamp: hex(chains.timeOf(chainId, number)) });
}

/** How far a lagging explorer is behind, which answers as if nothing were wrong. */
const LAG_BLOCKS = 20_000;

function headOf(chains: ExplorerChains, chainId: number, fault: ExplorerFault | null): number {
  const head = chains.headOf(chainId);
  return fault === 'lagging' ? Math.max(0, head - LAG_BLOCKS) : head;
}

function countSigned(chains: ExplorerChains, chainId: number, account: string): number {
  const rows = chains.rowsOf(chainId, account);
  return rows.filter(({ kind, from }) => kind === 'native' && from === account).length;
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function answerList(
  chains: ExplorerChains,
  asked: Question,
  action: ListAction,
  fault: ExplorerFault | null,
): Answer {
  const { params, dialect, chainId } = asked;
  if (fault === 'wrong-type')
    return json({ status: '1', message: 'OK', result: 'Invalid API Key' });
  if (fault === 'unknown-empty')
    return json({ status: '0', message: 'No data found', result: null });
  const page = Number(params.get('page'));
  const offset = Math.min(Number(params.get('offset')), ROWS_MAX);
  if (page * offset > WINDOW_ROWS || fault === 'window-ended') {
    const message =
      'Result window is too large, PageNo x Offset size must be less than or equal to 10000';
    return json({ status: '0', message, result: null });
  }
  const address = params.get('address')?.toLowerCase();
  const token = String(params.get('contractaddress')).toLowerCase();
  const from = Number(params.get('startblock'));
  const end = params.get('endblock');
  const to = end === null ? Number.POSITIVE_INFINITY : Number(end);
  const known =
    address === undefined ? chains.rowsOfToken(chainId, token) : chains.rowsOf(chainId, address);
  const held = known
    .filter(({ kind, block }) => kind === LISTS[action] && block >= from && block <= to)
    .filter(({ block }) => block <= headOf(chains, chainId, fault));
  const ordered = params.get('sort') === 'desc' ? held.toReversed() : held;
  const rows = ordered.slice((page - 1) * offset, page * offset);
  const shown = fault === 'truncated-page' ? rows.slice(0, Math.ceil(rows.length / 2)) : rows;
  const result = shown.map((row) => WRITERS[action](row, asked, chains));
  if (fault === 'other-address') {
    const stranger = { from: `0x${'9'.repeat(40)}`, to: `0x${'8'.repeat(40)}` };
    return json({
      status: '1',
      message: 'OK',
      result: result.map((one) => ({ ...one, ...stranger })),
    });
  }
  if (fault === 'pending-internal' && action === 'txlistinternal') {
    return json({ status: '2', message: PENDING, result: result.slice(1) });
  }
  if (result.length === 0) return json({ status: '0', message: EMPTY[dialect][action], result });
  return json({ status: '1', message: 'OK', result });
}

const EMPTY: Readonly<Record<ExplorerCall['dialect'], Readonly<Record<ListAction, string>>>> = {
  etherscan: {
    txlist: 'No transactions found',
    txlistinternal: 'No transactions found',
    tokentx: 'No transactions found',
  },
  blockscout: {
    txlist: 'No transactions found',
    txlistinternal: 'No internal transactions found',
    tokentx: 'No token transfers found',
  },
};

type Written = Readonly<Record<string, string>>;
type Writer = (row: ExplorerRow, asked: Question, chains: ExplorerChains) => Written;

function common(row: ExplorerRow, { chainId }: Question, chains: ExplorerChains): Written {
  return {
    blockNumber: String(row.block),
    timeStamp: String(row.at),
    from: row.from,
    to: row.created === undefined ? row.to : '',
    contractAddress: row.created === undefined ? '' : row.created,
    value: row.value.toString(),
    gas: '21000',
    gasUsed: '21000',
    confirmations: String(chains.headOf(chainId) - row.block),
  };
}

const WRITERS: Readonly<Record<ListAction, Writer>> = {
  txlist: (row, asked, chains) => ({
    ...common(row, asked, chains),
    hash: row.tx,
    nonce: '0',
    blockHash: row.tx,
    transactionIndex: '0',
    input: '0x',
    ...(row.success === null
      ? {}
      : { isError: row.success ? '0' : '1', txreceipt_status: row.success ? '1' : '0' }),
  }),
  txlistinternal: (row, asked, chains) => ({
    ...common(row, asked, chains),
    ...(asked.dialect === 'etherscan'
      ? { hash: row.tx, traceId: '0' }
      : { transactionHash: row.tx, index: '0', callType: 'call' }),
    input: '',
    type: row.created === undefined ? 'call' : 'create',
    isError: row.success === false ? '1' : '0',
    errCode: '',
  }),
  tokentx: (row, asked, chains) => ({
    ...common(row, asked, chains),
    hash: row.tx,
    nonce: '0',
    blockHash: row.tx,
    contractAddress: String(row.token?.address),
    tokenName: 'Made up',
    tokenSymbol: row.token === null || row.token.symbol === null ? '' : row.token.symbol,
    tokenDecimal:
      row.token === null || row.token.decimals === null ? '' : String(row.token.decimals),
    ...(asked.dialect === 'blockscout' ? { logIndex: '0' } : {}),
  }),
};

/** A stand-in of its own on 127.0.0.1. */
export type StartedExplorer = {
  /** The endpoint of the Etherscan V2 dialect. */
  readonly etherscan: URL;
  /** The root of a chain's Blockscout instance. */
  readonly blockscout: (chainId: number) => URL;
  /** Every question so far. */
  readonly calls: readonly ExplorerCall[];
  readonly fault: (fault: (call: ExplorerCall) => ExplorerFault | null) => void;
  readonly close: () => Promise<void>;
};

const CALLS_KEPT_MAX = 10_000;

/** Starts a stand-in on a free port of 127.0.0.1. */
export async function startExplorer(chains: ExplorerChains): Promise<StartedExplorer> {
  const calls: ExplorerCall[] = [];
  let faultOf: ExplorerOptions['fault'] = () => null;
  const part = explorerPart({
    chains,
    fault: (call) => {
      if (calls.length < CALLS_KEPT_MAX) calls.push(call);
      return faultOf(call);
    },
  });
  const { origin, close } = await startStandIn(part);
  return {
    etherscan: new URL('/v2/api', origin),
    blockscout: (chainId) => new URL(`/blockscout/${chainId}`, origin),
    calls,
    fault: (next) => {
      faultOf = next;
    },
    close,
  };
}
