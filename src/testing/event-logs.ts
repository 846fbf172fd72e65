// Encoded by the library that decodes it: what the events mean is held against a real compiler's
// logs in bridges.test.ts, and against recorded transactions.

import * as AbiEvent from 'ox/AbiEvent';
import * as AbiParameters from 'ox/AbiParameters';
import type { ReceiptLog } from '../ports/bridges.ts';

type Values = readonly unknown[];

/** A log of a declared event at a contract, its fields in the order of the declaration. */
export function logOf(address: string, declaration: string, values: Values): ReceiptLog {
  const abi = AbiEvent.from(declaration as string & {}) as AbiEvent.AbiEvent;
  const fields = abi.inputs.map((input, i) => ({ input, value: values[i] }));
  const isIndexed = ({ input }: (typeof fields)[number]) => 'indexed' in input && input.indexed;
  const encodeFields = (some: typeof fields) =>
    AbiParameters.encode(
      some.map(({ input }) => input),
      some.map(({ value }) => value),
    );
  return {
    address,
    index: 0,
    topics: [
      AbiEvent.getSelector(abi),
      ...fields.filter(isIndexed).map((one) => encodeFields([one])),
    ],
    data: encodeFields(fields.filter((one) => !isIndexed(one))),
  };
}

const TRANSFER = 'event Transfer(address indexed from, address indexed to, uint256 value)';

/** The log of a token's movement. */
export function movedLog(token: string, from: string, to: string, amount: bigint): ReceiptLog {
  return logOf(token, TRANSFER, [from, to, amount]);
}

/** The logs of a transaction in their order. */
export function inOrder(...logs: readonly ReceiptLog[]): ReceiptLog[] {
  return logs.map((log, index) => ({ ...log, index }));
}
