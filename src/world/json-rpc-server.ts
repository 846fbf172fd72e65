// Serves simulated nodes at `/rpc/CHAIN_ID`, for tests and the simulated world. A re-org replaces
// the hashes of the newest blocks; the chain's facts stay, in blocks of other hashes.

import type { ServerResponse } from 'node:http';
import type { WorldChains } from './chain-types.ts';
import { type NodeFaultName, nodeAnswer, REORG_DEPTH_MAX } from './json-rpc.ts';
import { answerPage, bodyOf, drip, type StandIn, startStandIn } from './stand-in.ts';

type NodesOptions = {
  readonly chains: WorldChains;
  readonly fault: (chainId: number) => NodeFaultName | null;
  readonly reorgs: (chainId: number) => readonly number[];
};

const BODY_CHARS_MAX = 1_000_000;

/** The part of a server that is the nodes: answers their paths, and says whether it did. */
export function nodesPart(options: NodesOptions): StandIn {
  return (request, response) => {
    const match = /^\/rpc\/([0-9]+)$/.exec(String(request.url).replace(/\?.*$/, ''));
    if (match === null) return false;
    const chainId = Number(match[1]);
    void bodyOf(request, BODY_CHARS_MAX).then((body) => answer(options, chainId, body, response));
    return true;
  };
}

function answer(
  { chains, fault: faultOf, reorgs }: NodesOptions,
  chainId: number,
  body: string,
  response: ServerResponse,
): void {
  const fault = faultOf(chainId);
  if (fault === 'timeout') return;
  if (fault === 'error500' || fault === 'html') {
    answerPage(response, fault === 'html' ? 200 : 500);
    return;
  }
  if (fault === 'rate-limited') {
    const error = { code: -32005, message: 'Too Many Requests' };
    const text = JSON.stringify({ jsonrpc: '2.0', id: null, error });
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' }).end(text);
    return;
  }
  const said = nodeAnswer(
    { chains, chainId, fault: () => fault, reorgs: reorgs(chainId) },
    questionIn(body),
  );
  response.writeHead(200, { 'content-type': 'application/json' });
  const bytes = Buffer.from(JSON.stringify(said), 'utf8');
  if (fault === 'slow') drip(response, bytes);
  else response.end(bytes);
}

/** A body that is no JSON is a question without a method, which a node refuses. */
function questionIn(body: string): unknown {
  try {
    const asked: unknown = JSON.parse(body);
    return asked;
  } catch {
    return null;
  }
}

export type StartedNodes = {
  readonly url: (chainId: number) => URL;
  readonly fault: (fault: NodeFaultName | null) => void;
  /** Replaces the newest blocks of a chain, 1 to 64 of them, by others. */
  readonly reorg: (chainId: number, depth: number) => void;
  readonly close: () => Promise<void>;
};

/** Starts the nodes of the simulated chains on a free port of 127.0.0.1. */
export async function startNodes(chains: WorldChains): Promise<StartedNodes> {
  let fault: NodeFaultName | null = null;
  const reorgs = new Map<number, number[]>();
  const headsOf = (chainId: number): number[] => {
    const known = reorgs.get(chainId);
    if (known !== undefined) return known;
    const made: number[] = [];
    reorgs.set(chainId, made);
    return made;
  };
  const part = nodesPart({ chains, fault: () => fault, reorgs: headsOf });
  const { origin, close } = await startStandIn(part);
  return {
    url: (chainId) => new URL(`${origin}/rpc/${chainId}`),
    fault: (next) => {
      fault = next;
    },
    reorg: (chainId, depth) => {
      if (!(depth >= 1 && depth <= REORG_DEPTH_MAX)) throw new RangeError('a depth of 1 to 64');
      headsOf(chainId).push(chains.headOf(chainId) - depth);
    },
    close,
  };
}
