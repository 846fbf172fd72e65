import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type BitcoinBlock, type BitcoinBlocks, BlocksFault } from '../../ports/entities.ts';
import {
  type BitcoinChain,
  bitcoinChain,
  bitcoinCore,
  btc,
  type NodeForm,
  signature,
} from '../../testing/bitcoin-chain.ts';
import { cannedNode, startFront } from '../../testing/damaged-front.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from '../http/json-rpc.ts';
import { etlFiles } from './etl-files.ts';
import { bitcoinNode, FINAL_DEPTH, signatureScope } from './node.ts';

const COIN = 100_000_000;
const etlTold = z.looseObject({ outputs: z.array(z.looseObject({})) });
type EtlTold = z.output<typeof etlTold>;
const NEVER = new AbortController().signal;
const CHAIN = bitcoinChain([
  [],
  [
    {
      name: 'pay',
      spends: [['coinbase 0', 0]],
      pays: [
        [btc('a'), 20 * COIN],
        [btc('b'), 29 * COIN + 1],
      ],
    },
  ],
  [
    {
      name: 'join',
      spends: [
        ['pay', 0],
        ['pay', 1],
      ],
      pays: [
        [btc('c'), 40 * COIN],
        [null, 0],
      ],
    },
  ],
  ...Array.from({ length: FINAL_DEPTH }, () => []),
]);

async function all(source: BitcoinBlocks): Promise<BitcoinBlock[]> {
  const blocks: BitcoinBlock[] = [];
  for await (const block of source.blocks(NEVER)) blocks.push(block);
  return blocks;
}

const JOIN = {
  tx: CHAIN.txid('join'),
  block: 2,
  at: 1_790_001_200,
  coinbase: false,
  inputs: [
    { address: btc('a'), value: 2_000_000_000n, signed: 'whole' },
    { address: btc('b'), value: 2_900_000_001n, signed: 'whole' },
  ],
  outputs: [
    { address: btc('c'), value: 4_000_000_000n },
    { address: null, value: 0n },
  ],
};

describe('a Bitcoin Core node', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  async function client(chain: () => BitcoinChain, form?: NodeForm): Promise<JsonRpc> {
    const core = await bitcoinCore(chain, form);
    const rpc = jsonRpc({
      url: core.url,
      headers: {},
      limits: { ...RPC_LIMITS, attemptsMax: 1 },
      sleep: async () => undefined,
    });
    closing.push(rpc.close, core.close);
    return rpc;
  }

  test('tells blocks with the owners of what is spent, all but the newest, which may be replaced', async () => {
    const blocks = await all(bitcoinNode(await client(() => CHAIN))(0, null));
    expect(blocks.map(({ block, whole }) => [block, whole])).toEqual([
      [0, true],
      [1, true],
      [2, true],
    ]);
    expect(blocks[2]?.transactions[1]).toEqual(JOIN);
    expect(blocks[0]?.transactions[0]).toMatchObject({ coinbase: true, inputs: [] });
  });

  test('says the same where it has to be asked for each transaction that is spent', async () => {
    const form = { prevout: false, txindex: true };
    const older = await all(bitcoinNode(await client(() => CHAIN, form))(0, 2));
    expect(older).toEqual(await all(bitcoinNode(await client(() => CHAIN))(0, 2)));
  });

  test('gives no block whose spent outputs it does not tell', async () => {
    const node = bitcoinNode(await client(() => CHAIN, { prevout: false, txindex: false }));
    await expect(all(node(0, 2))).rejects.toThrow('no txindex');
  });

  test('stops where a block was replaced while it was read', async () => {
    const other = bitcoinChain([
      [],
      [{ name: 'other', spends: [['coinbase 0', 0]], pays: [] }],
      ...Array.from({ length: 8 }, () => []),
    ]);
    let asked = 0;
    const node = bitcoinNode(
      await client(() => {
        asked += 1;
        return asked > 4 ? other : CHAIN;
      }),
    );
    await expect(all(node(0, 2))).rejects.toThrow(BlocksFault);
  });

  test('that refuses the credential or is not there is a fault without a secret', async () => {
    const core = await bitcoinCore(() => CHAIN);
    const url = new URL(core.url);
    url.password = 'wrong-secret';
    const rpc = jsonRpc({
      url,
      headers: {},
      limits: { ...RPC_LIMITS, attemptsMax: 1 },
      sleep: async () => undefined,
    });
    const refused = await all(bitcoinNode(rpc)(0, 2)).catch((fault: unknown) => fault);
    expect(refused).toBeInstanceOf(BlocksFault);
    expect(String(refused)).not.toContain('wrong-secret');
    await core.close();
    await expect(all(bitcoinNode(rpc)(0, 2))).rejects.toThrow(BlocksFault);
    rpc.close();
  });
});

