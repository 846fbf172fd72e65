// A stand-in for tests and the simulated world: the launches of the world as JSON-RPC in the
// encoding `json`, lists newest first with `before`, `until` and `limit`, and faults on demand.

import { HOUR_S, MS_PER_S } from '../chain/time.ts';
import type { WorldLaunch } from './solana-launches.ts';
import { largestAccounts, tokenAccountAt } from './solana-tokens.ts';
import { entryOf, type WorldEntry } from './solana-transactions.ts';
import { answerPage, bodyOf, startStandIn } from './stand-in.ts';

/** The faults that a Solana node can be given. */
export const SOLANA_FAULTS = [
  'rate-limited',
  'html',
  'timeout',
  'error500',
  'cut-body',
  'wrong-network',
  'behind',
  'lagging',
  'pruned',
  'forgets-transactions',
  'broken-transactions',
] as const;
export type SolanaFault = (typeof SOLANA_FAULTS)[number];

/** A Solana node of its own on 127.0.0.1. */
export type StartedSolana = {
  readonly url: URL;
  /** The method and first parameter of every question so far. */
  readonly asked: readonly string[];
  /** The fault of each question, by its method and first parameter. */
  readonly fault: (fault: (method: string, about: string) => SolanaFault | null) => void;
  readonly close: () => Promise<void>;
};

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const BODY_CHARS_MAX = 100_000;
const ASKED_KEPT_MAX = 10_000;
const LIMIT_MAX = 1_000;
/** Slots of the chain, at 400 ms each. */
const SLOTS_PER_S = 2.5;
/** How far a lagging node is behind, which answers as if nothing were wrong. */
const LAG_S = 30 * HOUR_S;

class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Starts a node that shows the launches, the newest first, which `launches` gives at each call, and
 * `others` beside them.
 */
export async function startSolana(
  launches: () => readonly WorldLaunch[],
  others: () => readonly WorldEntry[] = () => [],
): Promise<StartedSolana> {
  const asked: string[] = [];
  let faultOf: (method: string, about: string) => SolanaFault | null = () => null;
  const { origin, close } = await startStandIn((request, response) => {
    void bodyOf(request, BODY_CHARS_MAX).then((body) => {
      const { id, method, params } = questionIn(body);
      const about = String(params[0]);
      if (asked.length < ASKED_KEPT_MAX) asked.push(`${method} ${about}`);
      const fault = faultOf(method, about);
      if (fault === 'timeout') return;
      if (fault === 'error500') return answerPage(response, 500);
      if (fault === 'html') return answerPage(response, 200);
      if (fault === 'rate-limited') return void response.writeHead(429).end();
      const until = headAt(fault);
      const launched = launches();
      const entries = () => {
        const all = [...launched.map(entryOf), ...others()];
        return fault === 'lagging' ? all.filter(({ at }) => at <= until) : all;
      };
      const said = answerMethod({ launches: launched, entries, fault }, method, params);
      const text = JSON.stringify({ jsonrpc: '2.0', ...said, id });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(fault === 'cut-body' ? text.slice(0, -1) : text);
    });
    return true;
  });
  return {
    url: new URL(origin),
    asked,
    fault: (next) => {
      faultOf = next;
    },
    close,
  };
}

type RpcRequest = {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
};

function questionIn(body: string): RpcRequest {
  try {
    const told: unknown = JSON.parse(body);
    const field = (name: string): unknown => Reflect.get(Object(told), name);
    const params = field('params');
    const listed: readonly unknown[] = Array.isArray(params) ? params : [];
    return { id: field('id'), method: String(field('method')), params: listed };
  } catch {
    return { id: null, method: '', params: [] };
  }
}

type Node = {
  readonly launches: readonly WorldLaunch[];
  /** In any order. */
  readonly entries: () => readonly WorldEntry[];
  readonly fault: SolanaFault | null;
};

