// Which contracts did an address make, and whom does the chain credit, as an explorer lists them?
// Its lists are read to their settled end. A contract that it does not name is credited to nobody.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { type Partly, part, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ContractKind,
  ContractKinds,
  DeployerCreations,
  MadeContract,
  Maker,
  TokenTransfers,
} from '../../ports/deployers.ts';
import { asker } from '../evm/node-of-account.ts';
import { contractKindOf, type StateAsk, StateFault } from '../evm/state-facts-of-account.ts';
import { jsonIn, outsideRow } from '../http/fetch.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { type CallBudget, ProviderFault, withBudget } from '../http/provider.ts';
import { creationRow, stateAnswer, whyOf } from './account-facts.ts';
import {
  askExplorer,
  type ExplorerChain,
  nodeResultIn,
  pageIn,
  resultIn,
  saysNoCreation,
  saysUnverified,
} from './envelope.ts';
import { headReader, listedAs, type ReadAs, type RowsAsked } from './listing.ts';

const PORT = 'deployer_creations';
type Port = typeof PORT;

/** How an explorer is asked for a walk, and what one question of it may spend. */
export type WalkExplorer = {
  readonly at: ExplorerChain;
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
};

/** How many rows that tell of a creation are taken from one list. */
const CREATIONS_MAX = 5_000;
/** How many contracts one question of `getcontractcreation` takes. */
const CONTRACTS_PER_CALL = 5;

/** The explorer as a source. */
export function walkSource({ at, simulated, now }: WalkExplorer): Source {
  return { name: at.name, url: at.shown, as_of: now(), kind: 'observation', simulated };
}

/** Creations as an explorer lists them. */
export function explorerCreations(explorer: WalkExplorer): DeployerCreations {
  const { at, now, timeMs, callsMax } = explorer;
  const heads = headReader(now);
  const asked = async <T>(
    signal: AbortSignal,
    work: (budget: CallBudget) => Promise<T>,
  ): Promise<T | Reading<never, Port>> => {
    try {
      return await withBudget({ timeMs, callsMax, signal }, work);
    } catch (error) {
      return unread(PORT, whyOf(error, at));
    }
  };
  const listOf = (address: string, kind: keyof typeof READERS, signal: AbortSignal) =>
    asked(signal, async (budget): Promise<Partly<readonly MadeContract[], Port>> => {
      const { block } = await heads.settled(at, budget);
      const range = { chain: at.chain, address, fromBlock: 0, toBlock: block };
      const list = { at, action: kind, rowIn: READERS[kind], budget };
      const {
        transfers: made,
        cut,
        pending,
      } = await listedAs(list, range, {
        transfersMax: CREATIONS_MAX,
      });
      const origin = { port: PORT, source: walkSource(explorer) } as const;
      if (!cut && !pending) return read(made, origin);
      return part(made, origin, why('row_cap', { address, limit: String(CREATIONS_MAX) }));
    });
  return {
    madeDirectly: (address, signal) => listOf(address, 'txlist', signal),
    madeBy: (factory, signal) => listOf(factory, 'txlistinternal', signal),
    makersOf: (contracts, signal) =>
      asked(signal, async (budget) => {
        const makers = new Map<string, Maker>();
        for (let from = 0; from < contracts.length; from += CONTRACTS_PER_CALL) {
          const some = contracts.slice(from, from + CONTRACTS_PER_CALL);
          for (const [contract, maker] of await makersIn(at, some, budget)) {
            makers.set(contract, maker);
          }
        }
        const told: ReadonlyMap<string, Maker> = makers;
        return read(told, { port: PORT, source: walkSource(explorer) });
      }),
  };
}

const whole = z.string().regex(/^[0-9]{1,15}$/);
const base = {
  blockNumber: whole,
  timeStamp: whole,
  from: z.string(),
  to: z.string().nullish(),
  contractAddress: z.string().nullish(),
};
const signedRow = outsideRow({
  ...base,
  hash: z.string(),
  isError: z.enum(['0', '1', '']).optional(),
  txreceipt_status: z.string().nullish(),
});
const innerRow = outsideRow({
  ...base,
  hash: z.string().optional(),
  transactionHash: z.string().optional(),
  type: z.string(),
  isError: z.enum(['0', '1']),
});
/** How explorers name an inner call that makes a contract. */
const CREATES = /^create/;

const READERS = {
  txlist: (_: unknown, row: unknown, asked: RowsAsked) => {
    const data = shaped(signedRow, row, 'txlist');
    const own = parseEvmAddress(data.from) === asked.address;
    const creates = data.to === '' || data.to === null || data.to === undefined;
    const reverted = data.isError === '1' || data.txreceipt_status === '0';
    return creationIn(data, own && creates, { tx: data.hash, reverted });
  },
  txlistinternal: (_: unknown, row: unknown, asked: RowsAsked) => {
    const data = shaped(innerRow, row, 'txlistinternal');
    const tx = data.hash === undefined ? data.transactionHash : data.hash;
    if (tx === undefined) throw odd('txlistinternal');
    const own = parseEvmAddress(data.from) === asked.address;
    return creationIn(data, own && CREATES.test(data.type), { tx, reverted: data.isError === '1' });
  },
} as const;

function odd(action: string): ProviderFault {
  return new ProviderFault(`answered rows of another shape (${action})`, 'passing');
}

