// Lists the contracts that an address made, and their creators by the chain, from an explorer. Its
// lists are read to their settled end. A contract that it does not name is credited to nobody.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { formatIsoTime, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { slices } from '../../evidence/measure.ts';
import { map, type Partly, type Reading, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Relays } from '../../ports/accounts.ts';
import type {
  ContractKind,
  ContractKinds,
  DeployerCreations,
  MadeContract,
  Maker,
  TokenTransfers,
} from '../../ports/deployers.ts';
import { asker } from '../evm/node-of-account.ts';
import { contractKindOf, type StateAsk } from '../evm/state-facts-of-account.ts';
import { COUNT, jsonIn, outsideRow } from '../http/fetch.ts';
import type { JsonRpc } from '../http/json-rpc.ts';
import {
  type CallBudget,
  ProviderFault,
  type ProviderTerms,
  readAnswer,
  readProvider,
} from '../http/provider.ts';
import { type CreationRow, creationRow, signatureReader, stateAnswer } from './account-facts.ts';
import {
  askExplorer,
  type ExplorerChain,
  explorerFailed,
  PAGE_ROWS,
  pageIn,
  resultIn,
  saysNoCreation,
  saysUnverified,
} from './envelope.ts';
import {
  headReader,
  internalRow,
  misshapenRows,
  nativeRow,
  parseListRow,
  type ReadAs,
  type RowsQuery,
  readList,
} from './listing.ts';

const PORT = 'deployer_creations';

/** The explorer of a walk, and the limits of one request. */
export type WalkExplorer = ProviderTerms & { readonly at: ExplorerChain };

/** A source this far behind its chain, in seconds, does not show what was launched since. */
const BEHIND_MAX_S = HOUR_S;
/** The newest block of a node is asked for anew after so long, in seconds. */
const TIP_KEPT_S = 60;
/** How many rows that tell of a creation are taken from one list. */
const CREATIONS_MAX = 5_000;
/** How many contracts one question of `getcontractcreation` takes. */
const CONTRACTS_PER_CALL = 5;

/** The result of a request to the explorer: unread if the answer is unusable. */
export function readExplorer<T, P extends string>(
  port: P,
  { at, now, simulated, timeMs, callsMax }: WalkExplorer,
  signal: AbortSignal,
  work: (budget: CallBudget) => Promise<T>,
): Promise<Reading<T, P>> {
  const toReason = (fault: string) => explorerFailed(at, fault);
  const provider = { name: at.name, url: at.shown, simulated, now, toReason };
  return readProvider(port, provider, { timeMs, callsMax, signal }, work);
}

/** Creations as an explorer lists them. What was signed by way of a relay is nobody's. */
export function explorerCreations(explorer: WalkExplorer, relays: Relays): DeployerCreations {
  const { at } = explorer;
  const heads = headReader(explorer.now);
  const listOf = async (
    address: string,
    kind: keyof typeof READERS,
    signal: AbortSignal,
    note: NoteSigned,
  ): Promise<Partly<readonly MadeContract[], typeof PORT>> => {
    const list = await readExplorer(PORT, explorer, signal, async (budget) => {
      const { block, time } = await heads.settled(at, budget);
      checkNotBehind(time, explorer.now());
      const range = { chain: at.chain, address, fromBlock: 0, toBlock: block };
      const asked = { at, action: kind, rowIn: READERS[kind](note), budget };
      return readList(asked, range, { transfersMax: CREATIONS_MAX });
    });
    const made = map(list, ({ transfers }) => transfers);
    if (!list.checked || !(list.value.cut || list.value.pending)) return made;
    return weaken(made, why('row_cap', { address, limit: String(CREATIONS_MAX) }));
  };
  return {
    madeDirectly: async (address, signal) => {
      let signed_at: UnixSeconds | null = null;
      const list = await listOf(address, 'txlist', signal, (at) => {
        signed_at = signed_at === null ? at : Math.max(signed_at, at);
      });
      return map(list, (made) => ({ made, signed_at }));
    },
    madeBy: (factory, signal) => listOf(factory, 'txlistinternal', signal, () => undefined),
    makersOf: async (contracts, signal) => {
      const known = await relays();
      if (!known.checked) return unread(PORT, known.why);
      return readExplorer(PORT, explorer, signal, async (budget) => {
        const makers = new Map<string, Maker>();
        const signed = signatureReader(at, known.value, budget);
        for (const some of slices(contracts, CONTRACTS_PER_CALL)) {
          for (const row of await creationsOf(at, some, budget)) {
            const { creator } = await signed(row);
            makers.set(row.contractAddress, { signer: creator });
          }
        }
        return makers;
      });
    },
  };
}

