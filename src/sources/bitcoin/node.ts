// Reads the transactions of Bitcoin from a Bitcoin Core node, block by block. `getblock` with
// verbosity 3 names the coins that each input spends (since version 23); an older node is queried
// with verbosity 2 and for each spent transaction, which needs its `txindex`. Blocks are linked by
// hashes, and end below the newest ones, which may still be replaced.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { listOrNone, textOrEmpty } from '../../evidence/measure.ts';
import {
  type BitcoinBlock,
  type BitcoinCoin,
  type BitcoinInput,
  type BitcoinNode,
  type BitcoinTransaction,
  BlocksFault,
} from '../../ports/entities.ts';
import { outsideRow } from '../http/fetch.ts';
import { type JsonRpc, type RpcAnswer, RpcFault } from '../http/json-rpc.ts';

/** Blocks under so many others are not replaced any more. */
export const FINAL_DEPTH = 6;
/** Spent transactions that are asked for one block where the node does not name what is spent. */
const SPENT_MAX = 20_000;
const VERBOSITY = { withSpent: 3, plain: 2 } as const;
const SATOSHI_DIGITS = 8;
const HASH = /^[0-9a-f]{64}$/;
/** Core's error for an unknown verbosity or transaction. */
const UNKNOWN_TRANSACTION = -5;

const script = outsideRow({
  address: z.string().optional(),
  addresses: z.array(z.string()).optional(),
});
const output = outsideRow({ value: z.number().nonnegative(), scriptPubKey: script });
const input = outsideRow({
  coinbase: z.string().optional(),
  txid: z.string().regex(HASH).optional(),
  vout: z.int().nonnegative().optional(),
  prevout: output.optional(),
  scriptSig: outsideRow({ hex: z.string() }).optional(),
  txinwitness: z.array(z.string()).optional(),
});
const transaction = outsideRow({
  txid: z.string().regex(HASH),
  vin: z.array(input),
  vout: z.array(output),
});
const count = z.int().nonnegative();
const block = outsideRow({
  hash: z.string().regex(HASH),
  height: count,
  time: z.int().nonnegative(),
  previousblockhash: z.string().regex(HASH).optional(),
  nTx: z.int().positive(),
  tx: z.array(transaction),
});
type WireBlock = z.output<typeof block>;
type WireTransaction = z.output<typeof transaction>;
type WireOutput = z.output<typeof output>;

/** A node's blocks. The client is the caller's to close. */
export function bitcoinNode(rpc: JsonRpc): BitcoinNode {
  return (fromBlock, toBlock) => ({
    refused: () => new Map(),
    blocks: async function* (signal) {
      const head = count.safeParse(await askOne(rpc, 'getblockcount', [], signal));
      if (!head.success) throw new BlocksFault(`${rpc.shown} told no count of its blocks`);
      const final = head.data - FINAL_DEPTH;
      const end = toBlock === null ? final : Math.min(toBlock, final);
      let before: string | null = null;
      for (let height = fromBlock; height <= end; height += 1) {
        if (signal.aborted) return;
        const one: WireBlock = await blockAt(rpc, height, signal);
        if (before !== null && one.previousblockhash !== before) {
          throw new BlocksFault(`${rpc.shown} replaced block ${height - 1} while it was read`);
        }
        before = one.hash;
        yield await blockOf(rpc, one, signal);
      }
    },
  });
}

async function blockAt(rpc: JsonRpc, height: number, signal: AbortSignal): Promise<WireBlock> {
  const hash = await askOne(rpc, 'getblockhash', [height], signal);
  const told = await askOne(rpc, 'getblock', [hash, VERBOSITY.withSpent], signal);
  const parsed = block.safeParse(told);
  const isWhole = parsed.success && parsed.data.nTx === parsed.data.tx.length;
  if (isWhole && parsed.data.hash === hash && parsed.data.height === height) return parsed.data;
  // A node that knows no verbosity of 3 takes it for 2 or for 1; 2 names the transactions.
  const again = block.safeParse(await askOne(rpc, 'getblock', [hash, VERBOSITY.plain], signal));
  const fits = again.success && again.data.nTx === again.data.tx.length;
  if (fits && again.data.hash === hash && again.data.height === height) return again.data;
  throw new BlocksFault(`${rpc.shown} told block ${height} in another shape`);
}

