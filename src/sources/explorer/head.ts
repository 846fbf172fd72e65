// Answers one question: up to which block is a chain's history settled, as its explorer knows it?
// It is read before the lists, which are read up to it: what is younger can still be undone. A
// Blockscout instance is first asked of which chain it is; the wrong one is no source.

import { z } from 'zod';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { outsideRow } from '../http/forms.ts';
import { type CallBudget, ProviderFault } from '../http/provider.ts';
import { ChainRefused, nodeResultIn } from './envelope.ts';
import { askExplorer, type ExplorerChain } from './provider.ts';

/** The newest settled block. `time` is Unix seconds. */
export type SettledHead = { readonly block: number; readonly time: number };

/** What is known of the chains of a source. */
export type HeadReader = {
  /** Gives the settled head of a chain. Throws `ChainRefused` for one that the source refuses. */
  readonly settled: (at: ExplorerChain, budget: CallBudget) => Promise<SettledHead>;
  /** Keeps in mind that the source refuses a chain. */
  readonly refuse: (chain: EvmChainName) => void;
};

/**
 * How far behind the head a block is held to be final, and its lists indexed: about 20 minutes,
 * which is past the finality of each of these chains and well within a tip's maximum age.
 */
const SETTLED_BLOCKS: Readonly<Record<EvmChainName, number>> = {
  ethereum: 100,
  arbitrum: 4_800,
  base: 600,
  bsc: 1_600,
  polygon: 600,
  hyperevm: 1_200,
};

const HEAD_KEPT_S = 30;
const REFUSAL_KEPT_S = 600;
const CHAIN_ID_KEPT_S = 600;

/** Reads heads, each kept for a moment. `now` is Unix seconds. */
export function headReader(now: () => number): HeadReader {
  const heads = new Map<EvmChainName, { readonly head: SettledHead; readonly at: number }>();
  const refused = new Map<EvmChainName, number>();
  const identified = new Map<EvmChainName, number>();
  const isKept = (at: number | undefined, keptS: number) => at !== undefined && now() - at < keptS;

  const settled: HeadReader['settled'] = async (at, budget) => {
    const { chain } = at;
    if (isKept(refused.get(chain), REFUSAL_KEPT_S)) throw new ChainRefused();
    const known = heads.get(chain);
    if (known !== undefined && isKept(known.at, HEAD_KEPT_S)) return known.head;
    try {
      if (at.tellsChainId && !isKept(identified.get(chain), CHAIN_ID_KEPT_S)) {
        await identify(at, budget);
        identified.set(chain, now());
      }
      const head = await settledHead(at, budget);
      heads.set(chain, { head, at: now() });
      return head;
    } catch (error) {
      if (error instanceof ChainRefused) refused.set(chain, now());
      throw error;
    }
  };
  return { settled, refuse: (chain) => void refused.set(chain, now()) };
}

const QUANTITY = /^0x[0-9a-f]{1,13}$/i;
const quantity = z.string().regex(QUANTITY).transform(Number);
const header = outsideRow({ number: quantity, timestamp: quantity });

async function asked<T>(
  at: ExplorerChain,
  budget: CallBudget,
  ...[method, block, schema]: readonly [
    Parameters<ExplorerChain['node']>[0],
    string | null,
    z.ZodType<T>,
  ]
): Promise<T> {
  return askExplorer(at, budget, at.node(method, block), (answer) => {
    const read = schema.safeParse(nodeResultIn(answer));
    if (read.success) return read.data;
    throw new ProviderFault(`answered no ${WANTED[method]} to ${method}`, 'passing');
  });
}

const WANTED = {
  eth_chainId: 'chain id',
  eth_blockNumber: 'block number',
  eth_getBlockByNumber: 'block',
} as const;

async function identify(at: ExplorerChain, budget: CallBudget): Promise<void> {
  const id = await asked(at, budget, 'eth_chainId', null, quantity);
  const { chain_id } = CHAINS[at.chain];
  if (id === chain_id) return;
  throw new ProviderFault(`is of another chain: its chain id is ${id}, not ${chain_id}`, 'lasting');
}

async function settledHead(at: ExplorerChain, budget: CallBudget): Promise<SettledHead> {
  const newest = await asked(at, budget, 'eth_blockNumber', null, quantity);
  const block = newest - SETTLED_BLOCKS[at.chain];
  if (block < 0) throw new ProviderFault(`has only ${newest} blocks, none settled`, 'passing');
  const named = `0x${block.toString(16)}`;
  const { number, timestamp } = await asked(at, budget, 'eth_getBlockByNumber', named, header);
  if (number === block) return { block, time: timestamp };
  throw new ProviderFault(`answered block ${number} where ${block} was asked for`, 'passing');
}
