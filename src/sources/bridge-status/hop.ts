// What does Hop's API say of a transfer? `GET v1/transfer-status?transferId`, or `transactionHash`
// from Ethereum, where a transfer has no id. Format: docs.hop.exchange/developer-docs/api, and its
// source, hop-protocol/hop packages/api/src/server.ts. One that no bonder paid may be paid later,
// without a bond, which it does not tell: nothing is said then.

import { z } from 'zod';
import { CHAINS } from '../../chain/chain.ts';
import type { StatusQuery } from '../../ports/bridges/bridge-arrivals.ts';
import { outsideRow } from '../http/forms.ts';
import {
  below,
  HASH,
  isHash,
  type PageReader,
  paidIn,
  sameDeposit,
  shaped,
} from './page-reader.ts';

const TRANSFER = outsideRow({
  transferId: HASH.nullish(),
  transactionHash: HASH,
  sourceChainId: z.number(),
  destinationChainId: z.number(),
  recipientAddress: z.string(),
  amount: z.string(),
  bonded: z.boolean(),
  bondTransactionHash: HASH.nullish(),
});
// A transaction with several transfers is answered by a list.
const ANSWER = z.union([z.array(TRANSFER).min(1).max(100), TRANSFER.transform((one) => [one])]);

/** The page of Hop. */
export const HOP: PageReader = {
  page: 'hop_status',
  protocols: ['hop'],
  question: (root, { message_id: id, tx, terms }) => {
    if (isHash(id))
      return { url: below(root, 'v1/transfer-status', { transferId: id }), body: null };
    if (id !== null || terms === null || !isHash(tx)) return null;
    return { url: below(root, 'v1/transfer-status', { transactionHash: tx }), body: null };
  },
  read: (answer, { chain, tx, message_id, destination_id, terms }) => {
    const told = shaped(ANSWER, answer).filter(
      (one) =>
        one.transactionHash === tx &&
        one.sourceChainId === CHAINS[chain].chain_id &&
        one.destinationChainId === destination_id &&
        (message_id === null || one.transferId === message_id) &&
        (message_id !== null || isOn(terms, one)),
    );
    const [own] = told;
    // Two that are alike in all that is known of it could be either's.
    sameDeposit(own !== undefined && told.length === 1);
    if (own?.bonded !== true) return { state: 'unknown', tx: null, word: 'not bonded' };
    return paidIn(own.bondTransactionHash, 'bonded');
  },
};

/** Whether a transfer is on the terms by which it is known where it has no id. */
function isOn(terms: StatusQuery['terms'], one: z.output<typeof TRANSFER>): boolean {
  return terms?.recipient === one.recipientAddress.toLowerCase() && terms.amount === one.amount;
}