describe('a node that knows no verbosity of 3', () => {
  const [hash, txid] = ['a'.repeat(64), 'b'.repeat(64)];
  const paid = { value: 1, scriptPubKey: {} };
  const held = { hash, height: 0, time: 1_231_006_505, nTx: 1 };
  const told = { ...held, tx: [{ txid, vin: [{ coinbase: '00' }], vout: [paid] }] };
  async function readFrom(plain: object): Promise<BitcoinBlock[]> {
    const front = await startFront(
      cannedNode({
        getblockcount: FINAL_DEPTH,
        getblockhash: hash,
        getblock: ([, verbosity]: readonly unknown[]) => (verbosity === 3 ? null : plain),
      }),
    );
    const limits = { ...RPC_LIMITS, attemptsMax: 1 };
    const rpc = jsonRpc({ url: front.url, headers: {}, limits, sleep: async () => undefined });
    try {
      return await all(bitcoinNode(rpc)(0, null));
    } finally {
      rpc.close();
      front.close();
    }
  }

  test('is asked with 2, and its block is read', async () => {
    expect(await readFrom(told)).toMatchObject([{ block: 0, whole: true }]);
  });

  test.each([
    ['of another height', { ...told, height: 1 }],
    ['of another hash', { ...told, hash: 'c'.repeat(64) }],
    ['of fewer transactions than it counts', { ...told, nTx: 2 }],
  ])('is not read where its block is %s', async (_, plain) => {
    await expect(readFrom(plain)).rejects.toThrow('told block 0 in another shape');
  });
});

describe('files of bitcoin-etl', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'exhibit-etl-'));
  });
  afterEach(async () => rm(folder, { recursive: true }));
  const { blocks, transactions } = CHAIN.etl();
  const put = async (name: string, lines: readonly string[], packed = false) => {
    const text = `${lines.join('\n')}\n`;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), packed ? gzipSync(text) : text);
  };

  test('say the same as the node of the chain that they were exported from', async () => {
    await put('blocks.json', blocks);
    await put('transactions.json', transactions);
    const core = await bitcoinCore(() => CHAIN);
    const rpc = jsonRpc({
      url: core.url,
      headers: {},
      limits: RPC_LIMITS,
      sleep: async () => undefined,
    });
    const told = await all(bitcoinNode(rpc)(0, null));
    // bitcoin-etl leaves witnesses out, so that how an input is signed is the one thing it lacks.
    const unsigned = told.map((block) => ({
      ...block,
      transactions: block.transactions.map((one) => {
        return { ...one, inputs: one.inputs.map((input) => ({ ...input, signed: null })) };
      }),
    }));
    expect((await all(etlFiles([folder]))).slice(0, told.length)).toEqual(unsigned);
    rpc.close();
    await core.close();
  });

  test('are read in the order of their blocks, whatever their names, packed or not', async () => {
    await put('a-late.json', transactions.slice(4));
    await put('z-early.json.gz', transactions.slice(0, 4), true);
    await put('blocks.json', blocks);
    const heights = (await all(etlFiles([folder]))).map(({ block }) => block);
    expect(heights).toEqual([...heights].sort((a, b) => a - b));
  });

  test('hold no block in full without its row, of another hash, or with a transaction missing', async () => {
    await put('transactions.json', transactions);
    expect((await all(etlFiles([folder]))).some(({ whole }) => whole)).toBe(false);
    const replaced = blocks.map((line) =>
      line.replace(CHAIN.blocks[1]?.hash ?? '', 'f'.repeat(64)),
    );
    await put('blocks.json', replaced);
    const missing = transactions.filter((line) => !line.includes(CHAIN.txid('join')));
    await put('transactions.json', missing);
    const read = await all(etlFiles([folder]));
    expect(read.slice(0, 4).map(({ whole }) => whole)).toEqual([true, false, false, true]);
  });

  test('name what they refuse by its reason, and a refused row leaves its block open', async () => {
    const bare = transactions.map((line) =>
      line.includes(CHAIN.txid('join'))
        ? line.replaceAll(/"addresses":\["[^"]*"\],"value":[0-9]+\}/g, '"addresses":[]}')
        : line,
    );
    const [first = ''] = transactions;
    await put('transactions.json', [...bare, first, 'no JSON', '{"hash": 1}']);
    await put('blocks.json', blocks);
    const source = etlFiles([folder]);
    const read = await all(source);
    expect(Object.fromEntries(source.refused())).toEqual({
      inputs_without_owners: 1,
      not_in_block_order: 1,
      not_json: 1,
      not_a_transaction: 1,
    });
    expect(read.find(({ block }) => block === 2)?.whole).toBe(false);
  });

  test.each([
    ['without outputs', (row: EtlTold) => ({ ...row, outputs: null })],
    ['with no output', (row: EtlTold) => ({ ...row, outputs: [] })],
    [
      'with an output of no value',
      (row: EtlTold) => ({ ...row, outputs: row.outputs.map((one) => ({ ...one, value: null })) }),
    ],
  ])('are refused a transaction %s: change is told from all that it paid', async (_, cut) => {
    const told = transactions.map((line) =>
      line.includes(CHAIN.txid('join'))
        ? JSON.stringify(cut(etlTold.parse(JSON.parse(line))))
        : line,
    );
    await put('transactions.json', told);
    await put('blocks.json', blocks);
    const source = etlFiles([folder]);
    const read = await all(source);
    expect(Object.fromEntries(source.refused())).toEqual({ outputs_without_values: 1 });
    expect(read.find(({ block }) => block === 2)?.whole).toBe(false);
  });

  test('that are not there, or are no export, are a fault', async () => {
    await expect(all(etlFiles([join(folder, 'none.json')]))).rejects.toThrow(BlocksFault);
    await put('other.json', ['{"a": 1}']);
    await expect(all(etlFiles([folder]))).rejects.toThrow('neither blocks nor transactions');
  });
});

