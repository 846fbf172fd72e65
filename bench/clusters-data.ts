// The rows are read as they are: a row that stands there twice moved twice.

import { Read } from '../src/evidence/reading.ts';
import type { Movement } from '../src/features/deposits/inference.ts';
import { localTableFiles } from '../src/sources/files/files.ts';

/** Decimals of Ethereum's own coin, in which the traces write their values. */
export const NATIVE_DECIMALS = 18;
const NATIVE = 'native';

/**
 * Decimals that the files do not tell. Bionic (BNC): two published token lists say 8, and so does
 * its first mint, a thousand million whole tokens.
 */
const KNOWN_DECIMALS: ReadonlyMap<string, number> = new Map([
  ['0xef51c9377feb29856e61625caf9390bd0b67ea18', 8],
]);

/** A recorded network. Addresses are in lower case. */
export type Network = {
  readonly movements: readonly Movement[];
  readonly transfers: number;
  readonly traces: number;
  /** Traces that move coins. */
  readonly valued: number;
  /** Every exchange wallet of the file, by the exchange that the file names. */
  readonly exchanges: ReadonlyMap<string, string>;
  /** Those of them that are externally owned. */
  readonly hotWallets: ReadonlyMap<string, string>;
  /** The signers of transactions: the sender of a trace without a parent. */
  readonly signers: ReadonlySet<string>;
  readonly decimals: ReadonlyMap<string, number>;
};

type Fields = ReadonlyMap<string, string>;

/** Reads a network. `decimals` replaces what is known of the token. */
export async function networkAt(
  files: { readonly transfers: string; readonly traces: string },
  exchangesPath: string,
  decimals: number | null,
): Promise<Network> {
  const [transfers, traces, listed] = await Promise.all(
    [files.transfers, files.traces, exchangesPath].map(rowsOf),
  );
  if (transfers === undefined || traces === undefined || listed === undefined) {
    throw new Error('clusters: a file gave no rows');
  }
  const tokens = transfers.map(transferOf);
  const coins = traces.map(coinOf).filter(({ raw_amount }) => raw_amount > 0n);
  const owned = listed.filter((row) => valueIn(row, 'accounttype') === 'eoa');
  return {
    movements: [...tokens, ...coins],
    transfers: tokens.length,
    traces: traces.length,
    valued: coins.length,
    exchanges: walletsOf(listed),
    hotWallets: walletsOf(owned),
    signers: new Set(
      traces
        .filter((row) => valueIn(row, 'traceaddress') === '[]')
        .map((row) => addressIn(row, 'action.from')),
    ),
    decimals: decimalsOf(new Set(tokens.map(({ asset }) => asset)), decimals),
  };
}

async function rowsOf(path: string): Promise<Fields[]> {
  const opened = await localTableFiles().open(path);
  if (!(opened instanceof Read)) throw new Error(opened.why.reason);
  const rows: Fields[] = [];
  for await (const batch of opened.value.rows()) {
    if (!(batch instanceof Read)) throw new Error(batch.why.reason);
    for (const row of batch.value) {
      if ('problem' in row) throw new Error(`${path}: line ${row.line}: ${row.problem}`);
      rows.push(row.fields);
    }
  }
  return rows;
}

function valueIn(row: Fields, column: string): string {
  const value = row.get(column);
  if (value === undefined) throw new Error(`clusters: a row without ${column}`);
  return value;
}

function addressIn(row: Fields, column: string): string {
  return valueIn(row, column).toLowerCase();
}

function transferOf(row: Fields): Movement {
  return {
    asset: addressIn(row, 'address'),
    from: addressIn(row, 'source'),
    to: addressIn(row, 'target'),
    raw_amount: BigInt(valueIn(row, 'amount')),
    when: Number(valueIn(row, 'blocknumber')),
    tx: null,
  };
}

function coinOf(row: Fields): Movement {
  return {
    asset: NATIVE,
    from: addressIn(row, 'action.from'),
    to: addressIn(row, 'action.to'),
    raw_amount: exactly(valueIn(row, 'action.value'), NATIVE_DECIMALS),
    when: Number(valueIn(row, 'blocknumber')),
    tx: null,
  };
}

const NUMBER = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** The exact integer of a number that a file writes in whole coins, with or without an exponent. */
function exactly(text: string, decimals: number): bigint {
  const found = NUMBER.exec(text);
  if (found === null) throw new Error(`clusters: no number: ${text}`);
  const [, whole = '', part = '', exponent = '0'] = found;
  const shift = decimals + Number(exponent) - part.length;
  const digits = BigInt(whole + part);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

function walletsOf(rows: readonly Fields[]): Map<string, string> {
  return new Map(rows.map((row) => [addressIn(row, 'address'), exchangeIn(valueIn(row, 'name'))]));
}

/** The exchange that a name names: `Hotbit 1` and `Hotbit 2` are wallets of one. */
function exchangeIn(name: string): string {
  return name
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[\s_]+\d+$/, '');
}

function decimalsOf(assets: ReadonlySet<string>, given: number | null): Map<string, number> {
  const known = new Map<string, number>([[NATIVE, NATIVE_DECIMALS]]);
  for (const asset of assets) {
    const decimals = given === null ? KNOWN_DECIMALS.get(asset) : given;
    if (decimals === undefined) throw new Error(`clusters: ${asset}: say its --decimals`);
    known.set(asset, decimals);
  }
  return known;
}
