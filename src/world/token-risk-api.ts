// Stand-ins of GoPlus and RugCheck for tests and the simulated world, in their own wire formats,
// with faults on demand. Throttling of GoPlus is HTTP 200 with a code, of RugCheck HTTP 429.

import type { ServerResponse } from 'node:http';
import { answerPage, startStandIn } from './stand-in.ts';

/** The faults that they can be given. */
export const TOKEN_RISK_FAULTS = [
  'rate-limited',
  'syncing',
  'other-token',
  'html',
  'wrong-shape',
  'cut-body',
  'timeout',
  'error500',
] as const;
export type TokenRiskFault = (typeof TOKEN_RISK_FAULTS)[number];

/** What a stand-in says of a token: that it is bad or good, or that it knows nothing of it. */
export type RiskOpinion = 'bad' | 'good' | 'unknown';

type Opinions = {
  /** Of a contract of Ethereum, in lower case. */
  readonly goplus: (contract: string) => RiskOpinion;
  /** Of a mint of Solana. */
  readonly rugcheck: (mint: string) => RiskOpinion;
};

export type StartedTokenRisk = {
  /** The root of both: their paths do not meet. */
  readonly url: URL;
  /** The path of every question so far. */
  readonly asked: readonly string[];
  readonly fault: (fault: TokenRiskFault | null) => void;
  readonly close: () => Promise<void>;
};

const SECURITY = /^\/api\/v1\/token_security\/1\?contract_addresses=(0x[0-9a-fA-F]{40})$/;
const ACCESS = '/api/v1/token';
const REPORT = /^\/v1\/tokens\/([1-9A-HJ-NP-Za-km-z]{32,44})\/report$/;
const OTHER = 'So11111111111111111111111111111111111111112';
const OTHER_CONTRACT = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const ASKED_KEPT_MAX = 10_000;

/** Starts both on a free port of 127.0.0.1. */
export async function startTokenRisk(opinions: Opinions): Promise<StartedTokenRisk> {
  const asked: string[] = [];
  let fault: TokenRiskFault | null = null;
  const { origin, close } = await startStandIn((request, response) => {
    const path = String(request.url);
    if (asked.length < ASKED_KEPT_MAX) asked.push(path);
    if (path === ACCESS && request.method === 'POST') {
      answer(response, 200, wrapResult({ access_token: 'made-up-token', expires_in: 7_200 }));
      return true;
    }
    const contract = SECURITY.exec(path)?.[1];
    const mint = REPORT.exec(path)?.[1];
    if (contract === undefined && mint === undefined) return false;
    if (fault === 'timeout') return true;
    if (fault === 'error500') answerPage(response, 500);
    else if (fault === 'html') answerPage(response, 200);
    else if (fault === 'wrong-shape') answer(response, 200, { result: null });
    else if (contract !== undefined) answerGoplus(response, contract, opinions, fault);
    else if (mint !== undefined) answerRugcheck(response, mint, opinions, fault);
    return true;
  });
  return {
    url: new URL(origin),
    asked,
    fault: (next) => {
      fault = next;
    },
    close,
  };
}

function wrapResult(result: object) {
  return { code: 1, message: 'OK', result };
}

function answer(response: ServerResponse, status: number, body: object, isCut = false): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(isCut ? text.slice(0, -1) : text);
}

function answerGoplus(
  response: ServerResponse,
  contract: string,
  { goplus }: Opinions,
  fault: TokenRiskFault | null,
): void {
  if (fault === 'rate-limited') {
    answer(response, 200, { code: 4029, message: 'too many requests' });
    return;
  }
  if (fault === 'syncing') {
    answer(response, 200, { code: 2, message: 'partial data obtained', result: {} });
    return;
  }
  const opinion = goplus(contract.toLowerCase());
  const bad = opinion === 'bad' ? '1' : '0';
  const about = fault === 'other-token' ? OTHER_CONTRACT : contract.toLowerCase();
  const token = {
    is_open_source: '1',
    is_proxy: '0',
    is_honeypot: bad,
    cannot_sell_all: bad,
    is_in_dex: '1',
    buy_tax: '0',
    sell_tax: opinion === 'bad' ? '1' : '',
    holder_count: '12',
    token_name: 'Made up',
    token_symbol: 'MADE',
  };
  answer(
    response,
    200,
    wrapResult(opinion === 'unknown' ? {} : { [about]: token }),
    fault === 'cut-body',
  );
}

function answerRugcheck(
  response: ServerResponse,
  mint: string,
  { rugcheck }: Opinions,
  fault: TokenRiskFault | null,
): void {
  if (fault === 'rate-limited' || fault === 'syncing') {
    answer(response, 429, { message: 'Too many requests' });
    return;
  }
  const opinion = rugcheck(mint);
  if (opinion === 'unknown') {
    answer(response, 400, { error: 'unable to find token' });
    return;
  }
  const danger = {
    name: 'Low Liquidity',
    value: '$0.00',
    description: 'Low amount of liquidity in the token pool',
    score: 5_000,
    level: 'danger',
  };
  const report = {
    mint: fault === 'other-token' ? OTHER : mint,
    tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    token: { mintAuthority: null, freezeAuthority: null, supply: 10 ** 15, decimals: 6 },
    risks: opinion === 'bad' ? [danger] : [],
    score: opinion === 'bad' ? 5_001 : 1,
    score_normalised: opinion === 'bad' ? 62 : 1,
    rugged: false,
    markets: null,
    topHolders: null,
    insiderNetworks: null,
  };
  answer(response, 200, report, fault === 'cut-body');
}
