// Everything is made up; the forms are Bitcoin Core's (28.0, `getblock`) and bitcoin-etl's (1.5).

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { addressNamed } from './addresses.ts';

/** An output: who gets how many satoshis. `null`: an OP_RETURN. */
type Pay = readonly [to: string | null, satoshis: number];
/** A transaction: the outputs that it spends (`[transaction, index]` by name), and what it pays. */
type Sketch = {
  readonly name: string;
  readonly spends?: readonly (readonly [name: string, index: number])[];
  readonly pays: readonly Pay[];
  /** The flag of its signatures; without it they sign everything. */
  readonly flag?: number;
};

type Made = Sketch & { readonly txid: string };
type Block = {
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  readonly transactions: readonly Made[];
};

const COIN = 100_000_000;
const SIGNS_ALL = 0x01;
const PUBLIC_KEY = `02${'11'.repeat(32)}`;
const FIRST_TIME = 1_790_000_000;
const BLOCK_S = 600;
const SUBSIDY = 50 * COIN;

/** A chain, and both of its written forms. */
export type BitcoinChain = {
  readonly blocks: readonly Block[];
  readonly txid: (name: string) => string;
  /** Lines of `blocks.json` and of `transactions.json`. */
  readonly etl: () => { readonly blocks: string[]; readonly transactions: string[] };
  /** The answer of the node to a method. */
  readonly answer: (method: string, params: readonly unknown[], node: NodeForm) => unknown;
};

/** `prevout`: it tells what inputs spend (verbosity 3); `txindex`: it finds any transaction. */
export type NodeForm = { readonly prevout: boolean; readonly txindex: boolean };

/** A DER signature of made-up numbers under a flag, in hex. */
export function signature(flag: number): string {
  const number = `0220${'22'.repeat(32)}`;
  return `3044${number}${number}${flag.toString(16).padStart(2, '0')}`;
}

/** The made-up address of a name. */
export const btc = (name: string): string => addressNamed('bitcoin_bech32', name);

