import { z } from 'zod';
import { listOrNone, present } from '../evidence/measure.ts';
import { startStandIn } from '../world/stand-in.ts';
import { type Anvil, CALL_FRAME, type CallFrame } from './anvil.ts';

const TRANSACTION = z.object({ hash: z.string(), from: z.string(), to: z.string().nullable() });
const BLOCK = z.object({
  number: z.string(),
  timestamp: z.string(),
  transactions: z.array(TRANSACTION),
});
const RECEIPT = z.object({
  status: z.string(),
  contractAddress: z.string().nullable(),
  logs: z.array(
    z.object({
      address: z.string(),
      topics: z.array(z.string()),
      data: z.string(),
      blockNumber: z.string(),
      transactionHash: z.string(),
      logIndex: z.string(),
    }),
  ),
});
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

type Row = Readonly<Record<string, string>>;
type Log = z.output<typeof RECEIPT>['logs'][number] & { readonly timeStamp: string };
type Index = {
  readonly logs: Log[];
  readonly signed: Row[];
  readonly inner: Row[];
  readonly moved: Row[];
  readonly creations: Map<string, Row>;
};

/** A running explorer. `index` reads the chain anew. */
export type AnvilExplorer = {
  readonly url: URL;
  readonly index: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Starts an explorer of a chain on a free port of 127.0.0.1. */
export async function startAnvilExplorer(anvil: Anvil): Promise<AnvilExplorer> {
  let held: Index = { logs: [], signed: [], inner: [], moved: [], creations: new Map() };
  const { origin, close } = await startStandIn((request, response) => {
    const { searchParams } = new URL(String(request.url), 'http://explorer.invalid');
    void answer(anvil, held, searchParams).then((said) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    });
    return true;
  });
  return {
    url: new URL('/v2/api', origin),
    index: async () => {
      held = await indexBlocks(anvil);
    },
    close,
  };
}

async function answer(anvil: Anvil, held: Index, params: URLSearchParams): Promise<object> {
  const action = String(params.get('action'));
  if (action === 'eth_blockNumber') return { result: await anvil.ask('eth_blockNumber') };
  if (action === 'eth_getBlockByNumber') {
    return { result: await anvil.ask('eth_getBlockByNumber', params.get('tag'), false) };
  }
  if (action === 'eth_getTransactionReceipt') {
    return { result: await anvil.ask(action, params.get('txhash')) };
  }
  if (action === 'eth_getCode') {
    return { result: await anvil.ask(action, params.get('address'), params.get('tag')) };
  }
  if (action === 'getLogs') {
    const found = held.logs.filter((log) => isAsked(log, params));
    if (found.length === 0) return { status: '0', message: 'No records found', result: [] };
    return { status: '1', message: 'OK', result: found.slice(0, Number(params.get('offset'))) };
  }
  if (action === 'getcontractcreation') {
    const asked = String(params.get('contractaddresses')).split(',');
    const rows = present(asked.map((one) => held.creations.get(one)));
    if (rows.length === 0) return { status: '0', message: 'No data found', result: null };
    return { status: '1', message: 'OK', result: rows };
  }
  const address = params.get('address');
  const from = Number(params.get('startblock'));
  const rows = listOrNone(LISTS[action]?.(held)).filter(
    (row) =>
      Number(row['blockNumber']) >= from &&
      (address === null
        ? row['contractAddress'] === params.get('contractaddress')
        : [row['from'], row['to'], row['contractAddress']].includes(address)),
  );
  const ordered = params.get('sort') === 'desc' ? rows.toReversed() : rows;
  const page = ordered.slice(0, Number(params.get('offset')));
  if (page.length === 0) return { status: '0', message: 'No transactions found', result: [] };
  return { status: '1', message: 'OK', result: page };
}

function isAsked({ address, topics, blockNumber }: Log, params: URLSearchParams): boolean {
  return (
    address === params.get('address') &&
    Number(blockNumber) >= Number(params.get('fromBlock')) &&
    Number(blockNumber) <= Number(params.get('toBlock')) &&
    [0, 1, 2, 3].every((n) => [null, topics[n]].includes(params.get(`topic${n}`)))
  );
}

const LISTS: Readonly<Record<string, ((held: Index) => readonly Row[]) | undefined>> = {
  txlist: ({ signed }) => signed,
  txlistinternal: ({ inner }) => inner,
  tokentx: ({ moved }) => moved,
};

async function indexBlocks(anvil: Anvil): Promise<Index> {
  const index: Index = { logs: [], signed: [], inner: [], moved: [], creations: new Map() };
  const head = Number(await anvil.ask('eth_blockNumber'));
  for (let number = 0; number <= head; number += 1) {
    const tag = `0x${number.toString(16)}`;
    const block = BLOCK.parse(await anvil.ask('eth_getBlockByNumber', tag, true));
    for (const { hash, from, to } of block.transactions) {
      const receipt = RECEIPT.parse(await anvil.ask('eth_getTransactionReceipt', hash));
      const tracer = { tracer: 'callTracer' };
      const frame = CALL_FRAME.parse(await anvil.ask('debug_traceTransaction', hash, tracer));
      const timeStamp = String(Number(block.timestamp));
      const at = { blockNumber: String(number), timeStamp, hash, value: '0' };
      const failed = receipt.status !== '0x1';
      const isError = failed ? '1' : '0';
      const made = to === null ? String(receipt.contractAddress) : '';
      index.signed.push({
        ...at,
        from,
        to: to ?? '',
        contractAddress: made,
        isError,
        txreceipt_status: failed ? '0' : '1',
      });
      if (to === null && !failed) credit(index, made, from, '', hash);
      for (const one of innerOf(frame)) {
        const created = one.type.startsWith('CREATE') ? String(one.to) : '';
        index.inner.push({
          ...at,
          from: one.from,
          to: created === '' ? String(one.to) : '',
          contractAddress: created,
          type: one.type.toLowerCase(),
          isError: failed || one.error !== undefined ? '1' : '0',
        });
        if (created !== '' && !failed) credit(index, created, from, one.from, hash);
      }
      for (const log of receipt.logs) {
        index.logs.push({ ...log, timeStamp: block.timestamp });
        if (log.topics.length !== 3 || log.topics[0] !== TRANSFER) continue;
        const [, sender, receiver] = log.topics.map((topic) => `0x${topic.slice(26)}`);
        const parties = { from: String(sender), to: String(receiver) };
        index.moved.push({ ...at, ...parties, contractAddress: log.address, tokenDecimal: '18' });
      }
    }
  }
  return index;
}

function credit(
  { creations }: Index,
  contract: string,
  signer: string,
  factory: string,
  txHash: string,
): void {
  creations.set(contract, {
    contractAddress: contract,
    contractCreator: signer,
    contractFactory: factory,
    txHash,
  });
}

/** The calls inside of a transaction, of whatever depth. */
function innerOf({ calls }: CallFrame): CallFrame[] {
  return listOrNone(calls).flatMap((one) => [one, ...innerOf(one)]);
}
