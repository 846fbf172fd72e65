// Which contracts did an address make, and whom does the chain credit, as an explorer lists them?
// Its lists are read to their settled end. A contract that it does not name is credited to nobody.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { type Partly, part, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { DeployerCreations, MadeContract, Maker } from '../../ports/launches/deployer-walk.ts';
import { outsideRow } from '../http/forms.ts';
import { type CallBudget, ProviderFault, withBudget } from '../http/provider.ts';
import { creationRow, whyOf } from './account-facts.ts';
import { saysNoCreation } from './empties.ts';
import { nodeResultIn, resultIn } from './envelope.ts';
import { headReader } from './head.ts';
import { listedAs, type ReadAs } from './listing.ts';
import { askExplorer, type ExplorerChain } from './provider.ts';
import type { RowsAsked } from './rows.ts';

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
