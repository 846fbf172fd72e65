// Answers one question: with which exact words does an explorer say that there is nothing?
// Each row has the answer that shows it. Whatever else comes without rows is a failure: these
// APIs say their errors with HTTP 200, and an error must never pass for an empty history.

import { z } from 'zod';
import { outsideBody } from '../http/forms.ts';

/** The lists that are read of an address. */
export type ListAction = 'txlist' | 'txlistinternal' | 'tokentx';

type Empty = { readonly status: '0' | '1'; readonly message: string };

const NO_TRANSACTIONS: Empty = { status: '0', message: 'No transactions found' };

/** The empty answers of each list, whose result is `[]` or `null`. */
export const EMPTIES: Readonly<Record<ListAction, readonly Empty[]>> = {
  txlist: [
    // Etherscan V2, recorded 2023-12-19; docs.etherscan.io/api-reference/endpoint/txlist.
    NO_TRANSACTIONS,
    // Routescan's Etherscan-compatible API, recorded for an address that never sent.
    { status: '1', message: 'OK' },
  ],
  txlistinternal: [
    // Etherscan V2 and Routescan, recorded 2025-12-01.
    NO_TRANSACTIONS,
    // Blockscout, recorded on api.blockscout.com.
    { status: '0', message: 'No internal transactions found' },
  ],
  tokentx: [
    // Etherscan V2, recorded 2025-12-01.
    NO_TRANSACTIONS,
    // Blockscout, recorded on api.blockscout.com.
    { status: '0', message: 'No token transfers found' },
    // Routescan's Etherscan-compatible API, recorded for an address that never sent.
    { status: '1', message: 'OK' },
  ],
};

const creation = outsideBody({ status: z.string(), message: z.string(), result: z.unknown() });

/** Whether an answer says that the explorer knows of no creation of the contract asked about. */
export function saysNoCreation(answer: unknown): boolean {
  const read = creation.safeParse(answer);
  if (!read.success) return false;
  const { status, message, result } = read.data;
  // Etherscan V2, recorded for an account without code.
  if (status === '0' && message === 'No data found') return result === null;
  // Blockscout and Routescan, recorded for an account without code.
  return status === '1' && message === 'OK' && Array.isArray(result) && result.length === 0;
}

/** Whether an answer says that no log fits the question. */
export function saysNoLogs(answer: unknown): boolean {
  const read = creation.safeParse(answer);
  if (!read.success) return false;
  const { status, message, result } = read.data;
  if (status !== '0' || !Array.isArray(result) || result.length > 0) return false;
  // Etherscan V2: docs.etherscan.io/api-reference/endpoint/getlogs; Blockscout: its API of logs.
  return message === 'No records found' || message === 'No logs found';
}

/** Whether `getsourcecode` says that it holds no verified source; `undefined`: no such field. */
export function saysUnverified(source: string | undefined, abi: string | undefined): boolean {
  // Etherscan V2: docs.etherscan.io/api-reference/endpoint/getsourcecode, status 1.
  if (abi === 'Contract source code not verified') return source === undefined || source === '';
  // Blockscout gives the address alone: its source, ContractView `prepare_source_code_contract`.
  return abi === undefined && source === undefined;
}

/** Whether an answer positively says that a list has nothing. */
export function saysEmpty(action: ListAction, status: string, message: string): boolean {
  return EMPTIES[action].some((one) => one.status === status && one.message === message);
}