const ALL = 0x01;
const SINGLE = 0x03;
const ALL_ANYONE = 0x81;
const SINGLE_ANYONE = 0x83;
const PUBLIC_KEY = `02${'11'.repeat(32)}`;
const P2WPKH = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const P2TR = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
const push = (hex: string) => (hex.length / 2).toString(16).padStart(2, '0') + hex;
const schnorr = (flag?: number) =>
  '33'.repeat(64) + (flag === undefined ? '' : flag.toString(16).padStart(2, '0'));
/** 73 bytes that begin as a signature does and end with ALL. */
const LONGEST = `3046${'22'.repeat(70)}01`;
const CONTROL = `c0${'44'.repeat(32)}`;
const CONTROL_OF_65 = `c0${'44'.repeat(64)}`;

describe('an input is signed', () => {
  test.each<[string, string | null, string, string[] | null, 'whole' | 'in_part' | null]>([
    ['whole by a key hash', P2WPKH, '', [signature(ALL), PUBLIC_KEY], 'whole'],
    [
      'in part by SINGLE|ANYONECANPAY',
      P2WPKH,
      '',
      [signature(SINGLE_ANYONE), PUBLIC_KEY],
      'in_part',
    ],
    ['in part by ALL|ANYONECANPAY', P2WPKH, '', [signature(ALL_ANYONE), PUBLIC_KEY], 'in_part'],
    ['in part by SINGLE', P2WPKH, '', [signature(SINGLE), PUBLIC_KEY], 'in_part'],
    ['whole in a script of old', null, push(signature(ALL)) + push(PUBLIC_KEY), [], 'whole'],
    [
      'in part in a script of old',
      null,
      push(signature(ALL_ANYONE)) + push(PUBLIC_KEY),
      [],
      'in_part',
    ],
    [
      'whole by two keys',
      null,
      `00${push(signature(ALL))}${push(signature(ALL))}4c04deadbeef`,
      [],
      'whole',
    ],
    [
      'in part by one of two keys',
      null,
      `00${push(signature(ALL))}${push(signature(SINGLE))}`,
      [],
      'in_part',
    ],
    [
      'whole behind the longest push of one byte of length',
      null,
      push('01'.repeat(75)) + push(signature(ALL)),
      [],
      'whole',
    ],
    ['whole by the longest signature', P2WPKH, '', [LONGEST, PUBLIC_KEY], 'whole'],
    ['in part by what is longer', P2WPKH, '', [`3047${'22'.repeat(71)}01`, PUBLIC_KEY], 'in_part'],
    ['whole by a taproot key', P2TR, '', [schnorr()], 'whole'],
    ['whole by a taproot key, with an annex', P2TR, '', [schnorr(), '50aa'], 'whole'],
    ['in part by a taproot key', P2TR, '', [schnorr(SINGLE_ANYONE)], 'in_part'],
    ['whole by a taproot script', P2TR, '', [schnorr(ALL), '20ab', CONTROL_OF_65], 'whole'],
    ['in part by a taproot script', P2TR, '', [schnorr(SINGLE_ANYONE), '20ab', CONTROL], 'in_part'],
    ['in part where no signature is found', null, '51', [], 'in_part'],
    ['so that nothing tells it where the source leaves witnesses out', P2WPKH, '', null, null],
    ['whole where the script itself tells it', null, push(signature(ALL)), null, 'whole'],
  ])('%s', (_name, owner, script, witness, signed) => {
    expect(signatureScope(owner, script, witness)).toBe(signed);
  });

  test('as far as a cut script tells', () => {
    expect(signatureScope(null, '4d', [])).toBe('in_part');
    expect(signatureScope(null, '4c', null)).toBeNull();
    expect(signatureScope(null, push(signature(ALL)).slice(0, -4), [])).toBe('in_part');
  });
});