function shaped<T>(schema: z.ZodType<T>, row: unknown, action: string): T {
  const parsed = schema.safeParse(row);
  if (!parsed.success) throw odd(action);
  return parsed.data;
}

/** The row, and the contract that it tells of where it tells of one by its address. */
function creationIn(
  { blockNumber, timeStamp, contractAddress }: z.output<typeof signedRow | typeof innerRow>,
  creates: boolean,
  facts: Pick<MadeContract, 'tx' | 'reverted'>,
): ReadAs<MadeContract> {
  const block = Number(blockNumber);
  const named = typeof contractAddress === 'string' && contractAddress !== '';
  if (!creates || (!named && facts.reverted)) return { block, told: null };
  const address = named ? parseEvmAddress(contractAddress) : null;
  if (address === null) throw odd('a creation without its contract');
  return { block, told: { address, block, at: Number(timeStamp), ...facts } };
}

async function makersIn(
  at: ExplorerChain,
  contracts: readonly string[],
  budget: CallBudget,
): Promise<readonly (readonly [string, Maker])[]> {
  const params = {
    module: 'contract',
    action: 'getcontractcreation',
    contractaddresses: contracts.join(','),
  };
  const rows = await askExplorer(at, budget, at.list(params), (answer) => {
    if (saysNoCreation(answer)) return [];
    const parsed = z.array(creationRow).safeParse(resultIn(answer)?.result);
    if (!parsed.success) throw odd('getcontractcreation');
    return parsed.data;
  });
  const makers: (readonly [string, Maker])[] = [];
  for (const row of rows) {
    const contract = parseEvmAddress(row.contractAddress);
    if (contract === null || !contracts.includes(contract)) throw odd('getcontractcreation');
    // Blockscout names the contract that ran a creation, where one did; who signed is asked for.
    const signer = at.tellsChainId
      ? await signerOf(at, row.txHash, budget)
      : parseEvmAddress(row.contractCreator);
    if (signer === null) throw odd('getcontractcreation');
    makers.push([contract, { signer }]);
  }
  return makers;
}

const transaction = outsideRow({ from: z.string() });

/** Who signed a transaction: Blockscout tells it itself, the other passes a node's word on. */
export async function signerOf(
  at: ExplorerChain,
  txhash: string,
  budget: CallBudget,
): Promise<string | null> {
  const [module, action] = at.tellsChainId
    ? ['transaction', 'gettxinfo']
    : ['proxy', 'eth_getTransactionByHash'];
  const info = await askExplorer(at, budget, at.list({ module, action, txhash }), (answer) => {
    const told = at.tellsChainId ? resultIn(answer)?.result : nodeResultIn(answer);
    return shaped(transaction, told, action);
  });
  return parseEvmAddress(info.from);
}

// What is a contract, by a node where there is one, else by what its explorer passes on or holds?
// Code and calls decide. Where nobody passes calls on, the published source's interface does; an
// unpublished one leaves it undecided.

const KINDS_PORT = 'contract_kinds';
type Told = Reading<ContractKind, typeof KINDS_PORT>;

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
    return read(await contractKindOf(asker(rpc, signal), contract), { port: KINDS_PORT, source });
  } catch (error) {
    if (!(error instanceof StateFault || error instanceof RpcFault)) throw error;
    const fault = error instanceof RpcFault ? error.fault : error.message;
    return unread(KINDS_PORT, why('provider_failed', { provider: rpc.shown, fault }));
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
    return read(kind, { port: KINDS_PORT, source: walkSource(explorer) });
  } catch (error) {
    return unread(KINDS_PORT, whyOf(error, at));
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
    return read(kind, { port: KINDS_PORT, source: walkSource(explorer) });
  } catch (error) {
    return unread(KINDS_PORT, whyOf(error, at));
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

// How many transfers of a token does one query of an explorer show?
// The query is one page: a page that is full says that there are more.

const TRANSFERS_PORT = 'token_transfers';
/** What every plan gives in one answer. */
const PAGE_ROWS = 1_000;

const row = outsideRow({ contractAddress: z.string() });

/** The transfers of tokens as an explorer lists them. */
export function explorerTokenTransfers(explorer: WalkExplorer): TokenTransfers {
  const { at, timeMs, callsMax } = explorer;
  return {
    observed: async (token, signal) => {
      const question = at.list({
        module: 'account',
        action: 'tokentx',
        contractaddress: token,
        page: '1',
        offset: String(PAGE_ROWS),
        sort: 'asc',
      });
      try {
        const count = await withBudget({ timeMs, callsMax, signal }, (budget) =>
          askExplorer(at, budget, question, (answer) => {
            const { rows, pending } = pageIn('tokentx', answer);
            if (pending) throw new ProviderFault('has not processed every block yet', 'passing');
            if (!rows.every((one) => isOf(one, token))) {
              throw new ProviderFault('answered transfers of another token (tokentx)', 'passing');
            }
            return rows.length;
          }),
        );
        const observed = { count, truncated: count >= PAGE_ROWS };
        return read(observed, { port: TRANSFERS_PORT, source: walkSource(explorer) });
      } catch (error) {
        return unread(TRANSFERS_PORT, whyOf(error, at));
      }
    },
  };
}

function isOf(one: unknown, token: string): boolean {
  const parsed = row.safeParse(one);
  return parsed.success && parseEvmAddress(parsed.data.contractAddress) === token;
}