/** Throws where the newest block that a source shows is too old: its lists end there. */
function checkNotBehind(newestAt: number, now: number): void {
  if (now - newestAt <= BEHIND_MAX_S) return;
  const until = formatIsoTime(newestAt);
  throw new ProviderFault(`follows its chain up to ${until} only`, 'passing');
}

// A creating transaction need not state its payment.
const signedRow = nativeRow.omit({ value: true });
const innerRow = internalRow.omit({ value: true, callType: true });
/** The explorers' names of an inner call that creates a contract. */
const CREATES = /^create/;

/** Is told when the address signed a transaction that was not undone, in whatever order. */
type NoteSigned = (at: UnixSeconds) => void;

const READERS = {
  txlist: (note: NoteSigned) => (_: unknown, row: unknown, asked: RowsQuery) => {
    const data = parseListRow(signedRow, row, 'txlist');
    const own = parseEvmAddress(data.from) === asked.address;
    const creates = data.to === '' || data.to === null || data.to === undefined;
    const reverted = data.isError === '1' || data.txreceipt_status === '0';
    if (own && !reverted) note(Number(data.timeStamp));
    return creationIn(data, own && creates, { tx: data.hash, reverted });
  },
  txlistinternal: (_note: NoteSigned) => (_: unknown, row: unknown, asked: RowsQuery) => {
    const data = parseListRow(innerRow, row, 'txlistinternal');
    const tx = data.hash === undefined ? data.transactionHash : data.hash;
    if (tx === undefined) throw misshapenRows('txlistinternal');
    const own = parseEvmAddress(data.from) === asked.address;
    return creationIn(data, own && CREATES.test(data.type), { tx, reverted: data.isError === '1' });
  },
} as const;

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
  if (address === null) throw misshapenRows('a creation without its contract');
  return { block, told: { address, block, at: Number(timeStamp), ...facts } };
}

/** The rows of `getcontractcreation` of these contracts, as far as the explorer has them. */
async function creationsOf(
  at: ExplorerChain,
  contracts: readonly string[],
  budget: CallBudget,
): Promise<readonly CreationRow[]> {
  const params = {
    module: 'contract',
    action: 'getcontractcreation',
    contractaddresses: contracts.join(','),
  };
  return askExplorer(at, budget, at.list(params), (answer) => {
    if (saysNoCreation(answer)) return NONE;
    const parsed = z.array(creationRow).safeParse(resultIn(answer)?.result);
    if (!parsed.success || parsed.data.some((row) => !contracts.includes(row.contractAddress))) {
      throw misshapenRows('getcontractcreation');
    }
    return parsed.data;
  });
}

const NONE: readonly never[] = Object.freeze([]);

// Determines the kind of a contract, by a node if there is one, otherwise by its explorer. Code and
// calls decide. If neither passes calls on, the published source's interface decides; an
// unpublished one leaves the kind open.

const KINDS_PORT = 'contract_kinds';
type KindReading = Reading<ContractKind, typeof KINDS_PORT>;

/** Kinds of contracts. `node`: a node of the same chain, or `null`. */
export function contractKinds(explorer: WalkExplorer, node: JsonRpc | null): ContractKinds {
  const kindByNode = node === null ? null : nodeKinds(explorer, node);
  return {
    kindOf: async (contract, signal) => {
      const byNode = kindByNode === null ? null : await kindByNode(contract, signal);
      if (byNode?.checked === true) return byNode;
      const byCalls = await askCalls(explorer, contract, signal);
      if (byCalls.checked) return byCalls;
      const bySource = await askPublished(explorer, contract, signal);
      if (byNode === null) return bySource.checked ? bySource : byCalls;
      // What is not published is not undecided: the node that is silent may decide it.
      return bySource.checked && bySource.value !== 'undecided' ? bySource : byNode;
    },
  };
}

const newestBlock = outsideRow({ timestamp: COUNT });