/** Makes a chain: each list is one block, whose coinbase pays a miner of its own. */
export function bitcoinChain(sketches: readonly (readonly Sketch[])[]): BitcoinChain {
  const blocks = sketches.map((own, height): Block => {
    const coinbase = {
      name: `coinbase ${height}`,
      pays: [[btc(`miner ${height}`), SUBSIDY]],
    } as const;
    const transactions = [coinbase, ...own].map((one) => ({ ...one, txid: hashOf(one.name) }));
    const hash = hashOf(`block ${height} ${own.map(({ name }) => name).join()}`);
    return { height, hash, time: FIRST_TIME + height * BLOCK_S, transactions };
  });
  const byName = new Map(blocks.flatMap((one) => one.transactions).map((one) => [one.name, one]));
  const txNamed = (name: string): Made => {
    const made = byName.get(name);
    if (made === undefined) throw new RangeError(`no transaction ${name}`);
    return made;
  };
  return {
    blocks,
    txid: (name) => txNamed(name).txid,
    etl: () => ({
      blocks: blocks.map((block) => JSON.stringify(etlBlock(block))),
      transactions: blocks.flatMap((block) =>
        block.transactions.map((one, index) =>
          JSON.stringify(etlTransaction(block, one, index, txNamed)),
        ),
      ),
    }),
    answer: (method, params, node) => answerCall(blocks, txNamed, method, params, node),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type Find = (name: string) => Made;

function payOf(find: Find, [name, index]: readonly [string, number]): Pay {
  const pay = find(name).pays[index];
  if (pay === undefined) throw new RangeError(`${name} has no output ${index}`);
  return pay;
}

function etlBlock({ height, hash, time, transactions }: Block) {
  return {
    type: 'block',
    hash,
    size: 285,
    stripped_size: 285,
    weight: 1140,
    number: height,
    version: 1,
    merkle_root: hashOf(hash),
    timestamp: time,
    nonce: '7c2bac1d',
    bits: '1d00ffff',
    coinbase_param: '04ffff001d0104',
    transaction_count: transactions.length,
  };
}

function etlTransaction(block: Block, { txid, spends, pays }: Made, index: number, find: Find) {
  const spent = spends === undefined ? [] : spends;
  const inputs = spent.map(([name, at], i) => {
    const [to, satoshis] = payOf(find, [name, at]);
    const spending = { spent_transaction_hash: find(name).txid, spent_output_index: at };
    const script = {
      script_asm: '',
      script_hex: '',
      sequence: 4_294_967_295,
      required_signatures: 1,
    };
    return {
      index: i,
      ...spending,
      ...script,
      type: 'witness_v0_keyhash',
      addresses: [to],
      value: satoshis,
    };
  });
  const outputs = pays.map(([to, value], i) => {
    const script = { script_asm: '', script_hex: '', required_signatures: 1 };
    const own = to === null ? hashOf('nonstandard').slice(0, 40) : to;
    const type = to === null ? 'nonstandard' : 'witness_v0_keyhash';
    return {
      index: i,
      ...script,
      type,
      addresses: [to === null ? `nonstandard${own}` : own],
      value,
    };
  });
  return {
    type: 'transaction',
    hash: txid,
    size: 275,
    virtual_size: 275,
    version: 1,
    lock_time: 0,
    block_number: block.height,
    block_hash: block.hash,
    block_timestamp: block.time,
    is_coinbase: spends === undefined,
    index,
    inputs,
    outputs,
    input_count: inputs.length,
    output_count: outputs.length,
    input_value: 0,
    output_value: 0,
    fee: 0,
  };
}

/** An error of the node, as it names them. */
class CoreError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function answerCall(
  blocks: readonly Block[],
  find: Find,
  method: string,
  params: readonly unknown[],
  node: NodeForm,
): unknown {
  const [first, second] = params;
  if (method === 'getblockcount') return blocks.length - 1;
  if (method === 'getblockhash') {
    const block = blocks[Number(first)];
    if (block === undefined) throw new CoreError(-8, 'Block height out of range');
    return block.hash;
  }
  if (method === 'getblock') {
    const block = blocks.find(({ hash }) => hash === first);
    if (block === undefined) throw new CoreError(-5, 'Block not found');
    const verbosity = node.prevout ? Number(second) : Math.min(Number(second), 2);
    return coreBlock(blocks, block, verbosity, find);
  }
  if (method === 'getrawtransaction') {
    const made = blocks.flatMap((one) => one.transactions).find(({ txid }) => txid === first);
    if (made === undefined || !node.txindex) {
      throw new CoreError(-5, 'No such mempool transaction. Use -txindex or provide a block hash');
    }
    return coreTransaction(made, 2, find);
  }
  throw new CoreError(-32601, 'Method not found');
}

function coreBlock(blocks: readonly Block[], block: Block, verbosity: number, find: Find) {
  const { height, hash, time, transactions } = block;
  const before = blocks[height - 1];
  return {
    hash,
    confirmations: blocks.length - height,
    height,
    version: 536_870_912,
    versionHex: '20000000',
    merkleroot: hashOf(hash),
    time,
    mediantime: time,
    nonce: 0,
    bits: '207fffff',
    difficulty: 4.6e-10,
    chainwork: hashOf('work'),
    nTx: transactions.length,
    ...(before === undefined ? {} : { previousblockhash: before.hash }),
    strippedsize: 300,
    size: 300,
    weight: 1_200,
    tx: transactions.map((one) => {
      return verbosity < 2 ? one.txid : coreTransaction(one, verbosity, find);
    }),
  };
}

function coreTransaction(
  { txid, spends, pays, flag = SIGNS_ALL }: Made,
  verbosity: number,
  find: Find,
) {
  const vin =
    spends === undefined
      ? [{ coinbase: '0151', sequence: 4_294_967_295, txinwitness: ['00'] }]
      : spends.map(([name, vout]) => {
          const told = { generated: name.startsWith('coinbase'), height: 0 };
          const prevout = { ...told, ...coreOutput(payOf(find, [name, vout])) };
          const scriptSig = { asm: '', hex: '' };
          return {
            txid: find(name).txid,
            vout,
            scriptSig,
            txinwitness: [signature(flag), PUBLIC_KEY],
            ...(verbosity >= 3 ? { prevout } : {}),
            sequence: 4_294_967_293,
          };
        });
  const vout = pays.map((pay, n) => ({ ...coreOutput(pay), n }));
  return {
    txid,
    hash: txid,
    version: 2,
    size: 200,
    vsize: 150,
    weight: 600,
    locktime: 0,
    vin,
    vout,
    fee: 0.00001,
    hex: '02',
  };
}

function coreOutput([to, satoshis]: Pay) {
  const value = satoshis / COIN;
  if (to === null) {
    const scriptPubKey = { asm: 'OP_RETURN 00', desc: 'raw(6a00)', hex: '6a00', type: 'nulldata' };
    return { value, scriptPubKey };
  }
  const script = { asm: `0 ${to}`, desc: `addr(${to})`, hex: '0014', type: 'witness_v0_keyhash' };
  return { value, scriptPubKey: { ...script, address: to } };
}

const CALL = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) });

/** A node that listens, with the credential that it takes. */
type BitcoinCore = { readonly url: URL; readonly close: () => Promise<void> };

/** Serves a chain as Bitcoin Core does: basic authorisation, single calls and batches. */
export async function bitcoinCore(
  chain: () => BitcoinChain,
  node: NodeForm = { prevout: true, txindex: false },
): Promise<BitcoinCore> {
  const server = createServer((request, response) => {
    void serve(request, response, chain(), node);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: new URL(`http://user:pass@127.0.0.1:${address.port}/`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  chain: BitcoinChain,
  node: NodeForm,
): Promise<void> {
  const wanted = `Basic ${Buffer.from('user:pass').toString('base64')}`;
  if (request.headers.authorization !== wanted) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="jsonrpc"' }).end();
    return;
  }
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const asked: unknown = JSON.parse(text);
  const say = (call: unknown) => {
    const { id, method, params } = CALL.parse(call);
    try {
      return { result: chain.answer(method, params, node), error: null, id };
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      return { result: null, error: { code: error.code, message: error.message }, id };
    }
  };
  const said = Array.isArray(asked) ? asked.map(say) : say(asked);
  const failed = !Array.isArray(said) && said.error !== null;
  response.writeHead(failed ? 500 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(said));
}