function answerMethod(node: Node, method: string, params: readonly unknown[]) {
  try {
    const answer = METHODS[method];
    if (answer === undefined) throw new Refused(-32601, 'Method not found');
    if (node.fault === 'behind') throw new Refused(-32005, 'Node is behind by 4242 slots');
    return { result: answer(node, params) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

type Method = (node: Node, params: readonly unknown[]) => unknown;

const METHODS: Readonly<Record<string, Method | undefined>> = {
  getGenesisHash: ({ fault }) =>
    fault === 'wrong-network' ? 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' : MAINNET_GENESIS,
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': '3.0.0', 'feature-set': 1 }),
  getFirstAvailableBlock: () => 0,
  getSlot: (node) => slotAt(headAt(node.fault)),
  getBlockTime: (_node, [slot]) => Math.floor(Number(slot) / SLOTS_PER_S),
  getTokenAccountsByOwner: (node) => inContext(node, []),
  getAccountInfo: (node, [address]) =>
    inContext(node, tokenAccountAt(node.launches, String(address))),
  getMultipleAccounts: (node, [addresses]) => {
    const asked = [addresses].flat();
    return inContext(
      node,
      asked.map((address) => tokenAccountAt(node.launches, String(address))),
    );
  },
  getTokenLargestAccounts: (node, [mint]) => {
    const accounts = largestAccounts(node.launches, String(mint));
    if (accounts === null) throw new Refused(-32602, 'Invalid param: not a Token mint');
    return inContext(node, accounts);
  },
  getSignaturesForAddress: (node, [address, how]) =>
    listSignatures(node, String(address), Object(how)),
  getTransaction: ({ entries, fault }, [signature, how]) => {
    const encoding = Reflect.get(Object(how), 'encoding');
    const version = Reflect.get(Object(how), 'maxSupportedTransactionVersion');
    if (version === undefined)
      throw new Refused(-32015, 'Transaction version (0) is not supported');
    const found = entries().find((one) => one.signature === signature);
    if (found === undefined || fault === 'forgets-transactions') return null;
    if (encoding !== 'json') throw new Refused(-32602, 'this node answers the encoding json');
    const told = found.transaction(slotAt(found.at));
    return fault === 'broken-transactions' ? { ...told, transaction: { signatures: [] } } : told;
  },
};

/** A value as of the slot at which the node is. */
function inContext({ fault }: Node, value: unknown) {
  return { context: { slot: slotAt(headAt(fault)) }, value };
}

function headAt(fault: SolanaFault | null): number {
  return Date.now() / MS_PER_S - (fault === 'lagging' ? LAG_S : 0);
}

function slotAt(at: number): number {
  return Math.floor(at * SLOTS_PER_S);
}

/** The transactions that an account stands in: newest first, of a pruned node the newest alone. */
function listSignatures({ entries, fault }: Node, address: string, how: object): unknown[] {
  const own = entries()
    .filter(({ names }) => names.includes(address))
    .sort((a, b) => b.at - a.at);
  const kept = fault === 'pruned' ? own.slice(0, 1) : own;
  const {
    before,
    until,
    limit = LIMIT_MAX,
  } = Object.assign(Object.create(null), how) as {
    readonly before?: unknown;
    readonly until?: unknown;
    readonly limit?: unknown;
  };
  const from = before === undefined ? 0 : placeOf(kept, before) + 1;
  const end = until === undefined ? kept.length : placeOf(kept, until);
  const most = Math.min(Number(limit), LIMIT_MAX);
  return kept.slice(from, Math.min(end, from + most)).map(({ signature, at }) => {
    const slot = slotAt(at);
    return {
      signature,
      slot,
      blockTime: at,
      err: null,
      memo: null,
      confirmationStatus: 'finalized',
    };
  });
}

function placeOf(entries: readonly WorldEntry[], signature: unknown): number {
  const place = entries.findIndex((one) => one.signature === signature);
  if (place === -1) throw new Refused(-32020, 'before or until signature not found');
  return place;
}