async function blockOf(
  rpc: JsonRpc,
  { height, time, tx }: WireBlock,
  signal: AbortSignal,
): Promise<BitcoinBlock> {
  const spent = await askSpent(rpc, tx, signal);
  const transactions = tx.map((one): BitcoinTransaction => {
    const coinbase = one.vin.some((from) => from.coinbase !== undefined);
    return {
      tx: one.txid,
      block: height,
      at: time,
      coinbase,
      inputs: coinbase ? [] : one.vin.map((from) => inputOf(from, outputOf(from, spent, height))),
      outputs: one.vout.map(coinOf),
    };
  });
  return { block: height, at: time, whole: true, transactions };
}

// Core leaves an empty witness out.
function inputOf(
  { scriptSig, txinwitness }: z.output<typeof input>,
  spends: WireOutput,
): BitcoinInput {
  const coin = coinOf(spends);
  const signed = signatureScope(coin.address, textOrEmpty(scriptSig?.hex), listOrNone(txinwitness));
  return { ...coin, signed };
}

type Spent = ReadonlyMap<string, WireTransaction>;

function outputOf(
  { prevout, txid, vout }: z.output<typeof input>,
  spent: Spent,
  height: number,
): WireOutput {
  if (prevout !== undefined) return prevout;
  const found = txid === undefined || vout === undefined ? undefined : spent.get(txid)?.vout[vout];
  if (found === undefined) throw new BlocksFault(`block ${height} spends what was not told`);
  return found;
}

/** The transactions that inputs spend, where the block does not say what they spend. */
async function askSpent(
  rpc: JsonRpc,
  transactions: readonly WireTransaction[],
  signal: AbortSignal,
): Promise<Spent> {
  const known = new Map(transactions.map((one) => [one.txid, one]));
  const wanted = new Set<string>();
  for (const { vin } of transactions) {
    for (const { prevout, txid } of vin) {
      if (prevout === undefined && txid !== undefined && !known.has(txid)) wanted.add(txid);
    }
  }
  if (wanted.size > SPENT_MAX) throw new BlocksFault(`a block spends over ${SPENT_MAX} others`);
  const calls = [...wanted].map((txid) => {
    return { method: 'getrawtransaction', params: [txid, true] };
  });
  const answers = calls.length === 0 ? [] : await askBatch(rpc, calls, signal);
  for (const answer of answers) {
    const parsed = transaction.safeParse(resultOf(rpc, 'getrawtransaction', answer));
    if (!parsed.success) throw new BlocksFault(`${rpc.shown} told a transaction in another shape`);
    known.set(parsed.data.txid, parsed.data);
  }
  return known;
}

/** Core writes whole coins with eight digits, which a double holds exactly enough to give back. */
function coinOf({ value, scriptPubKey }: WireOutput): BitcoinCoin {
  const { address, addresses } = scriptPubKey;
  const [only, ...more] = listOrNone(addresses);
  const text = address === undefined && more.length === 0 ? only : address;
  const parsed = text === undefined ? null : parseAddress(text);
  const satoshis = BigInt(value.toFixed(SATOSHI_DIGITS).replace('.', ''));
  return {
    address: parsed === null || parsed.kind !== 'bitcoin' ? null : parsed.address,
    value: satoshis,
  };
}

async function askOne(
  rpc: JsonRpc,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const [answer] = await askBatch(rpc, [{ method, params }], signal);
  if (answer === undefined) throw new BlocksFault(`${rpc.shown} left ${method} without answer`);
  return resultOf(rpc, method, answer);
}

