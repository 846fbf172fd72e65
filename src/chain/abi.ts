// Decodes logs and calls of a contract by their Solidity declarations. Bytes that do not fit a
// declaration have no fields; they never decode to empty fields.

import { hex } from '@scure/base';
import * as AbiEvent from 'ox/AbiEvent';
import * as AbiFunction from 'ox/AbiFunction';
import * as AbiParameters from 'ox/AbiParameters';
import * as Errors from 'ox/Errors';
import * as Hex from 'ox/Hex';
import { keccak256 } from './digest.ts';

/** A declaration in Solidity's words, `event Name(…)`; a long one in pieces, a space between. */
export type Declaration = string | readonly string[];

type Joined<D extends Declaration> = D extends string
  ? D
  : D extends readonly [infer First extends string, ...infer Rest extends readonly string[]]
    ? Rest extends readonly []
      ? First
      : `${First} ${Joined<Rest>}`
    : string;

/** The fields of a declared event by name: integers to 48 bits as numbers, wider ones as bigint. */
export type Fields<D extends Declaration> =
  AbiEvent.from.ReturnType<Joined<D>> extends infer E extends AbiEvent.AbiEvent
    ? AbiEvent.decode.ReturnType<E>
    : never;

/** The part of a log that an event fills: hex, `0x` and lower case. */
type Log = { readonly topics: readonly string[]; readonly data: string };

export type DeclaredEvent<D extends Declaration> = {
  readonly event: string;
  /** Its first topic, the hash of its signature. */
  readonly topic: string;
  /** How many topics a log of it has: one signature may be indexed in several ways. */
  readonly topics: number;
  /** The fields of a log, hex in lower case; `null` where the declaration does not fit it. */
  readonly fieldsOf: (log: Log) => Fields<D> | null;
};

/** Reads a declaration. Throws for one that is none. */
export function declaredEvent<const D extends Declaration>(declaration: D): DeclaredEvent<D> {
  const abi = AbiEvent.from(textOf(declaration) as string & {}) as AbiEvent.AbiEvent;
  const topic = AbiEvent.getSelector(abi);
  const indexed = abi.inputs.filter((input) => 'indexed' in input && input.indexed === true);
  const topics = 1 + indexed.length;
  return {
    event: abi.name,
    topic,
    topics,
    fieldsOf: (log) => {
      if (log.topics[0] !== topic || log.topics.length !== topics) return null;
      const wire = log as AbiEvent.decode.Log;
      return fitting(() => AbiEvent.decode(abi, wire, { checksumAddress: false }) as Fields<D>);
    },
  };
}

function textOf(declaration: Declaration): string {
  return typeof declaration === 'string' ? declaration : declaration.join(' ');
}

/** Runs a decoder; `null` if the bytes do not fit. */
function fitting<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (fault) {
    if (fault instanceof Errors.BaseError) return null;
    throw fault;
  }
}

/** The arguments of a declared function by name. */
export type CallFields<D extends Declaration> =
  AbiFunction.from.ReturnType<Joined<D>> extends infer F extends AbiFunction.AbiFunction
    ? AbiParameters.decode.ReturnType<F['inputs'], 'Object'>
    : never;

/** The most places of call data at which one function is looked for. */
const CALLS_MAX = 64;

/**
 * Every call of a declared function that stands in call data, by its arguments: the call itself,
 * or one that a contract on the way was given to make. A chance match of four bytes is possible, so
 * that whoever asks must be able to tell whether the arguments are the right ones.
 */
export function declaredCall<const D extends Declaration>(declaration: D) {
  const abi = AbiFunction.from(textOf(declaration) as string & {}) as AbiFunction.AbiFunction;
  const selector = AbiFunction.getSelector(abi).slice(2);
  return (input: string): CallFields<D>[] => {
    const found: CallFields<D>[] = [];
    let at = input.indexOf(selector);
    for (let tried = 0; at >= 0 && tried < CALLS_MAX; tried += 1) {
      const data = `0x${input.slice(at + selector.length)}` as const;
      const options = { as: 'Object', checksumAddress: false } as const;
      const said = fitting(() => AbiParameters.decode(abi.inputs, data, options));
      if (said !== null) found.push(said as CallFields<D>);
      at = input.indexOf(selector, at + 1);
    }
    return found;
  };
}

/** The call data of a declared function: hex, `0x` and lower case. */
export function encodedCall(declaration: string, values: readonly unknown[]): string {
  const abi = AbiFunction.from(declaration as string & {}) as AbiFunction.AbiFunction;
  return AbiFunction.encodeData(abi, values as readonly [unknown]);
}

/** The one value that a declared function returns; `null` where the bytes do not fit it. */
export function decodedResult(declaration: string, bytes: string): unknown {
  const abi = AbiFunction.from(declaration as string & {}) as AbiFunction.AbiFunction;
  return fitting(() => AbiFunction.decodeResult(abi, bytes as Hex.Hex) as unknown);
}

type Parameters = AbiParameters.AbiParameters;
type PackedTypes = readonly AbiParameters.PackedAbiType[];

/** The hash of values as `abi.encode` writes them; `types` such as `uint256, address`. */
export function encodedHash(types: string, values: readonly unknown[]): string {
  const bytes = AbiParameters.encode(AbiParameters.from(types) as Parameters, values);
  return `0x${hex.encode(keccak256(hex.decode(bytes.slice(2))))}`;
}

/** The hash of values as `abi.encodePacked` writes them. */
export function packedHash(types: readonly string[], values: readonly unknown[]): string {
  const bytes = AbiParameters.encodePacked(types as PackedTypes, values as unknown[]);
  return `0x${hex.encode(keccak256(hex.decode(bytes.slice(2))))}`;
}

export function textHash(text: string): string {
  return `0x${hex.encode(keccak256(text))}`;
}

/** Cuts packed bytes into fields by their widths; `null` where there are too few of them. */
export function packedFields<K extends string>(
  bytes: string,
  widths: Readonly<Record<K, number>>,
): Record<K, Hex.Hex> | null {
  const said: [string, Hex.Hex][] = [];
  let from = 0;
  for (const [name, width] of Object.entries<number>(widths)) {
    const one = fitting(() => Hex.slice(bytes as Hex.Hex, from, from + width, { strict: true }));
    if (one === null) return null;
    said.push([name, one]);
    from += width;
  }
  return Object.fromEntries(said) as Record<K, Hex.Hex>;
}
