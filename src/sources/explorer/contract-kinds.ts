// What is a contract, by a node where there is one, else by what its explorer passes on or holds?
// Code and calls decide. Where nobody passes calls on, the published source's interface does; an
// unpublished one leaves it undecided.

import { z } from 'zod';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ContractKind, ContractKinds } from '../../ports/launches/deployer-walk.ts';
import { contractKindOf } from '../evm/contract-kind.ts';
import { asker } from '../evm/node-of-account.ts';
import { type StateAsk, StateFault } from '../evm/state-facts-of-account.ts';
import { outsideRow } from '../http/forms.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { jsonIn } from '../http/json-text.ts';
import { ProviderFault, withBudget } from '../http/provider.ts';
import { stateAnswer, whyOf } from './account-facts.ts';
import { type WalkExplorer, walkSource } from './deployer-creations.ts';
import { saysUnverified } from './empties.ts';
import { resultIn } from './envelope.ts';
import { askExplorer } from './provider.ts';

const PORT = 'contract_kinds';
type Told = Reading<ContractKind, typeof PORT>;

/** Kinds of contracts. `node`: a node of the same chain, or `null`. */
export function contractKinds(explorer: WalkExplorer, node: JsonRpc | null): ContractKinds {
  return {
    kindOf: async (contract, signal) => {
      const byNode = node === null ? null : await askedOfNode(explorer, node, contract, signal);
      if (byNode?.checked === true) return byNode;
      const byCalls = await askedOfExplorer(explorer, contract, signal);
      if (byCalls.checked) return byCalls;
      const bySource = await publishedInterface(explorer, contract, signal);
      if (bySource.checked) return bySource;
      return byNode === null ? byCalls : byNode;
    },
  };
}

async function askedOfNode(
  { simulated, now }: WalkExplorer,
  rpc: JsonRpc,
  contract: string,
  signal: AbortSignal,
): Promise<Told> {
  const source: Source = {
    name: 'Node',
    url: rpc.shown,
    as_of: now(),
    kind: 'observation',
    simulated,
  };
  try {
    return read(await contractKindOf(asker(rpc, signal), contract), { port: PORT, source });
  } catch (error) {
    if (!(error instanceof StateFault || error instanceof RpcFault)) throw error;
    const fault = error instanceof RpcFault ? error.fault : error.message;
    return unread(PORT, why('provider_failed', { provider: rpc.shown, fault }));
  }
}

async function askedOfExplorer(
  explorer: WalkExplorer,
  contract: string,
  signal: AbortSignal,
): Promise<Told> {
  const { at, timeMs, callsMax } = explorer;
  try {
    const kind = await withBudget({ timeMs, callsMax, signal }, (budget) => {
      const ask: StateAsk = (call) =>
        askExplorer(at, budget, at.state(call), (answer) => stateAnswer(at, answer));
      return contractKindOf(ask, contract);
    });
    return read(kind, { port: PORT, source: walkSource(explorer) });
  } catch (error) {
    return unread(PORT, whyOf(error, at));
  }
}

const sourceRow = outsideRow({
  SourceCode: z.string().optional(),
  ABI: z.string().optional(),
  Proxy: z.string().optional(),
});
const abiItem = outsideRow({
  type: z.string(),
  name: z.string().optional(),
  inputs: z.array(outsideRow({ type: z.string() })).optional(),
});

async function publishedInterface(
  explorer: WalkExplorer,
  contract: string,
  signal: AbortSignal,
): Promise<Told> {
  const { at, timeMs, callsMax } = explorer;
  const params = { module: 'contract', action: 'getsourcecode', address: contract };
  try {
    const kind = await withBudget({ timeMs, callsMax, signal }, (budget) =>
      askExplorer(at, budget, at.list(params), (answer) => {
        const rows = z.tuple([sourceRow]).safeParse(resultIn(answer)?.result);
        if (!rows.success) throw new ProviderFault('answered another shape (source)', 'passing');
        return kindByInterface(rows.data[0]);
      }),
    );
    return read(kind, { port: PORT, source: walkSource(explorer) });
  } catch (error) {
    return unread(PORT, whyOf(error, at));
  }
}

const ERC20 = [
  'totalSupply()',
  'balanceOf(address)',
  'transfer(address,uint256)',
  'transferFrom(address,address,uint256)',
];
const POOL = ['token0()', 'token1()', 'getReserves()'];

function kindByInterface({
  SourceCode,
  ABI,
  Proxy: proxy,
}: z.output<typeof sourceRow>): ContractKind {
  if (saysUnverified(SourceCode, ABI) || ABI === undefined || proxy === '1') return 'undecided';
  const items = z.array(abiItem).safeParse(jsonIn(ABI));
  if (!items.success) return 'undecided';
  const has = new Set(
    items.data
      .filter(({ type }) => type === 'function')
      .map(({ name, inputs }) => `${name}(${inputs?.map((one) => one.type).join()})`),
  );
  if (POOL.every((one) => has.has(one)) || has.has('ownerOf(uint256)')) return 'other';
  return ERC20.every((one) => has.has(one)) ? 'erc20' : 'other';
}