async function askBatch(
  rpc: JsonRpc,
  calls: Parameters<JsonRpc['batch']>[0],
  signal: AbortSignal,
): Promise<RpcAnswer[]> {
  try {
    return await rpc.batch(calls, signal);
  } catch (fault) {
    if (fault instanceof RpcFault) throw new BlocksFault(`${rpc.shown} ${fault.fault}`);
    throw fault;
  }
}

function resultOf(rpc: JsonRpc, method: string, answer: RpcAnswer): unknown {
  if (answer.ok) return answer.result;
  const { code } = answer.error;
  const meaning =
    method === 'getrawtransaction' && code === UNKNOWN_TRANSACTION
      ? ' (the node names no spent outputs and has no txindex)'
      : '';
  throw new BlocksFault(`${rpc.shown} answered error ${code} to ${method}${meaning}`);
}

// Do the signatures of a Bitcoin input sign all inputs and all outputs of its transaction?
// The flag is the last byte of each signature (BIP 143, BIP 341; a Schnorr signature of 64 bytes
// signs everything). A source that leaves witnesses out does not tell, and is never taken to.

const ALL = 0x01;
/** A DER signature is `30 LEN … FLAG`; LEN counts what lies between. */
const DER = { tag: 0x30, sizeMin: 9, sizeMax: 73, around: 3 } as const;
const SCHNORR = { plain: 64, flagged: 65 } as const;
const TAPROOT_PREFIX = 'bc1p';
const ANNEX_TAG = 0x50;
const PUSHDATA = { direct: 75, one: 76, two: 77 } as const;

/**
 * The signature scope of an input. `script`: its scriptSig in hex; `witness`: `null` if it is
 * missing.
 */
export function signatureScope(
  owner: string | null,
  script: string,
  witness: readonly string[] | null,
): BitcoinInput['signed'] {
  const flags = pushesOf(Buffer.from(script, 'hex')).flatMap(derFlag);
  if (witness !== null) flags.push(...witnessFlags(owner, witness));
  if (flags.length === 0) return witness === null ? null : 'in_part';
  return flags.every((flag) => flag === ALL) ? 'whole' : 'in_part';
}

function witnessFlags(owner: string | null, witness: readonly string[]): number[] {
  const items = witness.map((item) => Buffer.from(item, 'hex'));
  if (owner?.startsWith(TAPROOT_PREFIX) !== true) return items.flatMap(derFlag);
  const hasAnnex = items.length > 1 && items.at(-1)?.[0] === ANNEX_TAG;
  const own = hasAnnex ? items.slice(0, -1) : items;
  // The last two of a script path are the script and its control block.
  return (own.length > 1 ? own.slice(0, -2) : own).flatMap(schnorrFlag);
}

function derFlag(item: Buffer): number[] {
  const { tag, sizeMin, sizeMax, around } = DER;
  const fits = item.length >= sizeMin && item.length <= sizeMax && item[0] === tag;
  const [flag] = item.subarray(-1);
  return fits && item[1] === item.length - around && flag !== undefined ? [flag] : [];
}

function schnorrFlag(item: Buffer): number[] {
  if (item.length === SCHNORR.plain) return [ALL];
  const [flag] = item.subarray(-1);
  return item.length === SCHNORR.flagged && flag !== undefined ? [flag] : [];
}

/** The data that a script pushes; a script that is cut ends the list. */
function pushesOf(script: Buffer): Buffer[] {
  const pushes: Buffer[] = [];
  for (let at = 0; at < script.length; ) {
    const code = script.readUInt8(at);
    at += 1;
    let size = code <= PUSHDATA.direct ? code : 0;
    if (code === PUSHDATA.one && at < script.length) {
      size = script.readUInt8(at);
      at += 1;
    } else if (code === PUSHDATA.two && at + 1 < script.length) {
      size = script.readUInt16LE(at);
      at += 2;
    }
    if (size > 0) pushes.push(script.subarray(at, at + size));
    at += size;
  }
  return pushes;
}