function nodeKinds({ simulated, now }: WalkExplorer, rpc: JsonRpc) {
  const { shown: url } = rpc;
  const toReason = (fault: string) => why('provider_failed', { provider: url, fault });
  const provider = { name: 'Node', url, simulated, now, toReason };
  let freshAt = -Infinity;
  return (contract: string, signal: AbortSignal): Promise<KindReading> =>
    readAnswer(KINDS_PORT, provider, async () => {
      // A node that stands still has no code of what was made since.
      if (now() - freshAt > TIP_KEPT_S) {
        const ask = { method: 'eth_getBlockByNumber', params: ['latest', false] };
        const answer = await rpc.call(ask, signal);
        const block = newestBlock.safeParse(answer.ok ? answer.result : null);
        if (!block.success) throw new ProviderFault('did not tell its newest block', 'passing');
        checkNotBehind(block.data.timestamp, now());
        freshAt = now();
      }
      return contractKindOf(asker(rpc, signal), contract);
    });
}

function askCalls(
  explorer: WalkExplorer,
  contract: string,
  signal: AbortSignal,
): Promise<KindReading> {
  const { at } = explorer;
  return readExplorer(KINDS_PORT, explorer, signal, (budget) => {
    const ask: StateAsk = (call) =>
      askExplorer(at, budget, at.state(call), (answer) => stateAnswer(at, answer));
    return contractKindOf(ask, contract);
  });
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

function askPublished(
  explorer: WalkExplorer,
  contract: string,
  signal: AbortSignal,
): Promise<KindReading> {
  const { at } = explorer;
  const params = { module: 'contract', action: 'getsourcecode', address: contract };
  return readExplorer(KINDS_PORT, explorer, signal, (budget) =>
    askExplorer(at, budget, at.list(params), (answer) => {
      const rows = z.tuple([sourceRow]).safeParse(resultIn(answer)?.result);
      if (!rows.success) throw new ProviderFault('answered another shape (source)', 'passing');
      return kindByInterface(rows.data[0]);
    }),
  );
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

// Counts the transfers of a token in one query of an explorer. The query is one page: a full page
// means that there are more, and one that is not ends with the newest transfer.

const TRANSFERS_PORT = 'token_transfers';

const row = nativeRow
  .pick({ blockNumber: true, hash: true })
  .extend({ contractAddress: z.string() });

/** The transfers of tokens as an explorer lists them. */
export function explorerTokenTransfers(explorer: WalkExplorer): TokenTransfers {
  return {
    observed: (token, signal) =>
      readExplorer(TRANSFERS_PORT, explorer, signal, async (budget) => {
        const ask = (asked: Parameters<typeof askTransfers>[3]) =>
          askTransfers(explorer.at, budget, token, asked);
        const rows = await ask({ sort: 'asc', offset: PAGE_ROWS });
        const truncated = rows.length >= PAGE_ROWS;
        const last = rows.at(-1)?.blockNumber;
        if (last === undefined || truncated) return { count: rows.length, truncated };
        const [newest] = await ask({ sort: 'desc', offset: 1 });
        const isLast = ({ blockNumber, hash }: z.output<typeof row>) =>
          blockNumber === last && hash === newest?.hash;
        if (!rows.some(isLast)) {
          throw new ProviderFault('cut a page short without a word (tokentx)', 'passing');
        }
        return { count: rows.length, truncated };
      }),
  };
}

/** One page of a token's transfers. Throws `ProviderFault` where they are of another token. */
function askTransfers(
  at: ExplorerChain,
  budget: CallBudget,
  token: string,
  { sort, offset }: { readonly sort: 'asc' | 'desc'; readonly offset: number },
): Promise<z.output<typeof row>[]> {
  const question = at.list({
    module: 'account',
    action: 'tokentx',
    contractaddress: token,
    page: '1',
    offset: String(offset),
    sort,
  });
  return askExplorer(at, budget, question, (answer) => {
    const { rows, pending } = pageIn('tokentx', answer);
    if (pending) throw new ProviderFault('has not processed every block yet', 'passing');
    return rows.map((one) => {
      const { success, data } = row.safeParse(one);
      if (!success || parseEvmAddress(data.contractAddress) !== token) {
        throw new ProviderFault('answered transfers of another token (tokentx)', 'passing');
      }
      return data;
    });
  });
}
